// A world around the watcher, abstract and hostile: users type and press Esc, answers come late, twice, in any order or
// never, compactions fail or win the race against their abort, deadlines expire, processes die at every write.

import type { Signal } from '../../src/protocol/signal.ts';
import type { WatcherDeadline, Policy } from '../../src/watcher/policy.ts';
import { isShellLine } from '../../src/watcher/sequence.ts';
import { awaitedNumber, beginWatching } from '../../src/watcher/state.ts';
import type { WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { Packet, TaskKind, TurnOrigin, UserMessage, WatcherState } from '../../src/watcher/state.ts';
import type { Boundary, PacketAuthor } from '../../src/vocabulary.ts';

/** What a world is allowed to hold, so that all of it can be seen. */
export interface Bounds {
  readonly policy: Policy;
  /** Texts of the messages that the user has to send. */
  readonly messages: readonly string[];
  /** What turns may look like where they are not calm, each once and in this order. */
  readonly pressing: readonly Pressing[];
  readonly isSubagent?: boolean;
  /** Once, the environment may also begin review mode, change settings, shut down, or start a turn by another way. */
  readonly isMeddling?: boolean;
}

/** A moment under pressure: what remains of the window, and the boundary that was reached. */
export interface Pressing {
  readonly percent: number;
  readonly boundary?: Boundary;
}

/** An answer that is under way. */
interface Token {
  readonly kind:
    | 'plan'
    | 'judgment'
    | 'started'
    | 'answered'
    | 'packet'
    | 'context_compacted'
    | 'compact_ended'
    | 'compaction_failed'
    | 'handoff_delivered'
    | 'aborted';
  readonly number: number;
  readonly author?: PacketAuthor;
  readonly isCopy?: true;
}

interface HostTurn {
  readonly turnId: string;
  readonly origin: TurnOrigin;
  readonly kind: TaskKind;
  readonly isRunning: boolean;
  readonly isHeld: boolean;
}

/** What is true outside of the machine. */
export interface World {
  readonly machine: WatcherState;
  readonly turn: HostTurn | undefined;
  readonly inbox: readonly Token[];
  readonly deadlines: readonly { readonly which: WatcherDeadline; readonly number: number }[];
  /** The compaction that the engine carries out. */
  readonly compaction: number | undefined;
  /** The log: ids of messages, numbers of committed compactions, ids of sequences handed off. */
  readonly delivered: readonly string[];
  readonly committed: readonly { readonly number: number }[];
  readonly handoffs: readonly string[];
  readonly submitted: number;
  /** Pressing moments that have been. */
  readonly pressed: number;
  readonly hasMeddled: boolean;
  readonly isDown: boolean;
  readonly hasFailedDelivery: boolean;
}

/** Something that may happen next. Without an event it concerns the world alone. */
export interface Move {
  readonly label: string;
  readonly world: World;
  readonly event?: WatcherEvent;
  readonly policy?: Policy;
  /** The event comes of a request of the watcher, so that it must trigger nothing. */
  readonly isSynthetic?: boolean;
}

/** Answers to requests that nobody awaits any more, and expired deadlines of such, that a world keeps. */
const STALE_KEPT = 1;

export function beginWorld({ isSubagent = false }: Bounds): World {
  return {
    machine: beginWatching(isSubagent),
    turn: undefined,
    inbox: [],
    deadlines: [],
    compaction: undefined,
    delivered: [],
    committed: [],
    handoffs: [],
    submitted: 0,
    pressed: 0,
    hasMeddled: false,
    isDown: false,
    hasFailedDelivery: false,
  };
}

/** The messages in the order in which the user submits them. */
export function messageAt(bounds: Bounds, index: number): UserMessage {
  return { id: `m${index + 1}`, text: bounds.messages[index] ?? '' };
}

/** All that may happen next. */
export function movesOf(world: World, bounds: Bounds): readonly Move[] {
  if (world.isDown) return [resume(world)];
  return [
    ...userMoves(world, bounds),
    ...turnMoves(world, bounds),
    ...world.inbox.flatMap((token) => tokenMoves(world, token)),
    ...compactionMoves(world),
    ...deadlineMoves(world),
    ...(bounds.isMeddling === true ? meddlingMoves(world, bounds) : []),
    { label: 'the process dies', world: crashed(world) },
  ];
}

function userMoves(world: World, bounds: Bounds): Move[] {
  const moves: Move[] = [
    { label: 'Esc', world, event: { type: 'interrupted', atMs: 0 } },
    {
      label: 'somebody else compacts',
      world,
      event: { type: 'context_compacted', strategy: 'full', atMs: 0 },
    },
  ];
  if (world.submitted < bounds.messages.length) {
    const message = messageAt(bounds, world.submitted);
    moves.push({
      label: `the user submits ${message.id} ${JSON.stringify(message.text)}`,
      world: { ...world, submitted: world.submitted + 1 },
      event: { type: 'user_submitted', message, atMs: 0 },
    });
  }
  return moves;
}

interface SeenMoment {
  readonly label: string;
  readonly pressed: number;
  readonly moment: {
    readonly situation: {
      readonly used: number;
      readonly window: number;
      readonly percentRemaining: number;
      readonly projected: number;
    };
    readonly signals: readonly Signal[];
    readonly lastAgentMessage: string;
    readonly busyWith: readonly [];
    readonly hadAction: boolean;
    readonly atMs: number;
  };
}

const WINDOW = 100_000;
const CALM: SeenMoment = momentOf({ percent: 95 }, 0);

function moments({ pressed }: World, { pressing }: Bounds): SeenMoment[] {
  const next = pressing[pressed];
  return [{ ...CALM, pressed }, ...(next === undefined ? [] : [momentOf(next, pressed)])];
}

function momentOf({ percent, boundary }: Pressing, index: number): SeenMoment {
  return {
    label: `${percent} % left${boundary === undefined ? '' : `, ${boundary}`}`,
    pressed: index + 1,
    moment: {
      situation: {
        used: (WINDOW * (100 - percent)) / 100,
        window: WINDOW,
        percentRemaining: percent,
        projected: 5_000,
      },
      signals: boundary === undefined ? [] : [signalOf(boundary, index)],
      lastAgentMessage: 'Next I wire it up.',
      busyWith: [],
      hadAction: true,
      atMs: 0,
    },
  };
}

function signalOf(boundary: Boundary, index: number): Signal {
  return {
    id: `${boundary}-${index + 1}`,
    boundary,
    evidence: { type: 'turn', turnId: undefined },
    turn: 1,
    position: index,
  };
}

function turnMoves(world: World, bounds: Bounds): Move[] {
  const { turn } = world;
  if (turn === undefined) return [];
  const { turnId, origin, kind } = turn;
  const over: World = { ...world, turn: undefined };
  const moves: Move[] = (['interrupted', 'failed'] as const).map((reason) => ({
    label: `the turn is aborted (${reason})`,
    world: over,
    event: { type: 'turn_aborted', turnId, kind, origin, reason, atMs: 0 },
  }));
  if (!turn.isRunning) {
    moves.push({
      label: 'the turn starts',
      world: { ...world, turn: { ...turn, isRunning: true } },
      event: { type: 'turn_started', turnId, kind, origin, atMs: 0 },
    });
    if (origin.type === 'user' && origin.messageId !== undefined) {
      const { messageId } = origin;
      moves.push({
        label: `${messageId} cannot be delivered`,
        world: {
          ...over,
          delivered: world.delivered.filter((id) => id !== messageId),
          hasFailedDelivery: true,
        },
        event: { type: 'delivery_failed', messageId, why: 'connection refused', atMs: 0 },
      });
    }
  }
  for (const { label, pressed, moment } of moments(world, bounds)) {
    moves.push({
      label: `the turn is complete (${label})`,
      world: { ...over, pressed },
      event: { type: 'turn_complete', turnId, kind, origin, ...moment },
    });
    if (!turn.isRunning || turn.isHeld || kind !== 'regular') continue;
    moves.push({
      label: `a tool batch is finished (${label})`,
      world: { ...world, pressed, turn: { ...turn, isHeld: true } },
      event: {
        type: 'sampling_complete',
        turnId,
        isFollowUpOwed: true,
        batchFrom: undefined,
        ...moment,
      },
    });
  }
  if (turn.isRunning && !turn.isHeld && kind === 'regular') moves.push(...answersInside(world, turn));
  return moves;
}

/** The agent answers an item without calling another tool. */
function answersInside(world: World, turn: HostTurn): Move[] {
  return ['Here is the packet.', undefined].map((lastAgentMessage) => ({
    label: `the agent answers inside of the turn ${lastAgentMessage === undefined ? 'with nothing' : 'with a text'}`,
    world: { ...world, turn: { ...turn, isHeld: true } },
    event: {
      type: 'sampling_complete',
      turnId: turn.turnId,
      isFollowUpOwed: false,
      batchFrom: undefined,
      ...CALM.moment,
      lastAgentMessage,
    },
  }));
}

function tokenMoves(world: World, token: Token): Move[] {
  const without: World = { ...world, inbox: world.inbox.filter((each) => each !== token) };
  const kept: World = {
    ...world,
    inbox: world.inbox.map((each) => (each === token ? { ...token, isCopy: true } : each)),
  };
  return eventsOf(token).flatMap(({ label, event, isSynthetic }) => {
    const move = { event, ...(isSynthetic === true ? { isSynthetic } : {}) };
    const once = { label, world: without, ...move };
    return token.isCopy === true
      ? [{ ...once, label: `${label}, again` }]
      : [once, { label: `${label} (to come twice)`, world: kept, ...move }];
  });
}

interface TokenEvent {
  readonly label: string;
  readonly event: WatcherEvent;
  readonly isSynthetic?: boolean;
}

function eventsOf(token: Token): readonly TokenEvent[] {
  const { kind, number } = token;
  const origin: TurnOrigin = { type: 'watcher', number };
  const turnId = `turn-${number}`;
  const atMs = 0;
  switch (kind) {
    case 'plan':
      return [
        plan(number, { type: 'full', why: 'it fits' }),
        plan(number, { type: 'micro', why: 'clearing suffices' }),
        plan(number, { type: 'none', reason: 'rearm', why: 'too early' }),
      ];
    case 'judgment':
      return [true, false]
        .map((shouldCompact): TokenEvent => ({
          label: shouldCompact ? 'the judge approves' : 'the judge vetoes',
          event: {
            type: 'judgment_result',
            number,
            judgment: { type: 'answer', shouldCompact, reason: 'so it seems' },
            atMs,
          },
        }))
        .concat({
          label: 'the judge fails',
          event: { type: 'judgment_result', number, judgment: { type: 'failure', why: 'no JSON' }, atMs },
        });
    case 'started':
      return [
        {
          label: 'the requested turn starts',
          event: { type: 'turn_started', turnId, kind: 'regular', origin, atMs },
          isSynthetic: true,
        },
      ];
    case 'answered':
      return [...answers(number), ...aborts(number, 'regular')];
    case 'aborted':
      return aborts(number, 'regular');
    case 'packet':
      return packets(number, token.author ?? 'agent');
    case 'context_compacted':
      return [
        {
          label: 'the context is compacted',
          event: { type: 'context_compacted', number, strategy: 'full', atMs },
        },
      ];
    case 'compact_ended':
      return [
        {
          label: 'the compaction task is complete',
          event: { type: 'turn_complete', turnId, kind: 'compact', origin, ...CALM.moment },
          isSynthetic: true,
        },
      ];
    case 'compaction_failed':
      return [
        {
          label: 'the compaction has failed',
          event: { type: 'compaction_failed', number, why: 'no summary', atMs },
        },
        ...aborts(number, 'compact'),
      ];
    case 'handoff_delivered':
      return [{ label: 'the handoff is in the history', event: { type: 'handoff_delivered', number, atMs } }];
  }
}

function plan(
  number: number,
  answer: Extract<WatcherEvent, { type: 'compaction_planned' }>['plan'],
): TokenEvent {
  return {
    label: `the arbiter says ${answer.type}`,
    event: { type: 'compaction_planned', number, plan: answer, atMs: 0 },
  };
}

/** Its turn has work of its own, as when it writes scratch notes and commits them: that must count for nothing. */
function answers(number: number): TokenEvent[] {
  const stray: Signal = { ...signalOf('commit', 90), id: 'stray-commit' };
  return ['Here is the packet.', undefined].map((lastAgentMessage) => ({
    label: `the requested turn is complete ${lastAgentMessage === undefined ? 'without a text' : 'with a text'}`,
    event: {
      type: 'turn_complete',
      turnId: `turn-${number}`,
      kind: 'regular',
      origin: { type: 'watcher', number },
      ...CALM.moment,
      signals: [stray],
      lastAgentMessage,
    },
    isSynthetic: true,
  }));
}

function aborts(number: number, kind: TaskKind): TokenEvent[] {
  return (['interrupted', 'failed'] as const).map((reason) => ({
    label: `the requested turn is aborted (${reason})`,
    event: {
      type: 'turn_aborted',
      turnId: `turn-${number}`,
      kind,
      origin: { type: 'watcher', number },
      reason,
      atMs: 0,
    },
    isSynthetic: true,
  }));
}

function packets(number: number, author: PacketAuthor): TokenEvent[] {
  const packet: Packet = { author, text: 'goal, state, next step' };
  return [
    ...[false, true].map((isFinished): TokenEvent => ({
      label: `the packet is assembled${isFinished ? ', nothing is left to do' : ''}`,
      event: {
        type: 'packet_assembled',
        number,
        result: { type: 'packet', packet, isFinished },
        atMs: 0,
      },
    })),
    {
      label: 'the agent has answered the user instead',
      event: {
        type: 'packet_assembled',
        number,
        result: { type: 'unusable', missing: [], why: 'an answer to the user', isForUser: true },
        atMs: 0,
      },
    },
    {
      label: 'the packet is unusable',
      event: {
        type: 'packet_assembled',
        number,
        result: { type: 'unusable', missing: ['Next step'], why: 'no next step' },
        atMs: 0,
      },
    },
  ];
}

function compactionMoves(world: World): Move[] {
  const { compaction: number, machine } = world;
  if (number === undefined) return [];
  const { stage } = machine;
  const isTask = stage.at === 'compacting' && stage.number === number && !stage.sawTurnComplete;
  const done: World = {
    ...world,
    compaction: undefined,
    committed: [...world.committed, { number }],
    inbox: [
      ...world.inbox,
      { kind: 'context_compacted', number },
      ...(isTask ? [{ kind: 'compact_ended', number } as const] : []),
    ],
  };
  const failed: World = {
    ...world,
    compaction: undefined,
    inbox: [...world.inbox, { kind: 'compaction_failed', number }],
  };
  return [
    { label: 'the compaction is committed', world: done },
    { label: 'the compaction fails', world: failed },
  ];
}

function deadlineMoves(world: World): Move[] {
  return world.deadlines.flatMap(({ which, number }): Move[] => {
    const event: WatcherEvent = { type: 'deadline_expired', which, number, atMs: 0 };
    const without: World = {
      ...world,
      deadlines: world.deadlines.filter((each) => each.number !== number),
    };
    return [{ label: 'the deadline expires', world: without, event }];
  });
}

function meddlingMoves(world: World, { policy }: Bounds): Move[] {
  const atMs = 0;
  if (world.machine.memory.isInReview) {
    return [{ label: 'review mode ends', world, event: { type: 'review_mode_changed', isOn: false, atMs } }];
  }
  if (world.hasMeddled) return [];
  const meddled: World = { ...world, hasMeddled: true };
  const moves: Move[] = [
    {
      label: 'review mode begins',
      world: meddled,
      event: { type: 'review_mode_changed', isOn: true, atMs },
    },
    { label: 'settings change', world: meddled, event: { type: 'settings_changed', atMs } },
    {
      label: 'the watcher is switched off and on again',
      world: meddled,
      event: { type: 'settings_changed', atMs },
      policy: { ...policy, isEnabled: false },
    },
    { label: 'shutdown', world: meddled, event: { type: 'shutdown', atMs } },
  ];
  const { label, pressed, moment } = momentOf({ percent: 60, boundary: 'phase_completed' }, world.pressed);
  moves.push({
    label: `the user says that a phase is over (${label})`,
    world: { ...meddled, pressed },
    event: { type: 'phase_completed', ...moment },
  });
  const { endedTurnId } = world.machine.memory;
  if (endedTurnId !== undefined) {
    moves.push({
      label: 'the start of the last turn is told again',
      world: meddled,
      event: { type: 'turn_started', turnId: endedTurnId, kind: 'regular', origin: { type: 'user' }, atMs },
    });
  }
  if (world.turn === undefined) {
    const turnId = 'turn-of-another-client';
    const turn = {
      turnId,
      origin: { type: 'user' },
      kind: 'regular',
      isRunning: true,
      isHeld: false,
    } as const;
    moves.push({
      label: 'another client starts a turn',
      world: { ...meddled, turn },
      event: { type: 'turn_started', turnId, kind: 'regular', origin: { type: 'user' }, atMs },
    });
  }
  return moves;
}

/** What is left when the process has died: the state that was written, and the log. */
export function crashed(world: World): World {
  return {
    ...world,
    turn: undefined,
    inbox: [],
    deadlines: [],
    compaction: undefined,
    isDown: true,
    hasFailedDelivery: false,
  };
}

function resume(world: World): Move {
  return {
    label: 'the thread is resumed',
    world: { ...world, isDown: false },
    event: {
      type: 'resumed',
      logged: {
        messages: world.delivered,
        handoffs: world.handoffs,
        compactions: world.committed.map(({ number }) => number),
      },
      atMs: 0,
    },
  };
}

/** What performing an effect does to the world, as the duties of a driver have it. */
export function perform(world: World, effect: WatcherEffect): World {
  const { inbox, turn } = world;
  switch (effect.type) {
    case 'plan_compaction':
      return { ...world, inbox: [...inbox, { kind: 'plan', number: effect.number }] };
    case 'ask_judgment':
      return { ...world, inbox: [...inbox, { kind: 'judgment', number: effect.number }] };
    case 'inject': {
      if (effect.as === 'item') return world;
      const { number } = effect;
      return { ...world, inbox: [...inbox, { kind: 'started', number }, { kind: 'answered', number }] };
    }
    case 'assemble_packet': {
      const { number, author } = effect;
      return { ...world, inbox: [...inbox, { kind: 'packet', number, author }] };
    }
    case 'compact':
      return { ...world, compaction: effect.number };
    case 'abort_compaction':
      return world.compaction === effect.number
        ? {
            ...world,
            compaction: undefined,
            inbox: [...inbox, { kind: 'compaction_failed', number: effect.number }],
          }
        : world;
    case 'interrupt_turn': {
      const isHandoff = turn?.origin.type === 'watcher' && turn.origin.number === effect.number;
      return {
        ...world,
        turn: isHandoff ? undefined : turn,
        inbox: [...inbox, { kind: 'aborted', number: effect.number }],
      };
    }
    case 'hand_off': {
      const { number, handover, startsTurn } = effect;
      const isLogged = world.handoffs.includes(handover.sequenceId);
      const starts = startsTurn && !isLogged;
      return {
        ...world,
        handoffs: isLogged ? world.handoffs : [...world.handoffs, handover.sequenceId],
        inbox: [...inbox, { kind: 'handoff_delivered', number }],
        turn: starts
          ? {
              turnId: `turn-${number}`,
              origin: { type: 'watcher', number },
              kind: 'regular',
              isRunning: false,
              isHeld: false,
            }
          : turn,
      };
    }
    case 'deliver': {
      const { id } = effect.message;
      if (world.delivered.includes(id)) return world;
      return {
        ...world,
        delivered: [...world.delivered, id],
        hasFailedDelivery: false,
        turn: {
          turnId: `turn-of-${id}`,
          origin: { type: 'user', messageId: id },
          kind: isShellLine(effect.message) ? 'shell' : 'regular',
          isRunning: false,
          isHeld: false,
        },
      };
    }
    case 'resume_turn':
      return turn?.turnId === effect.turnId ? { ...world, turn: { ...turn, isHeld: false } } : world;
    case 'arm_deadline':
      return {
        ...world,
        deadlines: [...world.deadlines, { which: effect.which, number: effect.number }],
      };
    // The turn is held; its moment may be told at any time, as without it.
    case 'cut_turn':
    case 'record_decision':
    case 'record_heads_up':
    case 'record_packet':
    case 'show':
      return world;
  }
}

/** Forgets what can make no difference, so that there are finitely many worlds. */
export function pruned(world: World): World {
  const { stage } = world.machine;
  const awaited = awaitedNumber(world.machine);
  const numbers = new Set([awaited, stage.at === 'idle' ? undefined : stage.number]);
  const isAwaited = ({ number }: { readonly number: number }): boolean => numbers.has(number);
  const sequenceId = stage.at === 'post_compact_handoff_pending' ? stage.handover.sequenceId : undefined;
  return {
    ...world,
    inbox: [
      ...world.inbox.filter((each) => !isAwaited(each)).slice(-STALE_KEPT),
      ...world.inbox.filter(isAwaited),
    ],
    deadlines: [
      ...world.deadlines.filter((each) => !isAwaited(each)).slice(-STALE_KEPT),
      ...world.deadlines.filter(isAwaited),
    ],
    committed: world.committed.filter(isAwaited),
    handoffs: world.handoffs.filter((id) => id === sequenceId),
  };
}
