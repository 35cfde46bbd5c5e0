// The policies that `baton replay` compares.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { builtInRule, CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../replay/limit.ts';
import { POLICY_NAMES } from './policy-names.ts';
import type { PolicyName } from './policy-names.ts';
import type { LimitRule } from '../replay/limit.ts';
import type { PolicyChoice } from '../replay/replay.ts';
import { thresholdSettings } from './session.ts';

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
  built_in: (effective) => limited(builtInRule(thresholdSettings(effective)), effective),
  codex: () => limited(CODEX_RULE, DEFAULT_CONFIG),
  claude_like: () => limited(CLAUDE_RULE, DEFAULT_CONFIG),
};

function limited(rule: LimitRule, config: Config): PolicyChoice {
  return { name: rule.policy, makePlayer: (world) => new LimitPlayer(rule, config, world) };
}
