// What a watcher requests: the effects of its state machine.
//
// What a driver owes the machine:
//
// 1. A new state is written to the log before its effects are performed.
// 2. Effects are performed in order, each after the one before it has taken effect.
// 3. An effect that leaves a trace in the log (`inject`, `record_*`, `hand_off`, `deliver`, `compact`) is performed at
//    most once, however often it is requested: once per number, `record_*` and `hand_off` once per sequence, `deliver`
//    once per message. The log shows whether it was; a repeated request only repeats the answer.
// 4. Once `abort_compaction` is performed, that compaction commits no more; it may have committed just before.
// 5. At a `sampling_complete` the loop of a turn waits until `resume_turn` (where the host can make it wait).
// 6. Answers may be late, duplicated or missing; events of the user's own turns arrive in order, including their ends.
// 7. A deadline counts from the last stream activity, and from its own start up to `capMs`. A deadline whose number
//    the machine no longer awaits (`awaitedNumber`) may be dropped; its expiry is inert.

import type { DecisionRecord, Situation } from '../protocol/decision.ts';
import type { JudgmentRequest } from '../protocol/judgment.ts';
import type { Signal } from '../protocol/signal.ts';
import type { PacketAuthor, Step, Tier } from '../vocabulary.ts';
import type { WatcherDeadline } from './policy.ts';
import type { Handover, Packet, SequencePlace, UserMessage, WatcherState } from './state.ts';

/** Writes a decision to the log. A judge's veto among them counts for rearming the arbiter. */
export interface RecordDecision {
  readonly type: 'record_decision';
  readonly decision: DecisionRecord;
}

/** Asks the arbiter (`compaction/dispatch`) whether and how it would compact; it takes no lease yet. */
export interface PlanCompaction {
  readonly type: 'plan_compaction';
  readonly number: number;
  readonly tier: Tier | undefined;
  readonly situation: Situation;
  readonly place: SequencePlace;
}

/** Asks a judge; the request's `request_id` also holds the number. */
export interface AskJudgment {
  readonly type: 'ask_judgment';
  readonly number: number;
  readonly request: JudgmentRequest;
}

/**
 * Inserts one synthetic user message with these steps in order, and has the agent answer it: as a separate turn, or as
 * an item of the running turn, which its next sampling answers.
 */
export interface Inject {
  readonly type: 'inject';
  readonly number: number;
  readonly sequenceId: string;
  readonly steps: readonly Step[];
  readonly as: 'turn' | 'item';
  /** What the first answer lacked; only for the one reminder. */
  readonly missing?: readonly string[];
}

/** Records the heads-up without a sampling, if no request goes to the agent, or none mid-turn. */
export interface RecordHeadsUp {
  readonly type: 'record_heads_up';
  readonly sequenceId: string;
}

/** Records a packet that the watcher wrote, labelled as such, directly before the compaction. */
export interface RecordPacket {
  readonly type: 'record_packet';
  readonly sequenceId: string;
  readonly packet: Packet;
}

/**
 * Makes a packet: from the agent's text, with the harness facts appended, or (`watcher`) from the trail. With
 * `hasScratch` it verifies that the scratch file has grown, else writes the last work to it.
 */
export interface AssemblePacket {
  readonly type: 'assemble_packet';
  readonly number: number;
  readonly sequenceId: string;
  readonly author: PacketAuthor;
  readonly agentText?: string;
  readonly hasScratch: boolean;
  /** Why the compaction runs, for the packet's own account. */
  readonly decision: DecisionRecord;
}

/** Why a compaction was requested, stored with its receipt. @source spec 3-watcher §4.5, after rawr's audit records. */
export interface AuditTrigger {
  readonly type: 'auto_watcher';
  readonly tier: Tier | undefined;
  readonly percentRemaining: number | undefined;
  readonly signals: readonly Signal[];
  /** Absent without ceremony. */
  readonly packetAuthor?: PacketAuthor;
  readonly sequenceId?: string;
  readonly decisionId: string;
}

/**
 * The op `compact`. Inside a turn it runs at once if the turn is held, else when it next is. As the watcher's
 * compaction, it uses the configured model, effort and verbosity.
 */
export interface Compact {
  readonly type: 'compact';
  readonly number: number;
  readonly strategy: 'micro' | 'full';
  readonly place: SequencePlace;
  readonly trigger: AuditTrigger;
  /** For the summariser, which keeps it in any case. */
  readonly packet?: Packet;
}

/** Stops a compaction; see the driver's duty 4. Answered by `context_compacted` or `compaction_failed`. */
export interface AbortCompaction {
  readonly type: 'abort_compaction';
  readonly number: number;
}

/** Ends the turn that an effect started, running or waiting; no other turn. */
export interface InterruptTurn {
  readonly type: 'interrupt_turn';
  readonly number: number;
}

/** Ends whatever runs in the user's turn, and holds it: a mid-turn request is no longer awaited. */
export interface CutTurn {
  readonly type: 'cut_turn';
  readonly turnId: string;
}

/** Records the handoff message, then starts a turn on it if requested. */
export interface HandOff {
  readonly type: 'hand_off';
  readonly number: number;
  readonly handover: Handover;
  readonly startsTurn: boolean;
}

/** Starts a turn with a user message, verbatim (or runs it, if it is a `!` line). */
export interface Deliver {
  readonly type: 'deliver';
  readonly message: UserMessage;
}

/** Resumes the loop of a turn that waits at `sampling_complete`. */
export interface ResumeTurn {
  readonly type: 'resume_turn';
  readonly turnId: string;
  /** The turn ends, unless the user has sent something meanwhile: the agent's last message answered the user. */
  readonly isOver?: boolean;
}

/** A line for the user: in the transcript (`info`, `warning`) or live only (`status`). */
export interface Show {
  readonly type: 'show';
  readonly surface: 'info' | 'status' | 'warning';
  readonly text: string;
}

/** Starts a deadline; duty 7 says how it counts. */
export interface ArmDeadline {
  readonly type: 'arm_deadline';
  readonly which: WatcherDeadline;
  readonly number: number;
  readonly ms: number;
  readonly capMs: number;
}

/** Every effect that a watcher may request. */
export type WatcherEffect =
  | RecordDecision
  | PlanCompaction
  | AskJudgment
  | Inject
  | RecordHeadsUp
  | RecordPacket
  | AssemblePacket
  | Compact
  | AbortCompaction
  | InterruptTurn
  | CutTurn
  | HandOff
  | Deliver
  | ResumeTurn
  | Show
  | ArmDeadline;

/** A new state and its effects, in order. */
export interface Transition {
  readonly state: WatcherState;
  readonly effects: readonly WatcherEffect[];
}
