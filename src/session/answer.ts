// A model's answer as it streams in.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Item } from '../protocol/item.ts';
import type { ModelEvent, ModelUsage } from '../protocol/model.ts';
import type { StopReason } from '../vocabulary.ts';
import { receivedItem } from './received.ts';
import { agentTextOf } from './thread-state.ts';

/** Assembles an answer; only a complete one is ever recorded. */
export class AnswerSoFar {
  #items: Item[] = [];
  #usage: ModelUsage | undefined;
  stopReason: StopReason = 'end_turn';

  accept(event: ModelEvent): void {
    if (event.type === 'item_done') this.#accept(receivedItem(event.item));
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'completed') this.stopReason = event.stopReason;
    else if (event.type === 'restarted') [this.#items, this.#usage] = [[], undefined];
  }

  #accept(item: Item | undefined): void {
    if (item !== undefined) this.#items.push(item);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Number of the agent's complete messages. */
  get messages(): number {
    return this.#items.filter((item) => agentTextOf(item) !== undefined).length;
  }

  get usage(): ModelUsage | undefined {
    return this.#usage;
  }
}

/** What a client displays of an answer as it streams in. */
export function shownOf(
  event: ModelEvent,
  { turnId, messageId, reasoningId }: AnswerNames,
): SessionEvent | undefined {
  switch (event.type) {
    case 'text_delta':
      return { type: 'agent_message_delta', id: messageId, turn_id: turnId, delta: event.text };
    case 'reasoning_delta':
      return { type: 'agent_reasoning_delta', id: reasoningId, turn_id: turnId, delta: event.text };
    case 'restarted': {
      const message = `Reconnecting… ${event.retry}/${event.maxRetries} (${event.why})`;
      return { type: 'stream_error', message };
    }
    default:
      return undefined;
  }
}

/** The ids of the parts of a streaming answer. */
export interface AnswerNames {
  readonly turnId: string;
  /** Id of the present message. */
  readonly messageId: string;
  readonly reasoningId: string;
}
