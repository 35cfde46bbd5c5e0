// The threads of the process and the one on the screen. Pure.

import type { SessionEvent } from '../protocol/wire/event.ts';
import { EMPTY_CHAT, takeEvent } from './chat/chat.ts';
import type { Chat } from './chat/chat.ts';

/** All threads. */
export interface Threads {
  /** The thread on the screen; undefined before the first. */
  readonly shown: string | undefined;
  readonly chats: ReadonlyMap<string, Chat>;
  /** What concerns no thread, before the first one is there. */
  readonly early: Chat;
}

export const NO_THREADS: Threads = { shown: undefined, chats: new Map(), early: EMPTY_CHAT };

/** The chat on the screen. */
export function shownChat({ shown, chats, early }: Threads): Chat {
  return (shown === undefined ? undefined : chats.get(shown)) ?? early;
}

/** Replaces the chat on the screen. */
export function withShown(threads: Threads, chat: Chat): Threads {
  const { shown, chats } = threads;
  if (shown === undefined) return { ...threads, early: chat };
  return { ...threads, chats: new Map(chats).set(shown, chat) };
}

/**
 * Takes an event of any thread; a thread that opens comes to the screen.
 * @param now milliseconds since 1970
 */
export function takeThreadEvent(threads: Threads, event: SessionEvent, now: number): Threads {
  const id = event.thread_id ?? threads.shown;
  if (id === undefined) return { ...threads, early: takeEvent(threads.early, event, now) };
  const isFirst = threads.shown === undefined;
  const before = threads.chats.get(id) ?? (isFirst ? threads.early : EMPTY_CHAT);
  const chats = new Map(threads.chats).set(id, takeEvent(before, event, now));
  if (event.type === 'shutdown_complete') chats.delete(id);
  const shown = isFirst || event.type === 'thread_opened' ? id : threads.shown;
  return { ...threads, chats, shown };
}
