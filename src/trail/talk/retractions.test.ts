import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { findRetractions, takesBack } from './retractions.ts';
import { writeSummary } from '../../summary/write.ts';

const home = '/home/ada/orbit';

function summaryOf(story: Story): string {
  return writeSummary(trailOf(story), { budgetTokens: 4_000, count: approximateTokens }).text;
}

/** What section 5 tells: what was found and decided. */
function findingsOf(story: Story): string {
  return /\n5\. .*\n([^]*?)\n6\. /.exec(summaryOf(story))?.[1] ?? '';
}

test('a claim that the user disputed and the agent gave up is not told, what else it said is', () => {
  const story = Story.in(home)
    .user('Why does the shutter lag?')
    .agent(
      'The lag comes from the mirror cache because `mirrorCache.load()` keeps stale frames between exposures.\n\nThe timer in `shutterClock` drifts because nobody calibrates it at the start of a night.',
    )
    .user('You said the mirror cache keeps stale frames, but there is one process per exposure?')
    .agent(
      "You're right. I was wrong. Each exposure is a process of its own, so `mirrorCache` keeps no stale frames.",
    )
    .user('Then look at the clock.')
    .agent('I read the clock.');
  assert.doesNotMatch(findingsOf(story), /`mirrorCache\.load\(\)` keeps stale/);
  assert.match(findingsOf(story), /`shutterClock` drifts because/);
  assert.match(summaryOf(story), /→ the agent: .*between exposures\." \(taken back after message 2\)/);
});

test('who only agrees to a wish takes nothing back', () => {
  const story = Story.in(home)
    .user('What colours does the dome have?')
    .agent('The dome has no tokens for `domeRing` colours, because the theme names only the floor.')
    .user('Please give the theme tokens for the domeRing colours.')
    .agent("You're right. Tokens for `domeRing` colours let the theme name them. I add them.")
    .user('Thanks. What is left?')
    .agent('Nothing is left to do here.');
  assert.match(summaryOf(story), /no tokens for `domeRing` colours/);
});

test('an admission is known in several languages, and so is a dispute that one gives in to', () => {
  for (const opening of [
    'Du hast recht, das war falsch.',
    'Tienes razón, me equivoqué.',
    '你说得对,我错了。',
    'I stand corrected.',
  ])
    assert.ok(takesBack(opening, 'Hm.'), opening);
  for (const request of [
    'that is not true, it has two',
    'you marked #12 as done but it is open',
    'das stimmt nicht',
  ])
    assert.ok(takesBack('Good catch.', request), request);
  assert.ok(!takesBack("You're right, let me add it.", 'please use hex values'), 'a wish');
});

test('a row of a list that was overturned says so, its neighbours do not', () => {
  const story = Story.in(home)
    .user('Which lamps can go?')
    .agent(
      'These:\n1. lamp #41 in `hall.ts` — discard\n2. lamp #42 in `attic.ts` — discard\n3. lamp #43 in `cellar.ts` — keep',
    )
    .user('you marked lamp #42 in attic.ts for discard but it is useful')
    .agent('Good catch, I accept that correction. Lamp #42 in `attic.ts` is no candidate for discard.')
    .user('do 1 and 3');
  const text = summaryOf(story);
  assert.match(text, /lamp #42 in `attic\.ts` — discard \(taken back after message 2\)/);
  assert.match(text, /lamp #41 in `hall\.ts` — discard$/m);
});

test('what was said of a function that an edit took out later is not told; of one of another file it is', () => {
  const story = Story.in(home)
    .user('Tidy the optics.')
    .agent('The old `stageLens()` function still exists in `lens.ts`, because nobody calls it any more.')
    .agent('The `stageLens()` of `mirror.ts` is another one, because it takes two arguments instead of one.')
    .read(`${home}/lens.ts`, 'export function stageLens() {\n  return 1;\n}\nexport function keepLens() {}\n')
    .edit(`${home}/lens.ts`, 'export function stageLens() {\n  return 1;\n}\n', '')
    .agent('It is gone.')
    .user('And now?');
  const text = findingsOf(story);
  assert.doesNotMatch(text, /still exists in `lens\.ts`/);
  assert.match(text, /`stageLens\(\)` of `mirror\.ts` is another one/);
});

test('a function that moved to another file is not gone', () => {
  const story = Story.in(home)
    .user('Move it.')
    .read(`${home}/lens.ts`, 'export function stageLens() {\n  return 1;\n}\n')
    .edit(`${home}/stage.ts`, '// here', 'export function stageLens() {\n  return 1;\n}\n')
    .edit(`${home}/lens.ts`, 'export function stageLens() {\n  return 1;\n}\n', '// moved');
  assert.deepEqual([...trailOf(story).removed.keys()], []);
});

test('what was said of a file that was deleted later is spent', () => {
  const story = Story.in(home)
    .user('Clean up.')
    .agent('The script `tools/probe.sh` checks the dome, because the tests cannot.')
    .sh('rm tools/probe.sh')
    .user('Next.');
  const trail = trailOf(story);
  assert.deepEqual(
    trail.statements.filter(findRetractions(trail).isObsolete).map(({ kind }) => kind),
    ['decision'],
  );
});

test('a sentence that proposes an edit which the user refused is spent, what it reports is not', () => {
  const refusal =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse a name that tells something";
  const story = Story.in(home)
    .user('The third argument is the path.')
    .agent('The third argument of `openDome` is the path now. It should be an empty string in these tests.')
    .call('Edit', { file_path: `${home}/dome.test.ts`, old_string: 'a', new_string: 'b' }, refusal)
    .user('Next.');
  const trail = trailOf(story);
  const spent = trail.statements.filter(findRetractions(trail).isObsolete);
  assert.deepEqual(
    spent.map(({ text }) => text),
    ['It should be an empty string in these tests.'],
  );
});

test('who looks again at what he was told is wrong takes it back, and says so above the message that it answers', () => {
  assert.ok(takesBack("You're right. Let me re-examine the belt.", 'the belt was new in May'));
  const story = Story.in(home)
    .user('Why does the dome stop?')
    .agent('Root cause found: the worn belt of `domeMotor` slips, so that the dome stops.')
    .user('the belt was new in May')
    .agent("You're right, the belt is new. Let me re-examine `domeMotor`.")
    .sh('make look', 'fine');
  assert.match(
    summaryOf(story),
    /before the current request, which it took back since \("You're right, the belt is new\. .*"\):/,
  );
});

test('a dispute is about the answer before it also where that names more', () => {
  const story = Story.in(home)
    .user('Why are there no stars?')
    .agent('The stars of `SkyMap` carry no names, because nobody wrote them.')
    .user('that is wrong, I can see that the stars carry names')
    .agent("You're right, many stars have names. I look elsewhere.")
    .sh('make look', 'fine')
    .user('And the moon?');
  assert.doesNotMatch(findingsOf(story), /of `SkyMap` carry/);
});

/** A session on which something was mended, and what the user says to it. */
const mended = (reply: string): Story =>
  Story.in(home)
    .user('The roof leaks.')
    .edit(`${home}/roof.ts`, 'const leak = openRoof();', 'const leak = closedRoofOf(tarpaulin);')
    .agent(
      'The new `closedRoofOf()` tarpaulin covers the roof and handles the rain properly, because it is tight.\n\nThe gutter of `roofEdge` is narrow, because the wall is old and nobody may touch it.',
    )
    .user(reply)
    .agent('I look.')
    .user('Go on.');

test('what was mended is not told as mended once the user says that it did not help', () => {
  const text = summaryOf(mended('if I go up there I still see water'));
  assert.doesNotMatch(text, /- The new `closedRoofOf\(\)` tarpaulin/);
  assert.match(text, /\(message 2 says that it did not help\)/);
  assert.match(findingsOf(mended('if I go up there I still see water')), /gutter of `roofEdge`/);
  assert.match(findingsOf(mended('now paint it')), /The new `closedRoofOf\(\)` tarpaulin/);
});

test('what the user undid is told as undone, and what was written with it stands nowhere', () => {
  const text = summaryOf(mended('I undid your changes, read the whole file first'));
  assert.match(text, /→ changed roof\.ts; the agent: .* \(message 2 undoes it\)/);
  assert.doesNotMatch(text, /- The new `closedRoofOf|\+ const leak/);
  for (const reply of ["I didn't tell you to undo your changes.", 'Should we revert that?', 'now paint it'])
    assert.doesNotMatch(summaryOf(mended(reply)), /undoes it/, reply);
});

test('an answer of few claims is told as said only, and marked, where the next message opens with that it is wrong', () => {
  const claim = 'The bolt of the roof is too short, and the ring has no thread for it.';
  const looked = (reply: string, answer = claim): string =>
    summaryOf(
      Story.in(home)
        .user('Why is the roof loose?')
        .sh('make look', 'a bolt')
        .agent(answer)
        .user(reply)
        .agent('Looking.')
        .user('Well?'),
    );
  const refutes = [
    "no, that's not it. look at the wind",
    'That is wrong, I can see it move',
    'No. This was not the cause.',
  ];
  for (const reply of refutes)
    assert.match(looked(reply), /the agent: .*no thread for it.*\(message 2 says that it is wrong\)/, reply);
  assert.doesNotMatch(looked('That is wrong.'), /^- The bolt/m);
  const others = ['no, paint it red', 'Is that not right?', "that's not bad", 'It is what I would do.'];
  for (const reply of others) assert.match(looked(reply), /^- The bolt.*no thread for it/m, reply);
  const more = [2, 3, 4].map((at) => `The dome needs ${at} rings because ${at} of its walls are open.`);
  assert.match(looked('That is wrong.', [claim, ...more].join('\n\n')), /^- The bolt/m, 'which one?');
});

test('what came of a request is marked where the next message opens with that it is wrong', () => {
  const refuted = summaryOf(mended('no, this is not what I asked for'));
  assert.match(refuted, /→ changed roof\.ts.* \(message 2 says that it is wrong\)/);
  assert.doesNotMatch(summaryOf(mended('no, paint it')), /is wrong/);
});
