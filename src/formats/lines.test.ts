import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '../protocol/item.ts';
import { LineSplitter, ValueReader, whyUnreadable } from './lines.ts';
import type { DamageNote } from './reader.ts';

const SEED = { seed: 20_260_105 };

interface Reading {
  readonly values: readonly JsonObject[];
  /** `line.part` of each value. */
  readonly places: readonly string[];
  /** `line kind`, with `!` where something was lost. */
  readonly damage: readonly string[];
  readonly lines: number;
}

function read(chunks: readonly Buffer[], longest?: number): Reading {
  const values: JsonObject[] = [];
  const places: string[] = [];
  const notes: DamageNote[] = [];
  let isTerminated = true;
  const reader = new ValueReader(
    (value, { line, part }) => {
      values.push(value);
      places.push(`${line}.${part}`);
    },
    (note) => notes.push(note),
    undefined,
    longest,
  );
  const splitter = new LineSplitter((bytes, terminated) => {
    isTerminated = terminated;
    reader.accept(bytes);
  }, longest);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  reader.end(isTerminated);
  const damage = notes
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, kind, lost }) => `${line} ${kind}${lost ? '!' : ''}`);
  return { values, places, damage, lines: reader.lines };
}

function readText(text: string): Reading {
  return read([Buffer.from(text)]);
}

/** Lines as the agents write them: nested objects that look like records, escapes, braces inside of strings. */
const RECORDS: readonly JsonObject[] = [
  { timestamp: '2026-01-01T00:00:00Z', type: 'session_meta', payload: { id: 'a-1', cwd: '/home/dev' } },
  {
    timestamp: '2026-01-01T00:00:01Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'A {"quoted": "brace"} – \\ "and" é 🙂\n' }],
    },
  },
  {
    parentUuid: null,
    isSidechain: false,
    message: { id: 'm', content: [{ type: 'tool_use', input: { list: [1, -2.5e3, true, null, {}, []] } }] },
    uuid: 'u-1',
  },
  { timestamp: '2026-01-01T00:00:03Z', type: 'event_msg', payload: { type: 'token_count', info: null } },
];

const TEXTS = RECORDS.map((record) => JSON.stringify(record));
const FILE = Buffer.from(`${TEXTS.join('\n')}\n`);

test('a sound file is read whole, with the number of each line', () => {
  assert.deepEqual(read([FILE]), {
    values: RECORDS,
    places: ['1.0', '2.0', '3.0', '4.0'],
    damage: [],
    lines: 4,
  });
});

test('cut anywhere, a file gives the records before the cut and one note on the torn one, never a part of it', () => {
  for (let cut = 0; cut <= FILE.length; cut++) {
    const head = FILE.subarray(0, cut);
    const { values, damage, lines } = read([head]);
    const whole = head.filter((byte) => byte === 0x0a).length;
    const rest = head.subarray(head.lastIndexOf(0x0a) + 1).toString();
    const isComplete = TEXTS.includes(rest);
    const expected = RECORDS.slice(0, isComplete ? whole + 1 : whole);
    assert.deepEqual(values, expected, `cut at ${cut}`);
    const notes = damage.filter((note) => !note.endsWith('invalid_utf8'));
    assert.deepEqual(notes, rest === '' || isComplete ? [] : [`${lines} torn_last_line!`], `cut at ${cut}`);
  }
});

test('cut anywhere and followed by the next record on the same line, the next record is read and nothing made up', () => {
  const next: JsonObject = {
    timestamp: '2026-01-01T00:00:09Z',
    type: 'event_msg',
    payload: { type: 'x', n: [{ a: 1 }] },
  };
  for (const [index, text] of TEXTS.entries()) {
    const bytes = Buffer.from(text);
    for (let cut = 1; cut < bytes.length; cut++) {
      const line = Buffer.concat([bytes.subarray(0, cut), Buffer.from(JSON.stringify(next))]);
      const { values, places, damage } = read([line, Buffer.from('\n{}\n')]);
      assert.deepEqual(
        values,
        [next, {}],
        `record ${index} cut at ${cut}: ${line.subarray(cut - 12, cut + 12).toString()}`,
      );
      assert.deepEqual(places, ['1.0', '2.0']);
      assert.equal(damage.at(-1), '1 glued_lines!');
    }
  }
});

test('a torn record, a whole one and a torn one on the same line give the whole one', () => {
  for (const start of [
    '{"type":"summary"',
    '{"leafUuid":"x","text":"it',
    '{"timestamp":"t","payload":{"a":[{"b":1}',
  ]) {
    const { values, damage } = readText(`${start}${TEXTS[1]}{"timestamp":"2026\n`);
    assert.deepEqual(values, [RECORDS[1]], start);
    assert.deepEqual(damage, ['1 glued_lines!']);
  }
});

const damaged: readonly (readonly [
  name: string,
  text: string,
  values: readonly JsonObject[],
  places: string,
  damage: readonly string[],
])[] = [
  ['an empty file', '', [], '', []],
  ['blank lines', '\n{"a":1}\n \t\n\r\n{"b":2}\n\n', [{ a: 1 }, { b: 2 }], '2.0 5.0', []],
  ['carriage returns', '{"a":1}\r\n{"b":2}\r\n', [{ a: 1 }, { b: 2 }], '1.0 2.0', []],
  ['a byte order mark', '\uFEFF{"a":1}\n', [{ a: 1 }], '1.0', []],
  ['a byte order mark and nothing else', '\uFEFF', [], '', []],
  [
    'a byte order mark of a second file',
    '{"a":1}\n\uFEFF{"b":2}\n',
    [{ a: 1 }, { b: 2 }],
    '1.0 2.0',
    ['2 glued_lines'],
  ],
  ['no line feed at the end', '{"a":1}\n{"b":2}', [{ a: 1 }, { b: 2 }], '1.0 2.0', []],
  ['two records on one line', '{"a":1}{"b":2}\n', [{ a: 1 }, { b: 2 }], '1.0 1.1', ['1 glued_lines']],
  [
    'three with spaces',
    '{"a":1} {"b":{"c":2}}\t{"d":3}\n',
    [{ a: 1 }, { b: { c: 2 } }, { d: 3 }],
    '1.0 1.1 1.2',
    ['1 glued_lines'],
  ],
  ['a record and rubbish', '{"a":1}xyz\n', [{ a: 1 }], '1.0', ['1 glued_lines!']],
  ['two records and rubbish', '{"a":1}{"b":1}xyz\n', [{ a: 1 }, { b: 1 }], '1.0 1.1', ['1 glued_lines!']],
  ['rubbish and a record', 'xyz{"a":1}\n', [{ a: 1 }], '1.0', ['1 glued_lines!']],
  ['rubbish', 'xyz\n{"a":1}\n', [{ a: 1 }], '2.0', ['1 malformed_json!']],
  ['rubbish at the end of a file', '{"a":1}\nxyz\n', [{ a: 1 }], '1.0', ['2 malformed_json!']],
  ['a torn line before blank ones', '{"a":1}\n{"b":\n\n', [{ a: 1 }], '1.0', ['2 malformed_json!']],
  ['two torn lines', '{"a":\n{"b":', [], '', ['1 malformed_json!', '2 torn_last_line!']],
  ['a record broken in the middle', '{"a":1,!"b":{"c":2},"d":[{"e":3}]}\n', [], '', ['1 malformed_json!']],
  ['NULs inside of a record', '{"a"\0\0:1}\n', [{ a: 1 }], '1.0', ['1 nul_bytes']],
  ['NULs after the last record', '{"a":1}\n\0\0\0', [{ a: 1 }], '1.0', ['2 nul_bytes']],
  [
    'NULs as a line of their own',
    '{"a":1}\n\0\0\n{"b":2}\n',
    [{ a: 1 }, { b: 2 }],
    '1.0 3.0',
    ['2 nul_bytes'],
  ],
  [
    'NULs where the end was not written',
    '{"a":1}\n{"b":\0\0',
    [{ a: 1 }],
    '1.0',
    ['2 nul_bytes', '2 torn_last_line!'],
  ],
  [
    'other JSON',
    '1\n"x"\nnull\n[{"a":1}]\n{"a":1}\n',
    [{ a: 1 }],
    '5.0',
    [1, 2, 3, 4].map((line) => `${line} not_an_object!`),
  ],
  [
    'lone surrogates',
    '{"a":"\\ud83d"}\n{"a":"\\udc00x"}\n',
    [{ a: '\ud83d' }, { a: '\udc00x' }],
    '1.0 2.0',
    [],
  ],
  [
    'lines in another order',
    `${TEXTS[3]}\n${TEXTS[0]}\n`,
    [RECORDS[3] ?? {}, RECORDS[0] ?? {}],
    '1.0 2.0',
    [],
  ],
  [
    'a document of many lines',
    '{\n  "a": {"b": 1},\n  "c": 2\n}\n',
    [],
    '',
    [1, 2, 3, 4].map((line) => `${line} malformed_json!`),
  ],
];

for (const [name, text, values, places, damage] of damaged) {
  test(`damage: ${name}`, () => {
    const reading = readText(text);
    assert.deepEqual(
      { ...reading, places: reading.places.join(' ') },
      { values, places, damage, lines: reading.lines },
    );
  });
}

test('bytes that are no UTF-8 become U+FFFD, and the record is read', () => {
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}\n')]);
  const { values, damage } = read([bytes]);
  assert.deepEqual(values, [{ a: '\ufffd(\ufffd' }]);
  assert.deepEqual(damage, ['1 invalid_utf8']);
});

/** A line of a file: a record, what is left of one, or something else. */
const anyLine = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.jsonValue().map((value) => JSON.stringify({ timestamp: 't', value })) },
  { weight: 1, arbitrary: fc.json() },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...TEXTS), fc.nat(60)).map(([text, at]) => text.slice(0, at)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS)).map(([a, b]) => a + b),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

const anyFile = fc
  .tuple(fc.array(anyLine, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, feed, isTerminated]) => Buffer.from(lines.join(feed) + (isTerminated ? feed : '')));

test('however a file is cut into chunks, it reads the same', () => {
  fc.assert(
    fc.property(anyFile, fc.array(fc.nat(400), { maxLength: 8 }), (file, cuts) => {
      const places = [...new Set([0, ...cuts.filter((cut) => cut < file.length), file.length])].toSorted(
        (a, b) => a - b,
      );
      const chunks = places.slice(1).map((end, index) => file.subarray(places[index] ?? 0, end));
      assert.deepEqual(read(chunks), read([file]));
    }),
    SEED,
  );
  const whole = read([FILE]);
  for (let cut = 0; cut <= FILE.length; cut++) {
    assert.deepEqual(read([FILE.subarray(0, cut), FILE.subarray(cut)]), whole, `chunks meet at ${cut}`);
  }
  assert.deepEqual(read([...FILE].map((byte) => Buffer.from([byte]))), whole);
});

test('a chunk may be overwritten once it was taken', () => {
  const buffer = Buffer.alloc(7);
  const values: JsonObject[] = [];
  const reader = new ValueReader(
    (value) => values.push(value),
    ({ message }) => assert.fail(message),
  );
  const splitter = new LineSplitter((bytes) => reader.accept(bytes));
  for (let start = 0; start < FILE.length; start += 7) {
    splitter.push(buffer.subarray(0, FILE.copy(buffer, 0, start, start + 7)));
    buffer.fill(0x7b);
  }
  splitter.end();
  assert.deepEqual(values, RECORDS);
});

test('no object is lost that a line-by-line parser reads, and none comes twice', () => {
  let lines = 0;
  fc.assert(
    fc.property(anyFile, (file) => {
      const independent = file
        .toString()
        .split('\n')
        .flatMap((line): { line: string; value: unknown }[] => {
          try {
            return [{ line, value: JSON.parse(line) as unknown }];
          } catch {
            return [];
          }
        })
        .filter(({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value))
        .map(({ value }) => value);
      lines += independent.length;
      const { values, places } = read([file]);
      const isNeeded = new Map<string, number>();
      for (const value of values) {
        const key = JSON.stringify(value);
        isNeeded.set(key, (isNeeded.get(key) ?? 0) + 1);
      }
      for (const value of independent) {
        const key = JSON.stringify(value);
        const left = isNeeded.get(key) ?? 0;
        assert.ok(left > 0, `lost: ${key}`);
        isNeeded.set(key, left - 1);
      }
      assert.equal(new Set(places).size, places.length);
    }),
    SEED,
  );
  assert.ok(lines > 200, `only ${lines} lines were compared`);
});

test('every line that is not read whole is reported with its number', () => {
  fc.assert(
    fc.property(anyFile, (file) => {
      const { damage, places } = read([file]);
      const reported = new Set(damage.map((note) => Number.parseInt(note, 10)));
      file
        .toString()
        .split('\n')
        .forEach((line, index) => {
          const isRead = places.some((place) => place.startsWith(`${index + 1}.`));
          if (line.trim() === '' || isRead) return;
          assert.ok(reported.has(index + 1), `line ${index + 1}: ${JSON.stringify(line)}`);
        });
    }),
    SEED,
  );
});

test('a line that is too long is reported and skipped, and no more of it is kept than it takes to know', () => {
  const long = `{"a":"${'x'.repeat(5000)}"}`;
  const chunks = Array.from(long, (character) => Buffer.from(character));
  const reading = read([Buffer.from('{"a":\n'), ...chunks, Buffer.from('\n{"b":2}\n')], 1000);
  assert.deepEqual(reading, {
    values: [{ b: 2 }],
    places: ['3.0'],
    damage: ['1 malformed_json!', '2 malformed_json!'],
    lines: 3,
  });
  let kept = 0;
  const splitter = new LineSplitter((bytes) => (kept = bytes.length), 1000);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  assert.equal(kept, 1001);
});

test('a line of 30 MB is read in a small multiple of its size', () => {
  // Two buffers of the line, its string and its value: four times the line, and the 64 MB of an idle process.
  const script = `
    import { LineSplitter, ValueReader } from ${JSON.stringify(new URL('lines.ts', import.meta.url).href)};
    let length = 0;
    const reader = new ValueReader((value) => (length += value.text.length), (note) => { throw new Error(note.message); });
    const splitter = new LineSplitter((bytes) => reader.accept(bytes));
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    splitter.push(Buffer.from('{"text":"'));
    for (let n = 0; n < 30; n++) splitter.push(chunk);
    splitter.push(Buffer.from('"}\\n{"text":"y"}\\n'));
    splitter.end();
    console.log(JSON.stringify({ length, megabytes: process.resourceUsage().maxRSS / 1024 }));`;
  const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script]);
  const { length, megabytes } = JSON.parse(output.toString()) as { length: number; megabytes: number };
  assert.equal(length, 30 * 1024 * 1024 + 1);
  assert.ok(megabytes < 280, `${megabytes} MB`);
});

test('a line of too many values, or too deep, is reported and skipped before it takes many times its size', () => {
  const absurd = {
    keys: `{${Array.from({ length: 600_000 }, (_, key) => `"${key}":1`).join(',')}}`,
    lists: `{"a":[${'[],'.repeat(500_001)}0]}`,
    depth: '{"a":'.repeat(500_001) + '1' + '}'.repeat(500_001),
    torn: '{"timestamp":'.repeat(500_001),
  };
  for (const [name, line] of Object.entries(absurd)) {
    const { values, damage } = readText(`{"a":1}\n${line}\n{"b":2}\n`);
    assert.deepEqual({ values, damage }, { values: [{ a: 1 }, { b: 2 }], damage: ['2 wrong_shape!'] }, name);
    assert.match(whyUnreadable(line, {}) ?? '', /values and separators$/, name);
  }
  const text = '{[,:\\"'.repeat(400_000);
  assert.deepEqual(readText(JSON.stringify({ text })).values, [{ text }], 'marks in strings do not count');
});

test('damage does not make reading slow: what is looked at grows with the line', () => {
  const lines = [
    '{"timestamp":'.repeat(40_000),
    '{"a":'.repeat(100_000),
    `{"a":[${'{"timestamp":1},'.repeat(40_000)}`,
    '{"'.repeat(250_000),
    `${'{"a":1}'.repeat(70_000)}!`,
    `x${'{"a":1},'.repeat(60_000)}`,
  ];
  // Each takes milliseconds; were the work quadratic, they would take hours and the test runner would end them.
  for (const line of lines) {
    const { damage } = readText(`${line}\n{}\n`);
    assert.match(damage[0] ?? '', /^1 (?:malformed_json|glued_lines)!$/);
  }
});

test('starts of records inside of one another are looked at together', () => {
  const processorMs = (unit: string): number => {
    const line = `${unit.repeat(60_000)}\n`;
    const before = process.cpuUsage();
    readText(line);
    return process.cpuUsage(before).user / 1000;
  };
  const fastest = (unit: string): number => Math.min(...Array.from({ length: 5 }, () => processorMs(unit)));
  const plain = fastest('{"somewhere":');
  const certain = fastest('{"timestamp":');
  // Each of the first 32 was followed to the end, twice: 60 times as long.
  assert.ok(certain < 10 * plain, `${certain} ms instead of ${plain} ms`);
});

const SESSIONS = new URL('../../../shared/sessions/', import.meta.url);

test('real sessions: all that a parser reads, in order, also when torn at every thousandth byte', (t) => {
  if (!existsSync(SESSIONS)) {
    t.skip('no recorded sessions beside this repository (../shared/sessions)');
    return;
  }
  const folders = ['codex', 'codex-0.169', 'claude-code', 'claude-code-2.1.329'];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, SESSIONS)).map((name) => new URL(`${folder}/${name}`, SESSIONS)),
  );
  assert.ok(files.length > 20);
  for (const file of files) {
    const bytes = readFileSync(file);
    const { values, damage } = read([bytes]);
    const parsed = bytes.toString().split('\n').flatMap(parseAll);
    assert.deepEqual(values, parsed, file.pathname);
    assert.deepEqual(
      damage.filter((note) => note.endsWith('!')),
      [],
      file.pathname,
    );
    const head = bytes.subarray(0, 60_000);
    for (let cut = 1; cut < head.length; cut += 1000) {
      const torn = read([head.subarray(0, cut)]).values;
      assert.deepEqual(torn, values.slice(0, torn.length), `${file.pathname} cut at ${cut}`);
      assert.ok(torn.length >= head.subarray(0, cut).filter((byte) => byte === 0x0a).length - 1);
    }
  }
});

/** The objects of a line, by a parser that knows nothing but to try every closing brace. */
function parseAll(line: string): JsonObject[] {
  for (let end = line.length; end > 0; end = line.lastIndexOf('}', end - 2) + 1) {
    try {
      return [JSON.parse(line.slice(0, end)) as JsonObject, ...parseAll(line.slice(end))];
    } catch {
      // A shorter beginning may be whole.
    }
  }
  return [];
}
