// The policies that `baton replay` compares.

import type { Config } from '../config/schema.ts';
import { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../replay/limit.ts';
import type { LimitRule } from '../replay/limit.ts';
import type { PolicyChoice } from '../replay/replay.ts';
import { WatcherPlayer } from '../replay/watched.ts';
import { resolvePolicy } from '../watcher/policy.ts';
import { signalSettings } from '../watcher/signals.ts';
import { POLICY_NAMES } from './policy-names.ts';
import type { PolicyName } from './policy-names.ts';

/** A configuration to be compared, with what it is called. */
export interface NamedConfig {
  readonly name: string;
  readonly config: Config;
}

/** The configurations that policies are made of. */
export interface ReplayConfigs {
  /** In force for this run. */
  readonly effective: Config;
  readonly compared: readonly NamedConfig[];
}

/** The policies to be played: those asked for, all without; and one for each configuration. */
export async function choosePolicies(
  { effective, compared }: ReplayConfigs,
  wanted: readonly PolicyName[] = POLICY_NAMES,
): Promise<readonly PolicyChoice[]> {
  const named = POLICY_NAMES.filter((name) => wanted.includes(name)).map((name) => POLICIES[name](effective));
  return [...(await Promise.all(named)), ...compared.map(({ name, config }) => watched(name, config))];
}

const POLICIES: Readonly<Record<PolicyName, (effective: Config) => PolicyChoice | Promise<PolicyChoice>>> = {
  none: () => ({ name: 'none', makePlayer: (world) => new NonePlayer(world) }),
  built_in: (effective) =>
    watched('built_in', { ...effective, features: { ...effective.features, rawrAutoCompaction: false } }),
  codex: () => limited(CODEX_RULE),
  claude_like: () => limited(CLAUDE_RULE),
  seed: async () => watched('seed', await seedConfig()),
  baton: (effective) => watched('baton', effective),
};

async function seedConfig(): Promise<Config> {
  // The schema is loaded for this alone.
  const { resolveConfig } = await import('../config/resolve.ts');
  const overrides = ['rawr_auto_compaction.preset="seed"'];
  return resolveConfig({ overrides, variables: {}, files: [] }).config;
}

/** What would happen if the watcher were let: a mode that only says so would leave nothing to be seen. */
function watched(name: string, config: Config): PolicyChoice {
  const policy = { ...resolvePolicy(config), mode: 'auto' } as const;
  return {
    name,
    signals: signalSettings(config),
    makePlayer: (world) => new WatcherPlayer({ name, policy, config }, world),
  };
}

function limited(rule: LimitRule): PolicyChoice {
  return { name: rule.policy, makePlayer: (world) => new LimitPlayer(rule, world) };
}
