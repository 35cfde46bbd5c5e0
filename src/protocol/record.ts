// The append-only log of a thread. A reader turns the lines of a session file into these records, whatever the
// format; a history is a projection of them. Nothing is ever edited: a compaction and its undo are records too.

import type { Phase, Trigger, TurnStopReason } from '../vocabulary.ts';
import type { Item, JsonObject } from './item.ts';
import type { Receipt } from './receipt.ts';
import type { TaskKind, TurnOrigin } from './turn.ts';
import type { UsageSample } from './usage.ts';

/** Facts about the session; may repeat when a session is resumed. Later values win. */
export interface SessionMetaRecord {
  readonly type: 'session_meta';
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly producerVersion?: string;
  /** Baton's own agent wrote the log, in the shapes of another one. */
  readonly producer?: 'baton';
  readonly gitBranch?: string;
  /** Base instructions that are in every request but no item of the history. */
  readonly instructions?: string;
  /**
   * The agent calls no tools: its commands stand in fences of its answers, what came of them in the user role, and its task
   * in a template of the harness. `shell`: fences of shell. `editor`: also the commands of SWE-agent's editor.
   */
  readonly textActions?: 'shell' | 'editor';
}

/** Settings that hold from here on. */
export interface SettingsRecord {
  readonly type: 'settings';
  readonly model?: string;
  /** The provider of the model, where the user chose both in the thread: a resumed thread keeps them. */
  readonly modelProvider?: string;
  readonly cwd?: string;
  /** The usable context window in tokens, as the agent itself counts it. */
  readonly usableWindow?: number;
}

/** One item of the conversation. */
export interface ItemRecord {
  readonly type: 'item';
  readonly item: Item;
  /** The producer's id of the line, where `CompactedRecord.keptRefs` refers to it (Claude Code: the uuid). */
  readonly ref?: string;
}

export interface UsageRecord {
  readonly type: 'usage';
  readonly usage: UsageSample;
}

export interface TurnRecord {
  readonly type: 'turn_started' | 'turn_complete' | 'turn_aborted';
  readonly turnId?: string;
  /** Absent where the producer does not say: a regular turn. */
  readonly kind?: TaskKind;
  readonly origin?: TurnOrigin;
  /** Why a turn was aborted. */
  readonly reason?: 'interrupted' | 'replaced' | 'failed';
  /** Which failure aborted it: a code of `errors.ts`, or of how a turn ended. */
  readonly errorCode?: string;
  /** Why the last answer of the model ended; absent where none was asked for. */
  readonly stopReason?: TurnStopReason;
  /** What the agent said last, at the end of a turn. */
  readonly lastAgentMessage?: string;
}

/** Lines that were written anew: what stood under the first id stands under the second from here on. */
export type NewRefs = readonly (readonly [from: string, to: string])[];

/** From here on the history is `replacement`, then the items at `keptRefs` (in that order), then what follows. */
export interface CompactedRecord {
  readonly type: 'compacted';
  readonly id: string;
  readonly trigger?: Trigger;
  readonly phase?: Phase;
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** Tokens of the whole context right after it, where Baton wrote that down without a receipt. */
  readonly gaugedTokens?: number;
  readonly replacement: readonly Item[];
  /** The producer's id of the line of each item of `replacement`; null for an item without a line to refer to. */
  readonly replacementRefs?: readonly (string | null)[];
  readonly keptRefs?: readonly string[];
  /** How many items of `replacement` stand before the kept ones; absent: all. */
  readonly keptAt?: number;
  /** The readable summary, or undefined where the provider keeps it encrypted. */
  readonly summary?: string;
  /** Baton's own receipt, when Baton compacted. */
  readonly receipt?: Receipt;
}

/**
 * From here on the results of these calls read `CLEARED_RESULT`. With `newRefs` the cleared results are lines of their
 * own, beside the whole ones, so that this can be taken back like a compaction.
 */
export interface MicroCompactedRecord {
  readonly type: 'micro_compacted';
  readonly id: string;
  readonly trigger?: Trigger;
  readonly callIds: readonly string[];
  readonly preTokens?: number;
  readonly tokensSaved?: number;
  readonly newRefs?: NewRefs;
  readonly receipt?: Receipt;
}

/** Takes one compaction back: the history before it, then everything recorded since. */
export interface UndoCompactionRecord {
  readonly type: 'undo_compaction';
  readonly compactionId: string;
  /** Where the history had to be written anew. */
  readonly newRefs?: NewRefs;
}

/** Takes a turn of the user back: the history as it was before it began. No compaction may have come in between. */
export interface UndoTurnRecord {
  readonly type: 'undo_turn';
  readonly turnId: string;
}

/** Something that was shown, in the shape in which it goes over the wire. Carries nothing for the history. */
export interface EventRecord {
  readonly type: 'event';
  readonly event: JsonObject & { readonly type: string };
}

/**
 * What a part of Baton remembers of the thread beside its history: a state, of which the newest counts, or something that
 * happened, such as a decision. Whose it is and what it means only that part knows.
 */
export interface NoteRecord {
  readonly type: 'note';
  /** snake_case, e.g. `watcher_state`. */
  readonly kind: string;
  readonly value: JsonObject;
}

/** A line that carries nothing for the history: UI mirrors, bookkeeping, newer kinds. Counted, never lost. */
export interface OpaqueRecord {
  readonly type: 'opaque';
  /** The producer's name of the kind, e.g. `event_msg/agent_message`. */
  readonly kind: string;
}

/** An item recorded outside of the context: subagent traffic, abandoned branches, further conversations of a file. */
export interface SideItemRecord {
  readonly type: 'side_item';
  readonly item: Item;
  readonly why: 'subagent' | 'abandoned_branch' | 'other_conversation';
}

export type LogRecord = (
  | SessionMetaRecord
  | SettingsRecord
  | ItemRecord
  | UsageRecord
  | TurnRecord
  | CompactedRecord
  | MicroCompactedRecord
  | UndoCompactionRecord
  | UndoTurnRecord
  | EventRecord
  | NoteRecord
  | OpaqueRecord
  | SideItemRecord
) & {
  /** 1-based line of the file; absent for records that were never in one. */
  readonly line?: number;
  /** ISO 8601, where the producer wrote one. */
  readonly at?: string;
};

/** What a compacted tool result reads. Recognising it makes micro-compaction idempotent. @source seed 001 §2. */
export const CLEARED_RESULT = '[Old tool result content cleared]';
