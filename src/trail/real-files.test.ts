// Summaries of real sessions, where they are at hand: budgets hold, and what must survive does.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from './collect.ts';
import { oneLine } from '../text/sentences.ts';
import { writeSummary } from '../summary/write.ts';
import { readSessionFile } from '../../test/support/read-format.ts';

const SESSIONS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'shared', 'sessions');
const FOLDERS = ['codex', 'claude-code', 'codex-0.169', 'claude-code-2.1.329'];

const files = FOLDERS.filter((folder) => existsSync(join(SESSIONS, folder))).flatMap((folder) =>
  readdirSync(join(SESSIONS, folder)).map((name) => join(SESSIONS, folder, name)),
);

for (const file of files) {
  test(`summaries of ${file.slice(SESSIONS.length + 1)}`, async () => {
    const { records } = await readSessionFile(file);
    const collector = new TrailCollector();
    const cuts = new Set([0.25, 0.5, 0.75, 1].map((share) => Math.ceil(records.length * share)));
    for (const [index, record] of records.entries()) {
      collector.add(record);
      if (cuts.has(index + 1)) checkSummaries(collector);
    }
  });
}

function checkSummaries(collector: TrailCollector): void {
  const trail = collector.trail();
  for (const budgetTokens of [300, 1_000, 4_000, 16_000]) {
    const { text, tokens } = writeSummary(trail, { budgetTokens, count: approximateTokens });
    assert.ok(tokens <= budgetTokens);
    assert.doesNotMatch(text, /\p{Surrogate}/u, 'no half of a character pair');
    const current = trail.requests.at(-1);
    if (current !== undefined) assert.ok(text.includes(oneLine(current.text).slice(0, 40)));
    if (budgetTokens !== 4_000) continue;
    const kept = trail.constraints.filter((rule) => text.includes(oneLine(rule.text)));
    assert.ok(
      kept.length >= 0.95 * trail.constraints.length,
      `${kept.length} of ${trail.constraints.length} rules`,
    );
  }
}

if (files.length === 0) {
  test('summaries of real sessions', { skip: `no session files at ${SESSIONS}` }, () => undefined);
}
