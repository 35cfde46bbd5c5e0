// Each reason of `compact_failed` occurs: one that nothing gives would be a promise to clients.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactionWorld, MemoryThread, summarizersOf } from '../../test/support/compactable.ts';
import { thread } from '../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { BatonError } from '../errors.ts';
import type { CancelSignal, Hooks, Model } from '../ports.ts';
import type { HookVeto } from '../protocol/hook.ts';
import { COMPACT_FAILURES } from '../vocabulary.ts';
import type { CompactFailure } from '../vocabulary.ts';
import { Compactor } from './compactor.io.ts';
import type { ManualAsk } from './compactor.io.ts';
import type { CompactionWorld } from './subject.ts';

const WINDOW = 20_000;
const LIVE = new AbortController().signal;
const NOTES = { runs: [], warnings: [] };

function hooksThat(answer: { readonly veto?: HookVeto; readonly instructions?: string }): Hooks {
  const veto = answer.veto;
  return {
    preCompact: () => Promise.resolve({ ...NOTES, veto, instructions: answer.instructions }),
    postCompact: () => Promise.resolve(NOTES),
    startsWith: () => false,
    sessionStart: () => Promise.resolve({ ...NOTES, context: undefined }),
    userPromptSubmit: () => Promise.resolve({ ...NOTES, veto: undefined, context: undefined }),
    turnComplete: () => Promise.resolve(NOTES),
  };
}

function isAway(): never {
  throw new BatonError('model_network', 'far is not there');
}

/** A model whose provider could compact. */
const AWAY: Model = { provider: 'far', stream: isAway, compactRemote: isAway };

interface Cause {
  readonly ask?: Partial<ManualAsk>;
  readonly thread?: string;
  readonly world?: Partial<CompactionWorld>;
  readonly signal?: CancelSignal;
  readonly commit?: () => Promise<void>;
}

const CAUSES: Readonly<Record<CompactFailure, Cause>> = {
  nothing_to_compact: { thread: 'u:10 a:10' },
  cannot_fit: { ask: { targetTokens: 10 } },
  interrupted: { signal: AbortSignal.abort() },
  vetoed: { world: { hooks: hooksThat({ veto: { command: 'hook', reason: 'Not now.' } }) } },
  // The hook wants of the summary what the provider cannot be told.
  unavailable: {
    ask: { strategy: 'remote' },
    world: {
      hooks: hooksThat({ instructions: 'Keep the lamps.' }),
      summarizers: summarizersOf([{ model: AWAY, window: WINDOW }]),
    },
  },
  not_written: {
    commit: () => Promise.reject(new BatonError('file_changed', 'The log was replaced')),
  },
};

for (const reason of COMPACT_FAILURES) {
  test(`${reason}: told once, and the history stays`, async () => {
    const {
      ask,
      thread: notation = 'u:10 a:9k u:10 a:9k',
      world: changed,
      signal = LIVE,
      commit,
    } = CAUSES[reason];
    const memory = new MemoryThread(WINDOW, thread(notation));
    if (commit !== undefined) memory.beforeCommit = commit;
    const was = memory.items;
    const world = compactionWorld(changed);
    const compactor = new Compactor(memory, DEFAULT_CONFIG, world);
    const outcome = await compactor.request({ from: 'manual', strategy: 'full', ...ask }, signal);
    assert.equal(outcome.type, 'failed');
    const told = world.events.flatMap((event) => (event.type === 'compact_failed' ? [event.reason] : []));
    assert.deepEqual(told, [reason]);
    assert.deepEqual(memory.items, was);
  });
}
