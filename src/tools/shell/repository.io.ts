// What of a repository a confined command may write. Nothing of it, but for scripts of git alone; and even these can neither
// change what names commands for later, nor put something there that does.

import { lstat, mkdir, readdir, readlink, realpath, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isBelow, readSmallFile } from '../../system/planted.io.ts';
import { hasSucceeded, runGit } from '../../system/git.io.ts';
import type { CancelSignal } from '../../ports.ts';
import type { GitScript } from './git-script.ts';
import type { SandboxMount } from './sandbox.ts';

/** Whose repository, and how git is asked for it. */
export interface RepositoryQuestion {
  /** The workspace. */
  readonly root: string;
  /** The environment of git. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: CancelSignal;
}

/** What git knows of a workspace. Paths are absolute. */
export interface RepositoryFacts {
  /** The top of the work tree: the workspace or above. */
  readonly top: string;
  /** What belongs to this work tree alone. */
  readonly gitDirectory: string;
  /** What all work trees share: `gitDirectory` itself, where there is one. */
  readonly commonDirectory: string;
}

/** Asks git for the repository of a workspace; undefined where there is none, or where its work tree is elsewhere. */
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
  // `core.worktree` can name any directory: only one that holds the repository is taken for its work tree.
  const isOwn = (top === root || isBelow(root, top)) && (await kindOf(join(top, '.git'))) !== 'absent';
  return isOwn ? { top, gitDirectory, commonDirectory } : undefined;
}

/** How a script meets the repository. */
export interface RepositoryAccess {
  /** Outermost first. */
  readonly mounts: readonly SandboxMount[];
  /** Why a script of git alone cannot write there after all: a sentence for the model. */
  readonly why?: string;
  /**
   * To be called when the script has ended: takes away what `open` put there, and what the script planted.
   * @returns what it planted, as a sentence for the model
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
  // A mount needs something to lie on. An empty directory is not a repository: git looks further up.
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

/** The same for a sandbox that writes nothing: the repository is to be seen there, wherever it is. */
export async function repositoryToRead(question: RepositoryQuestion): Promise<readonly SandboxMount[]> {
  const repository = await lookAtRepository(question);
  if (repository === undefined) return [];
  const { top, commonDirectory } = repository;
  // What lies in a directory that the sandbox empties, such as /tmp.
  return [top, commonDirectory].flatMap((path) =>
    path === question.root || isBelow(path, question.root) ? [] : [{ path, access: 'read' } as const],
  );
}

/** A path with the directories between it and the workspace as mounts: else one of these could be renamed with all in it. */
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

/** Names in a repository that say what is run, or where that is said. A directory's content is undefined. */
const GUARDED: readonly (readonly [name: string, content: string | undefined])[] = [
  ['config', ''],
  ['config.worktree', ''],
  ['hooks', undefined],
  // Repositories of submodules and of other work trees, each with a configuration of its own.
  ['modules', undefined],
  ['worktrees', undefined],
  // It names the directory that holds the configuration: this one.
  ['commondir', '.\n'],
];

/** Files of one work tree that say where its repository is: git made both with it. */
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

/** Why a script of git alone may not write in a repository, as a sentence. */
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
  // A file that a stranger wrote can name any repository of the user's: this one must name the work tree in return.
  const back = textOf(join(gitDirectory, 'gitdir')) ?? '';
  if (back !== '' && (await isSame(resolve(gitDirectory, back.trim()), door))) return undefined;
  const { output } = await runGit(['config', 'core.worktree'], root, { env, signal });
  const tree = output.toString('utf8').trim();
  if (tree !== '' && (await isSame(resolve(gitDirectory, tree), top))) return undefined;
  return `The repository ${commonDirectory} does not name ${top} as a work tree of its own.`;
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => realpath(path).catch(() => undefined)),
  );
  return first !== undefined && first === second;
}

/** How many scripts of this process need a placeholder: its mount ends, for all of them, when it is taken away. */
const needed = new Map<string, number>();

/** What nobody but a process that was killed would leave as a placeholder. */
const LEFT_OVER = new Set(['.git', 'commondir']);

/** Empty files and directories under mounts, where nothing was. Git takes each of them for what is not there. */
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

  /** Takes away what nobody needs any more. What has come to hold something stays. */
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

/** Directories of a repository in which git writes where a name leads; of `objects` only the first level. */
const FOLLOWED = new Set(['info', 'logs', 'objects', 'rebase-apply', 'rebase-merge', 'refs', 'sequencer']);

/** Entries that are looked at for links, at most: beyond it `.git` is too large to be watched. */
const MAX_ENTRIES = 200_000;

/** What cannot be closed by mounts, because git itself writes there: seen before a script and taken away after it. */
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
   * Removes links by which git, outside, would write elsewhere, and what a rebase, a cherry-pick or a revert that is under way
   * would run when it continues.
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
    return `Removed from the repository, because git would have run or followed it outside of the sandbox: ${removed.join(', ')}.`;
  }
}

/** A line for each commit of a rebase: a thousand times more than is ever rebased. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/** A text of git's own; undefined for what is not a regular file. */
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

/** Ways to merge that are part of git; of any other, git runs a program `git-merge-NAME`, also one of the work tree. @source git-merge(1), git 2.39 */
const OWN_STRATEGIES = new Set(['octopus', 'ort', 'ours', 'recursive', 'resolve', 'subtree']);

/** Files that say how a rebase, a cherry-pick or a revert goes on to merge, where that is not one of git's own ways. */
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

/** Links in a repository that lead out of it. */
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
