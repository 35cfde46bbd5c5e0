// The thread of the commands that run an agent. They need most of Baton, so the build puts it into a file of its own for them.

import { runCommand } from './process.ts';

await runCommand();
