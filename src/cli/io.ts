import type { Clock, Ids } from '../ports.ts';

/** What a command needs of the process it runs in, so that it runs in a test as well. */
export interface CommandIo {
  /** Writes text to standard output, through `terminalText`; with `--json` nothing but JSON goes there. */
  readonly stdout: (text: string) => void;
  /** Writes to standard error, through `terminalText`: progress, warnings, explanations. */
  readonly stderr: (text: string) => void;
  /** Writes a file to standard output and waits until it is taken: byte for byte, except to a terminal. */
  readonly stdoutBytes: (bytes: Uint8Array) => Promise<void>;
  /** Characters or bytes of standard output that its reader has not taken yet. */
  readonly stdoutWaiting: () => number;
  readonly stdin: AsyncIterable<Buffer>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory, absolute. */
  readonly cwd: string;
  /** The user's home directory, absolute. */
  readonly homeDirectory: string;
  readonly now: () => Date;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How standard output shows things. */
  readonly look: Look;
  /** Whether standard error is a terminal, where progress may be drawn. */
  readonly showsProgress: boolean;
  /** Fires when the user presses Ctrl-C; with the reason `OutputLost` when nothing more can be printed. */
  readonly signal: AbortSignal;
}

/** How text is shown: never by colour alone, never wider than the terminal. */
export interface Look {
  readonly hasColor: boolean;
  /** Stands in every sequence of Baton's own after the ESC, so that the door to the terminal knows it; see `terminalText`. */
  readonly seal: string;
  /** Block characters; otherwise plain ASCII. */
  readonly hasUnicode: boolean;
  /** Columns. */
  readonly width: number;
  /**
   * Standard output is not a terminal: sentences are not broken into lines, tables keep to `width`. Otherwise a person reads
   * what goes there.
   */
  readonly isPiped?: boolean;
}

/**
 * Why a command is stopped that nobody stopped: its reader went away, which is no failure, or its output failed, which the
 * process tells. By its name an abort like any other to what is given it.
 */
export class OutputLost extends Error {
  override readonly name = 'AbortError';
}

/** Success, a failure that was explained, wrong usage, stopped by the user. */
export type ExitStatus = 0 | 1 | 2 | 130;
