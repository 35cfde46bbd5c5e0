// What the watcher knows, hears and asks for: the words of its state machine. No behaviour; `transition.ts` has it.
//
// What a driver owes the machine:
//
// 1. A new state is written to the log before its effects are performed.
// 2. Effects are performed in order, each after the one before it has taken effect.
// 3. An effect that leaves a trace in the log (`inject`, `record_*`, `hand_off`, `deliver`, `compact`) is performed at
//    most once, however often it is asked for: once per number, `record_*` and `hand_off` once per sequence, `deliver`
//    once per message. The log says whether it has been; asked again, only the answer is given again.
// 4. Once `abort_compaction` is performed, that compaction commits no more; it may have committed just before.
// 5. At a `sampling_complete` the loop of a turn waits until `resume_turn` (where the host can make it wait).
// 6. Answers may be late, doubled or missing; what is told of the user's own turns comes in order, and their ends come.
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

/** A message of the user, as it was submitted. Never changed, never merged with another text. */
export interface UserMessage {
  /** Unique within the thread. */
  readonly id: string;
  readonly text: string;
}

/** A continuation packet as it will be handed back, harness facts included. */
export interface Packet {
  readonly author: PacketAuthor;
  readonly text: string;
  /** Where the scratch notes are, when there are any. */
  readonly scratchPath?: string;
}

/** Where a sequence runs: between turns, with turns of its own, or inside of a turn, with items. */
export type SequencePlace = 'between_turns' | 'inside_turn';

/** One golden-path sequence, from its decision to its end. */
export interface Sequence {
  /** Unique within the thread; synthetic items carry it. */
  readonly id: string;
  /** The decision that started it: trigger reason, percent, tier, signals with evidence. */
  readonly decision: DecisionRecord;
  /** Changes from inside to between when the turn ends before the sequence does. */
  readonly place: SequencePlace;
  /** The author that is being asked; `watcher` from the start, or once the agent has not answered. */
  readonly author: PacketAuthor;
  /** False: no heads-up, and a packet without its fence. */
  readonly isTurnBased: boolean;
  /** Heads-up, scratch and packet request are one message. */
  readonly isCombined: boolean;
  /** Requests to the agent that are still to be made, in order. */
  readonly toRequest: readonly Step[];
  /** The heads-up is in the history. */
  readonly hasHeadsUp: boolean;
  /** Scratch notes belong to the sequence, whoever writes them in the end. */
  readonly hasScratch: boolean;
  /** The agent was reminded once of what its packet lacks. */
  readonly wasReminded: boolean;
  /** The agent was asked for the packet and gave none: the watcher writes it. */
  readonly isReplaced?: true;
}

/** A yes that the arbiter, and perhaps a judge, may still turn into a no. Recorded once that is known. */
export interface Question {
  /** Of the decision, unique within the thread. */
  readonly id: string;
  readonly evaluation: Evaluation;
  readonly decision: Decision;
  readonly place: SequencePlace;
}

/** Nothing under way. */
export interface Idle {
  readonly at: 'idle';
}

/** The arbiter was asked whether, and how, it would compact. Nothing has been shown or consumed yet. */
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

/** The heads-up (alone, or with the requests it is combined with) was injected; its turn has not answered yet. */
export interface HeadsUpInjected {
  readonly at: 'heads_up_injected';
  readonly number: number;
  /** What the message holds, in order. */
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

/** The agent's answer is being made a packet, or the watcher's own is put together; the scratch file is verified. */
export interface AssemblingPacket {
  readonly at: 'assembling_packet';
  readonly number: number;
  readonly sequence: Sequence;
  /** Of whose text: the agent's answer, or the watcher's own. */
  readonly author: PacketAuthor;
}

/** The history is being compacted. Its two signs may come in either order. */
export interface Compacting {
  readonly at: 'compacting';
  readonly number: number;
  /** `micro`, and `full` in the thread of a subagent, are without ceremony: no packet, no handoff. */
  readonly strategy: 'micro' | 'full';
  readonly decision: DecisionRecord;
  readonly place: SequencePlace;
  /** What will be handed over; undefined without ceremony. */
  readonly handover: Handover | undefined;
  readonly sawContextCompacted: boolean;
  /** True from the start where the compaction is no turn of its own. */
  readonly sawTurnComplete: boolean;
  /** It was told to stop, by the user or by its deadline; the number of the deadline for its answer. */
  readonly abortNumber: number | undefined;
}

/** The packet, and what is needed to hand it back. */
export interface Handover {
  readonly sequenceId: string;
  readonly packet: Packet;
  /** The agent has nothing left to do, so that the handoff starts no turn. */
  readonly isFinished: boolean;
  /** "Here is your packet back" and a fence around it; false: the bare packet. */
  readonly isWrapped: boolean;
  /** As of the sequence. */
  readonly isReplaced?: true;
}

/** The handoff was asked for; it is not known yet to be in the history, or its turn to have started. */
export interface PostCompactHandoffPending {
  readonly at: 'post_compact_handoff_pending';
  readonly number: number;
  readonly decision: DecisionRecord;
  readonly place: SequencePlace;
  readonly handover: Handover;
  readonly startsTurn: boolean;
  /** It is in the history; only the start of its turn is awaited. */
  readonly isDelivered: boolean;
  /** It was asked for a second time, because nothing was heard of the first. */
  readonly isRepeated: boolean;
}

/** Where the watcher is in its work. @source seed 004, target state machine; spec 3-watcher §4. */
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

/** A running turn of the user, or on a handoff. The turns of the watcher's requests are known by the stage. */
export interface RunningTurn {
  readonly turnId: string;
  readonly origin: TurnOrigin;
  readonly kind: TaskKind;
  /** Its loop waits for `resume_turn`. */
  readonly isHeld: boolean;
  /** A sequence inside of this turn failed or was cancelled; none is started in it again. */
  readonly isBarred: boolean;
}

/** What a decision looks at besides the policy and the memory. */
export interface DecisionMoment {
  readonly situation: Situation;
  /** What the agent said last; undefined before it has spoken. */
  readonly lastAgentMessage: string | undefined;
  /** Without the user's queue, which the watcher knows itself. */
  readonly busyWith: readonly ActiveWork[];
}

/** All that is remembered beside the stage. JSON-safe and bounded, but for the user's queue. */
export interface Memory {
  /** In the thread of a subagent there is no ceremony: micro and full compaction only. */
  readonly isSubagent: boolean;
  readonly isInReview: boolean;
  /** Nothing more is asked for until `resumed`; what the user submits is still kept. */
  readonly isShutDown: boolean;
  /** The next number of a request, a decision or a sequence; every number is given out once. */
  readonly nextNumber: number;
  /** Messages of the user that were not delivered yet, oldest first. */
  readonly queue: readonly UserMessage[];
  /** The message that was given to the driver and whose turn has not started; the next one waits for it. */
  readonly delivering: UserMessage | undefined;
  readonly turn: RunningTurn | undefined;
  /** The newest turn that has ended, so that its start, told once more, starts nothing. */
  readonly endedTurnId: string | undefined;
  /** Counted from 1 by the messages of the user that started a turn; 0 before the first. */
  readonly turnNumber: number;
  readonly boundaries: Boundaries;
  /** A yes that waits for the user's next message, and is asked again then. */
  readonly preflight: DecisionMoment | undefined;
  /** Since when the cooldown runs: the end of the last sequence or compaction, or the last veto of a judge. */
  readonly rest: { readonly turnsEnded: number; readonly sinceMs: number } | undefined;
  /** The user asked for something, and the agent did something, since the last compaction. */
  readonly hasRequest: boolean;
  readonly hasAction: boolean;
  /** The newest skip or suggestion that was shown, so that it is not shown again and again. */
  readonly lastShown: string | undefined;
  /** The line that says how to change the mode was shown. */
  readonly hasExplainedMode: boolean;
}

/** The whole state; JSON-safe, written to the log before the effects of the transition that led to it. */
export interface WatcherState {
  readonly stage: Stage;
  readonly memory: Memory;
}

interface Happened {
  /** Milliseconds since the epoch, or on any other clock that only the thread's events share. */
  readonly atMs: number;
}

/** What the end of a turn, or a moment between two samplings of it, looks like. */
interface TurnMoment extends Happened, DecisionMoment {
  readonly turnId: string;
  /** Signals of this turn's work, oldest first. Those that were given before are inert. */
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
  /** The process ends with this turn: what is decided waits for the user's next message, in whichever process that comes. */
  readonly isFinal?: boolean;
}

/** A turn ended without completing: Esc (`interrupted`), another turn in its place, or a failure. */
export interface TurnAborted extends Happened {
  readonly type: 'turn_aborted';
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  readonly reason: 'interrupted' | 'replaced' | 'failed';
}

/** A sampling inside of a turn is complete and its tools have finished. */
export interface SamplingComplete extends TurnMoment {
  readonly type: 'sampling_complete';
  /** The loop will sample again. False only in answer to an item of the watcher, where the turn would end by itself. */
  readonly isFollowUpOwed: boolean;
  /** Position of the first item of the tool batch that has just finished; undefined where there was none. */
  readonly batchFrom: number | undefined;
}

/** The user says that a phase of the work is over. Between turns this is a decision point of its own. */
export interface PhaseCompleted extends Happened, DecisionMoment {
  readonly type: 'phase_completed';
  /** The boundary itself, and whatever else no event has carried yet; oldest first. */
  readonly signals: readonly Signal[];
}

/** The user submitted a message or a `!` line. */
export interface UserSubmitted extends Happened {
  readonly type: 'user_submitted';
  readonly message: UserMessage;
}

/** The user changed what waits: texts, order, or that some of it waits no more. */
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

/** Answers `assemble_packet`. `unusable`: the agent's text is no packet; `missing` names what it lacks. */
export interface PacketAssembled extends Happened {
  readonly type: 'packet_assembled';
  readonly number: number;
  readonly result:
    | { readonly type: 'packet'; readonly packet: Packet; readonly isFinished: boolean }
    | {
        readonly type: 'unusable';
        readonly missing: readonly string[];
        readonly why: string;
        /** Inside of a turn: with this the agent has answered the user, and its turn is over. */
        readonly isForUser?: boolean;
      };
}

/** The history was compacted. Without a number: by somebody else (the user, the built-in limit). */
export interface ContextCompacted extends Happened {
  readonly type: 'context_compacted';
  readonly number?: number;
  readonly strategy: 'micro' | 'full';
}

/** A compaction of the watcher ended and left the history unchanged. */
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

/** Nothing was heard of an outstanding request for too long. */
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
 * The thread was loaded again, after a crash or a shutdown: no turn runs and no answer is under way. `logged` is what
 * the log holds, whatever the state says.
 */
export interface Resumed extends Happened {
  readonly type: 'resumed';
  readonly logged: {
    /** Ids of delivered messages, at least those that the state still knows of. */
    readonly messages: readonly string[];
    /** Ids of the sequences whose handoff is in the history. */
    readonly handoffs: readonly string[];
    /** Numbers of the compactions of the watcher that were committed. */
    readonly compactions: readonly number[];
  };
}

/** Everything that can happen to a watcher. */
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

/** Writes a decision into the log. A veto by judgment among them counts for the arbiter's rearm. */
export interface RecordDecision {
  readonly type: 'record_decision';
  readonly decision: DecisionRecord;
}

/** Asks the arbiter (`compaction/dispatch`) whether it would compact and how; it takes no lease yet. */
export interface PlanCompaction {
  readonly type: 'plan_compaction';
  readonly number: number;
  readonly tier: Tier | undefined;
  readonly situation: Situation;
  readonly place: SequencePlace;
}

/** Asks a judge; the number is in the request's `request_id`, too. */
export interface AskJudgment {
  readonly type: 'ask_judgment';
  readonly number: number;
  readonly request: JudgmentRequest;
}

/**
 * Puts one synthetic message of the user into the thread, holding these steps in order, and has the agent answer it:
 * as a turn of its own, or as an item of the running turn, which its next sampling answers.
 */
export interface Inject {
  readonly type: 'inject';
  readonly number: number;
  readonly sequenceId: string;
  readonly steps: readonly Step[];
  readonly as: 'turn' | 'item';
  /** What the first answer lacked; given only for the one reminder. */
  readonly missing?: readonly string[];
}

/** Records the heads-up without a sampling, where no request goes to the agent, or none inside of a turn. */
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
 * Makes a packet: of the agent's text, with the harness facts appended, or (`watcher`) of the trail. With `hasScratch`
 * the scratch file is verified to have grown, else the last work is written to it.
 */
export interface AssemblePacket {
  readonly type: 'assemble_packet';
  readonly number: number;
  readonly sequenceId: string;
  readonly author: PacketAuthor;
  readonly agentText?: string;
  readonly hasScratch: boolean;
  /** Why it is compacted, for the packet's own account. */
  readonly decision: DecisionRecord;
}

/** What a compaction was asked for, stored with its receipt. @source spec 3-watcher §4.5, after rawr's audit records. */
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
 * The op `compact`. Inside of a turn it is performed at once where the turn is held, else when it next is. The
 * configured model, effort and verbosity of compactions apply, since it is the watcher's.
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

/** Ends the turn that an effect started, if it runs or waits to run; no other turn. */
export interface InterruptTurn {
  readonly type: 'interrupt_turn';
  readonly number: number;
}

/** Ends whatever runs in the user's turn, and holds it: what was asked inside of it is not waited for any longer. */
export interface CutTurn {
  readonly type: 'cut_turn';
  readonly turnId: string;
}

/** Records the handoff message, then starts a turn on it if so asked. */
export interface HandOff {
  readonly type: 'hand_off';
  readonly number: number;
  readonly handover: Handover;
  readonly startsTurn: boolean;
}

/** Starts a turn with a message of the user, verbatim (or runs it, when it is a `!` line). */
export interface Deliver {
  readonly type: 'deliver';
  readonly message: UserMessage;
}

/** Lets the loop of a turn that waits at `sampling_complete` go on. */
export interface ResumeTurn {
  readonly type: 'resume_turn';
  readonly turnId: string;
  /** The turn ends, unless the user has said something meanwhile: what the agent said last was its answer to the user. */
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

/** Everything that a watcher may ask for. */
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

/** A new state, and what is to be done in its name, in order. */
export interface Transition {
  readonly state: WatcherState;
  readonly effects: readonly WatcherEffect[];
}

/** The state of a thread that has just begun. */
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
