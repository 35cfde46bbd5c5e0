// A thread with its watcher, over a real provider on the loopback, with a log in memory and tools that only say what they did.

import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Hooks } from '../../src/ports.ts';
import { callOf } from '../../src/protocol/item.ts';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { parsePrompt } from '../../src/prompts/frontmatter.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import { DEFAULT_RETRY_POLICY } from '../../src/providers/retry.ts';
import { WatchedSession } from '../../src/session/watched/watched-session.io.ts';
import type { ToolRunner } from '../../src/session/terms.ts';
import type { WatcherWorld } from '../../src/watcher/live/agent.ts';
import { resolvePolicy } from '../../src/watcher/policy.ts';
import type { WireApi } from '../../src/vocabulary.ts';
import { compactionWorld, summarizersOf } from './compactable.ts';
import { client, MODEL } from './provider-server/client.ts';

/** A shell that says that everything went well, and commits when it is asked to. */
export const CALM_SHELL: ToolRunner = {
  specs: [
    {
      name: 'shell',
      description: 'Runs a command.',
      parameters: { type: 'object', properties: { command: { type: 'string' } } },
    },
  ],
  run: (call) => {
    const { callId = '', input } = callOf(call) ?? { callId: '', input: '' };
    const output = input.includes('git commit') ? '[main 1a2b3c4] Light the lamp\n 1 file changed' : 'ok';
    return Promise.resolve({
      type: 'function_call_output',
      call_id: callId,
      output,
      success: true,
      exit_code: 0,
    });
  },
};

/** How a thread of a test differs from the usual one. */
export interface ThreadTerms {
  readonly baseUrl: string;
  readonly wire?: WireApi;
  /** Raw window, tokens. */
  readonly window?: number;
  readonly config?: Config;
  readonly past?: readonly LogRecord[];
  readonly tools?: ToolRunner;
  readonly watcher?: Partial<WatcherWorld>;
  /** Run around compactions. */
  readonly hooks?: Hooks;
  readonly onEvent?: (event: SessionEvent) => void;
  /** Called before records are kept; what it throws is what a disk would say. */
  readonly onAppend?: (records: readonly LogRecord[]) => Promise<void> | void;
}

/** Opens the thread, with all that it writes and tells. */
export async function liveThread(terms: ThreadTerms) {
  const { wire = 'responses', window = 100_000, past = [], config: base = DEFAULT_CONFIG } = terms;
  const config = { ...base, modelContextWindow: window };
  const records: LogRecord[] = [...past];
  const events: SessionEvent[] = [];
  const scratch = new Map<string, string>();
  const retry = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 0, streamMaxRetries: 0, baseMs: 1 };
  const model = client(wire, terms.baseUrl, { retry });
  let ids = 0;
  const settings = { config, policy: resolvePolicy(config) };
  const thread = new WatchedSession(
    {
      session: {
        config,
        model,
        modelName: MODEL[wire],
        instructions: 'You tend a lighthouse.',
        threadId: 'thread-1',
        log: {
          append: async (added) => {
            await new Promise((resolve) => void setImmediate(resolve));
            await terms.onAppend?.(added);
            // As a file would give them back.
            records.push(...(JSON.parse(JSON.stringify(added)) as LogRecord[]));
          },
          sync: () => Promise.resolve(),
        },
        tools: terms.tools ?? CALM_SHELL,
        compaction: compactionWorld({
          summarizers: summarizersOf([{ model, window }]),
          ...(terms.hooks === undefined ? {} : { hooks: terms.hooks }),
        }),
        emit: (event) => {
          events.push(event);
          terms.onEvent?.(event);
        },
      },
      watcher: {
        settings: () => Promise.resolve(settings),
        prompt: (name) => Promise.resolve({ body: parsePrompt(SHIPPED_PROMPTS[name]).body, isOwn: false }),
        judgePrompt: () => Promise.resolve(SHIPPED_PROMPTS['judgment.md']),
        askJudge: () => Promise.resolve('{"should_compact": true, "reason": "a good moment"}'),
        facts: () => Promise.resolve({}),
        scratch: {
          size: (path) => Promise.resolve(scratch.get(path)?.length),
          append: (path, text) => {
            scratch.set(path, (scratch.get(path) ?? '') + text);
            return Promise.resolve();
          },
        },
        nowMs: () => Date.now(),
        ...terms.watcher,
      },
      newId: () => `message-${past.length}-${++ids}`,
    },
    settings,
    past,
  );
  await thread.begin();
  return { thread, records, events, scratch };
}
