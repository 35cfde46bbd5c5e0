// Builds dist/: the main thread as one file; the commands as one bundle per lazily loaded part and once more, for those that run an
// agent, as one file; the library as plain modules with types.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = join(root, 'dist', 'cli', 'main.js');
const require = createRequire(import.meta.url);

function newest(directory) {
  let latest = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function isFresh() {
  if (!existsSync(output)) return false;
  const configuration = ['scripts/build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package.json'];
  const changed = configuration.map((file) => statSync(join(root, file)).mtimeMs);
  return statSync(output).mtimeMs >= Math.max(newest(join(root, 'src')), ...changed);
}

function canBuild() {
  try {
    require.resolve('esbuild');
    require.resolve('typescript/package.json');
    return true;
  } catch {
    return false;
  }
}

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);
if (!canBuild()) {
  console.error(
    'baton: not built, because the development dependencies are not installed (`npm ci` installs them)',
  );
  process.exit(existsSync(output) || process.env.npm_lifecycle_event === 'prepare' ? 0 : 1);
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { build } = await import('esbuild');
const program = {
  absWorkingDir: root,
  outdir: 'dist/cli',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['gpt-tokenizer'],
  // Less to read at each start. Names stay: they are what a stack trace says.
  minifyWhitespace: true,
  minifySyntax: true,
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  logLevel: 'warning',
};

/** What the program loads for a command that `main` never starts here. */
const onlyThreadCommands = {
  name: 'only-thread-commands',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/.+\.ts$/ }, ({ kind, importer, path }) => {
      const isCommand = kind === 'dynamic-import' && importer === join(root, 'src', 'cli', 'program.ts');
      return isCommand && path !== './exec.ts' && path !== './serve.ts'
        ? { path, namespace: 'left-out' }
        : undefined;
    });
    onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
      contents: `throw new Error('${path} is not part of this bundle: scripts/build.mjs and src/cli/main.ts disagree');`,
    }));
  },
};

await Promise.all([
  build({ ...program, entryPoints: ['src/cli/main.ts'] }),
  build({ ...program, entryPoints: ['src/cli/command.ts'], splitting: true }),
  build({ ...program, entryPoints: ['src/cli/agent.ts'], plugins: [onlyThreadCommands] }),
]);
chmodSync(output, 0o755);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const types = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(types.status ?? 1);
