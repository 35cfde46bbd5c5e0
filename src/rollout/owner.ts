// Who writes to a rollout, and whether that process still lives.

import * as z from 'zod';

/** A process, told from every other one, also from a later one that was given its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in whatever words the system has for it; undefined where it does not say. */
  readonly startedAt?: string | undefined;
  /** Within which numbers of processes mean the same: a boot of a machine, or a container on it. */
  readonly realm: Realm;
}

/** A running system. */
export interface Realm {
  readonly host: string;
  /** Changes with every boot; undefined where the system does not say. */
  readonly boot?: string | undefined;
  /** The namespace of process numbers, as containers have their own; undefined where there are none. */
  readonly namespace?: string | undefined;
}

/** Whoever holds a lock. */
export interface Owner extends ProcessIdentity {
  /** Different for each lock that was ever taken. */
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
 * Whether what is known of an owner suffices to look for its process here. `elsewhere`: it is, or may be, a process of
 * another machine or container, of which nothing can be known. `gone`: the machine was started anew since.
 */
export function placeOwner({ realm }: Owner, here: Realm): 'here' | 'elsewhere' | 'gone' {
  if (realm.boot !== undefined && here.boot !== undefined) {
    if (realm.boot !== here.boot) return realm.host === here.host ? 'gone' : 'elsewhere';
    return realm.namespace === here.namespace ? 'here' : 'elsewhere';
  }
  return realm.host === here.host ? 'here' : 'elsewhere';
}

/**
 * Whether the process that now has the owner's number is the owner.
 * @param observed when that process started; undefined where there is none, or a dead one that nobody has buried yet
 */
export function isAlive(
  owner: Owner,
  observed: { readonly startedAt?: string | undefined } | undefined,
): boolean {
  if (observed === undefined) return false;
  // Where the system does not say when a process started, its number has to do.
  if (owner.startedAt === undefined || observed.startedAt === undefined) return true;
  return owner.startedAt === observed.startedAt;
}

/**
 * When a process started and whether it lives, by Linux.
 * @param stat the text of `/proc/PID/stat`
 * @source proc(5): the state is the first field behind the name in parentheses, the start time the twentieth
 */
export function readProcStat(stat: string): { readonly startedAt: string } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startedAt = fields[19];
  if (startedAt === undefined || state === 'Z' || state === 'X' || state === 'x') return undefined;
  return { startedAt };
}
