// The turns of a thread: what kind of task each is, and who started it.

/** What kind of task a turn is. `shell`: a `!` line of the user, which no model sees. @source spec 4-session §1. */
export type TaskKind = 'regular' | 'shell' | 'compact' | 'review';

/**
 * Who started a turn. `user`: the user, with the id of a message that the watcher delivered, or without one where the
 * turn came by another way. `watcher`: an effect of the watcher, by its number. Only this tells synthetic turns from
 * real ones, never a text.
 */
export type TurnOrigin =
  | { readonly type: 'user'; readonly messageId?: string }
  | { readonly type: 'watcher'; readonly number: number };
