// The watcher's state: its stage and what it remembers. `events.ts` says what it hears, `effects.ts` what it requests, and
// `transition.ts` holds the behaviour.

import type { ActiveWork, DecisionRecord, Situation } from '../protocol/decision.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import type { PacketAuthor, Step } from '../vocabulary.ts';
import type { Boundaries } from './signals/boundaries.ts';
import { NO_BOUNDARIES } from './signals/boundaries.ts';
import { WATCHER_STAGES } from '../vocabulary.ts';
import type { Decision, Evaluation } from './decide.ts';

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
  /** The sequence includes scratch notes, by the agent or by the watcher. */
  readonly hasScratch: boolean;
  /** The agent was reminded once of the missing parts of its packet. */
  readonly wasReminded: boolean;
  /** The agent did not return the requested packet: the watcher writes it. */
  readonly isReplaced?: true;
}

/** An approval that the arbiter, and perhaps a judge, may still overrule. Recorded once that is settled. */
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
  /** An approval that waits for the user's next message and is evaluated again then. */
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

/** Whether nothing runs and nothing waits. A closed thread starts nothing, whatever waits in it. */
export function isAtRest({ stage, memory }: WatcherState): boolean {
  const { queue, delivering, turn, isShutDown } = memory;
  const isIdle = stage.at === 'idle' && delivering === undefined && turn === undefined;
  return isShutDown || (isIdle && queue.length === 0);
}

/** The running sequence. */
export function sequenceOf({ stage }: WatcherState): Sequence | undefined {
  return 'sequence' in stage ? stage.sequence : undefined;
}

/** The decision behind what runs. */
export function decisionOf({ stage }: Pick<WatcherState, 'stage'>): DecisionRecord | undefined {
  if ('sequence' in stage) return stage.sequence.decision;
  return 'decision' in stage ? stage.decision : undefined;
}
