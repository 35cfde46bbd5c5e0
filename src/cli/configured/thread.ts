// Opens threads for commands: model, summarizers, hooks and system prompt of a configuration.

import { resolve } from 'node:path';
import { batonHome } from '../../config/load.io.ts';
import { resolveModelProviders } from '../../config/model-providers.ts';
import { BatonError } from '../../errors.ts';
import type { Config } from '../../config/schema.ts';
import { loadDecisionPrompt, loadPrompt, promptPlace, seedPrompts } from '../../prompts/load.io.ts';
import type { SessionEvent } from '../../protocol/wire/event.ts';
import type { OpenedModel } from '../../providers/open.ts';
import { locateRollout, openRolloutSource } from '../../rollout/read.io.ts';
import { openThread } from '../../thread/thread.io.ts';
import type { Thread } from '../../thread/terms.ts';
import type { ModelChoice, Playback, ThreadBeginning } from '../../thread/terms.ts';
import type { AskApproval } from '../../thread/tools.io.ts';
import { locateOwnSession } from '../session-files/handles.io.ts';
import { openHooks } from './hooks.ts';
import type { CommandIo } from '../io.ts';
import { rehearsalPathOf } from './rehearsal-flag.ts';
import { modelWorld } from '../session-files/session.ts';
import { openSessionModel } from '../../calls/models.ts';
import type { Input } from '../../calls/output.io.ts';
import { summarizersOf, watcherSummarizersOf } from '../../calls/summarizers.ts';
import { resolveRoot } from '../../system/workspace.io.ts';

/** A command's request for a thread. */
export interface ThreadWishes {
  readonly config: Config;
  readonly model: OpenedModel;
  /** Plays a recording as the model: hooks do not run, and no other model is asked. */
  readonly playback: Playback | undefined;
  /** A thread id or its beginning, a path, or `last`; undefined: a new thread. */
  readonly resume: string | undefined;
  /** The id of the thread that a new one continues. */
  readonly fork?: string;
  /** As `ThreadRequest.keepsModel`: the user named no model. */
  readonly keepsModel?: boolean;
  readonly beginning?: ThreadBeginning;
  /** The agent's working directory. Absolute. */
  readonly directory: string;
  /** The file of `--config`. */
  readonly configFile: string | undefined;
  /** Reads the current configuration. */
  readonly readConfig: () => Promise<Config>;
  /** The version of Baton. */
  readonly version: string;
  /** Absent: Baton asks the client that sends ops. */
  readonly ask?: AskApproval;
  readonly emit: (event: SessionEvent) => void;
}

/**
 * Checks whether a thread can be opened before it looks for a model: a missing model would hide all other faults.
 * @returns the session to resume, with those that it continues
 * @throws BatonError as `resolveRoot`, `openRolloutSource`
 */
export async function requirePlaces(
  io: CommandIo,
  { directory, resume }: Pick<ThreadWishes, 'directory' | 'resume'>,
): Promise<Input | undefined> {
  await resolveRoot(directory);
  if (resume === undefined) return undefined;
  const home = batonHome(io);
  const path = await locateRollout(home, await locateOwnSession(io, resume));
  const source = await openRolloutSource(home, path);
  await source.close();
  return source;
}

/**
 * Opens a thread.
 * @throws BatonError as `openThread`
 */
export async function openThreadFor(io: CommandIo, wishes: ThreadWishes): Promise<Thread> {
  const { directory, resume, fork, beginning, version, ask, configFile, readConfig, model, playback } =
    wishes;
  let threadId: string | undefined;
  const emit = (event: SessionEvent): void =>
    wishes.emit(threadId === undefined ? event : { ...event, thread_id: threadId });
  const config = playback === undefined ? wishes.config : withoutOtherModels(wishes.config);
  const place = promptPlace(config, io);
  // Creates the prompt files so that users find them to edit. A rehearsal sends no prompts.
  const unseeded = playback === undefined ? await seedPrompts(place) : [];
  const writersFor = async (session: OpenedModel): Promise<Omit<ModelChoice, 'model'>> => {
    const all = await summarizersOf(modelWorld(io), config, session);
    const watchers = await watcherSummarizersOf(modelWorld(io), config, session, all);
    return { summarizers: all, ...(watchers === undefined ? {} : { watcherSummarizers: watchers }) };
  };
  const openModel = async (name: string): Promise<ModelChoice> => {
    requireNoRehearsal(name, config);
    const chosen = await openSessionModel(modelWorld(io), config, name);
    return { model: chosen, ...(await writersFor(chosen)) };
  };
  const [writers, hooks, prompt] = await Promise.all([
    writersFor(model),
    playback === undefined ? openHooks(io, config, directory, emit) : undefined,
    loadPrompt(place, 'system.md'),
  ]);
  for (const warning of [...unseeded, ...prompt.warnings]) io.stderr(`baton: warning: ${warning}\n`);
  return openThread(
    {
      config,
      directory,
      model,
      instructions: prompt.body,
      ...(resume === undefined ? {} : { resume: await locateOwnSession(io, resume) }),
      keepsModel: wishes.keepsModel === true,
      ...(fork === undefined ? {} : { fork }),
      ...(beginning === undefined ? {} : { beginning }),
      ...(playback === undefined ? {} : { playback }),
    },
    {
      home: batonHome(io),
      ...(configFile === undefined ? {} : { configFile: resolve(directory, configFile) }),
      env: io.env,
      platform: process.platform,
      version,
      keyVariables: [...resolveModelProviders(config.modelProviders).values()].map(({ envKey }) => envKey),
      clock: io.clock,
      ids: io.ids,
      ...writers,
      openModel,
      ...(hooks === undefined ? {} : { hooks }),
      ...(ask === undefined ? {} : { ask }),
      readConfig,
      prompts: {
        prompt: (now, name) => loadPrompt(promptPlace(now, io), name),
        decisionPrompt: (now, path) => loadDecisionPrompt(promptPlace(now, io), path),
      },
      named: (id) => void (threadId = id),
      emit,
      signal: io.signal,
    },
  );
}

/** The player starts recorded turns, but a client starts its own. @throws BatonError `usage` if a rehearsal is requested */
export function requireNoRehearsal(flag: string | undefined, config: Config): void {
  if (rehearsalPathOf(flag, config) === undefined) return;
  throw new BatonError('usage', 'A rehearsal takes no ops', {
    cure: 'Play it with baton exec, or choose another model with --model PROVIDER/MODEL.',
  });
}

/** A rehearsal sends no transcript anywhere. */
function withoutOtherModels(config: Config): Config {
  const { summarizationModel: _, summarizationModelProviderId: __, ...compact } = config.compact;
  const { compactionModel: ___, ...rawrAutoCompaction } = config.rawrAutoCompaction;
  return { ...config, compact, rawrAutoCompaction };
}
