import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Biller } from './bill.ts';

const MINUTE = 60_000;
const request = (atMinute: number, inputTokens: number, model = 'gpt-5.2') => ({
  atMs: atMinute * MINUTE,
  model,
  inputTokens,
});

describe('the bill', () => {
  it('counts what the provider has seen before as cached, and no more', () => {
    const biller = new Biller();
    for (const [minute, tokens] of [
      [0, 1000],
      [1, 1500],
      [2, 1600],
    ] as const) {
      biller.request(request(minute, tokens));
      biller.answer(10);
    }
    const { requests, input, cached, output, usd } = biller.bill();
    assert.deepEqual(
      { requests, input, cached, output },
      { requests: 3, input: 4100, cached: 2500, output: 30 },
    );
    // 1,600 new at $1.75, 2,500 cached at $0.175 and 30 out at $14 for a million each.
    assert.equal(usd?.toFixed(8), ((1600 * 1.75 + 2500 * 0.175 + 30 * 14) / 1e6).toFixed(8));
  });

  it('finds nothing in a cache that was not asked for five minutes, and everything a moment before', () => {
    for (const [minutes, cached] of [
      [4.9, 1000],
      [5.1, 0],
    ] as const) {
      const biller = new Biller();
      biller.request(request(0, 1000));
      biller.request(request(minutes, 1200));
      assert.equal(biller.bill().cached, cached);
    }
  });

  it('loses the cache from the place on where the context changed', () => {
    const biller = new Biller();
    biller.request(request(0, 1000));
    biller.invalidate(300);
    biller.request(request(1, 800));
    biller.invalidate(5000);
    biller.request(request(2, 900));
    assert.equal(biller.bill().cached, 300 + 800);
  });

  it('shares no cache with a request of another prefix or another model', () => {
    const biller = new Biller();
    biller.request(request(0, 1000));
    biller.request({ ...request(1, 1000), hasOwnPrefix: true });
    assert.equal(biller.bill().cached, 0);
    biller.request(request(2, 1000));
    assert.equal(biller.bill().cached, 1000, 'the context itself was still cached');
    biller.request(request(3, 1000, 'gpt-5.5'));
    assert.equal(biller.bill().cached, 1000);
  });

  it('names no dollars once a request has no price', () => {
    const biller = new Biller();
    biller.request(request(0, 1000));
    assert.ok((biller.bill().usd ?? 0) > 0, 'gpt-5.2 has a price');
    biller.request(request(1, 1000, 'somebodys-own-model'));
    assert.equal(biller.bill().usd, undefined);
    assert.equal(biller.bill().input, 2000);
  });
});
