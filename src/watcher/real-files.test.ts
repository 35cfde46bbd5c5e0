// Boundaries of real sessions, where they are at hand, against counts made another way.

import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { readSessionFile } from '../../test/support/read-format.ts';
import { REAL_SESSIONS_SKIP, realSessions } from '../../test/support/real-sessions.ts';
import { SPEC_POLICY } from '../../test/support/policy.ts';
import { callOf, resultCallId } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { percentRemaining } from '../tokens/pressure.ts';
import type { DecisionPoint } from '../vocabulary.ts';
import { NO_BOUNDARIES, noteSignals, settleBoundaries, startTurn } from './signals/boundaries.ts';
import type { Boundaries } from './signals/boundaries.ts';
import { evaluate } from './decide.ts';
import type { Decision, Evaluation } from './decide.ts';
import { SignalDetector } from './signals/signals.ts';
import type { Signal } from '../protocol/signal.ts';

/** Commits and checkpoints of pull requests, counted by reading every command that names them and its result. */
const COUNTED_BY_HAND: Readonly<Record<string, readonly [commits: number, prCheckpoints: number]>> = {
  '019f03e0': [2, 4],
  '019dc0d3': [29, 0],
  '019df8bf': [1, 2],
  '1284c080': [7, 6],
  '43b2bd6e': [2, 0],
  '70d782f7': [6, 6],
  f4237e82: [0, 0],
  '0442a060': [0, 0],
  '6113e919': [0, 0],
  c61729d4: [45, 0],
  acc53d32: [1, 1],
  '4a07cdcd': [1, 0],
  '86cc3044': [0, 0],
  '019ed836': [0, 0],
  '019ed99c': [0, 0],
  '019f0675': [0, 0],
  '019f17a5': [0, 0],
};

function count(signals: readonly Signal[], boundary: Signal['boundary']): number {
  return signals.filter((signal) => signal.boundary === boundary).length;
}

/** Whether a signal is open once it is noted. */
function openedBy(signal: Signal, before: Boundaries): boolean {
  return noteSignals(before, [signal]).open.some((each) => each.signal === signal);
}

for (const path of realSessions('codex', 'claude-code', 'codex-0.169', 'claude-code-2.1.329')) {
  test(`boundaries of ${basename(path)}`, async () => {
    const { records } = await readSessionFile(path);
    const detector = new SignalDetector();
    const signals = [...records.flatMap((record) => detector.add(record)), ...detector.end()];
    assert.equal(new Set(signals.map(({ id }) => id)).size, signals.length, 'every event once');
    const everyOne = signals.every((signal) =>
      openedBy(signal, noteSignals(NO_BOUNDARIES, signals.slice(0, signals.indexOf(signal)))),
    );
    assert.ok(everyOne, 'noting them in the order of the log loses none');
    for (const { evidence } of signals)
      assert.doesNotMatch(Object.values(evidence).join(' '), /\p{Surrogate}/u);
    assert.ok(count(signals, 'plan_checkpoint') <= count(signals, 'plan_update'));
    for (const [id, [commits, prCheckpoints]] of Object.entries(COUNTED_BY_HAND)) {
      if (!path.includes(id)) continue;
      assert.equal(count(signals, 'commit'), commits);
      assert.equal(count(signals, 'pr_checkpoint'), prCheckpoints);
    }
  });
}

if (REAL_SESSIONS_SKIP !== false)
  test('boundaries of real sessions', { skip: REAL_SESSIONS_SKIP }, () => undefined);

/** Takes a decision after every tool result and at the end of every turn; nothing is compacted. */
function decisionsOf(records: readonly LogRecord[]): readonly (readonly [Evaluation, Decision])[] {
  const detector = new SignalDetector();
  const decisions: (readonly [Evaluation, Decision])[] = [];
  let boundaries = NO_BOUNDARIES;
  let used = 0;
  let position = -1;
  let batchFrom: number | undefined;
  const decide = (point: DecisionPoint) => {
    const situation = {
      used,
      window: 190_000,
      percentRemaining: percentRemaining(used, 190_000),
      projected: 9000,
    };
    const evaluation = { ...CALM, point, situation, open: boundaries.open, batchFrom };
    const decision = evaluate(evaluation, SPEC_POLICY);
    decisions.push([evaluation, decision]);
    boundaries = settleBoundaries(boundaries, decision);
  };
  for (const record of records) {
    if (record.type === 'turn_started') boundaries = startTurn(boundaries);
    if (record.type === 'usage') used = record.usage.total;
    if (record.type === 'item') position++;
    if (record.type === 'item' && callOf(record.item) !== undefined) batchFrom ??= position;
    boundaries = noteSignals(boundaries, detector.add(record));
    if (record.type === 'turn_complete') decide('turn_end');
    if (record.type !== 'item' || resultCallId(record.item) === undefined) continue;
    decide('mid_turn');
    batchFrom = undefined;
  }
  boundaries = noteSignals(boundaries, detector.end());
  decide('turn_end');
  return decisions;
}

const CALM = {
  turn: 1,
  busyWith: [],
  rest: undefined,
  lastAgentMessage: undefined,
  hasRequest: true,
  hasAction: true,
} as const;

for (const path of realSessions('codex', 'claude-code', 'pi')) {
  test(`decisions over ${basename(path)}: none twice for one boundary, none in mid-work`, async () => {
    const { records } = await readSessionFile(path);
    const decisions = decisionsOf(records);
    const used = new Set<string>();
    for (const [evaluation, decision] of decisions) {
      if (!decision.shouldCompact) continue;
      for (const { id, boundary, position } of decision.signals) {
        assert.ok(!used.has(id), `${id} decided twice`);
        used.add(id);
        if (decision.reason === 'emergency' || evaluation.point !== 'mid_turn') continue;
        assert.match(boundary, /^(?:commit|pr_checkpoint|plan_checkpoint|phase_completed)$/);
        assert.ok(position >= (evaluation.batchFrom ?? 0), `${id} is older than its batch`);
      }
    }
    assert.ok(decisions.length > 0, 'something was decided');
  });
}
