// Runs a bundle from code that an earlier start compiled, if available: compiling takes longer than most commands.
// @source docs/decisions/exec.md

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** Hash of the bundles: 16 hexadecimal digits, inserted by the build. */
declare const __BUNDLE_DIGEST: string;

interface Module<Exports> {
  exports: Exports;
}

/** The bundle's code, wrapped in a function with the names that it expects. */
type RunBundle<Exports> = (
  module: Module<Exports>,
  require: NodeJS.Require,
  bundleUrl: string,
  exports: Exports,
) => void;

/** A bundle that runs. */
export interface Compiled<Exports> {
  readonly exports: Exports;
  /** Saves the code as compiled so far; undefined: it came from a file. */
  readonly keep: (() => void) | undefined;
}

/** V8 does not check compiled code for completeness, so its SHA-256 precedes it in the file. */
const DIGEST_BYTES = 32;

/**
 * Runs a bundle.
 * @param bundle a file beside this one
 * @param purpose what it runs for; each purpose compiles other functions. Lower-case letters
 */
export function runCompiled<Exports>(bundle: string, purpose: string): Compiled<Exports> {
  const folder = dirname(fileURLToPath(import.meta.url));
  const file = join(folder, bundle);
  const files = codeFiles(folder, purpose);
  const cachedData = files.map(readCode).find((code) => code !== undefined);
  const script = new Script(
    `(function(module,require,__bundleUrl,exports){${readFileSync(file, 'latin1')}\n})`,
    {
      filename: file,
      ...(cachedData === undefined ? {} : { cachedData }),
    },
  );
  const module: Module<Exports> = { exports: {} as Exports };
  (script.runInThisContext() as RunBundle<Exports>)(
    module,
    createRequire(file),
    import.meta.url,
    module.exports,
  );
  const isFresh = cachedData === undefined || script.cachedDataRejected === true;
  const keep = (): void => void files.some((place) => keepCode(place, script.createCachedData()));
  return { exports: module.exports, keep: isFresh ? keep : undefined };
}

/**
 * Possible files for compiled code: beside the bundle, or in Baton's home where that is not writable. The name contains
 * everything that must match: the bundles, V8 with its flags, and the processor.
 */
function codeFiles(folder: string, purpose: string): readonly string[] {
  const name = `${purpose}-${__BUNDLE_DIGEST}-${cachedDataVersionTag()}`;
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
