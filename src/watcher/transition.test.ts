// Laws of the machine that no path shows, and the exact words of seed 003 §2.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { policyWith } from '../../test/support/watcher-policy.ts';
import { INFO_LINES } from '../vocabulary.ts';
import { infoLine, requestLines, suggestionText, warningLine } from './lines.ts';
import { startTurn } from './signals/boundaries.ts';
import { beginWatching } from './state.ts';
import type { WatcherEvent } from './events.ts';
import type { WatcherState } from './state.ts';
import { transition } from './transition.ts';

const policy = policyWith();
const moment = {
  situation: { used: 80_000, window: 200_000, percentRemaining: 60, projected: 9_000 },
  signals: [],
  lastAgentMessage: undefined,
  busyWith: [],
  hadAction: true,
} as const;

function run(state: WatcherState, ...events: readonly WatcherEvent[]): WatcherState {
  return events.reduce((before, event) => transition(before, event, policy).state, state);
}

describe('the user comes first', () => {
  test('a text goes out as it came, whatever it holds', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
      const message = { id: 'm1', text };
      const { effects } = transition(
        beginWatching(false),
        { type: 'user_submitted', message, atMs: 0 },
        policy,
      );
      assert.deepEqual(effects, [{ type: 'deliver', message }]);
    });
    fc.assert(property, { seed: 3, numRuns: 300 });
  });

  test('a message that is submitted twice under one id is one message', () => {
    const submitted = { type: 'user_submitted', message: { id: 'm1', text: 'go' }, atMs: 0 } as const;
    const once = run(beginWatching(false), submitted);
    assert.equal(transition(once, submitted, policy).state, once);
  });

  test('what could not be delivered is tried again at the next occasion, before what came later', () => {
    const failed = run(
      beginWatching(false),
      { type: 'user_submitted', message: { id: 'm1', text: 'go' }, atMs: 0 },
      { type: 'delivery_failed', messageId: 'm1', why: 'no connection', atMs: 0 },
    );
    assert.deepEqual(failed.memory.queue, [{ id: 'm1', text: 'go' }]);
    const { state, effects } = transition(
      failed,
      { type: 'user_submitted', message: { id: 'm2', text: 'on' }, atMs: 0 },
      policy,
    );
    assert.deepEqual(effects, [{ type: 'deliver', message: { id: 'm1', text: 'go' } }]);
    assert.deepEqual(state.memory.queue, [{ id: 'm2', text: 'on' }]);
  });
});

describe('turns', () => {
  const started = {
    type: 'turn_started',
    turnId: 't1',
    kind: 'regular',
    origin: { type: 'user' },
    atMs: 0,
  } as const;

  test('a turn is counted once, and its message is the request of the user', () => {
    const once = run(beginWatching(false), started);
    assert.equal(once.memory.turnNumber, 1);
    assert.equal(once.memory.hasRequest, true);
    assert.equal(transition(once, started, policy).state, once);
  });

  test('the start of a turn that has ended, told again, starts nothing', () => {
    const ended = run(beginWatching(false), started, {
      type: 'turn_complete',
      turnId: 't1',
      kind: 'regular',
      origin: { type: 'user' },
      atMs: 0,
      ...moment,
    });
    assert.equal(transition(ended, started, policy).state, ended);
  });

  test('turns of the shell, of a review and of a manual compaction are no turns to decide at', () => {
    for (const kind of ['shell', 'review', 'compact'] as const) {
      const running = run(beginWatching(false), { ...started, kind });
      assert.equal(running.memory.turnNumber, 0, kind);
      const { effects } = transition(
        running,
        { type: 'turn_complete', turnId: 't1', kind, origin: { type: 'user' }, atMs: 0, ...moment },
        policy,
      );
      assert.deepEqual(effects, [], kind);
    }
  });

  test('the loop of a request of the watcher is never held', () => {
    const { state, effects } = transition(
      beginWatching(false),
      {
        type: 'sampling_complete',
        turnId: 'request 4',
        isFollowUpOwed: true,
        batchFrom: undefined,
        atMs: 0,
        ...moment,
      },
      policy,
    );
    assert.deepEqual(effects, [{ type: 'resume_turn', turnId: 'request 4' }]);
    assert.deepEqual(state, beginWatching(false));
  });

  test('each turn of the user begins with the boundaries that are left over (rawr 13.2, 1: not cleared before)', () => {
    const before = run(beginWatching(false), started);
    const next = run(before, { ...started, turnId: 't2' });
    assert.deepEqual(next.memory.boundaries, startTurn(before.memory.boundaries));
  });
});

test('old tool results cleared by somebody else are no compaction', () => {
  const before = beginWatching(false);
  const cleared = { type: 'context_compacted', strategy: 'micro', atMs: 0 } as const;
  assert.equal(transition(before, cleared, policy).state, before);
});

describe('lines', () => {
  test('the texts of seed 003', () => {
    const texts = requestLines(['heads_up', 'scratch', 'packet_request'], false, policy).map(
      ({ text }) => text,
    );
    assert.deepEqual(texts, [
      '[rawr] auto-compaction: requesting scratch write',
      '[rawr] auto-compaction: requesting continuation packet',
    ]);
    assert.equal(suggestionText('tag', 62), ' watcher: would compact now (tag). Context window: 62% left.');
    assert.equal(
      suggestionText('suggest', undefined),
      ' watcher: recommend compact now (suggest). Run /compact to proceed, or set rawr_auto_compaction.mode = "auto".',
    );
  });

  test('info_lines chooses among what is told, and warnings are always told', () => {
    const shown = INFO_LINES.map((infoLines) => {
      const chosen = policyWith({ infoLines });
      return [...infoLine('decision', ': d', chosen), ...infoLine('step', ': s', chosen)].map(
        ({ text }) => text,
      );
    });
    assert.deepEqual(shown, [
      ['[rawr] auto-compaction: d', '[rawr] auto-compaction: s'],
      ['[rawr] auto-compaction: d'],
      [],
    ]);
    assert.equal(warningLine('failed').surface, 'warning');
  });
});
