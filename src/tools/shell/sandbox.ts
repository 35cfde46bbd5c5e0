// How bubblewrap is told to confine a command.

import type { SandboxMode } from '../../vocabulary.ts';

/** What a sandbox is built around. Paths are absolute, with links resolved. */
export interface SandboxPlaces {
  /** The workspace. */
  readonly root: string;
  /** Where the command runs: the workspace or below. */
  readonly cwd: string;
  /** What differs from the workspace, and what belongs to it elsewhere; outermost first. */
  readonly mounts: readonly SandboxMount[];
  /** Sockets on which programs outside may listen: closed in the sandbox. */
  readonly sockets: readonly string[];
}

/** A path that is a mount of its own: inside the sandbox it can be neither renamed nor replaced. */
export interface SandboxMount {
  readonly path: string;
  readonly access: 'read' | 'write';
}

/**
 * How much of a machine a command is parted from, most first: containers forbid some of it. Each of them drops all
 * capabilities, without which root could mount the disk anew.
 * @source bubblewrap(1) 0.8; `openWorld` tries which of them works
 */
export const ISOLATIONS: readonly (readonly string[])[] = [
  ['--unshare-user', '--disable-userns'],
  ['--unshare-user'],
  [],
].map((own) => [...own, '--cap-drop', 'ALL']);

/** A program that can confine commands, and one of `ISOLATIONS`. */
export interface Bubblewrap {
  readonly path: string;
  readonly isolation: readonly string[];
}

/**
 * The command line that runs `command` confined: no network, no sockets of other programs, no capabilities, no terminal,
 * processes of its own that end with it, an empty /tmp and /run, everything else readable and, but for `workspace_write`, not
 * writable.
 * @source bubblewrap(1) 0.8; docs/decisions/tools.md
 */
export function confinedCommand(
  { path, isolation }: Bubblewrap,
  command: readonly string[],
  mode: Exclude<SandboxMode, 'danger_full_access'>,
  { root, cwd, mounts, sockets }: SandboxPlaces,
): readonly string[] {
  const canWrite = mode === 'workspace_write';
  const bind = (mount: SandboxMount): readonly string[] => [
    canWrite && mount.access === 'write' ? '--bind' : '--ro-bind',
    mount.path,
    mount.path,
  ];
  // A mount hides what was mounted below it before.
  const isAround = (mount: SandboxMount): boolean => root.startsWith(`${mount.path}/`);
  return [
    path,
    '--die-with-parent',
    '--new-session',
    ...isolation,
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
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
    ...[
      ...mounts.filter(isAround),
      { path: root, access: 'write' } as const,
      ...mounts.filter((mount) => !isAround(mount)),
    ].flatMap(bind),
    ...sockets.flatMap((socket) => ['--ro-bind', '/dev/null', socket]),
    '--chdir',
    cwd,
    '--',
    ...command,
  ];
}

/**
 * Where sockets may be that other programs listen on. A network namespace does not close those that have a path: connecting to
 * that of Docker gives the whole machine, connecting to an agent's signs with the user's keys.
 * @param unixTable `/proc/net/unix`: what listens in this network namespace
 * @param mountTable `/proc/self/mountinfo`: a socket from outside of a container is a mount of its own
 * @returns absolute paths, not yet looked at
 * @source proc_net(5), proc_pid_mountinfo(5)
 */
export function socketCandidates(unixTable: string, mountTable: string): ReadonlySet<string> {
  const paths = unixTable.split('\n').map((line) => line.split(' ').slice(UNIX_PATH_COLUMN).join(' '));
  const points = mountTable
    .split('\n')
    .map((line) => unescapeMount(line.split(' ')[MOUNT_POINT_COLUMN] ?? ''));
  return new Set([...paths, ...points].filter((path) => path.startsWith('/')));
}

const UNIX_PATH_COLUMN = 7;
const MOUNT_POINT_COLUMN = 4;

/** Blanks and backslashes are written in octal digits. */
function unescapeMount(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Whether a path is where a sandbox has directories of its own, which hide it unless a mount shows it. */
export function isReplaced(path: string): boolean {
  return /^\/(?:dev|proc|run|tmp)\//.test(path);
}

/**
 * Reports by its status whether it is confined: no capability is left, and the disk is mounted for reading only. It needs no
 * program but the shell.
 */
export const CONFINEMENT_PROBE = `
caps= options=
while read -r name value; do [ "$name" = CapEff: ] && caps=$value; done < /proc/self/status
while read -r _ _ _ _ point flags _; do [ "$point" = / ] && options=,$flags,; done < /proc/self/mountinfo
case $caps in *[!0]* | '') echo "capabilities stay: $caps"; exit 1;; esac
case $options in *,ro,*) ;; *) echo 'the disk stays writable'; exit 1;; esac
`;
