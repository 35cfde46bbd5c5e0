import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approximateTokens } from '../../tokens/estimate.ts';
import { CANARIES, runCanaries } from './canaries.ts';
import type { CanaryReport } from './canaries.ts';

function reportOf(seed: number): CanaryReport {
  const run = runCanaries(seed, approximateTokens);
  for (;;) {
    const { done, value } = run.next();
    if (done === true) return value;
  }
}

describe('canaries', () => {
  const report = reportOf(1);
  const aliveWith = (keeper: string) => report.rows.find((row) => row.keeper === keeper)?.alive;

  it('die where only the newest tokens are kept', () => {
    for (const kind of CANARIES) assert.equal(aliveWith('newest')?.[kind], 0, kind);
  });

  it('live with the words of the user exactly if the user said them', () => {
    assert.deepEqual(aliveWith('codex_rule'), {
      rule: 1,
      cap: 1,
      path: 0,
      id: 1,
      decision: 0,
      superseded: 1,
    });
  });

  it('of every kind live through five compactions of this engine', () => {
    const alive = aliveWith('context');
    for (const kind of CANARIES) assert.equal(alive?.[kind], 1, kind);
  });

  it('are the same for the same seed', () => {
    assert.deepEqual(reportOf(1), report);
  });
});
