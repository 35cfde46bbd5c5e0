// Folders for git's private indexes, one per process, below Baton's home. The home is private, on a disk that must have
// room for sessions anyway, and out of reach of confined commands; a temporary directory is none of these.

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports.ts';
import { NODE_FILES } from '../../rollout/disk.io.ts';
import { takeLock } from '../../rollout/lock.io.ts';

/** A folder for this process alone. */
export interface WorkshopPlace {
  /** Absolute; does not exist yet. */
  readonly directory: string;
  /** Removes it. Never rejects: the next start removes the rest. */
  release(): Promise<void>;
}

const FOLDER = 'snapshots';
const NAME = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\.lock)?$/;

/**
 * Claims a folder below a home.
 * @throws BatonError `output_failed`; the failure of the file system
 */
export async function claimWorkshop(home: string, clock: Clock): Promise<WorkshopPlace> {
  const folder = join(home, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return claim(join(folder, randomUUID()), clock);
}

/** Removes the folders of killed processes. Never rejects. */
export async function sweepWorkshops(home: string, clock: Clock): Promise<void> {
  const folder = join(home, FOLDER);
  const names = await readdir(folder).catch(() => []);
  for (const name of new Set(names.map((each) => NAME.exec(each)?.[1]))) {
    // A folder in use stays; so does one that cannot be removed.
    if (name !== undefined) await claim(join(folder, name), clock).then(release, () => undefined);
  }
}

async function claim(directory: string, clock: Clock): Promise<WorkshopPlace> {
  const lock = await takeLock(directory, { files: NODE_FILES, clock });
  return {
    directory,
    release: async () => {
      try {
        await rm(directory, { recursive: true, force: true });
        await lock.release();
      } catch {
        // As it says.
      }
    },
  };
}

function release(place: WorkshopPlace): Promise<void> {
  return place.release();
}
