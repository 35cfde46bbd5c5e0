// What the user pinned is in the context word for word after every kind of compaction, after several, and after an undo.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compactionWorld, MemoryThread, summarizersOf } from '../../test/support/compactable.ts';
import { goodSummary } from '../../test/support/summaries.ts';
import { thread } from '../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { Model } from '../ports.ts';
import type { Item } from '../protocol/item.ts';
import { textOfParts } from '../protocol/item.ts';
import type { ModelEvent } from '../protocol/model.ts';
import type { Strategy } from '../vocabulary.ts';
import { pinRecords, unpinRecord } from '../trail/pins.ts';
import { compactHistory } from './compact.io.ts';
import type { Compaction, CompactionWorld } from './subject.ts';

const TEXT = 'Ledger rows are never rewritten:\n\t- append a correction ("storno") instead.';
const WINDOW = 60_000;

/** Whose summary says nothing of what was pinned. */
const FORGETFUL: Model = {
  provider: 'far',
  async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
    const text = goodSummary();
    assert.ok(!text.includes('storno'), 'the summary holds the pin by chance');
    yield { type: 'text_delta', text };
    yield {
      type: 'item_done',
      item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
    };
    yield { type: 'completed', stopReason: 'end_turn' };
  },
  compactRemote: () =>
    Promise.resolve({
      items: [{ type: 'compaction', encrypted_content: 'state', provider: 'far' }],
      usage: undefined,
    }),
};

const ABSENT: Model = {
  provider: 'far',
  stream: () => {
    throw new BatonError('model_network', 'far is not there');
  },
};

function configured(features: Partial<Config['features']>): Config {
  return { ...DEFAULT_CONFIG, features: { ...DEFAULT_CONFIG.features, ...features } };
}

interface Way {
  readonly strategy: Strategy;
  readonly config: Config;
  readonly model: Model | undefined;
  readonly implementation: string;
}

const WAYS: Readonly<Record<string, Way>> = {
  'without a model': {
    strategy: 'full',
    config: DEFAULT_CONFIG,
    model: undefined,
    implementation: 'embedded',
  },
  'by a model that forgets it': {
    strategy: 'full',
    config: DEFAULT_CONFIG,
    model: FORGETFUL,
    implementation: 'full',
  },
  'where the model fails': {
    strategy: 'full',
    config: DEFAULT_CONFIG,
    model: ABSENT,
    implementation: 'embedded',
  },
  'by the provider': {
    strategy: 'remote',
    config: configured({ remoteCompaction: true }),
    model: FORGETFUL,
    implementation: 'remote',
  },
  'the legacy way': {
    strategy: 'auto',
    config: configured({ compactV2: false }),
    model: FORGETFUL,
    implementation: 'legacy',
  },
  'the legacy way without a model': {
    strategy: 'auto',
    config: configured({ compactV2: false }),
    model: undefined,
    implementation: 'legacy',
  },
};

function pinned(items = 'u:10 a:9k u:10 a:9k'): MemoryThread {
  const memory = new MemoryThread(WINDOW, thread(items));
  for (const record of pinRecords([], { id: 'p', text: TEXT })) memory.append(record);
  return memory;
}

function world(model: Model | undefined): CompactionWorld {
  return compactionWorld(
    model === undefined ? {} : { summarizers: summarizersOf([{ model, window: 100_000 }]) },
  );
}

async function compact(memory: MemoryThread, { strategy, config, model }: Way): Promise<Compaction> {
  const occasion = {
    trigger: 'manual',
    reason: 'user_requested',
    phase: 'standalone_turn',
    strategy,
    why: 'The user asked for it.',
  } as const;
  const commit = (compaction: Compaction): Promise<void> => memory.commit(compaction);
  return compactHistory(memory.subject(), occasion, config, { ...world(model), commit });
}

/** How many items hold the text, word for word. */
function timesHeld(items: readonly Item[]): number {
  return items.filter((item) => {
    if (item.type === 'message') return textOfParts(item.content).includes(TEXT);
    return item.type === 'attachment' && item.text.includes(TEXT);
  }).length;
}

describe('a pinned text', () => {
  for (const [name, way] of Object.entries(WAYS)) {
    test(`is there after a compaction ${name}, after a second one, and after an undo`, async () => {
      const memory = pinned();
      const first = await compact(memory, way);
      assert.ok(first.type === 'full', 'cleared');
      assert.equal(first.record.receipt.implementation, way.implementation);
      assert.equal(timesHeld(memory.items), 1);
      assert.ok(
        first.record.receipt.notes.some((note) => note.startsWith('1 pinned text kept word for word')),
        first.record.receipt.notes.join(),
      );
      for (const item of thread('u:10 a:9k')) memory.append({ type: 'item', item });
      const second = await compact(memory, way);
      assert.equal(timesHeld(memory.items), 1);
      memory.append({ type: 'undo_compaction', compactionId: second.record.id });
      memory.append({ type: 'undo_compaction', compactionId: first.record.id });
      assert.equal(timesHeld(memory.items), 1);
      await compact(memory, way);
      assert.equal(timesHeld(memory.items), 1);
      memory.append(unpinRecord('p'));
      for (const item of thread('u:10 a:9k')) memory.append({ type: 'item', item });
      await compact(memory, way);
      assert.equal(timesHeld(memory.items), 0);
    });
  }

  test('is there after old results were cleared', async () => {
    const memory = new MemoryThread(
      WINDOW,
      Array.from({ length: 8 }, (_, index): readonly Item[] => [
        { type: 'function_call', name: 'read', arguments: '{"path":"a.ts"}', call_id: `c${index}` },
        { type: 'function_call_output', call_id: `c${index}`, output: `${TEXT}${'row\n'.repeat(4000)}` },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Read.' }] },
      ]).flat(),
    );
    for (const record of pinRecords([], { id: 'p', text: TEXT })) memory.append(record);
    const { type } = await compact(memory, {
      strategy: 'micro',
      config: DEFAULT_CONFIG,
      model: undefined,
      implementation: 'micro',
    });
    assert.equal(type, 'micro');
    assert.equal(timesHeld(memory.items), 1);
  });

  test('counts against the target', async () => {
    const memory = pinned();
    const plain = new MemoryThread(WINDOW, thread('u:10 a:9k u:10 a:9k'));
    const way = {
      strategy: 'full',
      config: DEFAULT_CONFIG,
      model: undefined,
      implementation: 'embedded',
    } as const;
    const occasion = {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      strategy: way.strategy,
      why: 'The user asked for it.',
    } as const;
    const least = async (of: MemoryThread): Promise<number> => {
      try {
        await compactHistory(of.subject(), { ...occasion, targetTokens: 10 }, way.config, world(undefined));
      } catch (error) {
        if (error instanceof BatonError) return Number(error.data['leastTarget'] ?? error.data['least']);
      }
      throw new TypeError('it fits');
    };
    assert.ok((await least(memory)) > (await least(plain)), 'the pin takes no room');
  });
});
