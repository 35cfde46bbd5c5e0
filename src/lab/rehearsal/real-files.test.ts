// Every real session, played through the real session in a window so small that it has to be compacted.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readSessionFile } from '../../../test/support/read-format.ts';
import { REAL_SESSIONS_SKIP } from '../../../test/support/real-sessions.ts';
import { conversationOf, playOut, rehearse } from '../../../test/support/rehearsed.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { LogRecord } from '../../protocol/record.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../../shared/sessions');

const WINDOW = 40_000;

/** A compaction writes out the whole trail; longer stretches would take minutes and show nothing new. */
const MOST_RECORDS = 400;

function realFiles(): readonly string[] {
  if (!existsSync(ROOT)) return [];
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((folder) => folder.isDirectory())
    .flatMap(({ name }) => readdirSync(path.join(ROOT, name)).map((file) => path.join(ROOT, name, file)))
    .toSorted();
}

/** A stretch of a session: around the agent's own first compaction where it has one, else its beginning. */
function stretchOf(records: readonly LogRecord[]): readonly LogRecord[] {
  const compaction = records.findIndex(({ type }) => type === 'compacted');
  const from = Math.max(0, Math.min(compaction - MOST_RECORDS / 2, records.length - MOST_RECORDS));
  return records.slice(from, from + MOST_RECORDS);
}

const NEVER_ANSWERED = '"[No result was recorded for this call]"';

test(
  'every message once and in order, every call with its result',
  { skip: REAL_SESSIONS_SKIP },
  async () => {
    let compactions = 0;
    for (const file of realFiles()) {
      const recording = stretchOf((await readSessionFile(file)).records);
      const name = path.basename(file);
      const thread = rehearse(recording, { window: WINDOW });
      const endings = await playOut(thread);
      assert.deepEqual(
        endings.filter(({ type }) => type !== 'complete'),
        [],
        name,
      );
      const recorded = conversationOf(recording);
      const played = conversationOf(thread.records);
      assert.deepEqual(played.user, recorded.user, name);
      assert.deepEqual(played.agent, recorded.agent, name);
      assert.deepEqual(
        played.calls,
        recorded.calls.map((call) => call.replace(/nothing$/, NEVER_ANSWERED)),
        name,
      );
      assert.equal(thread.rehearsal.progress, 1, name);
      const broken = findBrokenPairs(thread.session.items.map(pairView));
      assert.deepEqual(Object.values(broken).flat(), [], name);
      compactions += thread.records.filter(({ type }) => type === 'compacted').length;
    }
    assert.ok(compactions > 10, `${compactions} compactions`);
  },
);

test('twice the same, and over two processes the same as in one', { skip: REAL_SESSIONS_SKIP }, async () => {
  for (const file of realFiles().filter((_, nth) => nth % 9 === 0)) {
    const recording = stretchOf((await readSessionFile(file)).records);
    const name = path.basename(file);
    const first = rehearse(recording, { window: WINDOW });
    await playOut(first);
    const again = rehearse(recording, { window: WINDOW });
    await playOut(again);
    assert.ok(JSON.stringify(again.records) === JSON.stringify(first.records), `${name} differs`);
    const half = rehearse(recording, {
      window: WINDOW,
      past: first.records.slice(0, first.records.length / 2),
    });
    await playOut(half);
    const { user, agent } = conversationOf(half.records);
    assert.deepEqual(
      { user, agent },
      { user: conversationOf(recording).user, agent: conversationOf(recording).agent },
    );
  }
});
