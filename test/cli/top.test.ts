// `baton inspect --top`: the largest parts, by name, and the window in parts that add up.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { z } from 'zod';
import type { InspectDocument } from '../../src/cli/documents/session.ts';
import { ClaudeLines } from '../support/claude-lines.ts';
import { LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile } from '../support/work-sessions.ts';

const home = temporaryDirectory();
const TALLY = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');
const SECRET = `ghp_${'k3Zq'.repeat(9)}`;

function bells(): string {
  const session = new ClaudeLines();
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  session.add({
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text: 'Weigh.' }, image] },
  });
  for (let nth = 0; nth < 3; nth++) {
    session.calls(`m${nth}`, `c${nth}`, 'Read', { file_path: '/home/dev/project/bells.txt' });
    session.result(`c${nth}`, 'A bell of bronze.\n'.repeat(100 + nth));
  }
  session.calls('m8', 'c8', 'Bash', { command: `TOKEN=${SECRET} weigh && cat bells.txt towers.txt` });
  session.result('c8', 'A bell of bronze.\n'.repeat(400));
  session.calls('m9', 'c9', 'Grep', { pattern: 'bell' });
  session.result('c9', 'bells.txt');
  const path = join(home, 'bells.jsonl');
  writeFileSync(path, asFile(session.lines));
  return path;
}

type Document = z.infer<typeof InspectDocument>;

async function topOf(path: string, ...args: readonly string[]): Promise<Document> {
  const ran = await baton(home, ['inspect', path, '--json', '--top', ...args]);
  assert.equal(ran.status, 0, ran.explanation);
  return JSON.parse(ran.stdout) as Document;
}

test('results, files that are read again and images are listed with their sizes', async () => {
  const path = bells();
  const { top, categories, tools } = await topOf(path);
  assert.deepEqual(
    top?.results.map(({ tool, line }) => [tool, line]),
    [
      ['Bash', 9],
      ['Read', 7],
      ['Read', 5],
      ['Read', 3],
      ['Grep', 11],
    ],
  );
  const all = top?.results.reduce((sum, { tokens }) => sum + tokens, 0);
  assert.equal(all, categories.tool_results, 'here the list is all there is');
  assert.equal(
    all,
    tools.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  const [file, ...others] = top?.rereads ?? [];
  assert.deepEqual([file?.path.split('/').at(-1), file?.reads, others], ['bells.txt', 4, []]);
  assert.ok((file?.tokens ?? 0) > 1300 && (file?.tokens ?? 0) < (all ?? 0), 'half of what showed two files');
  assert.deepEqual(top?.images, { count: 1, tokens: categories.images });
  assert.equal((await topOf(path, '2')).top?.results.length, 2);

  const page = await baton(home, ['inspect', '--top', path]);
  assert.equal(page.status, 0, page.explanation);
  assert.match(page.stdout, /^Largest results\n {2,}[\d,]+ {2}TOKEN=\[redacted .*Bash, line 9$/m);
  assert.match(page.stdout, /^Read repeatedly\n {2,}[\d,]+ {2}.*bells\.txt {2}read 4 times$/m);
  assert.match(page.stdout, /^Images {2}1, [\d,]+ tokens$/m);
  assert.ok(!page.stdout.includes(SECRET) && !JSON.stringify(top).includes(SECRET));
});

test('the split adds up to the window, in every format, by estimate and by count', async () => {
  const files = LOOK_ALIKE_FILES.map(({ text }, nth) => {
    const path = join(home, `look-${nth}`);
    writeFileSync(path, text);
    return path;
  });
  for (const path of [TALLY, bells(), ...files]) {
    for (const args of [[], ['--precise']]) {
      const { top, window, gauge } = await topOf(path, ...args);
      const whole = top?.split.reduce((sum, { tokens }) => sum + tokens, 0);
      assert.equal(whole, Math.max(window.raw, gauge.used), path);
    }
  }
  const page = await baton(home, ['inspect', TALLY, '--top', '3']);
  assert.match(page.stdout, /^Window {2}128,000 tokens;/m);
  assert.match(page.stdout, /^ {2}free +[\d,]+ +\d+ %/m);
  assert.match(page.stdout, /^ {2}reserve +12,800 +10 % .*compacted before it is used$/m);
  assert.ok(page.stdout.split('\n').length <= 36, page.stdout);
});

test('--top takes a number, and does not mistake a file for one', async () => {
  const path = bells();
  for (const args of [
    ['--top', path],
    ['--top', '3', path],
    ['--top=3', path],
    [path, '--top'],
  ])
    assert.equal((await baton(home, ['inspect', ...args])).status, 0, args.join(' '));
  assert.equal((await baton(home, ['inspect', path, '--top', '0'])).status, 2);
});
