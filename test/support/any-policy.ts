// Policies drawn at random.

import * as fc from 'fast-check';
import { BOUNDARIES, MID_TURN_MODES } from '../../src/vocabulary.ts';
import type { Policy, TierPolicy } from '../../src/watcher/policy.ts';
import { SPEC_POLICY } from './policy.ts';

const anyTier = (): fc.Arbitrary<TierPolicy> =>
  fc.record({
    percentRemainingBelow: fc.integer({ min: 0, max: 100 }),
    usedTokensFrom: fc.option(fc.nat(300_000), { nil: undefined }),
    required: fc.uniqueArray(fc.constantFrom(...BOUNDARIES)),
    plansNeedSemanticBreak: fc.boolean(),
    decisionPromptPath: fc.option(fc.constant('judgment.md'), { nil: undefined }),
  });

/** Any policy, its thresholds in any order. */
export const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    isEnabled: fc.boolean(),
    midTurn: fc.constantFrom(...MID_TURN_MODES),
    tiers: fc.record({ early: anyTier(), ready: anyTier(), asap: anyTier(), emergency: anyTier() }),
    cooldownTurns: fc.nat(5),
    cooldownMs: fc.nat(300_000),
    turnCompleteSufficesBelow: fc.nat(100),
  })
  .map((changes) => ({ ...SPEC_POLICY, ...changes }));
