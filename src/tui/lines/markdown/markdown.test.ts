import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOf, type Line } from '../line.ts';
import { lineWidth } from '../wrap.ts';
import { markdownLines } from './markdown.ts';
import { SAMPLES } from '../../../../test/support/markdown-samples.ts';

/** A line with its styles: `{bold|text}`. */
function painted(spans: Line): string {
  return spans
    .map(({ text, hue, ...flags }) => {
      const words = [...Object.keys(flags).map((flag) => flag.slice(2).toLowerCase()), ...(hue ? [hue] : [])];
      return words.length === 0 ? text : `{${words.join(' ')}|${text}}`;
    })
    .join('');
}

function frame(source: string, width: number, hasUnicode = true): string {
  return markdownLines(source, { width, hasUnicode }).map(textOf).join('\n');
}

/** Source, and what a terminal of so many columns shows. The first line end of each is for the eye. */
const CASES: readonly [name: string, width: number, source: string, shown: string][] = [
  [
    'headings have no marks, paragraphs are wrapped, soft breaks are spaces',
    24,
    `
# One #
Two lines
of one paragraph, too long for a row.
Three
=====
`,
    `
One

Two lines of one
paragraph, too long for
a row. Three`,
  ],
  [
    'a line of dashes makes a heading',
    24,
    `
Title
-----
text  
broken hard
`,
    `
Title

text
broken hard`,
  ],
  [
    'lists hang, nest and count by themselves',
    24,
    `
Steps:
- one that is too long for a row
- two
  1. nested
  1. again

     and a paragraph

3. three
1. four
1) other
`,
    `
Steps:
• one that is too long
  for a row
• two
  1. nested
  2. again

     and a paragraph

3. three
4. four

1) other`,
  ],
  [
    'an item is set apart if its source is',
    24,
    `
- a

- b
- c
`,
    `
• a

• b
• c`,
  ],
  [
    'tasks',
    24,
    `
- [ ] open
- [x] done, and so long that it wraps
2. [X] counted
- [y] none
`,
    `
☐ open
☑ done, and so long that
  it wraps

2. ☑ counted

• [y] none`,
  ],
  [
    'quotes have bars, also in the empty lines between',
    24,
    `
> quoted words that are too long
>
> - item
>
> > inner
lazy

out
`,
    `
│ quoted words that are
│ too long
│
│ • item
│
│ │ inner lazy

out`,
  ],
  [
    'code is set in, keeps its lines, and names its language',
    24,
    `
Text
\`\`\`ts title="x"
const a = "a long text that wraps";

\tb();
\`\`\`
- item

  ~~~
  \`\`\`
   code
  ~~~

      indented
`,
    `
Text

  ts
  const a = "a long text
   that wraps";

      b();

• item

    \`\`\`
     code

    indented`,
  ],
  [
    'links that differ from their text, images, addresses, entities, HTML',
    60,
    `
[docs](https://x.org/a) <https://x.org> https://y.org ![alt](i.png)
a&lt;b &amp; <b>raw</b> [text][ref] \\*literal\\*
<div>
 *raw*
</div>

[ref]: https://x.org
`,
    `
docs (https://x.org/a) https://x.org https://y.org [image:
alt] a<b & <b>raw</b> [text][ref] *literal*

<div>
 *raw*
</div>

[ref]: https://x.org`,
  ],
  [
    'tables are as wide as their cells',
    40,
    `
| Name | Size | Note |
|------|-----:|:----:|
| a \\| b | 12 | x |
| **日本** | 3 |
`,
    `
┌───────┬──────┬──────┐
│ Name  │ Size │ Note │
├───────┼──────┼──────┤
│ a | b │   12 │  x   │
│ 日本  │    3 │      │
└───────┴──────┴──────┘`,
  ],
  [
    'tables shrink',
    30,
    `
| Key | What it is for |
|---|---|
| one | words that need two rows |
| two | few |
`,
    `
┌─────┬──────────────────────┐
│ Key │ What it is for       │
├─────┼──────────────────────┤
│ one │ words that need two  │
│     │ rows                 │
├─────┼──────────────────────┤
│ two │ few                  │
└─────┴──────────────────────┘`,
  ],
  [
    'tables without room show a cell in each line',
    16,
    `
| Key | What it is for |
|---|---|
| one | words that need rows |
| two | few |
`,
    `
Key: one
What it is for:
  words that
  need rows
───
Key: two
What it is for:
  few`,
  ],
  ['rules are as wide as the terminal', 12, '\na\n\n* * *\n', '\na\n\n────────────'],
  ['a marker leaves room for a wide character, or is left out', 2, '\n- 한국\n', '\n한\n국'],
  ['an item without text', 12, '\n-\n- b\n', '\n• \n• b'],
  [
    'deep nesting leaves half of the width',
    12,
    `
- a
  - b
    - c
      - d
        - e and more
`,
    `
• a
  • b
    • c
    • d
    • e and
      more`,
  ],
];

for (const [name, width, source, shown] of CASES) {
  test(`draws: ${name}`, () => assert.equal(`\n${frame(source.slice(1), width)}`, shown));
}

test('draws without Unicode', () => {
  const source = '- [x] done\n- a\n\n> q\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n';
  const expected = [
    '[x] done',
    '- a',
    '',
    '| q',
    '',
    '+---+---+',
    '| a | b |',
    '+---+---+',
    '| 1 | 2 |',
    '+---+---+',
    '',
  ];
  assert.deepEqual(frame(source, 20, false).split('\n'), [...expected, '-'.repeat(20)]);
});

const STYLES: readonly [source: string, painted: string][] = [
  ['a **b *c*** ~~d~~', 'a {bold|b }{bold italic|c} {struck|d}'],
  ['# Title `x`', '{bold underlined|Title }{bold underlined accent|x}'],
  ['### Title', '{bold|Title}'],
  ['`a < b &amp; c`', '{accent|a < b &amp; c}'],
  ['[**t**](u)', '{underlined bold accent|t}{quiet| (u)}'],
  ['```js\nlet a = 1;', '  {quiet|js}\n  {keyword|let} a = {number|1};'],
  ['```nonsense\nlet a', '  {quiet|nonsense}\n  let a'],
  ['- [x] a', '{good|☑ }a'],
  ['**open', '**open'],
  ['snake_case_name 2*3*4', 'snake_case_name 2{italic|3}4'],
];

for (const [source, expected] of STYLES) {
  test(`styles: ${JSON.stringify(source)}`, () => {
    const lines = markdownLines(source, { width: 60, hasUnicode: true });
    assert.equal(lines.map(painted).join('\n'), expected);
  });
}

/** Separated by spaces; `_` is a space, `\\n` a line end. */
const FRAGMENTS = [
  '#_ >_ -_ 1._ *_ __ ____ \\t \\n \\n\\n \\r\\n ``` ```js\\n ~~~\\n --- === |_a_|_b_| |---|---| |',
  '** * ~~ ` [ ]( ) < <div> --> &amp; \\\\ 日本語 👩‍👩‍👧‍👦 word_ a \\u001b[2J \\u0000 [x]_ ![ https://x.org &#0; &#1114112;',
].flatMap((row) => row.split(' ').map((word) => JSON.parse(`"${word.replaceAll('_', ' ')}"`) as string));
const fragment = fc.constantFrom(...FRAGMENTS, '_');

test('never throws, and no line is wider than the terminal', () => {
  const source = fc.oneof(
    fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join('')),
    fc.constantFrom(...SAMPLES),
  );
  fc.assert(
    fc.property(source, fc.integer({ min: 2, max: 100 }), fc.boolean(), (text, width, hasUnicode) => {
      for (const row of markdownLines(text, { width, hasUnicode })) {
        assert.ok(lineWidth(row) <= width, `${JSON.stringify(textOf(row))} in ${width}`);
      }
    }),
    { numRuns: 400 },
  );
});

test('every word of a text is shown', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const mark = fc.constantFrom('# ', '> ', '- ', '1. ', '', '  ', '\n', '> - ', '```\n', '\n```\n', '**');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(mark, word), { maxLength: 30 }),
      fc.integer({ min: 30, max: 80 }),
      (parts, width) => {
        const source = parts.map(([before, text]) => `${before}${text}\n`).join('');
        const shown = frame(source, width);
        for (const [, text] of parts) assert.ok(shown.includes(text), `${text} of ${JSON.stringify(source)}`);
      },
    ),
  );
});
