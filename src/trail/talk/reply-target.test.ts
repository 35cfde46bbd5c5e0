import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyTarget } from './reply-target.ts';

const list = [
  'I found these:',
  '| # | what | where |',
  '|---|------|-------|',
  '| 1 | the mirror is dull | tube |',
  '| 2 | the shutter squeaks | dome |',
  '',
  '- **#3** (paint) - may wait',
].join('\n');

const offers = [
  'Next steps I see:',
  '- a new belt',
  '',
  'If you want, I can also write a `make polish` target that grinds the mirror.',
].join('\n');

const questions = 'Before I start:\n1. Left or right?\n2. Which sand?\n3. Shall I wash it?';

test('numbers stand for the items of the message before, of a list or a table, and answers for its questions', () => {
  const asked: [reply: string, message: string, expected: string | undefined][] = [
    ['skip 1 and 3, do the rest', list, '1. the mirror is dull – tube; 3. (paint) - may wait'],
    ['#2', list, '2. the shutter squeaks – dome'],
    ['skip 7', list, undefined],
    ['use 2 lines for it', list, undefined],
    ['1. left, 2. the fine one', questions, '1. Left or right?; 2. Which sand?; 3. Shall I wash it?'],
    ['1. wash it\n2. paint it', list, undefined],
    ['2. the shutter squeaks: why?', list, undefined],
    ['I like scenario 2', '### Scenario 1: glass\n### Scenario 2: steel', '2. steel'],
    [
      '1. I like option 2, 2. left',
      `### Scenario 1: glass\n### Scenario 2: steel\n${questions}`,
      'option 2: steel; 1. Left or right?; 2. Which sand?; 3. Shall I wash it?',
    ],
    ['option 2, please', '## Option 1: glass\n## Option 2: steel\n\n1. melt\n2. cool', '2. steel'],
  ];
  for (const [reply, message, expected] of asked) assert.equal(replyTarget(message, reply), expected, reply);
});

test('who only agrees takes the last offer, all of a list of offers where all is agreed to; who asks for something else does not', () => {
  const offer = 'If you want, I can also write a `make polish` target that grinds the mirror.';
  const both = 'Do you want me to:\n- grind the mirror?\n- paint the dome?';
  const below = 'If you want, I can:\n- grind the mirror\n- paint the dome';
  const asked: [reply: string, message: string, expected: string | undefined][] = [
    ['Yes please', offers, offer],
    ['ok', offers, offer],
    ['ok, make the belt a little longer', offers, undefined],
    ['please wash the mirror first', offers, undefined],
    ['yes to all', both, 'Do you want me to: grind the mirror?; paint the dome?'],
    ['yes', both, 'paint the dome?'],
    ['go ahead', below, 'If you want, I can: grind the mirror; paint the dome'],
    ['the dome first', questions, 'Shall I wash it?'],
    ['And what of the dome?', questions, undefined],
    ['yes', 'It is done.', undefined],
  ];
  for (const [reply, message, expected] of asked) assert.equal(replyTarget(message, reply), expected, reply);
});
