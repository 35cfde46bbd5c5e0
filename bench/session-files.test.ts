import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { loadSession } from '../src/formats/session-file.io.ts';
import { openSource } from '../src/formats/source.io.ts';
import { callOf, resultCallId } from '../src/protocol/item.ts';
import type { LogRecord } from '../src/protocol/record.ts';
import { FORMATS, MESSAGE_FORMATS } from '../src/vocabulary.ts';
import type { Format } from '../src/vocabulary.ts';
import { isDocument, withFolder, writeSession } from './session-files.ts';

/** More than two windows of every agent. */
const BYTES = 6e6;

/** Formats in which nothing says that the context was compacted, or whose runs end instead. */
const WITHOUT_COMPACTIONS: ReadonlySet<Format> = new Set([
  ...MESSAGE_FORMATS,
  'openhands',
  'swe-agent',
  'mini-swe-agent',
]);

for (const format of FORMATS) {
  test(`a made-up ${format} session is one, whole, and of the size asked for`, async () => {
    await withFolder(async (folder) => {
      const path = await writeSession(folder, format, BYTES);
      const { size } = statSync(path);
      if (isDocument(format)) assert.ok(size <= BYTES && size > BYTES * 0.98, `${size}`);
      else assert.ok(size >= BYTES && size < BYTES * 1.5, `${size}`);
      const records: LogRecord[] = [];
      const source = await openSource(path, process.stdin);
      const report = await loadSession(source, (record) => records.push(record)).finally(() =>
        source.close(),
      );
      assert.equal(report.format, format);
      assert.deepEqual(report.damage, []);
      const compactions = records.filter(({ type }) => type === 'compacted');
      assert.equal(compactions.length > 1, !WITHOUT_COMPACTIONS.has(format));
      assert.deepEqual(repeated(idsOf(records, 'call')), []);
      const [calls, results] = [idsOf(records, 'call'), idsOf(records, 'result')];
      // In 2024 and in mini-swe-agent 1.x commands are text.
      assert.equal(calls.length > 300, format !== 'mini-swe-agent');
      assert.deepEqual(results, calls.slice(0, results.length));
      assert.ok(calls.length - results.length <= 1);
    });
  });
}

function idsOf(records: readonly LogRecord[], kind: 'call' | 'result'): readonly string[] {
  return records.flatMap((record) => {
    if (record.type !== 'item' && record.type !== 'side_item') return [];
    const id = kind === 'call' ? callOf(record.item)?.callId : resultCallId(record.item);
    return id === undefined ? [] : [id];
  });
}

function repeated(ids: readonly string[]): readonly string[] {
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}
