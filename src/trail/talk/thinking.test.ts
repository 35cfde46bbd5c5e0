import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sentencesOf } from '../../text/sentences.ts';
import { statementsOf } from './statements.ts';
import { announcesCheck, musedSentences } from './thinking.ts';

const thought =
  'The shutter is stuck. Does the motor turn? `turnMotor()` always opens the shutter first. Wait, it opens nothing. ' +
  'Maybe the belt is loose? So `turnMotor()` needs the belt to be tight before it turns.';

test('a message that turns its thoughts around is mused up to the last turn, others are not', () => {
  assert.equal(musedSentences(sentencesOf(thought)), 4);
  assert.equal(musedSentences(['Is it open?', 'Is it shut?', 'Which one is it?', 'Say so.']), 0, 'it asks');
  assert.equal(musedSentences(['Wait, it is open.', 'Maybe not.', 'It is open.']), 0, 'few turns');
});

test('what is mused says so, but for the items of a list that was set down', () => {
  const mused = (text: string): string[] =>
    statementsOf(text, { turn: 1, position: 1 }).flatMap(({ text: said, isMused }) =>
      isMused === true ? [said] : [],
    );
  assert.ok(mused(thought).includes('`turnMotor()` always opens the shutter first.'));
  assert.ok(!mused(thought).some((said) => said.startsWith('So `turnMotor()`')));
  const listed = thought.replace('Wait,', '\n\nThe plan is:\n- tighten the belt of `turnMotor()`\n\nWait,');
  assert.ok(!mused(listed).some((said) => said.startsWith('tighten')));
});

test('who goes on to look at something says so in several ways', () => {
  for (const said of [
    'Let me verify that:',
    "I'll check the belt.",
    'Now I need to find the belt.',
    'Ich prüfe das.',
  ])
    assert.ok(announcesCheck(said), said);
  for (const said of ['Let me fix the belt:', 'I checked the belt.', 'The tests look fine.'])
    assert.ok(!announcesCheck(said), said);
});
