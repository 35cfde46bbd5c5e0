// The policies that `baton replay` compares.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../replay/limit.ts';
import { POLICY_NAMES } from './policy-names.ts';
import type { PolicyName } from './policy-names.ts';
import type { LimitRule } from '../replay/limit.ts';
import { WatcherPlayer } from '../replay/watched.ts';
import { writeSummary } from '../trail/write.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import type { Policy } from '../watcher/policy.ts';
import type { PolicyChoice } from '../replay/replay.ts';

/** A configuration to be compared, with what it is called. */
export interface NamedConfig {
  readonly name: string;
  readonly config: Config;
}

/** The policies to be played: those asked for, all without; and one for each configuration. */
export function choosePolicies(
  { effective }: { readonly effective: Config; readonly compared: readonly NamedConfig[] },
  wanted: readonly PolicyName[] = POLICY_NAMES,
): readonly PolicyChoice[] {
  return POLICY_NAMES.filter((name) => wanted.includes(name)).map((name) => POLICIES[name](effective));
}

const POLICIES: Readonly<Record<PolicyName, (effective: Config) => PolicyChoice>> = {
  none: () => ({ name: 'none', makePlayer: (world) => new NonePlayer(world) }),
  built_in: (effective) => watched('built_in', effective, { ...BATON, isEnabled: false }),
  codex: () => limited(CODEX_RULE),
  claude_like: () => limited(CLAUDE_RULE),
  seed: () => watched('seed', DEFAULT_CONFIG, SEED),
  baton: () => watched('baton', DEFAULT_CONFIG, BATON),
};

function watched(name: string, config: Config, policy: Policy): PolicyChoice {
  return { name, makePlayer: (world) => new WatcherPlayer({ name, policy, config, texts: TEXTS }, world) };
}

function limited(rule: LimitRule): PolicyChoice {
  return { name: rule.policy, makePlayer: (world) => new LimitPlayer(rule, world) };
}

const EARLY = ['plan_checkpoint', 'plan_update', 'pr_checkpoint', 'phase_completed', 'topic_shift'] as const;
const tier = (below: number, required: Policy['tiers']['early']['required'], plans: boolean) => ({
  percentRemainingBelow: below,
  usedTokensFrom: undefined,
  required,
  plansNeedSemanticBreak: plans,
  decisionPromptPath: undefined,
});
const BATON: Policy = {
  isEnabled: true,
  mode: 'auto',
  isTurnBased: true,
  packetAuthor: 'agent',
  combinesRequests: true,
  writesScratch: true,
  midTurn: 'golden',
  tiers: {
    early: tier(85, EARLY, true),
    ready: tier(75, [...EARLY, 'commit'], true),
    asap: tier(65, [...EARLY, 'commit', 'agent_done', 'concluding_thought'], false),
    emergency: tier(15, [], false),
  },
  cooldownTurns: 2,
  cooldownMs: 120_000,
  turnCompleteSufficesBelow: 40,
  defersToNextMessage: false,
  deadlinesMs: { judgment: 30_000, scratch: 120_000, packet: 180_000, compaction: 300_000, handoff: 30_000 },
  infoLines: 'all',
};
const SEED: Policy = { ...BATON, midTurn: 'tiered', turnCompleteSufficesBelow: 0 };
const TEXTS = {
  request: (steps: readonly string[]) => steps.join(' ').padEnd(2_000, ' please'),
  packet: (trail: Parameters<typeof writeSummary>[0]) =>
    writeSummary(trail, { budgetTokens: 1_500, count: approximateTokens }).text,
  handoff: ({ packet }: { packet: { text: string } }) => packet.text,
};
