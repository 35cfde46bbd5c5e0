import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, race, timeOnce } from './measure.ts';
import type { Contender } from './measure.ts';

/** A clock that only work moves on, and the order in which the work was done. */
class Works {
  now = 0;
  readonly order: string[] = [];
  readonly clock = (): number => this.now;

  /** @param costOf milliseconds of the run with this number, counted from 0 */
  contender(name: string, costOf: (run: number) => number, prepareMs = 0): Contender {
    let run = 0;
    return {
      prepare: () => {
        this.now += prepareMs;
      },
      run: () => {
        this.order.push(name);
        this.now += costOf(run++);
      },
    };
  }
}

/** Names in order, each row of equal ones as its length. */
function turnsOf(order: readonly string[]): string[] {
  const turns: { name: string; runs: number }[] = [];
  for (const name of order) {
    const last = turns.at(-1);
    if (last?.name === name) last.runs++;
    else turns.push({ name, runs: 1 });
  }
  return turns.map(({ name, runs }) => `${name}×${runs}`);
}

test('the sides of a race warm up for three seconds each, then take turns of a tenth of a second', async () => {
  const works = new Works();
  const times = await race(
    { quick: works.contender('quick', () => 2), slow: works.contender('slow', () => 400) },
    3,
    works.clock,
  );
  assert.deepEqual(times, { quick: 2, slow: 400 });
  // Of what runs more than once in a turn the first half does not count.
  const turns = ['quick×100', 'slow×1'];
  assert.deepEqual(turnsOf(works.order), ['quick×1500', 'slow×8', ...turns, ...turns, ...turns, ...turns]);
});

test('what was slow before it was compiled does not count, one slow turn neither, and a mean counts a slow run', async () => {
  const works = new Works();
  const cold = works.contender('cold', (run) => (run < 20 ? 90 : 10));
  const rare = works.contender('rare', (run) => (run === 305 ? 5000 : 10));
  const every = works.contender('every', (run) => (run % 5 === 0 ? 60 : 10));
  const times = await race({ cold, rare, every }, 5, works.clock);
  assert.deepEqual(times, { cold: 10, rare: 10, every: 20 });
});

test('the first turn of a side does not count', async () => {
  const works = new Works();
  const odd = works.contender('odd', (run) => (run >= 300 && run < 320 ? 5 : 10));
  assert.deepEqual(await race({ odd }, 1, works.clock), { odd: 10 });
});

test('what one side leaves to be done is not counted on the next, however it shifts the work', async () => {
  const works = new Works();
  let garbage = 0;
  const littering: Contender = {
    run: () => {
      works.now += 40;
      garbage += 30;
    },
  };
  const tidy: Contender = {
    run: () => {
      works.now += 2 + garbage;
      garbage = 0;
    },
  };
  assert.deepEqual(await race({ littering, tidy }, 3, works.clock), { littering: 40, tidy: 2 });
});

test('what is prepared before a run is not counted, what a run promises is', async () => {
  const works = new Works();
  assert.equal(
    await timeOnce(
      works.contender('prepared', () => 7, 1000),
      works.clock,
    ),
    7,
  );
  const late: Contender = {
    run: async () => {
      await Promise.resolve();
      works.now += 11;
    },
  };
  assert.equal(await timeOnce(late, works.clock), 11);
});

test('the median is a value that was measured, the lower one of two', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 3, 2, 1]), 2);
  assert.ok(Number.isNaN(median([])), 'there is none of nothing');
});
