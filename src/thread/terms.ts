// What opening a thread requires, and what an open thread offers. Types only.

import type { Summarizers } from '../compaction/summarise/summarizers.ts';
import type { SessionLog, ToolRunner } from '../session/terms.ts';
import type { Config } from '../config/schema.ts';
import type { BatonError } from '../errors.ts';
import type { Clock, Hooks, Ids } from '../ports.ts';
import type { AnswerSchema } from '../protocol/model.ts';
import type { Op } from '../protocol/wire/op.ts';
import type { TurnEnding } from '../session/loop.ts';
import type { UserMessage } from '../watcher/state.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { OpenedModel } from '../providers/open.ts';
import type { RolloutFiles } from '../rollout/files.ts';
import type { Pin } from '../trail/pins.ts';
import type { PromptReader } from './watching.io.ts';
import type { AskApproval } from './tools.io.ts';

/** Which thread to open, and how. */
export interface ThreadRequest {
  /** A thread id, a path, or `last`; absent: a new thread. */
  readonly resume?: string;
  /** The id of the thread that a new one continues by reference. Not with `resume`. */
  readonly fork?: string;
  /** What a new thread starts with. */
  readonly beginning?: ThreadBeginning;
  /** Where the agent works. Absolute. */
  readonly directory: string;
  readonly config: Config;
  readonly model: OpenedModel;
  /** A resumed thread continues with the model that the user chose in it, if any, instead of `model`. */
  readonly keepsModel?: boolean;
  /** The system prompt of a new thread; a resumed thread keeps its own, so that the prefix of its requests stays the same. */
  readonly instructions: string;
  /** Plays a recording instead of the tools and the user: nothing is executed, and the directory is only for notes. */
  readonly playback?: Playback;
}

/** What one thread hands to a new one. */
export interface ThreadBeginning {
  readonly items: readonly Item[];
  readonly pins: readonly Pick<Pin, 'id' | 'text'>[];
}

/** What plays a recording: `Rehearsal`. The request's model is the recording's. */
export interface Playback {
  readonly tools: ToolRunner;
  /** @throws BatonError for a thread that this playback did not make */
  join(thread: {
    readonly past: Iterable<LogRecord>;
    readonly steer: (item: Item) => Promise<unknown>;
  }): void;
  following(log: SessionLog): SessionLog;
  itemsOf(messageId: string): readonly Item[] | undefined;
}

/** A model for the turns of a thread, and the models for its summaries. */
export interface ModelChoice extends Pick<ThreadWorld, 'summarizers' | 'watcherSummarizers'> {
  readonly model: OpenedModel;
}

/** The world that a thread needs. */
export interface ThreadWorld {
  /** Baton's home. */
  readonly home: string;
  /** What replaces the user's configuration in it; absolute. */
  readonly configFile?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `process.platform`. */
  readonly platform: string;
  /** Baton's version. */
  readonly version: string;
  /** Variables that hold keys regardless of their names. */
  readonly keyVariables: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** How to write its log; absent: the machine's file system. */
  readonly files?: RolloutFiles;
  /** Who writes summaries; absent: the embedded summarizer. */
  readonly summarizers?: Summarizers;
  /** Who writes them for the watcher; absent: the same. */
  readonly watcherSummarizers?: Summarizers;
  /**
   * Opens another model by name: `PROVIDER/MODEL`. Absent: the thread keeps its own. @throws BatonError if it cannot be
   * opened
   */
  readonly openModel?: (name: string) => Promise<ModelChoice>;
  readonly hooks?: Hooks;
  /** Asks about calls; absent: the client that sends ops, by events. */
  readonly ask?: AskApproval;
  /** The present configuration, reread at each decision of the watcher. @throws BatonError if it has become unusable */
  readonly readConfig: () => Promise<Config>;
  readonly prompts: PromptReader;
  /** Receives the id of the thread before any of its events. */
  readonly named?: (threadId: string) => void;
  /** Takes every event of the thread, in order. Must not throw. */
  readonly emit: (event: SessionEvent) => void;
  /** Stops the opening; `interrupt` stops an open thread. */
  readonly signal: AbortSignal;
}

/** How a user turn ended, including the watcher's work after it. */
export interface TurnOutcome {
  readonly ending: TurnEnding;
  /** The agent's last message, before or after a handoff; undefined if it said nothing. */
  readonly lastMessage: string | undefined;
  /** Why the model did not answer, if that ended the turn. */
  readonly failure: BatonError | undefined;
}

/** The terms of one turn. */
export interface TurnTerms {
  /** The required form of the answer, sent with each request of the turn. */
  readonly schema?: AnswerSchema;
  /** The process ends with the turn: the watcher starts nothing after it, and decides again before the user's next message. */
  readonly isFinal?: boolean;
}

/** An open thread. */
export interface Thread {
  readonly id: string;
  /** Its rollout; the file is created with the first turn. */
  readonly path: string;
  /** Whether any of it is recorded, so that it can be resumed. */
  readonly isRecorded: boolean;
  /**
   * Runs a user turn and the watcher's work after it: resolves when nothing runs any more.
   * @param message its text, or a message with its id
   * @throws BatonError if the log cannot be written: nothing is guaranteed then
   */
  turn(message: string | UserMessage, terms?: TurnTerms): Promise<TurnOutcome>;
  /**
   * Gives the running turn a message; without a running turn it becomes a turn later. Resolves once it can no longer be
   * lost.
   */
  steer(text: string): Promise<void>;
  /** Ends everything that runs, at once. Waiting messages then get their turns. */
  interrupt(): void;
  /** Ends everything that runs, at once, and starts nothing more: waiting messages are there when the thread is resumed. */
  stop(): void;
  /**
   * Performs an op; a failure becomes an `error` event. Ops start in the order of the calls. Resolves when the op is
   * done, or, for a message, once it can no longer be lost.
   */
  perform(op: Op): Promise<void>;
  /**
   * Waits until another thread may continue from this one's end.
   * @throws BatonError `thread_busy` while a user turn runs; `session_empty` before the first one
   */
  settle(): Promise<void>;
  /** What this thread hands to a new one: the continuation packet, made without a model, and the pins. */
  handOver(): Promise<ThreadBeginning>;
  /** No one is left to answer: denies pending and later requests. */
  desert(): void;
  /**
   * Resolves when nothing runs and nothing waits, including what a resumed thread had left over.
   * @throws BatonError if the log could not be written
   */
  rest(): Promise<void>;
  /** Ends the running turn, waits until no tool runs any more, and releases the log. Does nothing the second time. */
  close(): Promise<void>;
}
