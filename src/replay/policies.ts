// The watcher's rules that a replay compares without any configuration: Baton's own, and the seeds'.

import type { Boundary } from '../vocabulary.ts';
import type { Policy, TierPolicy } from '../watcher/policy.ts';

/** @source spec 3-watcher §3 */
const EARLY: readonly Boundary[] = [
  'plan_checkpoint',
  'plan_update',
  'pr_checkpoint',
  'phase_completed',
  'topic_shift',
];
const READY: readonly Boundary[] = [...EARLY, 'commit'];
const ASAP: readonly Boundary[] = [...READY, 'agent_done', 'concluding_thought'];

function tier(percentRemainingBelow: number, required: readonly Boundary[], isCalm: boolean): TierPolicy {
  return {
    percentRemainingBelow,
    usedTokensFrom: undefined,
    required,
    plansNeedSemanticBreak: isCalm,
    decisionPromptPath: undefined,
  };
}

/** Thresholds of the tiers, in percent of the window that remain. */
export interface Thresholds {
  readonly early: number;
  readonly ready: number;
  readonly asap: number;
  readonly emergency: number;
}

/** Rules with thresholds for their tiers. */
export function withThresholds(
  policy: Omit<Policy, 'tiers'>,
  { early, ready, asap, emergency }: Thresholds,
): Policy {
  return {
    ...policy,
    tiers: {
      early: tier(early, EARLY, true),
      ready: tier(ready, READY, true),
      asap: tier(asap, ASAP, false),
      emergency: tier(emergency, [], false),
    },
  };
}

/** @source seed 000: 85, 75, 65, 15 */
const SEED_THRESHOLDS: Thresholds = { early: 85, ready: 75, asap: 65, emergency: 15 };

/** @source docs/decisions/replay.md: half of the full compactions of the seed's, and half of what they lose */
export const REPLAYED_THRESHOLDS: Thresholds = { early: 65, ready: 55, asap: 45, emergency: 15 };

const SEED_RULES: Omit<Policy, 'tiers'> = {
  isEnabled: true,
  mode: 'auto',
  isTurnBased: true,
  packetAuthor: 'agent',
  combinesRequests: false,
  writesScratch: true,
  midTurn: 'tiered',
  cooldownTurns: 2,
  cooldownMs: 120_000,
  turnCompleteSufficesBelow: 0,
  defersToNextMessage: false,
  deadlinesMs: {
    judgment: 30_000,
    scratch: 120_000,
    packet: 180_000,
    compaction: 300_000,
    handoff: 30_000,
  },
  infoLines: 'all',
};

/** The seeds' rules: their thresholds, boundaries of the whole turn inside of turns, and no end of a turn by itself. */
export const SEED_POLICY: Policy = withThresholds(SEED_RULES, SEED_THRESHOLDS);

/** Baton's rules. @source spec 3-watcher §7; the thresholds: docs/decisions/replay.md */
export const BATON_POLICY: Policy = withThresholds(
  { ...SEED_POLICY, combinesRequests: true, midTurn: 'golden', turnCompleteSufficesBelow: 40 },
  REPLAYED_THRESHOLDS,
);

/** No watcher: the limit of the engine alone. */
export const BUILT_IN_POLICY: Policy = { ...BATON_POLICY, isEnabled: false };
