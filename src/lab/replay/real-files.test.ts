// Every real session, played under every policy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSound, played } from '../../../test/support/played.ts';
import { realSessions, REAL_SESSIONS_SKIP } from '../../../test/support/real-sessions.ts';
import { loadSession } from '../../formats/session-file.io.ts';
import { openSource } from '../../formats/source.io.ts';
import type { LogRecord } from '../../protocol/record.ts';

const files = realSessions('claude-code', 'codex', 'pi');

async function recordsOf(path: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  const source = await openSource(path, process.stdin, undefined);
  try {
    await loadSession(source, (record) => records.push(record));
  } finally {
    await source.close();
  }
  return records;
}

test('every policy plays every real session soundly', { skip: REAL_SESSIONS_SKIP }, async () => {
  let watched = 0;
  let interrupted = 0;
  for (const path of files) {
    const result = played(await recordsOf(path), undefined, { measures: false });
    assertSound(result);
    assert.ok(result.requests > 0, `${path} has requests`);
    for (const { policy, compactions } of result.policies) {
      if (policy === 'baton') watched += compactions.length;
      if (policy === 'baton') interrupted += compactions.filter(({ place }) => place === 'mid_work').length;
    }
  }
  assert.ok(watched > 20, `Baton compacts ${watched} times in ${files.length} sessions`);
  assert.equal(interrupted, 0, 'and never in mid-work without an emergency');
});

test(
  'the play without compaction follows the recorded gauge up to the first compaction',
  {
    skip: REAL_SESSIONS_SKIP,
  },
  async () => {
    for (const path of files) {
      const { own, recorded, policies } = played(await recordsOf(path), ['none'], { measures: false });
      const until = own[0]?.request ?? Infinity;
      for (const [index, { used, request }] of (policies[0]?.samples ?? []).entries()) {
        if (request < until) assert.equal(used, recorded[index]?.used, `${path}, request ${request}`);
      }
    }
  },
);
