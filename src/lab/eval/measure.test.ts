import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { agentSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { chanceFrom } from './chance.ts';
import { measureSession } from './measure.ts';
import type { CutMeasurement, EvalSettings, Measurement } from './measure.ts';
import { summarizeFiles } from './report.ts';

const SETTINGS: EvalSettings = {
  sizes: [500, 1000, 2000, 4000],
  cuts: 3,
  seed: 5,
  count: (text) => Math.ceil(text.length / 4),
  clock: { now: () => 0 },
};

/** A session of reads, edits and words about parts that come back now and then. */
function session(seed: number, compactedAt?: number): readonly LogRecord[] {
  const chance = chanceFrom(seed);
  const part = () => `part_${Math.floor(chance() ** 2 * 400)}`;
  const records: LogRecord[] = [...recordsOf(userSays(`Never scrap part_1. Build ${part()} and ${part()}.`))];
  for (let at = 0; at < 90; at++) {
    const listing = Array.from({ length: 16 }, () => `${part()} is made of ${part()} and some steel`).join(
      '\n',
    );
    records.push(...recordsOf(toolCall(`c${at}`, 'exec_command', { cmd: `cat src/${part()}.ts` }, listing)));
    if (at % 3 === 0) records.push(...recordsOf(agentSays(`Next come ${part()} and ${part()}.`)));
    if (at % 20 === 19) records.push(...recordsOf(userSays(`What about ${part()}?`)));
    if (at === compactedAt) {
      records.push({
        type: 'compacted',
        id: 'x',
        replacement: [],
        summary: `We built ${part()} and ${part()}. `.repeat(80),
      });
    }
  }
  return records;
}

function measure(
  records: readonly LogRecord[],
  changes: Partial<EvalSettings> = {},
): readonly CutMeasurement[] {
  return [...measureSession(records, { ...SETTINGS, ...changes })];
}

function measuredAt(cut: CutMeasurement, candidate: Measurement['candidate'], budget: Measurement['budget']) {
  return cut.measurements.find((one) => one.candidate === candidate && one.budget === budget);
}

/** What of a cut does not depend on its future. */
function sizesAt(cut: CutMeasurement | undefined) {
  return cut?.measurements
    .filter(({ candidate }) => candidate !== 'upper_bound')
    .map(({ tokens, constraints }) => [tokens, constraints]);
}

describe('measurements of a session', () => {
  it('keep their laws: shares, budgets, growth with the size, nothing above the bound', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.option(fc.integer({ min: 40, max: 70 })),
        (seed, compactedAt) => {
          const cuts = measure(session(seed, compactedAt ?? undefined));
          assert.ok(cuts.length >= 2);
          for (const cut of cuts) {
            for (const {
              recall,
              unaided = 0,
              constraints = 0,
              tokens,
              budget,
              orphans = 0,
              candidate,
            } of cut.measurements) {
              for (const share of [recall, unaided, constraints]) assert.ok(share >= 0 && share <= 1);
              if (/\d/.test(budget))
                assert.ok(tokens <= Number(budget), `${candidate}: ${tokens} of ${budget}`);
              if (candidate !== 'newest') assert.equal(orphans, 0);
              const bound = measuredAt(cut, 'upper_bound', budget);
              if (bound !== undefined) assert.ok(recall <= bound.recall && unaided <= (bound.unaided ?? 1));
            }
            for (const candidate of ['newest', 'random_lines', 'upper_bound'] as const) {
              const recalls = SETTINGS.sizes.flatMap(
                (size) => measuredAt(cut, candidate, `${size}`)?.recall ?? [],
              );
              assert.notEqual(recalls.length, 0);
              assert.deepEqual(
                recalls,
                recalls.toSorted((a, b) => a - b),
                candidate,
              );
            }
          }
        },
      ),
      { seed: 3, numRuns: 8, endOnFailure: true },
    );
  });

  it('are the same for the same session, and others with another seed', () => {
    const records = session(8, 50);
    assert.equal(JSON.stringify(measure(records)), JSON.stringify(measure(records)));
    assert.notEqual(JSON.stringify(measure(records)), JSON.stringify(measure(records, { seed: 6 })));
  });

  it('have no unaided uses at a real compaction, and the own summary at its own size there alone', () => {
    const cuts = measure(session(2, 50));
    const real = cuts.filter(({ kind }) => kind === 'compaction');
    assert.equal(real.length, 1);
    for (const cut of cuts) {
      const own = measuredAt(cut, 'own_summary', 'own_summary');
      assert.equal(own !== undefined, cut.kind === 'compaction');
      if (cut.kind === 'regular') continue;
      assert.ok(cut.measurements.every(({ unaided }) => unaided === undefined));
      assert.ok((measuredAt(cut, 'newest', 'own_summary')?.tokens ?? Infinity) <= (own?.tokens ?? 0));
    }
  });

  it('know the future and not the past of the cut: a changed future changes the recall, never a context', () => {
    const records = session(4, 50);
    const [first] = measure(records, { cuts: 0 });
    const changed = records.map((record): LogRecord =>
      record.type === 'item' && records.indexOf(record) > records.length - 4
        ? { type: 'item', item: agentSays('part_1 part_2 part_3 part_4 part_5') }
        : record,
    );
    const [second] = measure(changed, { cuts: 0 });
    assert.notEqual(first?.uses, second?.uses);
    assert.ok(first?.pastTokens === second?.pastTokens);
    assert.deepEqual(sizesAt(first), sizesAt(second));
  });

  it('give means that do not depend on the order of the files', () => {
    const files = [3, 4, 5].map((seed) => ({ path: `${seed}.jsonl`, cuts: measure(session(seed, 60)) }));
    assert.deepEqual(summarizeFiles(files, 1), summarizeFiles(files.toReversed(), 1));
  });

  it('pair differences at the same cuts: both candidates have the same mean difference as their means', () => {
    const rows = summarizeFiles([{ path: 'a', cuts: measure(session(6)) }], 1);
    const row = (candidate: string) =>
      rows.find((one) => one.candidate === candidate && one.budget === '2000');
    const difference = (row('newest')?.recall?.mean ?? 0) - (row('random_lines')?.recall?.mean ?? 0);
    assert.ok(Math.abs((row('newest')?.recallOverRandom?.mean ?? 9) - difference) < 1e-12);
    assert.equal(row('newest')?.recallOverNewest, undefined);
  });

  it('are none where a session has no past or no future to speak of', () => {
    assert.deepEqual(measure(recordsOf(userSays('Hello'), agentSays('Hello.'))), []);
    const silent = recordsOf(userSays('x part_9 '.repeat(20_000)), agentSays('Done.'));
    assert.deepEqual(measure(silent), []);
  });
});
