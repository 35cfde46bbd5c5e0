// The turns of a thread: the kind of task each one is, and who started it.

import type { SessionEvent } from './wire/event.ts';

export type { TaskKind } from '../vocabulary.ts';

/**
 * Who started a turn. `user`: the user, with the id of a message that the watcher delivered, or without an id if the
 * turn came another way. `watcher`: an effect of the watcher, with its number. Only this field tells synthetic turns
 * from real ones, never a text.
 */
export type TurnOrigin =
  | { readonly type: 'user'; readonly messageId?: string }
  | { readonly type: 'watcher'; readonly number: number };

/** The origin of a turn as events carry it. */
export function wireOrigin(origin: TurnOrigin): Extract<SessionEvent, { type: 'turn_started' }>['origin'] {
  if (origin.type === 'watcher') return { type: 'watcher', number: origin.number };
  return { type: 'user', ...(origin.messageId === undefined ? {} : { message_id: origin.messageId }) };
}
