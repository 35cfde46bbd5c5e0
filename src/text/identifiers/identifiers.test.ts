import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { IdentifierIndex, identifiersOf } from './identifiers.ts';

const finds: readonly (readonly [text: string, found: readonly string[]])[] = [
  ['read and/or write the input/output', []],
  ['see src/parse/lexer.ts:41 and ./README.md', ['src/parse/lexer.ts', 'README.md']],
  ['/home/ada/orbit/src/main.rs is ours', ['src/main.rs']],
  ['call parseHeader() or load_all, not Load', ['parseHeader', 'load_all']],
  ['with --dry-run, not -n', ['--dry-run']],
  ['error TS2345 in E0308', ['TS2345', 'E0308']],
  ['commit 3f2a91c fixed #417', ['3f2a91c', '#417']],
  ['version 10.2.17 has 4096 of them in 2 files', ['10.2.17']],
  ['set `colour` to blue', ['colour']],
  ['self.render_row(t.TempDir) this.openTab', ['self.render_row', 't.TempDir', 'this.openTab']],
  ['sed -n 40,240p and 240p', []],
  ['at 2026-01-23T14:05:00Z in 2026-01-23-night-run', ['2026-01-23-night-run']],
  [String.raw`body=done\nfoundIt \twithTab`, ['foundIt', 'withTab']],
  ['QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVoxMjM0NTY3ODkwYWJj', []],
];

for (const [text, found] of finds) {
  test(`identifiers of "${text}"`, () => {
    assert.deepEqual(identifiersOf(text, '/home/ada/orbit'), found);
  });
}

test('a run of megabytes without a break is data, not a name', () => {
  assert.deepEqual(identifiersOf(`${'aB3'.repeat(2_000_000)} src/a.ts`), ['src/a.ts']);
});

test('every identifier stands in its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
      for (const identifier of identifiersOf(text)) assert.ok(text.includes(identifier), identifier);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('what was used lately and often outweighs what a result showed once', () => {
  const index = new IdentifierIndex();
  index.add('openDoor closeDoor', { by: 'result', position: 1, root: '' });
  index.add('openDoor', { by: 'call', position: 2, root: '' });
  index.add('openDoor', { by: 'agent', position: 3, root: '' });
  for (let position = 4; position < 30; position++)
    index.add('other_thing', { by: 'agent', position: position, root: '' });
  assert.ok(index.weight('openDoor') > 3 * index.weight('closeDoor'));
  assert.equal(index.weight('never_seen'), 0);
});

test('the index stays bounded and keeps what is in use', () => {
  const index = new IdentifierIndex();
  index.add('keepThisName', { by: 'user', position: 0, root: '' });
  for (let position = 1; position < 120; position++) {
    const names = Array.from({ length: 1_000 }, (_, at) => `name_${position}_${at}`).join(' ');
    index.add(names, { by: 'result', position: position, root: '' });
  }
  assert.ok(index.top(1e9).length <= 40_000);
  assert.ok(index.weight('keepThisName') > 0);
});

test('runs that are no identifiers are forgotten without a trace', () => {
  const [index, alone] = [new IdentifierIndex(), new IdentifierIndex()];
  const said = { by: 'agent', position: 0, text: 'see openDoor', outcome: undefined } as const;
  for (const one of [index, alone]) one.add('see openDoor', { ...said, root: '', quotable: { ...said } });
  for (let position = 1; position < 120; position++) {
    const prose = Array.from({ length: 1_000 }, (_, at) => `and/or${letters(1_000 * position + at)}`).join(
      ' ',
    );
    index.add(prose, { by: 'result', position, root: '' });
    alone.add('', { by: 'result', position, root: '' });
  }
  assert.deepEqual(index.top(10), alone.top(10));
  assert.equal(index.top(10)[0]?.quote?.text, 'see openDoor');
});

function letters(number: number): string {
  return [...String(number)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('');
}

test('what results show as a key only is no name; one that user or agent wrote is', () => {
  const index = new IdentifierIndex();
  index.add('{"avatar_url": "x", "mirror_url": "y"}', { by: 'result', position: 1, root: '' });
  index.add(String.raw`"{\"node_id\":4,\\\"deep_key\\\":5}"`, { by: 'result', position: 2, root: '' });
  index.add('{"mirror_url": "z"}', { by: 'result', position: 2, root: '' });
  index.add('use mirror_url for lens_size', { by: 'agent', position: 3, root: '' });
  for (const key of ['avatar_url', 'node_id', 'deep_key']) assert.equal(index.weight(key), 0, key);
  assert.ok(index.weight('mirror_url') > 0);
  assert.deepEqual(
    index
      .top(10)
      .map(({ text }) => text)
      .toSorted(),
    ['lens_size', 'mirror_url'],
  );
});

test('the sides of a diff are one file, a directory of one letter is its own', () => {
  const index = new IdentifierIndex();
  const diff = 'diff --git a/src/lens.ts b/src/lens.ts\n--- a/src/lens.ts\n+++ b/src/lens.ts';
  index.add('read src/lens.ts and a/horn.ts', { by: 'agent', position: 1, root: '' });
  index.add(diff, { by: 'result', position: 2, root: '' });
  index.add(diff, { by: 'result', position: 3, root: '' });
  const names = index.top(10).map(({ text }) => text);
  assert.deepEqual(names.toSorted(), ['a/horn.ts', 'src/lens.ts']);
});

test('a long number is an id where somebody wrote it, and data where only a program printed it', () => {
  const index = new IdentifierIndex();
  index.add('2731998818 bytes, 2731998820 left', { by: 'result', position: 1, root: '' });
  index.add('answer comment 2731998819, in 4 of 400 places', { by: 'agent', position: 2, root: '' });
  index.add('2731998819 found', { by: 'result', position: 3, root: '' });
  assert.deepEqual(
    index.top(10).map(({ text }) => text),
    ['2731998819'],
  );
});

test('the index finds the names of a text as they are, however many runs it has met before', () => {
  const index = new IdentifierIndex();
  const word = fc.constantFrom('gearRatio', 'src/a.ts', 'feed_rate', '`chuck`', 'Word', '12', '123456');
  const unique = fc.nat(200_000).map((number) => `part_${number} v${number}.4.12`);
  const text = fc
    .array(fc.oneof(word, unique, fc.string({ maxLength: 12 })), { maxLength: 300 })
    .map((parts) => parts.join(' '));
  fc.assert(
    fc.property(text, (made) => {
      assert.deepEqual(index.identifiersOf(made, Infinity), identifiersOf(made));
    }),
    { seed: 3, numRuns: 1_500 },
  );
});

test('what the newest text ends with has the names that it has alone, without being read again', () => {
  const index = new IdentifierIndex();
  const word = fc.constantFrom(
    'gearRatio',
    'gearRatio.',
    'src/a.ts',
    '`chuck`',
    'chuck',
    '\n',
    '123456',
    'a',
    '`',
  );
  const words = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(' '));
  fc.assert(
    fc.property(words, words, fc.boolean(), (head, body, isLine) => {
      const text = `${head}${isLine ? '\n' : ''}${body}`;
      index.add(text, { by: 'result', position: 1, root: '' });
      assert.deepEqual(index.identifiersOf(body, Infinity), identifiersOf(body), JSON.stringify(text));
      assert.deepEqual(index.identifiersOf(body, 3), identifiersOf(body).slice(-3), JSON.stringify(text));
      assert.deepEqual(index.identifiersOf(head, Infinity), identifiersOf(head), JSON.stringify(text));
    }),
    { seed: 5, numRuns: 4_000 },
  );
});

test('the heaviest names come first, and of equal ones those that the alphabet puts first', () => {
  const index = new IdentifierIndex();
  for (let at = 0; at < 3; at++) index.add('openDoor', { by: 'user', position: at, root: '' });
  index.add('part_c part_a part_d part_b', { by: 'agent', position: 3, root: '' });
  const names = (limit: number) => index.top(limit).map(({ text }) => text);
  assert.deepEqual(names(3), ['openDoor', 'part_a', 'part_b']);
  assert.deepEqual(names(99), ['openDoor', 'part_a', 'part_b', 'part_c', 'part_d']);
  assert.deepEqual(names(0), []);
});

test('keys of JSON that a user pasted are no names, unless somebody says them', () => {
  const index = new IdentifierIndex();
  index.add('See {"hookCount": 3, "domeState": "open_wide"} and mend gear_box.', {
    by: 'user',
    position: 1,
    root: '',
  });
  index.add('The domeState is wrong.', { by: 'agent', position: 2, root: '' });
  assert.deepEqual(
    index
      .top(9)
      .map(({ text }) => text)
      .toSorted(),
    ['domeState', 'gear_box', 'open_wide'],
  );
});
