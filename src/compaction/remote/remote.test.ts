// A provider's own compaction of a living thread, with a model in the place of a provider.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compactionWorld, MemoryThread, summarizersOf } from '../../../test/support/compactable.ts';
import { thread } from '../../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { BatonError } from '../../errors.ts';
import type { Hooks, Model } from '../../ports.ts';
import type { CompactedRecord } from '../../protocol/record.ts';
import type { Strategy } from '../../vocabulary.ts';
import { Compactor } from '../compactor.io.ts';
import type { CompactionOutcome } from '../compactor.io.ts';
import type { CompactionWorld } from '../subject.ts';

const WINDOW = 20_000;
const STATE = 'state'.repeat(400);
const PREFERRED: Config = {
  ...DEFAULT_CONFIG,
  features: { ...DEFAULT_CONFIG.features, remoteCompaction: true },
};

type Remote = NonNullable<Model['compactRemote']>;

/** A model that compacts as it is told, and writes no summary. */
function far(compactRemote: Remote): Model {
  return {
    provider: 'far',
    stream: () => {
      throw new BatonError('model_network', 'far is not there for summaries');
    },
    compactRemote,
  };
}

const COMPACTS: Remote = () =>
  Promise.resolve({
    items: [{ type: 'compaction', encrypted_content: STATE, provider: 'far' }],
    usage: undefined,
  });

interface Played {
  readonly memory: MemoryThread;
  readonly outcome: CompactionOutcome;
  readonly told: readonly string[];
}

async function play(
  compactRemote: Remote,
  strategy: Strategy | 'built_in',
  changed: Partial<CompactionWorld> & { readonly deadlineMs?: number; readonly stop?: AbortSignal } = {},
): Promise<Played> {
  const { deadlineMs, stop = new AbortController().signal, ...surroundings } = changed;
  const memory = new MemoryThread(WINDOW, thread('u:10 a:9k u:10 a:9k'));
  const world = compactionWorld({
    summarizers: summarizersOf(
      [{ model: far(compactRemote), window: 100_000 }],
      deadlineMs === undefined ? {} : { deadlineMs },
    ),
    ...surroundings,
  });
  const compactor = new Compactor(memory, PREFERRED, world);
  const outcome = await compactor.request(
    strategy === 'built_in' ? { from: 'built_in' } : { from: 'manual', strategy },
    stop,
  );
  const told = world.events.flatMap((event) => (event.type === 'background_event' ? [event.message] : []));
  return { memory, outcome, told };
}

function recordOf({ memory }: Played): CompactedRecord {
  const record = memory.records.at(-1);
  if (record?.type !== 'compacted') throw new TypeError('nothing was compacted');
  return record;
}

function hooks(instructions: string | undefined): Hooks {
  const notes = { runs: [], warnings: [] };
  return {
    preCompact: () => Promise.resolve({ ...notes, veto: undefined, instructions }),
    postCompact: () => Promise.resolve(notes),
    startsWith: () => false,
    sessionStart: () => Promise.resolve({ ...notes, context: undefined }),
    userPromptSubmit: () => Promise.resolve({ ...notes, veto: undefined, context: undefined }),
    turnComplete: () => Promise.resolve(notes),
  };
}

describe("a provider's own compaction", () => {
  test('serves the built-in limit where it is preferred', async () => {
    const played = await play(COMPACTS, 'built_in');
    assert.equal(played.outcome.type, 'compacted');
    const { receipt, replacement, summary } = recordOf(played);
    assert.equal(receipt?.implementation, 'remote');
    assert.deepEqual(
      replacement.map(({ type }) => type),
      ['compact_boundary', 'compaction', 'message', 'message'],
    );
    assert.match(summary ?? '', /Primary Request and Intent/);
  });

  test('counts the requests that were sent again', async () => {
    const again = { type: 'restarted', retry: 1, maxRetries: 4, delayMs: 0, why: 'It was busy.' } as const;
    const played = await play((request, signal, onRestart) => {
      onRestart?.(again);
      onRestart?.({ ...again, retry: 2 });
      return COMPACTS(request, signal);
    }, 'remote');
    assert.equal(recordOf(played).receipt?.attempts?.[0]?.retries, 2);
    assert.ok(played.told.includes('Reconnecting… 2/4 (It was busy)'), played.told.join('\n'));
  });

  test('that is not there in time leaves it to the records', async () => {
    const played = await play(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new BatonError('interrupted', 'Stopped.')));
        }),
      'remote',
      { deadlineMs: 5 },
    );
    const { receipt } = recordOf(played);
    assert.equal(receipt?.implementation, 'embedded');
    assert.match(receipt?.attempts?.[0]?.why ?? '', /the compaction ran out of time/);
  });

  test('that the user stops leaves the history as it was', async () => {
    const controller = new AbortController();
    const played = await play(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new BatonError('interrupted', 'Stopped.')));
          controller.abort();
        }),
      'remote',
      { stop: controller.signal },
    );
    assert.equal(played.outcome.type === 'failed' ? played.outcome.error.code : '', 'interrupted');
    assert.equal(
      played.memory.records.some(({ type }) => type === 'compacted'),
      false,
    );
  });

  test('follows no instructions of a hook: an error by name, a note where it was preferred', async () => {
    const asked = { hooks: hooks('Dwell on the lamp.') };
    let requests = 0;
    const counted: Remote = (...args) => {
      requests++;
      return COMPACTS(...args);
    };
    const named = await play(counted, 'remote', asked);
    assert.equal(named.outcome.type === 'failed' ? named.outcome.error.code : '', 'usage');
    const preferred = await play(counted, 'built_in', asked);
    const { receipt } = recordOf(preferred);
    assert.equal(receipt?.implementation, 'embedded');
    assert.match(receipt?.notes.join('\n') ?? '', /ignores instructions/);
    assert.equal(requests, 0);
    assert.equal(
      recordOf(await play(counted, 'built_in', { hooks: hooks(undefined) })).receipt?.implementation,
      'remote',
    );
  });

  test('that fits no window is not asked for', async () => {
    const model = far(() => Promise.reject(new TypeError('it was asked')));
    const memory = new MemoryThread(WINDOW, thread('u:10 a:9k u:10 a:9k'));
    const world = compactionWorld({ summarizers: summarizersOf([{ model, window: 4_000 }]) });
    await new Compactor(memory, PREFERRED, world).request({ from: 'built_in' }, new AbortController().signal);
    const record = memory.records.at(-1);
    const receipt = record?.type === 'compacted' ? record.receipt : undefined;
    assert.deepEqual(
      [receipt?.attempts?.[0]?.rung, receipt?.attempts?.[0]?.outcome],
      ['remote', 'too_large'],
    );
  });
});
