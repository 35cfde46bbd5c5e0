// A thread as commands open it: the model, the summarizers, the hooks and the system prompt of a configuration.

import { batonHome } from '../config/load.ts';
import { resolveModelProviders } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { loadDecisionPrompt, loadPrompt, promptPlace } from '../prompts/load.ts';
import type { SessionEvent } from '../protocol/event.ts';
import { openThread } from '../thread/driver.ts';
import type { Thread } from '../thread/driver.ts';
import type { AskApproval } from '../thread/tools/driver.ts';
import { openHooks } from './hooks.ts';
import type { CommandIo } from './io.ts';
import { openSessionModel } from './models.ts';
import { summarizersOf, watcherSummarizersOf } from './summarizers.ts';

/** What a command says of the thread that it wants. */
export interface ThreadWishes {
  readonly config: Config;
  /** `PROVIDER/MODEL` or `PROVIDER`; undefined: the one that is meant. */
  readonly model: string | undefined;
  /** A thread id, a path, or `last`; undefined: a new thread. */
  readonly resume: string | undefined;
  /** Where the agent works. Absolute. */
  readonly directory: string;
  /** The configuration as it is now. */
  readonly readConfig: () => Promise<Config>;
  /** Of Baton. */
  readonly version: string;
  /** Absent: whoever sends ops is asked. */
  readonly ask?: AskApproval;
  readonly emit: (event: SessionEvent) => void;
}

/**
 * Opens a thread.
 * @throws BatonError as `openSessionModel` and `openThread`
 */
export async function openThreadFor(io: CommandIo, wishes: ThreadWishes): Promise<Thread> {
  const { config, directory, resume, version, ask, emit, readConfig } = wishes;
  const model = await openSessionModel(io, config, wishes.model);
  const [summarizers, hooks, prompt] = await Promise.all([
    summarizersOf(io, config, model),
    openHooks(io, config, directory),
    loadPrompt(promptPlace(config, io), 'system.md'),
  ]);
  const watcherSummarizers = await watcherSummarizersOf(io, config, model, summarizers);
  for (const warning of prompt.warnings) io.stderr(`baton: warning: ${warning}\n`);
  return openThread(
    { config, directory, model, instructions: prompt.body, ...(resume === undefined ? {} : { resume }) },
    {
      home: batonHome(io),
      env: io.env,
      platform: process.platform,
      version,
      keyVariables: [...resolveModelProviders(config.modelProviders).values()].map(({ envKey }) => envKey),
      clock: io.clock,
      ids: io.ids,
      summarizers,
      ...(watcherSummarizers === undefined ? {} : { watcherSummarizers }),
      ...(hooks === undefined ? {} : { hooks }),
      ...(ask === undefined ? {} : { ask }),
      readConfig,
      prompts: {
        prompt: (now, name) => loadPrompt(promptPlace(now, io), name),
        decisionPrompt: (now, path) => loadDecisionPrompt(promptPlace(now, io), path),
      },
      emit,
      signal: io.signal,
    },
  );
}
