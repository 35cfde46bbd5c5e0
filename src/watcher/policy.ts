// The watcher's rules as values, resolved from a configuration, a prompt's frontmatter or a preset.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { DEFAULT_THRESHOLDS, misorderedTiers } from '../config/tiers.ts';
import type { Thresholds } from '../config/tiers.ts';
import type { Boundary, InfoLines, MidTurnMode, PacketAuthor, Tier, WatcherMode } from '../vocabulary.ts';

/** When a tier applies and what it requires. */
export interface TierPolicy {
  /** The tier applies while less than this percentage of the window remains: 0 (never) to 100. */
  readonly percentRemainingBelow: number;
  /** The tier also applies from this many used tokens on. */
  readonly usedTokensFrom: number | undefined;
  /** Any of these suffices; none: the tier never compacts. An emergency requires none. */
  readonly required: readonly Boundary[];
  /** A plan change counts only beside a commit, a checkpoint, a phase or a semantic boundary. */
  readonly plansNeedSemanticBreak: boolean;
  /** Prompt of the judge that may veto; undefined: no judge is asked. */
  readonly decisionPromptPath: string | undefined;
}

/** What the watcher waits for, each with the milliseconds without activity after which it gives up. */
export const DEADLINES = ['judgment', 'scratch', 'packet', 'compaction', 'handoff'] as const;
export type WatcherDeadline = (typeof DEADLINES)[number];

/** Everything besides events that the watcher's decisions and its sequence depend on. */
export interface Policy {
  /** `features.rawr_auto_compaction`, `compact.enabled` and `compact.auto_compact_enabled` together. */
  readonly isEnabled: boolean;
  readonly mode: WatcherMode;
  /** Off: no heads-up, and a packet without its fence. */
  readonly isTurnBased: boolean;
  readonly packetAuthor: PacketAuthor;
  /** Heads-up, scratch and packet request are one message and one turn. */
  readonly combinesRequests: boolean;
  readonly writesScratch: boolean;
  readonly midTurn: MidTurnMode;
  readonly tiers: Readonly<Record<Tier, TierPolicy>>;
  /** User turns that must end after the last compaction or veto. */
  readonly cooldownTurns: number;
  /** Alternatively, the milliseconds that must pass. */
  readonly cooldownMs: number;
  /** The end of a turn suffices as a boundary while less than this percentage remains; 0: it never suffices alone. */
  readonly turnCompleteSufficesBelow: number;
  /** `turn_complete` is required, so that a watcher-written packet waits for the user's next message. */
  readonly defersToNextMessage: boolean;
  readonly deadlinesMs: Readonly<Record<WatcherDeadline, number>>;
  readonly infoLines: InfoLines;
}

/** What the frontmatter of `auto-compact.md` may set; configuration overrides it. */
export interface PromptTrigger {
  readonly thresholds: Partial<Thresholds>;
  /** Narrows the sets of the tiers; empty: leaves them unchanged. */
  readonly requiresAnyBoundary: readonly Boundary[];
}

const NO_TRIGGER: PromptTrigger = { thresholds: {}, requiresAnyBoundary: [] };

type WaitingTier = Exclude<Tier, 'emergency'>;

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

/** The default boundaries of each tier. */
export const TIER_BOUNDARIES: Readonly<Record<WaitingTier, readonly Boundary[]>> = {
  early: EARLY,
  ready: READY,
  asap: ASAP,
};

/**
 * Resolves a configuration. Frontmatter thresholds that would break the order of the tiers are ignored;
 * `policyWarnings` reports them.
 */
export function resolvePolicy(config: Config, trigger: PromptTrigger = NO_TRIGGER): Policy {
  const { features, compact, rawrAutoCompaction: watcher } = config;
  const thresholds = resolveThresholds(config, trigger);
  const waiting = (tier: WaitingTier): TierPolicy => ({
    percentRemainingBelow: thresholds[tier],
    usedTokensFrom: watcher.policy[tier].usedTokensGe,
    required: requiredBoundaries(config, trigger, tier),
    plansNeedSemanticBreak: watcher.policy[tier].planBoundariesRequireSemanticBreak,
    decisionPromptPath: watcher.policy[tier].decisionPromptPath,
  });
  const tiers: Policy['tiers'] = {
    early: waiting('early'),
    ready: waiting('ready'),
    asap: waiting('asap'),
    emergency: {
      percentRemainingBelow: thresholds.emergency,
      usedTokensFrom: watcher.policy.emergency.usedTokensGe,
      required: [],
      plansNeedSemanticBreak: false,
      decisionPromptPath: undefined,
    },
  };
  return {
    isEnabled: features.rawrAutoCompaction && compact.enabled && compact.autoCompactEnabled,
    mode: watcher.mode,
    isTurnBased: watcher.turnBasedHandoff,
    packetAuthor: watcher.packetAuthor,
    combinesRequests: watcher.combineRequests,
    writesScratch: watcher.scratchWriteEnabled,
    midTurn: watcher.midTurn,
    tiers,
    cooldownTurns: watcher.cooldownTurns,
    cooldownMs: watcher.cooldownSeconds * 1000,
    turnCompleteSufficesBelow: watcher.turnCompleteSufficesBelow,
    defersToNextMessage:
      watcher.packetAuthor === 'watcher' &&
      Object.values(tiers).some(({ required }) => required.includes('turn_complete')),
    deadlinesMs: {
      judgment: watcher.judgmentDeadlineSeconds * 1000,
      scratch: watcher.scratchDeadlineSeconds * 1000,
      packet: watcher.packetDeadlineSeconds * 1000,
      compaction: watcher.compactionDeadlineSeconds * 1000,
      handoff: watcher.handoffDeadlineSeconds * 1000,
    },
    infoLines: watcher.infoLines,
  };
}

/** Each threshold from the configuration, else the frontmatter, else the default. */
function resolveThresholds(config: Config, { thresholds }: PromptTrigger): Thresholds {
  const asked = chooseThresholds(config, thresholds);
  return misorderedTiers(asked) === undefined ? asked : chooseThresholds(config, {});
}

function chooseThresholds(
  { rawrAutoCompaction: { policy } }: Config,
  asked: PromptTrigger['thresholds'],
): Thresholds {
  const threshold = (tier: Tier): number =>
    policy[tier].percentRemainingLt ?? asked[tier] ?? DEFAULT_THRESHOLDS[tier];
  return {
    early: threshold('early'),
    ready: threshold('ready'),
    asap: threshold('asap'),
    emergency: threshold('emergency'),
  };
}

/** The frontmatter settings that `resolvePolicy` cannot use with this configuration, as sentences. */
export function policyWarnings(config: Config, { thresholds }: PromptTrigger): readonly string[] {
  const asked = chooseThresholds(config, thresholds);
  const misorder = misorderedTiers(asked);
  if (misorder === undefined) return [];
  const { policy } = config.rawrAutoCompaction;
  const told = (tier: Tier): string => {
    const origin =
      policy[tier].percentRemainingLt !== undefined
        ? 'the configuration'
        : thresholds[tier] === undefined
          ? 'the default'
          : 'the frontmatter';
    return `${tier} (${asked[tier]}, ${origin})`;
  };
  const [calm, urgent] = misorder;
  return [
    `The thresholds in the frontmatter of auto-compact.md are not used: that of ${told(calm)} would be below that of ${told(urgent)}.`,
  ];
}

function requiredBoundaries(
  { rawrAutoCompaction: { policy, trigger: configured } }: Config,
  { requiresAnyBoundary }: PromptTrigger,
  tier: WaitingTier,
): readonly Boundary[] {
  const own = policy[tier].requiresAnyBoundary;
  if (own !== undefined) return own;
  const narrowed = configured.autoRequiresAnyBoundary ?? requiresAnyBoundary;
  if (narrowed.length === 0) return TIER_BOUNDARIES[tier];
  return narrowed.filter(
    (boundary) => boundary === 'turn_complete' || TIER_BOUNDARIES[tier].includes(boundary),
  );
}

/** The policy without any configuration. */
export const DEFAULT_POLICY: Policy = resolvePolicy(DEFAULT_CONFIG);
