// A test for each case: the key changes what it is there for, and only the key.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { NOT_BUILT } from '../../support/built.ts';
import { play, playedOnce } from './scene.ts';
import type { KeyCase } from './scene.ts';

/** Processes at once. */
const CONCURRENCY = 2;

/** Declares the tests of cases. */
export function holdCases(name: string, cases: readonly KeyCase[]): void {
  before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));
  describe(name, { concurrency: CONCURRENCY }, () => {
    for (const { key, value, scene, replies = scene.replies, seen, ...expected } of cases) {
      test(`${key} = ${value}`, async () => {
        assert.notDeepEqual(expected.with, expected.without, 'an ignored key would pass');
        assert.deepEqual(await seen(await playedOnce(scene)), expected.without, 'without the key');
        const more = [`${key}=${value}`];
        assert.deepEqual(await seen(await play({ ...scene, replies }, more)), expected.with, 'with the key');
      });
    }
  });
}
