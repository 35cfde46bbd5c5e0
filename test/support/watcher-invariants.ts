// The invariants of the golden path, as watches that go along with a path: what they have to remember of it, and what
// they object to in a step. The numbers are those of docs/invariants.md.

import assert from 'node:assert/strict';

import type { Policy } from '../../src/watcher/policy.ts';
import { isRequesting } from '../../src/watcher/sequence.ts';
import { awaitedNumber } from '../../src/watcher/state.ts';
import type { Transition, WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { WatcherState } from '../../src/watcher/state.ts';
import type { Boundary, Step } from '../../src/vocabulary.ts';
import { messageAt, perform } from './watcher-world.ts';
import type { Bounds, Move, World } from './watcher-world.ts';

/** What a watch has seen of the newest sequence. */
interface SequenceWatch {
  readonly id: string;
  readonly steps: readonly Step[];
  readonly hasPacket: boolean;
  readonly compaction: number | undefined;
  /** The machine was told that its compaction is committed. */
  readonly isAnnounced: boolean;
  readonly isConfirmed: boolean;
  readonly hasStartedTurn: boolean;
}

/** What the watches remember of a path. */
export interface Watch {
  readonly sequence: SequenceWatch | undefined;
  /** Signals that compactions were asked for with. */
  readonly used: readonly string[];
  /** The arbiter's yes that no compaction has used up yet. */
  readonly allowed: 'micro' | 'full' | undefined;
}

export const NEW_WATCH: Watch = { sequence: undefined, used: [], allowed: undefined };

/** A step that no watch may object to. */
export interface ObservedStep {
  readonly before: World;
  readonly move: Move;
  readonly event: WatcherEvent;
  readonly result: Transition;
  /** The world after all effects, not pruned yet. */
  readonly after: World;
  readonly bounds: Bounds;
}

/** One effect of a step: the world just before it is performed. */
interface EffectStep extends ObservedStep {
  readonly at: World;
}

/** An invariant that a step broke. */
export interface Objection {
  readonly invariant: number;
  readonly why: string;
}

const WORK: ReadonlySet<Boundary> = new Set([
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'plan_update',
  'phase_completed',
  'agent_done',
]);

class Broken extends Error {
  readonly objection: Objection;
  constructor(invariant: number, why: string) {
    super(why);
    this.objection = { invariant, why };
  }
}

function hold(invariant: number, isHeld: boolean, why: string): void {
  if (!isHeld) throw new Broken(invariant, why);
}

/** The watch after a step, or what it objects to. */
export function watchStep(watch: Watch, step: ObservedStep): Watch | Objection {
  try {
    inertWhenStale(step);
    nothingTriggered(step);
    nothingLeftRunning(step);
    const told = tell(watch, step);
    let seen = told;
    let at: World = { ...step.move.world, machine: step.result.state };
    for (const effect of step.result.effects) {
      seen = watchEffect(seen, effect, { ...step, at });
      at = perform(at, effect);
    }
    oneRequest(step);
    atRest(seen, step);
    messagesKept(step);
    // Whatever comes of a sequence after its end comes of none.
    const { state } = step.result;
    const left = isBeforeSequence(state) ? { ...seen, sequence: undefined } : seen;
    return state.stage.at === 'idle' ? { ...left, allowed: undefined } : left;
  } catch (error) {
    if (error instanceof Broken) return error.objection;
    throw error;
  }
}

/** 2: an answer that is not awaited changes nothing. */
function inertWhenStale({ before, event, result, move }: ObservedStep): void {
  const { stage } = before.machine;
  const number = numberOf(event);
  if (number === undefined) return;
  const awaited =
    event.type === 'deadline_expired' ? awaitedNumber(before.machine) : stage.at !== 'idle' && stage.number;
  const isHandoffTurn = move.isSynthetic !== true && 'origin' in event;
  if (number === awaited || isHandoffTurn) return;
  hold(
    2,
    result.state === before.machine && result.effects.length === 0,
    `a stale answer (${event.type} ${number}) changed something`,
  );
}

function numberOf(event: WatcherEvent): number | undefined {
  if ('number' in event) return event.number;
  return 'origin' in event && event.origin.type === 'watcher' ? event.origin.number : undefined;
}

const REQUESTS = [
  'plan_compaction',
  'ask_judgment',
  'inject',
  'assemble_packet',
  'compact',
  'hand_off',
] as const;

function isRequest(
  effect: WatcherEffect,
): effect is Extract<WatcherEffect, { type: (typeof REQUESTS)[number] }> {
  return (REQUESTS as readonly string[]).includes(effect.type);
}

/** 2: one request at a time, each with a fresh number; 6: each with a deadline. */
function oneRequest({ before, result }: ObservedStep): void {
  const requests = result.effects.filter(isRequest);
  hold(2, requests.length <= 1, `${requests.length} requests at once`);
  const awaited = awaitedNumber(result.state);
  for (const { number, type } of requests) {
    hold(2, number >= before.machine.memory.nextNumber, `${type} has the used number ${number}`);
    hold(2, number === awaited, `${type} ${number} is asked for and not awaited`);
  }
  if (awaited === undefined || awaited === awaitedNumber(before.machine)) return;
  const isArmed = result.effects.some((each) => each.type === 'arm_deadline' && each.number === awaited);
  hold(6, isArmed, `nothing limits the wait for ${awaited}`);
}

/** 3: what the watcher injected triggers nothing, and its answers are no boundaries. */
function nothingTriggered({ before, move, event, result }: ObservedStep): void {
  if (move.isSynthetic !== true) return;
  const isDecided = result.effects.some(
    ({ type }) => type === 'plan_compaction' || type === 'record_decision' || type === 'ask_judgment',
  );
  hold(3, !isDecided, `${event.type} of an injected message led to a decision`);
  hold(
    3,
    result.state.memory.boundaries === before.machine.memory.boundaries,
    `${event.type} of an injected message reached a boundary`,
  );
}

/** 2: a request that is given up does not go on in a turn of its own. */
function nothingLeftRunning({ before, event, result }: ObservedStep): void {
  const { stage } = before.machine;
  if (isRequesting(stage) && stage.sequence.place === 'inside_turn' && event.type === 'deadline_expired') {
    const { turn } = before.machine.memory;
    const isGivenUp = result.state !== before.machine && turn !== undefined;
    const isCut = result.effects.some((each) => each.type === 'cut_turn' && each.turnId === turn?.turnId);
    hold(2, !isGivenUp || isCut, `what runs for request ${stage.number} is waited for after its deadline`);
  }
  if (!isRequesting(stage) || stage.sequence.place !== 'between_turns') return;
  const { stage: next } = result.state;
  const isOver = next.at === 'idle' || next.number !== stage.number;
  const isItself = 'origin' in event && numberOf(event) === stage.number;
  if (!isOver || isItself || event.type === 'resumed') return;
  const isStopped = result.effects.some(
    (each) => each.type === 'interrupt_turn' && each.number === stage.number,
  );
  hold(2, isStopped, `the turn of request ${stage.number} is left running`);
}

/** What the event says to the watches. */
function tell(watch: Watch, { before, event, after }: ObservedStep): Watch {
  const { stage } = before.machine;
  const number = numberOf(event);
  const isAwaited = stage.at !== 'idle' && number === stage.number;
  const sequence = watch.sequence;
  if (event.type === 'compaction_planned' && isAwaited && event.plan.type !== 'none') {
    return { ...watch, allowed: event.plan.type === 'micro' ? 'micro' : 'full' };
  }
  if (sequence === undefined) return watch;
  if (event.type === 'packet_assembled' && isAwaited && event.result.type === 'packet') {
    return { ...watch, sequence: { ...sequence, hasPacket: true } };
  }
  const isCommitted =
    (event.type === 'context_compacted' && isAwaited) ||
    (event.type === 'resumed' &&
      stage.at === 'compacting' &&
      event.logged.compactions.includes(stage.number));
  if (isCommitted && stage.at === 'compacting' && stage.handover !== undefined) {
    return { ...watch, sequence: { ...sequence, isAnnounced: true } };
  }
  const isConfirmed =
    (event.type === 'handoff_delivered' && isAwaited) ||
    ((event.type === 'turn_started' || event.type === 'turn_complete') &&
      isAwaited &&
      stage.at === 'post_compact_handoff_pending') ||
    (event.type === 'resumed' &&
      after.handoffs.includes(sequence.id) &&
      event.logged.handoffs.includes(sequence.id));
  return isConfirmed ? { ...watch, sequence: { ...sequence, isConfirmed: true } } : watch;
}

function watchEffect(watch: Watch, effect: WatcherEffect, step: EffectStep): Watch {
  const policy = step.bounds.policy;
  switch (effect.type) {
    case 'inject': {
      const { sequence, ...rest } = sequenceOf(watch, effect.sequenceId, step);
      const isReminder = effect.missing !== undefined;
      hold(1, effect.steps.length > 0, 'an empty request');
      const steps = effect.steps.reduce(
        (seen, each) => (isReminder ? seen : addStep(seen, each, policy)),
        sequence.steps,
      );
      return { ...rest, sequence: { ...sequence, steps } };
    }
    case 'record_heads_up': {
      const { sequence, ...rest } = sequenceOf(watch, effect.sequenceId, step);
      return { ...rest, sequence: { ...sequence, steps: addStep(sequence.steps, 'heads_up', policy) } };
    }
    case 'record_packet':
    case 'assemble_packet':
      return sequenceOf(watch, effect.sequenceId, step);
    case 'compact':
      return watchCompaction(watch, effect, step);
    case 'hand_off':
      return watchHandoff(watch, effect, step);
    case 'deliver':
      watchDelivery(effect, step);
      return watch;
    default:
      return watch;
  }
}

function sequenceOf(
  watch: Watch,
  id: string,
  { before }: ObservedStep,
): Watch & { readonly sequence: SequenceWatch } {
  const { sequence } = watch;
  if (sequence?.id === id) return { ...watch, sequence };
  const isOver = sequence === undefined || !sequence.isAnnounced || before.machine.stage.at === 'idle';
  hold(7, isOver, `${id} begins before ${sequence?.id} was handed off`);
  return {
    ...watch,
    sequence: {
      id,
      steps: [],
      hasPacket: false,
      compaction: undefined,
      isAnnounced: false,
      isConfirmed: false,
      hasStartedTurn: false,
    },
  };
}

/** 1: heads-up, scratch, packet request, each once, in this order. */
function addStep(seen: readonly Step[], step: Step, policy: Policy): readonly Step[] {
  const order: readonly Step[] = ['heads_up', 'scratch', 'packet_request'];
  hold(1, !seen.includes(step), `${step} a second time`);
  const isLast = seen.every((each) => order.indexOf(each) < order.indexOf(step));
  hold(1, isLast, `${step} after ${seen.join(', ')}`);
  const needsHeadsUp = policy.isTurnBased && step !== 'heads_up';
  hold(1, !needsHeadsUp || seen.includes('heads_up'), `${step} without a heads-up before it`);
  return [...seen, step];
}

function watchCompaction(
  watch: Watch,
  effect: Extract<WatcherEffect, { type: 'compact' }>,
  step: EffectStep,
): Watch {
  const { at, bounds } = step;
  const { policy } = bounds;
  hold(2, at.compaction === undefined, 'a compaction while one is in flight');
  hold(
    8,
    watch.allowed === effect.strategy,
    `a ${effect.strategy} compaction that the arbiter has not allowed`,
  );
  const { trigger, packet } = effect;
  for (const { id } of trigger.signals) hold(4, !watch.used.includes(id), `${id} compacts a second time`);
  const used = [...watch.used, ...trigger.signals.map(({ id }) => id)];
  const next: Watch = { ...watch, used, allowed: undefined };
  if (packet === undefined) {
    hold(1, effect.strategy === 'micro' || bounds.isSubagent === true, 'a full compaction without a packet');
    return next;
  }
  const { sequence } = watch;
  if (sequence === undefined || sequence.id !== trigger.sequenceId) {
    throw new Broken(1, 'a packet of another sequence');
  }
  hold(1, sequence.hasPacket, 'a compaction before its packet');
  hold(1, sequence.compaction === undefined, 'a second compaction of one sequence');
  hold(1, !policy.isTurnBased || sequence.steps.includes('heads_up'), 'a compaction without a heads-up');
  const isEmergency = trigger.tier === 'emergency';
  const isScratchDue =
    policy.writesScratch && !isEmergency && trigger.signals.some(({ boundary }) => WORK.has(boundary));
  hold(1, sequence.steps.includes('scratch') === isScratchDue, `scratch is ${isScratchDue ? '' : 'not '}due`);
  hold(
    1,
    sequence.steps.includes('packet_request') === (policy.packetAuthor === 'agent' && !isEmergency),
    'the wrong author was asked',
  );
  return { ...next, sequence: { ...sequence, compaction: effect.number } };
}

function watchHandoff(
  watch: Watch,
  effect: Extract<WatcherEffect, { type: 'hand_off' }>,
  { before, after, at }: EffectStep,
): Watch {
  const { sequence } = watch;
  if (sequence === undefined || sequence.id !== effect.handover.sequenceId) {
    throw new Broken(7, 'a handoff of another sequence');
  }
  const { compaction } = sequence;
  const isCommitted = compaction !== undefined && after.committed.some(({ number }) => number === compaction);
  hold(7, isCommitted || sequence.isAnnounced, 'a handoff without a compaction');
  hold(7, !sequence.isConfirmed, 'a second handoff of one sequence');
  hold(7, !(effect.startsTurn && sequence.hasStartedTurn), 'a second turn on one handoff');
  const isTurnFree =
    at.turn === undefined && before.machine.memory.queue.every(({ text }) => text.startsWith('!'));
  hold(5, !effect.startsTurn || isTurnFree, 'a handoff starts a turn where the user goes first');
  return {
    ...watch,
    sequence: { ...sequence, hasStartedTurn: sequence.hasStartedTurn || effect.startsTurn },
  };
}

/** 5: each message once, verbatim, in order, and in a turn of its own. */
function watchDelivery(
  { message }: Extract<WatcherEffect, { type: 'deliver' }>,
  { at, bounds, result }: EffectStep,
): void {
  const { delivered, turn } = at;
  const expected = messageAt(bounds, delivered.length);
  hold(5, !delivered.includes(message.id), `${message.id} is delivered twice`);
  hold(5, message.id === expected.id, `${message.id} is delivered before ${expected.id}`);
  hold(5, message.text === expected.text, `${message.id} is changed: ${JSON.stringify(message.text)}`);
  hold(5, turn === undefined, `${message.id} is delivered into a running turn`);
  hold(5, result.state.stage.at === 'idle', `${message.id} is delivered during a sequence`);
}

function isBeforeSequence({ stage }: WatcherState): boolean {
  return stage.at === 'idle' || stage.at === 'assessing' || stage.at === 'awaiting_judgment';
}

/** At rest: nothing is owed. */
function atRest({ sequence }: Watch, { result, after, event }: ObservedStep): void {
  const { stage, memory } = result.state;
  if (memory.isShutDown) return;
  const isOwed =
    sequence !== undefined &&
    sequence.isAnnounced &&
    !sequence.isConfirmed &&
    !after.handoffs.includes(sequence.id);
  hold(7, !isOwed || !isBeforeSequence(result.state), `${sequence?.id} was compacted and is not handed off`);
  if (stage.at !== 'idle') return;
  hold(6, after.turn?.isHeld !== true, 'a loop waits for ever');
  const isQuiet = after.turn === undefined && memory.turn === undefined && memory.delivering === undefined;
  const isExcused = event.type === 'delivery_failed' || after.hasFailedDelivery;
  hold(5, !isQuiet || isExcused || memory.queue.length === 0, 'a queued message waits for ever');
}

/** 5, 9: each submitted message is delivered or still kept. */
function messagesKept({ after, bounds, result }: ObservedStep): void {
  const { queue, delivering } = result.state.memory;
  const kept = new Set([
    ...after.delivered,
    ...queue.map(({ id }) => id),
    ...(delivering ? [delivering.id] : []),
  ]);
  for (let index = 0; index < after.submitted; index += 1) {
    const { id } = messageAt(bounds, index);
    hold(9, kept.has(id), `${id} is lost`);
  }
}

/** 6: from here, deadlines alone lead to idle. @returns how many it took */
export function expireToIdle(
  state: WatcherState,
  run: (state: WatcherState, event: WatcherEvent) => Transition,
): number | Objection {
  let current = state;
  for (let expired = 0; expired <= 12; expired += 1) {
    const number = awaitedNumber(current);
    if (number === undefined) return expired;
    current = run(current, { type: 'deadline_expired', which: 'packet', number, atMs: 0 }).state;
  }
  return { invariant: 6, why: `deadlines alone do not lead from ${state.stage.at} to idle` };
}

/** 10: the same recorded state, event and policy give the same step. */
export function sameAgain(first: Transition, again: Transition): Objection | undefined {
  const written = JSON.stringify(first);
  const writtenAgain = JSON.stringify(again);
  if (writtenAgain === written) return undefined;
  try {
    assert.deepEqual(JSON.parse(writtenAgain), JSON.parse(written));
    return undefined;
  } catch {
    return { invariant: 10, why: 'the recorded state leads elsewhere' };
  }
}
