// Every format that is read as whole messages: what a file of each version reads as, and that none is taken for another.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { AGENT_FILES, LOOK_ALIKE_FILES } from '../../test/support/format-lines.ts';
import type { Expected } from '../../test/support/format-lines.ts';
import { asLines, readSessionBytes, readSessionText } from '../../test/support/read-format.ts';
import { BatonError } from '../errors.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { HistoryFold } from '../history/project.ts';
import { callOf, resultCallId, textOfOutput, textOfParts } from '../protocol/item.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { chatReader } from './messages/chat.ts';
import { anthropicReader } from './messages/anthropic.ts';
import { copilotReader } from './agents/copilot.ts';
import { detectFormat } from './detect.ts';
import { geminiReader } from './agents/gemini.ts';
import { LIKENESS, LOOK_ALIKES } from './likeness.ts';
import { miniSweAgentReader } from './agents/mini-swe-agent.ts';
import { opencodeReader } from './agents/opencode.ts';
import { openHandsReader } from './openhands/read.ts';
import { piReader } from './pi/read.ts';
import type { Emit, LineReader, Report } from './reader.ts';
import { responsesReader } from './messages/responses.ts';
import { sweAgentReader } from './agents/swe-agent.ts';

function itemsOf(records: readonly LogRecord[]): Item[] {
  return records.flatMap((record) =>
    record.type === 'item' || record.type === 'side_item' ? [record.item] : [],
  );
}

function countItems(records: readonly LogRecord[]): Expected {
  const items = itemsOf(records);
  const messages = (role: string): number =>
    items.filter((item) => item.type === 'message' && item.role === role).length;
  const compactions = records.filter(({ type }) => type === 'compacted').length;
  const side = records.filter(({ type }) => type === 'side_item').length;
  return {
    user: messages('user'),
    assistant: messages('assistant'),
    calls: items.filter((item) => callOf(item) !== undefined).length,
    results: items.filter((item) => resultCallId(item) !== undefined).length,
    ...(compactions === 0 ? {} : { compactions }),
    ...(side === 0 ? {} : { side }),
  };
}

/** What a model would be sent, one short text an item. */
function contextOf(records: readonly LogRecord[]): string[] {
  const fold = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) fold.add(record);
  assert.deepEqual(fold.problems, []);
  return fold.entries.map(({ value }) => shortText(value)).filter((text) => text !== '');
}

function shortText(item: Item): string {
  if (item.type === 'message') return `${item.role}: ${textOfParts(item.content)}`;
  if (item.type === 'function_call_output') return `result: ${textOfOutput(item.output)}`;
  const call = callOf(item);
  return call === undefined ? '' : `${call.name}(${call.input})`;
}

for (const { name, format, text, expected } of LOOK_ALIKE_FILES) {
  test(`${name} is read in full`, async () => {
    const { records, report } = await readSessionText(text);
    assert.equal(report.format, format);
    assert.deepEqual(countItems(records), expected);
    assert.deepEqual(report.damage, []);
  });
}

test('no file is taken for one of another format, nor for what is no session', async () => {
  for (const { name, format, text } of [...LOOK_ALIKE_FILES, ...AGENT_FILES]) {
    const { report } = await readSessionText(text);
    assert.equal(report.format, format, name);
    for (const value of valuesOf(text)) {
      const said = LOOK_ALIKES.filter(({ matches }) => matches(value)).map((each) => each.name);
      assert.deepEqual(said, [], name);
    }
  }
});

test('a few lines from the middle of a file are of its format, too', () => {
  for (const { name, format, text } of [...LOOK_ALIKE_FILES, ...AGENT_FILES]) {
    const values = valuesOf(text);
    if (values.length < 4 || name.includes('bare')) continue;
    const detection = detectFormat(values.slice(1), LIKENESS, LOOK_ALIKES);
    assert.equal(detection.format, format, name);
  }
});

function valuesOf(text: string): JsonObject[] {
  try {
    const value = JSON.parse(text) as JsonObject | JsonObject[];
    return Array.isArray(value) ? value : [value];
  } catch {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JsonObject);
  }
}

function textOf(name: string): string {
  return LOOK_ALIKE_FILES.find((file) => file.name === name)?.text ?? assert.fail(name);
}

const contexts: readonly (readonly [name: string, context: readonly string[]])[] = [
  [
    'pi before ids (2025)',
    ['user: Three drawers: a, b, c.', 'user: Now the labels.', 'assistant: The labels are faded.'],
  ],
  [
    'pi with a tree (version 3)',
    [
      'user: Three drawers.',
      'user: Now the labels.',
      'user: $ date\ntoday',
      'user: Mind the cat.',
      'assistant: The labels are faded.',
    ],
  ],
  ['Gemini CLI log (2026)', ['user: All beans were read.', 'user: Go on.']],
  [
    'Copilot CLI 1.0',
    ['user: Beans were sown.', 'system: You are a gardener.', 'user: And the peas?', 'assistant: Next week.'],
  ],
  [
    'OpenHands events (0.x)',
    [
      'user: There is a fence.',
      'system: You mend things.',
      'user: Mend the fence.',
      'assistant: It is mended.',
    ],
  ],
  [
    'OpenHands SDK events (1.x)',
    ['user: There is a fence.', 'system: You mend things.', 'user: Mend the fence.'],
  ],
  [
    'OpenHands runs of events (0.9)',
    [
      'user: Mend the fence.',
      'assistant: I look first.',
      'run({"command":"ls"})',
      'result: fence',
      'finish({"outputs":{}})',
    ],
  ],
  [
    'opencode export (1.14)',
    ['user: The gate is to be painted.', 'user: Green, please.', 'assistant: Green it is.'],
  ],
  [
    'chat array',
    [
      'system: You keep a library of seeds.',
      'user: Which beans do we have?',
      'assistant: I look into the ledger.',
      'read({"path":"beans.txt"})',
      'read({"path":"peas.txt"})',
      'result: borlotti 12',
      'result: none',
      'assistant: Twelve bags of borlotti.',
    ],
  ],
];

for (const [name, context] of contexts) {
  test(`the context of ${name}`, async () => {
    assert.deepEqual(contextOf((await readSessionText(textOf(name))).records), context);
  });
}

test('a pi session that was rewound to its beginning leaves all before behind', async () => {
  const timestamp = '2026-01-05T08:00:00.000Z';
  const said = (id: string, parentId: string | null, content: string): JsonObject => ({
    type: 'message',
    id,
    parentId,
    timestamp,
    message: { role: 'user', content },
  });
  const head = { type: 'session', version: 3, id: 's', timestamp, cwd: '/' };
  const lines = [head, said('a', null, 'first'), said('b', 'a', 'second'), said('c', null, 'anew')];
  const { records, report } = await readSessionText(asLines(lines));
  assert.deepEqual(contextOf(records), ['user: anew']);
  assert.equal(records.filter(({ type }) => type === 'side_item').length, 2);
  assert.deepEqual(report.damage, []);
});

test('what opencode cleared is cleared from the moment that it was', async () => {
  const { records } = await readSessionText(textOf('opencode export (1.14)'));
  const types = records.map(({ type }) => type);
  const cleared = types.indexOf('micro_compacted');
  const isInTime = cleared > types.indexOf('item') && cleared < types.indexOf('compacted');
  assert.ok(isInTime, `cleared at ${cleared} of ${types.join(' ')}`);
  assert.deepEqual((records[cleared] as LogRecord & { callIds: unknown }).callIds, ['REDACTED']);
});

const facts: readonly (readonly [
  name: string,
  model: string | undefined,
  cwd: string | undefined,
  used: number,
])[] = [
  ['pi before ids (2025)', 'claude-sonnet-4-5', '/home/dev/seeds', 4400],
  ['Gemini CLI document (2025)', 'gemini-3-flash', undefined, 9000],
  ['mini-swe-agent with commands in text (1.x)', 'google/gemini-3-pro', '/garden', 2000],
  ['mini-swe-agent over Responses (2.x)', 'google/gemini-3-pro', '/garden', 2060],
  ['SWE-agent with tools (1.x)', 'claude-sonnet-4', '/garden', 0],
  ['OpenHands events (0.x)', 'claude-sonnet-4', undefined, 5000],
  ['opencode export (1.14)', 'gpt-5', '/home/dev/garden', 8100],
  ['chat log of OpenHands', 'bean-1', undefined, 900],
];

for (const [name, model, cwd, used] of facts) {
  test(`facts of ${name}`, async () => {
    const { records } = await readSessionText(textOf(name));
    const settings = records.filter((record) => record.type === 'settings');
    const metas = records.filter((record) => record.type === 'session_meta');
    assert.equal(settings.find((record) => record.model !== undefined)?.model, model);
    assert.equal(metas.find((record) => record.cwd !== undefined)?.cwd, cwd);
    assert.equal(records.findLast((record) => record.type === 'usage')?.usage.total ?? 0, used);
  });
}

test('what programs print in the user role is no word of the user', async () => {
  for (const name of [
    'SWE-agent with actions in text (2024)',
    'mini-swe-agent with commands in text (1.x)',
  ]) {
    const { records } = await readSessionText(textOf(name));
    const own = itemsOf(records).filter(
      (item) => item.type === 'message' && item.role === 'user' && item.origin === undefined,
    );
    assert.deepEqual(own.map(shortText), ['user: The gate is broken.'], name);
  }
});

test('an agent that writes its commands as text is told as one, and none that calls tools', async () => {
  const styles: readonly (readonly [string, string | undefined])[] = [
    ['SWE-agent with actions in text (2024)', 'editor'],
    ['SWE-agent with tools (1.x)', undefined],
    ['mini-swe-agent with commands in text (1.x)', 'shell'],
    ['mini-swe-agent with tools (2.x)', undefined],
    ['mini-swe-agent over Responses (2.x)', undefined],
  ];
  for (const [name, style] of styles) {
    const { records } = await readSessionText(textOf(name));
    const told = records.flatMap((record) => (record.type === 'session_meta' ? [record.textActions] : []));
    assert.deepEqual(new Set(told), new Set([style]), name);
  }
});

test('records of lines name them, those of a document name none', async () => {
  const asDocument = await readSessionText(textOf('chat array'));
  assert.ok(asDocument.records.every(({ line }) => line === undefined));
  const inLines = await readSessionText(textOf('chat lines'));
  assert.deepEqual(new Set(inLines.records.map(({ line }) => line)), new Set([1, 2, 3, 4, 5, 6]));
});

test('a damaged line costs that line only', async () => {
  const [head, ...rest] = textOf('pi with a tree (version 3)').trim().split('\n');
  const torn = [head, ...rest.toSpliced(3, 1, '{"type":"message","id":')].join('\n');
  const { records, report } = await readSessionText(torn);
  assert.deepEqual(
    report.damage.map(({ kind }) => kind),
    // The line, the two that followed it, in the tree.
    ['malformed_json', 'dangling_parent', 'dangling_parent'],
  );
  assert.equal(countItems(records).results, 0);
  assert.ok(contextOf(records).includes('assistant: The labels are faded.'));
});

function geminiPrompt(id: string): JsonObject {
  return { id, timestamp: 't', type: 'user', content: id };
}

function geminiContext(id: string): JsonObject {
  return { $set: { messages: [geminiPrompt(id)] } };
}

test('a log of Gemini CLI is told up to a context that takes its place, so that no more than the newest is kept', () => {
  const records: LogRecord[] = [];
  const damage: unknown[] = [];
  const reader = geminiReader.read(
    (record) => records.push(record),
    (note) => damage.push(note),
    undefined,
  );
  const told = (): string[] => records.map(({ type, line }) => `${line} ${type}`);
  const values = [
    geminiPrompt('m1'),
    geminiPrompt('m2'),
    geminiContext('s1'),
    geminiPrompt('m3'),
    geminiPrompt('m3'),
    geminiContext('s2'),
    geminiPrompt('m4'),
  ];
  values.slice(0, 4).forEach((value, at) => reader.accept(value, { line: at + 1, part: 0 }));
  assert.deepEqual(told(), ['1 item', '2 item', '3 compacted']);
  values.slice(4).forEach((value, at) => reader.accept(value, { line: at + 5, part: 0 }));
  reader.end();
  assert.deepEqual(told().slice(3), ['5 opaque', '5 item', '6 compacted', '7 item']);
  assert.equal(new Set(records.map((record) => (record.type === 'compacted' ? record.id : ''))).size, 3);
  assert.deepEqual(damage, []);
});

test('lines whose kind is a name of every object are counted like any other', async () => {
  const { text } = AGENT_FILES.find(({ format }) => format === 'codex') ?? { text: '' };
  const kinds = ['__proto__', 'constructor', 'toString', 'constructor'];
  const extra = kinds.map((type) =>
    JSON.stringify({ timestamp: '2025-09-01T00:00:00.000Z', type, payload: {} }),
  );
  const { report } = await readSessionText(`${text}${extra.join('\n')}\n`);
  assert.deepEqual(
    kinds.slice(0, 3).map((kind) => Object.getOwnPropertyDescriptor(report.opaque, kind)?.value as unknown),
    [1, 2, 1],
  );
});

const refused: readonly (readonly [why: RegExp, text: string])[] = [
  [/cut off or damaged/, textOf('opencode export (1.14)').slice(0, -40)],
  [/JSON document of an unknown format/, '{\n  "name": "seeds",\n  "version": "1.0.0"\n}\n'],
  [/JSON document of an unknown format/, '[1, 2, 3]'],
  [/one JSON array instead/, JSON.stringify(valuesOf(AGENT_FILES[0]?.text ?? ''))],
];

for (const [why, text] of refused) {
  test(`refused: ${why.source}`, async () => {
    await assert.rejects(readSessionText(text), (error) => {
      assert.ok(error instanceof BatonError);
      assert.equal(error.code, 'format_unknown');
      assert.match(error.message, why);
      return true;
    });
  });
}

const lines = Buffer.from(textOf('pi with a tree (version 3)'));
const encoded: readonly (readonly [what: RegExp, cure: RegExp, bytes: Buffer])[] = [
  ...['\uFEFF', '', '\r\n'].flatMap((start) => {
    const units = Buffer.from(`${start}${lines.toString()}`, 'utf16le');
    return [
      [/UTF-16LE/, /iconv -f UTF-16LE .* -Encoding unicode/, units],
      [/UTF-16BE/, /iconv -f UTF-16BE .* -Encoding bigendianunicode/, Buffer.from(units).swap16()],
      [/UTF-32LE/, /iconv -f UTF-32LE .* -Encoding utf32/, widened(units)],
      [/UTF-32BE/, /iconv -f UTF-32BE .* -Encoding bigendianutf32/, widened(units).swap32()],
    ] as const;
  }),
  [/with gzip/, /`gzip -dc FILE \| baton inspect -`/, gzipSync(lines)],
  [/with zstd/, /`zstd -dc FILE/, Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), lines])],
];

function widened(units: Buffer): Buffer {
  const wide = Buffer.alloc(units.length * 2);
  for (let at = 0; at < units.length; at += 2) units.copy(wide, at * 2, at, at + 2);
  return wide;
}

for (const [index, [what, cure, bytes]] of encoded.entries()) {
  test(`refused with what makes it readable: ${what.source} (${index + 1})`, async () => {
    await assert.rejects(readSessionBytes(bytes), (error) => {
      assert.ok(error instanceof BatonError && error.code === 'format_unknown', String(error));
      assert.match(error.message, what);
      assert.match(error.cure ?? '', cure);
      return true;
    });
  });
}

// Properties

const READERS: Readonly<
  Record<string, (emit: Emit, report: Report, values: readonly JsonObject[]) => LineReader>
> = {
  chat: (emit, report) => chatReader.read(emit, report, undefined),
  anthropic: (emit, report) => anthropicReader.read(emit, report, undefined),
  responses: (emit, report) => responsesReader.read(emit, report, undefined),
  gemini: (emit, report) => geminiReader.read(emit, report, undefined),
  copilot: (emit, report) => copilotReader.read(emit, report, undefined),
  openhands: (emit, report) => openHandsReader.read(emit, report, undefined),
  opencode: (emit, report) => opencodeReader.read(emit, report, undefined),
  'swe-agent': (emit, report) => sweAgentReader.read(emit, report, undefined),
  'mini-swe-agent': (emit, report) => miniSweAgentReader.read(emit, report, undefined),
  pi: (emit, report, values) => {
    const survey = piReader.survey(report);
    for (const [index, value] of values.entries()) survey.accept(value, { line: index + 1, part: 0 });
    survey.end();
    return piReader.read(emit, report, survey.result());
  },
};

/** Sound files with a value in some place replaced by another one: nearly right is what breaks readers. */
function mutated(values: readonly JsonObject[]): fc.Arbitrary<JsonObject[]> {
  return fc
    .tuple(
      fc.array(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
      fc.integer({ min: 0, max: 3 }),
    )
    .map(([changes, cut]) => {
      const copy = structuredClone(values.slice(0, Math.max(1, values.length - cut))) as JsonObject[];
      for (const [where, value] of changes) replaceAt(copy, where, value);
      return copy.filter((each) => typeof each === 'object' && each !== null && !Array.isArray(each));
    });
}

/** Replaces the value of the n-th key, counted through the whole tree. */
function replaceAt(tree: unknown, where: number, value: unknown): void {
  const places: [object, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(tree);
  const place = places[where % Math.max(1, places.length)];
  if (place !== undefined) (place[0] as Record<string, unknown>)[place[1]] = value;
}

for (const [format, open] of Object.entries(READERS)) {
  test(`no JSON breaks the reader of ${format}, and nothing is passed over in silence`, () => {
    const sound = LOOK_ALIKE_FILES.filter((file) => file.format === format).map(({ text }) => valuesOf(text));
    const any = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 4 }) as fc.Arbitrary<
      JsonObject[]
    >;
    fc.assert(
      fc.property(fc.oneof(any, ...sound.map(mutated)), (values) => {
        let told = 0;
        const count = (): void => void told++;
        const reader = open(count, count, values);
        for (const [index, value] of values.entries()) reader.accept(value, { line: index + 1, part: 0 });
        reader.end();
        const expected = values.filter((value) => Object.keys(value).length > 0).length;
        // A document without anything in it is told of by the loader: the session is empty.
        if (format !== 'swe-agent' && format !== 'mini-swe-agent' && format !== 'opencode') {
          assert.ok(told >= Math.min(1, expected), 'nothing told');
        }
        for (const likeness of Object.values(LIKENESS)) {
          for (const value of values) {
            const score = likeness(value);
            assert.ok(score >= 0 && score <= 1, `a likeness of ${score}`);
          }
        }
      }),
      { seed: 20261121, numRuns: 150 },
    );
  });
}

test('reading lines one by one gives what the array gives', async () => {
  for (const name of ['chat array', 'anthropic array', 'responses array']) {
    const values = valuesOf(textOf(name));
    const asArray = itemsOf((await readSessionText(JSON.stringify(values))).records);
    assert.deepEqual(itemsOf((await readSessionText(asLines(values))).records), asArray, name);
  }
});
