// The watcher's state, events and effects: the types of its state machine. `transition.ts` holds the behaviour.
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

import type { ActiveWork, DecisionRecord, Situation } from '../protocol/decision.ts';
import type { Judgment, JudgmentRequest } from '../protocol/judgment.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { Signal } from '../protocol/signal.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import type { PacketAuthor, Step, Tier } from '../vocabulary.ts';
import type { Boundaries } from './signals/boundaries.ts';
import { NO_BOUNDARIES } from './signals/boundaries.ts';
import { WATCHER_STAGES } from '../vocabulary.ts';
import type { Decision, Evaluation } from './decide.ts';
import type { WatcherDeadline } from './policy.ts';

export type { TaskKind, TurnOrigin } from '../protocol/turn.ts';

/** A user message as submitted. Never changed, never merged with another text. */
export interface UserMessage {
  /** Unique within the thread. */
  readonly id: string;
  readonly text: string;
}

/** A continuation packet as it will be handed back, including harness facts. */
export interface Packet {
  readonly author: PacketAuthor;
  readonly text: string;
  /** Where the scratch notes are, if there are any. */
  readonly scratchPath?: string;
}

/** Where a sequence runs: between turns, with its own turns, or inside a turn, with items. */
export type SequencePlace = 'between_turns' | 'inside_turn';

/** One golden-path sequence, from its decision to its end. */
export interface Sequence {
  /** Unique within the thread; synthetic items carry it. */
  readonly id: string;
  /** The decision that started it: trigger reason, percent, tier, signals with evidence. */
  readonly decision: DecisionRecord;
  /** Changes from inside to between when the turn ends before the sequence does. */
  readonly place: SequencePlace;
  /** The requested author; `watcher` from the start, or once the agent failed to answer. */
  readonly author: PacketAuthor;
  /** False: no heads-up, and a packet without its fence. */
  readonly isTurnBased: boolean;
  /** Heads-up, scratch and packet request are one message. */
  readonly isCombined: boolean;
  /** Remaining requests to the agent, in order. */
  readonly toRequest: readonly Step[];
  /** The heads-up is in the history. */
  readonly hasHeadsUp: boolean;
  /** The sequence includes scratch notes, whoever finally writes them. */
  readonly hasScratch: boolean;
  /** The agent was reminded once of the missing parts of its packet. */
  readonly wasReminded: boolean;
  /** The agent did not return the requested packet: the watcher writes it. */
  readonly isReplaced?: true;
}

/** A yes that the arbiter, and perhaps a judge, may still turn into a no. Recorded once that is settled. */
export interface Question {
  /** Id of the decision, unique within the thread. */
  readonly id: string;
  readonly evaluation: Evaluation;
  readonly decision: Decision;
  readonly place: SequencePlace;
}

/** Nothing is running. */
export interface Idle {
  readonly at: 'idle';
}

/** The arbiter was asked whether and how it would compact. Nothing has been shown or consumed yet. */
export interface Assessing {
  readonly at: 'assessing';
  readonly number: number;
  readonly question: Question;
}

/** A judge was asked whether to veto. */
export interface AwaitingJudgment {
  readonly at: 'awaiting_judgment';
  readonly number: number;
  readonly question: Question;
}

/** The heads-up was injected, alone or combined with requests; its turn has not answered yet. */
export interface HeadsUpInjected {
  readonly at: 'heads_up_injected';
  readonly number: number;
  /** The steps that the message holds, in order. */
  readonly steps: readonly Step[];
  readonly sequence: Sequence;
}

/** The agent is writing its scratch notes. */
export interface AwaitingScratchWrite {
  readonly at: 'awaiting_scratch_write';
  readonly number: number;
  readonly sequence: Sequence;
}

/** The agent is writing its packet. */
export interface AwaitingPacket {
  readonly at: 'awaiting_packet';
  readonly number: number;
  readonly sequence: Sequence;
}

/** The agent's answer becomes a packet, or the watcher assembles its own; the scratch file is verified. */
export interface AssemblingPacket {
  readonly at: 'assembling_packet';
  readonly number: number;
  readonly sequence: Sequence;
  /** Whose text it is: the agent's answer, or the watcher's own. */
  readonly author: PacketAuthor;
}

/** The history is being compacted. The two signs of its end may arrive in either order. */
export interface Compacting {
  readonly at: 'compacting';
  readonly number: number;
  /** `micro`, and `full` in a subagent's thread, have no ceremony: no packet, no handoff. */
  readonly strategy: 'micro' | 'full';
  readonly decision: DecisionRecord;
  readonly place: SequencePlace;
  /** What will be handed over; undefined without ceremony. */
  readonly handover: Handover | undefined;
  readonly sawContextCompacted: boolean;
  /** True from the start if the compaction does not run as its own turn. */
  readonly sawTurnComplete: boolean;
  /** It was ordered to stop, by the user or by its deadline; the number of the deadline for its answer. */
  readonly abortNumber: number | undefined;
}

/** The packet, and what is needed to return it. */
export interface Handover {
  readonly sequenceId: string;
  readonly packet: Packet;
  /** The agent has nothing left to do, so the handoff does not start a turn. */
  readonly isFinished: boolean;
  /** "Here is your packet back" and a fence around it; false: only the packet. */
  readonly isWrapped: boolean;
  /** As in the sequence. */
  readonly isReplaced?: true;
}

/** The handoff was requested; it is not yet known to be in the history, or its turn to have started. */
export interface PostCompactHandoffPending {
  readonly at: 'post_compact_handoff_pending';
  readonly number: number;
  readonly decision: DecisionRecord;
  readonly place: SequencePlace;
  readonly handover: Handover;
  readonly startsTurn: boolean;
  /** It is in the history; only its turn has yet to start. */
  readonly isDelivered: boolean;
  /** It was requested a second time, because the first request had no answer. */
  readonly isRepeated: boolean;
}

/** The watcher's stage. @source seed 004, target state machine; spec 3-watcher §4. */
export type Stage =
  | Idle
  | Assessing
  | AwaitingJudgment
  | HeadsUpInjected
  | AwaitingScratchWrite
  | AwaitingPacket
  | AssemblingPacket
  | Compacting
  | PostCompactHandoffPending;

/** Every stage, in the order of the golden path. */
export const STAGES: readonly Stage['at'][] = WATCHER_STAGES;

/** A running turn of the user's, or a handoff's. The stage identifies the turns of the watcher's requests. */
export interface RunningTurn {
  readonly turnId: string;
  readonly origin: TurnOrigin;
  readonly kind: TaskKind;
  /** Its loop waits for `resume_turn`. */
  readonly isHeld: boolean;
  /** A sequence in this turn failed or was cancelled; the turn starts no other. */
  readonly isBarred: boolean;
}

/** What a decision considers besides the policy and the memory. */
export interface DecisionMoment {
  readonly situation: Situation;
  /** The agent's last message; undefined before it has spoken. */
  readonly lastAgentMessage: string | undefined;
  /** Excludes the user's queue, which the watcher itself knows. */
  readonly busyWith: readonly ActiveWork[];
}

/** Everything that is remembered beside the stage. JSON-safe and bounded, except for the user's queue. */
export interface Memory {
  /** A subagent's thread has no ceremony: only micro and full compaction. */
  readonly isSubagent: boolean;
  readonly isInReview: boolean;
  /** The watcher requests nothing more until `resumed`; it still keeps what the user submits. */
  readonly isShutDown: boolean;
  /** The next number of a request, decision or sequence; every number is used once. */
  readonly nextNumber: number;
  /** Undelivered user messages, oldest first. */
  readonly queue: readonly UserMessage[];
  /** The message given to the driver whose turn has not started; the next one waits for it. */
  readonly delivering: UserMessage | undefined;
  readonly turn: RunningTurn | undefined;
  /** The newest turn that has ended, so that a repeated report of its start starts nothing. */
  readonly endedTurnId: string | undefined;
  /** Counts the user messages that started a turn from 1; 0 before the first. */
  readonly turnNumber: number;
  readonly boundaries: Boundaries;
  /** A yes that waits for the user's next message and is evaluated again then. */
  readonly preflight: DecisionMoment | undefined;
  /** When the cooldown began: the end of the last sequence or compaction, or the last judge's veto. */
  readonly rest: { readonly turnsEnded: number; readonly sinceMs: number } | undefined;
  /** Since the last compaction, the user requested something and the agent acted. */
  readonly hasRequest: boolean;
  readonly hasAction: boolean;
  /** The newest skip or suggestion that was shown, to avoid repeating it. */
  readonly lastShown: string | undefined;
  /** The line that explains how to change the mode was shown. */
  readonly hasExplainedMode: boolean;
}

/** The whole state; JSON-safe, written to the log before the effects of the transition that led to it. */
export interface WatcherState {
  readonly stage: Stage;
  readonly memory: Memory;
}

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

/** The state of a new thread. */
export function beginWatching(isSubagent: boolean): WatcherState {
  return {
    stage: { at: 'idle' },
    memory: {
      isSubagent,
      isInReview: false,
      isShutDown: false,
      nextNumber: 1,
      queue: [],
      delivering: undefined,
      turn: undefined,
      endedTurnId: undefined,
      turnNumber: 0,
      boundaries: NO_BOUNDARIES,
      preflight: undefined,
      rest: undefined,
      hasRequest: false,
      hasAction: false,
      lastShown: undefined,
      hasExplainedMode: false,
    },
  };
}

/** The number whose deadline is running: that of the one outstanding request. Undefined when idle. */
export function awaitedNumber({ stage }: WatcherState): number | undefined {
  if (stage.at === 'idle') return undefined;
  return stage.at === 'compacting' ? (stage.abortNumber ?? stage.number) : stage.number;
}
