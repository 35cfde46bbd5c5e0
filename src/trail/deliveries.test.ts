import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryLedger } from './deliveries.ts';
import { simpleCommands } from './shell.ts';

const link = 'https://example.org/ada/orbit/pull';

/** The landmarks after scripts, each with what it printed. */
function after(...runs: readonly (readonly [script: string, output?: string, failed?: boolean])[]): string[] {
  const deliveries = new DeliveryLedger();
  for (const [script, output = '', failed = false] of runs)
    deliveries.addRun(simpleCommands(script), { output, failed }, { turn: 1, position: 1 });
  return deliveries.landmarks().map(({ text, state }) => (state === undefined ? text : `${text} ${state}`));
}

test('a pull request that the session opened is told with what became of it', () => {
  const opened = ['gh pr create --fill', `Creating…\n${link}/7\n`] as const;
  assert.deepEqual(after(opened), [`${link}/7 opened`]);
  assert.deepEqual(after(opened, ['gh pr merge 7 --squash']), [`${link}/7 merged`]);
  assert.deepEqual(after(opened, ['gh pr merge']), [`${link}/7 merged`]);
  assert.deepEqual(after(opened, ['gh pr merge --auto']), [`${link}/7 opened`], 'not yet');
  assert.deepEqual(after(opened, ['gh pr merge 7', 'conflict', true]), [`${link}/7 opened`], 'refused');
  assert.deepEqual(after(opened, ['gh pr close #7']), [`${link}/7 closed`]);
  const seen = ['gh pr view 7 --json state', '{"state":"MERGED"}'] as const;
  assert.deepEqual(after(opened, seen), [`${link}/7 merged`]);
  assert.deepEqual(after(seen), [], "somebody else's");
  assert.deepEqual(after(['gh pr merge 9']), ['pr 9 merged']);
});

test('a push that was refused is none, whatever its status', () => {
  assert.deepEqual(after(['git push']), ['pushed: `git push`']);
  assert.deepEqual(after(['git push | tail -2', ' ! [rejected] main -> main (fetch first)']), []);
});
