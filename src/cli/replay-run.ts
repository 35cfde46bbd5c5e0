// What a run of `baton replay` found out: what its command plays, and what its documents, tables and pages tell.

import type { LoadReport } from '../formats/load.ts';
import type { SessionReplay } from '../replay/outcome.ts';
import type { PolicyChoice } from '../replay/replay.ts';

/** A session that was played. */
export interface PlayedFile {
  readonly path: string;
  readonly report: LoadReport;
  readonly replay: SessionReplay;
}

/** A file that could not be played, with why. */
export interface UnplayedFile {
  readonly path: string;
  readonly error: Readonly<Record<string, unknown>>;
}

/** Everything that a run found out. */
export interface ReplayRun {
  readonly policies: readonly PolicyChoice[];
  readonly files: readonly PlayedFile[];
  readonly unplayed: readonly UnplayedFile[];
  /** Files of a directory that are no sessions. */
  readonly skipped: number;
  readonly hasRecall: boolean;
}
