// The summary of a compaction: who writes it without a model, and the message that carries it.

import { textOfParts } from '../protocol/item.ts';
import type { MessageItem } from '../protocol/item.ts';
import { summaryText } from '../history/shadow.ts';
import type { CountText } from '../tokens/estimate.ts';
import type { Trail } from '../trail/trail.ts';
import { writeSummary } from '../trail/write.ts';
import type { Summary } from '../trail/write.ts';

/** Said after the summary of an automatic compaction. @source seed 001 §5. */
const CONTINUE_SENTENCE =
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

/** How a summary is told. */
export interface SummaryTelling {
  /** First line, by which the agent that goes on recognises a summary: `SUMMARY_PREFIX`, or its own. */
  readonly prefix: string;
  /** Whether the continue-without-asking sentence follows: for automatic compactions. @source seed 001 §5. */
  readonly continuesWithoutAsking: boolean;
}

/** The summary as the user message that the next model reads. @source seed 001 §5. */
export function summaryMessage(summary: string, telling: SummaryTelling): MessageItem {
  const text = summaryText(telling.prefix, cleanSummary(summary));
  return {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: telling.continuesWithoutAsking ? `${text}\n${CONTINUE_SENTENCE}` : text },
    ],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    origin: { author: 'harness' },
  };
}

/** The embedded summarizer over a trail, as a compaction asks for it. Deterministic; needs no model. */
export function embeddedSummarizer(
  trail: Trail,
  count: CountText,
): (budget: number, preserved: readonly MessageItem[]) => Summary {
  return (budgetTokens, preserved) =>
    writeSummary(trail, {
      budgetTokens,
      count,
      preserved: preserved.map(({ content }) => textOfParts(content)),
    });
}
