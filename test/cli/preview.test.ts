// What a preview shows: first what is lost, on one screen, with numbers that add up.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { z } from 'zod';
import type { CompactDocument } from '../../src/cli/documents/compaction.ts';
import type { JsonObject } from '../../src/protocol/item.ts';
import { writeBigSession } from '../support/big-session.ts';
import { ClaudeLines } from '../support/claude-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile } from '../support/work-sessions.ts';

const root = temporaryDirectory();
const TALLY = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');
const SECRET = `ghp_${'k3Zq'.repeat(9)}`;

/** A session in which there is something of every kind to lose. */
function lossySession(): string {
  const session = new ClaudeLines(true);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const user = (content: readonly JsonObject[]): void => {
    session.add({ type: 'user', message: { role: 'user', content } });
  };
  user([{ type: 'text', text: 'Never sell a bell without its clapper. Here is the belfry.' }, image, image]);
  session.calls('m0', 'c0', 'Bash', {
    command: `curl -H 'Authorization: token ${SECRET}' bells.example.org`,
  });
  session.result('c0', 'A bell of bronze.\n'.repeat(2000));
  for (let nth = 0; nth < 30; nth++) {
    session.calls(`r${nth}`, `r${nth}`, 'Read', { file_path: `/home/dev/project/bells/bell-${nth}.txt` });
    session.result(`r${nth}`, `Bell ${nth} weighs ${nth * 7} pounds.\n`.repeat(40));
    session.says(`s${nth}`, `Bell ${nth} is weighed.`);
    session.user(`Now weigh bell ${nth + 1}. ${'It hangs in the tower of the old town. '.repeat(8)}`);
  }
  const path = join(mkdtempSync(join(root, 'h')), 's.jsonl');
  writeFileSync(path, asFile(session.lines));
  return path;
}

const lossy = lossySession();

async function previewed(path: string, ...args: readonly string[]): Promise<string> {
  const ran = await baton(root, ['compact', path, '--preview', ...args]);
  assert.equal(ran.status, 0, ran.explanation);
  return ran.stdout;
}

type Document = z.infer<typeof CompactDocument>;

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/-?\d[\d,]*/g)].map(([number]) => Number(number.replaceAll(',', '')));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Asserts on every sum that a preview shows. */
function assertAddsUp(page: string): void {
  const [, pre = '', post = ''] = /^([\d,]+) → ([\d,]+) tokens/.exec(page) ?? [];
  const [, items = '', gone = '', rows = ''] =
    /^Goes {2}([\d,]+) items?, ([\d,]+) tokens by o200k\n((?: {2}.*\n)*?)(?= {2}[A-Z]|\n)/m.exec(page) ?? [];
  const shown = [...rows.matchAll(/\(([\d,]+)\) +(-?[\d,]+) /g)];
  assert.ok(shown.length > 0, page);
  assert.equal(sum(shown.map(([, , tokens]) => numbersIn(tokens ?? '')[0] ?? 0)), numbersIn(gone)[0], page);
  const cut = rows
    .split('\n')
    .filter((line) => /kept messages/.test(line))
    .flatMap((line) => /\(([\d,]+)\)/.exec(line)?.[1] ?? []);
  assert.ok(
    sum(shown.map(([, count]) => numbersIn(count ?? '')[0] ?? 0)) - sum(cut.flatMap(numbersIn)) ===
      numbersIn(items)[0] || /more kind/.test(rows),
    page,
  );
  for (const [name, total] of [
    ['before', pre],
    ['after', post],
  ] as const) {
    const line = new RegExp(`^ {2}${name} +(.*)`, 'ms').exec(page)?.[1] ?? '';
    const [terms = '', result = ''] = (line.split(' tokens')[0] ?? '').split('=');
    assert.equal(sum(numbersIn(terms.replaceAll('- ', '-'))), numbersIn(result)[0], `${name}: ${line}`);
    assert.equal(result.trim(), total, name);
  }
}

test('a preview is one screen that begins with the loss and adds up', async () => {
  const big = join(mkdtempSync(join(root, 'h')), 'big.jsonl');
  await writeBigSession(big, 'codex', 1.5e6);
  for (const path of [TALLY, lossy, big]) {
    for (const args of [[], ['--target-tokens', '3k']]) {
      const page = await previewed(path, ...args);
      assert.ok(page.split('\n').length <= 28, page);
      assert.match(page, /^[\d,]+ → [\d,]+ tokens .*\n\nGoes {2}/);
      assert.ok(page.indexOf('\nStays') > page.indexOf('\nGoes'));
      assertAddsUp(page);
      const full = await previewed(path, '--full', ...args);
      assertAddsUp(full);
      assert.match(full, /^The summary, [\d,]+ tokens\n1\. Primary Request/m);
      assert.ok(full.split('\n').length > page.split('\n').length);
    }
  }
});

test('the loss names results, images, files, messages and rules', async () => {
  const document = JSON.parse(await previewed(lossy, '--json', '--target-tokens', '500')) as Document;
  const { loss, preTokens, kept, beside } = document;
  assert.equal(loss.tokens + kept.tokens + (beside?.before ?? 0), preTokens);
  const [first] = loss.largest;
  assert.equal(first?.tool, 'Bash');
  assert.match(first?.subject ?? '', /^curl -H 'Authorization: token \[redacted/);
  assert.ok((first?.tokens ?? 0) > 5000 && first?.line === 3, JSON.stringify(first));
  assert.equal(loss.largest.length, 10);
  assert.equal(loss.images.count, 2);
  assert.ok(loss.images.tokens > 1000, 'both');
  assert.equal(loss.files.touched, 30);
  assert.ok(loss.files.notNamed.length > 0 && loss.files.notNamed.length < 30);
  assert.ok(loss.userMessages.summarised > 0 && loss.userMessages.total === 31);
  const roomy = JSON.parse(await previewed(lossy, '--json')) as Document;
  assert.ok(roomy.loss.rules.carriedOver > 0, JSON.stringify(roomy.loss.rules));
  assert.deepEqual(roomy.loss.rules.leftOut, []);

  const page = await previewed(lossy, '--target-tokens', '500');
  assert.match(page, /^ {2}Largest results: curl -H/m);
  assert.match(page, /^ {2}Images: 2, [\d,]+ tokens$/m);
  assert.match(page, /^ {2}Messages of the user: \d+ of 31 only told in the summary/m);
  assert.match(page, /^ {2}Files no longer mentioned: \d+ of 30: bells\/bell-\d+\.txt, .* and \d+ more$/ms);
  assert.ok(!page.includes(SECRET) && !(await previewed(lossy, '--full')).includes(SECRET));
});

test('a rule without room is named', async () => {
  const session = new ClaudeLines(true);
  const rules = Array.from(
    { length: 60 },
    (_, nth) => `Never ring bell ${nth} before the hour of ${nth} has come.`,
  );
  session.user(`Weigh all bells.\n${rules.map((rule) => `- ${rule}`).join('\n')}`);
  for (let nth = 0; nth < 20; nth++) {
    session.calls(`m${nth}`, `c${nth}`, 'Bash', { command: `weigh ${nth}` });
    session.result(`c${nth}`, 'A bell of bronze.\n'.repeat(200));
  }
  session.says('end', 'All are weighed.').user('Paint them.');
  const path = join(mkdtempSync(join(root, 'h')), 's.jsonl');
  writeFileSync(path, asFile(session.lines));
  const document = JSON.parse(await previewed(path, '--json', '--target-tokens', '300')) as Document;
  const { carriedOver, leftOut } = document.loss.rules;
  assert.ok(leftOut.length > 0, JSON.stringify(document.loss.rules));
  assert.ok(carriedOver + leftOut.length >= 10);
  assert.match(await previewed(path, '--target-tokens', '300'), /^ {2}Rules of the user omitted: "/m);
});

test('--full without a preview is refused', async () => {
  for (const args of [['--full'], ['--full', '--preview', '--json']])
    assert.equal((await baton(root, ['compact', lossy, ...args])).status, 2, args.join(' '));
});
