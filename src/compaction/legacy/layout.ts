// The history that the legacy compaction leaves: initial context, the user's own messages, the summary. Pure.

import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { MessageItem } from '../../protocol/item.ts';
import { DEFAULT_SUMMARY_TOKENS } from '../../summary/write.ts';
import { LEAST_SUMMARY_TOKENS } from '../budget.ts';
import { measureParts, refuse, worthwhileTokens } from '../full/full.ts';
import type { FullPlan, FullRefusal, FullRequest, Layout } from '../full/request.ts';
import { contextTokens } from '../measure.ts';
import { preserveUserMessages } from '../full/preserve.ts';

/**
 * Settles what stays in the legacy compaction and how much room is left for its summary: no boundary, no restored files, no
 * plan. The user's messages have their whole limit, but for half of the room where a target is small.
 * @source rawr-behaviour §11.2
 */
export function planLegacy(asked: FullRequest): FullPlan | FullRefusal {
  const request = { ...asked, files: [], state: asked.pins ?? [], summaryPrefix: CODEX_SUMMARY_PREFIX };
  const { entries, targetTokens = Infinity, summaryLimit = DEFAULT_SUMMARY_TOKENS } = request;
  const preTokens = contextTokens(entries, request.measure);
  const { initialContext, givenAgain, ghosts, tokens: parts } = measureParts(request, LEGACY_LAYOUT);
  const sizes = { preTokens, givenAgain, worthwhile: request.worthwhile };
  const target = Math.min(targetTokens, worthwhileTokens(sizes));
  const room = target - parts.fixed;
  if (room < LEAST_SUMMARY_TOKENS) return refuse(sizes, parts.fixed + LEAST_SUMMARY_TOKENS, parts);
  const kept = Math.min(request.userMessageLimit, room - Math.min(summaryLimit, Math.floor(room / 2)));
  const preserved = preserveUserMessages(entries, kept, request.count);
  const left = room - preserved.tokens;
  return {
    outcome: 'planned',
    request,
    ...sizes,
    target,
    summaryTokens: asked.targetTokens === undefined ? Math.min(summaryLimit, left) : left,
    preserved,
    frame: { initialContext, files: [], state: request.state, preserved, ghosts },
    layout: LEGACY_LAYOUT,
    files: [],
    parts,
  };
}

const LEGACY_LAYOUT: Layout = {
  carry: (summary) => summaryOf(summary),
  arrange: ({ initialContext, state, preserved, ghosts }, _, summary) => [
    ...initialContext.map(({ value }) => value),
    ...state,
    ...preserved.items,
    summary,
    ...ghosts.map(({ value }) => value),
  ],
  isFiltered: false,
};

/** The plan with all that is left in one message, for a summary that says nothing. @source seed 002, the bridge message */
export function withBridge(plan: FullPlan): FullPlan {
  const texts = plan.preserved.items.map(({ content }) => textOfParts(content));
  const words = texts.length === 0 ? '(none)' : texts.join('\n\n');
  return {
    ...plan,
    // The words stand in the bridge, not beside it.
    frame: { ...plan.frame, preserved: { ...plan.preserved, entries: [], items: [], tokens: 0 } },
    layout: {
      ...LEGACY_LAYOUT,
      carry: (summary) => summaryOf(`${summary}\n\nWhat the user has said so far:\n\n${words}`),
      arrange: ({ initialContext, state, ghosts }, _, bridge) => [
        ...initialContext.map(({ value }) => value),
        ...state,
        bridge,
        ...ghosts.map(({ value }) => value),
      ],
    },
  };
}

/** A summary as Codex writes its own, by which Codex knows it again. @source codex-behaviour §4.2 */
function summaryOf(text: string): MessageItem {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: `${CODEX_SUMMARY_PREFIX}\n${text.trim()}` }],
    isCompactSummary: true,
    origin: { author: 'harness' },
  };
}
