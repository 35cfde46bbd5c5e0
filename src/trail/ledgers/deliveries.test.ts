import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryLedger } from './deliveries.ts';
import { simpleCommands } from '../../shell/scripts.ts';

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

test('links that the user gave, and lists of links, are none of what the session produced', () => {
  const deliveries = new DeliveryLedger();
  const links = () => deliveries.landmarks().map(({ text }) => text);
  deliveries.addGivenLinks(`Please look at ${link}/7 and ${link}/8.`);
  deliveries.addLinks(`I looked at ${link}/7.`, 1);
  assert.deepEqual(links(), []);
  deliveries.addLinks([1, 2, 3, 4].map((number) => `- ${link}/${number}: stale`).join('\n'), 1);
  assert.deepEqual(links(), [], 'what was read');
  deliveries.addLinks(`The pull request is open: ${link}/9`, 1);
  assert.deepEqual(links(), [`${link}/9`]);
  const run = { output: '', failed: false };
  deliveries.addRun(simpleCommands('gh pr merge 7'), run, { turn: 1, position: 1 });
  assert.deepEqual(links(), [`${link}/9`, 'pr 7'], 'what was done to a given one is told');
});
