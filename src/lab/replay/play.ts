// What a recording is played as: the moments at which a context grows, is sent to a model, or could be compacted.

import type { Item } from '../../protocol/item.ts';
import type { Signal } from '../../protocol/signal.ts';
import type { Phase, Trigger } from '../../vocabulary.ts';

/** Where the recording stands. */
export interface RecordingMoment {
  /** Counted from 1 by the messages of the user; 0 before the first. */
  readonly turn: number;
  /** Requests to the model sent so far. */
  readonly request: number;
  /** 1-based line of the file, of the newest record that named one. */
  readonly line: number | undefined;
  /** Virtual time in milliseconds since the epoch: the record's, else a fixed step a request. */
  readonly atMs: number;
  /** What the recorded context held, in tokens, with all that its agent did to it. */
  readonly recorded: number;
  /** What the context would hold had nothing ever been compacted, in tokens. */
  readonly uncompacted: number;
  /** Raw window of the model in use. */
  readonly window: number;
  readonly model: string | undefined;
  /** Calls whose results have not come. */
  readonly openCalls: number;
  /** Items of the log before this moment: a place to cut it. */
  readonly step: number;
}

/** A step of the play. Signals come with the step at which a client would learn of them. */
export type Play =
  | { readonly type: 'signals'; readonly signals: readonly Signal[] }
  /** A message of the user arrives, in the middle of a turn or between two; it is not in the context yet. */
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
      /** Nothing like it was there before, `NoveltyDetector`. */
      readonly isProgress: boolean;
    }
  /** The model is asked: at the start of a turn, or with the results of a finished batch of tools. */
  | {
      readonly type: 'request';
      readonly moment: RecordingMoment;
      readonly isFollowUp: boolean;
      /** Position, as signals count, of the first item of the batch; undefined where none has finished. */
      readonly batchFrom: number | undefined;
    }
  /** It has answered. */
  | { readonly type: 'answered'; readonly moment: RecordingMoment; readonly outputTokens: number }
  | {
      readonly type: 'turn_end';
      readonly moment: RecordingMoment;
      readonly turnId: string | undefined;
      /** The agent's last message since its last call; empty where it ended without one. */
      readonly lastMessage: string;
      /** The user stopped it, or it failed: no boundary. */
      readonly isAborted: boolean;
    }
  | { readonly type: 'end'; readonly moment: RecordingMoment };

/** A compaction that the recorded agent made, taken out of the play. */
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
  /** Whether the agent was at work: a turn was under way in which it had acted. */
  readonly isInsideTurn: boolean;
  /** What it kept, as far as it can be read; for the recall. */
  readonly kept: readonly Item[];
}
