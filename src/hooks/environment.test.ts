import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hookEnvironment } from './environment.ts';

function isGiven(name: string): boolean {
  return name in hookEnvironment({ [name]: 'x' }, []);
}

describe('the environment of a hook', () => {
  const secrets = [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY_2',
    'OPENAI_APIKEY',
    'openrouter_api_key',
    'ANTHROPIC_AUTH_TOKEN',
    'GITHUB_TOKEN',
    'TOKEN',
    'HF_TOKEN2',
    'AWS_SECRET_ACCESS_KEY',
    'CLIENT_SECRET_ID',
    'DB_PASSWORD',
    'PGPASSWORD',
    'SSH_KEY_PASSPHRASE',
    'SIGNING_PRIVATE_KEY',
  ];
  for (const name of secrets) {
    it(`has no ${name}`, () => assert.equal(isGiven(name), false));
  }

  const harmless = [
    'PATH',
    'HOME',
    'LANG',
    'SSH_AUTH_SOCK',
    'AWS_ACCESS_KEY_ID',
    'TOKENIZERS_PARALLELISM',
    'BATON_MODEL_AUTO_COMPACT_TOKEN_LIMIT',
    'BATON_COMPACT__RESTORE_TOKENS_PER_FILE',
    'KEYBOARD',
  ];
  for (const name of harmless) {
    it(`has ${name}`, () => assert.equal(isGiven(name), true));
  }

  it('has no variable that is said to hold a key, and none without a value', () => {
    const given = hookEnvironment({ LAB: 'x', OTHER: 'y', UNSET: undefined }, ['LAB']);
    assert.deepEqual(given, { OTHER: 'y', INSIDE_BATON_HOOK: '1' });
  });
});
