// Installs the real tools that this folder proves Baton against: `node test/agents/install.mjs`. Kept out of the main
// install because they are large (about 800 MB) and no one needs them to use or to build Baton.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

// The lock file has no addresses, so npm takes the packages from wherever this machine is configured to.
const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
  cwd: folder,
  stdio: ['ignore', 2, 2],
});
if (npm.error !== undefined) throw npm.error;
process.exitCode = npm.status ?? 1;
