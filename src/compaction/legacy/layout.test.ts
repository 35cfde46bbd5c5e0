import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactionWorld, MemoryThread, summarizersOf } from '../../../test/support/compactable.ts';
import { agentSays, userSays } from '../../../test/support/records.ts';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';
import type { Item } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { carryThrough, compactHistory } from '../compact.io.ts';
import type { Occasion } from '../subject.ts';

const LEGACY: Config = { ...DEFAULT_CONFIG, features: { ...DEFAULT_CONFIG.features, compactV2: false } };
const OCCASION: Occasion = {
  trigger: 'auto',
  reason: 'context_limit',
  phase: 'pre_turn',
  strategy: 'auto',
  why: 'A test asks for it.',
};
const ghost: Item = { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } };
const words = 'The tide table is long and the night is dark. '.repeat(200);

function memory(...items: readonly Item[]): MemoryThread {
  return new MemoryThread(50_000, [
    userSays('Chart the bay.'),
    agentSays(words),
    ghost,
    userSays('Go on.'),
    ...items,
  ]);
}

function told(item: Item | undefined): string {
  return item?.type === 'message' ? textOfParts(item.content) : '';
}

test('user messages, then the summary, then ghosts; nothing asks to continue', async () => {
  const { items } = await compactHistory(memory().subject(), OCCASION, LEGACY, compactionWorld());
  assert.deepEqual(
    items.map(({ type }) => type),
    ['message', 'message', 'message', 'ghost_snapshot'],
  );
  assert.deepEqual([told(items[0]), told(items[1])], ['Chart the bay.', 'Go on.']);
  assert.ok(told(items[2]).startsWith(`${CODEX_SUMMARY_PREFIX}\n`), told(items[2]));
  assert.doesNotMatch(told(items[2]), /without asking the user/);
});

test('a second legacy compaction keeps one summary', async () => {
  const thread = memory();
  const first = await compactHistory(thread.subject(), OCCASION, LEGACY, compactionWorld());
  await thread.commit(first);
  thread.append({ type: 'item', item: agentSays(words) });
  const { items } = await compactHistory(thread.subject(), OCCASION, LEGACY, compactionWorld());
  assert.equal(items.filter((item) => told(item).startsWith(CODEX_SUMMARY_PREFIX)).length, 1);
  assert.deepEqual(items.slice(0, 2).map(told), ['Chart the bay.', 'Go on.']);
});

test('without records and without a model one message bridges: the canned words and what the user said', async () => {
  const subject = { ...memory().subject(), trail: new TrailCollector().trail() };
  const { items } = await compactHistory(subject, OCCASION, LEGACY, compactionWorld());
  assert.deepEqual(
    items.map(({ type }) => type),
    ['message', 'ghost_snapshot'],
  );
  assert.match(
    told(items[0]),
    /There is no summary[^]*What the user has said so far:\n\nChart the bay\.\n\nGo on\./,
  );
});

test('an open breaker keeps the newest turns in the same layout, and asks nobody', async () => {
  const summarizers = summarizersOf([
    {
      window: 50_000,
      model: {
        provider: 'far',
        stream: () => {
          throw new TypeError('a model was asked');
        },
      },
    },
  ]);
  const { items } = await carryThrough(
    { type: 'newest_turns', why: 'a test' },
    { subject: memory().subject(), occasion: OCCASION },
    LEGACY,
    compactionWorld({ summarizers }),
  );
  assert.ok(told(items[2]).startsWith(CODEX_SUMMARY_PREFIX), 'the layout of the legacy compaction');
});

test('a context that would not become smaller is left alone', async () => {
  const small = new MemoryThread(50_000, [userSays('Chart the bay.'), agentSays('Charted.')]);
  await assert.rejects(compactHistory(small.subject(), OCCASION, LEGACY, compactionWorld()), {
    code: 'nothing_to_compact',
  });
});
