import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { thread } from '../../../test/support/thread.ts';
import { DEFAULT_ESTIMATE } from '../../tokens/estimate.ts';
import { SimulatedContext } from './context.ts';
import type { RecordingMoment } from './play.ts';
import { SizeScale } from './sizes.ts';

const OVERHEAD = 5_000;

function moment(uncompacted: number, request = 1): RecordingMoment {
  return {
    turn: 1,
    request,
    line: undefined,
    atMs: request * 1000,
    recorded: uncompacted,
    uncompacted,
    window: 100_000,
    model: 'gpt-5.2',
    openCalls: 0,
    step: 0,
  };
}

/** A context of these items, measured at twice its estimate. */
function contextOf(notation: string): { context: SimulatedContext; whole: number } {
  const scale = new SizeScale(OVERHEAD, 1.33);
  scale.start();
  const context = new SimulatedContext(scale, DEFAULT_ESTIMATE, true);
  const items = thread(notation);
  for (const item of items) context.add(item);
  const estimated = items.reduce((sum, item) => sum + context.estimateOf(item), 0);
  return { context, whole: OVERHEAD + 2 * estimated };
}

describe('a simulated context', () => {
  it('shrinks by what a compaction takes out, in the units of its own measure', () => {
    const { context, whole } = contextOf('u:1k a:1k shell:9k shell:9k a:1k');
    const replacement = thread('sum:1k');
    const { preTokens, postTokens } = context.replace(moment(whole), replacement);
    assert.equal(preTokens, whole);
    assert.equal(postTokens, OVERHEAD + 2 * context.estimateOf(replacement[0] ?? assert.fail('an item')));
    // It grows from there on as the recording does.
    assert.equal(context.used(moment(whole + 700)), postTokens + 700);
  });

  it('keeps in the cache what stands unchanged before the summary, and nothing else', () => {
    for (const keepsFirst of [true, false]) {
      const { context, whole } = contextOf('dev:3k u:1k shell:9k');
      const [first] = context.entries.map(({ value }) => value);
      assert.ok(first !== undefined, 'there is a first item');
      context.request(moment(whole, 1));
      context.replace(moment(whole, 2), [...(keepsFirst ? [first] : []), ...thread('sum:1k')]);
      context.request(moment(whole, 2));
      assert.equal(context.bill.cached, OVERHEAD + (keepsFirst ? 6_000 : 0));
    }
  });

  it('clears results in place, and the cache holds up to the first of them', () => {
    const { context, whole } = contextOf('u:1k shell#x:9k a shell#y:9k a');
    context.request(moment(whole, 1));
    const { preTokens, postTokens } = context.clear(moment(whole, 2), new Set(['x']));
    assert.ok(
      preTokens - postTokens > 17_900 && preTokens - postTokens < 18_000,
      `${preTokens - postTokens} freed`,
    );
    context.request(moment(whole, 2));
    const beforeIt = context.bill.cached - OVERHEAD;
    assert.ok(beforeIt >= 2_000 && beforeIt < 2_100, `${beforeIt} tokens before the first cleared result`);
    assert.equal(context.entries.length, thread('u:1k shell#x:9k a shell#y:9k a').length, 'no item is gone');
    const after = context.replace(moment(whole, 3), thread('sum:1k'));
    assert.equal(after.postTokens, OVERHEAD + 2_000, 'what is left keeps its measure');
  });

  it('says which request no window held', () => {
    const { context } = contextOf('u');
    context.request(moment(99_999, 1));
    context.request(moment(100_001, 2));
    context.request(moment(100_002, 3));
    assert.equal(context.overflow.first?.request, 2);
    assert.equal(context.overflow.requests, 2);
  });

  it('expects to keep the initial context, the user within limits, and a summary', () => {
    const { context } = contextOf('dev:3k u:1k a shell:9k u:50k');
    // 3,000 of the harness, 8,000 of the user for 8 % of the window, 4,000 for the summary.
    assert.equal(context.left(100_000, 20_000), 3_000 + 8_000 + 4_000);
    assert.equal(context.left(1_000_000, 20_000), 3_000 + 20_000 + 4_000);
  });
});
