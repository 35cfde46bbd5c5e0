// Builds the environments of child processes from Baton's own. Pure.
//
// Variables in `CommandIo` and in the terms of a thread may be undefined, but a process needs defined values: only these
// functions convert one into the other.

import { redact } from '../text/redact.ts';

/** The environment of the process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Names of variables that hold keys and passwords. `TOKENS` and `TOKEN_LIMIT` are counts, not secrets.
 * @source docs/decisions/hooks.md
 */
const SECRET_NAME = /API_?KEY|ACCESS_KEY$|PRIVATE_KEY$|TOKEN(?:_?\d+)?$|SECRET|PASSWORD|PASSWD|PASSPHRASE/i;

/** What Baton's own programs (git, ripgrep, bubblewrap) need for their search path, settings and language. */
const PROGRAM_NAMES = namesOf(`
   PATH HOME USER LOGNAME LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP LD_LIBRARY_PATH XDG_CONFIG_HOME
   GIT_CEILING_DIRECTORIES GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM
`);

/**
 * Further variables for commands of a model: user, place, and settings of builds. Excludes sockets of agents, desktops and buses
 * (`SSH_AUTH_SOCK`, `DBUS_…`, `DISPLAY`, `XDG_RUNTIME_DIR`), clouds and services.
 * @source docs/decisions/tools.md, the environment of commands
 */
const COMMAND_NAMES = [
  ...PROGRAM_NAMES,
  ...namesOf(`
   SHELL TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR* EDITOR VISUAL PAGER CI HOSTNAME XDG_DATA_*
   XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_DIRS INSIDE_BATON_HOOK GIT_AUTHOR_* GIT_COMMITTER_*
   DEBIAN_FRONTEND SOURCE_DATE_EPOCH MANPATH INFOPATH HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY
   SSL_CERT_* CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_* NPM_CONFIG_* NVM_* FNM_* VOLTA_* COREPACK_*
   YARN_* PNPM_* BUN_* DENO_* PYTHON* PYENV_* VIRTUAL_ENV* CONDA_* MAMBA_* PIP_* PIPENV_* POETRY_* UV_*
   GO111MODULE GOARCH GOBIN GOCACHE GOENV GOFLAGS GOMODCACHE GONOPROXY GONOSUMDB GOOS GOPATH GOPRIVATE
   GOPROXY GOROOT GOSUMDB GOTMPDIR GOTOOLCHAIN CGO_* CARGO_* RUST* JAVA_* JDK_* MAVEN_* M2_HOME
   GRADLE_* KOTLIN_* SDKMAN_* ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_* RUBYOPT RUBYLIB RBENV_*
   GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_GEMFILE COMPOSER_HOME DOTNET_* NUGET_PACKAGES PERL5LIB MIX_*
   ERL_* CC CXX CPP LD AR AS NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS LIBRARY_PATH CPATH
   *_INCLUDE_PATH DYLD_* MAKE MAKEFLAGS CMAKE_* PKG_CONFIG* ACLOCAL_PATH CCACHE_* OMP_* CUDA_* SDKROOT
   DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE IN_NIX_SHELL
   HOMEBREW_PREFIX HOMEBREW_CELLAR
  `),
];

/** The same for names that begin like the settings of a tool, e.g. `NPM_CONFIG__AUTH`. */
const SECRET_LATER = /AUTH(?!OR)|TOKEN|CREDENTIAL|COOKIE|PASS$|_PWD$|_KEY$|_PAT$|_DSN$/i;

/** What determines a command's environment besides the list. */
export interface CommandTerms {
  /** Names that hold Baton's keys regardless of their form: `env_key` of every provider. They never pass. */
  readonly keyVariables: readonly string[];
  /** `shell_environment.pass`: further names from the user; a final `*` matches any ending. */
  readonly pass: readonly string[];
}

/**
 * The listed variables that a command of a model may see. A variable whose name or value looks like a secret passes only if the
 * user wrote its full name.
 */
export function commandEnvironment(
  env: Variables,
  { keyVariables, pass }: CommandTerms,
): Record<string, string> {
  return chosen(env, (name, value) => {
    if (keyVariables.includes(name)) return false;
    if (pass.includes(name)) return true;
    const isListed = isOneOf(COMMAND_NAMES, name.toUpperCase()) || isOneOf(pass, name);
    return isListed && !looksSecret(name, value);
  });
}

/** The variables of a program that Baton starts for itself. */
export function programEnvironment(env: Variables): Record<string, string> {
  return chosen(env, (name, value) => isOneOf(PROGRAM_NAMES, name) && !looksSecret(name, value));
}

/**
 * The variables of a hook: all except those whose names say that they hold keys. A hook is one of the user's own commands.
 * @param keyVariables names that hold keys regardless of their form
 */
export function userEnvironment(env: Variables, keyVariables: readonly string[]): Record<string, string> {
  return chosen(env, (name) => !SECRET_NAME.test(name) && !keyVariables.includes(name));
}

function chosen(env: Variables, isChosen: (name: string, value: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && isChosen(name, value) ? [[name, value]] : [],
    ),
  );
}

function namesOf(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

/** Whether a name is listed; `*` at the beginning or end of a listed name matches anything. */
function isOneOf(names: readonly string[], name: string): boolean {
  return names.some((listed) => {
    if (listed.endsWith('*')) return name.startsWith(listed.slice(0, -1));
    return listed.startsWith('*') ? name.endsWith(listed.slice(1)) : name === listed;
  });
}

function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_LATER.test(name) || redact(value) !== value;
}
