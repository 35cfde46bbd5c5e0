// A small process that outlives Baton: it restores the terminal when Baton is killed, because a killed process cannot.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Waits for the end of its input. A line before it says that Baton has restored the terminal itself. It ignores the signals that
 * end Baton, and SIGTTOU, which stops a background process that sets modes.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT TSTP TTOU
IFS= read -r _ || { stty "$1" </dev/tty; printf '%b' "$2" >/dev/tty; } 2>/dev/null`;

/** Watches over a terminal until it is dismissed. */
export interface Guard {
  dismiss(): void;
}

/**
 * Starts watching.
 * @param leaving the sequences that end Baton's modes
 * @param path where programs are found
 * @returns undefined where there is no `stty` or no shell: then only a kill leaves a terminal that needs `reset`
 */
export function guardTerminal(leaving: string, path: string): Guard | undefined {
  const env = { PATH: path };
  const saved = spawnSync('stty', ['-g'], { env, stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
  const modes = saved.status === 0 ? saved.stdout.trim() : '';
  if (modes === '') return undefined;
  const escaped = leaving.replaceAll('\u001B', String.raw`\033`);
  const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'baton-terminal', modes, escaped], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.unref();
  return {
    dismiss: () => void child.stdin?.end('\n'),
  };
}
