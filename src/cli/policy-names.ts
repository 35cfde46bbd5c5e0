/** Policies that can be asked for by name, in the order shown. */
export const POLICY_NAMES = ['none', 'built_in', 'codex', 'claude_like', 'seed', 'baton'] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];
