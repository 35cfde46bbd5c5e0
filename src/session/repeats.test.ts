import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentSays } from '../../test/support/records.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import { addStep, fingerprintOf, NO_REPEATS, repeatNote, timesRepeated } from './repeats.ts';

function times(steps: string): number {
  return timesRepeated([...steps].reduce(addStep, NO_REPEATS));
}

function call(id: string, input = '{}'): Item {
  return { type: 'function_call', call_id: id, name: 'shell', arguments: input };
}

function result(id: string, output: string): ToolOutputItem {
  return { type: 'function_call_output', call_id: id, output };
}

describe('repetitions', () => {
  for (const [steps, expected] of [
    ['', 1],
    ['a', 1],
    ['aa', 2],
    ['aaaaa', 5],
    ['aaaab', 1],
    ['baaa', 3],
    ['abab', 2],
    ['xabababab', 4],
    ['abcabcabc', 3],
    ['abcabcab', 2],
    ['abcdabcdabcd', 1],
  ] as const) {
    test(`${JSON.stringify(steps)} repeats itself ${expected} times`, () => {
      assert.equal(times(steps), expected);
    });
  }

  test('the model is told from the third time on', () => {
    assert.deepEqual([repeatNote(1), repeatNote(2)], [undefined, undefined]);
    assert.match(repeatNote(3) ?? '', /3 times in a row/);
  });
});

describe('a step', () => {
  const step = fingerprintOf([agentSays('Again.'), call('a')], [result('a', 'ok')]);

  test('is the same whatever its ids, the words beside it and the time it took', () => {
    assert.equal(fingerprintOf([agentSays('Once more.'), call('b')], [result('b', 'ok')]), step);
    const timed = (id: string, seconds: string): string =>
      fingerprintOf([call(id)], [result(id, `Exit code: 0\nWall time: ${seconds} seconds\nOutput:\nok`)]);
    assert.equal(timed('a', '0.1'), timed('b', '12.3'));
  });

  test('is the same in whatever order its results came', () => {
    const calls = [call('a'), call('b', '{"n":2}')];
    const results = [result('a', 'one'), result('b', 'two')];
    assert.equal(fingerprintOf(calls, results), fingerprintOf(calls, results.toReversed()));
  });

  test('is another with other arguments or another result', () => {
    assert.notEqual(fingerprintOf([call('a', '{"n":1}')], [result('a', 'ok')]), step);
    assert.notEqual(fingerprintOf([call('a')], [result('a', 'OK')]), step);
  });

  test('without calls is what was said; reasoning alone says nothing', () => {
    const silent: Item = { type: 'reasoning', summary: [], text: 'Hm.' };
    assert.equal(fingerprintOf([silent], []), fingerprintOf([], []));
    assert.notEqual(fingerprintOf([agentSays('Wait.')], []), fingerprintOf([], []));
  });
});
