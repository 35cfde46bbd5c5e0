import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '../protocol/item.ts';
import { LineSplitter, ValueReader } from './lines.ts';
import type { DamageNote } from './reader.ts';

interface Read {
  readonly values: readonly JsonObject[];
  readonly notes: readonly DamageNote[];
}

/** Reads a text as a file, in chunks of some bytes. */
function read(text: string | Buffer, chunkBytes = 7, longest?: number): Read {
  const values: JsonObject[] = [];
  const notes: DamageNote[] = [];
  const reader = new ValueReader(
    (value) => values.push(value),
    (note) => notes.push(note),
  );
  let isTerminated = true;
  const splitter = new LineSplitter(
    {
      line: (bytes, terminated) => {
        isTerminated = terminated;
        reader.accept(bytes);
      },
      overlongLine: (bytes, terminated) => {
        isTerminated = terminated;
        reader.skip(bytes);
      },
    },
    longest,
  );
  const file = Buffer.from(text);
  for (let at = 0; at < file.length; at += chunkBytes) splitter.push(file.subarray(at, at + chunkBytes));
  splitter.end();
  reader.end(isTerminated);
  return { values, notes };
}

const RECORD = '{"timestamp":"t","type":"a","payload":{"type":"b","list":[{"type":"c"}]}}';
const VALUE = JSON.parse(RECORD) as JsonObject;

test('whole records on one damaged line are read, the inner objects of a torn one are not', () => {
  const cases: readonly (readonly [name: string, line: string, records: number, kind: DamageNote['kind']])[] =
    [
      ['two glued', RECORD + RECORD, 2, 'glued_lines'],
      ['three with blanks', `${RECORD} \t${RECORD} ${RECORD}`, 3, 'glued_lines'],
      ['torn, then whole', `${RECORD.slice(0, 15)}${RECORD}`, 1, 'glued_lines'],
      ['torn in a string, then whole', `${RECORD.slice(0, 16)}xx${RECORD}`, 1, 'glued_lines'],
      ['whole, then torn', `${RECORD}${RECORD.slice(0, 50)}`, 1, 'glued_lines'],
      ['first character gone', RECORD.slice(1), 0, 'malformed_json'],
      ['last character gone', RECORD.slice(0, -1), 0, 'malformed_json'],
      ['last two gone', RECORD.slice(0, -2), 0, 'malformed_json'],
      [
        'torn after many inner objects, then whole',
        `{"timestamp":"t","list":[${'{"type":"c"},'.repeat(500)}${RECORD.slice(0, 16)}${RECORD}`,
        1,
        'glued_lines',
      ],
      ['text', 'no JSON at all', 0, 'malformed_json'],
    ];
  for (const [name, line, records, kind] of cases) {
    const { values, notes } = read(`${line}\n${RECORD}\n`);
    assert.deepEqual(
      values,
      Array.from({ length: records + 1 }, () => VALUE),
      name,
    );
    assert.deepEqual(
      notes.map((note) => [note.line, note.kind]),
      [[1, kind]],
      name,
    );
  }
});

test('a last line without line feed is torn or whole', () => {
  assert.deepEqual(read(`${RECORD}\n${RECORD}`), { values: [VALUE, VALUE], notes: [] });
  const torn = read(`${RECORD}\n${RECORD.slice(0, 40)}`);
  assert.deepEqual(torn.values, [VALUE]);
  assert.deepEqual(
    torn.notes.map(({ line, kind, lost }) => ({ line, kind, lost })),
    [{ line: 2, kind: 'torn_last_line', lost: true }],
  );
});

test('a line that cannot be held is skipped, with its length, and its neighbours are read', () => {
  for (const chunkBytes of [1, 64, 100_000]) {
    const { values, notes } = read(`${RECORD}\n{"x":"${'y'.repeat(500)}"}\n${RECORD}`, chunkBytes, 100);
    assert.deepEqual(values, [VALUE, VALUE]);
    assert.equal(notes.length, 1);
    assert.equal(notes[0]?.line, 2);
    assert.match(notes[0].message, /a line of 508 bytes/);
  }
  assert.equal(read('x'.repeat(500), 7, 100).notes.length, 1, 'without line feed as well');
});

function nested(depth: number): string {
  return `{"type":"a","in":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

test('values nested deeper than the stack could bear are left out', () => {
  assert.deepEqual(read(nested(400), 4096).notes, []);
  for (const depth of [600, 100_000]) {
    const { values, notes } = read(`${nested(depth)}\n${RECORD}\n`, 4096);
    assert.deepEqual(values, [VALUE]);
    assert.deepEqual(
      notes.map(({ line, kind, lost }) => ({ line, kind, lost })),
      [{ line: 1, kind: 'wrong_shape', lost: true }],
    );
  }
});

test('however the bytes are cut into chunks, the same is read', () => {
  const piece = fc.constantFrom(
    RECORD,
    RECORD.slice(0, 30),
    '\n',
    '\r\n',
    '\0',
    '\uFEFF',
    'é',
    ' ',
    '[]',
    '',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 90 }), (pieces, chunkBytes) => {
      const text = pieces.join('');
      assert.deepEqual(read(text, chunkBytes), read(text, 1_000_000));
    }),
    { seed: 3, numRuns: 200 },
  );
});
