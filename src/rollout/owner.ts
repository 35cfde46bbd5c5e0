// The writer of a rollout, and whether its process is still alive.

import * as z from 'zod';

/** Identifies a process, even against a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Its start time in the system's own format; undefined where unknown. */
  readonly startedAt?: string | undefined;
  /** Where its number is valid: a boot of a machine, or a container on it. */
  readonly realm: Realm;
}

/** A running system. */
export interface Realm {
  readonly host: string;
  /** Changes with every boot; undefined where unknown. */
  readonly boot?: string | undefined;
  /** The namespace of process numbers, as containers have; undefined without namespaces. */
  readonly namespace?: string | undefined;
}

/** The owner of a lock. */
export interface Owner extends ProcessIdentity {
  /** Unique for each lock ever taken. */
  readonly nonce: string;
  /** ISO 8601, by the owner's clock; for people. */
  readonly since: string;
}

const ownerSchema = z.looseObject({
  pid: z.int().positive(),
  startedAt: z.string().optional(),
  realm: z.looseObject({
    host: z.string(),
    boot: z.string().optional(),
    namespace: z.string().optional(),
  }),
  nonce: z.string().regex(/^[\w-]{1,64}$/),
  since: z.string(),
});

/** The owner that a lock file names, or undefined when it names none. */
export function readOwner(text: string): Owner | undefined {
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The text of a lock file. */
export function writeOwner(owner: Owner): string {
  return `${JSON.stringify(owner)}\n`;
}

/**
 * Whether an owner's process can be looked up here. `elsewhere`: it is, or may be, a process of another machine or container,
 * about which nothing can be known. `gone`: the machine has restarted since.
 */
export function placeOwner({ realm }: Owner, here: Realm): 'here' | 'elsewhere' | 'gone' {
  if (realm.boot !== undefined && here.boot !== undefined) {
    if (realm.boot !== here.boot) return realm.host === here.host ? 'gone' : 'elsewhere';
    return realm.namespace === here.namespace ? 'here' : 'elsewhere';
  }
  return realm.host === here.host ? 'here' : 'elsewhere';
}

/**
 * Whether the process with the owner's number is the owner.
 * @param observed when that process started; undefined without a process, or for a zombie
 */
export function isAlive(
  owner: Owner,
  observed: { readonly startedAt?: string | undefined } | undefined,
): boolean {
  if (observed === undefined) return false;
  // Where the start time is unknown, the number has to suffice.
  if (owner.startedAt === undefined || observed.startedAt === undefined) return true;
  return owner.startedAt === observed.startedAt;
}

/**
 * When a process started and whether it is alive, on Linux.
 * @param stat the text of `/proc/PID/stat`
 * @source proc(5): the state is the first field after the name in parentheses, the start time the twentieth
 */
export function readProcStat(stat: string): { readonly startedAt: string } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startedAt = fields[19];
  if (startedAt === undefined || state === 'Z' || state === 'X' || state === 'x') return undefined;
  return { startedAt };
}
