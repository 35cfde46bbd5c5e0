// The message that carries a summary over a compaction.

import type { MessageItem } from '../protocol/item.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';

/** Said after the summary of an automatic compaction. @source seed 001 §5. */
export const CONTINUE_SENTENCE =
  'Please continue the conversation from where we left it off without asking the user any further questions. ' +
  'Continue with the last task that you were asked to work on.';

/**
 * A summarizer's answer as plain text: analysis and summary tags become headings, runs of blank lines collapse.
 * @source seed 001 §5 `cleanup_summary_tags`
 */
export function cleanSummary(raw: string): string {
  return replaceTag(replaceTag(raw, 'analysis', 'Analysis:'), 'summary', 'Summary:')
    .replaceAll(/\n\n\n*/g, '\n\n')
    .trim();
}

function replaceTag(text: string, tag: string, heading: string): string {
  const open = text.indexOf(`<${tag}>`);
  const close = text.lastIndexOf(`</${tag}>`);
  if (open === -1 || close < open) return text;
  const body = text.slice(open + tag.length + 2, close).trim();
  return `${text.slice(0, open)}${heading}\n${body}${text.slice(close + tag.length + 3)}`;
}

/** The summary as the user message that the next model reads. @source seed 001 §5. */
export function summaryMessage(summary: string, continueWithoutAsking: boolean): MessageItem {
  const text = `${SUMMARY_PREFIX}\nThe conversation is summarized below:\n${cleanSummary(summary)}`;
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: continueWithoutAsking ? `${text}\n${CONTINUE_SENTENCE}` : text }],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    origin: { author: 'harness' },
  };
}
