// What stands for a provider's own compaction where that cannot be read.

import { withoutTags } from '../protocol/enclosed.ts';
import type { CompactionItem, Item, MessageItem } from '../protocol/item.ts';
import { SUMMARY_PREFIX } from './filter.ts';

/**
 * The text of a summary message of Baton's. It stands in the user's role and quotes results of tools, so no tag of authority stays
 * one.
 * @param prefix by which whoever goes on recognises a summary
 * @source seed 001 §5
 */
export function summaryText(prefix: string, summary: string): string {
  return `${prefix}\nThe conversation is summarized below:\n${withoutTags(summary)}`;
}

/** The shadow of a compaction as the summary that a model reads, or undefined where it has none. */
export function shadowMessage({ shadow }: CompactionItem): MessageItem | undefined {
  if (shadow === undefined || shadow.trim() === '') return undefined;
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: summaryText(SUMMARY_PREFIX, shadow) }],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    origin: { author: 'harness' },
  };
}

/** A history for whoever can read no provider's state: compactions by their shadows, those without one as they are. */
export function inWords(items: readonly Item[]): readonly Item[] {
  return items.map((item) => (item.type === 'compaction' ? (shadowMessage(item) ?? item) : item));
}

/** A history whose compactions all have a shadow. @param words what to say for one that has none; asked at most once */
export function withShadows(items: readonly Item[], words: () => string): readonly Item[] {
  if (!items.some(isBare)) return items;
  const shadow = words();
  return items.map((item) => (isBare(item) ? { ...item, shadow } : item));
}

function isBare(item: Item): item is CompactionItem {
  return item.type === 'compaction' && item.shadow === undefined;
}
