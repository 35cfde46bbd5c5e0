// The environment of a hook.

import { userEnvironment } from '../system/environment.ts';

/** Set for every hook, so that a Baton started by a hook does not run hooks itself. */
export const INSIDE_HOOK = 'INSIDE_BATON_HOOK';

/**
 * The variables of a hook: Baton's own, except those that look like keys.
 * @param keyVariables names that hold keys regardless of their form, e.g. `env_key` of a provider
 */
export function hookEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keyVariables: readonly string[],
): Record<string, string> {
  return { ...userEnvironment(env, keyVariables), [INSIDE_HOOK]: '1' };
}
