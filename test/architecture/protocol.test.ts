// The pictures of docs/protocol.md match the schemas and what compactions do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderProtocolPage } from '../../scripts/protocol-page.ts';
import { Compactor } from '../../src/compaction/compactor.io.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { EventSchema } from '../../src/protocol/wire/event.ts';
import { OpSchema } from '../../src/protocol/wire/op.ts';
import { HOOK_EVENTS } from '../../src/vocabulary.ts';
import { compactionWorld, MemoryThread } from '../support/compactable.ts';
import { userSays } from '../support/records.ts';
import { textOfSize } from '../support/thread.ts';

const [aroundTurn = '', aroundCompaction = ''] = [
  ...renderProtocolPage().matchAll(/^```text\n(.*?)^```/gms),
].map((match) => match[1] ?? '');

test('the pictures draw ops and events that exist', () => {
  const known = new Set<string>([
    ...[...OpSchema.options, ...EventSchema.options].map(({ shape }) => shape.type.value),
    ...HOOK_EVENTS,
    'task_kind',
  ]);
  const words = `${aroundTurn}${aroundCompaction}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  assert.ok(words.length > 20, 'the pictures are found');
  assert.deepEqual(
    words.filter((word) => !known.has(word)),
    [],
  );
});

test('a compaction emits its events in the order of the picture', async () => {
  const thread = new MemoryThread(
    20_000,
    Array.from({ length: 12 }, (_, index) => userSays(textOfSize(`request ${index}`, 1_000))),
  );
  const world = compactionWorld();
  const compactor = new Compactor(thread, DEFAULT_CONFIG, world);
  const outcome = await compactor.request({ from: 'manual', strategy: 'full' }, new AbortController().signal);
  assert.equal(outcome.type, 'compacted');
  const told = world.events.map(({ type }) => type).filter((type) => type !== 'background_event');
  assert.ok(told.length >= 4, told.join());
  const places = told.map((type) => aroundCompaction.search(new RegExp(`^\\W*${type}\\b`, 'm')));
  assert.ok(!places.includes(-1), `${told.join()}: one is not drawn`);
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
    told.join(),
  );
});
