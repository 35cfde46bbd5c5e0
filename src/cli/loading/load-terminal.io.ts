// The first file of the terminal UI in the built program.

import { homedir } from 'node:os';
import { batonHome } from '../../config/load.io.ts';
import type { TerminalStart } from '../../tui/channel.ts';
import { isTerminalInput, isTerminalOutput } from '../standard-streams.io.ts';
import type { CommandStart, EarlyTerminal, ShownTerminal, TerminalModule } from '../supervisor.io.ts';
import { runCompiled } from './compiled.io.ts';
import { LatePort } from './late-port.ts';
import { wantsColor, wantsUnicode } from './look.ts';

const { exports, keep } = runCompiled<TerminalModule>('terminal-program.cjs', 'terminal');

/** Shows the terminal UI until the other thread ends it. */
export function showTerminal(start: TerminalStart): ShownTerminal {
  if (keep !== undefined) process.once('exit', (status) => void (status === 0 && keep()));
  return exports.showTerminal(start);
}

/**
 * Shows the terminal UI before the other thread has read the command line, which takes longer than the first frame.
 * @param start a command line of `isPlainUi`
 * @returns undefined without a terminal
 */
export function showEarly({ args, version }: CommandStart): EarlyTerminal | undefined {
  const env = process.env;
  if (!isTerminalInput() || !isTerminalOutput() || env['TERM'] === 'dumb') return undefined;
  const port = new LatePort();
  const [cwd, homeDirectory] = [process.cwd(), homedir()];
  const { close } = showTerminal({
    port,
    version,
    cwd,
    homeDirectory,
    batonHome: batonHome({ env, cwd, homeDirectory }),
    env: { ...env },
    hasColor: wantsColor(args, env, true),
    hasUnicode: wantsUnicode(env),
    prompt: undefined,
    isResumed: args.includes('--resume') || args.includes('--last'),
  });
  return { close, attach: (other) => port.attach(other) };
}
