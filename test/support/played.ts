// Replays of records without files or a command line, and what holds of each.

import assert from 'node:assert/strict';
import { choosePolicies } from '../../src/cli/commands/replay/policies.ts';
import type { PolicyName } from '../../src/cli/commands/replay/policy-names.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { FactsFold } from '../../src/lab/replay/facts.ts';
import type { SessionReplay } from '../../src/lab/replay/outcome.ts';
import { rootIn } from '../../src/lab/eval/log.ts';
import { FutureFold, RecallMeter } from '../../src/lab/replay/recall.ts';
import { Replay } from '../../src/lab/replay/replay.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../src/tokens/estimate.ts';

const POLICIES = await choosePolicies({ effective: DEFAULT_CONFIG, compared: [] });

/** Plays records under the default configuration. @param policies all unless given */
export function played(
  records: readonly LogRecord[],
  policies?: readonly PolicyName[],
  { measures = true } = {},
): SessionReplay {
  const facts = new FactsFold((item) => sumTokens(itemTokens(item)), approximateTokens);
  for (const record of records) facts.add(record);
  const future = new FutureFold(records.map(rootIn).find((root) => root !== undefined) ?? '');
  for (const record of records) future.add(record);
  const replay = new Replay(facts.facts(), {
    recording: {
      estimate: DEFAULT_CONFIG.compact,
      safetyMultiplier: DEFAULT_CONFIG.compact.tokenSafetyMultiplier,
    },
    policies: POLICIES.filter(({ name }) => policies?.some((wanted) => wanted === name) ?? true),
    ...(measures ? { recall: new RecallMeter(future) } : {}),
  });
  for (const record of records) replay.add(record);
  replay.end();
  return replay.result();
}

/** What holds of every replay of every session. */
export function assertSound(result: SessionReplay): void {
  const none = result.policies.find((outcome) => outcome.policy === 'none');
  for (const { policy: name, samples, compactions, bill, peak, mean, decisions } of result.policies) {
    assert.equal(samples.length, result.requests, `${name}: one sample for each request`);
    assert.ok(bill.requests >= result.requests, `${name}: every request is billed`);
    assert.ok(bill.cached >= 0 && bill.cached <= bill.input, `${name}: no more is cached than sent`);
    assert.equal(peak, Math.max(0, ...samples.map(({ used }) => used)), `${name}: peak`);
    assert.ok(mean <= peak, `${name}: mean`);
    for (const [index, { used, request }] of samples.entries()) {
      assert.ok(used >= 0, `${name}: ${used} tokens at request ${request}`);
      // A handoff adds a packet; otherwise nothing can be larger than without any compaction.
      const most = (none?.samples[index]?.used ?? Infinity) + 6_000 * (1 + compactions.length);
      assert.ok(used <= most, `${name}: ${used} tokens at request ${request}, at most ${most}`);
    }
    for (const { openCalls, preTokens, postTokens, recall, line } of compactions) {
      assert.equal(openCalls, 0, `${name}: no compaction in a tool sequence (line ${line})`);
      assert.ok(postTokens >= 0 && preTokens >= 0, `${name}: sizes`);
      assert.ok(recall === undefined || (recall >= 0 && recall <= 1), `${name}: recall`);
    }
    const yes = decisions.filter(({ shouldCompact, reason }) => shouldCompact && reason === 'boundary');
    const used = yes.flatMap(({ signals }) => signals.map(({ id }) => id));
    assert.equal(new Set(used).size, used.length, `${name}: no boundary decides twice`);
  }
}
