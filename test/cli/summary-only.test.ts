// What goes to standard output: the summary alone for a pipe, and never a session to a terminal.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadTokenizer } from '../../src/tokens/tokenizer.io.ts';
import { LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const root = temporaryDirectory();
const count = await loadTokenizer();

/** A home with a session `s.jsonl` in it. */
function homeWith(content: string | Buffer): string {
  const home = mkdtempSync(join(root, 'h'));
  writeFileSync(join(home, 's.jsonl'), content);
  return home;
}

const WORK = asFile(workLines('codex'));

test('the summary alone goes to standard output, within the target', async () => {
  const home = homeWith(WORK);
  const whole = await baton(home, ['compact', join(home, 's.jsonl'), '--summary-only']);
  assert.equal(whole.status, 0, whole.explanation);
  assert.match(whole.stdout, /^1\. Primary Request and Intent:\n/);
  assert.match(whole.stdout, /Please post batch 3 to src\/ledger\/post-3\.ts; never round before the sum\./);
  assert.doesNotMatch(whole.stdout, /verbatim after this summary|"type"/, 'nothing follows it');
  assert.match(whole.stderr, /^The summary has [\d,]+ tokens\. The session is unchanged\.\n/);
  const short = await baton(home, [
    'compact',
    join(home, 's.jsonl'),
    '--summary-only',
    '--target-tokens',
    '200',
  ]);
  assert.ok(short.stdout.length > 0 && count(short.stdout) <= 200, `${count(short.stdout)} tokens`);
  assert.ok(short.stdout.length < whole.stdout.length);
  assert.deepEqual(readdirSync(home), ['s.jsonl'], 'no session is written');
  assert.ok(readFileSync(join(home, 's.jsonl')).equals(WORK));
});

test('a summary goes to a file, which only --force replaces', async () => {
  const home = homeWith(WORK);
  const line = ['compact', join(home, 's.jsonl'), '--summary-only', '--out', join(home, 'summary.txt')];
  const ran = await baton(home, line);
  assert.equal(ran.status, 0, ran.explanation);
  assert.equal(ran.stdout, '');
  assert.match(readFileSync(join(home, 'summary.txt'), 'utf8'), /^1\. Primary Request/);
  assert.equal((await baton(home, line)).error?.['code'], 'output_exists');
  assert.equal((await baton(home, [...line, '--force'])).status, 0);
});

test('every format and every size has a summary, even one that is not worth a compaction', async () => {
  for (const { name, text } of LOOK_ALIKE_FILES) {
    const home = homeWith(text);
    const ran = await baton(home, ['compact', join(home, 's.jsonl'), '--summary-only']);
    assert.equal(ran.status, 0, `${name}: ${ran.explanation}`);
    assert.notEqual(ran.stdout.trim(), '', name);
  }
});

test('options without effect on a summary are refused', async () => {
  const home = homeWith(WORK);
  for (const idle of [
    ['--preview'],
    ['--install'],
    ['--prune'],
    ['--json'],
    ['--format', 'chat'],
    ['--strategy', 'micro'],
    ['--strategy', 'remote'],
  ]) {
    const ran = await baton(home, ['compact', join(home, 's.jsonl'), '--summary-only', ...idle]);
    assert.equal(ran.status, 2, idle.join(' '));
    assert.ok(ran.explanation.includes(idle.join(' ').replace(' chat', '')), ran.explanation);
  }
});

test('a session is not printed on a terminal, and the cure helps', async () => {
  const home = homeWith(WORK);
  const terminal = { look: { hasColor: false, seal: '', hasUnicode: true, width: 80 } };
  const refused = await baton(home, ['compact', join(home, 's.jsonl')], terminal);
  assert.equal(refused.status, 2);
  assert.equal(refused.stdout, '');
  const out = join(home, 'compacted.jsonl');
  for (const cure of [['--out', out], ['--preview'], ['--summary-only'], ['--format', 'markdown']]) {
    const ran = await baton(home, ['compact', join(home, 's.jsonl'), ...cure], terminal);
    assert.equal(ran.status, 0, `${cure.join(' ')}: ${ran.explanation}`);
    const [option = ''] = cure;
    if (option !== '--format') assert.ok(refused.explanation.includes(option), refused.explanation);
  }
  assert.equal((await baton(home, ['undo', out], terminal)).status, 2);
  assert.equal((await baton(home, ['compact', join(home, 's.jsonl')])).status, 0, 'a pipe takes it');
  assert.equal((await baton(home, ['undo', out])).status, 0, 'a pipe takes it');
});
