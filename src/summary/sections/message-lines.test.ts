import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { writeSummary } from '../write.ts';

const home = '/home/ada/orbit';

/** What section 6 tells in so many tokens. */
function renderedMessages(
  { records }: Story,
  budgetTokens: number,
  preserved: readonly string[] = [],
): string[] {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens, count: approximateTokens, preserved });
  const rows = text.split('\n');
  const from = rows.findIndex((row) => row.startsWith('6. '));
  return rows.slice(from + 1, rows.indexOf('', from));
}

test('a short message that chooses is told with what it chooses before longer ones that do not', () => {
  const drawings =
    'Two drawings:\n### Scenario 1: a round dome\n### Scenario 2: a flat dome with a hatch\nQuestions:\n1. Which one?\n2. Where is the door to be, and how wide should it be made?';
  const story = Story.in(home)
    .user('We need a dome.')
    .agent('I could draw some.')
    .user('Draw several domes, in style of scenario 1, please, and say what they weigh.')
    .agent(drawings)
    .user('1. I like option 2, 2. on the left');
  for (let at = 0; at < 60; at++)
    story
      .agent(`Part ${at} stands in part-${at}.ts.`)
      .user(
        `The lamp ${at} of the tower flickers whenever the wind blows from the sea, look at lamp-${at}.ts`,
      );
  const told = renderedMessages(story.agent('I look at it.').sh('ls', 'lamp.ts'), 800);
  assert.ok(told.some((row) => row.includes('more, not told here')));
  assert.match(
    told.find((row) => row.startsWith('3. ')) ?? '',
    /^3\. \(to "option 2: a flat dome with a .*\) "1\. I like option 2, 2\. on the left"$/,
  );
});

test('what follows verbatim is told by number, with what is cut or no request, and what was said again by its place', () => {
  const long = `Paint the hull of the ship ${'in blue and white, '.repeat(20)}please.`;
  const story = Story.in(home).user('Go on.').user(long).user('/mode').agent('Painted.').user('Go on.');
  const texts = [`${long.slice(0, 100)}… 240 characters …`, '/mode', 'Go on.'];
  assert.equal(
    renderedMessages(story.agent('Yes.'), 2_000, texts).find((row) => row.includes('verbatim')),
    'Message 3 follows verbatim after this summary; besides: message 2 (cut), "/mode" (a command of the client\'s).',
  );
});

test('who refuses without a word says why in the next message', () => {
  const refused = Story.in(home)
    .user('Go.')
    .call('run_shell_command', { command: 'git push' }, 'exec command rejected by user', false);
  const asked = (story: Story): string | undefined =>
    renderedMessages(story, 2_000).find((row) => row.includes('Asked'));
  assert.match(asked(refused) ?? '', /answered: "no \(refused without a word\)"$/);
  assert.match(asked(refused.user('Wait for the tide.')) ?? '', /answered: "no", then wrote message 2$/);
});
