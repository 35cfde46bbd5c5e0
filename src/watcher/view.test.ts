// The golden path as data, at each of its stages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionEvent, watcherView } from './view.ts';
import { beginWatching } from './state.ts';
import type { Handover, Sequence, Stage } from './state.ts';
import type { DecisionRecord } from '../protocol/decision.ts';
import { checkEvent } from '../protocol/wire/parse.ts';

const DECISION: DecisionRecord = {
  type: 'decision',
  id: 'decision-1',
  point: 'turn_end',
  turn: 1,
  shouldCompact: true,
  reason: 'boundary',
  why: 'A commit.',
  tier: 'asap',
  situation: { used: 60_000, window: 95_000, percentRemaining: 37, projected: 9_000 },
  required: ['commit'],
  signals: [
    {
      id: 's',
      boundary: 'commit',
      evidence: {
        type: 'command',
        command: 'git commit',
        exitStatus: undefined,
        toldBy: 'output',
        hash: undefined,
      },
      turn: 1,
      position: 3,
    },
    {
      id: 't',
      boundary: 'turn_complete',
      evidence: { type: 'turn', turnId: undefined },
      turn: 1,
      position: 4,
    },
  ],
  openIds: [],
};

const SEQUENCE: Sequence = {
  id: 'sequence-2',
  decision: DECISION,
  place: 'between_turns',
  author: 'agent',
  isTurnBased: true,
  isCombined: true,
  toRequest: [],
  hasHeadsUp: true,
  hasScratch: true,
  wasReminded: false,
};

const HANDOVER: Handover = {
  sequenceId: 'sequence-2',
  packet: { author: 'agent', text: 'Go on.', scratchPath: '.scratch/a.md' },
  isFinished: false,
  isWrapped: true,
};

function compacting(handover: Handover | undefined, sawContextCompacted: boolean): Stage {
  const task = { strategy: 'full', decision: DECISION, place: 'between_turns', handover } as const;
  return {
    at: 'compacting',
    number: 5,
    ...task,
    sawContextCompacted,
    sawTurnComplete: false,
    abortNumber: undefined,
  };
}

function viewOf(stage: Stage, before?: Stage) {
  return watcherView({ ...beginWatching(false), stage }, before);
}

/** `heads_up done, scratch running, …` */
function told(stage: Stage): readonly [steps: string, awaited: string] {
  const { steps, awaits, awaited_steps: awaited } = viewOf(stage);
  return [steps.map(({ status }) => status).join(' '), [awaits, ...awaited].join(' ')];
}

test('a combined request names all of its steps, from its beginning to the packet', () => {
  const steps = ['heads_up', 'scratch', 'packet_request'] as const;
  assert.deepEqual(told({ at: 'heads_up_injected', number: 3, steps, sequence: SEQUENCE }), [
    'running running running pending pending',
    'agent heads_up scratch packet_request',
  ]);
  assert.deepEqual(told({ at: 'awaiting_packet', number: 3, sequence: SEQUENCE }), [
    'done running running pending pending',
    'agent scratch packet_request',
  ]);
  assert.deepEqual(told({ at: 'awaiting_packet', number: 3, sequence: { ...SEQUENCE, wasReminded: true } }), [
    'done done running pending pending',
    'agent packet_request',
  ]);
});

test('requests one by one', () => {
  const sequence: Sequence = { ...SEQUENCE, isCombined: false, toRequest: ['scratch', 'packet_request'] };
  const headsUp: Stage = { at: 'heads_up_injected', number: 3, steps: ['heads_up'], sequence };
  assert.deepEqual(told(headsUp), ['running pending pending pending pending', 'agent heads_up']);
  const writing: Sequence = { ...sequence, toRequest: ['packet_request'] };
  assert.deepEqual(told({ at: 'awaiting_scratch_write', number: 4, sequence: writing }), [
    'done running pending pending pending',
    'agent scratch',
  ]);
});

test('the watcher writes the packet itself', () => {
  const sequence: Sequence = { ...SEQUENCE, author: 'watcher', hasHeadsUp: false, hasScratch: false };
  assert.deepEqual(told({ at: 'assembling_packet', number: 4, author: 'watcher', sequence }), [
    'pending skipped skipped running pending',
    'packet',
  ]);
  const gaveNone: Sequence = { ...SEQUENCE, author: 'watcher', isReplaced: true };
  assert.deepEqual(told({ at: 'assembling_packet', number: 4, author: 'watcher', sequence: gaveNone }), [
    'done done replaced running pending',
    'packet',
  ]);
  assert.deepEqual(told(compacting({ ...HANDOVER, isReplaced: true }, false)), [
    'done done replaced done pending',
    'compaction',
  ]);
});

test('compaction and handoff', () => {
  assert.deepEqual(told(compacting(HANDOVER, false)), ['done done done done pending', 'compaction']);
  const pending: Stage = {
    at: 'post_compact_handoff_pending',
    number: 6,
    decision: DECISION,
    place: 'between_turns',
    handover: HANDOVER,
    startsTurn: true,
    isDelivered: false,
    isRepeated: false,
  };
  assert.deepEqual(told(pending), ['done done done done running', 'handoff']);
  assert.deepEqual(
    told(compacting(undefined, false)),
    ['', 'compaction'],
    'without ceremony there are no steps',
  );
  const view = viewOf(pending);
  assert.deepEqual([view.sequence_id, view.decision_id, view.tier], ['sequence-2', 'decision-1', 'asap']);
});

test('how it ended', () => {
  const idle: Stage = { at: 'idle' };
  const outcome = (before: Stage | undefined) => viewOf(idle, before).outcome;
  assert.equal(outcome(undefined), null);
  assert.equal(outcome(idle), null);
  assert.equal(outcome(compacting(HANDOVER, true)), 'abandoned', 'without its handoff');
  assert.equal(outcome(compacting(undefined, true)), 'completed');
  assert.equal(outcome(compacting(undefined, false)), 'abandoned');
  assert.equal(outcome({ at: 'awaiting_packet', number: 3, sequence: SEQUENCE }), 'abandoned');
});

test('views and decisions are what the protocol says', () => {
  const state = { type: 'watcher_state', ...viewOf(compacting(HANDOVER, false)), deadline: null };
  for (const event of [state, decisionEvent(DECISION)]) {
    const wire: unknown = JSON.parse(JSON.stringify(event));
    assert.deepEqual(checkEvent(wire), wire);
  }
});
