// The policies that `baton replay` compares.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../replay/limit.ts';
import { POLICY_NAMES } from './policy-names.ts';
import type { PolicyName } from './policy-names.ts';
import type { LimitRule } from '../replay/limit.ts';
import { WatcherPlayer } from '../replay/watched.ts';
import { BATON_POLICY, BUILT_IN_POLICY, SEED_POLICY } from '../replay/policies.ts';
import type { Policy } from '../watcher/policy.ts';
import type { PolicyChoice } from '../replay/replay.ts';

/** A configuration to be compared, with what it is called. */
export interface NamedConfig {
  readonly name: string;
  readonly config: Config;
}

/** The policies to be played: those asked for, all without; and one for each configuration. */
export function choosePolicies(
  { effective, compared }: { readonly effective: Config; readonly compared: readonly NamedConfig[] },
  wanted: readonly PolicyName[] = POLICY_NAMES,
): readonly PolicyChoice[] {
  return [
    ...POLICY_NAMES.filter((name) => wanted.includes(name)).map((name) => POLICIES[name](effective)),
    ...compared.map(({ name, config }) => watched(name, config, policyOf(config))),
  ];
}

function policyOf({ compact }: Config): Policy {
  return { ...BATON_POLICY, isEnabled: compact.enabled && compact.autoCompactEnabled };
}

const POLICIES: Readonly<Record<PolicyName, (effective: Config) => PolicyChoice>> = {
  none: () => ({ name: 'none', makePlayer: (world) => new NonePlayer(world) }),
  built_in: (effective) => watched('built_in', effective, BUILT_IN_POLICY),
  codex: () => limited(CODEX_RULE),
  claude_like: () => limited(CLAUDE_RULE),
  seed: () => watched('seed', DEFAULT_CONFIG, SEED_POLICY),
  baton: () => watched('baton', DEFAULT_CONFIG, BATON_POLICY),
};

function watched(name: string, config: Config, policy: Policy): PolicyChoice {
  return { name, makePlayer: (world) => new WatcherPlayer({ name, policy, config }, world) };
}

function limited(rule: LimitRule): PolicyChoice {
  return { name: rule.policy, makePlayer: (world) => new LimitPlayer(rule, world) };
}
