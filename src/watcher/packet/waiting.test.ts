import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goesOn, waitsForUser } from './waiting.ts';

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
  'The plan is above. Let me know if it suits you.',
  'Everything is staged; awaiting your go-ahead.',
  'Once you approve, I will rewrite the history of the branch.',
  'Shall I go ahead and drop the column',
  "I'll hold off until the owner of the schema has had a look.",
  'Reply "yes" to proceed, or name the tables that stay.',
  'I would be grateful for your blessing before the old bucket goes.',
  'Both designs are written down; the choice is yours.',
  'Nothing is deleted yet, and nothing will be without your word.',
  'Ready whenever you are.',
  'It takes a yes from you: I need that from you first.',
  'Kindly have a look and confirm.',
  'Gib mir kurz Bescheid, dann räume ich den alten Zweig weg.',
  'Soll ich die Tabelle nun löschen, oder erst sichern',
  'Je n’ai rien supprimé : j’attends votre feu vert.',
  'Dites-moi laquelle des deux vous préférez.',
  'No he borrado nada todavía; quedo a la espera de tu confirmación.',
  '旧表还没有删除，请确认后我再继续。',
  'Я ничего не удалил. Дайте знать, когда можно продолжать.',
  'まだ削除していません。ご指示をお待ちしています。',
  'Two ways: (A) drop the table, (B) archive it. Pick one.',
  'Choose A or B.',
  'OK to delete the database',
  'Approval needed: drop the old bucket.',
  'Dropping the table requires manual approval.',
  'Requesting permission to drop the table.',
  'I have left the last step to you.',
  'I would rather not do this without you.',
  'Please enter the key in .env, then I can go on.',
  'You need to log in first.',
  'Stopped here for review.',
  'I need a decision on the schema.',
  'Get approval, then drop the table.',
  'Check with the user before the drop.',
  'The user must choose the schema.',
  'Nothing is deleted; that takes a human decision.',
  'Give the word and I start.',
  'Your move.',
  'I can delete it, if desired.',
  'I will delete it on your say-so.',
  'I will not force-push unless instructed.',
  'Say when.',
  'I am not comfortable deleting the data next without a confirmation.',
  'I stop here: the next step is destructive.',
  'Waiting on a nod before I rewrite the history next.',
  'Next I delete the bucket, unless somebody objects.',
  'If that works for you, I drop it next.',
  'Now I need to know whether the old table can go.',
  'Verify the list and I will delete the files.',
];

/** Agents that wait in words that no list holds. */
const SILENT: readonly string[] = [
  '',
  'The purge script is written and has not been run. Somebody with authority has to start it.',
  'The contract with the vendor is unclear on this, and I do not want to guess.',
  'My plan is above. Speak up if anything looks off.',
  'No action taken; awaiting acknowledgement.',
  'Here is the plan: 1. back up 2. drop 3. import. Comments welcome.',
  'I have prepared the release but not published it.',
  'Tag me when the freeze is over.',
  'Deployment is gated on the release manager.',
  'Respond with a number from the list.',
  'This is the last safe point before the cut-over.',
];

const ANNOUNCES: readonly string[] = [
  'The wick is committed. The oil comes next.',
  'I will wire the parser into the command and run its tests.',
  'All 42 tests pass. I continue with the second file.',
  'Moving on to the lexer.',
  'Step 2 of 4 is done. Step 3 is the importer.',
  'The retry happens when asked by the server; next I handle the timeout.',
  'The schema needs a reviewer column. I add it next.',
  'Der Parser ist fertig. Als Nächstes kommt der Lexer.',
];

const GOES_ON: readonly string[] = [
  '',
  'The wick is committed. The oil comes next.',
  'Next: run the tests, then fix the parser.',
  'Fill the oil in src/oil.ts.',
  'The build is safe to cache now. Next: the linter.',
  'I left the parser as it was. Next: the lexer.',
  'The bundle needs approvals.ts to be compiled first, which it is now. Next: the tests.',
  'The file permissions are set to 0600. The socket is next.',
  'Pick up the queue in src/queue.ts and drain it.',
  'I waited for the build, and it passed. Next I write the docs.',
  `The user asked whether it is safe? It is.${' The parser is rewritten and all of its tests pass.'.repeat(20)}`,
  'The tests confirm that the parser keeps its order. Next: the docs.',
  'The approval flow is implemented, and its tests pass. The audit log comes next.',
  'I paused the watcher process while the files moved, and restarted it. The cache is next.',
  'The consumer awaits messages again. Next I measure its latency.',
  'The review comments are addressed in src/queue.ts. The changelog is next.',
  'The form now requires a confirmation token. Next: its expiry.',
  'The lock is released after the writer has answered. Next: the reader.',
  'The command confirmed the checksum of each file. The upload script is next.',
  'Users who choose the second option are sent to the new page. Next: the old one.',
  'The button now says “Proceed”. The dialog behind it is next.',
  '```\nplease confirm (y/n)?\n```\nThe prompt above is printed now. Next: its test.',
];

for (const message of WAITS) {
  test(`waits: ${JSON.stringify(message)}`, () => assert.ok(waitsForUser(message)));
}
for (const message of GOES_ON) {
  test(`goes on: ${JSON.stringify(message.slice(0, 60))}`, () => assert.ok(!waitsForUser(message)));
}
for (const message of [...SILENT, ...WAITS]) {
  test(`announces nothing: ${JSON.stringify(message)}`, () => assert.ok(!goesOn(message)));
}
for (const message of ANNOUNCES) {
  test(`announces work: ${JSON.stringify(message)}`, () => assert.ok(goesOn(message)));
}
