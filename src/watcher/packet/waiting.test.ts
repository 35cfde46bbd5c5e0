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
];

const GOES_ON: readonly string[] = [
  '',
  'The wick is committed. The oil comes next.',
  'Next: run the tests, then fix the parser.',
  'Fill the oil in src/oil.ts.',
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
