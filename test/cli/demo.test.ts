// `npm start`, which a stranger sees first.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { baton, temporaryDirectory } from '../support/program.ts';

/** What it has to show, in this order. @source spec 1-product, "The two commands of the README" */
const STORY: readonly RegExp[] = [
  /^Gauge {2}8 turns/m,
  /^baton +\d/m,
  /^ {2}\[rawr\] auto-compaction: requesting continuation packet$/m,
  /^ {2}compacted: [\d,]+ → [\d,]+ tokens/m,
  /^ {2}handoff: (?!\[baton:)/m,
  /^ {2}#1 {2}[\d,]+ → [\d,]+ tokens/m,
  /% of the window is left/,
  /^The summary, [\d,]+ tokens$/m,
  /Undo it with: baton undo/,
  /is undone: the context holds/,
  /^Next, on your own sessions$/m,
];

test('demo tells the whole story in order, and leaves nothing behind', async () => {
  const home = temporaryDirectory();
  const demos = (): readonly string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('baton-demo'));
  const before = demos();
  const { status, stdout, stderr } = await baton(home, ['demo']);
  assert.equal(status, 0, stderr);
  let at = 0;
  for (const part of STORY) {
    const found = stdout.slice(at).search(part);
    assert.ok(found >= 0, `${part} is not told, or not in its place`);
    at += found;
  }
  assert.equal(existsSync(join(home, '.baton/sessions')), false);
  assert.deepEqual(demos(), before);
});
