// The environment of commands that Baton runs for others: its own, without what looks like a key.

/**
 * Names of variables that hold keys and passwords. `TOKENS` and `TOKEN_LIMIT` are counts, and no secrets.
 * @source docs/decisions/hooks.md
 */
const SECRET_NAME = /API_?KEY|ACCESS_KEY$|PRIVATE_KEY$|TOKEN(?:_?\d+)?$|SECRET|PASSWORD|PASSWD|PASSPHRASE/i;

/**
 * The variables that may be handed on.
 * @param keyVariables names that hold keys whatever they are called, e.g. `env_key` of a provider
 */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
  keyVariables: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || SECRET_NAME.test(name) || keyVariables.includes(name) ? [] : [[name, value]],
    ),
  );
}
