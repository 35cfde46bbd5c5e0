// docs/rollout-format.md names every kind of line that a session of Baton's can hold.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { TailFollower } from '../../src/formats/codex/tail.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { recordLines } from '../../src/rollout/lines.ts';
import { STEERED_NOTE } from '../../src/session/watched/pending-steers.ts';
import { DECISION_NOTE, QUEUED_NOTE, STATE_NOTE } from '../../src/watcher/live/past.ts';
import { PHASE_NOTE } from '../../src/watcher/signals/signals.ts';
import { anyCompacted, anyPlainRecord } from '../support/any-record.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/rollout-format.md'), 'utf8');
const CONTEXT = { tail: new TailFollower().state(), historyAfter: () => [], windowId: () => 'w' };

const REWRITING: readonly LogRecord[] = [
  { type: 'micro_compacted', id: 'm', callIds: [] },
  { type: 'undo_compaction', compactionId: 'c' },
  { type: 'undo_turn', turnId: 't' },
];

test('every kind of line is on the page', () => {
  const drawn = fc.sample(fc.oneof(anyPlainRecord, anyCompacted), { seed: 20_260_102, numRuns: 1_000 });
  const kinds = new Set<string>([STATE_NOTE, QUEUED_NOTE, DECISION_NOTE, STEERED_NOTE, PHASE_NOTE]);
  for (const record of [...drawn, ...REWRITING]) {
    for (const { type, payload } of recordLines({ ...record, at: '2026-01-02T03:04:05.678Z' }, CONTEXT)) {
      kinds.add(type);
      // What was merely shown has whatever type it was shown under.
      if (type === 'event_msg' && record.type !== 'event') kinds.add(String(payload['type']));
      if (type === 'compacted') kinds.add(record.type);
    }
  }
  assert.ok(kinds.size > 15, [...kinds].join(' '));
  assert.deepEqual(
    [...kinds].filter((kind) => !PAGE.includes(`\`${kind}\``)),
    [],
  );
});
