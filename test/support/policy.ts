// The watcher's default rules as the specification states them, for tests and benchmarks that must not depend on
// the configuration.

import type { Boundary } from '../../src/vocabulary.ts';
import type { Policy, TierPolicy } from '../../src/watcher/policy.ts';

const EARLY: readonly Boundary[] = [
  'plan_checkpoint',
  'plan_update',
  'pr_checkpoint',
  'phase_completed',
  'topic_shift',
];
const READY: readonly Boundary[] = [...EARLY, 'commit'];
const ASAP: readonly Boundary[] = [...READY, 'agent_done', 'concluding_thought'];

export function tier(percentRemainingBelow: number, changes: Partial<TierPolicy> = {}): TierPolicy {
  return {
    percentRemainingBelow,
    usedTokensFrom: undefined,
    required: [],
    plansNeedSemanticBreak: false,
    decisionPromptPath: undefined,
    ...changes,
  };
}

export const SPEC_POLICY: Policy = {
  isEnabled: true,
  mode: 'auto',
  isTurnBased: true,
  packetAuthor: 'agent',
  combinesRequests: true,
  writesScratch: true,
  midTurn: 'golden',
  tiers: {
    early: tier(85, { required: EARLY, plansNeedSemanticBreak: true }),
    ready: tier(75, { required: READY, plansNeedSemanticBreak: true }),
    asap: tier(65, { required: ASAP }),
    emergency: tier(15),
  },
  cooldownTurns: 2,
  cooldownMs: 120_000,
  turnCompleteSufficesBelow: 40,
  defersToNextMessage: false,
  deadlinesMs: { judgment: 30_000, scratch: 120_000, packet: 180_000, compaction: 300_000, handoff: 30_000 },
  infoLines: 'all',
};

/** The policy with one tier changed. */
export function withTier(name: keyof Policy['tiers'], changes: Partial<TierPolicy>): Policy {
  return {
    ...SPEC_POLICY,
    tiers: { ...SPEC_POLICY.tiers, [name]: { ...SPEC_POLICY.tiers[name], ...changes } },
  };
}
