// How bubblewrap is told to confine a command.

import type { SandboxMode } from '../vocabulary.ts';

/** What a sandbox is built around. Paths are absolute, with links resolved. */
export interface SandboxPlaces {
  /** The workspace. */
  readonly root: string;
  /** Where the command runs: the workspace or below. */
  readonly cwd: string;
  /** Where the repository of the workspace keeps its objects, when that is not below the workspace (`git worktree`). */
  readonly gitDirectory: string | undefined;
}

/** Files of a repository that name commands which git runs later, outside of the sandbox. */
const GIT_COMMANDS = ['hooks', 'config', 'config.worktree'];

/**
 * The command line that runs `command` confined: no network, processes of its own that end with it, an empty /tmp and
 * /run (sockets of other programs are there), everything else readable and, but for `workspace_write`, not writable.
 * @source bubblewrap(1) 0.8; docs/decisions/tools.md
 */
export function confinedCommand(
  bubblewrap: string,
  command: readonly string[],
  mode: Exclude<SandboxMode, 'danger_full_access'>,
  { root, cwd, gitDirectory }: SandboxPlaces,
): readonly string[] {
  const bind = mode === 'workspace_write' ? '--bind' : '--ro-bind';
  const repository = gitDirectory ?? `${root}/.git`;
  return [
    bubblewrap,
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    '/run',
    '--ro-bind-try',
    '/run/current-system',
    '/run/current-system',
    ...(gitDirectory === undefined ? [] : [bind, gitDirectory, gitDirectory]),
    bind,
    root,
    root,
    ...(mode === 'workspace_write'
      ? GIT_COMMANDS.flatMap((name) => ['--ro-bind-try', `${repository}/${name}`, `${repository}/${name}`])
      : []),
    '--chdir',
    cwd,
    '--',
    ...command,
  ];
}
