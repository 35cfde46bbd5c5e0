// Builds the bubblewrap arguments that confine a command.

import type { SandboxMode } from '../../vocabulary.ts';

/** The paths of a sandbox. Absolute, with links resolved. */
export interface SandboxPlaces {
  /** The workspace. */
  readonly root: string;
  /** The working directory of the command: the workspace or below. */
  readonly cwd: string;
  /** Paths that differ from the workspace, and paths elsewhere that belong to it; outermost first. */
  readonly mounts: readonly SandboxMount[];
  /** Sockets of programs outside: hidden in the sandbox. */
  readonly sockets: readonly string[];
}

/** A path that is a separate mount: inside the sandbox it can be neither renamed nor replaced. */
export interface SandboxMount {
  readonly path: string;
  readonly access: 'read' | 'write';
}

/**
 * Levels of isolation, strongest first: containers forbid some of them. Each one drops all capabilities, with which root could
 * otherwise remount the disk.
 * @source bubblewrap(1) 0.8; `openWorld` tries which of them works
 */
export const ISOLATIONS: readonly (readonly string[])[] = [
  ['--unshare-user', '--disable-userns'],
  ['--unshare-user'],
  [],
].map((own) => [...own, '--cap-drop', 'ALL']);

/** A program that can confine commands, and how far it can. */
export interface Bubblewrap {
  readonly path: string;
  /** One of `ISOLATIONS`. */
  readonly isolation: readonly string[];
  /**
   * How many bytes of memory each of /tmp and /dev/shm may hold. Undefined: the program takes no `--size`, and the kernel's limit
   * applies: half of the memory for each of /tmp, /dev/shm and /run.
   * @source bubblewrap 0.7, which introduced `--size` and refuses it if it is setuid; tmpfs(5)
   */
  readonly scratchBytes: number | undefined;
}

/** Most of what /tmp and /dev/shm may each hold. @source docs/decisions/tools.md, "The sandbox" */
const MOST_SCRATCH_BYTES = 2 * 1024 ** 3;

/** What /run may hold, in bytes: process ids and sockets. @source docs/decisions/tools.md, "The sandbox" */
const RUN_BYTES = 16 * 1024 ** 2;

/**
 * The limit of /tmp and of /dev/shm: together at most half of the memory, as for a single directory in memory by default.
 * @param memoryBytes the memory of the machine, or of the container
 * @source tmpfs(5)
 */
export function scratchLimit(memoryBytes: number): number {
  return Math.min(MOST_SCRATCH_BYTES, Math.floor(memoryBytes / 4));
}

/**
 * The command line that runs `command` confined: without network, without sockets of other programs, capabilities or a terminal,
 * with a process tree that ends with it, and with an empty /tmp and /run. Everything else is readable and, except for
 * `workspace_write`, not writable.
 * @source bubblewrap(1) 0.8; docs/decisions/tools.md
 */
export function confinedCommand(
  { path, isolation, scratchBytes }: Bubblewrap,
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
  const inMemory = (place: string, bytes: number): readonly string[] => [
    ...(scratchBytes === undefined ? [] : ['--size', String(Math.min(bytes, scratchBytes))]),
    '--tmpfs',
    place,
  ];
  // A mount hides earlier mounts below it.
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
    ...inMemory('/dev/shm', MOST_SCRATCH_BYTES),
    // It is in memory as well, and takes no limit.
    '--remount-ro',
    '/dev',
    '--proc',
    '/proc',
    ...inMemory('/tmp', MOST_SCRATCH_BYTES),
    ...inMemory('/run', RUN_BYTES),
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
 * Possible paths of sockets that other programs listen on. A network namespace does not close sockets with a path: Docker's gives
 * access to the whole machine, and an agent's signs with the user's keys.
 * @param unixTable `/proc/net/unix`: the sockets that listen in this network namespace
 * @param mountTable `/proc/self/mountinfo`: a socket from outside a container is a separate mount
 * @returns absolute paths, not yet checked
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

/** Spaces and backslashes are written as octal escapes. */
function unescapeMount(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Whether a path is inside a directory that the sandbox replaces, and so hidden unless a mount shows it. */
export function isReplaced(path: string): boolean {
  return /^\/(?:dev|proc|run|tmp)\//.test(path);
}

/**
 * Exits with a status that says whether it is confined: no capability is left, and the disk is mounted read-only. It needs only
 * the shell.
 */
export const CONFINEMENT_PROBE = `
caps= options=
while read -r name value; do [ "$name" = CapEff: ] && caps=$value; done < /proc/self/status
while read -r _ _ _ _ point flags _; do [ "$point" = / ] && options=,$flags,; done < /proc/self/mountinfo
case $caps in *[!0]* | '') echo "capabilities stay: $caps"; exit 1;; esac
case $options in *,ro,*) ;; *) echo 'the disk stays writable'; exit 1;; esac
`;
