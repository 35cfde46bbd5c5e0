// A real pseudo-terminal of a given size, by tmux.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment, PROGRAM } from './built.ts';

/** Why terminals cannot be tested, or false. In CI that is a failure and no reason. */
export const NO_TERMINAL: string | false =
  spawnSync('tmux', ['-V']).status === 0
    ? false
    : 'tmux is not installed, so nothing was tried in a real terminal';

/** What a terminal showed. */
export interface Shown {
  /** Lines as the program wrote them, not as the terminal broke them; trailing spaces are gone. */
  readonly lines: readonly string[];
  /** The same with escape sequences. */
  readonly painted: string;
  /** Every byte that was written to the terminal, in order. */
  readonly written: string;
}

/** How a terminal is. */
export interface Terminal {
  readonly home: string;
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
}

let terminals = 0;

/** Runs shell commands in a terminal, in which `baton` is the built program. */
export async function showIn({ home, columns, rows, env = {} }: Terminal, script: string): Promise<Shown> {
  const socket = `baton-test-${process.pid}-${++terminals}`;
  const log = join(home, `${socket}.log`);
  const tmux = (...args: readonly string[]): string =>
    spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...environment(home), TERM: 'xterm-256color' },
    }).stdout;
  const setting = Object.entries({ HOME: home, ...env }).map(([key, value]) => `export ${key}='${value}'`);
  const whole = [
    ...setting,
    `cd '${home}'`,
    `baton() { '${process.execPath}' '${PROGRAM}' "$@"; }`,
    'read -r _',
    script,
    'echo "ended with $?"',
    'sleep 60',
  ].join('\n');
  try {
    tmux(
      'new-session',
      '-d',
      '-x',
      String(columns),
      '-y',
      String(rows),
      whole,
      ';',
      'set',
      '-g',
      'status',
      'off',
      ';',
      'set',
      '-g',
      'history-limit',
      '5000',
    );
    tmux('resize-window', '-x', String(columns), '-y', String(rows));
    tmux('pipe-pane', '-o', `cat > '${log}'`);
    tmux('send-keys', 'Enter');
    for (let attempt = 0; attempt < 300; attempt++) {
      const text = tmux('capture-pane', '-p', '-J', '-S', '-');
      if (/ended with \d/.test(text)) {
        const painted = tmux('capture-pane', '-p', '-J', '-e', '-S', '-');
        return { lines: linesOf(text), painted, written: readFileSync(log, 'utf8') };
      }
      await sleep(50);
    }
    throw new Error(`The commands did not end:\n${tmux('capture-pane', '-p')}`);
  } finally {
    tmux('kill-server');
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trimEnd());
}
