import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../test/support/records.ts';
import { anyLog } from '../../test/support/thread.ts';
import type { Item } from '../protocol/item.ts';
import { NoveltyDetector } from './novelty.ts';

/** `+` for each record that is progress, `.` for the others. */
function told(...items: readonly (Item | readonly Item[])[]): string {
  const detector = new NoveltyDetector();
  return recordsOf(...items)
    .map((record) => (detector.add(record) ? '+' : '.'))
    .join('');
}

const run = (id: number, cmd: string, output: string) => toolCall(`c${id}`, 'exec_command', { cmd }, output);
const wrapped = (seconds: string, output: string) =>
  `Chunk ID: ${seconds}\nWall time: ${seconds} seconds\nProcess exited with code 0\nOutput:\n${output}`;

const synthetic: Item = {
  ...userSays('Please write a packet'),
  origin: { author: 'synthetic', step: 'packet_request' },
} as Item;

const rows: readonly (readonly [
  title: string,
  items: readonly (Item | readonly Item[])[],
  expected: string,
])[] = [
  ['words of the user, the same ones too', [userSays('weiter'), userSays('weiter')], '++'],
  [
    'what the agent says for the first time',
    [agentSays('fertig'), agentSays('fertig'), agentSays('neu')],
    '+.+',
  ],
  ['a text of white space', [agentSays('  ')], '.'],
  ['what the harness and Baton say', [harnessSays('rules'), synthetic], '..'],
  ['the first result of a command', [run(1, 'npm test', '1 failed')], '.+'],
  ['the same result again', [run(1, 'npm test', '1 failed'), run(2, 'npm test', '1 failed')], '.+..'],
  ['another result', [run(1, 'npm test', '2 failed'), run(2, 'npm test', '1 failed')], '.+.+'],
  ['the same words from another command', [run(1, 'cat a', 'x'), run(2, 'cat b', 'x')], '.+.+'],
  [
    'what only a clock changed',
    [run(1, 'ls', wrapped('0.1', 'a')), run(2, 'ls', wrapped('0.2', 'a'))],
    '.+..',
  ],
  ['a result that comes twice', [run(1, 'ls', 'a'), toolCall('c1', 'x', {}, 'a').slice(1)], '.+.'],
  ['a result without a call', [toolCall('c9', 'x', {}, 'a').slice(1)], '.'],
];

for (const [title, items, expected] of rows) {
  test(`progress: ${title} is ${expected}`, () => assert.equal(told(...items), expected));
}

test('a log told a second time is progress only where the user speaks', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const detector = new NoveltyDetector();
      for (const record of log) detector.add(record);
      for (const record of log) {
        const isUser =
          record.type === 'item' && record.item.type === 'message' && record.item.role === 'user';
        assert.ok(!detector.add(record) || isUser, JSON.stringify(record));
      }
    }),
    { seed: 20_261_121, numRuns: 200 },
  );
});
