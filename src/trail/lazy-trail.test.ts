import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { TrailCollector } from './collect.ts';
import { LazyTrail } from './lazy-trail.ts';

const RECORDS: readonly LogRecord[] = Array.from({ length: 150 }, (_, index): LogRecord => {
  const text = `Keep the totals of src/ledger/page-${index}.ts in cents, never in floats.`;
  const role = index % 3 === 0 ? 'user' : 'assistant';
  const type = role === 'user' ? 'input_text' : 'output_text';
  return { type: 'item', item: { type: 'message', role, content: [{ type, text }] } };
});

test('whenever somebody asks, the trail is that of the records so far', () => {
  const later = new LazyTrail();
  const at = new TrailCollector();
  for (const [index, record] of RECORDS.entries()) {
    later.add(record);
    at.add(record);
    if (index % 70 === 69 || index === RECORDS.length - 1) assert.deepEqual(later.trail(), at.trail());
  }
});
