import assert from 'node:assert/strict';
import { test } from 'node:test';
import { omittedRows } from '../calls/changes.ts';
import { excerptRows } from '../outputs/excerpts.ts';
import { StepLedger } from './steps.ts';

test('what is done belongs to the step whose result is being taken in, and to none once that is over', () => {
  const steps = new StepLedger();
  const moment = { turn: 1, position: 1 };
  steps.open(
    { moment, call: 'make lamp', changed: undefined, isRead: false, readPaths: [], report: 'none' },
    'lit',
  );
  steps.act('edited lamp.ts', moment);
  steps.close();
  steps.act('edited horn.ts', { turn: 1, position: 2 });
  assert.deepEqual(
    steps.tail('').map(({ effect }) => effect),
    ['edited lamp.ts'],
  );
  assert.deepEqual(
    steps.actions().map(({ text, call }) => [text, call]),
    [
      ['edited lamp.ts', 1],
      ['edited horn.ts', undefined],
    ],
  );
});

/** How many rows a result has as it is kept, those that are left out counted. */
const counted = (rows: readonly string[]): number =>
  rows.reduce((sum, row) => sum + (omittedRows(row) ?? 1), 0);

test('of a long result the ends are kept, and every row between them is counted, however often it is cut', () => {
  const rows = Array.from({ length: 4_000 }, (_, at) => `the lamp ${at} is lit`);
  for (const before of [0, 30]) {
    const steps = new StepLedger();
    for (let position = 0; position <= before; position++) {
      const step = {
        call: 'make lamps',
        changed: undefined,
        isRead: false,
        readPaths: [],
        report: 'none',
      } as const;
      steps.noteCall();
      steps.noteResult();
      steps.open({ ...step, moment: { turn: 1, position } }, rows.join('\n'));
      steps.close();
    }
    const kept = [...steps.tail(''), ...steps.unread('')].map(({ result }) => result.split('\n'));
    assert.deepEqual(new Set(kept.map(counted)), new Set([rows.length]));
    const unread = steps.unread('').at(-1)?.result ?? '';
    assert.match(unread, /^the lamp 0 is lit\n[^]*\nthe lamp 3999 is lit$/);
    const telling = { weights: new Map(), counting: new Set<string>(), sought: new Set<string>() };
    for (const room of [300, 9_000]) {
      const told = excerptRows(unread, { ...telling, room, isRead: false, hasFailed: false });
      assert.equal(counted(told.filter((row) => row !== '…')), rows.length, `${room}`);
    }
  }
});
