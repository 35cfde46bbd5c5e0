// The notes before a compaction: a read-only sandbox gets none, and no commit by the agent contains them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@localhost',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@localhost',
};

function runs(command: string, input: number): Reply {
  return { calls: [{ name: 'shell', arguments: { command } }], fills: input };
}

/** A handover inside of a turn, after which the agent commits everything. */
async function handOver(reached: Reply, more: readonly string[]): Promise<ExecFixture> {
  server.play({
    key: EXEC_KEY,
    replies: [
      reached,
      { text: PACKET, fills: 62_500 },
      runs('git add -A && git commit -q --allow-empty -m "Everything"', 9_000),
      { text: 'Done.', fills: 9_000 },
    ],
  });
  const at = new ExecFixture(root, server.baseUrl, { 'lamp.txt': 'lit\n' });
  const ended = await at.exec('responses', [...more, 'Light the lamp.'], { env: IDENTITY });
  assert.equal(ended.status, 0, ended.stderr);
  assert.match(ended.stderr, /compact/i);
  return at;
}

test('are in no commit by the agent', async () => {
  const at = await handOver(runs('git commit -q --allow-empty -m "Light it"', 62_000), []);
  assert.ok(existsSync(join(at.work, '.scratch')), 'notes were written');
  const tracked = execFileSync('git', ['ls-files'], { cwd: at.work, encoding: 'utf8' });
  assert.equal(tracked, 'lamp.txt\n');
  const exclude = readFileSync(join(at.work, '.git/info/exclude'), 'utf8');
  assert.equal(exclude.split('/.scratch/').length - 1, 1, 'named once');
});

test('are not written in a read-only sandbox', async () => {
  const plan = {
    plan: [
      { step: 'Trim the wick', status: 'completed' },
      { step: 'Fill the oil', status: 'pending' },
    ],
  };
  const reached: Reply = {
    calls: [{ name: 'update_plan', arguments: plan }],
    fills: 62_000,
  };
  const from = server.requests.length;
  const at = await handOver(reached, ['--sandbox', 'read_only']);
  assert.equal(existsSync(join(at.work, '.scratch')), false);
  assert.ok(
    server.requests.slice(from).every(({ text }) => !text.includes('.scratch')),
    'none is asked for',
  );
});
