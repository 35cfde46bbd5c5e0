// The environment of a hook.

import { userEnvironment } from '../system/environment.ts';

/** Set for every hook, so that Baton, when a hook runs it, knows that its own hooks must rest. */
export const INSIDE_HOOK = 'INSIDE_BATON_HOOK';

/**
 * The variables that a hook gets: Baton's own, without what looks like a key.
 * @param keyVariables names that hold keys whatever they are called, e.g. `env_key` of a provider
 */
export function hookEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keyVariables: readonly string[],
): Record<string, string> {
  return { ...userEnvironment(env, keyVariables), [INSIDE_HOOK]: '1' };
}
