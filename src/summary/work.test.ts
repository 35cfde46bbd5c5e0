import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from '../trail/collect.ts';
import { isGoAhead } from './work.ts';
import { writeSummary } from './write.ts';

function summaryOf({ records }: Story, budgetTokens = 4_000): string {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return writeSummary(collector.trail(), { budgetTokens, count: approximateTokens }).text;
}

function firstSectionOf(text: string): string {
  return text.slice(0, text.indexOf('2. Key Technical Concepts:'));
}

function pendingOf(story: Story): string {
  const text = summaryOf(story);
  return text.slice(text.indexOf('7. Pending Tasks:'), text.indexOf('8. Current Work:'));
}

const planned = (): Story =>
  Story.in('/home/ada/orbit')
    .user('Rebuild the dome, please.')
    .plan('done: unpack', 'now: oil the shutter', 'todo: paint the roof')
    .agent('The dome turns again; the shutter is stiff.');

test('a message that only lets the work go on asks for nothing new', () => {
  const goAheads = ['continue', 'ok, go on!', 'Yes please', 'commit and continue', 'weiter', '继续'];
  assert.deepEqual(goAheads.filter(isGoAhead), goAheads);
  const requests = ['continue with the lens', 'no', 'commit the lens only', 'next, oil the shutter'];
  assert.deepEqual(requests.filter(isGoAhead), []);
});

test('a plan stands while the user only lets the agent go on, and says what comes next', () => {
  const story = planned().user('continue').agent('Oiling.').user('ok, go on').sh('make oil', 'done');
  assert.match(
    pendingOf(story),
    /Plan, as it stood after message 1:\n- in progress: oil the shutter\n- to do: paint/,
  );
  assert.doesNotMatch(pendingOf(story), /current request, under way/);
});

test('a plan that several other requests came after is one line below what is under way', () => {
  const story = planned()
    .user('Now list the stars.')
    .agent('They are listed.')
    .user('Clean the mirror.')
    .agent('I begin with the cloth.')
    .sh('make mirror', 'wet');
  const line = 'An older plan (message 1) left open, which may be done or dropped by now';
  assert.equal(
    pendingOf(story).trim(),
    `7. Pending Tasks:\n- The current request, under way.\n- ${line}: oil the shutter; paint the roof`,
  );
});

test('tasks that a tool keeps one by one are told until they are closed, whatever is asked meanwhile', () => {
  const story = Story.in('/home/ada/orbit')
    .user('What is left?')
    .call('TaskCreate', { subject: 'Oil the shutter' }, 'Task #1 created')
    .call('TaskCreate', { subject: 'Paint the roof' }, 'Task #2 created')
    .call('TaskUpdate', { taskId: '1', status: 'completed' }, 'ok')
    .agent('Two things.')
    .user('Now list the stars.')
    .agent('They are listed.')
    .user('Clean the mirror.')
    .agent('It is clean.')
    .user('And the lamp?')
    .agent('I look.')
    .sh('make lamp', 'dim');
  assert.match(
    pendingOf(story),
    /- The current request, under way\.\nPlan, as it stood after message 1:\n- to do: Paint the roof\n- done \(1 of 2\): Oil the shutter/,
  );
});

test('a list of before is told whole where the user may mean it, and by its head above the rest otherwise', () => {
  const rows = Array.from({ length: 9 }, (_, at) => `${at + 1}. grind lens_part_${at + 1} until it is clear`);
  const listed = (): Story =>
    Story.in('/home/ada/orbit')
      .user('What is left?')
      .agent(`Nine things are left:\n${rows.join('\n')}`)
      .user('Thanks. Is the dome shut?')
      .agent('It is shut.');
  const whole =
    /The agent's newest list \(after message 1\):\n {2}Nine things are left:\n(?: {2}\d\. grind .*\n){9}/;
  for (const words of ["let's tackle 2 and 3", 'all of them, please', 'take the second', 'option b']) {
    assert.match(summaryOf(listed().user(words)), whole, words);
  }
  const other = summaryOf(listed().user('Open the dome at 20:15 then, and log it in line 4.5.'));
  assert.doesNotMatch(other, whole);
  assert.match(
    other,
    /8\. Current Work:\nThe agent's newest list \(after message 1\):\n(?: {2}.*\n){6} {2}…\n/,
  );
});

test('a rule that came and went with an earlier request is told whole with that message, not as a rule', () => {
  const paint = 'The mirror is what I see first in the morning. '.repeat(40);
  const story = Story.in('/home/ada/orbit')
    .user(`Never touch the lens. ${paint}The frame should be a little dimmer. ${paint}`)
    .agent('It is dimmer.');
  assert.match(firstSectionOf(summaryOf(story)), /- "The frame should be a little dimmer\." \(message 1\)/);
  assert.match(
    firstSectionOf(summaryOf(story.user('continue'))),
    /- "The frame should be a little dimmer\." \(message 1\)/,
  );
  const later = summaryOf(
    story.agent('Done.').user('Now oil the shutter.').agent('Oiled.').user('And the roof.'),
  );
  assert.doesNotMatch(firstSectionOf(later).replace(/The session began with.*/, ''), /dimmer/);
  assert.match(firstSectionOf(later), /- "Never touch the lens\." \(message 1\)/);
  assert.match(
    later,
    /6\. All User Messages:\n1\. "\[rule above\] .* The frame should be a little dimmer\. .*"/,
  );
});

test('of thinking aloud what it came to is told, not its steps', () => {
  const story = Story.in('/home/ada/orbit').user('Mend the dome.');
  const steps = ['So `dome_a` is shut.', 'Maybe `dome_b` never opens while the other motor is running here.'];
  const cause = 'The cause is that `dome_relay` is wired to the lamp.';
  for (let at = 0; at < 40; at++) {
    story.agent(`${steps.join(' ')} ${at === 20 ? cause : ''} I look at \`part_${at}\` of the roof.`);
    story.sh(`ls part_${at}`, `part_${at}`);
  }
  const text = summaryOf(story);
  const solving = text.slice(text.indexOf('5. Problem Solving:'), text.indexOf('6. All User Messages:'));
  assert.match(solving, /- The cause is that `dome_relay` is wired to the lamp\./);
  assert.doesNotMatch(solving, /dome_a|dome_b/);
});

test('a rule that a later message takes back or changes says so', () => {
  const story = Story.in('/home/ada/orbit')
    .user('Clean the mirror.')
    .agent('Clean.')
    .user('Never open the dome at noon. Use tabs for indentation everywhere. Never touch the lens.')
    .agent('Understood.')
    .user('Oil the shutter.')
    .agent('Oiled.')
    .user('Actually, use spaces for indentation.')
    .agent('Spaces it is.')
    .user('You may open the dome at noon again.')
    .agent('It is open.')
    .user('Now the lens cap, and paint the shutter instead of the roof.');
  const rules = firstSectionOf(summaryOf(story));
  assert.match(rules, /- "Never open the dome at noon\." \(message 2; message 5 may change it\)/);
  assert.match(rules, /- "Use tabs for indentation everywhere\." \(message 2; message 4 may change it\)/);
  assert.match(rules, /- "Never touch the lens\." \(message 2\)/);
  const short = Story.in('/home').user('Always use tabs.').agent('Ok.').user('No longer use tabs.');
  assert.match(
    summaryOf(short),
    /message 1 asked \(it may bind; message 2 may change it\): "Always use tabs\."/,
  );
});
