// `redo` in `baton serve`: a compaction that was undone is in force again, in the next request and after a resume.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../support/client.ts';
import { committedFixture, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

test('the history is the compacted one with what came before the undo, and the turn is refused with the way to its files', async () => {
  const requests = script(
    server,
    { calls: [shellCall('seq 1 9000')] },
    { text: 'Counted.' },
    { text: 'no summary' },
    { text: 'no summary' },
    { text: 'After the compaction.' },
    { text: 'On the compacted one.' },
    { text: 'Still.' },
  );
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.send({ type: 'redo', what: 'compaction' });
  assert.equal((await client.next('error')).code, 'nothing_to_redo');
  client.say('Count.');
  await client.next('turn_complete');
  client.send({ type: 'compact', trigger: { type: 'user' }, strategy: 'full' });
  const { id, post_compact_tokens: small } = await client.next('compact_completed');
  await client.next('turn_complete');
  client.say('Say something.');
  await client.next('turn_complete');
  client.send({ type: 'undo', what: 'compaction' });
  await client.next('undo_completed');
  client.send({ type: 'redo', what: 'compaction' });
  assert.ok((await client.next('token_count')).used < small + 5_000);
  assert.equal((await client.next('redo_completed')).id, id);
  client.send({ type: 'redo', what: 'compaction' });
  assert.match((await client.next('error')).message, /only directly after an undo/);
  client.send({ type: 'redo', what: 'turn' });
  assert.match((await client.next('error')).message, /refs\/baton\/snapshots/);
  client.say('Where are we?');
  await client.next('turn_complete');
  const sent = requests().at(-1)?.text ?? '';
  assert.doesNotMatch(sent, /\b1234\b/);
  assert.match(sent, /After the compaction\./);
  await shutDown(client, at);

  const again = new Client(at, ['--resume', 'last']);
  again.say('And now?');
  await again.next('turn_complete');
  assert.doesNotMatch(requests().at(-1)?.text ?? '', /\b1234\b/);
  assert.match(requests().at(-1)?.text ?? '', /On the compacted one\./);
  again.send({ type: 'undo', what: 'compaction' });
  assert.equal((await again.next('undo_completed')).id, id);
  await shutDown(again, at);
});
