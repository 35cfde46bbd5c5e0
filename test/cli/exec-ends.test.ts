// The user's turn ends when it ends: `baton exec` prints the answer to the user's message, and the watcher starts nothing after it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

/**
 * The last turn of each run reports 62 % used, and a commit was made in it: the watcher wants to hand over. The output is what
 * a compaction can free.
 */
const COMMIT: Reply = {
  calls: [
    {
      name: 'shell',
      arguments: { command: 'git commit -q --allow-empty -m "Light the lamp" && seq 1 9000' },
    },
  ],
  fills: 20_000,
};
const ANSWER: Reply = { text: 'There are 7 files.', fills: 62_000 };
const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@localhost',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@localhost',
};

function play(...replies: readonly Reply[]): () => readonly string[] {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  return () => server.requests.slice(from).map(({ text }) => text);
}

test('the answer to the only turn is printed, and no request follows it', async () => {
  const requests = play(COMMIT, ANSWER, { text: PACKET }, { text: 'Continuing: all of it is done now.' });
  const at = new ExecFixture(root, server.baseUrl);
  const ended = await at.exec('responses', ['How many files?'], { env: IDENTITY });
  assert.equal(ended.stdout, 'There are 7 files.\n', ended.stderr);
  assert.equal(ended.status, 0);
  assert.equal(requests().length, 2, 'the call and the answer');
  assert.match(ended.stderr, /deferring until the next message/);
});

test('the sequence of the watcher precedes the next message, which is then answered', async () => {
  play(COMMIT, ANSWER);
  const at = new ExecFixture(root, server.baseUrl);
  await at.exec('responses', ['How many files?'], { env: IDENTITY });
  const requests = play({ text: PACKET, fills: 62_500 }, { text: 'It is Sunday.', fills: 9_500 });
  const ended = await at.exec('responses', ['--resume', 'last', 'Which day is it?'], { env: IDENTITY });
  assert.equal(ended.stdout, 'It is Sunday.\n', ended.stderr);
  const sent = requests();
  assert.equal(sent.length, 2, 'the packet, and the answer to handoff and message in one');
  assert.match(sent[0] ?? '', /continuation packet/i);
  assert.doesNotMatch(sent[0] ?? '', /Which day is it/, 'the message waits for the handover');
  assert.match(sent.at(-1) ?? '', /Here is your packet back[\s\S]*Which day is it\?/);
});

test('an answer is not lost if the next request would have failed', async () => {
  play(COMMIT, ANSWER, { fault: { type: 'status', status: 500 } });
  const at = new ExecFixture(root, server.baseUrl);
  const ended = await at.exec('responses', ['How many files?'], { env: IDENTITY });
  assert.deepEqual([ended.status, ended.stdout], [0, 'There are 7 files.\n'], ended.stderr);
});
