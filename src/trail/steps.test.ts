import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepLedger } from './steps.ts';

test('what is done belongs to the step whose result is being taken in, and to none once that is over', () => {
  const steps = new StepLedger();
  const moment = { turn: 1, position: 1 };
  steps.open(
    { moment, call: 'make lamp', changed: undefined, isRead: false, looks: [], report: 'none' },
    'lit',
  );
  steps.act('edited lamp.ts', moment);
  steps.close();
  steps.act('edited horn.ts', { turn: 1, position: 2 });
  assert.deepEqual(
    steps.tail('').map(({ deed }) => deed),
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
