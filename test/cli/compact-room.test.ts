// The room of a compaction, through the command: what takes room needlessly, and what has too little of it.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUNDLED_SESSION } from '../../src/cli/bundled.ts';
import type { Receipt } from '../../src/protocol/receipt.ts';
import { baton, temporaryDirectory } from '../support/program.ts';

const root = temporaryDirectory();

/** A home with a hook script. */
function freshHome(line: string): { readonly home: string; readonly hook: string } {
  const home = mkdtempSync(join(root, 'h'));
  const hook = join(home, 'hook.sh');
  writeFileSync(hook, `#!/bin/sh\ncat > /dev/null\n${line}\n`);
  chmodSync(hook, 0o700);
  return { home, hook };
}

async function receiptOf(home: string, ...args: readonly string[]): Promise<Receipt> {
  const ran = await baton(home, [
    'compact',
    BUNDLED_SESSION,
    '--json',
    '--force',
    '--out',
    join(home, 'out.jsonl'),
    ...args,
  ]);
  assert.equal(ran.status, 0, ran.stderr + ran.explanation);
  return JSON.parse(ran.stdout) as Receipt;
}

test('a hook that adds nothing takes no room', async () => {
  const { home, hook } = freshHome(':');
  const target = ['--target-tokens', '3000'];
  const without = await receiptOf(home, ...target);
  assert.ok(
    without.postTokens > 2700,
    `${without.postTokens} tokens: the target is not filled, so that this test sees nothing`,
  );
  for (const event of ['pre_compact', 'post_compact', 'session_start', 'turn_complete']) {
    const receipt = await receiptOf(home, ...target, '-c', `hooks.${event}=[{command=["${hook}"]}]`);
    assert.equal(receipt.postTokens, without.postTokens, event);
  }
});

test('what a hook adds takes its own size, and no more', async () => {
  const { home, hook } = freshHome(`echo '{"context":"The tide table is in docs/tide.md."}'`);
  const hooks = ['-c', `hooks.session_start=[{command=["${hook}"]}]`];
  const receipt = await receiptOf(home, '--target-tokens', '3000', ...hooks);
  const { after, beside } = receipt;
  const written = receipt.postTokens - (beside?.after ?? 0);
  assert.ok(written > 2700 && written <= 3000, `${written} tokens`);
  assert.ok(after !== undefined && after.hooks > 10 && after.hooks < 60, `${after?.hooks} tokens of hooks`);
  assert.equal(after.kept + after.summary + after.files + after.state + after.hooks, written);
});

test('a second compaction without anything new is refused, unless it has a target', async () => {
  const { home } = freshHome(':');
  const first = join(home, 'out.jsonl');
  const { postTokens } = await receiptOf(home);
  const again = await baton(home, ['compact', first, '--preview']);
  assert.equal(again.error?.['code'], 'nothing_to_compact');
  assert.match(again.explanation, /since the last compaction/);
  const smaller = await baton(home, ['compact', first, '--preview', '--json', '--target-tokens', '2000']);
  assert.equal(smaller.status, 0, smaller.explanation);
  assert.ok((JSON.parse(smaller.stdout) as Receipt).postTokens < postTokens);
});
