// Faults of a watcher, each of which an invariant has to catch. They wrap the real machine, so that nothing of them is in
// the product.

import { noteSignals } from '../../src/watcher/signals/boundaries.ts';
import type { Policy } from '../../src/watcher/policy.ts';
import type { Transition, WatcherEffect } from '../../src/watcher/effects.ts';
import type { WatcherEvent } from '../../src/watcher/events.ts';
import type { WatcherState } from '../../src/watcher/state.ts';
import { transition } from '../../src/watcher/transition.ts';
import type { Machine } from './explorer.ts';
import { judgedTiers, policyWith, turnEndTiers } from './watcher-policy.ts';
import type { Bounds } from './watcher-world.ts';

/** A planted fault, the invariants that may object to it, and a world in which it shows. */
export interface Fault {
  readonly name: string;
  readonly invariants: readonly number[];
  readonly bounds: Bounds;
  readonly machine: Machine;
}

const COMMIT = { percent: 60, boundary: 'commit' } as const;
const EMERGENCY = { percent: 10 } as const;

const between: Bounds = {
  policy: policyWith({ cooldownTurns: 0, midTurn: 'off' }),
  messages: ['fix it', 'and test it'],
  pressing: [COMMIT],
};
/** With nobody who says more: where the queue plays no part, the rest is seen sooner. */
const quiet: Bounds = { ...between, messages: ['fix it'] };
const inside: Bounds = {
  policy: policyWith({ cooldownTurns: 0 }),
  messages: ['fix it'],
  pressing: [COMMIT, { percent: 60 }],
};
const judged: Bounds = {
  ...between,
  policy: policyWith({ cooldownTurns: 0, midTurn: 'off', writesScratch: false, tiers: judgedTiers('asap') }),
};
const emergency: Bounds = { ...between, pressing: [EMERGENCY] };
const talkative: Bounds = { ...between, messages: ['fix it', 'and test it', 'and push'], pressing: [] };
const preflight: Bounds = {
  policy: policyWith({
    cooldownTurns: 0,
    midTurn: 'off',
    packetAuthor: 'watcher',
    defersToNextMessage: true,
    tiers: turnEndTiers(),
  }),
  messages: ['fix it', '!ls', 'go on'],
  pressing: [{ percent: 60, boundary: 'turn_complete' }],
};

type Change = (result: Transition, before: WatcherState, event: WatcherEvent) => Transition;

function changed(change: Change): Machine {
  return (state, event, policy) => change(transition(state, event, policy), state, event);
}

function mapEffects(
  result: Transition,
  map: (effect: WatcherEffect) => readonly WatcherEffect[],
): Transition {
  return { ...result, effects: result.effects.flatMap(map) };
}

function withMemory(result: Transition, memory: Partial<WatcherState['memory']>): Transition {
  const { state } = result;
  return { ...result, state: { ...state, memory: { ...state.memory, ...memory } } };
}

function idle(result: Transition): Transition {
  return { state: { ...result.state, stage: { at: 'idle' } }, effects: [] };
}

/** What the agent was asked for, one way or another wrong. */
function asking(change: (steps: readonly string[]) => readonly string[]): Machine {
  return changed((result) =>
    mapEffects(result, (effect) =>
      effect.type === 'inject'
        ? [{ ...effect, steps: change(effect.steps) as typeof effect.steps }]
        : [effect],
    ),
  );
}

function without(type: WatcherEffect['type']): Machine {
  return changed((result) => mapEffects(result, (effect) => (effect.type === type ? [] : [effect])));
}

/** The event is another one than it was. */
function hearing(change: (event: WatcherEvent, state: WatcherState) => WatcherEvent): Machine {
  return (state, event, policy: Policy) => transition(state, change(event, state), policy);
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'the heads-up is skipped',
    invariants: [1],
    bounds: between,
    machine: asking((steps) => steps.filter((step) => step !== 'heads_up')),
  },
  {
    name: 'the heads-up of an emergency is not recorded',
    invariants: [1],
    bounds: emergency,
    machine: without('record_heads_up'),
  },
  {
    name: 'the scratch request is skipped',
    invariants: [1],
    bounds: between,
    machine: asking((steps) => steps.filter((step) => step !== 'scratch')),
  },
  {
    name: 'the packet is asked for before the scratch notes',
    invariants: [1],
    bounds: between,
    machine: asking((steps) => steps.toReversed()),
  },
  {
    name: 'it is compacted before the packet exists',
    invariants: [1],
    bounds: between,
    machine: (state, event, policy) => {
      const result = transition(state, event, policy);
      const { stage } = result.state;
      if (event.type !== 'turn_complete' || stage.at !== 'assembling_packet') return result;
      const packet = { author: 'agent', text: '' } as const;
      return transition(
        result.state,
        {
          type: 'packet_assembled',
          number: stage.number,
          result: { type: 'packet', packet, isFinished: false },
          atMs: 0,
        },
        policy,
      );
    },
  },
  {
    name: 'a stale answer is taken',
    invariants: [2],
    bounds: quiet,
    machine: hearing((event, { stage }) =>
      'number' in event && event.type !== 'deadline_expired' && stage.at !== 'idle'
        ? { ...event, number: stage.number }
        : event,
    ),
  },
  {
    name: 'numbers are given out twice',
    invariants: [2],
    bounds: between,
    machine: changed((result, before) => withMemory(result, { nextNumber: before.memory.nextNumber })),
  },
  {
    name: 'a second compaction while one is in flight',
    invariants: [2, 8],
    bounds: between,
    machine: changed((result, before, event) => {
      const { stage, memory } = before;
      if (event.type !== 'interrupted' || stage.at !== 'compacting' || result.state === before) return result;
      const number = memory.nextNumber;
      const state: WatcherState = {
        stage: { ...stage, number },
        memory: { ...memory, nextNumber: number + 1 },
      };
      const trigger = {
        type: 'auto_watcher',
        tier: 'asap',
        percentRemaining: 60,
        signals: [],
        decisionId: '',
      } as const;
      return {
        state,
        effects: [
          { type: 'compact', number, strategy: 'full', place: 'between_turns', trigger },
          { type: 'arm_deadline', which: 'compaction', number, ms: 1, capMs: 2 },
        ],
      };
    }),
  },
  {
    name: 'a request goes on after its deadline',
    invariants: [2],
    bounds: between,
    machine: changed((result, _, event) =>
      event.type === 'deadline_expired'
        ? mapEffects(result, (effect) => (effect.type === 'interrupt_turn' ? [] : [effect]))
        : result,
    ),
  },
  {
    name: 'a request inside of a turn is waited for after its deadline',
    invariants: [2],
    bounds: inside,
    machine: changed((result, _, event) =>
      event.type === 'deadline_expired'
        ? mapEffects(result, (effect) => (effect.type === 'cut_turn' ? [] : [effect]))
        : result,
    ),
  },
  {
    name: 'the answers to injected messages reach boundaries',
    invariants: [3],
    bounds: between,
    machine: changed((result, before, event) =>
      event.type === 'turn_complete' && event.origin.type === 'watcher' && event.kind === 'regular'
        ? withMemory(result, { boundaries: noteSignals(before.memory.boundaries, event.signals) })
        : result,
    ),
  },
  {
    name: 'an injected turn is taken for a turn of the user',
    invariants: [2, 3],
    bounds: between,
    machine: hearing((event, state) => {
      if (event.type !== 'turn_complete' || event.origin.type !== 'watcher') return event;
      const delivering = state.memory.turn?.turnId ?? event.turnId;
      return { ...event, turnId: delivering, origin: { type: 'user', messageId: 'm2' } };
    }),
  },
  {
    name: 'a boundary is not used up',
    invariants: [4],
    bounds: inside,
    machine: changed((result, before) =>
      result.effects.some(({ type }) => type === 'record_decision') && before.memory.turn !== undefined
        ? withMemory(result, { boundaries: before.memory.boundaries })
        : result,
    ),
  },
  {
    name: 'the handoff is merged into the message of the user',
    invariants: [5],
    bounds: between,
    machine: changed((result) =>
      mapEffects(result, (effect) =>
        effect.type === 'deliver'
          ? [{ ...effect, message: { ...effect.message, text: `packet\n---\n${effect.message.text}` } }]
          : [effect],
      ),
    ),
  },
  {
    name: 'the newest message goes first',
    invariants: [5],
    bounds: talkative,
    machine: changed((result, _, event) =>
      event.type === 'user_submitted'
        ? withMemory(result, { queue: result.state.memory.queue.toReversed() })
        : result,
    ),
  },
  {
    name: 'a message is delivered into a sequence',
    invariants: [5],
    bounds: between,
    machine: changed((result, _, event) =>
      event.type === 'user_submitted' && result.state.stage.at !== 'idle'
        ? { ...result, effects: [{ type: 'deliver', message: event.message }] }
        : result,
    ),
  },
  {
    name: 'the handoff starts a turn although the user goes first',
    invariants: [5],
    bounds: between,
    machine: changed((result) =>
      mapEffects(result, (effect) =>
        effect.type === 'hand_off' && !effect.handover.isFinished
          ? [{ ...effect, startsTurn: true }]
          : [effect],
      ),
    ),
  },
  {
    name: 'the queue waits after a veto (rawr 13.2, 2)',
    invariants: [5],
    bounds: judged,
    machine: changed((result, before, event) =>
      event.type === 'judgment_result' && result.state.stage.at === 'idle'
        ? withMemory(
            mapEffects(result, (effect) => (effect.type === 'deliver' ? [] : [effect])),
            { queue: before.memory.queue, delivering: undefined },
          )
        : result,
    ),
  },
  {
    name: 'a shell line blocks the queue while a decision waits (rawr 13.2, 3)',
    invariants: [5],
    bounds: preflight,
    machine: changed((result, before, event) => {
      const head = result.effects.find((effect) => effect.type === 'deliver');
      return event.type === 'user_submitted' &&
        before.memory.preflight !== undefined &&
        head?.message.text === '!ls'
        ? withMemory({ ...result, effects: [] }, { queue: [head.message], delivering: undefined })
        : result;
    }),
  },
  {
    name: 'the queue is dropped when a sequence fails',
    invariants: [9],
    bounds: { ...inside, messages: ['fix it', 'and test it'] },
    machine: changed((result, _, event) =>
      event.type === 'compaction_failed' && result.effects.length > 0
        ? withMemory(result, { queue: [] })
        : result,
    ),
  },
  {
    name: 'no deadline for the packet',
    invariants: [6],
    bounds: between,
    machine: changed((result) =>
      mapEffects(result, (effect) =>
        effect.type === 'arm_deadline' && effect.which === 'packet' ? [] : [effect],
      ),
    ),
  },
  {
    name: 'the deadline of a compaction is ignored',
    invariants: [6],
    bounds: between,
    machine: (state, event, policy) =>
      event.type === 'deadline_expired' && state.stage.at === 'compacting'
        ? { state, effects: [] }
        : transition(state, event, policy),
  },
  {
    name: 'the agent is reminded without end (rawr 13.2, 13)',
    invariants: [6],
    bounds: between,
    machine: (state, event, policy) => {
      const isExpired = event.type === 'deadline_expired' && state.stage.at === 'awaiting_packet';
      if (!isExpired || state.stage.at !== 'awaiting_packet') return transition(state, event, policy);
      const number = state.memory.nextNumber;
      return {
        state: { stage: { ...state.stage, number }, memory: { ...state.memory, nextNumber: number + 1 } },
        effects: [{ type: 'arm_deadline', which: 'packet', number, ms: 1, capMs: 2 }],
      };
    },
  },
  {
    name: 'a held loop is forgotten',
    invariants: [6],
    bounds: inside,
    machine: without('resume_turn'),
  },
  {
    name: 'the handoff comes twice',
    invariants: [7],
    bounds: quiet,
    machine: changed((result, before, event) =>
      event.type === 'handoff_delivered' && before.stage.at === 'post_compact_handoff_pending'
        ? {
            ...result,
            effects: [
              {
                type: 'hand_off',
                number: before.stage.number,
                handover: before.stage.handover,
                startsTurn: false,
              },
              ...result.effects,
            ],
          }
        : result,
    ),
  },
  {
    name: 'a failed compaction is handed off',
    invariants: [7],
    bounds: inside,
    machine: hearing((event, { stage }) =>
      event.type === 'compaction_failed' && stage.at === 'compacting' && stage.sawTurnComplete
        ? { type: 'context_compacted', number: event.number, strategy: 'full', atMs: 0 }
        : event,
    ),
  },
  {
    name: 'Esc after the commit loses the handoff',
    invariants: [7],
    bounds: quiet,
    machine: changed((result, before, event) =>
      event.type === 'interrupted' && before.stage.at === 'compacting' && before.stage.sawContextCompacted
        ? idle(result)
        : result,
    ),
  },
  {
    name: 'the arbiter is not listened to',
    invariants: [8],
    bounds: between,
    machine: hearing((event) =>
      event.type === 'compaction_planned' ? { ...event, plan: { type: 'full', why: 'anyway' } } : event,
    ),
  },
  {
    name: 'a crash loses the message that was being delivered',
    invariants: [9],
    bounds: between,
    machine: (state, event, policy) =>
      event.type === 'resumed'
        ? transition({ ...state, memory: { ...state.memory, delivering: undefined } }, event, policy)
        : transition(state, event, policy),
  },
  {
    name: 'a crash delivers a message again',
    invariants: [5],
    bounds: between,
    machine: hearing((event) =>
      event.type === 'resumed' ? { ...event, logged: { ...event.logged, messages: [] } } : event,
    ),
  },
  {
    name: 'a crash repeats the handoff',
    invariants: [7, 9],
    bounds: quiet,
    machine: hearing((event) =>
      event.type === 'resumed' ? { ...event, logged: { ...event.logged, handoffs: [] } } : event,
    ),
  },
  {
    name: 'a crash forgets that the compaction was committed',
    invariants: [7, 9],
    bounds: quiet,
    machine: hearing((event) =>
      event.type === 'resumed' ? { ...event, logged: { ...event.logged, compactions: [] } } : event,
    ),
  },
  {
    name: 'something besides the state decides',
    invariants: [10],
    bounds: between,
    machine: hidden(),
  },
];

function hidden(): Machine {
  let calls = 0;
  return (state, event, policy) => {
    calls += 1;
    const result = transition(state, event, policy);
    return withMemory(result, { turnNumber: result.state.memory.turnNumber + (calls % 7 === 0 ? 1 : 0) });
  };
}
