// Secrets that a user pasted: always omitted from the summary, counted where they remain, replaced on request.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Receipt } from '../../src/protocol/receipt.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const root = temporaryDirectory();
/** Made up, in the shapes of a token and of a password in an address. */
const SECRETS = [`ghp_${'k3Zq'.repeat(9)}`, 'hunter-2-hunter'] as const;
const PASTED = `Use ${SECRETS[0]} and postgres://ada:${SECRETS[1]}@db.example.org/ledger for batch 3`;

/** A home with a session in whose newest message both stand. */
function homeWith(format: (typeof AGENT_FORMATS)[number]): { home: string; path: string } {
  const home = mkdtempSync(join(root, 'h'));
  const path = join(home, 's.jsonl');
  writeFileSync(path, asFile(workLines(format)).toString().replaceAll('Please post batch 3', PASTED));
  return { home, path };
}

function holdsSecrets(text: string): readonly boolean[] {
  return SECRETS.map((secret) => text.includes(secret));
}

for (const format of AGENT_FORMATS) {
  test(`${format}: secrets in a kept message are counted, and --redact replaces them`, async () => {
    const { home, path } = homeWith(format);
    const plain = await baton(home, ['compact', path, '--prune']);
    assert.equal(plain.status, 0, plain.explanation);
    assert.deepEqual(holdsSecrets(plain.stdout), [true, true], 'kept word for word');
    assert.match(plain.stderr, /^2 known secrets remain in the text that is kept verbatim\.$/m);
    assert.match(plain.stderr, /^--redact also replaces known secrets in the text that is kept verbatim\.$/m);

    const shown = await baton(home, ['compact', path, '--preview']);
    assert.match(shown.stdout, /^2 known secrets remain .*\n--redact also replaces known secrets/m);

    const clean = await baton(home, ['compact', path, '--prune', '--redact']);
    assert.equal(clean.status, 0, clean.explanation);
    assert.deepEqual(holdsSecrets(clean.stdout), [false, false]);
    assert.match(
      clean.stdout,
      /Use \[redacted github_token\] and postgres:\/\/ada:\[redacted url_password\]@/,
    );
    assert.match(clean.stderr, /^2 secrets replaced in the text that is kept verbatim\.$/m);
    assert.doesNotMatch(clean.stderr, /known secrets remain|The history in the file/);

    const preview = await baton(home, ['compact', path, '--preview', '--json', '--redact']);
    const receipt = JSON.parse(preview.stdout) as Receipt;
    const { kept, cut, summarised, dropped, beside } = receipt;
    const sum = [kept, cut, summarised, dropped].reduce((tokens, part) => tokens + (part?.tokens ?? 0), 0);
    assert.equal(sum + (beside?.before ?? 0), receipt.preTokens, 'and adds up');
  });

  test(`${format}: behind the original bytes, the past keeps its secrets, and a note says so`, async () => {
    const { home, path } = homeWith(format);
    const before = readFileSync(path, 'utf8');
    const ran = await baton(home, ['compact', path, '--redact']);
    assert.equal(ran.status, 0, ran.explanation);
    assert.ok(ran.stdout.startsWith(before));
    assert.deepEqual(holdsSecrets(ran.stdout.slice(before.length)), [false, false]);
    assert.match(
      ran.stderr,
      /^The past in the file still has its secrets, byte for byte; --prune omits it\.$/m,
    );
  });
}

test('restored files are redacted, too, in every format', async () => {
  const { home, path } = homeWith('codex');
  const work = join(home, 'work');
  mkdirSync(join(work, 'src/ledger'), { recursive: true });
  for (const batch of ['1-1', '1-2', '2-1', '2-2', '3-1', '3-2'])
    writeFileSync(join(work, `src/ledger/batch-${batch}.ts`), `export const token = '${SECRETS[0]}';\n`);
  for (const output of ['codex', 'claude', 'responses', 'anthropic', 'chat', 'markdown']) {
    const args = ['compact', path, '--prune', '--format', output, '--workspace', work];
    const plain = await baton(home, args);
    assert.ok(plain.stdout.includes(SECRETS[0]), `${output}: ${plain.explanation}`);
    const { stdout, explanation } = await baton(home, [...args, '--redact']);
    assert.ok(stdout.includes('export const token'), `${output}: ${explanation}`);
    assert.deepEqual(holdsSecrets(stdout), [false, false], output);
  }
});

test('clearing results keeps messages as they are, so --redact is refused there', async () => {
  const { home, path } = homeWith('codex');
  const ran = await baton(home, ['compact', path, '--strategy', 'micro', '--redact']);
  assert.equal(ran.status, 2);
});
