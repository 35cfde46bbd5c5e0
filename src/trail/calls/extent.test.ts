import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { loadTokenizer } from '../../tokens/tokenizer.io.ts';
import { TrailCollector } from '../collect.ts';
import { extentOf } from './extent.ts';
import { writeSummary } from '../../summary/write.ts';

const rows = (from: number, to: number, mark: string): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}${mark}lens.turn(${from + at});`).join('\n');

const table: readonly (readonly [output: string, told: string])[] = [
  [rows(1, 40, '\t'), ''],
  [`${rows(1, 40, '|')}\n(12 more lines below)`, '1-40 of 52'],
  [`(8 more lines above)\n${rows(9, 20, ':')}\n(30 more lines below)`, '9-20 of 50'],
  [`lens\n\n... (7 more lines not shown. Use offset=41 to continue reading)`, '5-40 of 47'],
  [`lens\n\n[7 more lines in file. Use offset=41 to continue.]`, '5-40 of 47'],
  [
    'IMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-40 of 90 total lines.',
    '1-40 of 90',
  ],
  ['Total output lines: 400\n\nlens', 'gaps'],
  ['lens…120 tokens truncated…dome', 'gaps'],
  ['lens\n\n... [6 lines truncated] ...', 'gaps'],
  ['a lens was truncated', ''],
];

for (const [output, told] of table) {
  test(`extent of: ${output.slice(-60).replaceAll('\n', '|')}`, () => {
    const { range, total, hasGaps } = extentOf(output, 5);
    assert.equal(hasGaps ? 'gaps' : range === undefined ? '' : `${range.from}-${range.to} of ${total}`, told);
  });
}

test('a file that was read in part is told so', async () => {
  const count = await loadTokenizer();
  const { records } = Story.in('/w')
    .user('Look at the lens.')
    .read('/w/lens.ts', `${rows(1, 40, '|')}\n(12 more lines below)`)
    .sh('cat dome.ts', `${rows(1, 9, '\t')}…120 tokens truncated…${rows(80, 90, '\t')}`)
    .sh('cat tide.ts', rows(1, 9, '\t'));
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { count, budgetTokens: 2_000 });
  for (const told of ['lens.ts (read 1–40 of 52)', 'dome.ts (read in part)', 'tide.ts (read)']) {
    assert.ok(text.includes(`- ${told}`), `${told}: ${text}`);
  }
  assert.doesNotMatch(text, /more lines below/);
});
