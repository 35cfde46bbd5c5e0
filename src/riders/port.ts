// What Baton and an agent that it rides along with tell each other. Types only: each agent has an adapter, and none of this knows
// which.

import type { HostCompaction, LogChange, TurnStand } from '../calls/watched-log.ts';
import type { Entry } from '../history/project.ts';
import type { CompactionOutcome } from '../compaction/compactor.io.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';

/** What the host's conversation holds now. */
export interface HostNews {
  /** What the rider has not read yet, oldest first. */
  readonly records: readonly LogRecord[];
  /** False: `records` is the whole conversation, and what the rider knew of another one is void. */
  readonly isContinued: boolean;
  /** The size of the model's window and of what each request holds besides the history, in tokens. */
  readonly window: HostWindow;
}

/** Sizes in tokens. */
export interface HostWindow {
  readonly contextWindow: number;
  readonly fixedTokens: number;
}

/** What the host is to do. It carries out all of it, or none. */
export type RiderAnswer =
  /** Continue as if nobody rode along; before a compaction of its own, that one. `why`: a sentence for the user. */
  | { readonly type: 'leave'; readonly why?: string }
  /** Drop the compaction that the host was about to make: it would come to the same again. `why`: a sentence for the user. */
  | { readonly type: 'refuse'; readonly why: string }
  | HostOrder;

/** Changes of the host's history, in the order of the fields. */
export interface HostOrder {
  readonly type: 'change';
  /** Replaces everything older than `keptFrom`. Absent: everything stays. */
  readonly replacement?: HostReplacement;
  /** Calls whose results are cleared where they are. */
  readonly cleared: readonly string[];
  /** Joins the end of the history, in the user role. */
  readonly added: readonly Item[];
  /** To be kept beside the history, and read again as records. */
  readonly notes: readonly { readonly kind: string; readonly value: JsonObject }[];
  /** The turn was over, and the agent has to continue. */
  readonly continues: boolean;
}

/** What replaces a history. */
export interface HostReplacement {
  /** All of it in the user role, oldest first. */
  readonly items: readonly Item[];
  /** The ref of the oldest record that stays as it is; undefined: none does. */
  readonly keptFrom: string | undefined;
}

/** The engine under a rider: the watched log, or one that a test breaks. */
export interface RiderEngine {
  readonly entries: readonly Entry<Item>[];
  readonly isHandedOver: boolean;
  usage(): { readonly used: number; readonly rawWindow: number | undefined };
  takeChanges(): readonly LogChange[];
  add(records: readonly LogRecord[]): void;
  follow(records: readonly LogRecord[], stand?: TurnStand): Promise<void>;
  compact(compaction: HostCompaction, signal: AbortSignal): Promise<CompactionOutcome>;
  close(): Promise<void>;
}
