import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertLinear } from '../../../../test/support/growth.ts';
import { SAMPLES } from '../../../../test/support/markdown-samples.ts';
import { textOf } from '../line.ts';
import type { Block } from './blocks.ts';
import { blockLines, markdownLines } from './markdown.ts';
import {
  append,
  blocksOf,
  EMPTY_STREAM,
  unfinished,
  unfinishedSoFar,
  type MarkdownStream,
} from './stream.ts';

const CANVAS = { width: 60, hasUnicode: true };

function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => blockLines(block, CANVAS)).map(textOf);
}

/** All blocks of a message that arrives in these deltas. */
function streamed(deltas: readonly string[]): {
  readonly finished: readonly Block[];
  readonly stream: MarkdownStream;
} {
  let stream = EMPTY_STREAM;
  const all: Block[] = [];
  for (const delta of deltas) {
    const { finished, stream: next } = append(stream, delta);
    all.push(...finished);
    stream = next;
  }
  return { finished: all, stream };
}

/** What is in the scrollback, and below the bar what is still drawn anew. */
const ARRIVALS: readonly [
  name: string,
  source: string,
  finished: readonly string[],
  rest: readonly string[],
][] = [
  ['a paragraph may grow', 'one\n\ntwo\nthr', ['one'], ['', 'two thr']],
  ['a paragraph may become a heading', 'one\n', [], ['one']],
  ['a heading is finished with its line', '# one\nt', ['one'], ['', 't']],
  ['all items but the last', '1. a\n2. b\n3. c\n', ['1. a', '2. b'], ['3. c']],
  ['nested items', '- a\n  - b\n    - c\n  - d\n', ['• a', '  • b', '    • c'], ['  • d']],
  [
    'all lines of code but the last',
    'x\n\n```js\nlet a;\n\nlet b;\nlet',
    ['x', '', '  js', '  let a;', '', '  let b;'],
    ['  let'],
  ],
  ['code in an item', '- a\n  ```\n  x\n  y', ['• a', '    x'], ['    y']],
  ['a table is drawn as a whole', 'a\n\n| a |\n|---|\n', ['a'], ['', '┌───┐', '│ a │', '└───┘']],
  ['all lines of a quote but the last paragraph', '> a\n>\n> b', ['│ a'], ['│', '│ b']],
];

for (const [name, source, finished, rest] of ARRIVALS) {
  test(`arrives: ${name}`, () => {
    const arrived = streamed([source]);
    assert.deepEqual(textsOf(arrived.finished), finished);
    assert.deepEqual(textsOf(unfinished(arrived.stream)), rest);
  });
}

test('a frame does not show what its last line may not become', () => {
  const frame = (source: string): string[] => textsOf(unfinishedSoFar(streamed([source]).stream));
  assert.deepEqual(frame('Steps\n-'), ['Steps']);
  assert.deepEqual(frame('Steps\n- a'), ['Steps', '• a']);
  assert.deepEqual(frame('Steps\n12.'), ['Steps']);
  assert.deepEqual(frame('> a\n> #'), ['│ a']);
  assert.deepEqual(frame('```\na\n``'), []);
  assert.deepEqual(frame('```\na\n``x'), ['  ``x']);
});

/** Cuts a text at random places, also inside line ends and characters of two units. */
const chunked = (source: fc.Arbitrary<string>): fc.Arbitrary<readonly string[]> =>
  source.chain((text) =>
    fc.array(fc.nat(text.length), { maxLength: 30 }).map((places) => {
      const cuts = [0, ...places.toSorted((a, b) => a - b), text.length];
      return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
    }),
  );

const line = fc.tuple(
  fc.constantFrom('', '', '- ', '  - ', '   ', '    ', '1. ', '> ', '> > ', '\t', '> - '),
  fc.constantFrom(
    'text',
    '',
    '',
    'a **b',
    'c** d',
    '```ts',
    '```',
    '~~~',
    '---',
    '===',
    '# h',
    '| a | b |',
    '|---|---|',
    '<p>',
  ),
  fc.constantFrom('\n', '\n', '\r\n', '\r', '  \n'),
);
const message = fc.oneof(
  fc.array(line, { maxLength: 30 }).map((lines) => lines.flat().join('')),
  fc.array(fc.constantFrom(...SAMPLES), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.constantFrom(...SAMPLES).chain((text) => fc.nat(text.length).map((end) => text.slice(0, end))),
  fc.constantFrom(...SAMPLES).map((text) => text.replaceAll('\n', '\r\n')),
);

test('what arrives in pieces is what is drawn at once', () => {
  fc.assert(
    fc.property(chunked(message), (deltas) => {
      const { finished, stream } = streamed(deltas);
      const lines = [...finished, ...unfinished(stream)].flatMap((block) => blockLines(block, CANVAS));
      assert.deepEqual(lines, markdownLines(deltas.join(''), CANVAS));
    }),
    { numRuns: 300 },
  );
});

test('a finished block never changes: each prefix of a message finishes a prefix of its blocks', () => {
  fc.assert(
    fc.property(message, (source) => {
      const whole = blocksOf(source);
      for (let end = 0; end <= source.length; end += 7) {
        const { finished } = streamed([source.slice(0, end)]);
        assert.deepEqual(finished, whole.slice(0, finished.length));
      }
    }),
    { numRuns: 150 },
  );
});

test('long lines and long blocks arrive in parts, whatever the deltas', () => {
  const words = 'some **words** of a paragraph that does not end '.repeat(500);
  const rows = `| a | b |\n|---|---|\n${'| one | two |\n'.repeat(2_000)}`;
  for (const source of [
    words,
    `- ${words}\n- b`,
    rows,
    `\`\`\`js\n${words}\n${'x'.repeat(20_000)}`,
    `> ${rows}`,
  ]) {
    const { finished, stream } = streamed(source.match(/[^]{1,700}/g) ?? []);
    const lines = [...finished, ...unfinished(stream)].flatMap((block) => blockLines(block, CANVAS));
    assert.deepEqual(lines, markdownLines(source, CANVAS));
    const left = textsOf(unfinished(stream)).join('').length;
    assert.ok(left < 40_000, `${left} characters are drawn at every frame`);
  }
});

/** Messages that some readers of Markdown choke on. */
const BOMBS: readonly [name: string, make: (size: number) => string][] = [
  ['quotes', (size) => '>'.repeat(size)],
  ['quotes on each line', (size) => '> > > > > > > > > > a\n'.repeat(size / 22)],
  ['deep quotes on each line', (size) => `${'>'.repeat(4_000)} a\n`.repeat(Math.ceil(size / 4_000))],
  ['empty lines in deep items', (size) => `${'- '.repeat(3_990)}a\n${'\n'.repeat(size)}`],
  ['brackets', (size) => '['.repeat(size)],
  ['links that do not end', (size) => '[a]('.repeat(size / 4)],
  ['stars', (size) => '*'.repeat(size)],
  ['strong that does not end', (size) => '**a '.repeat(size / 4)],
  ['mixed emphasis', (size) => '*a_ '.repeat(size / 4)],
  ['backticks', (size) => Array.from({ length: size / 100 }, (_, at) => '`'.repeat(at % 100)).join(' ')],
  ['bullets', (size) => '- '.repeat(size / 2)],
  [
    'nested items',
    (size) => Array.from({ length: size / 100 }, (_, at) => `${' '.repeat(2 * (at % 90))}- a`).join('\n'),
  ],
  ['items', (size) => '- an item\n'.repeat(size / 10)],
  ['lines of a paragraph', (size) => 'ab\n'.repeat(size / 3)],
  ['rows of a table', (size) => `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(size / 10)}`],
  ['columns of a table', (size) => `${'|a'.repeat(size / 4)}|\n${'|-'.repeat(size / 4)}|\n`],
  ['code', (size) => `\`\`\`ts\n${'const a = `b`;\n'.repeat(size / 15)}`],
  ['open comments', (size) => `\`\`\`ts\n${'/* a\n'.repeat(size / 5)}`],
  ['open HTML', (size) => '<div '.repeat(size / 5)],
  ['blank lines', (size) => `    a${'\n'.repeat(size)}    b`],
  ['spaces', (size) => `a${' '.repeat(size)}b`],
  ['entities', (size) => '&'.repeat(size)],
];

/**
 * Milliseconds of processor time for 100,000 characters. The cuts make every text linear, so it is the factor that tells whether
 * depth and marks are limited. @source the slowest of them takes 700 ms on a loaded machine, and 10 to 18 s without its limit
 */
const MOST_MS = 3_000;

for (const [name, make] of BOMBS) {
  test(`reads 100,000 characters soon: ${name}`, () => {
    const source = make(100_000);
    const before = process.cpuUsage();
    markdownLines(source, CANVAS);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    assert.ok(ms < MOST_MS, `${ms.toFixed(0)} ms`);
  });
}

for (const [name, make] of BOMBS) {
  test(`reads in linear time: ${name}`, () =>
    assertLinear(name, 25_000, { prepare: make, run: (source) => markdownLines(source, CANVAS).length }));
}

test('reads in linear time: deltas of three characters', () =>
  assertLinear('deltas', 100_000, {
    prepare: (size) =>
      `${'words of a paragraph '.repeat(size / 100)}\n\n- item\n`.repeat(5).match(/[^]{1,3}/g) ?? [],
    run: (deltas) => streamed(deltas).finished.length,
  }));
