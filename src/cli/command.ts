// The thread of a command: what a command needs is evaluated when it runs.

import './interpreted-schemas.ts';
import { runCommand } from './process.io.ts';

/** Settles when the command of this thread has ended. */
export const ended: Promise<void> = runCommand();
