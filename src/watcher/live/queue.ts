// The user's message queue, and how it survives a crash: its limits, and the notes of the watcher's state. The log gets a note for
// each change, so a text inside each note would be written a hundred times.

import { BatonError } from '../../errors.ts';
import type { JsonObject } from '../../protocol/item.ts';
import type { UserMessage, WatcherState } from '../state.ts';

/** A change of the queue that the user requests. */
export type QueueRevision =
  | { readonly type: 'edit'; readonly id: string; readonly text: string }
  | { readonly type: 'remove'; readonly id: string }
  /** Moves it to the end if `before` is undefined. */
  | { readonly type: 'move'; readonly id: string; readonly before: string | undefined };

/** Maximum number of waiting messages. @source docs/decisions/ops.md, "The queue has an end" */
const MOST_QUEUED = 100;

/** Maximum number of waiting characters, except for a single message. @source the longest line of `baton serve` */
const MOST_QUEUED_CHARACTERS = 4 * 1024 * 1024;

/** Characters above which a text gets a separate note. @source docs/decisions/ops.md, "The queue has an end" */
const LONGEST_INLINE = 500;

/**
 * Checks that a message may join the queue.
 * @throws BatonError `queue_full`
 */
export function requireRoom(waiting: readonly UserMessage[], { text }: UserMessage): void {
  const characters = waiting.reduce((sum, message) => sum + message.text.length, 0);
  const isFull = waiting.length > 0 && characters + text.length > MOST_QUEUED_CHARACTERS;
  if (waiting.length < MOST_QUEUED && !isFull) return;
  throw new BatonError(
    'queue_full',
    `${waiting.length} messages are already waiting, so this one was rejected`,
    {
      cure: `At most ${MOST_QUEUED} messages of ${MOST_QUEUED_CHARACTERS} characters in total may wait: send it again when a turn has ended.`,
      data: { waiting: waiting.length, most: MOST_QUEUED },
    },
  );
}

/**
 * The queue after a change that the user requests.
 * @throws BatonError `op_invalid` if a message that the change names is not in the queue; `queue_full`
 */
export function revisedQueue(queue: readonly UserMessage[], revision: QueueRevision): readonly UserMessage[] {
  const { id } = revision;
  const message = requireWaiting(queue, id);
  const others = queue.filter((each) => each !== message);
  switch (revision.type) {
    case 'remove':
      return others;
    case 'edit': {
      const edited = { ...message, text: revision.text };
      requireRoom(others, edited);
      return queue.map((each) => (each === message ? edited : each));
    }
    case 'move': {
      if (revision.before === undefined) return [...others, message];
      const next = requireWaiting(queue, revision.before);
      return next === message ? queue : others.flatMap((each) => (each === next ? [message, each] : [each]));
    }
  }
}

function requireWaiting(queue: readonly UserMessage[], id: string): UserMessage {
  const found = queue.find((message) => message.id === id);
  if (found !== undefined) return found;
  throw new BatonError('op_invalid', `The message ${JSON.stringify(id)} is not waiting in the queue`, {
    cure: 'Its turn may have begun: steer that turn or interrupt it. The newest queue_changed lists what waits.',
    data: { key: 'id' },
  });
}

/** Whether two queues hold the same messages with the same texts, in the same order. */
export function isSameQueue(one: readonly UserMessage[], other: readonly UserMessage[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ id, text }, index) => id === other[index]?.id && text === other[index].text)
  );
}

/**
 * Whether a crash would lose something, so that the new state needs a note. A resume forgets which turn runs and that the thread was
 * closed; decisions have separate notes.
 */
export function isWorthANote(before: WatcherState, after: WatcherState): boolean {
  if (before.stage !== after.stage || before.memory.queue !== after.memory.queue) return true;
  return durableMemory(before) !== durableMemory(after);
}

function durableMemory({ memory }: WatcherState): string {
  return JSON.stringify({ ...memory, queue: 0, turn: 0, nextNumber: 0, isShutDown: 0 });
}

/** Messages of a state whose texts have separate notes. */
export function longMessages(state: WatcherState): readonly UserMessage[] {
  return messagesOf(state).filter(({ text }) => text.length > LONGEST_INLINE);
}

/** A state for its note: messages whose texts have separate notes are reduced to their ids. */
export function stateNote(state: WatcherState): JsonObject {
  const { queue, delivering } = state.memory;
  const shortened = (message: UserMessage): object =>
    message.text.length > LONGEST_INLINE ? { id: message.id } : message;
  return {
    ...state,
    memory: {
      ...state.memory,
      queue: queue.map(shortened),
      ...(delivering === undefined ? {} : { delivering: shortened(delivering) }),
    },
  } as unknown as JsonObject;
}

/** The ids of the messages that a noted state names. */
export function notedIds({ memory }: WatcherState): ReadonlySet<string> {
  return new Set([memory.delivering, ...memory.queue].flatMap((message) => message?.id ?? []));
}

/** A noted state with the texts of its messages; messages with unknown texts are dropped. */
export function withTexts(
  state: WatcherState,
  texts: ReadonlyMap<string, string>,
): { readonly state: WatcherState; readonly lostMessages: number } {
  const whole = (message: Partial<UserMessage>): UserMessage[] => {
    const { id = '', text = texts.get(id) } = message;
    return text === undefined ? [] : [{ ...message, id, text }];
  };
  const queue = state.memory.queue.flatMap(whole);
  const { delivering } = state.memory;
  const delivered = delivering === undefined ? [] : whole(delivering);
  return {
    state: { ...state, memory: { ...state.memory, queue, delivering: delivered[0] } },
    lostMessages: messagesOf(state).length - queue.length - delivered.length,
  };
}

function messagesOf({ memory: { queue, delivering } }: WatcherState): readonly UserMessage[] {
  return delivering === undefined ? queue : [delivering, ...queue];
}
