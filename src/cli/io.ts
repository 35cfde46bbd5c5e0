/** What a command needs of the process it runs in, so that it runs in a test as well. */
export interface CommandIo {
  /** Writes to standard output; with `--json` nothing but JSON goes there. */
  readonly stdout: (text: string) => void;
  /** Writes to standard error: progress, warnings, explanations. */
  readonly stderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory, absolute. */
  readonly cwd: string;
  /** The user's home directory, absolute. */
  readonly homeDirectory: string;
  readonly now: () => Date;
}
