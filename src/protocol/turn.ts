// The turns of a thread: what kind of task each is, and who started it.

import type { SessionEvent } from './wire/event.ts';

export type { TaskKind } from '../vocabulary.ts';

/**
 * Who started a turn. `user`: the user, with the id of a message that the watcher delivered, or without one where the
 * turn came by another way. `watcher`: an effect of the watcher, by its number. Only this tells synthetic turns from
 * real ones, never a text.
 */
export type TurnOrigin =
  | { readonly type: 'user'; readonly messageId?: string }
  | { readonly type: 'watcher'; readonly number: number };

/** The origin of a turn as events tell it. */
export function wireOrigin(origin: TurnOrigin): Extract<SessionEvent, { type: 'turn_started' }>['origin'] {
  if (origin.type === 'watcher') return { type: 'watcher', number: origin.number };
  return { type: 'user', ...(origin.messageId === undefined ? {} : { message_id: origin.messageId }) };
}
