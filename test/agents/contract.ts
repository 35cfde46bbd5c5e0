// The contract that every file Baton writes must keep: the real tool resumes it, sends exactly the intended history,
// asks the model for nothing else, and only appends to the file.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { createClaudeHome, placeSession, runClaudeResume } from './claude.ts';
import { createCodexHome, placeRollout, runCodexResume } from './codex.ts';
import type { RecordedRequest } from './loopback.ts';
import type { AgentRun } from './process.ts';
import { sentByClaude, sentByCodex, type Sent, type SentItem } from './sent.ts';
import { isObject } from './shape.ts';

/** What a real tool did when it resumed a file. */
export interface Resumed {
  /** The history that the first prompt was sent with. */
  readonly items: readonly SentItem[];
  /** Instructions, reminders and attachments that went with the first prompt, in one text. */
  readonly context: string;
  /** The session that the tool says it continued. */
  readonly sessionId: string;
}

const PROMPT = 'What comes next?';
const SECOND_PROMPT = 'And after that?';
const REPLY = 'The next step of the plan.';

/**
 * Has the real Codex resume a copy of a rollout, and asserts everything that holds for every rollout: it is found by the
 * id in its first line, it is not compacted again, a second prompt finds the history with the first exchange after it,
 * and the bytes of the file stay where they are.
 *
 * @param path a rollout file of any name.
 * @param times how often it is resumed: once where another test prompts a second time at the end of the same layout.
 */
export async function resumeInCodex(path: string, times: 1 | 2 = 2): Promise<Resumed> {
  const content = await readFile(path, 'utf8');
  const meta = firstMeta(content);
  const home = await createCodexHome();
  try {
    const placed = await placeRollout(home, meta.id, content);
    const run = (prompt: string): Promise<AgentRun> =>
      runCodexResume({ home, id: meta.id, provider: meta.provider, prompt, reply: REPLY });
    const resumed = await resume({
      times,
      run,
      placed,
      content,
      isModelRequest: ({ method, path: route }) => method === 'POST' && route === '/v1/responses',
      sent: sentByCodex,
      sessionId: ({ stdout }) => stringAt(jsonLines(stdout)[0], 'thread_id'),
    });
    assert.equal(resumed.sessionId, meta.id, 'Codex continued another thread');
    return resumed;
  } finally {
    await home.remove();
  }
}

/**
 * Has the real Claude Code resume a copy of a session, and asserts what holds for every session file; see
 * `resumeInCodex`. The session id is the name of the file, or a new one where that is no UUID.
 *
 * @param path a session file of any name.
 * @param times how often it is resumed; see `resumeInCodex`.
 */
export async function resumeInClaude(path: string, times: 1 | 2 = 2): Promise<Resumed> {
  const content = await readFile(path, 'utf8');
  const name = basename(path, '.jsonl');
  const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name) ? name : randomUUID();
  const home = await createClaudeHome();
  try {
    const placed = await placeSession(home, id, content);
    const resumed = await resume({
      times,
      run: (prompt) => runClaudeResume({ home, id, prompt, reply: REPLY }),
      placed,
      content,
      isModelRequest: ({ path: route }) => route.startsWith('/v1/messages?'),
      sent: sentByClaude,
      sessionId: ({ stdout }) => stringAt(jsonLines(stdout)[0], 'session_id'),
    });
    assert.equal(resumed.sessionId, id, 'Claude Code continued another session');
    return resumed;
  } finally {
    await home.remove();
  }
}

/** What one file must make its tool send. */
export interface Expectation {
  readonly path: string;
  /** The whole history, in order. */
  readonly items: readonly SentItem[];
  /** Texts that must be somewhere around the history, such as restored files. */
  readonly context?: readonly string[];
  /** How often the tool is started; see `resumeInCodex`. */
  readonly times?: 1 | 2;
}

/** Asserts that the real Codex, resuming this file, sends exactly this history. */
export async function assertCodexSends(expectation: Expectation): Promise<void> {
  assertSent(await resumeInCodex(expectation.path, expectation.times), expectation);
}

/** Asserts that the real Claude Code, resuming this file, sends exactly this history. */
export async function assertClaudeSends(expectation: Expectation): Promise<void> {
  assertSent(await resumeInClaude(expectation.path, expectation.times), expectation);
}

function assertSent(resumed: Resumed, expectation: Expectation): void {
  assert.deepEqual(resumed.items, expectation.items);
  for (const text of expectation.context ?? []) {
    assert.ok(resumed.context.includes(text), `nothing around the history says: ${text}`);
  }
}

interface Resuming {
  readonly times: 1 | 2;
  readonly run: (prompt: string) => Promise<AgentRun>;
  readonly placed: string;
  readonly content: string;
  readonly isModelRequest: (request: RecordedRequest) => boolean;
  readonly sent: (body: RecordedRequest['body']) => Sent;
  readonly sessionId: (run: AgentRun) => string;
}

async function resume(resuming: Resuming): Promise<Resumed> {
  const first = await ask(resuming, PROMPT);
  if (resuming.times === 2) {
    const second = await ask(resuming, SECOND_PROMPT);
    const exchange: readonly SentItem[] = [
      { role: 'user', text: PROMPT },
      { role: 'assistant', text: REPLY },
    ];
    assert.deepEqual(
      second.items.slice(0, first.items.length),
      first.items,
      'the second prompt changed the history',
    );
    assert.deepEqual(
      second.items.slice(-exchange.length),
      exchange,
      'the second prompt does not see the first',
    );
    assert.equal(second.sessionId, first.sessionId, 'the second prompt went to another session');
  }
  const written = await readFile(resuming.placed, 'utf8');
  assert.ok(written.startsWith(resuming.content), 'the tool rewrote the file instead of appending to it');
  assert.ok(written.length > resuming.content.length, 'the tool continued in another file');
  return first;
}

async function ask(resuming: Resuming, prompt: string): Promise<Resumed> {
  const run = await resuming.run(prompt);
  assert.equal(run.timedOut, false, `the tool did not end in time\n${run.stderr}`);
  assert.equal(run.exitCode, 0, `the tool failed\n${run.stdout}\n${run.stderr}`);
  const bodies = run.requests.filter(resuming.isModelRequest).map((request) => request.body);
  assert.notEqual(bodies.length, 0, `the model was asked nothing\n${run.stdout}\n${run.stderr}`);
  assert.equal(bodies.length, 1, 'the model was asked more than once: the tool compacted the history itself');
  const sent = resuming.sent(bodies[0] ?? {});
  assert.equal(sent.prompt, prompt);
  return { items: sent.items, context: sent.context, sessionId: resuming.sessionId(run) };
}

function firstMeta(content: string): { readonly id: string; readonly provider: string } {
  const payload = jsonLines(content.slice(0, content.indexOf('\n')))[0]?.['payload'];
  if (!isObject(payload)) throw new TypeError('a rollout begins with a session_meta line');
  const provider = payload['model_provider'];
  return { id: stringAt(payload, 'id'), provider: typeof provider === 'string' ? provider : 'openai' };
}

function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
    .filter(isObject);
}

function stringAt(object: Readonly<Record<string, unknown>> | undefined, key: string): string {
  const value = object?.[key];
  if (typeof value !== 'string') throw new TypeError(`no ${key} where one was expected`);
  return value;
}
