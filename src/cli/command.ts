// The entry of a command's thread. Modules that a command needs are loaded when it runs.

import './interpreted-schemas.ts';
import { runCommand } from './process.io.ts';

/** Settles when the command of this thread has ended. */
export const ended: Promise<void> = runCommand();
