// The bundled session is what its script records, and a session that Baton reads without a complaint.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RECORDING, recordSession } from '../../scripts/record-session.ts';
import { loadSession } from '../../src/formats/session-file.io.ts';
import type { LoadReport } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import { AccountFold } from '../../src/history/account.ts';
import type { ContextAccount } from '../../src/history/context-account.ts';
import { DEFAULT_ESTIMATE } from '../../src/tokens/estimate.ts';

const PATH = join(fileURLToPath(new URL('../..', import.meta.url)), RECORDING);

describe('the bundled session', () => {
  let report: LoadReport;
  let account: ContextAccount;
  const turns: string[] = [];

  before(async () => {
    const fold = new AccountFold({ estimate: DEFAULT_ESTIMATE, safetyMultiplier: 4 / 3 });
    const source = await openSource(PATH, process.stdin);
    report = await loadSession(source, (record) => {
      fold.add(record);
      if (record.type.startsWith('turn_')) turns.push(record.type);
    });
    await source.close();
    account = fold.account();
  });

  it('reads back without damage', () => {
    assert.equal(report.format, 'codex');
    assert.deepEqual(report.damage, []);
    assert.deepEqual(account.rejectedSamples, []);
    assert.equal(account.recorded.unknownItems, 0);
    assert.equal(account.recorded.calls, account.recorded.results);
  });

  it('fills 80 to 90 % of its window at its fullest', () => {
    const peak = Math.max(...account.points.map(({ used }) => used));
    assert.equal(account.windowFrom, 'recorded');
    const share = peak / account.window;
    assert.ok(share >= 0.8 && share <= 0.9, `${peak} tokens of ${account.window}`);
  });

  it('has usage that the gauge predicts', () => {
    const errors = account.predictions.map(({ relativeError }) => relativeError).toSorted((a, b) => a - b);
    assert.ok(errors.length > 100);
    const median = errors[Math.floor(errors.length / 2)] ?? Infinity;
    assert.ok(median < 0.03, `median error ${median}`);
  });

  it('ends in the middle of its last turn', () => {
    assert.equal(account.turns, 8);
    assert.equal(turns.at(-1), 'turn_started');
  });

  it('contains one made-up token, and nothing from the machine that recorded it', () => {
    const text = readFileSync(PATH, 'utf8');
    assert.equal(text.match(/\bghp_[A-Za-z0-9]{36}\b/g)?.length, 1);
    assert.doesNotMatch(text, /\/tmp\/|\/root\b|\/Users\//);
  });

  it('is recorded to the same bytes again', { timeout: 300_000, skip: whyNotHere() }, async () => {
    const { text } = await recordSession();
    const stored = readFileSync(PATH, 'utf8');
    const difference = firstDifference(stored, text);
    assert.equal(difference, undefined, `recorded anew, the session differs at ${difference}`);
  });
});

/** Test reports of other Node versions read otherwise; other systems have other awk, grep and wc. */
function whyNotHere(): string | false {
  const major = Number(process.versions.node.split('.')[0]);
  if (process.platform === 'linux' && major === 20) return false;
  return `recorded with Node 20 on Linux, this is Node ${major} on ${process.platform}`;
}

function firstDifference(stored: string, recorded: string): string | undefined {
  const [a, b] = [stored.split('\n'), recorded.split('\n')];
  const line = a.findIndex((text, index) => text !== b[index]);
  if (line === -1) return a.length === b.length ? undefined : `line ${a.length}`;
  return `line ${line + 1}:\n${a[line]?.slice(0, 4000)}\n${b[line]?.slice(0, 4000)}`;
}
