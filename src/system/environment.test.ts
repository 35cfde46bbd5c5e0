import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandEnvironment, programEnvironment } from './environment.ts';

const NOTHING = { keyVariables: [], pass: [] } as const;

function isGiven(
  name: string,
  value = 'x',
  terms: Parameters<typeof commandEnvironment>[1] = NOTHING,
): boolean {
  return name in commandEnvironment({ [name]: value }, terms);
}

/** In pieces, so that no scanner takes this file for a leak. */
const TOKEN = `gh${'p_'}Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAbCd`;

const SECRET = `
  OPENAI_API_KEY ANTHROPIC_AUTH_TOKEN GITHUB_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_PROFILE AWS_SESSION_TOKEN
  GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_SECRET KUBECONFIG DATABASE_URL REDIS_URL MONGODB_URI PGPASSWORD MYSQL_PWD
  SLACK_WEBHOOK SENTRY_DSN STRIPE_KEY VAULT_ADDR DOCKER_AUTH_CONFIG COMPOSER_AUTH NPM_CONFIG__AUTH NODE_AUTH_TOKEN
  npm_config__authToken CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_MINE_TOKEN PIP_PASSWORD UV_PUBLISH_PASSWORD
  POETRY_HTTP_BASIC_MINE_PASSWORD POETRY_PYPI_TOKEN_MINE GRADLE_PUBLISH_KEY HOMEBREW_GITHUB_API_TOKEN
  SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNUPGHOME DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY
  WAYLAND_DISPLAY XAUTHORITY GIT_ASKPASS GIT_SSH_COMMAND GIT_CONFIG_VALUE_0 BATON_HOME`;

const USUAL = `
  PATH HOME USER LOGNAME SHELL LANG LC_ALL TERM TZ TMPDIR XDG_CACHE_HOME CI NODE_OPTIONS NODE_PATH NPM_CONFIG_CACHE
  npm_config_registry NVM_DIR GOPATH GOFLAGS CARGO_HOME RUSTUP_HOME RUSTFLAGS JAVA_HOME PYTHONPATH VIRTUAL_ENV
  CONDA_PREFIX PKG_CONFIG_PATH CC CFLAGS C_INCLUDE_PATH LD_LIBRARY_PATH https_proxy NODE_EXTRA_CA_CERTS
  GIT_AUTHOR_NAME`;

describe('the environment of a command', () => {
  for (const name of SECRET.trim().split(/\s+/)) {
    it(`has no ${name}`, () => assert.equal(isGiven(name), false));
  }
  for (const name of USUAL.trim().split(/\s+/)) {
    it(`has ${name}`, () => assert.equal(isGiven(name), true));
  }

  it('has no value that looks like a secret, whatever its name', () => {
    assert.equal(isGiven('NODE_OPTIONS', `--title=${TOKEN}`), false);
    assert.equal(isGiven('HTTPS_PROXY', 'http://ada:hunter2@proxy:8080'), false);
    assert.equal(isGiven('HTTPS_PROXY', 'http://proxy:8080'), true);
  });

  it('has what the user lists, by name whatever it holds, by its beginning only without secrets', () => {
    const terms = { keyVariables: ['MY_LAB'], pass: ['GITHUB_TOKEN', 'MY_*'] };
    assert.equal(isGiven('GITHUB_TOKEN', TOKEN, terms), true);
    assert.equal(isGiven('MY_FLAG', 'x', terms), true);
    assert.equal(isGiven('my_flag', 'x', terms), false);
    assert.equal(isGiven('MY_API_KEY', 'x', terms), false);
    assert.equal(isGiven('MY_OTHER', TOKEN, terms), false);
    assert.equal(isGiven('MY_LAB', 'x', terms), false, 'a key of Baton');
    assert.equal(isGiven('MY_LAB', 'x', { ...terms, pass: ['MY_LAB'] }), false, 'nor by name');
  });

  it('keeps the case of names and drops what has no value', () => {
    const env = { https_proxy: 'http://proxy', GOPATH: '', CI: undefined };
    assert.deepEqual(commandEnvironment(env, NOTHING), { https_proxy: 'http://proxy', GOPATH: '' });
  });
});

it("a program of Baton's own sees little", () => {
  const names = [
    'PATH',
    'HOME',
    'LC_ALL',
    'GIT_CONFIG_GLOBAL',
    'GIT_SSH_COMMAND',
    'NODE_OPTIONS',
    'GITHUB_TOKEN',
  ];
  const given = programEnvironment(Object.fromEntries(names.map((name) => [name, 'x'])));
  assert.deepEqual(Object.keys(given), ['PATH', 'HOME', 'LC_ALL', 'GIT_CONFIG_GLOBAL']);
});
