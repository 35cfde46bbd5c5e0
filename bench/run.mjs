// `npm run bench`: installs the peers where that was not done yet, builds Baton and the benchmark, runs it.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = join(folder, '..');

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function isInstalled() {
  const installed = join(folder, 'node_modules', '.package-lock.json');
  return (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
  );
}

if (!existsSync(join(root, 'node_modules', 'esbuild'))) {
  console.error('bench: the development dependencies are not installed (`npm ci` installs them)');
  process.exit(1);
}
const { tsImport } = await import('tsx/esm/api');
const { readCommandLine, USAGE } = await tsImport('./command-line.ts', import.meta.url);
const asked = readCommandLine(process.argv.slice(2));
if (asked.type === 'help') {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (asked.type === 'refused') {
  console.error(`bench: ${asked.why}\n\n${USAGE}`);
  process.exit(2);
}
const isOfTime = asked.type === 'run';
// The yardstick of the summaries compares Baton with itself: it needs no peers, and no built program.
if (isOfTime && !isInstalled()) run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], folder);
if (isOfTime) {
  run(process.execPath, ['scripts/build.mjs', '--if-stale'], root);
  run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder], root);
}

// Bundled like the program itself: a loader that transpiles on the fly would slow what is measured.
const { build } = await import('esbuild');
await build({
  absWorkingDir: folder,
  entryPoints: isOfTime ? ['main.ts', 'peak-memory.ts'] : { summaries: 'summaries/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // A package of the program is CommonJS and asks for modules of Node by `require`, which a bundle of modules lacks.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  external: ['ai', 'langchain', '@langchain/core', 'gpt-tokenizer', 'oxc-parser'],
  logLevel: 'warning',
});
const entry = isOfTime ? 'main.js' : 'summaries.js';
run(process.execPath, [join(folder, 'dist', entry), ...process.argv.slice(2)], root);
