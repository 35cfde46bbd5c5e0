// What a thread is opened with.

import type { Summarizers } from '../compaction/summarise/summarizers.ts';
import type { SessionLog, ToolRunner } from '../session/terms.ts';
import type { Config } from '../config/schema.ts';
import type { Clock, Hooks, Ids } from '../ports.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { OpenedModel } from '../providers/open.ts';
import type { RolloutFiles } from '../rollout/files.ts';
import type { Pin } from '../trail/pins.ts';
import type { PromptReader } from './watching.io.ts';
import type { AskApproval } from './tools.io.ts';

/** Which thread is opened, and how. */
export interface ThreadRequest {
  /** A thread id, a path, or `last`; absent: a new thread. */
  readonly resume?: string;
  /** The id of the thread that a new one continues by reference. Not with `resume`. */
  readonly fork?: string;
  /** What a new thread begins with. */
  readonly beginning?: ThreadBeginning;
  /** Where the agent works. Absolute. */
  readonly directory: string;
  readonly config: Config;
  readonly model: OpenedModel;
  /** A resumed thread goes on with the model that the user chose in it, if they did, in place of `model`. */
  readonly keepsModel?: boolean;
  /** The system prompt of a new thread; one that goes on keeps its own, so that the prefix of its requests stays the same. */
  readonly instructions: string;
  /** Plays a recording in the place of the tools and the user: nothing is executed, and the directory is only for notes. */
  readonly playback?: Playback;
}

/** What another thread hands to a new one. */
export interface ThreadBeginning {
  readonly items: readonly Item[];
  readonly pins: readonly Pick<Pin, 'id' | 'text'>[];
}

/** What plays a recording: `Rehearsal`. Its model is that of the request. */
export interface Playback {
  readonly tools: ToolRunner;
  /** @throws BatonError for a thread that is none of its own */
  join(thread: {
    readonly past: Iterable<LogRecord>;
    readonly steer: (item: Item) => Promise<unknown>;
  }): void;
  following(log: SessionLog): SessionLog;
  itemsOf(messageId: string): readonly Item[] | undefined;
}

/** A model for the turns of a thread, and who then writes its summaries. */
export interface ModelChoice extends Pick<ThreadWorld, 'summarizers' | 'watcherSummarizers'> {
  readonly model: OpenedModel;
}

/** What a thread is opened in. */
export interface ThreadWorld {
  /** Baton's home. */
  readonly home: string;
  /** What stands for the user's configuration in it; absolute. */
  readonly configFile?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `process.platform`. */
  readonly platform: string;
  /** Of Baton. */
  readonly version: string;
  /** Variables that hold keys whatever their names look like. */
  readonly keyVariables: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** What its log is written with; absent: the file system of the machine. */
  readonly files?: RolloutFiles;
  /** Who writes summaries; absent: the embedded summarizer. */
  readonly summarizers?: Summarizers;
  /** Who writes them for the watcher; absent: the same. */
  readonly watcherSummarizers?: Summarizers;
  /** Opens another model by name: `PROVIDER/MODEL`. Absent: the thread keeps its own. @throws BatonError where it cannot be had */
  readonly openModel?: (name: string) => Promise<ModelChoice>;
  readonly hooks?: Hooks;
  /** Who is asked about calls; absent: whoever sends ops, by events. */
  readonly ask?: AskApproval;
  /** The configuration as it is now: it is read anew at each decision of the watcher. @throws BatonError where it has become unusable */
  readonly readConfig: () => Promise<Config>;
  readonly prompts: PromptReader;
  /** Told the id of the thread before any event of it. */
  readonly named?: (threadId: string) => void;
  /** Takes every event of the thread, in order. Must not throw. */
  readonly emit: (event: SessionEvent) => void;
  /** Stops the opening; a thread that is open is stopped by `interrupt`. */
  readonly signal: AbortSignal;
}
