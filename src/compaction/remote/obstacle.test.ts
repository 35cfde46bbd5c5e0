import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findRemoteObstacle, NO_MODEL } from './obstacle.ts';
import type { RemoteCircumstances } from './obstacle.ts';

const CLEAR: RemoteCircumstances = {
  hasModel: true,
  canCompact: true,
  hasInstructions: false,
  hasOwnPrompt: false,
  hasSummarizationModel: false,
  canHoldState: true,
};

test('nothing is in the way where everything is as it has to be', () => {
  assert.equal(findRemoteObstacle(CLEAR), undefined);
});

test('each circumstance is in the way by itself, with words and a cure of its own', () => {
  const keys = Object.keys(CLEAR) as (keyof RemoteCircumstances)[];
  const found = keys.map((key) => findRemoteObstacle({ ...CLEAR, [key]: !CLEAR[key] }));
  assert.equal(new Set(found.map((each) => each?.why)).size, keys.length);
  for (const each of found) assert.notEqual(each?.cure ?? '', '');
  assert.equal(found[0], NO_MODEL);
});

test('only all of them together let the provider compact', () => {
  const any = fc.boolean();
  const shape = {
    hasModel: any,
    canCompact: any,
    hasInstructions: any,
    hasOwnPrompt: any,
    hasSummarizationModel: any,
    canHoldState: any,
  };
  fc.assert(
    fc.property(fc.record(shape), (known) => {
      const isClear = Object.entries(CLEAR).every(
        ([key, value]) => known[key as keyof RemoteCircumstances] === value,
      );
      assert.equal(findRemoteObstacle(known) === undefined, isClear);
    }),
    { seed: 20_261_121, numRuns: 300 },
  );
});
