// Decides which parts of a repository a confined command may write. Only scripts that run nothing but git may write at all; and
// even these can neither change nor add files that name commands for later.

import { lstat, mkdir, readdir, readlink, realpath, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isBelow, readSmallFile } from '../../system/planted.io.ts';
import { hasSucceeded, runGit } from '../../system/git.io.ts';
import type { CancelSignal } from '../../ports.ts';
import type { GitScript } from './git-script.ts';
import type { SandboxMount } from './sandbox.ts';

/** A workspace and the environment in which git is asked about its repository. */
export interface RepositoryQuestion {
  /** The workspace. */
  readonly root: string;
  /** The environment of git. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: CancelSignal;
}

/** Git's facts about a workspace. Paths are absolute. */
export interface RepositoryFacts {
  /** The top of the work tree: the workspace or above. */
  readonly top: string;
  /** The directory that belongs to this work tree alone. */
  readonly gitDirectory: string;
  /** The directory that all work trees share: `gitDirectory` itself if there is only one. */
  readonly commonDirectory: string;
}

/** Asks git for the repository of a workspace; undefined without a repository, or if its work tree is elsewhere. */
export async function lookAtRepository({
  root,
  env,
  signal,
}: RepositoryQuestion): Promise<RepositoryFacts | undefined> {
  const args = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-dir', '--git-common-dir'];
  const answer = await runGit(args, root, { env, signal });
  const [top, gitDirectory, commonDirectory] = answer.output.toString('utf8').split('\n');
  if (!hasSucceeded(answer) || top === undefined || gitDirectory === undefined) return undefined;
  if (commonDirectory === undefined) return undefined;
  // `core.worktree` can name any directory: accept only one that contains the repository.
  const isOwn = (top === root || isBelow(root, top)) && (await kindOf(join(top, '.git'))) !== 'absent';
  return isOwn ? { top, gitDirectory, commonDirectory } : undefined;
}

/** A script's access to the repository. */
export interface RepositoryAccess {
  /** Outermost first. */
  readonly mounts: readonly SandboxMount[];
  /** Why a git-only script cannot write there: a sentence for the model. */
  readonly why?: string;
  /**
   * Call this when the script has ended: it removes what `open` added and what the script planted.
   * @returns the planted files, as a sentence for the model
   */
  close(): Promise<string | undefined>;
}

/**
 * Prepares the repository of a workspace for one script in the sandbox.
 * @throws Error with a sentence for the model where the repository cannot be protected
 */
export async function openRepository(
  question: RepositoryQuestion,
  script: GitScript,
): Promise<RepositoryAccess> {
  const { root } = question;
  const door = join(root, '.git');
  const kind = await kindOf(door);
  if (kind === 'link') {
    throw new Error(
      `${door} is a symbolic link, which the sandbox cannot protect. Replace it with a file that holds "gitdir: " and the path.`,
    );
  }
  const isFree = kind === 'absent' || (kind === 'directory' && (await isEmpty(door)));
  if (isFree && script === 'init') return { mounts: [], close: nothing };
  const placeholders = new Placeholders();
  // A mount needs an existing path. An empty directory is not a repository: git searches further up.
  if (isFree) await placeholders.put(door, undefined);
  const repository = await lookAtRepository(question);
  const closed: SandboxMount[] = [];
  if (repository !== undefined && repository.top !== root) {
    closed.push({ path: repository.top, access: 'read' });
  }
  closed.push({ path: door, access: 'read' });
  const others = repository === undefined ? [] : [repository.commonDirectory, repository.gitDirectory];
  for (const path of others) {
    if (path !== door && !isBelow(path, door)) closed.push(...pinned(path, root, 'read'));
  }
  const onlyReads = { mounts: closed, close: async () => placeholders.take() };
  if (script !== 'git' || repository === undefined) return onlyReads;
  const problem = await whyNotWritable(repository, question);
  if (problem !== undefined) return { ...onlyReads, why: `${problem} So .git stays read-only.` };
  const before = await Planted.look(repository);
  const guards = await guardsOf(repository, placeholders);
  const { gitDirectory, commonDirectory } = repository;
  const mounts = [
    ...closed.filter(({ path }) => path !== commonDirectory && path !== gitDirectory),
    ...pinned(commonDirectory, root, 'write'),
    ...guards.filter(({ path }) => dirname(path) === commonDirectory),
    ...(gitDirectory === commonDirectory ? [] : [{ path: gitDirectory, access: 'write' } as const]),
    ...guards.filter(({ path }) => dirname(path) !== commonDirectory),
  ];
  const close = async (): Promise<string | undefined> => {
    await placeholders.take();
    return before.remove(repository);
  };
  return { mounts, close };
}

/** The same for a read-only sandbox: the repository must be visible there, wherever it is. */
export async function repositoryToRead(question: RepositoryQuestion): Promise<readonly SandboxMount[]> {
  const repository = await lookAtRepository(question);
  if (repository === undefined) return [];
  const { top, commonDirectory } = repository;
  // Only for paths in a directory that the sandbox empties, such as /tmp.
  return [top, commonDirectory].flatMap((path) =>
    path === question.root || isBelow(path, question.root) ? [] : [{ path, access: 'read' } as const],
  );
}

/**
 * A path with the directories between it and the workspace as mounts: otherwise one of these could be renamed with its content.
 */
export function pinned(path: string, root: string, access: SandboxMount['access']): readonly SandboxMount[] {
  const mounts: SandboxMount[] = [{ path, access }];
  for (let parent = dirname(path); isBelow(parent, root); parent = dirname(parent)) {
    mounts.unshift({ path: parent, access: 'write' });
  }
  return mounts;
}

async function nothing(): Promise<undefined> {
  return undefined;
}

type Kind = 'absent' | 'file' | 'directory' | 'link';

async function kindOf(path: string): Promise<Kind> {
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'directory' : 'file';
  } catch {
    return 'absent';
  }
}

async function isEmpty(directory: string): Promise<boolean> {
  return (await readdir(directory).catch(() => ['unreadable'])).length === 0;
}

/** Names in a repository that decide what git runs, or where that is configured. A directory has undefined content. */
const GUARDED: readonly (readonly [name: string, content: string | undefined])[] = [
  ['config', ''],
  ['config.worktree', ''],
  ['hooks', undefined],
  // Repositories of submodules and of other work trees, each with a separate configuration.
  ['modules', undefined],
  ['worktrees', undefined],
  // It names the directory that holds the configuration: this one.
  ['commondir', '.\n'],
];

/** Files of one work tree that locate its repository: git created both with it. */
const LINKS_OF_TREE = ['commondir', 'gitdir'];

async function guardsOf(
  { gitDirectory, commonDirectory }: RepositoryFacts,
  placeholders: Placeholders,
): Promise<readonly SandboxMount[]> {
  const paths: string[] = [];
  const guard = async (path: string, content: string | undefined): Promise<void> => {
    await placeholders.put(path, content);
    paths.push(path);
  };
  for (const [name, content] of GUARDED) await guard(join(commonDirectory, name), content);
  if (gitDirectory !== commonDirectory) {
    await guard(join(gitDirectory, 'config.worktree'), '');
    paths.push(...LINKS_OF_TREE.map((name) => join(gitDirectory, name)));
  }
  return paths.map((path) => ({ path, access: 'read' }));
}

/** Why a git-only script may not write in a repository, as a sentence. */
async function whyNotWritable(
  { top, gitDirectory, commonDirectory }: RepositoryFacts,
  { root, env, signal }: RepositoryQuestion,
): Promise<string | undefined> {
  for (const [name] of GUARDED) {
    const path = join(commonDirectory, name);
    if ((await kindOf(path)) === 'link') return `${path} is a symbolic link.`;
  }
  const door = join(top, '.git');
  if (gitDirectory === door || isBelow(gitDirectory, root)) return undefined;
  // A planted file can name any of the user's repositories: that repository must name the work tree in return.
  const back = textOf(join(gitDirectory, 'gitdir')) ?? '';
  if (back !== '' && (await isSame(resolve(gitDirectory, back.trim()), door))) return undefined;
  const { output } = await runGit(['config', 'core.worktree'], root, { env, signal });
  const tree = output.toString('utf8').trim();
  if (tree !== '' && (await isSame(resolve(gitDirectory, tree), top))) return undefined;
  return `The repository ${commonDirectory} does not name ${top} as one of its work trees.`;
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => realpath(path).catch(() => undefined)),
  );
  return first !== undefined && first === second;
}

/** How many scripts of this process need a placeholder: removing it ends its mount for all of them. */
const needed = new Map<string, number>();

/** Placeholders that only a killed process would leave behind. */
const LEFT_OVER = new Set(['.git', 'commondir']);

/** Empty files and directories as mount points for missing paths. Git treats each of them as missing. */
class Placeholders {
  readonly #put: (readonly [path: string, content: string | undefined])[] = [];

  /** @param content of a file; undefined: a directory */
  async put(path: string, content: string | undefined): Promise<void> {
    try {
      if (content === undefined) await mkdir(path);
      else await writeFile(path, content, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const isLeftover = LEFT_OVER.has(basename(path)) && (await isPlaceholder(path, content));
      if (!needed.has(path) && !isLeftover) return;
    }
    needed.set(path, (needed.get(path) ?? 0) + 1);
    this.#put.push([path, content]);
  }

  /** Removes placeholders that are no longer needed. Those that are no longer empty stay. */
  async take(): Promise<undefined> {
    for (const [path, content] of this.#put.splice(0)) {
      const others = (needed.get(path) ?? 1) - 1;
      if (others > 0) needed.set(path, others);
      else {
        needed.delete(path);
        if (content === undefined) await rmdir(path).catch(() => undefined);
        else if (await isPlaceholder(path, content)) await unlink(path).catch(() => undefined);
      }
    }
  }
}

async function isPlaceholder(path: string, content: string | undefined): Promise<boolean> {
  const kind = await kindOf(path);
  if (content === undefined) return kind === 'directory' && (await isEmpty(path));
  if (kind !== 'file' || (await lstat(path)).size !== content.length) return false;
  return textOf(path) === content;
}

/** Directories of a repository where git follows links when it writes; of `objects` only the first level. */
const FOLLOWED = new Set(['info', 'logs', 'objects', 'rebase-apply', 'rebase-merge', 'refs', 'sequencer']);

/** Maximum number of entries to check for links: a larger `.git` cannot be watched. */
const MAX_ENTRIES = 200_000;

/**
 * Mounts cannot protect these paths, because git itself writes there: they are recorded before a script, and additions are
 * removed after it.
 */
class Planted {
  readonly #links: ReadonlySet<string>;
  readonly #commands: ReadonlySet<string>;
  readonly #strategies: ReadonlyMap<string, string>;

  private constructor(
    links: readonly string[],
    commands: readonly string[],
    strategies: ReadonlyMap<string, string>,
  ) {
    this.#links = new Set(links);
    this.#commands = new Set(commands);
    this.#strategies = strategies;
  }

  static async look(repository: RepositoryFacts): Promise<Planted> {
    const commands = commandsIn(textOf(todoOf(repository)) ?? '');
    return new Planted(await linksOut(repository), commands, strategiesOf(repository));
  }

  /**
   * Removes links through which git would write elsewhere outside the sandbox, and commands that a rebase, cherry-pick or revert
   * in progress would run when it continues.
   */
  async remove(repository: RepositoryFacts): Promise<string | undefined> {
    const strategies = [...strategiesOf(repository)].filter(
      ([path, text]) => this.#strategies.get(path) !== text,
    );
    const links = (await linksOut(repository)).filter((path) => !this.#links.has(path));
    const removed = [...links, ...strategies.map(([path]) => path)];
    for (const path of removed) await unlink(path).catch(() => undefined);
    const todo = todoOf(repository);
    const text = textOf(todo) ?? '';
    const planted = new Set(commandsIn(text).filter((line) => !this.#commands.has(line)));
    if (planted.size > 0) {
      const rest = text.split('\n').filter((line) => !planted.has(line));
      await writeFile(todo, rest.join('\n'));
      removed.push(todo);
    }
    if (removed.length === 0) return undefined;
    return `Removed from the repository, because git would have run or followed it outside the sandbox: ${removed.join(', ')}.`;
  }
}

/** Room for a line per commit of a rebase: a thousand times the largest realistic rebase. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/** A text of git's own; undefined for anything but a regular file. */
function textOf(path: string): string | undefined {
  const read = readSmallFile(path, { maxBytes: LARGEST_TEXT, links: 'refuse' });
  return read.kind === 'bytes' ? read.bytes.toString('utf8') : undefined;
}

function todoOf({ gitDirectory }: RepositoryFacts): string {
  return join(gitDirectory, 'rebase-merge', 'git-rebase-todo');
}

/** The lines of a rebase that run a command. @source git-rebase(1), git 2.39 */
function commandsIn(todo: string): readonly string[] {
  return todo.split('\n').filter((line) => /^\s*(?:x|exec)\s/.test(line));
}

/**
 * Merge strategies that are part of git; for any other, git runs a program `git-merge-NAME`, possibly from the work tree. @source
 * git-merge(1), git 2.39
 */
const OWN_STRATEGIES = new Set(['octopus', 'ort', 'ours', 'recursive', 'resolve', 'subtree']);

/** Files that name the merge strategy with which a rebase, cherry-pick or revert continues, if it is not one of git's own. */
function strategiesOf({ gitDirectory }: RepositoryFacts): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const rebase = join(gitDirectory, 'rebase-merge', 'strategy');
  const strategy = textOf(rebase);
  if (strategy !== undefined && !OWN_STRATEGIES.has(strategy.trim())) found.set(rebase, strategy);
  const sequence = join(gitDirectory, 'sequencer', 'opts');
  const options = textOf(sequence) ?? '';
  const isOwn = options
    .split('\n')
    .every(
      (line) =>
        !/strategy(?!-option)/i.test(line) ||
        OWN_STRATEGIES.has(/^\tstrategy = (\w+)$/.exec(line)?.[1] ?? ''),
    );
  if (!isOwn) found.set(sequence, options);
  return found;
}

/** Links in a repository that lead outside it. */
async function linksOut({ gitDirectory, commonDirectory }: RepositoryFacts): Promise<string[]> {
  const found: string[] = [];
  let entries = 0;
  const visit = async (directory: string, top: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      if (++entries > MAX_ENTRIES) return;
      const path = join(directory, entry.name);
      if (entry.isSymbolicLink()) {
        const target = await readlink(path).catch(() => '/');
        if (!isBelow(resolve(directory, target), top)) found.push(path);
      } else if (
        entry.isDirectory() &&
        (directory === top ? FOLLOWED.has(entry.name) : !isStore(directory))
      ) {
        await visit(path, top);
      }
    }
  };
  for (const top of new Set([commonDirectory, gitDirectory])) await visit(top, top);
  return found;
}

function isStore(directory: string): boolean {
  return directory.endsWith('/objects');
}
