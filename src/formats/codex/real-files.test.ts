// What real rollouts hold is counted twice: by the reader, and straight from the JSON.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { callOf, resultCallId } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { UsageGauge } from '../../tokens/anchor.ts';
import type { Prediction } from '../../tokens/anchor.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { looksLikeCodex } from './detect.ts';
import { codexReader } from './read.ts';

const SESSIONS = fileURLToPath(new URL('../../../../shared/sessions/', import.meta.url));
const FOLDERS = ['codex', 'codex-0.169'];
const skip = existsSync(SESSIONS) ? false : 'no real session files at ../shared/sessions';

interface RealFile {
  readonly name: string;
  readonly folder: string;
  readonly lines: readonly string[];
}

function realFiles(): RealFile[] {
  if (skip !== false) return [];
  return FOLDERS.flatMap((folder) =>
    readdirSync(`${SESSIONS}${folder}`).map((name) => ({
      name,
      folder,
      lines: readFileSync(`${SESSIONS}${folder}/${name}`, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    })),
  );
}

function parse(line: string): JsonObject {
  return JSON.parse(line) as JsonObject;
}

interface Counts {
  readonly user: number;
  readonly assistant: number;
  readonly calls: number;
  readonly results: number;
  readonly compactions: number;
}

function countJson(lines: readonly string[]): Counts {
  const counts = { user: 0, assistant: 0, calls: 0, results: 0, compactions: 0 };
  for (const { type, payload } of lines.map(parse)) {
    if (type === 'compacted') counts.compactions++;
    if (type !== 'response_item') continue;
    const { type: kind, role } = payload as { type: string; role?: string };
    if (kind === 'message' && role === 'user') counts.user++;
    if (kind === 'message' && role === 'assistant') counts.assistant++;
    if (kind.endsWith('_call')) counts.calls++;
    if (kind.endsWith('_output')) counts.results++;
  }
  return counts;
}

function readRecords(lines: readonly string[]): { records: LogRecord[]; problems: number } {
  const records: LogRecord[] = [];
  let problems = 0;
  const reader = codexReader.read(
    (record) => records.push(record),
    () => problems++,
  );
  for (const [index, line] of lines.entries()) reader.accept(parse(line), { line: index + 1, part: 0 });
  reader.end();
  return { records, problems };
}

function countRecords(records: readonly LogRecord[]): Counts {
  const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  const ofRole = (role: string): number =>
    items.filter((item) => item.type === 'message' && item.role === role).length;
  return {
    user: ofRole('user'),
    assistant: ofRole('assistant'),
    calls: items.filter((item) => callOf(item) !== undefined).length,
    results: items.filter((item) => resultCallId(item) !== undefined).length,
    compactions: records.filter(({ type }) => type === 'compacted').length,
  };
}

/** The columns of the index that comes with the files: user, assistant, calls/results, compactions. */
function indexedCounts(): ReadonlyMap<string, Counts> {
  const rows = new Map<string, Counts>();
  for (const row of readFileSync(`${SESSIONS}INDEX.md`, 'utf8').split('\n')) {
    const cells = row.split('|').map((cell) => cell.trim());
    const [, name = '', format, , , user, assistant, pairs = ''] = cells;
    if (format !== 'codex') continue;
    const [calls, results] = pairs.split('/').map(Number);
    rows.set(name, {
      user: Number(user),
      assistant: Number(assistant),
      calls: calls ?? NaN,
      results: results ?? NaN,
      compactions: Number(cells[9]),
    });
  }
  return rows;
}

test('every item of every real rollout is read', { skip }, async (t) => {
  const indexed = indexedCounts();
  for (const { name, folder, lines } of realFiles()) {
    await t.test(name, () => {
      const { records, problems } = readRecords(lines);
      assert.equal(problems, 0);
      assert.deepEqual(countRecords(records), countJson(lines));
      assert.deepEqual(
        new Set(records.map(({ line }) => line)).size,
        lines.length,
        'a line without a record',
      );
      const row = indexed.get(`${folder}/${name}`);
      if (folder === 'codex') assert.deepEqual(countRecords(records), row);
      for (const line of lines) assert.equal(looksLikeCodex(parse(line)), 1);
    });
  }
});

/** Predictions of anchored samples; what a compaction changed is folded in by its replacement. */
function anchoredPredictions(records: readonly LogRecord[]): Prediction[] {
  const gauge = new UsageGauge(1);
  const predictions: Prediction[] = [];
  const add = (item: Item): void => gauge.add(item, sumTokens(itemTokens(item)));
  for (const record of records) {
    if (record.type === 'session_meta') gauge.addOverhead(approximateTokens(record.instructions ?? ''));
    else if (record.type === 'item') add(record.item);
    else if (record.type === 'compacted') {
      gauge.reset();
      for (const item of record.replacement) add(item);
    } else if (record.type === 'usage') {
      const verdict = gauge.sample(record.usage, undefined);
      if (verdict.accepted && verdict.prediction?.anchored === true) predictions.push(verdict.prediction);
    }
  }
  return predictions;
}

test('the gauge predicts what the provider then reports', { skip }, async (t) => {
  // The usage in the other folder was made up by scripted models.
  for (const { name, lines } of realFiles().filter(({ folder }) => folder === 'codex')) {
    await t.test(name, () => {
      const errors = anchoredPredictions(readRecords(lines).records)
        .map(({ relativeError }) => relativeError)
        .toSorted((a, b) => a - b);
      const median = errors[Math.floor(errors.length / 2)] ?? 1;
      t.diagnostic(`${name}: median error ${(median * 100).toFixed(2)} % of ${errors.length} samples`);
      assert.ok(median < 0.01, `median error ${median}`);
    });
  }
});
