// The compactor of a living thread, with a model behind real HTTP.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { compactionWorld, MemoryThread, summarizersOf } from '../../test/support/compactable.ts';
import { client } from '../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { agentSays, userSays } from '../../test/support/records.ts';
import { textOfSize, thread } from '../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { findBrokenPairs, pairView } from '../history/pairs.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import { MOST_FULL_IN_TURN } from './loop-guard.ts';
import { Compactor } from './compactor.io.ts';
import type { CompactionAsk, CompactionOutcome } from './compactor.io.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const SUMMARY = SUMMARY_SECTIONS.map(
  (section) => `## ${section}\n\nThe lamp is lit, and the horn is sounding.`,
).join('\n\n');
const WINDOW = 20_000;
const LIVE = new AbortController().signal;

function compactorOf(memory: MemoryThread, config: Config = DEFAULT_CONFIG) {
  const world = compactionWorld({
    summarizers: summarizersOf([{ model: client('chat', server.baseUrl), window: WINDOW }]),
  });
  const compactor = new Compactor(memory, config, world);
  memory.onRecord = (record) => compactor.noteRecord(record);
  return { compactor, world };
}

/** A thread above its limit: 18,000 of 20,000 tokens. */
function fullThread(): MemoryThread {
  return new MemoryThread(WINDOW, thread('u:10 a:9k u:10 a:9k'));
}

const BUILT_IN: CompactionAsk = { from: 'built_in' };

describe('a compactor', () => {
  test('compacts with the model, commits before it tells, and remembers', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const memory = fullThread();
    const { compactor, world } = compactorOf(memory);
    let completedAtCommit = -1;
    memory.beforeCommit = () => {
      completedAtCommit = world.events.filter(({ type }) => type === 'compact_completed').length;
      return Promise.resolve();
    };
    const outcome = await compactor.request(BUILT_IN, LIVE);
    assert.equal(outcome.type, 'compacted');
    assert.equal(completedAtCommit, 0);
    assert.deepEqual(
      world.events.map(({ type }) => type),
      [
        'background_event',
        'item_started',
        'background_event',
        'item_completed',
        'context_compacted',
        'background_event',
        'compact_completed',
      ],
    );
    const { receipt } = (outcome as Extract<CompactionOutcome, { type: 'compacted' }>).compaction.record;
    assert.deepEqual(
      [receipt?.trigger, receipt?.reason, receipt?.phase, receipt?.implementation, receipt?.model],
      ['auto', 'context_limit', 'mid_turn', 'full', 'loopback/scribe'],
    );
    assert.equal(compactor.guard.lease, undefined);
    assert.ok(compactor.guard.rearm !== undefined, 'growth is counted from here');
  });

  test('has a summary for the watcher written by the model that is meant for it, or by none', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const model = client('chat', server.baseUrl);
    const world = compactionWorld({ summarizers: summarizersOf([{ model, window: WINDOW }]) });
    const watcherSummarizers = summarizersOf([{ model, window: WINDOW, name: 'quick' }]);
    const ask = { from: 'watcher', why: 'A commit.', isEmergency: false } as const;
    for (const [asked, author, from] of [
      [{ ...ask, audit: { decision_id: 'decision-1' } }, 'loopback/quick', 'watcher'],
      [{ ...ask, isEmbedded: true }, undefined, 'watcher'],
      [BUILT_IN, 'loopback/scribe', 'engine'],
    ] as const) {
      const compactor = new Compactor(fullThread(), DEFAULT_CONFIG, { ...world, watcherSummarizers });
      const outcome = await compactor.request(asked, LIVE);
      assert.ok(outcome.type === 'compacted', from);
      assert.equal(outcome.compaction.record.receipt?.model, author);
      assert.deepEqual(outcome.compaction.record.receipt?.audit, 'audit' in asked ? asked.audit : undefined);
    }
  });

  test('asks nobody below its limit', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const before = server.requests.length;
    const { compactor } = compactorOf(new MemoryThread(WINDOW, thread('u a:2k')));
    const outcome = await compactor.request(BUILT_IN, LIVE);
    assert.deepEqual(outcome.type === 'refused' && outcome.reason, 'not_needed');
    assert.equal(server.requests.length, before);
  });

  test('one compaction at a time: who needs room waits for it, the user and the watcher are told', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const memory = fullThread();
    const { compactor } = compactorOf(memory);
    const first = compactor.request(BUILT_IN, LIVE);
    const joined = compactor.request({ from: 'overflow' }, LIVE);
    const manual = await compactor.request({ from: 'manual', strategy: 'auto' }, LIVE);
    const watcher = await compactor.request({ from: 'watcher', why: 'A commit.', isEmergency: true }, LIVE);
    assert.deepEqual(
      [manual, watcher].map((outcome) => outcome.type === 'refused' && outcome.reason),
      ['lease_taken', 'lease_taken'],
    );
    assert.equal(await joined, await first);
    assert.equal(memory.records.filter(({ type }) => type === 'compacted').length, 1);
  });

  test('a commit that fails leaves the history, tells of no compaction, and the lease is free again', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const memory = fullThread();
    const before = memory.items;
    const { compactor, world } = compactorOf(memory);
    memory.beforeCommit = () => Promise.reject(new BatonError('output_failed', 'The disk is full'));
    const outcome = await compactor.request(BUILT_IN, LIVE);
    assert.deepEqual(outcome.type === 'failed' && outcome.error.code, 'output_failed');
    assert.deepEqual(memory.items, before);
    assert.equal(world.events.at(-1)?.type, 'compact_failed');
    memory.beforeCommit = () => Promise.resolve();
    assert.equal((await compactor.request({ from: 'manual', strategy: 'auto' }, LIVE)).type, 'compacted');
  });

  test('an interrupt in the middle of the request ends it at once, and is no failure of a compaction', async () => {
    server.play({ replies: [{ fault: { type: 'silence' } }] });
    const memory = fullThread();
    const { compactor } = compactorOf(memory);
    const user = new AbortController();
    const index = server.requests.length;
    const running = compactor.request(BUILT_IN, user.signal);
    const arrived = await server.request(index);
    user.abort();
    const outcome = await running;
    assert.deepEqual(outcome.type === 'failed' && outcome.error.code, 'interrupted');
    assert.equal(await arrived.ended, 'client');
    assert.deepEqual([compactor.guard.ineffective, compactor.guard.lease], [0, undefined]);
    assert.ok(
      memory.records.every(({ type }) => type === 'item'),
      'nothing was committed',
    );
  });

  test('clearing comes first where it is enough, and the summary follows where it was not', async () => {
    const big = new MemoryThread(100_000, thread(`u${' shell:9k'.repeat(10)} a`));
    const { compactor } = compactorOf(big, {
      ...DEFAULT_CONFIG,
      compact: { ...DEFAULT_CONFIG.compact, microCompactMinTokensToSave: 1_000 },
    });
    const outcome = await compactor.request(BUILT_IN, LIVE);
    assert.deepEqual(outcome.type === 'compacted' && outcome.compaction.type, 'micro');

    const { compactor: off } = compactorOf(
      new MemoryThread(100_000, thread(`u${' shell:9k'.repeat(10)} a`)),
      {
        ...DEFAULT_CONFIG,
        features: { ...DEFAULT_CONFIG.features, microCompact: false },
      },
    );
    server.play({ replies: [{ text: SUMMARY }] });
    const without = await off.request(BUILT_IN, LIVE);
    assert.deepEqual(without.type === 'compacted' && without.compaction.type, 'full');
  });

  test('switched off it refuses, the user too', async () => {
    const { compactor } = compactorOf(fullThread(), {
      ...DEFAULT_CONFIG,
      compact: { ...DEFAULT_CONFIG.compact, enabled: false },
    });
    for (const ask of [BUILT_IN, { from: 'manual', strategy: 'full' } as const]) {
      const outcome = await compactor.request(ask, LIVE);
      assert.deepEqual(outcome.type === 'refused' && outcome.reason, 'disabled');
    }
  });

  test('a window that nothing empties: two summaries, the newest turns once, then the user is told what fills it', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const before = server.requests.length;
    // What cannot be taken away: the initial context alone is above the limit.
    const memory = new MemoryThread(WINDOW, thread('dev:18k u:10 a:9k'));
    const { compactor } = compactorOf(memory);
    const seen: CompactionOutcome['type'][] = [];
    for (let step = 0; step < 40; step++) {
      seen.push((await compactor.request({ from: 'overflow' }, LIVE)).type);
      memory.append({ type: 'item', item: agentSays(`Step ${step}: ${textOfSize('x', 200)}`) });
    }
    assert.ok(server.requests.length - before <= MOST_FULL_IN_TURN, 'a model was asked without end');
    assert.equal(seen.at(-1), 'context_exhausted');
    const last = await compactor.request({ from: 'overflow' }, LIVE);
    assert.match(last.type === 'context_exhausted' ? last.parts : '', /^system \(18,004 tokens\)/);

    memory.append({ type: 'item', item: userSays('Go on.') });
    compactor.noteRecord({ type: 'turn_started', kind: 'regular', origin: { type: 'user' } });
    const asked = server.requests.length;
    const again = [];
    for (let step = 0; step < 4; step++)
      again.push((await compactor.request({ from: 'overflow' }, LIVE)).type);
    assert.equal(server.requests.length, asked, 'the breaker is open, so no model is asked');
    assert.ok(
      again.every((type) => type !== 'compacted'),
      again.join(),
    );
  });

  test('an undo suspends it until the context has grown', async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const memory = fullThread();
    const { compactor } = compactorOf(memory);
    await compactor.request(BUILT_IN, LIVE);
    const record = memory.records.find(({ type }) => type === 'compacted');
    assert.ok(record?.type === 'compacted', 'it was compacted');
    memory.append({ type: 'undo_compaction', compactionId: record.id });
    const outcome = await compactor.request(BUILT_IN, LIVE);
    assert.deepEqual(outcome.type === 'refused' && outcome.reason, 'rearm');
    memory.append({ type: 'item', item: agentSays(textOfSize('grown', 9_500)) });
    assert.equal((await compactor.request(BUILT_IN, LIVE)).type, 'compacted');
  });

  const asks: readonly CompactionAsk[] = [
    { from: 'manual', strategy: 'auto' },
    { from: 'manual', strategy: 'micro' },
    { from: 'watcher', why: 'A commit.', isEmergency: false },
    { from: 'watcher', why: 'Little is left.', isEmergency: true },
    { from: 'mid_turn', why: 'A plan step.', isEmergency: false, target: 5_000 },
    { from: 'pre_turn' },
    BUILT_IN,
    { from: 'overflow' },
  ];
  const replies = [
    { text: SUMMARY },
    { text: '' },
    { text: 'no summary' },
    { fault: { type: 'status', status: 500 } },
    { fault: { type: 'status', status: 400, code: 'context_length_exceeded' } },
    { fault: { type: 'cut', afterEvents: 1 } },
  ] as const;

  test('any requests in any order: sound pairs, no lease left, never two at once', async () => {
    const step = fc.record({
      ask: fc.constantFrom(...asks),
      grows: fc.constantFrom('', 'a:300', 'u:200', 'shell:4k', 'read:9k a', 'u a:9k'),
      reply: fc.constantFrom(...replies),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const memory = new MemoryThread(WINDOW, thread('dev u:10 a:9k'));
        const { compactor } = compactorOf(memory);
        let inCommit = 0;
        memory.beforeCommit = async () => {
          assert.equal(++inCommit, 1, 'two commits at once');
          await new Promise((resolve) => void setImmediate(resolve));
          inCommit--;
        };
        for (const { ask, grows, reply } of steps) {
          for (const item of thread(grows)) memory.append({ type: 'item', item });
          server.play({ replies: [reply] });
          const [outcome] = await Promise.all([
            compactor.request(ask, LIVE),
            compactor.request(BUILT_IN, LIVE),
          ]);
          assert.ok(outcome.type !== 'failed' || outcome.error instanceof BatonError, 'explained');
          assert.equal(compactor.guard.lease, undefined, 'the lease is free');
          const broken = findBrokenPairs(memory.items.map(pairView));
          assert.deepEqual(Object.values(broken).flat(), []);
        }
      }),
      { seed: 20_261_121, numRuns: 60 },
    );
  });
});
