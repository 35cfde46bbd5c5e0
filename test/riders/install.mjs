// Installs the real pi, and the Node that it needs, for the tests of this folder: `node test/riders/install.mjs`. Kept out of the
// main install because they are large (about 350 MB) and no one needs them to use or to build Baton.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

// The lock file has no addresses, so npm takes the packages from wherever this machine is configured to. The package of Node brings
// its program by an install script.
const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
if (npm.error !== undefined) throw npm.error;
process.exitCode = npm.status ?? 1;
