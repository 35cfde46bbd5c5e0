// The first file of the working thread in the built program.

import { workerData } from 'node:worker_threads';
import { runCompiled } from './compiled.io.ts';
import type { CommandStart } from '../supervisor.io.ts';

const { exports, keep } = runCompiled<{ readonly ended?: Promise<void> }>(
  'program.cjs',
  purposeOf((workerData as CommandStart).args),
);
if (keep !== undefined) {
  void exports.ended?.then(() => {
    // A failed command has not compiled most of what its next start needs.
    if ((process.exitCode ?? 0) === 0) keep();
  });
}

/** The command. Without one, it is the terminal agent. */
function purposeOf(args: readonly string[]): string {
  const [command = ''] = args;
  if (/^[a-z]{1,20}$/.test(command)) return command;
  return args.includes('--help') || args.includes('-h') ? 'help' : 'chat';
}
