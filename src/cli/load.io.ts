// The first file of the working thread in the built program. It runs the bundle from code that an earlier start compiled, if
// available: compiling takes longer than most commands. @source docs/decisions/exec.md

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { workerData } from 'node:worker_threads';
import type { CommandStart } from './supervisor.io.ts';

/** Hash of the bundle: 16 hexadecimal digits, inserted by the build. */
declare const __BUNDLE_DIGEST: string;

interface Bundle {
  readonly exports: { readonly ended?: Promise<void> };
}

/** The bundle's code, wrapped in a function with the names that it expects. */
type RunBundle = (module: Bundle, require: NodeJS.Require, bundleUrl: string) => void;

/** V8 does not check compiled code for completeness, so its SHA-256 precedes it in the file. */
const DIGEST_BYTES = 32;

const folder = dirname(fileURLToPath(import.meta.url));
const bundle = join(folder, 'program.cjs');
const files = codeFiles((workerData as CommandStart).args[0] ?? 'help');
const cachedData = files.map(readCode).find((code) => code !== undefined);
const script = new Script(`(function(module,require,__bundleUrl){${readFileSync(bundle, 'latin1')}\n})`, {
  filename: bundle,
  ...(cachedData === undefined ? {} : { cachedData }),
});
const module: Bundle = { exports: {} };
(script.runInThisContext() as RunBundle)(module, createRequire(bundle), import.meta.url);
if (cachedData === undefined || script.cachedDataRejected === true) {
  void module.exports.ended?.then(() => {
    // A failed command has not compiled most of what its next start needs.
    if ((process.exitCode ?? 0) === 0) files.some((file) => keepCode(file, script.createCachedData()));
  });
}

/**
 * Possible files for a command's compiled code: beside the bundle, or in Baton's home where that is not writable. The name
 * contains everything that must match: the bundle, V8 with its flags, and the processor.
 */
function codeFiles(command: string): readonly string[] {
  const name = `${/^[a-z]{1,20}$/.test(command) ? command : 'help'}-${__BUNDLE_DIGEST}-${cachedDataVersionTag()}`;
  const configured = process.env['BATON_HOME'] ?? '';
  const home = configured === '' ? join(homedir(), '.baton') : configured;
  return [folder, home].map((place) => join(place, 'compiled', name));
}

function readCode(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(DIGEST_BYTES);
    return digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether the code was saved. If nothing is writable, each start compiles again. */
function keepCode(file: string, code: Buffer): boolean {
  const place = dirname(file);
  // A command does not create a home only for this.
  if (!existsSync(dirname(place))) return false;
  try {
    mkdirSync(place, { recursive: true });
    const stale = readdirSync(place).filter((name) => !name.includes(`-${__BUNDLE_DIGEST}-`));
    for (const name of stale) rmSync(join(place, name), { force: true });
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, Buffer.concat([digestOf(code), code]));
    renameSync(draft, file);
    return true;
  } catch {
    return false;
  }
}

function digestOf(code: Buffer): Buffer {
  return createHash('sha256').update(code).digest();
}
