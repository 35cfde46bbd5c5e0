// The stories of the golden path. An author writes title, prose and the first column; `BATON_UPDATE=1` fills in the rest,
// and people read it before they commit it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { renderStory } from '../support/watcher-story.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.md'));

test('there are stories', () => {
  assert.ok(names.length >= 20, `only ${names.length} stories`);
});

for (const name of names) {
  test(`story: ${name}`, () => {
    const path = join(folder, name);
    const written = readFileSync(path, 'utf8');
    const told = renderStory(written);
    if (process.env['BATON_UPDATE'] === '1') writeFileSync(path, told);
    else assert.equal(told, written, `${name} is not what happens; BATON_UPDATE=1 rewrites it`);
  });
}
