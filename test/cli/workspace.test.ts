// Files that the agent had read come back from a workspace, and from nowhere else.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../scripts/generate.ts';
import type { Receipt } from '../../src/protocol/receipt.ts';
import { baton, temporaryDirectory } from '../support/program.ts';

const SESSION = join(ROOT, 'examples/sessions/tally.jsonl');
const home = temporaryDirectory();

async function restored(workspace: string, ...options: readonly string[]): Promise<Receipt['restoredFiles']> {
  const args = ['compact', SESSION, '--workspace', workspace, '--preview', '--json', ...options];
  const ran = await baton(home, args);
  assert.equal(ran.status, 0, ran.stderr);
  return (JSON.parse(ran.stdout) as Receipt).restoredFiles;
}

test('existing files come back, missing or binary ones are named, links that lead out are skipped', async () => {
  const workspace = join(home, 'tally');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  mkdirSync(join(workspace, 'test'));
  writeFileSync(join(workspace, 'src/budget.js'), 'export const answer = 42;\n');
  writeFileSync(join(workspace, 'budgets.txt'), Buffer.from([0, 1, 2]));
  writeFileSync(join(home, 'outside.js'), 'export const secret = 1;\n');
  symlinkSync(join(home, 'outside.js'), join(workspace, 'test/budget.test.js'));
  const files = await restored(workspace);
  const notes = new Map(files.map(({ path, note }) => [path, note]));
  assert.ok(notes.has('src/budget.js'), 'restored');
  assert.equal(notes.get('src/budget.js'), undefined, 'as it is');
  assert.equal(notes.get('budgets.txt'), 'binary');
  assert.equal(notes.has('test/budget.test.js'), false, 'a link that leads out is refused');
  assert.ok([...notes.values()].includes('gone'), 'the others are gone');
  assert.ok(files.length <= 5, 'restore_max_files');
});

test('the limits of the configuration apply', async () => {
  const workspace = join(home, 'big');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  writeFileSync(join(workspace, 'src/budget.js'), 'const line = "about ten tokens of text";\n'.repeat(2000));
  const [first] = await restored(workspace, '-c', 'compact.restore_max_files=1');
  assert.equal(first?.path, 'src/budget.js');
  assert.equal(first.note, 'cut in the middle');
  assert.ok(first.tokens <= 5000, `${first.tokens} tokens`);
  assert.deepEqual(await restored(workspace, '-c', 'compact.restore_max_files=0'), []);
});

test('a missing workspace is reported', async () => {
  const ran = await baton(home, ['compact', SESSION, '--workspace', join(home, 'nowhere'), '--preview']);
  assert.equal(ran.error?.['code'], 'file_not_found');
});
