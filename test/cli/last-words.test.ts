// `exec` prints what the agent said to the user, whatever the watcher requests and whatever fails afterwards.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PROMPT_NAMES } from '../../src/prompts/shipped.ts';
import type { Ended } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const ANSWER = 'There are 3 files: a.txt, b.txt and c.txt.';
const BROKEN: Reply = { fault: { type: 'status', status: 500 } };

function runs(command: string, input: number, text?: string): Reply {
  const said = text === undefined ? {} : { text };
  return { ...said, calls: [{ name: 'shell', arguments: { command } }], fills: input };
}

function says(text: string, input = 62_500): Reply {
  return { text, fills: input };
}

/** Work that is worth a compaction, and reaches a boundary inside of the turn. */
const COMMITS = runs(
  'seq 1 9000; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "Count"',
  62_000,
);

async function exec(
  replies: readonly Reply[],
  ...more: readonly string[]
): Promise<Ended & { asked: number }> {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  const ended = await new ExecFixture(root, server.baseUrl).exec('responses', [
    ...more,
    'How many files are there?',
  ]);
  return { ...ended, asked: server.requests.length - from };
}

describe('the answer of the last turn', () => {
  test('is printed if it comes instead of the packet, and nothing follows it', async () => {
    const ended = await exec([COMMITS, says(ANSWER), says(PACKET), says('Continuing.', 9_000)]);
    assert.equal(ended.stdout, `${ANSWER}\n`, ended.stderr);
    assert.equal(ended.status, 0);
    assert.equal(ended.asked, 2, 'no request after the answer');
  });

  test('is printed if it is a question instead of the packet', async () => {
    const question = 'Two of them are empty. Shall I delete those?';
    const ended = await exec([COMMITS, says(question), says('Deleted.', 9_000)]);
    assert.equal(ended.stdout, `${question}\n`, ended.stderr);
    assert.equal(ended.asked, 2);
  });

  test('is printed after a packet inside the turn', async () => {
    const ended = await exec([COMMITS, says(PACKET), says(ANSWER, 9_000)]);
    assert.equal(ended.stdout, `${ANSWER}\n`, ended.stderr);
    assert.equal(ended.asked, 3);
  });

  test('is printed if a golden path is due at its end, and nothing follows it', async () => {
    const ended = await exec([
      runs('seq 1 9000', 40_000),
      says(ANSWER, 90_000),
      says(PACKET),
      says('Continuing.'),
    ]);
    assert.equal(ended.stdout, `${ANSWER}\n`, ended.stderr);
    assert.equal(ended.asked, 2);
  });
});

test('the first thread of a home finds the prompts there, to be edited', async () => {
  const at = new ExecFixture(root, server.baseUrl);
  server.play({ key: EXEC_KEY, replies: [says('Hello.', 900)] });
  const folder = join(at.home, '.baton/auto-compact');
  assert.equal(existsSync(folder), false);
  await at.exec('responses', ['Hello.']);
  assert.deepEqual(readdirSync(folder).toSorted(), [...PROMPT_NAMES].toSorted());
  writeFileSync(join(folder, 'handoff.md'), 'Mine {packet}');
  await at.exec('responses', ['Hello.']);
  assert.equal(readFileSync(join(folder, 'handoff.md'), 'utf8'), 'Mine {packet}');
});

describe('what was said before a failure', () => {
  const said = 'The first two files are a.txt and b.txt.';

  test('of the provider is printed, and the run fails', async () => {
    const ended = await exec([runs('ls', 5_000, said), BROKEN]);
    assert.equal(ended.stdout, `${said}\n`);
    assert.notEqual(ended.status, 0);
    assert.match(ended.stderr, /--resume/);
  });

  test('at a limit is printed, and the run fails', async () => {
    const ended = await exec([runs('ls', 5_000, said)], '-c', 'limits.turn_requests=1');
    assert.equal(ended.stdout, `${said}\n`, ended.stderr);
    assert.notEqual(ended.status, 0);
  });

  test('of the provider in a handover is printed, and no packet', async () => {
    const ended = await exec([{ ...COMMITS, text: said }, says(PACKET), BROKEN]);
    assert.equal(ended.stdout, `${said}\n`);
    assert.notEqual(ended.status, 0);
  });
});
