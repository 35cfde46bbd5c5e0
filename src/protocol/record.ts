// The append-only log of a thread. Readers turn the lines of a session file, in any format, into these records; a
// history is a projection of them. Records are never edited: a compaction and its undo are records too.

import type { Phase, Trigger, TurnStopReason } from '../vocabulary.ts';
import type { Item, JsonObject } from './item.ts';
import type { Receipt } from './receipt.ts';
import type { TaskKind, TurnOrigin } from './turn.ts';
import type { UsageSample } from './usage.ts';

/** Facts about the session; repeats when a session is resumed. Later values win. */
export interface SessionMetaRecord {
  readonly type: 'session_meta';
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly producerVersion?: string;
  /** Baton's own agent wrote the log, in another agent's format. */
  readonly producer?: 'baton';
  readonly gitBranch?: string;
  /** Base instructions that every request carries but no item of the history holds. */
  readonly instructions?: string;
  /**
   * The agent does not call tools: it writes commands in fenced blocks of its answers, receives their output in the
   * user role, and its task comes in a template of the harness. `shell`: fenced shell. `editor`: also the commands of
   * SWE-agent's editor.
   */
  readonly textActions?: 'shell' | 'editor';
}

/** Settings that apply from here on. */
export interface SettingsRecord {
  readonly type: 'settings';
  readonly model?: string;
  /** The model's provider, if the user chose both in the thread: a resumed thread keeps them. */
  readonly modelProvider?: string;
  readonly cwd?: string;
  /** The usable context window in tokens, as the agent itself counts it. */
  readonly usableWindow?: number;
}

/** One item of the conversation. */
export interface ItemRecord {
  readonly type: 'item';
  readonly item: Item;
  /** The producer's id of the line, which `CompactedRecord.keptRefs` refers to (Claude Code: the uuid). */
  readonly ref?: string;
}

export interface UsageRecord {
  readonly type: 'usage';
  readonly usage: UsageSample;
}

export interface TurnRecord {
  readonly type: 'turn_started' | 'turn_complete' | 'turn_aborted';
  readonly turnId?: string;
  /** Absent if the producer does not record it: a regular turn. */
  readonly kind?: TaskKind;
  readonly origin?: TurnOrigin;
  /** Why a turn was aborted. */
  readonly reason?: 'interrupted' | 'replaced' | 'failed';
  /** The failure that aborted it: a code of `errors.ts`, or of how a turn ended. */
  readonly errorCode?: string;
  /** Why the model's last answer ended; absent if no answer was requested. */
  readonly stopReason?: TurnStopReason;
  /** The agent's last message at the end of a turn. */
  readonly lastAgentMessage?: string;
}

/** Rewritten lines: from here on, the second id refers to what the first id named. */
export type NewRefs = readonly (readonly [from: string, to: string])[];

/** From here on the history is `replacement`, then the items at `keptRefs` (in that order), then everything that follows. */
export interface CompactedRecord {
  readonly type: 'compacted';
  readonly id: string;
  readonly trigger?: Trigger;
  readonly phase?: Phase;
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** Tokens of the whole context right after the compaction, if Baton recorded them without a receipt. */
  readonly gaugedTokens?: number;
  readonly replacement: readonly Item[];
  /** The producer's id of the line of each item of `replacement`; null for an item without such a line. */
  readonly replacementRefs?: readonly (string | null)[];
  readonly keptRefs?: readonly string[];
  /** How many items of `replacement` precede the kept ones; absent: all. */
  readonly keptAt?: number;
  /** The readable summary; undefined if the provider keeps it encrypted. */
  readonly summary?: string;
  /** Baton's own receipt, if Baton compacted. */
  readonly receipt?: Receipt;
}

/**
 * From here on the results of these calls read `CLEARED_RESULT`. With `newRefs` the cleared results are separate lines
 * beside the complete ones, so that the clearing can be undone like a compaction.
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

/** Undoes one compaction: restores the history before it, followed by everything recorded since. */
export interface UndoCompactionRecord {
  readonly type: 'undo_compaction';
  readonly compactionId: string;
  /** Where the history had to be rewritten. */
  readonly newRefs?: NewRefs;
}

/** Undoes a user turn: restores the history from before it began. No compaction may lie in between. */
export interface UndoTurnRecord {
  readonly type: 'undo_turn';
  readonly turnId: string;
}

/** Something that was displayed, in its wire shape. Adds nothing to the history. */
export interface EventRecord {
  readonly type: 'event';
  readonly event: JsonObject & { readonly type: string };
}

/**
 * What a part of Baton remembers about the thread beside its history: a state, of which the newest counts, or an event
 * such as a decision. Only the part that wrote it knows its meaning.
 */
export interface NoteRecord {
  readonly type: 'note';
  /** snake_case, e.g. `watcher_state`. */
  readonly kind: string;
  readonly value: JsonObject;
}

/** A line that adds nothing to the history: UI mirrors, bookkeeping, newer kinds. Counted, never lost. */
export interface OpaqueRecord {
  readonly type: 'opaque';
  /** The producer's name for the kind, e.g. `event_msg/agent_message`. */
  readonly kind: string;
}

/** An item recorded outside the context: subagent traffic, abandoned branches, additional conversations of a file. */
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
  /** 1-based line of the file; absent for records that were never in a file. */
  readonly line?: number;
  /** ISO 8601, if the producer wrote a time. */
  readonly at?: string;
};

/** The text that replaces a cleared tool result. Recognising it makes micro-compaction idempotent. @source seed 001 §2. */
export const CLEARED_RESULT = '[Old tool result content cleared]';
