// What the scrollback says where something broke off.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { CANVASES, StoryScreen } from '../support/chat-frames.ts';

const TURN = { turn_id: 'turn-1', task_kind: 'regular', origin: { type: 'user' } } as const;

function delta(text: string): SessionEvent {
  return { type: 'agent_message_delta', id: 'message-1', turn_id: 'turn-1', delta: text };
}

/** The scrollback after some events. */
function printed(...events: readonly SessionEvent[]): string {
  const screen = new StoryScreen(CANVASES.usual);
  return events.flatMap((event) => screen.take(event)).join('\n');
}

const BROKEN: SessionEvent = { type: 'stream_error', message: 'The connection was lost.' };

test('an answer that begins again says so if a part of it is in the scrollback already', () => {
  const begun = printed(
    { type: 'turn_started', ...TURN },
    delta('The wick.\n\nThe'),
    BROKEN,
    delta('Anew.\n\n'),
  );
  assert.match(
    begun,
    /The wick\.[\s\S]*warning: The connection was lost\. The answer begins again below\.[\s\S]*Anew\./,
  );
  const unseen = printed({ type: 'turn_started', ...TURN }, delta('The'), BROKEN, delta('Anew.\n\n'));
  assert.doesNotMatch(unseen, /The |warning/);
});

test('an interrupted turn keeps what was said', () => {
  const kept = printed({ type: 'turn_started', ...TURN }, delta('The wick'), {
    type: 'turn_aborted',
    ...TURN,
    answers: [],
    error_code: null,
    reason: 'interrupted',
  });
  assert.match(kept, /The wick\n[\s\S]*Interrupted\./);
});

test('a thread that could not be opened is reported', () => {
  const failed = printed({ type: 'thread_failed', request_id: null, code: 'x', message: 'It is locked.' });
  assert.match(failed, /error: It is locked\./);
});
