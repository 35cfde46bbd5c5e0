// What root may do and nobody else: tests that run as root give it up for a moment.

import { chmodSync } from 'node:fs';

/** @source `nobody` on Linux and BSD */
const NOBODY = 65_534;

/** Why permissions cannot be tested, or false. */
export const NO_PERMISSIONS: string | false =
  process.platform === 'win32' ? 'permissions are of another kind on Windows' : false;

/** Does something as a user whom permissions stop, who may still look into `directory`. */
export async function withoutPrivileges(directory: string, work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  chmodSync(directory, 0o755);
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
