import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { anySignal, signal, signals } from '../../../test/support/signals.ts';
import { anyLog } from '../../../test/support/thread.ts';
import {
  consumeBoundaries,
  deferBoundaries,
  NO_BOUNDARIES,
  noteSignals,
  PENDING_TURNS,
  settleBoundaries,
  startTurn,
} from './boundaries.ts';
import type { Boundaries } from './boundaries.ts';
import { SignalDetector } from './signals.ts';
import { BOUNDARIES, VERDICT_REASONS } from '../../vocabulary.ts';
import type { VerdictReason } from '../../vocabulary.ts';

const SEED = { seed: 20_261_121, numRuns: 300 };

/** The open boundaries by id, with the turns that pending ones have left: `commit@4+3`. */
function shown({ open }: Boundaries): string {
  return open
    .map(({ signal: { id }, turnsLeft }) => `${id}${turnsLeft === undefined ? '' : `+${turnsLeft}`}`)
    .join(' ');
}

const noted = (names: string, before = NO_BOUNDARIES): Boundaries => noteSignals(before, signals(names));

function settled(before: Boundaries, reason: VerdictReason, counted: string): Boundaries {
  const openIds = before.open.map((each) => each.signal.id);
  return settleBoundaries(before, { reason, signals: signals(counted), openIds });
}

test('boundaries end with their turn (rawr §4.5)', () => {
  assert.equal(shown(noted('commit@3 plan_update@5')), 'commit@3 plan_update@5');
  assert.equal(shown(startTurn(noted('commit@3 plan_update@5'))), '');
});

test('a boundary noted again is inert: open, pending, used up or long ago', () => {
  const open = noted('commit@3');
  assert.equal(noteSignals(open, signals('commit@3')), open);
  const consumed = consumeBoundaries(open, ['commit@3']);
  assert.equal(shown(noted('commit@3', consumed)), '');
  const later = noted('commit@9', startTurn(consumed));
  assert.equal(shown(noted('commit@3', startTurn(later))), '', 'also after another one');
  assert.equal(shown(noted('commit@3', startTurn(open))), '', 'also when its turn is over');
});

test('two commits of one command are two boundaries', () => {
  const second = { ...signal('commit', 3), id: 'commit@3.1' };
  const both = noteSignals(NO_BOUNDARIES, [signal('commit', 3), second]);
  assert.equal(shown(both), 'commit@3 commit@3.1');
  assert.equal(shown(noteSignals(both, [second])), 'commit@3 commit@3.1');
});

test('a cooldown and active work leave a boundary pending for three turns; a second veto prolongs nothing', () => {
  assert.equal(PENDING_TURNS, 3);
  for (const reason of ['cooldown', 'active_work'] as const) {
    let at = settled(noted('commit@3 topic_shift@4'), reason, 'commit@3');
    const seen = [shown(at)];
    for (let turn = 0; turn < 4; turn++) {
      at = startTurn(at);
      seen.push(shown(at));
      at = settled(at, reason, 'commit@3');
    }
    assert.deepEqual(seen, ['commit@3+3 topic_shift@4', 'commit@3+2', 'commit@3+1', 'commit@3+0', '']);
  }
});

test('the end of a turn is never pending: the pause that it stands for is over', () => {
  const deferred = deferBoundaries(noted('turn_complete@3 commit@2'), ['turn_complete@3', 'commit@2']);
  assert.equal(shown(startTurn(deferred)), 'commit@2+2');
});

test('every reason of a verdict uses up, leaves pending, or leaves alone', () => {
  const after = (reason: VerdictReason) =>
    shown(settled(noted('commit@3 topic_shift@4'), reason, 'commit@3'));
  const kept = 'commit@3 topic_shift@4';
  const expected: Readonly<Record<VerdictReason, string>> = {
    emergency: '',
    boundary: '',
    judgment: '',
    cooldown: 'commit@3+3 topic_shift@4',
    active_work: 'commit@3+3 topic_shift@4',
    above_threshold: kept,
    floor: kept,
    no_boundary: kept,
    needs_semantic_break: kept,
    weak_boundary: kept,
    not_packet_worthy: kept,
    breaker_open: kept,
    off: kept,
  };
  for (const reason of VERDICT_REASONS) assert.equal(after(reason), expected[reason], reason);
});

test('a yes uses up what was open when it was taken, and nothing that came while it was carried out', () => {
  const before = noted('commit@3 turn_complete@3');
  const openIds = before.open.map((each) => each.signal.id);
  const meanwhile = noted('plan_checkpoint@7', before);
  const after = settleBoundaries(meanwhile, { reason: 'boundary', signals: signals('commit@3'), openIds });
  assert.equal(shown(after), 'plan_checkpoint@7');
});

/** What may happen to boundaries, in any order. */
const anyStep = fc.oneof(
  fc.record({ type: fc.constant('note' as const), signals: fc.array(anySignal, { maxLength: 3 }) }),
  fc.record({ type: fc.constant('turn' as const) }),
  fc.record({
    type: fc.constant('settle' as const),
    reason: fc.constantFrom(...VERDICT_REASONS),
  }),
);

test('whatever happens: bounded, JSON-safe, never open again once used up', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      let at = NO_BOUNDARIES;
      const usedUp = new Set<string>();
      for (const step of steps) {
        if (step.type === 'note') at = noteSignals(at, step.signals);
        else if (step.type === 'turn') at = startTurn(at);
        else {
          const open = at.open.map((each) => each.signal);
          const after = settleBoundaries(at, {
            reason: step.reason,
            signals: open,
            openIds: open.map(({ id }) => id),
          });
          for (const { id } of open) {
            if (!after.open.some((each) => each.signal.id === id)) usedUp.add(id);
          }
          at = after;
        }
        const ids = at.open.map((each) => each.signal.id);
        assert.equal(new Set(ids).size, ids.length, 'open once');
        assert.ok(ids.length <= 4 * BOUNDARIES.length, `${ids.length} are open`);
        assert.ok(!ids.some((id) => usedUp.has(id)), `${ids.join(' ')} was used up`);
        assert.equal(JSON.stringify(JSON.parse(JSON.stringify(at))), JSON.stringify(at), 'survives JSON');
      }
    }),
    SEED,
  );
});

test('whatever a log holds, its signals come in an order in which each of them opens', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const detector = new SignalDetector();
      let at = NO_BOUNDARIES;
      for (const each of [...log.flatMap((record) => detector.add(record)), ...detector.end()]) {
        at = noteSignals(at, [each]);
        assert.ok(at.open.at(-1)?.signal === each, `${each.id} is open`);
      }
    }),
    SEED,
  );
});

test('many changes of the plan crowd out neither the commit nor the newest of them', () => {
  let at = noted('commit@1');
  for (let position = 2; position < 500; position++) at = noteSignals(at, [signal('plan_update', position)]);
  assert.equal(shown(at), 'commit@1 plan_update@496 plan_update@497 plan_update@498 plan_update@499');
  assert.ok(JSON.stringify(at).length < 2000, 'small enough to be written with every state');
});
