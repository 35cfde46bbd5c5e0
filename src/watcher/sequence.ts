// The golden path from start to end: requests, packet, compaction, handoff, and the exits from it.

import type { DecisionRecord } from '../protocol/decision.ts';
import type { Boundary, Step } from '../vocabulary.ts';
import { reopenBoundaries } from './signals/boundaries.ts';
import { decisionStatus, infoLine, MODE_EXPLAINED, requestLines, warningLine } from './lines.ts';
import { enter, letGo, placeOf, remember, stay, takeNumber, andThen } from './moves.ts';
import type { WatcherDeadline, Policy } from './policy.ts';
import type { ArmDeadline, Compact, Show, Transition } from './effects.ts';
import type { PacketAssembled } from './events.ts';
import type {
  AssemblingPacket,
  AwaitingPacket,
  AwaitingScratchWrite,
  Compacting,
  Handover,
  HeadsUpInjected,
  SequencePlace,
  PostCompactHandoffPending,
  Sequence,
  UserMessage,
  WatcherState,
} from './state.ts';

/** A stage in which the agent has a request to answer. */
export type Requesting = HeadsUpInjected | AwaitingScratchWrite | AwaitingPacket;

/** Work that deserves a scratch note. @source spec 3-watcher §4.3, after rawr-behaviour §7.1 */
const WORK: ReadonlySet<Boundary> = new Set([
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'plan_update',
  'phase_completed',
  'agent_done',
]);

/** Whether the agent has a request to answer. */
export function isRequesting(stage: WatcherState['stage']): stage is Requesting {
  return (
    stage.at === 'heads_up_injected' ||
    stage.at === 'awaiting_scratch_write' ||
    stage.at === 'awaiting_packet'
  );
}

/** The deadline of a request; its cap is twice its patience. @source spec 3-watcher §4, interruption */
export function armDeadline(which: WatcherDeadline, number: number, policy: Policy): ArmDeadline {
  const ms = policy.deadlinesMs[which];
  return { type: 'arm_deadline', which, number, ms, capMs: 2 * ms };
}

/** Starts a sequence for a recorded, final decision. */
export function begin(
  state: WatcherState,
  decision: DecisionRecord,
  place: SequencePlace,
  policy: Policy,
): Transition {
  const [number, next] = takeNumber(remember(state, { preflight: undefined, lastShown: undefined }));
  const isEmergency = decision.tier === 'emergency';
  const author = isEmergency ? 'watcher' : policy.packetAuthor;
  const hasScratch =
    policy.writesScratch && !isEmergency && decision.signals.some(({ boundary }) => WORK.has(boundary));
  const asked: readonly Step[] = [
    ...(hasScratch ? (['scratch'] as const) : []),
    ...(author === 'agent' ? (['packet_request'] as const) : []),
  ];
  const sequence: Sequence = {
    id: `sequence-${number}`,
    decision,
    place,
    author,
    isTurnBased: policy.isTurnBased,
    isCombined: policy.combinesRequests,
    toRequest: policy.isTurnBased && asked.length > 0 ? ['heads_up', ...asked] : asked,
    hasHeadsUp: false,
    hasScratch,
    wasReminded: false,
  };
  return requestNext(next, sequence, policy);
}

/** Makes the next request, or all remaining ones if they are combined; if none remains, the watcher writes the packet. */
function requestNext(state: WatcherState, sequence: Sequence, policy: Policy): Transition {
  const { toRequest, isCombined, place } = sequence;
  const [first, ...later] = toRequest;
  if (first === undefined) return assemble(state, { ...sequence, author: 'watcher' }, undefined, policy);
  if (first === 'heads_up' && !isCombined && place === 'inside_turn') {
    // An item without a request is not worth a sampling; it precedes the first request.
    const shown = stay(state, { type: 'record_heads_up', sequenceId: sequence.id });
    return andThen(shown, (next) =>
      requestNext(next, { ...sequence, hasHeadsUp: true, toRequest: later }, policy),
    );
  }
  const steps = isCombined ? toRequest : [first];
  return request(state, { ...sequence, toRequest: toRequest.slice(steps.length) }, { steps }, policy);
}

interface Ask {
  readonly steps: readonly Step[];
  readonly missing?: readonly string[];
}

function request(state: WatcherState, sequence: Sequence, ask: Ask, policy: Policy): Transition {
  const { steps, missing } = ask;
  const [number, next] = takeNumber(state);
  const as = sequence.place === 'between_turns' ? 'turn' : 'item';
  const announced: Sequence = { ...sequence, hasHeadsUp: sequence.hasHeadsUp || steps.includes('heads_up') };
  const injected = enter(
    next,
    steps.includes('heads_up')
      ? { at: 'heads_up_injected', number, steps, sequence: announced }
      : underWay(number, steps, announced),
    ...requestLines(steps, missing !== undefined, policy),
    {
      type: 'inject',
      number,
      sequenceId: announced.id,
      steps,
      as,
      ...(missing === undefined ? {} : { missing }),
    },
    armDeadline(patienceFor(steps, announced), number, policy),
  );
  return sequence.place === 'inside_turn' ? andThen(injected, letGo) : injected;
}

/** A separate heads-up has the patience of the request that it announces. */
function patienceFor(steps: readonly Step[], { toRequest }: Sequence): WatcherDeadline {
  if (steps.includes('packet_request')) return 'packet';
  if (steps.includes('scratch')) return 'scratch';
  return toRequest[0] === 'scratch' ? 'scratch' : 'packet';
}

function underWay(number: number, steps: readonly Step[], sequence: Sequence): Requesting {
  const at = steps.includes('packet_request') ? 'awaiting_packet' : 'awaiting_scratch_write';
  return { at, number, sequence };
}

/** The agent has begun to answer. A heads-up with requests gives way to the first of them. */
export function beginAnswer(state: WatcherState, stage: Requesting): Transition {
  if (stage.at !== 'heads_up_injected' || stage.steps.length === 1) return stay(state);
  return enter(state, underWay(stage.number, stage.steps, stage.sequence));
}

/** The agent has answered. */
export function takeAnswer(
  state: WatcherState,
  stage: Requesting,
  text: string | undefined,
  policy: Policy,
): Transition {
  if (!asksForPacket(stage)) return requestNext(state, stage.sequence, policy);
  return text === undefined || text.trim() === ''
    ? remind(state, stage.sequence, [], policy)
    : assemble(state, stage.sequence, text, policy);
}

/** The agent has not answered and will not: Baton does the requested work without it. */
export function goWithoutAnswer(
  state: WatcherState,
  stage: Requesting,
  why: string,
  policy: Policy,
): Transition {
  if (asksForPacket(stage)) return writeInstead(state, stage.sequence, why, policy);
  return andThen(stay(state, warningLine(`${why}; continuing without an answer.`)), (next) =>
    requestNext(next, stage.sequence, policy),
  );
}

function asksForPacket(stage: Requesting): boolean {
  return (
    stage.at === 'awaiting_packet' ||
    (stage.at === 'heads_up_injected' && stage.steps.includes('packet_request'))
  );
}

function remind(
  state: WatcherState,
  sequence: Sequence,
  missing: readonly string[],
  policy: Policy,
): Transition {
  if (sequence.wasReminded) {
    return writeInstead(state, sequence, 'the agent gave no usable continuation packet', policy);
  }
  return request(state, { ...sequence, wasReminded: true }, { steps: ['packet_request'], missing }, policy);
}

/** Variant B as the fallback of variant A. */
function writeInstead(state: WatcherState, sequence: Sequence, why: string, policy: Policy): Transition {
  return andThen(stay(state, warningLine(`${why}; the watcher writes the packet.`)), (next) =>
    assemble(next, { ...sequence, author: 'watcher', isReplaced: true }, undefined, policy),
  );
}

function assemble(
  state: WatcherState,
  sequence: Sequence,
  agentText: string | undefined,
  policy: Policy,
): Transition {
  const [number, next] = takeNumber(state);
  const author = agentText === undefined ? 'watcher' : 'agent';
  return enter(
    next,
    { at: 'assembling_packet', number, sequence, author },
    {
      type: 'assemble_packet',
      number,
      sequenceId: sequence.id,
      author,
      ...(agentText === undefined ? {} : { agentText }),
      hasScratch: sequence.hasScratch,
      decision: sequence.decision,
    },
    armDeadline('packet', number, policy),
  );
}

/** The packet was assembled, or the agent's text was not a packet. */
export function takePacket(
  state: WatcherState,
  { sequence, author }: AssemblingPacket,
  { result, atMs }: PacketAssembled,
  policy: Policy,
): Transition {
  if (result.type === 'unusable') {
    if (result.isForUser === true && sequence.place === 'inside_turn')
      return giveWay(state, sequence, policy);
    return author === 'agent'
      ? remind(state, sequence, result.missing, policy)
      : fail(state, `no packet could be written (${result.why}); nothing was compacted.`, atMs);
  }
  const { packet, isFinished } = result;
  const { id: sequenceId, decision, place, isTurnBased, isReplaced } = sequence;
  const recorded = stay(
    state,
    ...(isTurnBased && !sequence.hasHeadsUp ? ([{ type: 'record_heads_up', sequenceId }] as const) : []),
    ...(packet.author === 'watcher' ? ([{ type: 'record_packet', sequenceId, packet }] as const) : []),
  );
  const handover: Handover = {
    sequenceId,
    packet,
    isFinished,
    isWrapped: isTurnBased,
    ...(isReplaced === undefined ? {} : { isReplaced }),
  };
  return andThen(recorded, (next) => compact(next, { strategy: 'full', decision, place, handover }, policy));
}

/**
 * The agent has answered the user instead. That ends its turn, and the sequence's decision counts at the end of the
 * turn: a cooldown would delay a compaction that the agent never declined.
 */
function giveWay(state: WatcherState, { decision }: Sequence, policy: Policy): Transition {
  const { turn, boundaries } = state.memory;
  if (turn?.isHeld !== true) return abandonQuietly(state);
  const reopened = reopenBoundaries(boundaries, decision.signals);
  const next = remember(abandonQuietly(state).state, {
    turn: { ...turn, isHeld: false, isBarred: true },
    boundaries: reopened,
  });
  return stay(next, ...infoLine('step', ': the agent has answered the user; its turn ends first', policy), {
    type: 'resume_turn',
    turnId: turn.turnId,
    isOver: true,
  });
}

function abandonQuietly(state: WatcherState): Transition {
  return enter(state, { at: 'idle' });
}

type CompactionTask = Pick<Compacting, 'strategy' | 'decision' | 'place' | 'handover'>;

/** Requests the compaction. */
export function compact(state: WatcherState, task: CompactionTask, policy: Policy): Transition {
  const { strategy, decision, place, handover } = task;
  const [number, next] = takeNumber(remember(state, { hasExplainedMode: true, lastShown: undefined }));
  const isNew = !state.memory.hasExplainedMode && policy.mode === 'auto';
  const order: Compact = {
    type: 'compact',
    number,
    strategy,
    place,
    trigger: {
      type: 'auto_watcher',
      tier: decision.tier,
      percentRemaining: decision.situation.percentRemaining,
      signals: decision.signals,
      ...(handover && { packetAuthor: handover.packet.author, sequenceId: handover.sequenceId }),
      decisionId: decision.id,
    },
    ...(handover && { packet: handover.packet }),
  };
  return enter(
    next,
    {
      ...task,
      at: 'compacting',
      number,
      sawContextCompacted: false,
      sawTurnComplete: strategy === 'micro' || place === 'inside_turn',
      abortNumber: undefined,
    },
    ...(isNew ? infoLine('decision', MODE_EXPLAINED, policy) : []),
    ...infoLine('decision', `: triggering ${strategy === 'micro' ? 'micro-' : ''}compaction`, policy),
    decisionStatus(decision),
    order,
    awaitCompaction(number, policy),
  );
}

/**
 * The deadline of a compaction covers its requests to models. The steps after them (a summary without a model, hooks,
 * the commit) have as long again; otherwise a compaction with silent models would be stopped instead of completed
 * without them.
 */
function awaitCompaction(number: number, policy: Policy): ArmDeadline {
  const deadline = armDeadline('compaction', number, policy);
  return { ...deadline, ms: deadline.capMs };
}

/** One of the two signs that a compaction is over has arrived; it ends when both have. */
export function takeSign(
  state: WatcherState,
  stage: Compacting,
  sign: 'sawContextCompacted' | 'sawTurnComplete',
  { atMs, policy }: { readonly atMs: number; readonly policy: Policy },
): Transition {
  const seen: Compacting = { ...stage, [sign]: true };
  // Too late to stop it: the packet is all that remains of the history, and returns without a turn.
  if (seen.abortNumber !== undefined && seen.sawContextCompacted) {
    return stopTask(state, seen, { atMs, mayStartTurn: false }, policy);
  }
  if (!seen.sawContextCompacted || !seen.sawTurnComplete) return enter(state, seen);
  return finishCompaction(state, seen, { atMs, mayStartTurn: true }, policy);
}

/** The history is compacted: returns what was carried over. */
export function finishCompaction(
  state: WatcherState,
  { decision, place, handover }: Pick<Compacting, 'decision' | 'place' | 'handover'>,
  { atMs, mayStartTurn }: { readonly atMs: number; readonly mayStartTurn: boolean },
  policy: Policy,
): Transition {
  const compacted = remember(state, { hasRequest: false, hasAction: false });
  if (handover === undefined) return end(compacted, atMs);
  const { turn, queue } = compacted.memory;
  const isUserNext = queue.some((message) => !isShellLine(message));
  const startsTurn =
    mayStartTurn && place === 'between_turns' && !handover.isFinished && turn === undefined && !isUserNext;
  const stage = { decision, place, handover, startsTurn, isDelivered: false, isRepeated: false };
  const line = startsTurn ? ': injecting post-compact handoff' : ': handoff stored for the next turn';
  return andThen(
    stay(compacted, ...infoLine('step', place === 'inside_turn' ? INSIDE_HANDOFF : line, policy)),
    (next) => handOff(next, stage, policy),
  );
}

/** The history is compacted, but the task that did it has not ended: stops waiting for it. */
export function stopTask(
  state: WatcherState,
  stage: Compacting,
  finish: { readonly atMs: number; readonly mayStartTurn: boolean },
  policy: Policy,
): Transition {
  const stopped = stay(state, { type: 'interrupt_turn', number: stage.number });
  return andThen(stopped, (next) => finishCompaction(next, stage, finish, policy));
}

const INSIDE_HANDOFF = ': injecting post-compact handoff';

function handOff(
  state: WatcherState,
  stage: Omit<PostCompactHandoffPending, 'at' | 'number'>,
  policy: Policy,
): Transition {
  const [number, next] = takeNumber(state);
  const { handover, startsTurn } = stage;
  return enter(
    next,
    { ...stage, at: 'post_compact_handoff_pending', number },
    { type: 'hand_off', number, handover, startsTurn },
    armDeadline('handoff', number, policy),
  );
}

/** The handoff is in the history. */
export function takeDelivery(
  state: WatcherState,
  stage: PostCompactHandoffPending,
  atMs: number,
): Transition {
  if (!stage.startsTurn) return end(state, atMs);
  return stage.isDelivered ? stay(state) : enter(state, { ...stage, isDelivered: true });
}

/** Leaves the handoff without a turn; requests it once more if it is not known to be in the history. */
export function storeHandoff(
  state: WatcherState,
  stage: PostCompactHandoffPending,
  atMs: number,
  policy: Policy,
): Transition {
  const stopped = stay(
    state,
    ...(stage.startsTurn ? ([{ type: 'interrupt_turn', number: stage.number }] as const) : []),
  );
  return andThen(stopped, (next) =>
    stage.isDelivered
      ? end(next, atMs)
      : handOff(next, { ...stage, startsTurn: false, isRepeated: true }, policy),
  );
}

/** Orders a compaction to stop and waits for its outcome: it may have finished first. */
export function abortCompaction(state: WatcherState, stage: Compacting, policy: Policy): Transition {
  const [abortNumber, next] = takeNumber(state);
  const ms = policy.deadlinesMs.handoff;
  return enter(
    next,
    { ...stage, abortNumber },
    { type: 'abort_compaction', number: stage.number },
    // Stopping takes no longer than any other exchange with the host, however long compactions may take.
    { type: 'arm_deadline', which: 'compaction', number: abortNumber, ms, capMs: 2 * ms },
  );
}

/** Returns to idle; the cooldown begins. */
export function end(state: WatcherState, atMs: number): Transition {
  return enter(remember(state, { rest: { turnsEnded: 0, sinceMs: atMs } }), { at: 'idle' });
}

/** Gives up a sequence and reports it. Mid-turn, it is not tried again in the same turn. */
export function abandon(state: WatcherState, says: readonly Show[], atMs: number): Transition {
  const { turn } = state.memory;
  const isInside = placeOf(state.stage) === 'inside_turn';
  const barred =
    isInside && turn !== undefined ? remember(state, { turn: { ...turn, isBarred: true } }) : state;
  return andThen(stay(barred, ...says), (next) => end(next, atMs));
}

/** Like `abandon`, after a failure. */
export function fail(state: WatcherState, why: string, atMs: number): Transition {
  return abandon(state, [warningLine(why)], atMs);
}

/** Like `abandon`, at the user's request. */
export function skip(state: WatcherState, why: string, atMs: number, policy: Policy): Transition {
  return abandon(state, infoLine('decision', `: skipping auto compact (${why}).`, policy), atMs);
}

/** A compaction ended without reporting a commit: the history is unchanged. */
export function failCompaction(state: WatcherState, why: string, atMs: number, policy: Policy): Transition {
  const { stage } = state;
  if (stage.at !== 'compacting') return stay(state);
  if (stage.sawContextCompacted) {
    return finishCompaction(state, stage, { atMs, mayStartTurn: false }, policy);
  }
  return stage.abortNumber === undefined
    ? fail(state, `nothing was compacted: ${why.replace(/\.$/, '')}.`, atMs)
    : skip(state, 'stopped; nothing was changed', atMs, policy);
}

/** The user, or a user's action, stops whatever runs. What is already compacted is still handed over. */
export function cancel(state: WatcherState, why: string, atMs: number, policy: Policy): Transition {
  const { stage } = state;
  switch (stage.at) {
    case 'idle':
      return stay(state);
    case 'compacting':
      if (stage.sawContextCompacted)
        return finishCompaction(state, stage, { atMs, mayStartTurn: false }, policy);
      return stage.abortNumber === undefined ? abortCompaction(state, stage, policy) : stay(state);
    case 'post_compact_handoff_pending':
      return stage.startsTurn ? storeHandoff(state, stage, atMs, policy) : stay(state);
    default: {
      const isTurn = isRequesting(stage) && stage.sequence.place === 'between_turns';
      const stopped = stay(
        state,
        ...(isTurn ? ([{ type: 'interrupt_turn', number: stage.number }] as const) : []),
      );
      return andThen(stopped, (next) => skip(next, why, atMs, policy));
    }
  }
}

/** A `!` line goes to the shell, never to a model. @source rawr-behaviour §8.5 */
export function isShellLine({ text }: UserMessage): boolean {
  return text.trimStart().startsWith('!');
}
