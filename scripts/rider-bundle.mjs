// Bundles Baton as an extension of pi: one file without dependencies, which pi loads in place.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** pi takes the default export, which the source has none of. */
const ENTRY = "export { ridePi as default } from './src/riders/pi/extension.io.ts';\n";

/**
 * @param outfile absolute
 * @param contents the entry, as a module in the root of the repository; absent: the one that is shipped
 * @param root of the repository; needed where this file itself is bundled
 */
export async function bundlePi(outfile, contents = ENTRY, root = ROOT) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, sourcefile: 'pi.ts', loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    // The oldest Node that pi 0.87 runs on is 22.19.
    target: 'node22',
    format: 'esm',
    // Loaded on demand, for exact counts only.
    external: ['gpt-tokenizer'],
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  });
}
