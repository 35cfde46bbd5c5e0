// The user's own words that a compaction keeps verbatim.

import { textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem, Part } from '../../protocol/item.ts';
import type { Entry } from '../../history/project.ts';
import { isMessageContext, isUserMessage } from '../../history/filter.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { MESSAGE_OVERHEAD } from '../budget.ts';

/** User messages chosen to stay, oldest first. */
export interface Preserved {
  readonly entries: readonly Entry<Item>[];
  /** The messages as they stay: the oldest of them may be cut in the middle. */
  readonly items: readonly MessageItem[];
  /** By the counter they were chosen with, the overhead of each message included. */
  readonly tokens: number;
  /** How many user messages did not fit at all. */
  readonly left: number;
}

/** Cut messages shorter than this say nothing; they are left out instead. */
const LEAST_USEFUL_TOKENS = 24;

/**
 * Chooses user messages newest first until the budget is spent. The first that does not fit is cut in the middle at
 * character boundaries, and the ones before it are left to the summary.
 * @param budget tokens by `count`, the overhead of each message included
 * @source seed 000 "What compaction does", Codex's 20,000-token rule (codex-behaviour §4.2)
 */
export function preserveUserMessages(
  entries: readonly Entry<Item>[],
  budget: number,
  count: CountText,
): Preserved {
  const kept: { entry: Entry<Item>; item: MessageItem; tokens: number }[] = [];
  const candidates = entries
    .filter(({ value }) => isUserMessage(value) || isMessageContext(value))
    .toReversed();
  let left = budget;
  for (const entry of candidates) {
    const item = withoutImages(entry.value as MessageItem);
    const tokens = messageTokens(item, count);
    if (tokens <= left) {
      kept.push({ entry, item, tokens });
      left -= tokens;
      continue;
    }
    const room = left - MESSAGE_OVERHEAD;
    const cut = room >= LEAST_USEFUL_TOKENS ? cutMiddle(textOfParts(item.content), room, count) : undefined;
    if (cut !== undefined) {
      const shortened: MessageItem = { ...item, content: [{ type: 'input_text', text: cut }] };
      kept.push({ entry, item: shortened, tokens: messageTokens(shortened, count) });
    }
    break;
  }
  kept.reverse();
  return {
    entries: kept.map(({ entry }) => entry),
    items: kept.map(({ item }) => item),
    tokens: kept.reduce((sum, { tokens }) => sum + tokens, 0),
    left: countUsers(candidates) - countUsers(kept.map(({ entry }) => entry)),
  };
}

function countUsers(entries: readonly Entry<Item>[]): number {
  return entries.filter(({ value }) => isUserMessage(value)).length;
}

function messageTokens(item: MessageItem, count: CountText): number {
  return sumTokens(itemTokens(item, count)) + MESSAGE_OVERHEAD;
}

/** Images of old messages are dropped: one costs as much as a page of the user's words. */
function withoutImages(item: MessageItem): MessageItem {
  if (!item.content.some((part) => part.type === 'input_image')) return item;
  const content = item.content.map((part): Part =>
    part.type === 'input_image' ? { type: 'input_text', text: '[image]' } : part,
  );
  return { ...item, content };
}
