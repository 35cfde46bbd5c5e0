// The readable stand-in for a provider's own compaction, which nobody else can read.

import { withoutTags } from '../protocol/enclosed.ts';
import { SUMMARY_INTRODUCTION } from '../protocol/marker.ts';
import type { CompactionItem, Item, MessageItem } from '../protocol/item.ts';
import { SUMMARY_PREFIX } from './filter.ts';

/**
 * The text of Baton's summary message. It has the user's role and quotes tool results, so tags of authority lose their brackets.
 * @param prefix by which the resuming agent recognises a summary
 * @source seed 001 §5
 */
export function summaryText(prefix: string, summary: string): string {
  return `${prefix}\n${SUMMARY_INTRODUCTION}\n${withoutTags(summary)}`;
}

/** The shadow of a compaction as a summary for a model; undefined without a shadow. */
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

/** A history for readers without access to a provider's state: compactions by their shadows, those without one unchanged. */
export function inWords(items: readonly Item[]): readonly Item[] {
  return items.map((item) => (item.type === 'compaction' ? (shadowMessage(item) ?? item) : item));
}

/**
 * A history whose compactions all have a shadow. @param words returns the text for one without a shadow; called at most once
 */
export function withShadows(items: readonly Item[], words: () => string): readonly Item[] {
  if (!items.some(isBare)) return items;
  const shadow = words();
  return items.map((item) => (isBare(item) ? { ...item, shadow } : item));
}

function isBare(item: Item): item is CompactionItem {
  return item.type === 'compaction' && item.shadow === undefined;
}
