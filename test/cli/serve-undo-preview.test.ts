// `undo` with `preview` in `baton serve`: it names what the undo then does, and changes nothing.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '../support/client.ts';
import { committedFixture, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

test('of a turn: its message, its files and later edits, by each choice about them', async () => {
  script(
    server,
    { calls: [shellCall('echo lit > lamp; echo oil > can')] },
    { text: 'Lit.' },
    { text: 'Still here.' },
  );
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.send({ type: 'undo', what: 'turn', preview: true });
  assert.equal((await client.next('error')).code, 'nothing_to_undo');
  client.say('Light it,\nplease.');
  await client.next('turn_complete');
  // The watcher notes its decision after the turn.
  await client.next('thread_idle');
  writeFileSync(join(at.work, 'lamp'), 'lit by hand\n');
  writeFileSync(join(at.work, 'mine'), 'a note\n');
  const [log = ''] = at.rollouts();
  const written = readFileSync(log);

  client.send({ type: 'undo', what: 'turn', preview: true });
  const asked = await client.next('undo_preview');
  assert.deepEqual([asked.what, asked.id, asked.message], ['turn', 'turn-1', 'Light it,\nplease.']);
  assert.ok((asked.items ?? 0) >= 4, `${asked.items} items: message, call, result, answer`);
  assert.deepEqual(asked.files, [{ path: 'can', change: 'added' }]);
  assert.deepEqual(
    asked.later_edits.map(({ path, overlaps }) => [path, overlaps]),
    [
      ['lamp', true],
      ['mine', false],
    ],
  );
  client.send({ type: 'undo', what: 'turn', preview: true, later_edits: 'revert' });
  const reverting = await client.next('undo_preview');
  assert.deepEqual(reverting.files?.map(({ path }) => path).toSorted(), ['can', 'lamp', 'mine']);

  assert.equal(existsSync(join(at.work, 'can')), true, 'a preview changes no file');
  assert.deepEqual(readFileSync(log), written, 'a preview writes nothing');
  client.send({ type: 'undo', what: 'turn', later_edits: 'keep' });
  const undone = await client.next('undo_completed');
  assert.deepEqual(
    undone.paths,
    asked.files?.map(({ path }) => path),
    'as it was announced',
  );
  await shutDown(client, at);
});

test('of a compaction: which one, and the sizes on both sides of it', async () => {
  script(
    server,
    { calls: [shellCall('seq 1 9000')] },
    { text: 'Counted.' },
    { text: 'no summary' },
    { text: 'no summary' },
  );
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.send({ type: 'undo', what: 'compaction', preview: true });
  assert.equal((await client.next('error')).code, 'nothing_to_undo');
  client.say('Count.');
  await client.next('turn_complete');
  client.send({ type: 'compact', trigger: { type: 'user' }, strategy: 'full' });
  const done = await client.next('compact_completed');
  await client.next('turn_complete');
  client.send({ type: 'undo', what: 'compaction', preview: true });
  const preview = await client.next('undo_preview');
  assert.equal(preview.id, done.id);
  assert.equal(preview.pre_compact_tokens, done.pre_compact_tokens);
  assert.equal(preview.post_compact_tokens, done.post_compact_tokens);
  assert.deepEqual(
    [preview.message, preview.items, preview.files, preview.later_edits],
    [null, null, null, []],
  );
  client.send({ type: 'undo', what: 'compaction' });
  assert.equal((await client.next('undo_completed')).id, done.id);
  await shutDown(client, at);
});
