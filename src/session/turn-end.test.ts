import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item } from '../protocol/item.ts';
import type { TurnView } from './terms.ts';
import { failureOf, outcomeOf, turnEnd, withItem } from './turn-end.ts';

const TURN: TurnView = {
  turnId: 'turn-1',
  kind: 'regular',
  origin: { type: 'user' },
  hadAction: false,
  said: undefined,
};
const SAYS: Item = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'The lamp is lit.' }],
};
const CALL: Item = { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' };

test('what the agent says belongs to the turn, unless the observer waits for it', () => {
  assert.equal(withItem(TURN, SAYS, false).turn.said, 'The lamp is lit.');
  const answer = withItem(TURN, SAYS, true);
  assert.deepEqual([answer.turn.said, answer.toObserver], [undefined, 'The lamp is lit.']);
  assert.deepEqual(withItem(TURN, CALL, false), {
    turn: { ...TURN, hadAction: true },
    toObserver: undefined,
  });
});

test('only a completed turn has a stop reason and a last message, and only a failed one a code', () => {
  const said = { ...TURN, said: 'Done.' };
  assert.deepEqual(turnEnd(said, { how: 'complete', stopReason: 'end_turn', errorCode: undefined }), {
    type: 'turn_complete',
    turnId: 'turn-1',
    kind: 'regular',
    origin: { type: 'user' },
    stopReason: 'end_turn',
    lastAgentMessage: 'Done.',
  });
  assert.deepEqual(turnEnd(said, { how: 'failed', stopReason: 'end_turn', errorCode: 'exhausted' }), {
    type: 'turn_aborted',
    turnId: 'turn-1',
    kind: 'regular',
    origin: { type: 'user' },
    errorCode: 'exhausted',
    reason: 'failed',
  });
});

test('Esc is not a failure', () => {
  assert.deepEqual(
    [outcomeOf({ type: 'aborted' }), failureOf({ type: 'aborted' })],
    ['interrupted', undefined],
  );
});
