// What `npm ci` puts on a disk stays small: the README says how small.

import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../scripts/generate.ts';

/** @source docs/decisions/dependencies.md, "Size": spec 5-architecture says 150 MB, and the terminal UI adds 12. */
const MOST_BYTES = 165_000_000;

/** Bytes on disk, in blocks as `du` counts them, links not followed. */
function bytesOnDisk(path: string): number {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + bytesOnDisk(join(path, name)), 0);
}

test('npm ci takes less than 165 MB', (t) => {
  const modules = join(ROOT, 'node_modules');
  if (lstatSync(modules).isSymbolicLink()) {
    t.skip('node_modules is a link, so it is not what `npm ci` made');
    return;
  }
  const bytes = bytesOnDisk(modules);
  t.diagnostic(`${Math.round(bytes / 1e6)} MB`);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
});

test('a user of the library installs a handful of small packages', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const names = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.optionalDependencies)];
  assert.deepEqual(names, ['eventsource-parser', 'smol-toml', 'unbash', 'yaml', 'zod', 'gpt-tokenizer']);
});
