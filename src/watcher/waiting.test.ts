import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitsForUser } from './waiting.ts';

const WAITS: readonly string[] = [
  'Please confirm that I may delete the old database before I go on.',
  'The migration is written. Let me know which of the two you prefer.',
  'I am waiting for your approval of the plan.',
  'Awaiting your review.',
  'Once you have confirmed, I will push the branch.',
  'After the user approves: drop the table, then run the import.',
  'Shall I proceed?\n\n1. yes, with a backup\n2. no',
  'Which of these?\n- A: keep the index\n- B: rebuild it\n\nBoth take an hour.',
  'I need your decision on the licence.',
  'Should I push now',
  '**Do you want me to remove it?**',
  'Bitte bestätige, dass ich die alte Datenbank löschen darf.',
  '削除してよいですか？',
];

const GOES_ON: readonly string[] = [
  '',
  'The wick is committed. The oil comes next.',
  'Next: run the tests, then fix the parser.',
  'Fill the oil in src/oil.ts.',
  'I waited for the build, and it passed. Next I write the docs.',
  `The user asked whether it is safe? It is.${' The parser is rewritten and all of its tests pass.'.repeat(20)}`,
  '```\nplease confirm (y/n)?\n```\nThe prompt above is printed now. Next: its test.',
];

for (const message of WAITS) {
  test(`waits: ${JSON.stringify(message)}`, () => assert.ok(waitsForUser(message)));
}
for (const message of GOES_ON) {
  test(`goes on: ${JSON.stringify(message.slice(0, 60))}`, () => assert.ok(!waitsForUser(message)));
}
