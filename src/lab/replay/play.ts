// The steps of playing a recording: the moments when a context grows, is sent to a model, or could be compacted.

import type { Item } from '../../protocol/item.ts';
import type { Signal } from '../../protocol/signal.ts';
import type { Phase, Trigger } from '../../vocabulary.ts';

/** A position in the recording. */
export interface RecordingMoment {
  /** Counts the user's messages from 1; 0 before the first. */
  readonly turn: number;
  /** Requests to the model sent so far. */
  readonly request: number;
  /** 1-based line in the file, of the newest record that has one. */
  readonly line: number | undefined;
  /** Virtual time in milliseconds since the epoch: the record's, else a fixed step per request. */
  readonly atMs: number;
  /** Size of the recorded context in tokens, after all its agent's compactions. */
  readonly recorded: number;
  /** Size of the context in tokens if nothing had ever been compacted. */
  readonly uncompacted: number;
  /** Raw window of the model in use. */
  readonly window: number;
  readonly model: string | undefined;
  /** Calls without results so far. */
  readonly openCalls: number;
  /** Items of the log before this moment: a place to cut it. */
  readonly step: number;
}

/** A step of the play. Signals come with the step at which a client would learn of them. */
export type Play =
  | { readonly type: 'signals'; readonly signals: readonly Signal[] }
  /** A user message arrives, during a turn or between turns; it is not in the context yet. */
  | {
      readonly type: 'user_arrives';
      readonly moment: RecordingMoment;
      readonly text: string;
      readonly isSteering: boolean;
    }
  | {
      readonly type: 'item';
      readonly moment: RecordingMoment;
      readonly item: Item;
      /** Nothing similar came before, `NoveltyDetector`. */
      readonly isProgress: boolean;
    }
  /** A request to the model: at the start of a turn, or with the results of a finished tool batch. */
  | {
      readonly type: 'request';
      readonly moment: RecordingMoment;
      readonly isFollowUp: boolean;
      /** Position, as signals count, of the first item of the batch; undefined if none has finished. */
      readonly batchFrom: number | undefined;
    }
  /** The model has answered. */
  | { readonly type: 'answered'; readonly moment: RecordingMoment; readonly outputTokens: number }
  | {
      readonly type: 'turn_end';
      readonly moment: RecordingMoment;
      readonly turnId: string | undefined;
      /** The agent's last message since its last call; empty if there is none. */
      readonly lastMessage: string;
      /** The user stopped it, or it failed: not a boundary. */
      readonly isAborted: boolean;
    }
  | { readonly type: 'end'; readonly moment: RecordingMoment };

/** The recorded agent's own compaction, removed from the play. */
export interface OwnCompaction {
  readonly kind: 'full' | 'micro';
  readonly turn: number;
  readonly request: number;
  readonly line: number | undefined;
  readonly trigger: Trigger | undefined;
  readonly phase: Phase | undefined;
  /** Tokens just before, as recorded, else by the gauge. */
  readonly preTokens: number;
  /** Tokens just after, as recorded, else by the estimate. */
  readonly postTokens: number;
  /** Items of the log before it. */
  readonly step: number;
  /** Whether the agent was working: it had acted in the running turn. */
  readonly isInsideTurn: boolean;
  /** The share of later uses that it kept; undefined if not measured, or if what it kept is not readable. */
  readonly recall: number | undefined;
}
