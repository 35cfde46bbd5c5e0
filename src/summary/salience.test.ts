import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { LazyLines, rowKey, SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { LinePicker } from './salience.ts';

const count = (text: string): number => text.length;

function picker(room: number, weights: Readonly<Record<string, number>> = {}): LinePicker {
  return new LinePicker({ room, count, weights: new Map(Object.entries(weights)), sectionHeading: () => '' });
}

function line(text: string, value: number, parent?: SummaryLine): SummaryLine {
  return summaryLine({ section: 0, order: 0, text, value, ...(parent === undefined ? {} : { parent }) });
}

test('the best for its tokens comes first', () => {
  const lines = [line('dear but long', 2), line('dear', 2), line('cheap', 1)];
  const some = picker(11);
  some.takeBest(lines, 0);
  assert.deepEqual(some.picked, [lines[1], lines[2]]);
});

test('an identifier counts once: a line that only repeats it is left out', () => {
  const [first, again, other] = [line('openDoor', 0), line('openDoor it', 0), line('closeDoor', 0)];
  const some = picker(100, { openDoor: 5, closeDoor: 1 });
  some.takeBest([again, first, other], 0);
  assert.deepEqual(some.picked, [first, other]);
});

test('at most ten identifiers of one line count', () => {
  const names = 'aOne bTwo cSix dTen eOdd fRed gBig hOld iNew jLow kTop lEnd'.split(' ');
  const weights = Object.fromEntries(names.map((name) => [name, 1]));
  const long = line(names.join(' '), 0);
  const short = line(names.slice(0, 10).join(' '), 0);
  const some = picker(count(`${long.text}\n`), weights);
  some.takeBest([long, short], 0);
  assert.deepEqual(some.picked, [short], 'ten names for fewer tokens beat twelve that count as ten');
});

test('a line that belongs to another is taken after it, in the same round, and never without it', () => {
  const parent = line('the file', 1);
  const child = line('  its names', 9, parent);
  const both = picker(100);
  both.takeBest([child, parent], 0);
  assert.deepEqual(both.picked, [parent, child]);
  const alone = picker(100);
  alone.takeBest([child], 0);
  assert.deepEqual(alone.picked, []);
});

test('lines that belong to another are made once it is taken, and not before', () => {
  const [taken, omitted] = [line('the file', 1), line('a file that is too long', 1)];
  const child = line('  its names', 9, taken);
  const later = new LazyLines(taken, () => [child]);
  const never = new LazyLines(omitted, () => assert.fail('nobody asked for these'));
  const some = picker(count(`${taken.text}\n`) + count(`${child.text}\n`));
  some.takeBest([never, later, taken, omitted], 0);
  assert.deepEqual(some.picked, [taken, child]);
  some.takeBest([never, later, taken, omitted], 0);
  assert.deepEqual(some.picked, [taken, child], 'and are taken once');
});

test('a heading is paid for once by the first line of its group', () => {
  const group = 'Heading of ten:';
  const lines = ['one', 'two'].map((text) => summaryLine({ section: 0, order: 0, text, value: 1, group }));
  const some = picker(100);
  some.takeBest(lines, 0);
  assert.equal(some.room, 100 - count(`${group}\n`) - count('one\n') - count('two\n'));
});

test('a floor takes its share and no more, a reserve stays', () => {
  const lines = ['aaaaaaaaa', 'bbbbbbbbb', 'ccccccccc'].map((text) => line(text, 1));
  const some = picker(30);
  some.takeFloor({ lines, share: 0.4, by: 'order' }, 30);
  assert.equal(some.picked.length, 1);
  some.takeBest(lines, 10);
  assert.equal(some.picked.length, 2);
  some.takeBest(lines, 0);
  assert.equal(some.picked.length, 3);
});

test('what is picked never costs more than there was room for', () => {
  const lines = fc.array(fc.tuple(fc.string({ maxLength: 40 }), fc.integer({ min: 0, max: 9 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(lines, fc.nat(300), (pairs, room) => {
      const some = picker(room);
      some.takeBest(
        pairs.map(([text, value]) => line(text, value)),
        0,
      );
      const cost = some.picked.reduce((sum, { text }) => sum + count(`${text}\n`), 0);
      assert.ok(cost <= room && some.room === room - cost);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('a row of a file that a step shows is not taken below the file again, whatever number stands before it', () => {
  const code = 'const gear = turn_dome(gear_ratio, slowly_enough);';
  const step = summaryLine({
    section: SECTION.current,
    order: 0,
    text: `- read dome.ts\n    970→  ${code}\n    + ${code}`,
    value: 1,
  });
  const row = (text: string): SummaryLine =>
    summaryLine({ section: SECTION.files, order: 0, text, quotes: rowKey(text), value: 1 });
  const [again, other, short] = [
    row(`970: ${code}`),
    row(`12: ${code.replace('gear', 'lens')}`),
    row('turn();'),
  ];
  const some = picker(1_000);
  some.takeFloor({ lines: [step], share: 1, by: 'order' }, 1_000);
  some.takeBest([again, other, short], 0);
  assert.deepEqual(new Set(some.picked), new Set([step, other, short]));
});
