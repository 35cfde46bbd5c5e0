// `baton serve` in a repository of its own, with a scripted model: what the tests of its ops share.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { BatonError } from '../../src/errors.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import type { Client } from './client.ts';
import { ExecFixture, EXEC_KEY } from './exec.ts';
import type { Reply, ScriptedCall } from './provider-server/script.ts';
import type { ProviderServer, Recorded } from './provider-server/server.ts';
import { readSessionFile } from './read-format.ts';

/** A turn that waits for the user, who says nothing. */
export const QUESTION: Reply = {
  calls: [{ name: 'ask_user', arguments: { question: 'Which one?', options: [] } }],
};

/** Asks the judge on behalf of a client. */
export const JUDGE_OP = {
  type: 'rawr_auto_compaction_judgment',
  request_id: 'ask-1',
  tier: 'ready',
  percent_remaining: 40,
  boundaries_present: ['commit'],
  last_agent_message: 'Hello.',
  decision_prompt_path: 'judgment.md',
} as const;

/** A fixture whose repository has a commit. @param root where its home is made */
export function committedFixture(
  root: string,
  server: Pick<ProviderServer, 'baseUrl'>,
  files: Readonly<Record<string, string>> = {},
): ExecFixture {
  const at = new ExecFixture(root, server.baseUrl, files);
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
  execFileSync('git', ['add', '-A'], { cwd: at.work });
  execFileSync('git', [...author, 'commit', '-q', '--allow-empty', '-m', 'Begin'], { cwd: at.work });
  return at;
}

/** Sets what the model answers from here on. @returns the requests since, as they come */
export function script(server: ProviderServer, ...replies: readonly Reply[]): () => readonly Recorded[] {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  return () => server.requests.slice(from);
}

/** The model runs a command. */
export function shellCall(command: string): ScriptedCall {
  return { name: 'shell', arguments: { command } };
}

/** Shuts the only thread down; what it leaves is sound. */
export async function shutDown(client: Client, at: ExecFixture): Promise<void> {
  client.send({ type: 'shutdown' });
  const ended = await client.ended;
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(client.events.at(-1)?.type, 'shutdown_complete');
  await assertSound(at);
}

/** Every session of a fixture can be read to its end, each call has its result, and nothing is locked. */
export async function assertSound(at: ExecFixture): Promise<void> {
  for (const path of at.rollouts()) {
    const read = await readSessionFile(path).catch((error: unknown) => {
      // A thread in which nobody has spoken.
      if (error instanceof BatonError && error.code === 'session_empty') return undefined;
      throw error;
    });
    if (read === undefined) continue;
    const { records } = read;
    const fold = new HistoryFold(WHOLE_ITEMS);
    for (const record of records) fold.add(record);
    assert.deepEqual(fold.problems, []);
    const broken = findBrokenPairs(fold.entries.map(({ value }) => pairView(value)));
    assert.deepEqual(Object.values(broken).flat(), []);
  }
  assert.deepEqual(at.locks(), []);
}
