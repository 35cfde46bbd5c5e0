// A small process that outlives Baton: it restores the terminal when Baton is killed, because a killed process cannot.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Waits for the end of its input. A line before it says which screen Baton shows, or, by any other word, that Baton has restored
 * the terminal itself. It ignores the signals that end Baton, and SIGTTOU, which stops a background process that sets modes.
 *
 * A shell restores the modes of a killed job itself and then reads its line with modes of its own, which must stay: the guard
 * lets it be first, and restores only what is still as Baton had it, without keys for signals. What is left of Baton's rows is
 * below the cursor.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT TSTP TTOU
page=
while IFS= read -r told; do
  case $told in page) page=$3;; main) page=;; *) exit;; esac
done
sleep 0.1 || sleep 1
case $(stty -a </dev/tty) in *-isig*) stty "$1" </dev/tty;; esac
printf '%b' "$page$2" >/dev/tty`;

/** Watches over a terminal until it is dismissed. */
export interface Guard {
  /** Says which screen is to be left. */
  shows(screen: 'main' | 'page'): void;
  /** Baton has restored the terminal. */
  dismiss(): void;
  /** Baton could not restore the terminal: the guard does, as soon as it can. */
  release(): void;
}

/**
 * Starts watching.
 * @param leaving the sequences that end Baton's modes, and those that also leave its second screen
 * @param path where programs are found
 * @returns undefined where there is no `stty` or no shell: then only a kill leaves a terminal that needs `reset`
 */
export function guardTerminal(
  leaving: { readonly main: string; readonly page: string },
  path: string,
): Guard | undefined {
  const env = { PATH: path };
  const saved = spawnSync('stty', ['-g'], { env, stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
  const modes = saved.status === 0 ? saved.stdout.trim() : '';
  if (modes === '') return undefined;
  const [main = '', page = ''] = [`${leaving.main}\u001B[J`, leaving.page].map((each) =>
    each.replaceAll('\u001B', String.raw`\033`),
  );
  const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'baton-terminal', modes, main, page], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.unref();
  return {
    shows: (screen) => void child.stdin?.write(`${screen}\n`),
    dismiss: () => void child.stdin?.end('\n'),
    release: () => void child.stdin?.end(),
  };
}
