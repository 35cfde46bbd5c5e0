// The results of `baton replay`, from which its documents, tables and pages are rendered.

import type { LoadReport } from '../../../formats/session-file.io.ts';
import type { ContextAccount } from '../../../history/context-account.ts';
import type { SessionReplay } from '../../../lab/replay/outcome.ts';
import type { PolicyChoice } from '../../../lab/replay/replay.ts';
import type { UnreadFile } from '../../session-files/paths.io.ts';

/** A replayed session. */
export interface PlayedFile {
  readonly path: string;
  /** The beginning of the first prompt on one line, known secrets replaced; undefined where there is no prompt. */
  readonly title: string | undefined;
  readonly report: LoadReport;
  readonly replay: SessionReplay;
  /** As in `baton inspect`. */
  readonly account: ContextAccount;
}

/** All results of a run. */
export interface ReplayRun {
  readonly policies: readonly PolicyChoice[];
  readonly files: readonly PlayedFile[];
  readonly unread: readonly UnreadFile[];
  /** Files in a directory that are not sessions. */
  readonly skipped: number;
  readonly hasRecall: boolean;
}
