import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { anyPolicy } from '../../test/support/any-policy.ts';
import { SPEC_POLICY, withTier } from '../../test/support/policy.ts';
import { anySignal, signal, signals } from '../../test/support/signals.ts';
import { BOUNDARIES, DECISION_POINTS, TIERS, VERDICT_REASONS } from '../vocabulary.ts';
import type { DecisionPoint } from '../vocabulary.ts';
import type { ActiveWork, Situation } from '../protocol/decision.ts';
import { percentRemaining } from '../tokens/pressure.ts';
import { NO_BOUNDARIES, noteSignals, settleBoundaries, startTurn } from './signals/boundaries.ts';
import {
  applyJudgment,
  applyPlan,
  buildDecisionRecord,
  calmTokens,
  evaluate,
  judgmentPromptPath,
} from './decide.ts';
import type { Decision, Evaluation } from './decide.ts';
import type { Policy } from './policy.ts';

const SEED = { seed: 20_261_121, numRuns: 500 };
const WINDOW = 100_000;
/** More than 200 characters, none of them ASCII. */
const LONG_MESSAGE = '完了しました。次に進みます🎉'.repeat(20);

function at(percent: number, projected = 5000): Situation {
  return { used: WINDOW - (percent * WINDOW) / 100, window: WINDOW, percentRemaining: percent, projected };
}

const CALM: Omit<Evaluation, 'point' | 'situation' | 'open'> = {
  turn: 3,
  batchFrom: undefined,
  busyWith: [],
  rest: undefined,
  lastAgentMessage: LONG_MESSAGE,
  hasRequest: true,
  hasAction: true,
};

/** `turn_end 60: commit plan_update`: where, percent left, what is open. */
function moment(notation: string, changes: Partial<Evaluation> = {}): Evaluation {
  const [, point = '', percent, names = ''] = /^(\w+) (\d+):(.*)$/.exec(notation) ?? [];
  const known = DECISION_POINTS.find((each) => each === point);
  if (known === undefined) throw new TypeError(`No moment: ${notation}`);
  return {
    ...CALM,
    point: known,
    situation: at(Number(percent)),
    open: signals(names).map((each) => ({ signal: each })),
    ...changes,
  };
}

/** `asap yes boundary: commit`: tier, answer, reason, what counted. */
function told({ tier, shouldCompact, reason, signals: counted }: Decision): string {
  const names = [...new Set(counted.map(({ boundary }) => boundary))].join(' ');
  return `${tier ?? '-'} ${shouldCompact ? 'yes' : 'no'} ${reason}${names === '' ? '' : `: ${names}`}`;
}

type Row = readonly [
  moment: string,
  expected: string,
  changes?: Partial<Evaluation>,
  policy?: Partial<Policy>,
];

function check(title: string, rows: readonly Row[]): void {
  for (const [notation, expected, changes = {}, policy = {}] of rows) {
    const extra = Object.keys({ ...changes, ...policy });
    test(`${title}: ${notation}${extra.length === 0 ? '' : ` (${extra.join(', ')})`} is ${expected}`, () => {
      assert.equal(told(evaluate(moment(notation, changes), { ...SPEC_POLICY, ...policy })), expected);
    });
  }
}

check('tiers hold strictly below their threshold, the most urgent first', [
  ['turn_end 100: commit', '- no above_threshold'],
  ['turn_end 85: topic_shift', '- no above_threshold'],
  ['turn_end 84: topic_shift', 'early yes boundary: topic_shift'],
  ['turn_end 75: topic_shift', 'early yes boundary: topic_shift'],
  ['turn_end 74: topic_shift', 'ready yes boundary: topic_shift'],
  ['turn_end 65: topic_shift', 'ready yes boundary: topic_shift'],
  ['turn_end 64: topic_shift', 'asap yes boundary: topic_shift'],
  ['turn_end 15: topic_shift', 'asap yes boundary: topic_shift'],
  ['turn_end 14: topic_shift', 'emergency yes emergency: topic_shift'],
  ['turn_end 0:', 'emergency yes emergency'],
]);

check('the sets of the tiers', [
  ['turn_end 80: commit', 'early no no_boundary'],
  ['turn_end 80: pr_checkpoint', 'early yes boundary: pr_checkpoint'],
  ['turn_end 80: plan_checkpoint', 'early yes boundary: plan_checkpoint'],
  ['turn_end 80: phase_completed', 'early yes boundary: phase_completed'],
  ['turn_end 80: agent_done concluding_thought turn_complete', 'early no no_boundary'],
  ['turn_end 70: commit', 'ready yes boundary: commit'],
  ['turn_end 70: phase_completed', 'ready yes boundary: phase_completed'],
  ['turn_end 70: agent_done', 'ready no no_boundary'],
  ['turn_end 60: agent_done', 'asap yes boundary: agent_done'],
  ['turn_end 60: concluding_thought', 'asap yes boundary: concluding_thought'],
  ['turn_end 60: phase_completed', 'asap yes boundary: phase_completed'],
  ['turn_end 60: turn_complete', 'asap no no_boundary'],
  ['turn_end 60:', 'asap no no_boundary'],
]);

check('the end of a turn suffices below 40 %', [
  ['turn_end 40: turn_complete', 'asap no no_boundary'],
  ['turn_end 39: turn_complete', 'asap yes boundary: turn_complete'],
  ['preflight 39: turn_complete', 'asap yes boundary: turn_complete'],
  ['mid_turn 39: turn_complete', 'asap no no_boundary'],
  ['turn_end 39:', 'asap no no_boundary'],
  ['turn_end 39: turn_complete', 'asap no no_boundary', {}, { turnCompleteSufficesBelow: 0 }],
  ['turn_end 39: turn_complete', 'asap no no_boundary', {}, withTier('asap', { required: [] })],
]);

const listed = withTier('ready', { required: ['turn_complete', 'plan_update'] });
check('turn_complete counts when it is listed', [
  ['turn_end 70: turn_complete', 'ready yes boundary: turn_complete', {}, listed],
  ['mid_turn 70: turn_complete', 'ready no no_boundary', {}, listed],
  ['mid_turn 70: turn_complete', 'ready no no_boundary', {}, { ...listed, midTurn: 'tiered' }],
  // rawr §3.4 turns this one down: there a change of the plan spoils the end of the turn beside it.
  ['turn_end 70: turn_complete plan_update', 'ready yes boundary: turn_complete plan_update', {}, listed],
]);

check('a change of the plan needs a semantic break in early and ready (rawr §3.4)', [
  ['turn_end 80: plan_update', 'early no needs_semantic_break: plan_update'],
  ['turn_end 80: plan_update turn_complete', 'early no needs_semantic_break: plan_update'],
  ['turn_end 70: plan_update turn_complete', 'ready no needs_semantic_break: plan_update'],
  ['turn_end 80: plan_update agent_done', 'early yes boundary: plan_update'],
  ['turn_end 80: plan_update concluding_thought', 'early yes boundary: plan_update'],
  ['turn_end 80: plan_update topic_shift', 'early yes boundary: plan_update topic_shift'],
  ['turn_end 80: plan_update commit', 'early yes boundary: plan_update'],
  ['turn_end 80: plan_update pr_checkpoint', 'early yes boundary: plan_update pr_checkpoint'],
  ['turn_end 80: plan_update plan_checkpoint', 'early yes boundary: plan_update plan_checkpoint'],
  ['turn_end 80: plan_update phase_completed', 'early yes boundary: plan_update phase_completed'],
  // A completed step is a break by itself (seed 004: strong); rawr asked for one more.
  ['turn_end 80: plan_checkpoint', 'early yes boundary: plan_checkpoint'],
  [
    'turn_end 80: plan_update turn_complete',
    'early yes boundary: plan_update',
    {},
    withTier('early', { plansNeedSemanticBreak: false }),
  ],
  [
    'turn_end 60: plan_update',
    'asap no needs_semantic_break: plan_update',
    {},
    withTier('asap', { plansNeedSemanticBreak: true }),
  ],
]);

check('rawr §3.4, test expectations with a policy list', [
  ['turn_end 80: commit', 'early no no_boundary', {}, withTier('early', { required: ['plan_update'] })],
  [
    'turn_end 85: commit',
    'early yes boundary: commit',
    {},
    withTier('early', { percentRemainingBelow: 90, required: ['commit'] }),
  ],
  ['turn_end 60: commit', 'asap no no_boundary', {}, withTier('asap', { required: [] })],
  ['turn_end 10: commit', 'emergency yes emergency: commit', {}, withTier('asap', { required: [] })],
]);

check('the floor: what a compaction would leave is half of what is used', [
  ['turn_end 60: commit', 'asap no floor: commit', { situation: at(60, 20_001) }],
  ['turn_end 60: commit', 'asap yes boundary: commit', { situation: at(60, 20_000) }],
  // An emergency is held back only where next to nothing would be freed.
  ['turn_end 10:', 'emergency yes emergency', { situation: at(10, 80_000) }],
  ['turn_end 10:', 'emergency no floor', { situation: at(10, 82_000) }],
]);

check('an emergency bypasses all else', [
  ['turn_end 14:', 'emergency yes emergency', { busyWith: ['tool', 'queued_input'] }],
  ['turn_end 14:', 'emergency yes emergency', { rest: { turnsEnded: 0, elapsedMs: 0 } }],
  ['mid_turn 14:', 'emergency yes emergency', { hasRequest: false, lastAgentMessage: undefined }],
]);

const rest = (turnsEnded: number, elapsedMs: number | undefined) => ({ rest: { turnsEnded, elapsedMs } });
check('cooldown: two turns or 120 seconds', [
  ['turn_end 60: commit', 'asap no cooldown: commit', rest(1, 119_999)],
  ['turn_end 60: commit', 'asap yes boundary: commit', rest(2, 0)],
  ['turn_end 60: commit', 'asap yes boundary: commit', rest(0, 120_000)],
  ['turn_end 60: commit', 'asap no cooldown: commit', rest(1, undefined)],
  ['turn_end 60: commit', 'asap yes boundary: commit', rest(0, 0), { cooldownTurns: 0 }],
  ['mid_turn 60: commit', 'asap no cooldown: commit', rest(0, 5000)],
]);

const WORK: readonly ActiveWork[] = ['tool', 'queued_input'];
check(
  'active work says "not yet"',
  WORK.flatMap((work) =>
    DECISION_POINTS.map((point): Row => [
      `${point} 60: commit`,
      'asap no active_work: commit',
      { busyWith: [work] },
    ]),
  ),
);

check('a change of the plan alone is weak; the end of the turn is strong beside it (seed 004)', [
  ['mid_turn 60: plan_update', 'asap no weak_boundary: plan_update', {}, { midTurn: 'tiered' }],
  ['turn_end 60: plan_update', 'asap no weak_boundary: plan_update'],
  ['turn_end 60: plan_update turn_complete', 'asap yes boundary: plan_update'],
  ['mid_turn 60: plan_update commit', 'asap yes boundary: plan_update commit', {}, { midTurn: 'tiered' }],
]);

const unworthy = { hasAction: false, lastAgentMessage: 'x'.repeat(199) };
check('packet-worthiness: 200 characters, or a request and an action', [
  ['turn_end 60: commit', 'asap no not_packet_worthy: commit', unworthy],
  ['turn_end 60: commit', 'asap yes boundary: commit', { ...unworthy, lastAgentMessage: 'x'.repeat(200) }],
  ['turn_end 60: commit', 'asap yes boundary: commit', { ...unworthy, hasAction: true }],
  ['turn_end 60: commit', 'asap no not_packet_worthy: commit', { ...unworthy, hasRequest: false }],
  [
    'turn_end 60: commit',
    'asap no not_packet_worthy: commit',
    { hasRequest: false, lastAgentMessage: undefined },
  ],
  // Characters, not units: 199 emoji are 398 units.
  [
    'turn_end 60: commit',
    'asap no not_packet_worthy: commit',
    { ...unworthy, lastAgentMessage: '🎉'.repeat(199) },
  ],
  ['turn_end 60: commit', 'asap yes boundary: commit', { ...unworthy, lastAgentMessage: '🎉'.repeat(200) }],
  [
    'turn_end 60: commit',
    'asap no not_packet_worthy: commit',
    { ...unworthy, lastAgentMessage: `${' '.repeat(300)}${'я'.repeat(199)}\n` },
  ],
]);

check('mid-turn, golden: a structured boundary of the batch, in ready and asap', [
  ['mid_turn 80: pr_checkpoint plan_checkpoint phase_completed', 'early no no_boundary'],
  ['mid_turn 70: commit', 'ready yes boundary: commit'],
  ['mid_turn 70: pr_checkpoint', 'ready yes boundary: pr_checkpoint'],
  ['mid_turn 70: plan_checkpoint', 'ready yes boundary: plan_checkpoint'],
  ['mid_turn 70: phase_completed', 'ready yes boundary: phase_completed'],
  ['mid_turn 70: plan_update topic_shift', 'ready no no_boundary'],
  ['mid_turn 60: agent_done concluding_thought topic_shift plan_update', 'asap no no_boundary'],
  ['mid_turn 60: commit', 'asap no no_boundary', {}, withTier('asap', { required: ['pr_checkpoint'] })],
  ['mid_turn 60: commit@4', 'asap no no_boundary', { batchFrom: 5 }],
  ['mid_turn 60: commit@5', 'asap yes boundary: commit', { batchFrom: 5 }],
]);

check('mid-turn, tiered: the boundaries of the turn so far', [
  ['mid_turn 80: topic_shift@1', 'early yes boundary: topic_shift', { batchFrom: 5 }, { midTurn: 'tiered' }],
  ['mid_turn 60: agent_done@1', 'asap yes boundary: agent_done', { batchFrom: 5 }, { midTurn: 'tiered' }],
]);

check('mid-turn, emergency_only and off', [
  ['mid_turn 60: commit', 'asap no off: commit', {}, { midTurn: 'emergency_only' }],
  ['mid_turn 14: commit', 'emergency yes emergency: commit', {}, { midTurn: 'emergency_only' }],
  ['mid_turn 14: commit', 'emergency no off: commit', {}, { midTurn: 'off' }],
  ['turn_end 60: commit', 'asap yes boundary: commit', {}, { midTurn: 'off' }],
  ['turn_end 14: commit', 'emergency no off: commit', {}, { isEnabled: false }],
]);

test('inside of a turn a boundary that was carried over from an earlier one does not count', () => {
  const deferred = settleBoundaries(noteSignals(NO_BOUNDARIES, signals('commit')), {
    reason: 'cooldown',
    signals: signals('commit'),
    openIds: [],
  });
  const now = { open: deferred.open };
  assert.equal(told(evaluate(moment('mid_turn 60:', now), SPEC_POLICY)), 'asap yes boundary: commit');
  const later = { open: startTurn(deferred).open };
  assert.equal(told(evaluate(moment('mid_turn 60:', later), SPEC_POLICY)), 'asap no no_boundary');
  assert.equal(told(evaluate(moment('turn_end 60:', later), SPEC_POLICY)), 'asap yes boundary: commit');
});

test('an unknown window triggers nothing by percent, whatever is used (rawr §13.2.12)', () => {
  const situation = { used: 900_000, window: undefined, percentRemaining: undefined, projected: 5000 };
  const blind = moment('turn_end 10: commit turn_complete', { situation });
  assert.equal(told(evaluate(blind, SPEC_POLICY)), '- no above_threshold');
  const counting = withTier('asap', { usedTokensFrom: 900_000 });
  assert.equal(told(evaluate(blind, counting)), 'asap yes boundary: commit');
  assert.equal(told(evaluate(blind, withTier('asap', { usedTokensFrom: 900_001 }))), '- no above_threshold');
});

test('a tier holds by its size too, and the more urgent one wins', () => {
  const policy = withTier('emergency', { usedTokensFrom: 20_000 });
  assert.equal(told(evaluate(moment('turn_end 80:'), policy)), 'emergency yes emergency');
  assert.equal(told(evaluate(moment('turn_end 81:'), policy)), 'early no no_boundary');
});

test('boundaries are necessary mid-turn also where a judge is configured (rawr §13.2.14)', () => {
  const policy = withTier('asap', { decisionPromptPath: 'judgment.md' });
  const decision = evaluate(moment('mid_turn 60: agent_done'), policy);
  assert.equal(decision.reason, 'no_boundary');
  assert.equal(judgmentPromptPath(decision, policy), undefined);
  const approval = { type: 'answer', shouldCompact: true, reason: 'yes' } as const;
  assert.equal(applyJudgment(decision, approval), decision);
});

test('who is asked: the tier of a boundary, never in an emergency (rawr §6.1)', () => {
  const policy: Policy = {
    ...SPEC_POLICY,
    tiers: {
      ...SPEC_POLICY.tiers,
      asap: { ...SPEC_POLICY.tiers.asap, decisionPromptPath: 'judgment.md' },
      emergency: { ...SPEC_POLICY.tiers.emergency, decisionPromptPath: 'judgment.md' },
    },
  };
  const path = (notation: string) => judgmentPromptPath(evaluate(moment(notation), policy), policy);
  assert.equal(path('turn_end 60: commit'), 'judgment.md');
  assert.equal(path('turn_end 70: commit'), undefined);
  assert.equal(path('turn_end 10: commit'), undefined);
});

test('a judge vetoes a boundary and no emergency; a failure changes nothing (rawr §6.5)', () => {
  const yes = evaluate(moment('turn_end 60: commit'), SPEC_POLICY);
  const veto = { type: 'answer', shouldCompact: false, reason: 'mitten in\n der Arbeit' } as const;
  const vetoed = applyJudgment(yes, veto);
  assert.equal(told(vetoed), 'asap no judgment: commit');
  assert.equal(vetoed.why, 'The judge vetoed: mitten in der Arbeit');
  assert.equal(applyJudgment(yes, { type: 'failure', why: 'no JSON' }), yes);
  assert.equal(applyJudgment(yes, { type: 'answer', shouldCompact: true, reason: '' }), yes);
  const emergency = evaluate(moment('turn_end 10:'), SPEC_POLICY);
  assert.equal(applyJudgment(emergency, veto), emergency);
});

test('the plan of the arbiter turns a yes into a no, and nothing else', () => {
  const yes = evaluate(moment('turn_end 60: commit'), SPEC_POLICY);
  const refused = (
    [
      'rearm',
      'breaker_open',
      'lease_taken',
      'disabled',
      'auto_disabled',
      'micro_disabled',
      'not_needed',
    ] as const
  ).map((reason) => told(applyPlan(yes, { type: 'none', reason, why: 'because' })));
  assert.deepEqual(refused, [
    'asap no cooldown: commit',
    'asap no breaker_open: commit',
    'asap no active_work: commit',
    'asap no off: commit',
    'asap no off: commit',
    'asap no off: commit',
    'asap no floor: commit',
  ]);
  const resting = applyPlan(yes, { type: 'none', reason: 'rearm', why: 'usage has not grown' });
  assert.equal(resting.why, 'The arbiter refused: usage has not grown.');
  assert.equal(told(applyPlan(yes, { type: 'newest_turns', why: '' })), 'asap no breaker_open: commit');
  assert.equal(applyPlan(yes, { type: 'full', why: '' }), yes);
  assert.equal(applyPlan(yes, { type: 'micro', why: '' }), yes);
  const no = evaluate(moment('turn_end 60:'), SPEC_POLICY);
  assert.equal(applyPlan(no, { type: 'none', reason: 'rearm', why: '' }), no);
  const emergency = evaluate(moment('turn_end 10:'), SPEC_POLICY);
  assert.equal(applyPlan(emergency, { type: 'none', reason: 'breaker_open', why: '' }).shouldCompact, false);
});

test('a decision as a record of the log', () => {
  const evaluation = moment('turn_end 60: commit turn_complete');
  const decision = evaluate(evaluation, SPEC_POLICY);
  assert.deepEqual(buildDecisionRecord('d1', evaluation, decision), {
    type: 'decision',
    id: 'd1',
    point: 'turn_end',
    turn: 3,
    tier: 'asap',
    situation: evaluation.situation,
    required: SPEC_POLICY.tiers.asap.required,
    signals: signals('commit'),
    openIds: ['commit@1', 'turn_complete@1'],
    shouldCompact: true,
    reason: 'boundary',
    why: decision.why,
  });
});

test('the sentences', () => {
  const why = (notation: string, changes: Partial<Evaluation> = {}, policy: Partial<Policy> = {}) =>
    evaluate(moment(notation, changes), { ...SPEC_POLICY, ...policy }).why;
  const lead = '60 % of the window is left (40,000 of 100,000 tokens used), below the 65 % of asap';
  assert.deepEqual(
    [
      why('turn_end 90: commit'),
      why('turn_end 60: commit turn_complete'),
      why('turn_end 60: commit phase_completed plan_checkpoint turn_complete'),
      why('turn_end 39: turn_complete'),
      why('turn_end 80: agent_done turn_complete'),
      why('mid_turn 80: commit'),
      why('turn_end 80: plan_update'),
      why('turn_end 60: plan_update'),
      why('turn_end 60: commit', { situation: at(60, 30_000) }),
      why('turn_end 60: commit', { situation: at(60, 41_000) }),
      why('turn_end 60: commit', rest(1, 61_000)),
      why('turn_end 60: commit', rest(1, undefined)),
      why('turn_end 60: commit', { busyWith: ['tool'] }),
      why('turn_end 60: commit', unworthy),
      why('turn_end 9:'),
      why('mid_turn 60: commit', {}, { midTurn: 'emergency_only' }),
      why('mid_turn 60: commit', {}, { midTurn: 'off' }),
      why('turn_end 60: commit', {}, { isEnabled: false }),
      why('turn_end 90: commit', {}, withTier('early', { usedTokensFrom: 9000, required: ['commit'] })),
    ],
    [
      '90 % of the window is left (10,000 of 100,000 tokens used); the first tier begins below 85 %.',
      `${lead}, and a commit was reached (git commit -m "Füge Zähler hinzu 🎉").`,
      `${lead}, and a commit, a completed phase and a completed step of the plan were reached (2 of 5 steps are done).`,
      '39 % of the window is left (61,000 of 100,000 tokens used), below the 65 % of asap, and the end of a turn was reached.',
      "80 % of the window is left (20,000 of 100,000 tokens used), below the 85 % of early, but only the agent's word that it is done and the end of a turn were reached; it takes a completed step of the plan, a change of the plan, a checkpoint of the pull request, a completed phase or a change of topic.",
      '80 % of the window is left (20,000 of 100,000 tokens used), below the 85 % of early, but only a commit was reached; nothing suffices here.',
      "80 % of the window is left (20,000 of 100,000 tokens used), below the 85 % of early, but a change of the plan counts here only together with a commit, a checkpoint, a completed phase or the agent's word that it is done, concludes or moves on.",
      `${lead}, but a change of the plan alone is a weak boundary while the turn goes on.`,
      'A compaction would win too little: 40,000 tokens are used, and it would leave about 30,000.',
      'A compaction would win nothing: 40,000 tokens are used, and what it leaves may take as many.',
      `${lead}, but since the last compaction or veto 1 of 2 turns have ended and 61 of 120 seconds have passed.`,
      `${lead}, but since the last compaction or veto 1 of 2 turns have ended.`,
      `${lead}, but a tool is still running.`,
      `${lead}, but there is nothing to hand over: no request with an action since the last compaction, and no last message of 200 characters.`,
      '9 % of the window is left (91,000 of 100,000 tokens used), below the 15 % of emergency: not waiting for a boundary.',
      'mid_turn = emergency_only: inside a turn, only an emergency triggers a compaction.',
      'mid_turn = off: nothing is compacted inside a turn.',
      'Automatic compaction is off.',
      '10,000 tokens are used, and early begins at 9,000, and a commit was reached (git commit -m "Füge Zähler hinzu 🎉").',
    ],
  );
});

const anySituation: fc.Arbitrary<Situation> = fc
  .record({
    used: fc.nat(300_000),
    window: fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: undefined }),
    projected: fc.nat(100_000),
  })
  .map((facts) => ({
    ...facts,
    percentRemaining: facts.window === undefined ? undefined : percentRemaining(facts.used, facts.window),
  }));

const anyEvaluation: fc.Arbitrary<Evaluation> = fc.record({
  point: fc.constantFrom<DecisionPoint>(...DECISION_POINTS),
  turn: fc.nat(9),
  situation: anySituation,
  open: fc.array(fc.record({ signal: anySignal, turnsLeft: fc.nat(3) }, { requiredKeys: ['signal'] }), {
    maxLength: 6,
  }),
  batchFrom: fc.option(fc.nat(30), { nil: undefined }),
  busyWith: fc.subarray([...WORK]),
  rest: fc.option(
    fc.record({ turnsEnded: fc.nat(4), elapsedMs: fc.option(fc.nat(200_000), { nil: undefined }) }),
    { nil: undefined },
  ),
  lastAgentMessage: fc.option(fc.string({ unit: 'binary', maxLength: 300 }), { nil: undefined }),
  hasRequest: fc.boolean(),
  hasAction: fc.boolean(),
});

test('every evaluation has one answer, a known reason and one sentence, the same each time', () => {
  fc.assert(
    fc.property(anyEvaluation, anyPolicy, (evaluation, policy) => {
      const decision = evaluate(evaluation, policy);
      assert.deepEqual(evaluate(evaluation, policy), decision);
      assert.ok(VERDICT_REASONS.includes(decision.reason), decision.reason);
      assert.equal(decision.shouldCompact, decision.reason === 'emergency' || decision.reason === 'boundary');
      assert.match(decision.why, /^[^\n]{10,}\.$/);
      assert.doesNotMatch(decision.why, /undefined|NaN|Infinity|null/);
      if (decision.reason === 'boundary')
        assert.ok(decision.signals.length > 0, 'a yes shows what it rests on');
      const open = new Set(evaluation.open.map(({ signal: each }) => each));
      assert.ok(
        decision.signals.every((each) => open.has(each)),
        'nothing is made up',
      );
    }),
    SEED,
  );
});

test('more used tokens make no tier calmer, and no emergency or end of a turn a no', () => {
  fc.assert(
    fc.property(anyEvaluation, anyPolicy, fc.nat(50_000), (evaluation, policy, more) => {
      const { window, projected } = evaluation.situation;
      const used = evaluation.situation.used + more;
      const left = window === undefined ? undefined : percentRemaining(used, window);
      const fuller = { ...evaluation, situation: { used, window, percentRemaining: left, projected } };
      const before = evaluate(evaluation, policy);
      const after = evaluate(fuller, policy);
      const urgency = ({ tier }: Decision) => (tier === undefined ? -1 : TIERS.indexOf(tier));
      assert.ok(urgency(after) >= urgency(before), `${before.tier} became ${after.tier}`);
      if (before.reason === 'emergency') assert.equal(after.reason, 'emergency');
    }),
    SEED,
  );
});

test('with the rules of the specification more pressure never takes a yes back', () => {
  const withoutSizes = fc.constantFrom<Policy>(
    SPEC_POLICY,
    { ...SPEC_POLICY, midTurn: 'tiered' },
    { ...SPEC_POLICY, midTurn: 'emergency_only' },
  );
  fc.assert(
    fc.property(anyEvaluation, withoutSizes, fc.nat(50_000), (evaluation, policy, more) => {
      const { window, projected } = evaluation.situation;
      fc.pre(window !== undefined);
      const used = evaluation.situation.used + more;
      const left = percentRemaining(used, window);
      const fuller = { ...evaluation, situation: { used, window, percentRemaining: left, projected } };
      if (!evaluate(evaluation, policy).shouldCompact) return;
      assert.equal(evaluate(fuller, policy).shouldCompact, true);
    }),
    { ...SEED, numRuns: 2000 },
  );
});

test('a further boundary never takes a yes back', () => {
  fc.assert(
    fc.property(anyEvaluation, anyPolicy, anySignal, (evaluation, policy, further) => {
      if (!evaluate(evaluation, policy).shouldCompact) return;
      const open = [...evaluation.open, { signal: further }];
      assert.equal(evaluate({ ...evaluation, open }, policy).shouldCompact, true);
    }),
    { ...SEED, numRuns: 2000 },
  );
});

test('a boundary that was used up decides nothing any more, however often it is noted again', () => {
  fc.assert(
    fc.property(fc.array(anySignal, { minLength: 1, maxLength: 8 }), fc.nat(3), (reached, turns) => {
      const context = { situation: at(30), rest: undefined };
      const before = noteSignals(NO_BOUNDARIES, reached);
      const first = evaluate(moment('turn_end 30:', { ...context, open: before.open }), SPEC_POLICY);
      if (!first.shouldCompact) return;
      let after = settleBoundaries(before, first);
      for (let turn = 0; turn < turns; turn++) after = startTurn(after);
      after = noteSignals(after, reached);
      assert.equal(
        told(evaluate(moment('turn_end 30:', { ...context, open: after.open }), SPEC_POLICY)),
        'asap no no_boundary',
      );
    }),
    SEED,
  );
});

test('calm tokens: the tier does not hold with them and holds with one more', () => {
  const windows = fc.integer({ min: 1000, max: 1_000_000 });
  fc.assert(
    fc.property(windows, fc.constantFrom(...TIERS), (window, tier) => {
      const calm = calmTokens(tier, SPEC_POLICY, window) ?? Number.NaN;
      const tierAt = (used: number) =>
        evaluate(
          moment('turn_end 50:', {
            situation: { used, window, percentRemaining: percentRemaining(used, window), projected: 0 },
          }),
          SPEC_POLICY,
        ).tier;
      const urgency = (used: number) => TIERS.indexOf(tierAt(used) ?? 'early') + (tierAt(used) ? 1 : 0);
      assert.ok(urgency(calm) <= TIERS.indexOf(tier), `${calm} of ${window}`);
      assert.ok(urgency(calm + 1) > TIERS.indexOf(tier), `${calm + 1} of ${window}`);
    }),
    SEED,
  );
  assert.equal(calmTokens('early', SPEC_POLICY, undefined), undefined);
  assert.equal(calmTokens('asap', withTier('asap', { usedTokensFrom: 5000 }), undefined), 4999);
  assert.equal(calmTokens('asap', withTier('asap', { usedTokensFrom: 0 }), 100_000), undefined);
});

test('every boundary has a name in the sentences', () => {
  for (const boundary of BOUNDARIES) {
    const open = [{ signal: signal(boundary) }];
    const policy = withTier('asap', { required: [...BOUNDARIES] });
    const { why } = evaluate(moment('turn_end 30:', { open }), policy);
    assert.match(why, /, (?:and|but) (?:a|the) /, boundary);
    assert.doesNotMatch(why, /_/, boundary);
  }
});
