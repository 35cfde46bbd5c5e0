// A person at a real terminal, by tmux: types, pastes, resizes, reads the screen.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment, PROGRAM } from './built.ts';

/** Longest that a person looks for something, in milliseconds. */
const PATIENCE_MS = 30_000;

/** Characters of the screen and the scrollback that a complaint quotes. */
const MOST_SHOWN = 5000;

/** How to open a terminal. */
export interface TerminalSetting {
  readonly home: string;
  /** Working directory; absent: `home`. */
  readonly cwd?: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

let terminals = 0;

/** A terminal with an interactive shell, in which `baton` is the built program. */
export class LiveTerminal {
  readonly #socket = `baton-live-${process.pid}-${++terminals}`;
  readonly #home: string;
  readonly #log: string;
  readonly #shell: string;
  readonly #env: Record<string, string>;

  constructor({ home, cwd = home, columns = 80, rows = 24, env = {} }: TerminalSetting) {
    this.#home = home;
    this.#log = join(home, `${this.#socket}.log`);
    // `CI` would change how programs draw.
    this.#env = { ...environment(home, env), TERM: 'xterm-256color', PS1: '$ ', ENV: '' };
    const setting = Object.entries({ HOME: home, ...env }).map(([key, value]) => `export ${key}='${value}'`);
    const profile = join(home, `${this.#socket}.sh`);
    writeFileSync(
      profile,
      [
        ...setting,
        `cd '${cwd}'`,
        `baton() { '${process.execPath}' '${PROGRAM}' "$@"; }`,
        "PS1='$ '",
        // What is left of bracketed paste would be Baton's.
        "bind 'set enable-bracketed-paste off'",
        '',
      ].join('\n'),
    );
    this.#shell = `exec bash --noprofile --rcfile '${profile}' -i`;
    this.#tmux(
      'new-session',
      '-d',
      '-x',
      String(columns),
      '-y',
      String(rows),
      this.#shell,
      ';',
      'set',
      '-g',
      'status',
      'off',
      ';',
      'set',
      '-g',
      'history-limit',
      '20000',
      ';',
      'set',
      '-s',
      'escape-time',
      '5',
    );
    this.resize(columns, rows);
    writeFileSync(this.#log, '');
    this.#tmux('pipe-pane', '-o', `cat >> '${this.#log}'`);
  }

  /** Every byte that was written to the terminal since it was opened. */
  get written(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** The rows on the screen, without trailing spaces. */
  screen(): string {
    return trimmed(this.#tmux('capture-pane', '-p'));
  }

  /** The scrollback and the screen. */
  all(): string {
    return trimmed(this.#tmux('capture-pane', '-p', '-S', '-'));
  }

  /** The same with styles. */
  painted(): string {
    return this.#tmux('capture-pane', '-p', '-e', '-S', '-');
  }

  /** Types a text as it is. */
  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `M-Up`, `BTab`. */
  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  /** Pastes as a terminal does, in brackets where the program wants them. */
  paste(text: string): void {
    const file = join(this.#home, `${this.#socket}.paste`);
    writeFileSync(file, text);
    this.#tmux('load-buffer', '-b', 'paste', file, ';', 'paste-buffer', '-p', '-b', 'paste');
    rmSync(file);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Runs a command line in the shell. */
  run(command: string): void {
    this.type(command);
    this.press('Enter');
  }

  /** Process ids that run in the terminal, the shell's own first. */
  pids(): readonly number[] {
    const shell = Number(this.#tmux('display-message', '-p', '#{pane_pid}'));
    const children = spawnSync('ps', ['-o', 'pid=', '--ppid', String(shell)], { encoding: 'utf8' }).stdout;
    return [
      shell,
      ...children
        .split('\n')
        .filter((each) => each.trim() !== '')
        .map(Number),
    ];
  }

  /** The size, the cursor and the modes of the pane, as tmux formats them. */
  ask(format: string): string {
    return this.#tmux('display-message', '-p', format).trim();
  }

  /** Waits until the screen shows a pattern. @returns the screen */
  async waitFor(pattern: RegExp, patience = PATIENCE_MS): Promise<string> {
    return this.#wait(() => this.screen(), pattern, patience);
  }

  /** Waits until the scrollback or the screen shows a pattern. */
  async waitForAnywhere(pattern: RegExp, patience = PATIENCE_MS): Promise<string> {
    return this.#wait(() => this.all(), pattern, patience);
  }

  /** Closes the window, as a person closes a terminal, and opens another one. */
  replaceWindow(): void {
    this.#tmux('new-window', '-d', this.#shell, ';', 'kill-window', '-t', ':0');
    this.#tmux('pipe-pane', '-o', `cat >> '${this.#log}'`);
  }

  close(): void {
    this.#tmux('kill-server');
  }

  async #wait(read: () => string, pattern: RegExp, patience: number): Promise<string> {
    const until = performance.now() + patience;
    for (;;) {
      const text = read();
      if (pattern.test(text)) return text;
      if (performance.now() > until)
        throw new Error(`${pattern} was not seen:\n${this.all().slice(-MOST_SHOWN)}`);
      await sleep(30);
    }
  }

  #tmux(...args: readonly string[]): string {
    return spawnSync('tmux', ['-L', this.#socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: this.#env,
    }).stdout;
  }
}

function trimmed(text: string): string {
  return text
    .split('\n')
    .map((row) => row.trimEnd())
    .join('\n')
    .trimEnd();
}
