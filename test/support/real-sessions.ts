// The real session files beside the repository; they are no part of it.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SESSIONS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'shared', 'sessions');

/** Why tests with real files are skipped, or false when the files are there. */
export const REAL_SESSIONS_SKIP: string | false = existsSync(SESSIONS)
  ? false
  : 'the real session files are not part of the repository (looked for ../shared/sessions)';

/** The real files of some folders. */
export function realSessions(...folders: readonly string[]): readonly string[] {
  if (REAL_SESSIONS_SKIP !== false) return [];
  return folders.flatMap((folder) =>
    readdirSync(join(SESSIONS, folder))
      .filter((name) => /\.jsonl?$/.test(name))
      .toSorted()
      .map((name) => join(SESSIONS, folder, name)),
  );
}

/** Every real session, of all formats. */
export function allRealSessions(): readonly string[] {
  if (REAL_SESSIONS_SKIP !== false) return [];
  return readdirSync(SESSIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: folder }) =>
      readdirSync(join(SESSIONS, folder)).map((name) => join(SESSIONS, folder, name)),
    )
    .toSorted();
}
