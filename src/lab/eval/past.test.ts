import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import type { Item } from '../../protocol/item.ts';
import { readLog } from './log.ts';
import type { SessionLog } from './log.ts';
import { Past } from './past.ts';
import type { FutureUse } from './uses.ts';

/** The definition of a future use, looked up in the whole session. */
function usesByDefinition({ steps, initial }: SessionLog, cut: number): FutureUse[] {
  const told = steps.slice(0, cut).filter(({ kind }) => kind !== 'initial');
  const future = steps.slice(cut);
  const found: FutureUse[] = [];
  for (const [at, { used }] of future.entries()) {
    for (const identifier of used) {
      const named = told.filter(({ identifiers }) => identifiers.includes(identifier)).length;
      const isKnown = found.some((use) => use.identifier === identifier);
      if (named === 0 || isKnown || initial.has(identifier)) continue;
      const isShown = future
        .slice(0, at)
        .some(({ kind, identifiers }) => kind === 'shown' && identifiers.includes(identifier));
      found.push({ identifier, weight: Math.log((told.length + 1) / named), isUnaided: !isShown });
    }
  }
  return found;
}

const names = fc
  .array(fc.constantFrom('turnChuck', 'feedRate', 'bed_width', 'src/gear.ts'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(' '));
const said = fc.oneof(
  names.map((text) => (): readonly Item[] => [userSays(text)]),
  names.map((text) => (): readonly Item[] => [agentSays(text)]),
  fc.tuple(names, names).map(
    ([cmd, text]) =>
      (id: number): readonly Item[] =>
        toolCall(`c${id}`, 'shell', { cmd }, text),
  ),
);

describe('the past at a cut', () => {
  it('has the future uses of the definition at every cut, however many were asked before', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 2, maxLength: 12 }), fc.nat(3), (made, stride) => {
        const items = made.flatMap((make, at) => make(at));
        const log = readLog(recordsOf(harnessSays('Mind feedRate.'), ...items), () => 1);
        const past = new Past(log);
        for (let cut = 0; cut <= log.steps.length; cut += 1 + stride) {
          assert.deepEqual(past.advance(cut).uses, usesByDefinition(log, cut), `cut ${cut}`);
        }
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('holds every line and each different one once, with the tokens of all', () => {
    const log = readLog(
      recordsOf(harnessSays('Rules.'), userSays('one\ntwo'), agentSays('two\nthree'), userSays('four')),
      () => 3,
    );
    const past = new Past(log).advance(3);
    assert.deepEqual(past.lines, ['one', 'two', 'two', 'three']);
    assert.deepEqual([...past.distinctLines], ['one', 'two', 'three']);
    assert.equal(past.tokens, 12);
    assert.deepEqual(
      past.userMessages.map(({ seq }) => seq),
      [1],
    );
  });

  it('does not go back', () => {
    const log = readLog(recordsOf(userSays('one'), userSays('two')), () => 1);
    const past = new Past(log).advance(2);
    assert.throws(() => past.advance(1), RangeError);
  });
});
