// What a watcher hears: the events of its state machine.

import type { Judgment } from '../protocol/judgment.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { Signal } from '../protocol/signal.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import type { WatcherDeadline } from './policy.ts';
import type { DecisionMoment, Packet, UserMessage } from './state.ts';

interface Happened {
  /** Milliseconds since the epoch, or on any clock that only the thread's events share. */
  readonly atMs: number;
}

/** The end of a turn, or a moment between two of its samplings. */
interface TurnMoment extends Happened, DecisionMoment {
  readonly turnId: string;
  /** Signals of this turn's work, oldest first. Repeated ones are inert. */
  readonly signals: readonly Signal[];
  /** The turn has called a tool since its start. */
  readonly hadAction: boolean;
}

export interface TurnStarted extends Happened {
  readonly type: 'turn_started';
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
}

export interface TurnComplete extends TurnMoment {
  readonly type: 'turn_complete';
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  /** The process ends with this turn: the decision waits for the user's next message, in any process. */
  readonly isFinal?: boolean;
}

/** A turn ended without completing: Esc (`interrupted`), replacement by another turn, or a failure. */
export interface TurnAborted extends Happened {
  readonly type: 'turn_aborted';
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  readonly reason: 'interrupted' | 'replaced' | 'failed';
  /** What failed, in a sentence, where that is known. */
  readonly why?: string;
}

/** A sampling inside a turn is complete and its tools have finished. */
export interface SamplingComplete extends TurnMoment {
  readonly type: 'sampling_complete';
  /** The loop will sample again. False only after the answer to an item of the watcher, where the turn would otherwise end. */
  readonly isFollowUpOwed: boolean;
  /** Position of the first item of the tool batch that has just finished; undefined if there was none. */
  readonly batchFrom: number | undefined;
}

/** The user declares a phase complete. Between turns this is a separate decision point. */
export interface PhaseCompleted extends Happened, DecisionMoment {
  readonly type: 'phase_completed';
  /** The boundary itself, and all signals that no event has carried yet; oldest first. */
  readonly signals: readonly Signal[];
}

/** The user submitted a message or a `!` line. */
export interface UserSubmitted extends Happened {
  readonly type: 'user_submitted';
  readonly message: UserMessage;
}

/** The user changed the queue: edited, reordered or removed messages. */
export interface QueueRevised extends Happened {
  readonly type: 'queue_revised';
  readonly queue: readonly UserMessage[];
}

/** A message could not be delivered; it was not recorded. */
export interface DeliveryFailed extends Happened {
  readonly type: 'delivery_failed';
  readonly messageId: string;
  readonly why: string;
}

/** Answers `plan_compaction`. */
export interface CompactionPlanned extends Happened {
  readonly type: 'compaction_planned';
  readonly number: number;
  readonly plan: CompactionPlan;
}

/** Answers `ask_judgment`. */
export interface JudgmentResult extends Happened {
  readonly type: 'judgment_result';
  readonly number: number;
  readonly judgment: Judgment;
}

/** Answers `assemble_packet`. `unusable`: the agent's text is not a packet; `missing` names the missing parts. */
export interface PacketAssembled extends Happened {
  readonly type: 'packet_assembled';
  readonly number: number;
  readonly result:
    | { readonly type: 'packet'; readonly packet: Packet; readonly isFinished: boolean }
    | {
        readonly type: 'unusable';
        readonly missing: readonly string[];
        readonly why: string;
        /** Mid-turn: this message answers the user, and the agent's turn is over. */
        readonly isForUser?: boolean;
      };
}

/** The history was compacted. Without a number: by someone other than the watcher (the user, the built-in limit). */
export interface ContextCompacted extends Happened {
  readonly type: 'context_compacted';
  readonly number?: number;
  readonly strategy: 'micro' | 'full';
}

/** A compaction of the watcher's ended and left the history unchanged. */
export interface CompactionFailed extends Happened {
  readonly type: 'compaction_failed';
  readonly number: number;
  readonly why: string;
}

/** Answers `hand_off`: the handoff is in the history. */
export interface HandoffDelivered extends Happened {
  readonly type: 'handoff_delivered';
  readonly number: number;
}

/** An outstanding request went unanswered for too long. */
export interface DeadlineExpired extends Happened {
  readonly type: 'deadline_expired';
  readonly which: WatcherDeadline;
  readonly number: number;
}

/** The user pressed Esc (or Ctrl-C, once). */
export interface Interrupted extends Happened {
  readonly type: 'interrupted';
}

export interface ReviewModeChanged extends Happened {
  readonly type: 'review_mode_changed';
  readonly isOn: boolean;
}

/** The policy changed; the new one is the argument of this transition. */
export interface SettingsChanged extends Happened {
  readonly type: 'settings_changed';
}

export interface Shutdown extends Happened {
  readonly type: 'shutdown';
}

/**
 * The thread was reopened after a crash or a shutdown: no turn runs and no answer is pending. `logged` is the content
 * of the log, whatever the state says.
 */
export interface Resumed extends Happened {
  readonly type: 'resumed';
  readonly logged: {
    /** Ids of delivered messages, at least those that the state still mentions. */
    readonly messages: readonly string[];
    /** Ids of the sequences whose handoff is in the history. */
    readonly handoffs: readonly string[];
    /** Numbers of the watcher's committed compactions. */
    readonly compactions: readonly number[];
  };
}

/** Every event of a watcher. */
export type WatcherEvent =
  | TurnStarted
  | TurnComplete
  | TurnAborted
  | SamplingComplete
  | PhaseCompleted
  | UserSubmitted
  | QueueRevised
  | DeliveryFailed
  | CompactionPlanned
  | JudgmentResult
  | PacketAssembled
  | ContextCompacted
  | CompactionFailed
  | HandoffDelivered
  | DeadlineExpired
  | Interrupted
  | ReviewModeChanged
  | SettingsChanged
  | Shutdown
  | Resumed;
