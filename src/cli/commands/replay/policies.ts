// The policies that `baton replay` compares.

import type { Config } from '../../../config/schema.ts';
import { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../../../lab/replay/limit.ts';
import type { LimitRule } from '../../../lab/replay/limit.ts';
import type { PolicyChoice } from '../../../lab/replay/replay.ts';
import { WatcherPlayer } from '../../../lab/replay/watched.ts';
import { resolvePolicy } from '../../../watcher/policy.ts';
import type { PromptTrigger } from '../../../watcher/policy.ts';
import { signalSettings } from '../../../watcher/signals/signals.ts';
import { POLICY_NAMES } from './policy-names.ts';
import type { PolicyName } from './policy-names.ts';

/** A configuration to compare, with its name. */
export interface NamedConfig {
  readonly name: string;
  readonly config: Config;
}

/** The configurations that define the policies. */
export interface ReplayConfigs {
  /** The effective configuration of this run. */
  readonly effective: Config;
  readonly compared: readonly NamedConfig[];
}

/** Reads the frontmatter of the packet request under a configuration; undefined: it sets nothing. */
type ReadTrigger = (config: Config) => Promise<PromptTrigger | undefined>;

/** The policies to replay: those requested, or all; and one for each configuration. */
export async function choosePolicies(
  { effective, compared }: ReplayConfigs,
  wanted: readonly PolicyName[] = POLICY_NAMES,
  readTrigger: ReadTrigger = () => Promise.resolve(undefined),
): Promise<readonly PolicyChoice[]> {
  const configured = async (name: string, config: Config) => watched(name, config, await readTrigger(config));
  const named = POLICY_NAMES.filter((name) => wanted.includes(name)).map((name) =>
    name === 'baton' ? configured(name, effective) : POLICIES[name](effective),
  );
  return Promise.all([...named, ...compared.map(({ name, config }) => configured(name, config))]);
}

const POLICIES: Readonly<
  Record<Exclude<PolicyName, 'baton'>, (effective: Config) => PolicyChoice | Promise<PolicyChoice>>
> = {
  none: () => ({ name: 'none', makePlayer: (world) => new NonePlayer(world) }),
  built_in: (effective) =>
    watched('built_in', { ...effective, features: { ...effective.features, rawrAutoCompaction: false } }),
  codex: () => limited(CODEX_RULE),
  claude_like: () => limited(CLAUDE_RULE),
  seed: async () => watched('seed', await seedConfig()),
};

async function seedConfig(): Promise<Config> {
  // Only this needs the schema.
  const { resolveConfig } = await import('../../../config/resolve.ts');
  const overrides = ['rawr_auto_compaction.preset="seed"'];
  return resolveConfig({ overrides, variables: {}, files: [] }).config;
}

/** What the watcher would do if allowed: a mode that only reports would show nothing. */
function watched(name: string, config: Config, trigger?: PromptTrigger): PolicyChoice {
  const policy = { ...resolvePolicy(config, trigger), mode: 'auto' } as const;
  return {
    name,
    signals: signalSettings(config),
    makePlayer: (world) => new WatcherPlayer({ name, policy, config }, world),
  };
}

function limited(rule: LimitRule): PolicyChoice {
  return { name: rule.policy, makePlayer: (world) => new LimitPlayer(rule, world) };
}
