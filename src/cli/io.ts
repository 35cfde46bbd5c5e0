import type { Clock, Ids } from '../ports.ts';
import type { FromTerminal, TerminalStart, ToTerminal } from '../tui/channel.ts';

/** The thread that owns the terminal, seen from the one that works. */
export interface TerminalLine {
  readonly post: (message: ToTerminal) => void;
  /** Takes every message of the terminal, in order. */
  readonly onMessage: (take: (message: FromTerminal) => void) => void;
  /** Resolves when the terminal is as it was before. */
  readonly closed: Promise<void>;
}

/** The process environment of a command, so that tests can run it as well. */
export interface CommandIo {
  /** Writes text to standard output through `terminalText`; with `--json`, only JSON. */
  readonly stdout: (text: string) => void;
  /** Writes to standard error, through `terminalText`: progress, warnings, explanations. */
  readonly stderr: (text: string) => void;
  /** Writes a file to standard output and waits until it is accepted: byte for byte, except to a terminal. */
  readonly stdoutBytes: (bytes: Uint8Array) => Promise<void>;
  /** Characters or bytes of standard output that the reader has not yet consumed. */
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
  /** The style of standard output. */
  readonly look: Look;
  /** Whether standard error is a terminal, where progress may be drawn. */
  readonly showsProgress: boolean;
  /** Gives the terminal to the terminal UI. Absent: standard input or output is not a terminal, or it is too simple. */
  readonly openTerminal?: (start: Omit<TerminalStart, 'port'>) => TerminalLine;
  /** Why there is only half a terminal, or one that can do too little; completes `The terminal UI needs a terminal: `. */
  readonly terminalLack?: string;
  /** Fires when the user presses Ctrl-C; with the reason `OutputLost` when nothing more can be printed. */
  readonly signal: AbortSignal;
}

/** The style of text: never distinguished by colour alone, never wider than the terminal. */
export interface Look {
  readonly hasColor: boolean;
  /** Follows the ESC of each of Baton's own sequences, so that `terminalText` recognises them. */
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
 * The reason when a command stops without a request from the user: its reader went away, which is not a failure, or its output
 * failed, which the process reports. Its name makes it look like any other abort.
 */
export class OutputLost extends Error {
  override readonly name = 'AbortError';
}

/** Success, explained failure, wrong usage, stopped by the user. */
export type ExitStatus = 0 | 1 | 2 | 130;
