// The user's own words that a compaction keeps verbatim.

import { textOfParts } from '../protocol/item.ts';
import type { Item, MessageItem, Part } from '../protocol/item.ts';
import type { Entry } from '../history/project.ts';
import { isUserMessage } from '../history/filter.ts';
import { cutMiddle } from '../tokens/cut.ts';
import type { CountText } from '../tokens/estimate.ts';

/** User messages chosen to stay, oldest first. */
export interface Preserved {
  readonly entries: readonly Entry<Item>[];
  /** The messages as they stay: the oldest of them may be cut in the middle. */
  readonly items: readonly MessageItem[];
  readonly tokens: number;
  /** How many user messages did not fit at all. */
  readonly left: number;
}

/** Cut messages shorter than this say nothing; they are left out instead. */
const LEAST_USEFUL_TOKENS = 24;

/**
 * Chooses user messages newest first until the budget is spent. The first that does not fit is cut in the middle at
 * character boundaries, and the ones before it are left to the summary.
 * @param budget tokens by `count`, per-message overhead not included
 * @source seed 000 "What compaction does", Codex's 20,000-token rule (codex-behaviour §4.2)
 */
export function preserveUserMessages(
  entries: readonly Entry<Item>[],
  budget: number,
  count: CountText,
): Preserved {
  const kept: { entry: Entry<Item>; item: MessageItem; tokens: number }[] = [];
  const candidates = entries.filter(({ value }) => isUserMessage(value)).toReversed();
  let left = budget;
  for (const entry of candidates) {
    const item = entry.value as MessageItem;
    const text = textOfParts(item.content);
    const tokens = count(text);
    if (tokens <= left) {
      kept.push({ entry, item: withoutImages(item), tokens });
      left -= tokens;
      continue;
    }
    const cut = left >= LEAST_USEFUL_TOKENS ? cutMiddle(text, left, count) : undefined;
    if (cut !== undefined) {
      kept.push({
        entry,
        item: { ...item, content: [{ type: 'input_text', text: cut }] },
        tokens: count(cut),
      });
    }
    break;
  }
  kept.reverse();
  return {
    entries: kept.map(({ entry }) => entry),
    items: kept.map(({ item }) => item),
    tokens: kept.reduce((sum, { tokens }) => sum + tokens, 0),
    left: candidates.length - kept.length,
  };
}

/** Images of old messages are dropped: one costs as much as a page of the user's words. */
function withoutImages(item: MessageItem): MessageItem {
  if (!item.content.some((part) => part.type === 'input_image')) return item;
  const content = item.content.map((part): Part =>
    part.type === 'input_image' ? { type: 'input_text', text: '[image]' } : part,
  );
  return { ...item, content };
}
