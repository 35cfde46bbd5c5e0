// The thread of all commands but those in `agent`: what a command needs is loaded when it runs.

import { runCommand } from './process.ts';

await runCommand();
