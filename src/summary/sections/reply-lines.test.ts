import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { summaryOf, trailOf } from '../../../test/support/trail.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { findRetractions } from '../../trail/talk/retractions.ts';
import { quotedLines } from './reply-lines.ts';

const home = '/home/ada/orbit';

test('what the agent said before it called again stands before the calls, and says so', () => {
  const said = (): Story => Story.in(home).user('Aim.').agent('The mount is loose: it should use a `clamp`.');
  const overtaken = summaryOf(said().edit(`${home}/mount.ts`, 'a', 'clamp()').sh('make', 'ok').sh('ls', 'a'));
  assert.match(overtaken, /- said last \(3 calls since\):\n {4}The mount is loose.*\n- edited mount\.ts/);
  assert.doesNotMatch(overtaken, /newest message:/);
  const reacting = summaryOf(said().sh('ls', 'a'));
  assert.match(reacting, /The agent's newest message:\n {2}The mount is loose/, 'the result comes below it');
});

const drawing = (name: string): string =>
  ['```', ...Array.from({ length: 8 }, (_, at) => `| ${name} ${at} |`), '```'].join('\n');

test('the first answer to the request is told with its drawing, which the older one gives way to', () => {
  const story = Story.in(home)
    .user('Draw it.')
    .agent(`Here it is:\n${drawing('wide')}\nShall I build it?`)
    .user('Yes, but can it be narrower?')
    .agent(`Here is the narrow one:\n${drawing('narrow')}\nFour signs instead of nine.`)
    .edit(`${home}/a.ts`, 'a', 'b')
    .agent('Let me build it.')
    .sh('make', 'ok');
  const text = summaryOf(story);
  assert.match(text, /- said:\n {4}Here is the narrow one:\n(?: {4}\| narrow \d \|\n){8} {4}Four signs/);
  assert.match(text, /Here it is:\n {2}…\n {2}Shall I build it\?/);
  assert.ok(text.indexOf('narrow 3') < text.indexOf('- edited a.ts'), 'in the order of time');
});

test('of a long message that the request answers whole rows are told from both ends', () => {
  const rows = Array.from(
    { length: 60 },
    (_, at) => `- The bolt_${at} of the ${at % 2 === 0 ? 'outer' : 'inner'} ring is worn and has to go soon.`,
  );
  const story = Story.in(home)
    .user('What is worn?')
    .agent(['I looked at all bolts.', ...rows, 'None of the others.'].join('\n'))
    .user('Which of those can wait until we have the new ring?');
  const trail = trailOf(story);
  const [, floor] = quotedLines(trail, 4_000, { retractions: findRetractions(trail), said: [] }).floors;
  const texts = floor?.lines.map(({ text }) => text) ?? [];
  const first = texts.slice(0, texts.indexOf('  …'));
  const cost = first.reduce((sum, text) => sum + approximateTokens(text), 0);
  assert.ok(cost > 300 && cost < 600, `${cost} tokens for both ends`);
  assert.equal(first[0], '  None of the others.');
  assert.ok(first.includes('  I looked at all bolts.') && first.includes(`  ${rows[2]}`), 'its beginning');
  assert.ok(
    first.slice(1).every((text) => /(?:soon|bolts)\.$/.test(text)),
    'whole rows',
  );
  assert.equal(texts.length, rows.length + 3, 'the middle follows where there is room');
  assert.deepEqual(
    floor?.lines.at(-1)?.replaces?.map(({ text }) => text),
    ['  …'],
    'without a gap',
  );
});

test('what a short message answers stands in the first section', () => {
  const agreed = Story.in(home)
    .user('Polish the mirror.')
    .agent('It shines.\n\nIf you want, I can also write a test that shines a lamp at it.')
    .user('Yes please');
  assert.match(
    summaryOf(agreed, 2_000),
    /It agrees to what the agent had offered: "If you want, I can also write a test that shines a lamp at it\."\nBefore that/,
  );
  const numbered = Story.in(home)
    .user('What is left?')
    .agent('Left:\n1. a lamp\n2. a lens\n3. a tube')
    .user('skip 2');
  assert.match(summaryOf(numbered, 2_000), /It means items of the agent's list by number: "2\. a lens"/);
});
