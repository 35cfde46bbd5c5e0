// Tier 2: the history is replaced by a summary, the restored context and the user's own words. Pure: the summary comes
// from a function, files were read before, clock and ids are parameters.

import { filterForSummary, initialContextRange } from '../../history/filter.ts';
import type { Item } from '../../protocol/item.ts';
import type { TokensByCategory } from '../../protocol/receipt.ts';
import { DEFAULT_SUMMARY_TOKENS } from '../../summary/write.ts';
import { addTokens, sumTokens } from '../../tokens/estimate.ts';
import type { Category } from '../../vocabulary.ts';
import { MESSAGE_OVERHEAD, shareOut, targetForSummary, WORTHWHILE_SHARE } from '../budget.ts';
import { contextTokens, itemsTokens } from '../measure.ts';
import type { Measure } from '../measure.ts';
import { preserveUserMessages } from './preserve.ts';
import { writeReceipt } from './receipt.ts';
import { EMBEDDED } from './request.ts';
import type {
  Authorship,
  Fate,
  FullPlan,
  FullRefusal,
  FullRequest,
  FullResult,
  Layout,
  SizesBefore,
  Summarise,
  SummaryDraft,
  SummaryFrame,
} from './request.ts';
import { chooseRestored } from './restore.ts';
import { summaryMessage } from './summary.ts';
import type { SummaryWording } from './summary.ts';

/** Attempts at a summary that lets the whole fit; each asks for less by what the last one was over. */
const MOST_SUMMARY_ATTEMPTS = 4;

/** Settles what stays and how much room is left for a summary. */
export function planFull(asked: FullRequest): FullPlan | FullRefusal {
  const request = { ...asked, state: [...(asked.pins ?? []), ...asked.state] };
  const { entries, targetTokens = Infinity } = request;
  const preTokens = contextTokens(entries, request.measure);
  const layout = standardLayout(request);
  const parts = measureParts(request, layout);
  const sizes = { preTokens, givenAgain: parts.givenAgain, worthwhile: request.worthwhile };
  const limit = request.summaryLimit ?? DEFAULT_SUMMARY_TOKENS;
  const target = Math.min(targetTokens, worthwhileTokens(sizes));
  const budget = shareOut({
    window: request.window,
    userMessageLimit: request.userMessageLimit,
    summaryLimit: request.targetTokens === undefined ? limit : Infinity,
    ...parts.tokens,
    target,
  });
  if (!budget.fits) return refuse(sizes, budget.least, parts.tokens);
  const preserved = preserveUserMessages(entries, budget.userMessages, request.count);
  const files = chooseRestored(request.files, budget.files);
  return {
    outcome: 'planned',
    request,
    ...sizes,
    target,
    summaryTokens: budget.summary,
    preserved,
    frame: {
      initialContext: parts.initialContext,
      files: files.items,
      state: request.state,
      preserved,
      ghosts: parts.ghosts,
    },
    layout,
    files: files.restored,
    parts: parts.tokens,
  };
}

/**
 * Carries a plan out. The result fits the target by `count`, has no broken pair, and is smaller than the input by a
 * quarter at least.
 */
export function carryOut(plan: FullPlan, summarise: Summarise, author: Authorship): FullResult {
  const { request, preTokens, preserved } = plan;
  const boundary = boundaryItem(request, preTokens, author);
  const written = writeFitting(plan, boundary, summarise);
  if (!written.fits) {
    return refuse(plan, targetForSummary(plan.parts.fixed, written.leastTokens), plan.parts);
  }
  const { items, draft } = written;
  const postTokens = itemsTokens(items, request.measure);
  const fates = decideFates(plan);
  const receipt = writeReceipt({ plan, author, fates, postTokens, written });
  return {
    outcome: 'compacted',
    record: {
      type: 'compacted',
      id: request.id,
      at: request.at,
      trigger: request.trigger,
      phase: request.phase,
      preTokens,
      postTokens,
      replacement: items,
      summary: draft.text,
      receipt,
    },
    fates,
    preserved,
  };
}

/** Compacts a history without a model. */
export function compactFully(request: FullRequest, summarise: Summarise): FullResult {
  const plan = planFull(request);
  return plan.outcome === 'planned' ? carryOut(plan, summarise, EMBEDDED) : plan;
}

/** The largest size of what is written that makes a compaction worth the change. Negative where none does. */
export function worthwhileTokens({ preTokens, givenAgain, worthwhile = Infinity }: SizesBefore): number {
  return Math.min(Math.floor(preTokens * WORTHWHILE_SHARE), worthwhile) - givenAgain;
}

/** Why a target that needs at least so much cannot be met, or is not worth meeting. */
export function refuse(
  sizes: SizesBefore,
  leastTarget: number,
  parts: Readonly<Record<string, number>>,
): FullRefusal {
  return leastTarget > worthwhileTokens(sizes)
    ? { outcome: 'nothing_to_compact', preTokens: sizes.preTokens }
    : { outcome: 'cannot_fit', leastTarget, parts };
}

/** The parts that are there before a summary is, and their tokens. */
export function measureParts(request: FullRequest, { carry }: Layout) {
  const { entries } = request;
  const range = initialContextRange(entries.map(({ value }) => value));
  const atStart = entries.slice(range.from, range.to);
  const initialContext = request.leavesInitialContext ? [] : atStart;
  const ghosts = entries.filter(({ value }) => value.type === 'ghost_snapshot');
  const everyUserMessage = preserveUserMessages(entries, Infinity, request.count);
  return {
    initialContext,
    givenAgain:
      request.leavesInitialContext && request.isWrittenAlone !== true
        ? contextTokens(atStart, request.measure)
        : 0,
    ghosts,
    tokens: {
      fixed:
        contextTokens(initialContext, request.measure) +
        itemsTokens([...request.state, carry('')], request.measure) +
        (request.reserve ?? 0),
      userMessages: everyUserMessage.tokens,
      files: request.files.reduce((sum, { tokens }) => sum + tokens + MESSAGE_OVERHEAD, 0),
    },
  };
}

type FittedContext =
  | {
      readonly fits: true;
      readonly items: readonly Item[];
      readonly draft: SummaryDraft;
      readonly summaryTokens: number;
    }
  /** `leastTokens` is the size of the smallest summary that came. */
  | { readonly fits: false; readonly leastTokens: number };

function writeFitting(plan: FullPlan, boundary: Item, summarise: Summarise): FittedContext {
  const { request, frame, layout, target } = plan;
  let budget = plan.summaryTokens;
  let leastTokens = Infinity;
  for (let attempt = 0; attempt < MOST_SUMMARY_ATTEMPTS && budget > 0; attempt++) {
    const draft = summarise(budget, frame.preserved.items);
    const summary = layout.carry(draft.text);
    const items = layout.arrange(frame, boundary, summary);
    const excess = itemsTokens(items, request.measure) + (request.reserve ?? 0) - target;
    const summaryTokens = itemsTokens([summary], request.measure);
    if (excess <= 0) return { fits: true, items, draft, summaryTokens };
    leastTokens = Math.min(leastTokens, summaryTokens);
    budget -= excess + MESSAGE_OVERHEAD;
  }
  return { fits: false, leastTokens };
}

function wordingOf({ summaryPrefix, trigger, phase, isHandedOver }: FullRequest): SummaryWording {
  // Between turns the agent has finished: what it continues with is the user's next message.
  const isInterrupted = trigger === 'auto' && phase === 'mid_turn';
  return { prefix: summaryPrefix, continuesWithoutAsking: isInterrupted && isHandedOver !== true };
}

function standardLayout(request: FullRequest): Layout {
  const wording = wordingOf(request);
  return { carry: (summary) => summaryMessage(summary, wording), arrange: rebuild, isFiltered: true };
}

/** @source seed 001 §9, spec 2-engine §4.7: this order, and no other. */
function rebuild(frame: SummaryFrame, boundary: Item, summary: Item): readonly Item[] {
  return [
    ...frame.initialContext.map(({ value }) => value),
    boundary,
    summary,
    ...frame.files,
    ...frame.state,
    ...frame.preserved.items,
    ...frame.ghosts.map(({ value }) => value),
  ];
}

function boundaryItem(request: FullRequest, preTokens: number, { implementation }: Authorship): Item {
  return {
    type: 'compact_boundary',
    uuid: request.id,
    timestamp: request.at,
    trigger: request.trigger,
    reason: request.reason,
    implementation,
    preTokens,
  };
}

function decideFates({ request, frame, layout }: FullPlan): readonly Fate[] {
  const kept = new Map<number, Item>(
    [...frame.initialContext, ...frame.ghosts].map(({ seq, value }) => [seq, value]),
  );
  for (const [index, item] of frame.preserved.items.entries()) {
    const seq = frame.preserved.entries[index]?.seq;
    if (seq !== undefined) kept.set(seq, item);
  }
  const range = initialContextRange(request.entries.map(({ value }) => value));
  return filterForSummary(request.entries.map(({ value }) => value)).flatMap(({ index, reason }): Fate[] => {
    const entry = request.entries[index];
    if (entry === undefined) return [];
    const tokens = request.measure(entry.value);
    const stays = kept.get(entry.seq);
    if (stays !== undefined) {
      const left = request.measure(stays);
      const cut = difference(tokens, left);
      return [{ entry, fate: 'kept', tokens: left, ...(sumTokens(cut) === 0 ? {} : { cut }) }];
    }
    const isInitial = index >= range.from && index < range.to;
    const isSeen = layout.isFiltered ? reason === undefined : !isInitial && sumTokens(tokens) > 0;
    if (isSeen || reason === undefined) return [{ entry, fate: 'summarised', tokens }];
    return [{ entry, fate: 'dropped', why: isInitial ? 'initial_context' : reason, tokens }];
  });
}

/** What one split holds beyond another, without empty categories; the placeholder of an image counts against it. */
function difference(before: TokensByCategory, left: TokensByCategory): TokensByCategory {
  const cut: Partial<Record<Category, number>> = {};
  addTokens(cut, before);
  for (const [category, tokens] of Object.entries(left) as [Category, number][]) {
    addTokens(cut, { [category]: -tokens });
    if (cut[category] === 0) delete cut[category];
  }
  return cut;
}

/** A compacted history with one item more, behind what was restored and before the user's words. */
export function withItem(
  { record, fates, preserved }: Extract<FullResult, { outcome: 'compacted' }>,
  item: Item,
  measure: Measure,
): Extract<FullResult, { outcome: 'compacted' }> {
  const { replacement, receipt } = record;
  const summary = replacement.findIndex((each) => each.type === 'message' && each.isCompactSummary === true);
  const restored = replacement.findLastIndex(({ type }) => type === 'attachment' || type === 'compaction');
  const at = Math.max(summary, restored) + 1;
  const tokens = sumTokens(measure(item));
  const postTokens = receipt.postTokens + tokens;
  const parts = receipt.after === undefined ? {} : { after: { ...receipt.after, hooks: tokens } };
  return {
    outcome: 'compacted',
    record: {
      ...record,
      postTokens,
      replacement: replacement.toSpliced(at, 0, item),
      receipt: { ...receipt, postTokens, ...parts },
    },
    fates,
    preserved,
  };
}

/** What each item of a plan's history takes in a request, the overhead of its message included; 0 for what is not sent. */
export function requestSizes({ request: { measure } }: FullPlan): (item: Item) => number {
  return (item) => sumTokens(measure(item));
}
