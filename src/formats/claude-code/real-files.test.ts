// The reader against sessions that Claude Code itself wrote. They are not part of this repository.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readPlacedLines } from '../../../test/support/read-claude.ts';
import type { PlacedLine } from '../../../test/support/read-claude.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { UsageGauge } from '../../tokens/anchor.ts';
import { itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { claudeCodeReader } from './read.ts';
import { looksLikeClaudeCode } from './detect.ts';
import { SKIM_FROM_CHARACTERS, skimLine } from './skim.ts';
import { appendClaudeCompaction } from './write.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../../shared/sessions');
const FOLDERS = ['claude-code', 'claude-code-2.1.329'].map((name) => path.join(ROOT, name));
const files = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
  readdirSync(folder).map((name) => path.join(folder, name)),
);
const skip = files.length === 0 && `no real sessions at ${ROOT}`;

/** The values of a file; a line of glued objects gives each of them. */
function valuesOf(file: string): PlacedLine[] {
  const values: PlacedLine[] = [];
  for (const [index, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    for (const [part, each] of splitGlued(text).entries()) {
      values.push([JSON.parse(each) as JsonObject, { line: index + 1, part }]);
    }
  }
  return values;
}

function splitGlued(text: string): string[] {
  if (text.trim() === '') return [];
  if (isJson(text)) return [text];
  for (let seam = text.indexOf('}{'); seam !== -1; seam = text.indexOf('}{', seam + 1)) {
    const [left, right] = [text.slice(0, seam + 1), text.slice(seam + 1)];
    if (isJson(left) && isJson(right)) return [left, right];
  }
  throw new Error(`Neither one object nor two: ${text.length} characters`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Counts {
  readonly user: number;
  readonly assistant: number;
  readonly calls: number;
  readonly results: number;
}

/** As plain as can be, to be independent of the reader. */
function countLines(values: readonly PlacedLine[]): Counts {
  const counts = { user: 0, assistant: 0, calls: 0, results: 0 };
  for (const [value] of values) {
    if (value['type'] !== 'user' && value['type'] !== 'assistant') continue;
    const { content: blocks } = value['message'] as JsonObject;
    const types = Array.isArray(blocks) ? blocks.map((block) => (block as JsonObject)['type']) : ['text'];
    counts.calls += types.filter((type) => type === 'tool_use').length;
    counts.results += types.filter((type) => type === 'tool_result').length;
    if (value['type'] === 'assistant') counts.assistant += 1;
    else if (!types.includes('tool_result')) counts.user += 1;
  }
  return counts;
}

/** The same from what was read, the conversation and what stands aside together. */
function countItems(records: readonly LogRecord[]): Counts {
  const counts = { user: 0, assistant: 0, calls: 0, results: 0 };
  const resultLines = new Set(
    records.filter((record) => isOf(record, 'function_call_output')).map(({ line }) => line),
  );
  for (const record of records) {
    if (record.type === 'compacted') counts.user += 1;
    if (isOf(record, 'function_call')) counts.calls += 1;
    if (isOf(record, 'function_call_output')) counts.results += 1;
    // Each of these files has one block a line but one: a result with a word of the user beside it.
    if (isOf(record, 'message', 'user') && !resultLines.has(record.line)) counts.user += 1;
    const isAnswer =
      isOf(record, 'message', 'assistant') || isOf(record, 'reasoning') || isOf(record, 'function_call');
    if (isAnswer) counts.assistant += 1;
  }
  return counts;
}

function isOf(record: LogRecord, type: Item['type'], role?: string): boolean {
  if (record.type !== 'item' && record.type !== 'side_item') return false;
  const { item } = record;
  return item.type === type && (role === undefined || (item.type === 'message' && item.role === role));
}

test('nothing of a real session is lost', { skip }, async (t) => {
  for (const file of files) {
    await t.test(path.basename(file).slice(0, 60), () => {
      const values = valuesOf(file);
      const { records, notes } = readPlacedLines(values);
      assert.deepEqual(countItems(records), countLines(values));
      assert.ok(notes.every((note) => !note.lost));
      const told = new Set(records.map((record) => record.line));
      const summaries = records.filter((record) => record.type === 'compacted').length;
      const lines = [...new Set(values.map(([, at]) => at.line))];
      assert.equal(
        lines.filter((line) => !told.has(line)).length,
        summaries,
        'lines that no record tells of',
      );
    });
  }
});

test('real sessions hold next to no abandoned lines', { skip }, (t) => {
  for (const file of files) {
    const { records } = readPlacedLines(valuesOf(file));
    const aside = records.filter((record) => record.type === 'side_item').length;
    const items = records.filter((record) => record.type === 'item').length;
    t.diagnostic(`${path.basename(file).slice(-20)}: ${items} in the conversation, ${aside} aside`);
    // Found by hand: the leftovers of /exit, which the next run of the client does not continue, and lines written twice.
    assert.ok(aside <= 3, `${aside} of ${items} aside in ${path.basename(file)}`);
  }
});

test('every compaction is found, with its summary', { skip }, () => {
  for (const file of files) {
    const values = valuesOf(file);
    const boundaries = values.filter(([value]) => value['subtype'] === 'compact_boundary').length;
    const compacted = readPlacedLines(values).records.filter((record) => record.type === 'compacted');
    assert.equal(compacted.length, boundaries, path.basename(file));
    for (const record of compacted) assert.ok((record.summary ?? '').length > 0);
  }
});

test('a compaction appended to a real session becomes its context', { skip }, () => {
  for (const file of files) {
    const values = valuesOf(file);
    const { tail } = readPlacedLines(values).survey;
    const summary: Item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'The past.' }],
      isCompactSummary: true,
    };
    const boundary: Item = { type: 'compact_boundary', uuid: 'b', timestamp: '', trigger: 'manual' };
    let count = 0;
    const fresh = (): string => `fresh-${++count}`;
    const { lines, leafUuid } = appendClaudeCompaction({
      record: {
        type: 'compacted',
        id: 'b',
        replacement: [boundary, summary],
        preTokens: 9000,
        postTokens: 10,
      },
      tail,
      newSessionId: 's',
      at: '2027-01-01T00:00:00.000Z',
      ids: { uuid: fresh, messageId: fresh },
    });
    const appended = lines.map((line, index): PlacedLine => [
      JSON.parse(line) as JsonObject,
      { line: 1e6 + index, part: 0 },
    ]);
    const after = readPlacedLines([...values, ...appended]);
    assert.equal(after.records.findLast((record) => record.type === 'compacted')?.summary, 'The past.');
    assert.equal(after.survey.tail.uuid, leafUuid);
    assert.equal(after.survey.tail.cumulativeDroppedTokens, tail.cumulativeDroppedTokens + 8990);
  }
});

function skimPadded(value: JsonObject): JsonObject {
  const text = JSON.stringify(value) + ' '.repeat(SKIM_FROM_CHARACTERS);
  return skimLine(text) ?? assert.fail('unsure of a sound line');
}

test('skimmed lines survey like parsed ones', { skip }, () => {
  for (const file of files) {
    const values = valuesOf(file);
    const survey = (view: (value: JsonObject) => JsonObject): unknown => {
      const surveyor = claudeCodeReader.survey?.(() => undefined);
      for (const [value, at] of values) surveyor?.accept(view(value), at);
      surveyor?.end();
      return surveyor?.result();
    };
    const skimmed = survey(skimPadded);
    assert.deepEqual(
      skimmed,
      survey((value) => value),
    );
  }
});

test('the gauge predicts what the provider will say', { skip }, (t) => {
  const errors: number[] = [];
  for (const file of files.filter((each) => !each.includes('2.1.329'))) {
    const gauge = new UsageGauge(1.33);
    const add = (item: Item): void => gauge.add(item, sumTokens(itemTokens(item)));
    for (const record of readPlacedLines(valuesOf(file)).records) {
      if (record.type === 'item') add(record.item);
      if (record.type === 'compacted') {
        gauge.reset();
        record.replacement.forEach(add);
      }
      if (record.type !== 'usage') continue;
      const verdict = gauge.sample(record.usage, undefined);
      if (verdict.accepted && verdict.prediction?.anchored === true)
        errors.push(verdict.prediction.relativeError);
    }
  }
  errors.sort((left, right) => left - right);
  const median = errors[Math.floor(errors.length / 2)] ?? 1;
  t.diagnostic(`median ${(median * 100).toFixed(2)} % over ${errors.length} samples`);
  assert.ok(median < 0.01);
});

test('lines of real sessions look like Claude Code, lines of others do not', { skip }, () => {
  for (const file of files) {
    for (const [value] of valuesOf(file).slice(0, 20)) assert.ok(looksLikeClaudeCode(value) >= 0.5);
  }
  for (const other of ['codex', 'codex-0.169', 'copilot-cli', 'pi']) {
    for (const name of readdirSync(path.join(ROOT, other)).filter((each) => each.endsWith('.jsonl'))) {
      for (const [value] of valuesOf(path.join(ROOT, other, name)).slice(0, 20)) {
        assert.ok(looksLikeClaudeCode(value) < 0.2, `${other}: ${String(value['type'])}`);
      }
    }
  }
});
