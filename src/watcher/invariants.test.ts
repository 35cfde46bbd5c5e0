// Every reachable world of the golden path, under policies that between them take every way: the ten invariants hold in
// all of them, all of the machine is seen, and each planted fault is caught. docs/invariants.md says what the ten are.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { explore, wander } from '../../test/support/explorer.ts';
import type { Coverage, Exploration } from '../../test/support/explorer.ts';
import { FAULTS } from '../../test/support/watcher-faults.ts';
import { judgedTiers, policyWith, turnEndTiers } from '../../test/support/watcher-policy.ts';
import type { Bounds, Pressing } from '../../test/support/watcher-world.ts';
import type { Policy } from './policy.ts';
import { STAGES } from './state.ts';
import type { WatcherEvent } from './events.ts';
import { transition } from './transition.ts';

const COMMIT: Pressing = { percent: 60, boundary: 'commit' };
const PRESSED: Pressing = { percent: 60 };
const EMERGENCY: Pressing = { percent: 10 };
const TURN_END: Pressing = { percent: 60, boundary: 'turn_complete' };

const ONE = ['fix it'];
const TWO = ['fix it', 'and test it'];

/** Without a cooldown, so that nothing but the rules under test stands between one sequence and the next. */
function eager(change: Partial<Policy>): Policy {
  return policyWith({ cooldownTurns: 0, ...change });
}

const WORLDS: Readonly<Record<string, Bounds>> = {
  'variant A, combined': { policy: eager({ midTurn: 'off' }), messages: TWO, pressing: [COMMIT] },
  'variant A, one by one': {
    policy: eager({ midTurn: 'off', combinesRequests: false }),
    messages: ONE,
    pressing: [PRESSED, COMMIT],
  },
  'variant A, then an emergency': {
    policy: eager({ midTurn: 'off' }),
    messages: ONE,
    pressing: [COMMIT, EMERGENCY],
  },
  'variant A without scratch, with a judge': {
    policy: eager({ midTurn: 'off', writesScratch: false, tiers: judgedTiers('asap') }),
    messages: ONE,
    pressing: [COMMIT],
  },
  'variant B': {
    policy: eager({ midTurn: 'off', packetAuthor: 'watcher' }),
    messages: ONE,
    pressing: [PRESSED, COMMIT],
  },
  'variant B, preflight, a shell line': {
    policy: eager({
      midTurn: 'off',
      packetAuthor: 'watcher',
      defersToNextMessage: true,
      tiers: turnEndTiers(),
    }),
    messages: ['fix it', '!ls', 'go on'],
    pressing: [TURN_END],
  },
  'no heads-up': { policy: eager({ midTurn: 'off', isTurnBased: false }), messages: ONE, pressing: [COMMIT] },
  'golden inside of a turn': { policy: eager({}), messages: ONE, pressing: [COMMIT] },
  'golden inside of a turn, one by one': {
    policy: eager({ combinesRequests: false }),
    messages: ONE,
    pressing: [COMMIT],
  },
  'tiered inside of a turn, mode suggest': {
    policy: eager({ midTurn: 'tiered', mode: 'suggest' }),
    messages: ONE,
    pressing: [COMMIT],
  },
  'the safety net inside of a turn': {
    policy: eager({ midTurn: 'emergency_only' }),
    messages: ONE,
    pressing: [EMERGENCY],
  },
  'mode tag': { policy: policyWith({ mode: 'tag' }), messages: ONE, pressing: [COMMIT, EMERGENCY] },
  'a subagent': {
    policy: eager({}),
    isSubagent: true,
    messages: ONE,
    pressing: [COMMIT, EMERGENCY],
  },
  'two boundaries and a cooldown': {
    policy: policyWith({ midTurn: 'off' }),
    messages: ONE,
    pressing: [COMMIT, COMMIT],
  },
  'meddling between turns': {
    policy: eager({ midTurn: 'off', packetAuthor: 'watcher', writesScratch: false }),
    isMeddling: true,
    messages: ONE,
    pressing: [COMMIT],
  },
  'meddling inside of a turn': {
    policy: eager({}),
    isMeddling: true,
    messages: [],
    pressing: [COMMIT],
  },
};

const explored = new Map<string, Exploration>();

for (const [name, bounds] of Object.entries(WORLDS)) {
  test(`the invariants hold: ${name}`, (context) => {
    const found = explore(transition, bounds);
    explored.set(name, found);
    context.diagnostic(`${found.states} states, ${found.edges} edges`);
    const { counterexample } = found;
    assert.equal(
      counterexample,
      undefined,
      counterexample &&
        `invariant ${counterexample.invariant}: ${counterexample.why}\n${counterexample.path}`,
    );
    assert.equal(found.isCut, false, 'there are more worlds than were looked at');
  });
}

/** More of everything than can be seen whole. */
const WIDE: Readonly<Record<string, Bounds>> = Object.fromEntries(
  Object.entries(WORLDS).map(([name, bounds]) => [
    name,
    {
      ...bounds,
      isMeddling: true,
      messages: ['one', '!two', 'three', 'four', '!five'],
      pressing: [COMMIT, PRESSED, EMERGENCY, TURN_END, COMMIT, EMERGENCY, TURN_END, COMMIT],
    },
  ]),
);

test('the invariants hold on long ways through wider worlds', () => {
  for (const [name, bounds] of Object.entries(WIDE)) {
    for (let seed = 1; seed <= 30; seed += 1) {
      assert.equal(wander(transition, bounds, { seed, steps: 250 }), undefined, `${name}, seed ${seed}`);
    }
  }
});

function coverageOf(key: 'pairs' | 'effects' | 'steps'): Set<string> {
  return new Set([...explored.values()].flatMap(({ coverage }) => [...coverage[key]]));
}

test('every stage, effect and step of the machine was seen', (context) => {
  const states = [...explored.values()].reduce((sum, each) => sum + each.states, 0);
  const edges = [...explored.values()].reduce((sum, each) => sum + each.edges, 0);
  context.diagnostic(`${states} states, ${edges} edges in ${explored.size} worlds`);
  assert.deepEqual([...coverageOf('effects')].toSorted(), [...ALL_EFFECTS].toSorted());
  assert.deepEqual([...coverageOf('steps')].filter(leavesStage).toSorted(), drawnSteps().toSorted());
});

const ALL_EFFECTS = [
  'record_decision',
  'plan_compaction',
  'ask_judgment',
  'inject',
  'record_heads_up',
  'record_packet',
  'assemble_packet',
  'compact',
  'abort_compaction',
  'interrupt_turn',
  'cut_turn',
  'hand_off',
  'deliver',
  'resume_turn',
  'show',
  'arm_deadline',
];

/** The machine's arrows, as the picture has them. */
function drawnSteps(): string[] {
  const page = readFileSync(new URL('../../docs/watcher.md', import.meta.url), 'utf8');
  return [...page.matchAll(/^ {2}(\w+) --> (\w+):/gm)].map(([, from, to]) => `${from} -> ${to}`);
}

function leavesStage(step: string): boolean {
  const [from, to] = step.split(' -> ');
  return from !== to;
}

test('every stage takes every event; what belongs to no request of its own changes nothing', () => {
  const samples: Coverage['samples'] = new Map(
    [...explored.values()].flatMap(({ coverage }) => [...coverage.samples]),
  );
  assert.deepEqual([...samples.keys()].toSorted(), [...STAGES].toSorted());
  for (const [stage, state] of samples) {
    for (const event of FOREIGN_EVENTS) {
      const { state: next, effects } = transition(state, event, policyWith());
      assert.equal(next, state, `${event.type} changes ${stage}`);
      assert.deepEqual(
        effects.filter(({ type }) => type !== 'resume_turn'),
        [],
        `${event.type} in ${stage}`,
      );
    }
    for (const event of EVENTS_FOR_ALL) {
      assert.ok(transition(state, event, policyWith()).state, `${event.type} in ${stage}`);
    }
  }
});

const atMs = 0;
const number = 9_999;
const turnId = 'a turn of nobody';
const moment = {
  turnId,
  situation: { used: 90_000, window: 100_000, percentRemaining: 10, projected: 1_000 },
  signals: [],
  lastAgentMessage: undefined,
  busyWith: [],
  hadAction: true,
  atMs,
} as const;
const origin = { type: 'watcher', number } as const;
const FOREIGN_EVENTS: readonly WatcherEvent[] = [
  { type: 'turn_started', turnId, kind: 'regular', origin, atMs },
  { type: 'turn_complete', kind: 'regular', origin, ...moment },
  { type: 'turn_complete', kind: 'regular', origin: { type: 'user', messageId: 'unknown' }, ...moment },
  { type: 'turn_aborted', turnId, kind: 'regular', origin, reason: 'failed', atMs },
  { type: 'sampling_complete', isFollowUpOwed: true, batchFrom: undefined, ...moment },
  { type: 'delivery_failed', messageId: 'unknown', why: 'no reason', atMs },
  { type: 'compaction_planned', number, plan: { type: 'full', why: 'late' }, atMs },
  { type: 'judgment_result', number, judgment: { type: 'failure', why: 'late' }, atMs },
  {
    type: 'packet_assembled',
    number,
    result: { type: 'unusable', missing: [], why: 'late' },
    atMs,
  },
  { type: 'context_compacted', number, strategy: 'full', atMs },
  { type: 'compaction_failed', number, why: 'late', atMs },
  { type: 'handoff_delivered', number, atMs },
  { type: 'deadline_expired', which: 'packet', number, atMs },
];
const EVENTS_FOR_ALL: readonly WatcherEvent[] = [
  { type: 'user_submitted', message: { id: 'another', text: 'and this' }, atMs },
  { type: 'phase_completed', ...moment },
  { type: 'context_compacted', strategy: 'micro', atMs },
  { type: 'context_compacted', strategy: 'full', atMs },
  { type: 'interrupted', atMs },
  { type: 'review_mode_changed', isOn: true, atMs },
  { type: 'settings_changed', atMs },
  { type: 'shutdown', atMs },
  { type: 'resumed', logged: { messages: [], handoffs: [], compactions: [] }, atMs },
];

test('deadlines alone lead home in a few steps', () => {
  const patience = Math.max(...[...explored.values()].map((each) => each.patience));
  // Heads-up, scratch, packet, assembly is the longest way that is not compacted; one more has its abort and handoff.
  assert.equal(patience, 4);
});

test('each invariant has a fault that it catches', () => {
  const caught = new Set(FAULTS.flatMap(({ invariants }) => invariants));
  assert.deepEqual(
    [...caught].toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

for (const { name, invariants, bounds, machine } of FAULTS) {
  test(`a planted fault is caught: ${name}`, (context) => {
    const { counterexample, states } = explore(machine, bounds);
    assert.ok(counterexample, `nothing objects in ${states} states`);
    context.diagnostic(`invariant ${counterexample.invariant}: ${counterexample.why}; ${states} states`);
    assert.ok(
      invariants.includes(counterexample.invariant),
      `invariant ${counterexample.invariant} objects: ${counterexample.why}\n${counterexample.path}`,
    );
  });
}
