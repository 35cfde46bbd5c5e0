// Keeps what is told, and fails the test when it is not what the protocol says.

import assert from 'node:assert/strict';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { parseEvent } from '../../src/protocol/wire/parse.ts';

/** Everything that was told, and who takes it. */
export interface RecordingEmitter<Event extends SessionEvent> {
  readonly events: readonly Event[];
  readonly emit: (event: Event) => void;
}

/**
 * Takes events and holds each against its schema, as it would be on the wire: with no field too much, none undefined, and none
 * that JSON cannot hold.
 */
export function recordingEmitter<Event extends SessionEvent = SessionEvent>(): RecordingEmitter<Event> {
  const events: Event[] = [];
  return {
    events,
    emit: (event) => {
      assertOnWire(event);
      events.push(event);
    },
  };
}

/** Never a `BatonError`, which what is tested may take for a failure of its own. */
function assertOnWire(event: SessionEvent): void {
  let read: unknown;
  try {
    read = parseEvent(JSON.stringify(event));
  } catch (error) {
    assert.fail(error instanceof Error ? error.message : String(error));
  }
  assert.deepEqual(read, event, `${event.type} is not what its schema says`);
}
