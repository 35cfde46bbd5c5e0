// The door between Baton's environment and those of its children. Pure.
//
// What `CommandIo` and the terms of a thread hold may have undefined values, and a process is started with values only: nothing
// but these functions turns the one into the other.

import { redact } from '../text/redact.ts';

/** An environment as the process has it. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Names of variables that hold keys and passwords. `TOKENS` and `TOKEN_LIMIT` are counts, and no secrets.
 * @source docs/decisions/hooks.md
 */
const SECRET_NAME = /API_?KEY|ACCESS_KEY$|PRIVATE_KEY$|TOKEN(?:_?\d+)?$|SECRET|PASSWORD|PASSWD|PASSPHRASE/i;

/** What a program of Baton's own needs to be found, to find its settings and to speak: git, ripgrep, bubblewrap. */
const PROGRAM_NAMES = namesOf(`
   PATH HOME USER LOGNAME LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP LD_LIBRARY_PATH XDG_CONFIG_HOME
   GIT_CEILING_DIRECTORIES GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM
`);

/**
 * What a command of a model may see besides: who and where, and what builds are set up with. No sockets of agents,
 * desktops and buses (`SSH_AUTH_SOCK`, `DBUS_…`, `DISPLAY`, `XDG_RUNTIME_DIR`), no clouds, no services.
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

/** What decides on a command's environment besides the list. */
export interface CommandTerms {
  /** Names that hold keys of Baton's, whatever they are called: `env_key` of every provider. They never pass. */
  readonly keyVariables: readonly string[];
  /** `shell_environment.pass`: further names of the user's, with `*` at the end for any ending. */
  readonly pass: readonly string[];
}

/**
 * The variables that a command of a model may see: those of a list. One whose name or value looks like a secret passes only
 * where the user wrote its whole name.
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
 * The variables of a hook: all but those whose names say that they hold keys. A hook is a command of the user's own.
 * @param keyVariables names that hold keys whatever they are called
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

/** `*` at the beginning or end of a listed name stands for anything. */
function isOneOf(names: readonly string[], name: string): boolean {
  return names.some((listed) => {
    if (listed.endsWith('*')) return name.startsWith(listed.slice(0, -1));
    return listed.startsWith('*') ? name.endsWith(listed.slice(1)) : name === listed;
  });
}

function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_LATER.test(name) || redact(value) !== value;
}
