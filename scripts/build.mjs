// Builds dist/: the main thread, the loader of the working thread and all commands as one file each; the library as plain modules with
// types.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePi } from './rider-bundle.mjs';

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
  const configuration = [
    'scripts/build.mjs',
    'scripts/rider-bundle.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
  ];
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
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: ['gpt-tokenizer'],
  // Less to read at each start. Names stay: they are what a stack trace says.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};
const commonJs = {
  ...program,
  format: 'cjs',
  banner: { js: "const __bundleUrl=require('node:url').pathToFileURL(__filename).href;" },
};
const ownUrl = { 'import.meta.url': '__bundleUrl' };

/**
 * What only some starts need, evaluated when it is first called: building the patterns of `string-width` takes 30 ms, `marked` and
 * `highlight.js` 15 ms each, and its grammars 40 ms together.
 */
const LATE = [
  { filter: /^string-width$/, exported: (load) => `(...args) => ${load}.default(...args)` },
  { filter: /^marked$/, exported: (load) => `{ get Lexer() { return ${load}.Lexer; } }` },
  {
    filter: /^highlight\.js\/lib\/core$/,
    exported: (load) => `{ newInstance: () => ${load}.newInstance() }`,
  },
  { filter: /^highlight\.js\/lib\/languages\//, exported: (load) => `(core) => ${load}(core)` },
];

const evaluatedLate = {
  name: 'evaluated-late',
  setup({ onResolve, onLoad }) {
    for (const { filter, exported } of LATE) {
      onResolve({ filter }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'late' } : undefined,
      );
      onLoad({ filter, namespace: 'late' }, ({ path }) => ({
        contents: `module.exports = ${exported(`require('${path}')`)};`,
        resolveDir: root,
      }));
    }
  },
};

/** What runs from compiled code, and what loads it. */
const BUNDLES = [
  {
    entry: 'src/cli/command.ts',
    bundle: 'program.cjs',
    load: 'src/cli/loading/load.io.ts',
    loader: 'load.cjs',
  },
  {
    entry: 'src/tui/terminal-ui.io.ts',
    bundle: 'terminal-program.cjs',
    load: 'src/cli/loading/load-terminal.io.ts',
    loader: 'terminal.cjs',
  },
];

const texts = await Promise.all(
  BUNDLES.map(async ({ entry, bundle }) => {
    const file = join(root, 'dist', 'cli', bundle);
    await build({
      ...commonJs,
      banner: {},
      entryPoints: [entry],
      outfile: file,
      define: ownUrl,
      plugins: [evaluatedLate],
      // A script that is run from compiled code cannot import.
      supported: { 'dynamic-import': false },
    });
    // Text of one byte a character is read faster and takes half the memory. esbuild escapes all but patterns and comments.
    const text = readFileSync(file, 'utf8').replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    writeFileSync(file, text);
    return text;
  }),
);
const digest = createHash('sha256').update(texts.join('')).digest('hex').slice(0, 16);

await Promise.all([
  bundlePi(join(root, 'dist', 'riders', 'pi.js')),
  build({ ...commonJs, entryPoints: ['src/cli/main.ts'], outfile: 'dist/cli/main.js', define: ownUrl }),
  ...BUNDLES.map(({ load, loader }) =>
    build({
      ...commonJs,
      entryPoints: [load],
      outfile: `dist/cli/${loader}`,
      define: { ...ownUrl, __BUNDLE_DIGEST: JSON.stringify(digest) },
    }),
  ),
]);
// Loading the first file as a module of ECMAScript takes Node 6 ms more.
writeFileSync(join(root, 'dist', 'cli', 'package.json'), '{ "type": "commonjs" }\n');
chmodSync(output, 0o755);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const types = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(types.status ?? 1);
