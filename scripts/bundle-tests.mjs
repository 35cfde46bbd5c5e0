// Compiles test files before they run: one start of the compiler serves all of their processes, which take half the time to
// start that they take where each compiles what it loads.
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Compiles test files with all they import, into a new folder of the checkout, so that packages are found from there.
 *
 * @param files paths from the root
 * @returns the folder, in which `a/b.test.ts` is `a/b.test.js`
 */
export async function bundleTests(root, files) {
  const { build, transform } = await import('esbuild');
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'tests-'));
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // A test that imports a module for what it does at its start is to get that.
    ignoreAnnotations: true,
    sourcemap: 'linked',
    logLevel: 'warning',
    plugins: [ownAddresses(transform)],
  });
  return folder;
}

/** Each module knows itself by the address of its source: beside it are the files that it reads. */
function ownAddresses(transform) {
  return {
    name: 'own-addresses',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = readFileSync(path, 'utf8');
        if (!source.includes('import.meta.')) return undefined;
        const { code } = await transform(source, {
          loader: 'ts',
          format: 'esm',
          target: 'node20',
          define: {
            'import.meta.url': JSON.stringify(pathToFileURL(path).href),
            'import.meta.filename': JSON.stringify(path),
            'import.meta.dirname': JSON.stringify(dirname(path)),
          },
          sourcemap: 'inline',
          sourcefile: path,
        });
        return { contents: code, loader: 'js' };
      });
    },
  };
}
