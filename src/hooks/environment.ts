// The environment of a hook: Baton's own, without what looks like a key.

/** Set for every hook, so that Baton, when a hook runs it, knows that its own hooks must rest. */
export const INSIDE_HOOK = 'INSIDE_BATON_HOOK';

/**
 * Names of variables that hold keys and passwords. `TOKENS` and `TOKEN_LIMIT` are counts, and no secrets.
 * @source docs/decisions/hooks.md
 */
const SECRET_NAME = /API_?KEY|ACCESS_KEY$|PRIVATE_KEY$|TOKEN(?:_?\d+)?$|SECRET|PASSWORD|PASSWD|PASSPHRASE/i;

/**
 * The variables that a hook gets.
 * @param keyVariables names that hold keys whatever they are called, e.g. `env_key` of a provider
 */
export function hookEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keyVariables: readonly string[],
): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || SECRET_NAME.test(name) || keyVariables.includes(name)
      ? []
      : [[name, value] as const],
  );
  return { ...Object.fromEntries(kept), [INSIDE_HOOK]: '1' };
}
