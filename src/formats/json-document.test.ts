import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatonError } from '../errors.ts';
import { canBeDocument } from './json-document.ts';
import { LONGEST_LINE_BYTES } from './lines.ts';
import { loadSession } from './session-file.io.ts';
import type { ByteSource } from './source.io.ts';

const heads: readonly (readonly [text: string, isDocument: boolean])[] = [
  ['[', true],
  ['[{"role":"user"}]', true],
  ['\n  [\n', true],
  ['\uFEFF[]', true],
  ['{\n  "a": 1\n}', true],
  ['{"a": [\n', true],
  ['{"a":1}\n{"a":2}\n', false],
  ['{"a":1}', false],
  ['{"a":1}\r\n', false],
  // A first line that goes on beyond what was looked at.
  ['{"a":"', false],
  ['', false],
  ['words', false],
];

for (const [text, isDocument] of heads) {
  test(`${JSON.stringify(text)} ${isDocument ? 'can' : 'cannot'} begin a document`, () => {
    assert.equal(canBeDocument(Buffer.from(text)), isDocument);
  });
}

/** A source that says to be larger than it is. */
function sourceOf(text: string, size: number): ByteSource {
  return {
    name: 'the file',
    size,
    async *chunks() {
      yield Buffer.from(text);
    },
    isAt: async () => false,
    hasGrown: async () => false,
    close: async () => undefined,
  };
}

const LARGE = 201 * 1024 * 1024;

test('a document that is too large to be parsed at once is explained', async () => {
  await assert.rejects(
    loadSession(sourceOf('{\n  "messages": [\n', LARGE), () => undefined),
    (error) => error instanceof BatonError && error.code === 'format_unknown' && /200 MB/.test(error.message),
  );
});

test('so is one whose object is whole on its only line', async () => {
  const source: ByteSource = {
    ...sourceOf('', LARGE),
    async *chunks() {
      yield Buffer.from(
        '{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"a"}]}',
      );
      const space = Buffer.alloc(1024 * 1024, ' ');
      for (let written = 0; written < LARGE; written += space.length) yield space;
      yield Buffer.from(']}');
    },
  };
  await assert.rejects(
    loadSession(source, () => undefined),
    (error) => error instanceof BatonError && error.code === 'format_unknown' && /200 MB/.test(error.message),
  );
});

test('lines are read whatever the size, a torn first one included', async () => {
  const text =
    '{"role":"system","content":"torn\n{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n';
  const report = await loadSession(sourceOf(text, LARGE), () => undefined);
  assert.equal(report.format, 'chat');
  assert.deepEqual(
    report.damage.map(({ kind, line }) => [kind, line]),
    [['malformed_json', 1]],
  );
});

test('one object on one line that is longer than a line may be is read as a document', async () => {
  const said = 'The lamp is lit. '.repeat(1_000);
  const turns = Array.from({ length: 2_000 }, () => ({ role: 'assistant', content: said }));
  const text = JSON.stringify({ messages: [{ role: 'user', content: 'Light the lamp.' }, ...turns] });
  assert.ok(text.length > LONGEST_LINE_BYTES, `${text.length} bytes`);
  let items = 0;
  const { format, damage } = await loadSession(sourceOf(text, text.length), ({ type }) => {
    if (type === 'item') items++;
  });
  assert.deepEqual([format, damage, items], ['chat', [], 2_001]);
});
