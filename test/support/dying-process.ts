// A process that dies where a test wants it: bundled, so that it starts in a tenth of the time, and killed by itself at a call
// to the file system.

import { existsSync, writeSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RolloutFiles } from '../../src/rollout/files.ts';
import { interceptedFiles } from './rollouts.ts';
import type { Call } from './rollouts.ts';

/** Calls after which a process that dies leaves what it left before them. */
const WITHOUT_TRACE: ReadonlySet<Call['name']> = new Set([
  'stat',
  'readFile',
  'readdir',
  'datasync',
  'sync',
  'close',
]);

/** A line on standard output, out before anything else happens. */
export function say(text: string): void {
  writeSync(1, `${text}\n`);
}

/**
 * The file system of a process that kills itself before a call, counted from 0, or where that is a write and `bytes` are
 * given, when that many of its bytes are written (negative: all but). Without a call it says each of them.
 */
export function dyingFiles(call: string | undefined, bytes: string | undefined): RolloutFiles {
  let calls = 0;
  return interceptedFiles(async (made, perform) => {
    if (WITHOUT_TRACE.has(made.name)) return perform();
    const number = calls++;
    if (call === undefined) say(`call ${made.name} ${made.bytes?.length ?? ''}`);
    if (call === undefined || number !== Number(call)) return perform();
    if (made.name === 'write' && bytes !== undefined) await perform(made.bytes?.subarray(0, Number(bytes)));
    process.kill(process.pid, 'SIGKILL');
    // The signal comes at once; nothing may happen before it.
    for (;;);
  });
}

/** Where there is a file system in memory: a killed process leaves the same there. The whole run has a folder of its own. */
function memoryFolder(): string {
  const given = process.env['BATON_TEST_MEMORY'];
  if (given !== undefined) return given;
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/** Bundles a program into a new folder, in memory where that is possible. */
export async function bundled(entry: URL): Promise<{ readonly root: string; readonly program: string }> {
  const { build } = await import('esbuild');
  const root = await mkdtemp(join(memoryFolder(), 'baton-crash-'));
  const program = join(root, 'process.mjs');
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    external: ['esbuild'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return { root, program };
}
