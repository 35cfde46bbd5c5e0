// What a run of `baton replay` found out: what its command plays, and what its documents, tables and pages tell.

import type { LoadReport } from '../../../formats/session-file.io.ts';
import type { ContextAccount } from '../../../history/context-account.ts';
import type { SessionReplay } from '../../../lab/replay/outcome.ts';
import type { PolicyChoice } from '../../../lab/replay/replay.ts';
import type { UnreadFile } from '../../session-files/paths.io.ts';

/** A session that was played. */
export interface PlayedFile {
  readonly path: string;
  /** The beginning of the first prompt on one line, known secrets replaced; undefined where nobody asked for anything. */
  readonly title: string | undefined;
  readonly report: LoadReport;
  readonly replay: SessionReplay;
  /** As `baton inspect` has it. */
  readonly account: ContextAccount;
}

/** Everything that a run found out. */
export interface ReplayRun {
  readonly policies: readonly PolicyChoice[];
  readonly files: readonly PlayedFile[];
  readonly unread: readonly UnreadFile[];
  /** Files of a directory that are no sessions. */
  readonly skipped: number;
  readonly hasRecall: boolean;
}
