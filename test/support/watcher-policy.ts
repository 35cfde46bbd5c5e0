// Policies of the watcher for tests of its machine: the specification's, with some of it changed.

import type { Policy } from '../../src/watcher/policy.ts';
import type { Boundary, Tier } from '../../src/vocabulary.ts';
import { SPEC_POLICY, withTier } from './policy.ts';

/** The specification's policy with some of it changed. */
export function policyWith(change: Partial<Policy> = {}): Policy {
  return { ...SPEC_POLICY, ...change };
}

/** Tiers of which one asks a judge. */
export function judgedTiers(judged: Tier): Policy['tiers'] {
  return withTier(judged, { decisionPromptPath: 'judgment.md' }).tiers;
}

/** Tiers that ask for the end of the turn. */
export function turnEndTiers(): Policy['tiers'] {
  const required: readonly Boundary[] = ['turn_complete'];
  const { early, ready, asap, emergency } = SPEC_POLICY.tiers;
  return {
    early: { ...early, required },
    ready: { ...ready, required },
    asap: { ...asap, required },
    emergency,
  };
}
