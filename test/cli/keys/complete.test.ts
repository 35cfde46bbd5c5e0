// Every key of these tables has a case, and a key without one is in no documentation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listSettings } from '../../../src/config/explain.ts';
import { ENGINE_CASES } from './engine-cases.ts';
import { WATCHER_CASES } from './watcher-cases.ts';

const TABLES: ReadonlySet<string | undefined> = new Set(['features', 'compact', 'rawr_auto_compaction']);
const held = new Set([...ENGINE_CASES, ...WATCHER_CASES].map(({ key }) => key));
const settings = listSettings().filter(({ path }) => TABLES.has(path[0]));

test('each documented key has a case', () => {
  const without = settings.filter(({ key, isUndocumented }) => isUndocumented !== true && !held.has(key));
  assert.deepEqual(
    without.map(({ key }) => key),
    [],
  );
});

test('a key without a case is not documented', () => {
  const reference = readFileSync(new URL('../../../docs/config.md', import.meta.url), 'utf8');
  for (const { path, key } of settings) {
    const table = reference
      .split(/^### /m)
      .find((part) => part.startsWith(`\`[${path.slice(0, -1).join('.')}]\``));
    assert.equal(table?.includes(`\n| \`${path.at(-1) ?? ''}\` |`) === true, held.has(key), key);
  }
});

test('each case is of a key', () => {
  const keys = new Set(settings.map(({ key }) => key));
  assert.deepEqual(
    [...held].filter((key) => !keys.has(key)),
    [],
  );
});
