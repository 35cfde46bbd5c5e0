// Policies of the watcher for tests: the shipped numbers, and what a test wants otherwise.

import type { Policy, TierPolicy } from '../../src/watcher/policy.ts';
import type { Boundary, Tier } from '../../src/vocabulary.ts';

const EARLY = ['plan_checkpoint', 'plan_update', 'pr_checkpoint', 'phase_completed', 'topic_shift'] as const;
const READY = [...EARLY, 'commit'] as const;
const ASAP = [...READY, 'agent_done', 'concluding_thought'] as const;

function tier(percentRemainingBelow: number, required: readonly Boundary[]): TierPolicy {
  return {
    percentRemainingBelow,
    usedTokensFrom: undefined,
    required,
    plansNeedSemanticBreak: false,
    decisionPromptPath: undefined,
  };
}

/** @source spec 3-watcher §3, §4, §7 */
const SHIPPED: Policy = {
  isEnabled: true,
  mode: 'auto',
  isTurnBased: true,
  packetAuthor: 'agent',
  combinesRequests: true,
  writesScratch: true,
  midTurn: 'golden',
  tiers: { early: tier(85, EARLY), ready: tier(75, READY), asap: tier(65, ASAP), emergency: tier(15, []) },
  cooldownTurns: 2,
  cooldownMs: 120_000,
  turnCompleteSufficesBelow: 40,
  defersToNextMessage: false,
  deadlinesMs: { judgment: 30_000, scratch: 120_000, packet: 180_000, compaction: 300_000, handoff: 30_000 },
  infoLines: 'all',
};

/** The shipped policy with some of it changed. */
export function policyWith(change: Partial<Policy> = {}): Policy {
  return { ...SHIPPED, ...change };
}

/** Tiers of which one asks a judge. */
export function judgedTiers(judged: Tier): Policy['tiers'] {
  return { ...SHIPPED.tiers, [judged]: { ...SHIPPED.tiers[judged], decisionPromptPath: 'judgment.md' } };
}

/** Tiers that ask for the end of the turn. */
export function turnEndTiers(): Policy['tiers'] {
  const required: readonly Boundary[] = ['turn_complete'];
  return {
    ...SHIPPED.tiers,
    early: { ...SHIPPED.tiers.early, required },
    ready: { ...SHIPPED.tiers.ready, required },
    asap: { ...SHIPPED.tiers.asap, required },
  };
}
