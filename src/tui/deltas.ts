// Deltas on their way to the terminal. A model streams hundreds of them a second, and the terminal draws thirty frames: what falls
// into one frame travels as one delta. Pure.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { EventNamed } from './channel.ts';

/** A part of a text that grows. */
export type Delta = EventNamed<'agent_message_delta' | 'agent_reasoning_delta' | 'exec_command_output_delta'>;

/** Whether an event may wait for the next frame: it is a part of a text that grows. */
export function isDelta(event: SessionEvent): event is Delta {
  return (
    event.type === 'agent_message_delta' ||
    event.type === 'agent_reasoning_delta' ||
    event.type === 'exec_command_output_delta'
  );
}

/** One delta instead of two that follow each other; undefined: they belong to different texts. */
export function joined(first: Delta, second: Delta): Delta | undefined {
  if (first.type !== second.type || first.thread_id !== second.thread_id) return undefined;
  const isSame =
    'call_id' in first
      ? 'call_id' in second && first.call_id === second.call_id
      : 'id' in first && 'id' in second && first.id === second.id;
  return isSame ? { ...first, delta: first.delta + second.delta } : undefined;
}
