// Opens a thread: the one place that joins the sampling loop with its log, its model, its tools and the project's
// instructions. Every front end (`exec`, later a terminal, a library) uses this one door.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionWorld } from '../session/session.io.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { HookSession } from '../protocol/hook.ts';
import type { Item } from '../protocol/item.ts';
import type { NoteRecord, SettingsRecord } from '../protocol/record.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import { NO_LIMITS } from '../session/limits.ts';
import { WatchedSession } from '../session/watched/watched-session.io.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { withinDeadline } from '../system/deadline.io.ts';
import { usableWindow } from '../tokens/pressure.ts';
import { openWorkspace, resolveRoot } from '../system/workspace.io.ts';
import {
  changedSettings,
  chosenModel,
  messageContextItem,
  isSurroundings,
  missingContext,
  recordedInstructions,
} from './context.ts';
import { collect, openLog, recordsOf, ThreadLog } from './log.io.ts';
import type { OpenLog } from './log.io.ts';
import { MeteredModel, meteredWorld, tillOf } from './meter.io.ts';
import type { Meter } from './meter.io.ts';
import { TurnModel } from './model.io.ts';
import { WatcherSurroundings } from './watching.io.ts';
import type { WatcherSettings } from '../watcher/live/agent.ts';
import type { UserMessage } from '../watcher/state.ts';
import type { Op } from '../protocol/wire/op.ts';
import { createAskUserTool } from './ask-user.io.ts';
import { PendingApprovals } from './pending-approvals.io.ts';
import { TurnSnapshots } from './snapshots/turn-snapshots.io.ts';
import { sweepWorkshops } from './snapshots/workshop.io.ts';
import { OpsDoor } from './ops.io.ts';
import { hookSession, openPlace, placeOfPlayback } from './project.io.ts';
import type { EquippedTools, Project } from './project.io.ts';
import { pinRecords } from '../trail/pins.ts';
import type {
  ModelChoice,
  Thread,
  ThreadBeginning,
  ThreadRequest,
  ThreadWorld,
  TurnOutcome,
  TurnTerms,
} from './terms.ts';
import { shellLineIn } from './shell-line.ts';
import { configured, initialSettings, mayWrite, withMode, withoutNotes } from './settings.ts';
import type { ThreadSettings } from './settings.ts';

/** Longest wait for a turn's commands to end, in milliseconds. @source docs/decisions/snapshots.md */
const IDLE_LIMIT_MS = 500;

/**
 * Opens a thread. Nothing is written before its first turn.
 * @throws BatonError `file_not_found` if directory or thread do not exist; `session_live` if another process has it
 *   open; as `openRollout`; `interrupted`
 */
export async function openThread(request: ThreadRequest, world: ThreadWorld): Promise<Thread> {
  const root = await resolveRoot(request.directory);
  const log = await openLog(request, root, world);
  world.named?.(log.rollout.threadId);
  try {
    const name = request.keepsModel === true ? chosenModel(log.past) : undefined;
    const choice = name === undefined ? undefined : await world.openModel?.(name);
    if (choice !== undefined) return await OpenThread.open(...withModel(request, world, choice), log);
    return await OpenThread.open(request, world, log);
  } catch (error) {
    await log.rollout.close();
    throw error;
  }
}

/** Reopens it with a model that the user chose in the thread. */
function withModel(
  request: ThreadRequest,
  { summarizers: _, watcherSummarizers: __, ...world }: ThreadWorld,
  { model, ...summarizers }: ModelChoice,
): [OpenRequest, ThreadWorld] {
  return [
    { ...request, model, isModelChosen: true },
    { ...world, ...summarizers },
  ];
}

interface OpenRequest extends ThreadRequest {
  /** The user chose the model in the thread. */
  readonly isModelChosen?: boolean;
}

/** All parts of a thread. */
interface Parts {
  readonly request: OpenRequest;
  readonly world: ThreadWorld;
  readonly log: OpenLog;
  /** The session for hooks. */
  readonly session: HookSession;
  readonly meter: Meter;
  readonly place: Project;
  readonly compaction: SessionWorld['compaction'];
  readonly watching: WatcherSurroundings;
  readonly watcher: WatcherSettings;
  readonly chosen: Chosen;
}

class OpenThread implements Thread {
  readonly id: string;
  readonly path: string;
  readonly #rollout: Rollout;
  readonly #log: ThreadLog;
  #session: WatchedSession;
  readonly #tools: EquippedTools;
  #model: TurnModel;
  readonly #world: ThreadWorld;
  #parts: Parts;
  /** The model is being exchanged: nothing else runs meanwhile. */
  #exchanging: Promise<void> | undefined;
  readonly #approvals: PendingApprovals;
  readonly #turnSnapshots: TurnSnapshots | undefined;
  readonly #door: OpsDoor;
  /** Ends running hooks when the user stops the thread. */
  readonly #hooksEnd = new AbortController();
  #hooksRunning: Promise<unknown> = Promise.resolve();
  #settings: ThreadSettings;
  /** Inserted at the next turn. */
  #context: readonly Item[];
  #heard: readonly Item[] = [];
  #running: Promise<unknown> | undefined;
  #closing: Promise<void> | undefined;

  static async open(request: OpenRequest, world: ThreadWorld, log: OpenLog): Promise<OpenThread> {
    const { config } = request;
    const { rollout } = log;
    const place =
      request.playback === undefined
        ? await openPlace(request, world, log)
        : placeOfPlayback(request.playback, log.root);
    if (world.signal.aborted) throw new BatonError('interrupted', 'Interrupted');
    if (config.features.ghostSnapshots) await sweepWorkshops(world.home, world.clock);
    const settings = initialSettings(config);
    world.emit(configured(request, { rollout, root: place.root }, settings));
    for (const message of [...log.warnings, ...place.warnings]) world.emit({ type: 'warning', message });
    const chosen: Chosen = { mode: undefined, mayWrite: mayWrite(settings) };
    const thread = new OpenThread(await partsOf({ request, world, log, place, chosen }));
    if ((request.resume ?? request.fork) !== undefined) await thread.#resume();
    if (request.fork !== undefined)
      await thread.#session.note({ type: 'note', kind: 'fork', value: { of: request.fork } });
    if (request.beginning !== undefined) await thread.#beginWith(request.beginning);
    return thread;
  }

  async #resume(): Promise<void> {
    for (const record of this.#parts.log.past) {
      const line = shellLineIn(record);
      if (line !== undefined) this.#world.emit(line);
    }
    const { pins } = this.#session.trail();
    if (pins.length > 0) {
      this.#world.emit({ type: 'pins_changed', pins: pins.map(({ id, text }) => ({ id, text })) });
    }
    await this.#session.begin();
  }

  async #beginWith({ items, pins }: ThreadBeginning): Promise<void> {
    await this.#prepare();
    await this.#session.insert(items);
    for (const pin of pins) await this.#session.record((trail) => pinRecords(trail.pins, pin));
    if (pins.length > 0)
      this.#world.emit({ type: 'pins_changed', pins: pins.map(({ id, text }) => ({ id, text })) });
  }

  private constructor(parts: Parts) {
    const { request, world, log, place } = parts;
    const { config, playback } = request;
    const { rollout, past } = log;
    this.#parts = parts;
    this.#world = world;
    this.#settings = initialSettings(config);
    this.id = rollout.threadId;
    this.path = rollout.path;
    this.#rollout = rollout;
    const warn = (message: string): void => world.emit({ type: 'warning', message });
    const turnSnapshots =
      config.features.ghostSnapshots && place.env !== undefined
        ? new TurnSnapshots({
            directory: place.root,
            home: world.home,
            threadId: rollout.threadId,
            env: place.env,
            clock: world.clock,
            warn,
            note: (record) => this.#session.note(record),
          })
        : undefined;
    for (const record of past) turnSnapshots?.add(record);
    this.#turnSnapshots = turnSnapshots;
    this.#approvals = new PendingApprovals({
      root: place.root,
      emit: world.emit,
      interrupt: () => this.interrupt(),
    });
    const newSettings = settingsOf(parts);
    this.#log = new ThreadLog(rollout, newSettings, request.resume !== undefined, (record) =>
      turnSnapshots?.add(record),
    );
    this.#tools = place.equip({
      rules: () => this.#settings,
      author: () => this.#session.author,
      ask: world.ask ?? ((approval, signal) => this.#approvals.approve(approval, signal)),
      beforeChange: async (signal) => {
        const turnId = this.#session.runningTurn?.turnId;
        if (turnId !== undefined) await turnSnapshots?.take(turnId, signal);
      },
      emit: world.emit,
      more: world.ask === undefined ? [createAskUserTool(this.#approvals, () => this.#session.author)] : [],
    });
    playback?.join({ past, steer: async (item) => this.#session.steerItem(item) });
    ({ model: this.#model, session: this.#session } = this.#sessionOf(parts, newSettings));
    this.#context = missingContext(this.#session.items, place.context(this.#settings));
    const current = (): WatchedSession => this.#session;
    this.#door = new OpsDoor({
      get session() {
        return current();
      },
      ready: () => this.#exchanging,
      changeModel: (name) => this.#changeModel(name),
      approvals: this.#approvals,
      turnSnapshots,
      past: () => recordsOf(world.home, rollout.path),
      newId: () => world.ids.uuid(),
      emit: world.emit,
      configure: (change) => this.#configure(change),
      vet: (text) => this.#vet(text),
      prepare: () => this.#prepare(),
      runLine: (command, callId, signal) => {
        if (this.#tools.runLine === undefined) throw new BatonError('usage', 'A rehearsal runs no commands');
        return this.#tools.runLine(command, callId, signal);
      },
      standing: () => ({
        settled: this.#configured(),
        limits: playback === undefined ? config.limits : NO_LIMITS,
        isRecorded: this.isRecorded,
      }),
      close: () => this.close(),
    });
  }

  /** @param settings that are not in the log yet */
  #sessionOf(
    { request, world, log, meter, place, compaction, watching, watcher }: Parts,
    settings: SettingsRecord | undefined,
  ): { readonly model: TurnModel; readonly session: WatchedSession } {
    const { config, model, playback } = request;
    const { rollout, past } = log;
    const turnSnapshots = this.#turnSnapshots;
    const turnModel = new TurnModel(new MeteredModel(model.model, () => tillOf(meter), 'turns'));
    const session = {
      // The recording is already paid for.
      config: { ...config, modelContextWindow: model.window, ...(playback && { limits: NO_LIMITS }) },
      model: turnModel,
      modelName: model.name,
      instructions: recordedInstructions(past) ?? request.instructions,
      threadId: rollout.threadId,
      log: playback?.following(this.#log) ?? this.#log,
      transcriptPath: rollout.path,
      missing: (items: readonly Item[]) => missingContext(items, place.context(this.#settings)),
      tools: this.#tools,
      compaction,
      ...(turnSnapshots === undefined
        ? {}
        : { settle: (turnId: string) => this.#settle(turnId, turnSnapshots) }),
      emit: (event: SessionEvent) => {
        // A playback asks no model and costs nothing.
        if (event.type === 'spending' && playback !== undefined) return;
        world.emit(turnModel.explained(event));
        this.#runTurnHooks(event);
      },
    };
    const watched = new WatchedSession(
      {
        session,
        watcher: watching,
        newId: () => world.ids.uuid(),
        itemsOf: (messageId) => playback?.itemsOf(messageId),
      },
      watcher,
      settings === undefined ? past : [...past, settings],
    );
    meter.till = watched;
    return { model: turnModel, session: watched };
  }

  /** The commands of a stopped turn may need a moment to end, and belong to it until then. */
  async #settle(turnId: string, turnSnapshots: TurnSnapshots): Promise<readonly NoteRecord[]> {
    const waited = new AbortController();
    const limit = sleep(IDLE_LIMIT_MS, undefined, { signal: waited.signal }).catch(() => undefined);
    await Promise.race([this.#tools.idle?.(), limit]);
    waited.abort();
    return turnSnapshots.settle(turnId);
  }

  perform(op: Op): Promise<void> {
    return this.#door.perform(op);
  }

  desert(): void {
    this.#approvals.desert();
  }

  async #changeModel(name: string): Promise<void> {
    const { openModel } = this.#world;
    if (openModel === undefined || this.#parts.request.playback !== undefined) {
      throw new BatonError('usage', 'The model of this thread cannot be changed', {
        cure: 'Open it again with --resume ID --model PROVIDER/MODEL.',
      });
    }
    this.#requireIdle();
    const choice = await openModel(name);
    await this.#session.rest();
    this.#exchanging = this.#exchange(choice);
    try {
      await this.#exchanging;
    } finally {
      this.#exchanging = undefined;
    }
  }

  /** Reopens the session over the same log: its window, gauge, watcher and summaries are those of the new model. */
  async #exchange(choice: ModelChoice): Promise<void> {
    await this.#session.settled();
    this.#requireIdle();
    const { world, log, place, chosen } = this.#parts;
    const [request, changed] = withModel(this.#parts.request, world, choice);
    const { home } = world;
    let { past } = log;
    if (this.isRecorded) {
      await this.#session.shutdown();
      past = await collect(recordsOf(home, this.path));
    }
    const parts = await partsOf({ request, world: changed, log: { ...log, past }, place, chosen });
    const settings = settingsOf(parts);
    await this.#log.settle(settings);
    this.#parts = parts;
    ({ model: this.#model, session: this.#session } = this.#sessionOf(parts, settings));
    await this.#session.begin();
    this.#session.emitTokens();
  }

  /** @throws BatonError `thread_busy` */
  #requireIdle(): void {
    if (this.#session.runningTurn === undefined) return;
    throw new BatonError('thread_busy', 'A turn is running in this thread', {
      cure: 'Interrupt it, or ask again after turn_complete.',
    });
  }

  #configure(change: Partial<ThreadSettings>): void {
    const { place, chosen } = this.#parts;
    this.#settings = { ...this.#settings, ...change };
    chosen.mayWrite = mayWrite(this.#settings);
    this.#context = missingContext(this.#session.items, [
      ...this.#context.filter((item) => !isSurroundings(item)),
      ...place.context(this.#settings).filter(isSurroundings),
    ]);
    if (change.mode !== undefined) {
      chosen.mode = change.mode;
      this.#session.settingsChanged();
    }
    this.#world.emit(this.#configured());
  }

  #configured(): ReturnType<typeof configured> {
    const { request, log, place } = this.#parts;
    return configured(request, { rollout: log.rollout, root: place.root }, this.#settings);
  }

  /** Submits a message to the user's hooks. @throws BatonError `prompt_vetoed`; `interrupted` */
  async #vet(prompt: string): Promise<void> {
    const { hooks, emit } = this.#world;
    if (hooks === undefined) return;
    const { session } = this.#parts;
    const verdict = await hooks.userPromptSubmit({ session, prompt }, this.#hooksEnd.signal);
    for (const message of verdict.warnings) emit({ type: 'warning', message });
    if (verdict.veto !== undefined) {
      const { command, reason } = verdict.veto;
      throw new BatonError('prompt_vetoed', `A user_prompt_submit hook vetoed (${command}): ${reason}`, {
        cure: 'Rephrase the message, or remove the hook from [hooks].',
      });
    }
    if (verdict.context !== undefined) this.#heard = [...this.#heard, messageContextItem(verdict.context)];
  }

  /** Runs the hooks of the user's turn; only the end of the thread waits for them. */
  #runTurnHooks(event: SessionEvent): void {
    const { hooks, emit } = this.#world;
    if (hooks === undefined || event.type !== 'turn_complete') return;
    if (event.task_kind !== 'regular' || event.origin.type !== 'user') return;
    const input = {
      session: this.#parts.session,
      turnId: event.turn_id,
      lastAgentMessage: event.last_agent_message ?? undefined,
    };
    const ended = hooks.turnComplete(input, this.#hooksEnd.signal).then(({ warnings }) => {
      for (const message of warnings) emit({ type: 'warning', message });
    });
    this.#hooksRunning = Promise.all([this.#hooksRunning, ended]);
  }

  async #prepare(): Promise<void> {
    // A hook's text about a message applies to that message, even if it repeats an earlier one.
    const context = [...missingContext(this.#session.items, this.#context), ...this.#heard];
    this.#context = [];
    this.#heard = [];
    await this.#session.noteTools();
    await this.#session.insert(context);
  }

  get isRecorded(): boolean {
    return this.#log.isBegun;
  }

  async turn(
    message: string | UserMessage,
    { schema, isFinal = false }: TurnTerms = {},
  ): Promise<TurnOutcome> {
    this.#model.schema = schema;
    this.#session.setFinal(isFinal);
    await this.#vet(typeof message === 'string' ? message : message.text);
    this.#running = this.#prepare().then(() => this.#runTurn(message));
    await this.#running.finally(() => (this.#model.schema = undefined));
    // Stopped before it started: the message waits in the log.
    const { ending, said } = this.#session.lastTurn ?? { ending: { type: 'aborted' }, said: undefined };
    const failure = ending.type === 'failed' ? this.#model.failure : undefined;
    return { ending, lastMessage: said, failure };
  }

  async #runTurn(message: string | UserMessage): Promise<void> {
    if (typeof message === 'string') await this.#session.submit(message);
    else await this.#session.submit(message.text, message.id);
    await this.#session.rest();
  }

  async settle(): Promise<void> {
    this.#requireIdle();
    await this.#session.rest();
    if (this.isRecorded) return;
    throw new BatonError('session_empty', 'Nothing has been recorded in this thread yet', {
      cure: 'Open a new one with open_thread.',
    });
  }

  async handOver(): Promise<ThreadBeginning> {
    return { items: [await this.#session.handOver()], pins: this.#session.trail().pins };
  }

  rest(): Promise<void> {
    return this.#session.rest();
  }

  steer(text: string): Promise<void> {
    return this.#session.steer(text);
  }

  stop(): void {
    this.#hooksEnd.abort();
    this.#turnSnapshots?.hurry();
    this.#door.stop();
    void this.#session.shutdown();
  }

  interrupt(): void {
    this.#door.stop();
    this.#session.interrupt();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    // Earlier requests may wait for what runs now, and the other way round.
    await Promise.all([this.#door.end(), this.#session.shutdown()]);
    // The caller that started the turn receives its failure.
    await this.#running?.catch(() => undefined);
    await this.#tools.idle?.();
    await this.#hooksRunning;
    await this.#turnSnapshots?.close();
    await this.#rollout.close();
    this.#world.emit({ type: 'shutdown_complete' });
  }
}

/** The parts of a thread's session, besides those that stay when its model changes. */
async function partsOf(stays: Pick<Parts, 'request' | 'world' | 'log' | 'place' | 'chosen'>): Promise<Parts> {
  const { request, world, log, place, chosen } = stays;
  const meter: Meter = { till: undefined };
  const compaction = await compactionSurroundings(request, meteredWorld(world, meter), place.root);
  const watching = watcherSurroundings(request, world, { place, chosen, meter });
  const watcher = await watching.settings();
  return { ...stays, meter, compaction, watching, watcher, session: hookSession(request, log, place.root) };
}

/** The settings that the log does not contain yet. */
function settingsOf({ request, log, place }: Parts): SettingsRecord | undefined {
  const { model, isModelChosen = false } = request;
  return changedSettings(log.past, {
    model: model.name,
    ...(isModelChosen ? { modelProvider: model.provider } : {}),
    cwd: place.root,
    usableWindow: usableWindow(model.window),
  });
}

/** The user's choices in the thread that bind the watcher. */
interface Chosen {
  /** Undefined: the configuration decides. */
  mode: ThreadSettings['mode'] | undefined;
  mayWrite: boolean;
}

function watcherSurroundings(
  { config, model }: ThreadRequest,
  { clock, readConfig: readAnew, prompts, emit }: ThreadWorld,
  { place: { root, env }, chosen, meter }: Pick<Parts, 'place' | 'chosen' | 'meter'>,
): WatcherSurroundings {
  const readConfig = async (): Promise<Config> => {
    const read = withMode(await readAnew(), chosen.mode);
    return chosen.mayWrite ? read : withoutNotes(read);
  };
  const warn = (message: string): void => emit({ type: 'warning', message });
  const judge = new MeteredModel(model.model, () => tillOf(meter), 'judgment');
  return new WatcherSurroundings(
    { root, env, clock, readConfig, prompts, model: judge, modelName: model.name, warn },
    config,
  );
}

/**
 * Sizes are plain estimates, and the gauge adds its margin where nothing anchors it: loading the exact tokenizer would
 * cost each start more than everything else together. @source docs/decisions/exec.md
 */
async function compactionSurroundings(
  { config }: ThreadRequest,
  { clock, ids, summarizers, watcherSummarizers, hooks }: ThreadWorld,
  root: string,
): Promise<SessionWorld['compaction']> {
  const { compact } = config;
  return {
    clock,
    ids,
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count: (text) => approximateTokens(text, compact),
    counter: 'approximate',
    within: withinDeadline,
    files: await openWorkspace(root, undefined),
    ...(summarizers === undefined ? {} : { summarizers }),
    ...(watcherSummarizers === undefined ? {} : { watcherSummarizers }),
    ...(hooks === undefined ? {} : { hooks }),
  };
}
