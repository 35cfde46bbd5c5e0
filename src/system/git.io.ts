// The only place where Baton itself starts git, never for the model. Nothing that a repository names is run, and nothing is
// contacted. docs/decisions/tools.md gives the reasons; test/architecture/git.test.ts enforces that it is the only place.

import { lstatSync, opendirSync } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { CancelSignal } from '../ports.ts';
import { refusalOf } from './planted.io.ts';
import { findProgram, programDirectories, runProcess } from './processes.io.ts';
import type { ProcessEnd } from './processes.io.ts';

/** Default limit of git's output in bytes, beyond which git is ended: the paths of 100,000 files are far smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

/** Longest error text to keep, in characters. */
const MAX_COMPLAINT = 2000;

/**
 * Git's variables for the locations of the user's configuration and of git itself. All others are dropped: they point git at
 * another repository, name commands, or write traces.
 * @source git(1), git 2.39
 */
const KEPT_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_ATTR_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CONFIG_SYSTEM',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  'GIT_EXEC_PATH',
]);

/**
 * Settings that override every configuration file. An empty list of protocols already disables every transport, including lazy
 * fetches of missing objects; the settings repeat it.
 * @source git-config(1), git 2.39: every setting that names a command and has a fixed name
 */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  // With it, git does not list a file whose name differs from that of another one only in case.
  ['core.ignorecase', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['sequence.editor', 'false'],
  ['core.askPass', 'false'],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', 'false'],
  ['core.alternateRefsCommand', 'false'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.ssh.defaultKeyCommand', 'false'],
  ['log.showSignature', 'false'],
  ['status.submoduleSummary', 'false'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  ['safe.bareRepository', 'explicit'],
  ['protocol.allow', 'never'],
  ...['ext', 'fd', 'file', 'ftp', 'ftps', 'git', 'http', 'https', 'ssh'].map(
    (protocol) => [`protocol.${protocol}.allow`, 'never'] as const,
  ),
];

const VARIABLES = {
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
} as const;

/**
 * Git commands that never run the drivers of a configuration on a work tree file. Drivers have arbitrary names
 * (`filter.NAME.clean`), so all other commands need one more git to list them.
 */
const WITHOUT_DRIVERS: ReadonlySet<string> = new Set([
  '--version',
  'check-ignore',
  'config',
  'for-each-ref',
  'ls-files',
  'rev-parse',
  'update-ref',
]);

/** Driver settings that name commands. @source gitattributes(5), git 2.39 */
const DRIVERS = String.raw`^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv)|merge\..*\.driver)$`;

/** How to run git. */
export interface GitTerms {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: CancelSignal;
  readonly input?: string | Uint8Array;
  /**
   * Git variables to set after removing those of `env` that point elsewhere. `GIT_DIR` may only name a repository that Baton
   * created, whose configuration names no drivers.
   */
  readonly variables?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** How long a stopped git may remove its lock files, in milliseconds; 0, the default, for commands without locks. */
  readonly graceMs?: number;
}

/** Git's answer. */
export interface GitAnswer {
  readonly end: ProcessEnd;
  readonly output: Buffer;
  /** Its error output, trimmed; in English. */
  readonly errors: string;
  /** Git was not started: it would have waited for something that is not a file. */
  readonly wouldWait?: true;
}

/** Runs git once. Output beyond the limit ends it. Never rejects. */
export async function runGit(args: readonly string[], cwd: string, terms: GitTerms): Promise<GitAnswer> {
  const top = topOf(cwd);
  const planted = plantedIn(top);
  if (planted !== undefined) return refuse(planted);
  const found = await findGit(top, terms.env['PATH'] ?? '');
  const { input: _, ...listing } = terms;
  const start = (settings: typeof SETTINGS, words: readonly string[], how: GitTerms) =>
    listen([found.path, ...words], cwd, how, {
      ...environmentOf(terms, settings),
      PATH: found.searched,
    });
  const isOwn = terms.variables?.['GIT_DIR'] !== undefined;
  if (isOwn || WITHOUT_DRIVERS.has(verbOf(args))) return start(SETTINGS, args, terms);
  const list = ['config', '--includes', '-z', '--name-only', '--get-regexp', DRIVERS];
  const listed = await start(SETTINGS, list, listing);
  // 1: none is configured.
  if (listed.end.type !== 'exited' || listed.end.status > 1) return listed;
  const drivers = listed.output.toString('utf8').split('\0').slice(0, -1);
  const silenced = drivers.map((key) => [key, key.endsWith('.required') ? 'false' : ''] as const);
  return start([...SETTINGS, ...silenced], args, terms);
}

/** Whether git succeeded. */
export function hasSucceeded({ end }: GitAnswer): boolean {
  return end.type === 'exited' && end.status === 0;
}

async function listen(
  command: readonly string[],
  cwd: string,
  terms: GitTerms,
  env: Readonly<Record<string, string>>,
): Promise<GitAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  const flood = new AbortController();
  const stop = (): void => flood.abort();
  terms.signal.addEventListener('abort', stop);
  if (terms.signal.aborted) stop();
  const end = await runProcess(
    {
      command,
      cwd,
      env,
      ...(terms.input === undefined ? {} : { input: terms.input }),
      timeoutMs: terms.timeoutMs ?? TIMEOUT_MS,
      graceMs: terms.graceMs ?? 0,
      leftovers: 'kill',
    },
    (chunk, stream) => {
      if (stream === 'stderr') errors = (errors + chunk.toString('utf8')).slice(0, MAX_COMPLAINT);
      else if ((bytes += chunk.length) <= MAX_OUTPUT_BYTES) chunks.push(chunk);
      else stop();
    },
    flood.signal,
  );
  terms.signal.removeEventListener('abort', stop);
  if (bytes > MAX_OUTPUT_BYTES) {
    chunks.length = 0;
    errors = `it wrote more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`;
  }
  return { end, output: Buffer.concat(chunks), errors: errors.trim() };
}

/** The git command in an argument list: options before it have the form `-c KEY=VALUE`. */
function verbOf(args: readonly string[]): string {
  return args.find((word, at) => word !== '-c' && args[at - 1] !== '-c') ?? '';
}

function environmentOf(
  { env, variables }: GitTerms,
  settings: typeof SETTINGS,
): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT_VARIABLES.has(name));
  // By variables, because a name may contain the sign that separates key and value on a command line.
  const given = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ]);
  return {
    ...Object.fromEntries([...kept, ...given]),
    GIT_CONFIG_COUNT: String(settings.length),
    ...VARIABLES,
    ...variables,
  };
}

/**
 * Files, besides refs, that git opens at fixed places, and waits for if they are named pipes; relative to the top of a work tree.
 * @source git 2.39, by strace
 */
const OPENED = [
  '.gitattributes',
  '.gitignore',
  '.gitmodules',
  '.git',
  ...[
    'HEAD',
    'commondir',
    'config',
    'config.worktree',
    'index',
    'info/attributes',
    'info/exclude',
    'info/grafts',
    'info/sparse-checkout',
    'objects/info/alternates',
    'objects/info/commit-graph',
    'objects/pack/multi-pack-index',
    'packed-refs',
    'shallow',
  ].map((name) => `.git/${name}`),
];

/** Something that is neither a file nor a directory where git would open it: a sentence in git's manner. */
function plantedIn(top: string): string | undefined {
  for (const name of OPENED) {
    const path = join(top, name);
    const stats = lookAt(path);
    if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) continue;
    const refusal = refusalOf(stats);
    if (refusal !== undefined) return `fatal: ${path} ${refusal}`;
  }
  return plantedAmongRefs(join(top, '.git', 'refs'));
}

/**
 * Names below `.git/refs` that are looked at before each git, nearest first. A pipe beyond them makes git wait until its deadline.
 * @source docs/decisions/tools.md, "Baton's own git"
 */
const MOST_REFS = 1000;

/** The same for a ref: git reads most of them to find one. */
function plantedAmongRefs(refs: string): string | undefined {
  const directories = [refs];
  let left = MOST_REFS;
  for (const path of directories) {
    if (left === 0) return undefined;
    const entries = entriesOf(path, left);
    left -= entries.length;
    for (const entry of entries) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) directories.push(below);
      else if (!entry.isFile() && !entry.isSymbolicLink()) {
        const stats = lookAt(below);
        const refusal = stats === undefined ? undefined : refusalOf(stats);
        if (refusal !== undefined) return `fatal: ${below} ${refusal}`;
      }
    }
  }
  return undefined;
}

/** The first entries of a directory, in no order; none if it cannot be read. */
function entriesOf(path: string, most: number): readonly Dirent[] {
  try {
    const directory = opendirSync(path);
    try {
      const entries: Dirent[] = [];
      while (entries.length < most) {
        const entry = directory.readSync();
        if (entry === null) break;
        entries.push(entry);
      }
      return entries;
    } finally {
      directory.closeSync();
    }
  } catch {
    return [];
  }
}

/** What a git would say that looks before it opens. @source git(1): 128 is the status of a fatal error */
function refuse(errors: string): GitAnswer {
  return { end: { type: 'exited', status: 128 }, output: Buffer.alloc(0), errors, wouldWait: true };
}

/** The program, and the directories in which it finds others: none of the work tree that it is asked about. */
async function findGit(
  top: string,
  path: string,
): Promise<{ readonly path: string; readonly searched: string }> {
  const directories = await programDirectories(path, top);
  return {
    path: (await findProgram('git', directories)) ?? MISSING,
    searched: directories.join(delimiter),
  };
}

/** A name that no search finds: `runProcess` reports it like any other missing program. */
const MISSING = '/nonexistent/git';

/** The nearest directory at or above another that holds a repository, or that directory itself. */
function topOf(cwd: string): string {
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (lookAt(join(directory, '.git')) !== undefined) return directory;
    if (dirname(directory) === directory) return cwd;
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
