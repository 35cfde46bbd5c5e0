// Tier 2: the history is replaced by a summary, the restored context and the user's own words. Pure: the summary comes
// from a function, files were read before, clock and ids are parameters.

import type { Item, MessageItem } from '../../protocol/item.ts';
import type { CompactedRecord } from '../../protocol/record.ts';
import type {
  Receipt,
  ReceiptEntry,
  RestoredFile,
  SummaryAttempt,
  TokensByCategory,
} from '../../protocol/receipt.ts';
import type { Category, Implementation, Phase, Reason, Rung, Strategy, Trigger } from '../../vocabulary.ts';
import type { Entry } from '../../history/project.ts';
import type { Hash, WithinDeadline } from '../../ports.ts';
import { filterForSummary, initialContextRange } from '../../history/filter.ts';
import type { FilterReason } from '../../history/filter.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import { addTokens, sumTokens } from '../../tokens/estimate.ts';
import type { CountText, EstimateSettings } from '../../tokens/estimate.ts';
import { formatNumber, plural } from '../../tokens/words.ts';
import { MESSAGE_OVERHEAD, shareOut, targetForSummary, WORTHWHILE_SHARE } from '../budget.ts';
import { DEFAULT_SUMMARY_TOKENS } from '../../summary/write.ts';
import { InputHash } from './input-hash.ts';
import { contextTokens, itemsTokens, largestParts, measureOnce } from '../measure.ts';
import type { Measure } from '../measure.ts';
import { preserveUserMessages } from './preserve.ts';
import type { Preserved } from './preserve.ts';
import { chooseRestored } from './restore.ts';
import type { RestorableFile } from './restore.ts';
import { countKnownSecrets } from './secrets.ts';
import { summaryMessage } from './summary.ts';
import type { SummaryTelling } from './summary.ts';

/** A summary as its author gives it. */
export interface SummaryDraft {
  readonly text: string;
  /** Known secrets that were replaced, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  /** What a receipt says of the summary besides. */
  readonly notes?: readonly string[];
  /** The rung that gave it, where that is below its author's. */
  readonly rung?: Rung;
}

/** Who wrote a summary, and what was tried before. */
export interface Authorship {
  readonly implementation: Implementation;
  readonly rung: Rung;
  /** `PROVIDER/MODEL`; absent where no model wrote it. */
  readonly model?: string;
  /** Every request to a model, in order. */
  readonly attempts: readonly SummaryAttempt[];
}

/** The summarizer that needs no model, asked first. */
export const EMBEDDED: Authorship = { implementation: 'embedded', rung: 'embedded', attempts: [] };

/** Writes a summary in at most `budget` tokens. @param preserved user messages that stay verbatim beside it */
export type Summarise = (budget: number, preserved: readonly MessageItem[]) => SummaryDraft;

/** Everything that a full compaction depends on but the summary. */
export interface FullRequest {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly strategy: Strategy;
  /** A handoff follows, which says itself how the agent goes on. */
  readonly isHandedOver?: boolean;
  /** Why it was asked for, with the numbers, as one sentence. */
  readonly why: string;
  /** What the receipt says besides, one sentence each. */
  readonly notes?: readonly string[];
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model in tokens. */
  readonly window: number;
  /** Largest size of the whole context afterwards. */
  readonly targetTokens?: number;
  /** The agent gives its initial context again by itself when the session goes on, so that keeping it doubles it. */
  readonly leavesInitialContext: boolean;
  /** Only what is written is looked at, as in an evaluation: what the agent gives again is no part of what is left. Absent: it is. */
  readonly isWrittenAlone?: true;
  /** `user_message_max_tokens`. */
  readonly userMessageLimit: number;
  /** Largest size of the summary where no target says otherwise; the embedded summarizer's unless given. */
  readonly summaryLimit?: number;
  /** Files read back from the workspace, newest first, already within their own limits. */
  readonly files: readonly RestorableFile[];
  /** Largest size of the items afterwards at which the gauge sees a compaction worth the change. Absent: the items alone decide. */
  readonly worthwhile?: number;
  /** What each request holds besides its items, before and afterwards, in tokens: instructions, tools. */
  readonly beside?: number;
  /** Room to be left for what joins the history at last, in tokens: the words of hooks. */
  readonly reserve?: number;
  /** First line of the summary message. */
  readonly summaryPrefix: string;
  /** What the user pinned, as attachments: in every layout, whatever the summary says. */
  readonly pins?: readonly Item[];
  /** Todo list and plan, as attachments. */
  readonly state: readonly Item[];
  readonly estimate: EstimateSettings;
  readonly count: CountText;
  readonly counter: Receipt['counter'];
  readonly hash: Hash;
  /** Ends a summary written without a model that takes too long. Absent: nothing does. */
  readonly within?: WithinDeadline;
  /** Of `entries` with `hash`, begun already; absent: not begun. */
  readonly input?: InputHash;
}

/** What became of one entry. */
export interface Fate {
  readonly entry: Entry<Item>;
  readonly fate: 'kept' | 'summarised' | 'dropped';
  /** Why it was dropped. */
  readonly why?: FilterReason | 'initial_context';
  /** Of the entry, in tokens; of a kept one as it stays. */
  readonly tokens: TokensByCategory;
  /** What a kept message lost: its images, or the middle of its text. */
  readonly cut?: TokensByCategory;
}

/** A compaction that cannot be, and why. */
export type FullRefusal =
  | { readonly outcome: 'nothing_to_compact'; readonly preTokens: number }
  | {
      readonly outcome: 'cannot_fit';
      /** A larger target that does fit and is worth it. */
      readonly leastTarget: number;
      readonly parts: Readonly<Record<string, number>>;
    };

export type FullResult =
  | {
      readonly outcome: 'compacted';
      readonly record: CompactedRecord & { readonly receipt: Receipt; readonly at: string };
      readonly fates: readonly Fate[];
      readonly preserved: Preserved;
    }
  | FullRefusal;

/** What is settled before there is a summary. */
export interface FullPlan extends SizesBefore {
  readonly outcome: 'planned';
  readonly request: Measured;
  /** Largest size of everything afterwards. */
  readonly target: number;
  /** Room for the summary's text, in tokens by the request's `count`. */
  readonly summaryTokens: number;
  /** The user's messages that stay verbatim. */
  readonly preserved: Preserved;
  readonly frame: SummaryFrame;
  readonly layout: Layout;
  readonly files: readonly RestoredFile[];
  readonly parts: Readonly<Record<'fixed' | 'userMessages' | 'files', number>>;
}

/** What a compaction looks like from outside. */
export interface Layout {
  /** The item that a summary becomes. */
  readonly carry: (summary: string) => Item;
  readonly arrange: (frame: SummaryFrame, boundary: Item, summary: Item) => readonly Item[];
  /** Whoever summarises is not shown what no summary should speak of (`filterForSummary`). */
  readonly isFiltered: boolean;
}

/** Attempts at a summary that lets the whole fit; each asks for less by what the last one was over. */
const MOST_SUMMARY_ATTEMPTS = 4;

/** Settles what stays and how much room is left for a summary. */
export function planFull(asked: FullRequest): FullPlan | FullRefusal {
  const request = measured({ ...asked, state: [...(asked.pins ?? []), ...asked.state] });
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

/** What a compaction is held against, in tokens. */
export interface SizesBefore {
  /** The whole context. */
  readonly preTokens: number;
  /** Its part that is left out, as the agent gives it again: it is in the context afterwards all the same. */
  readonly givenAgain: number;
  /** As of the request. */
  readonly worthwhile: number | undefined;
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

/** A request with what it is measured by. */
export type Measured = FullRequest & { readonly measure: Measure };

/** The request, looking at each item once. */
export function measured(asked: FullRequest): Measured {
  return { ...asked, measure: measureOnce(asked.count, asked.estimate) };
}

/** What stands around a summary. */
export interface SummaryFrame {
  readonly initialContext: readonly Entry<Item>[];
  readonly files: readonly Item[];
  readonly state: readonly Item[];
  readonly preserved: Preserved;
  readonly ghosts: readonly Entry<Item>[];
}

/** The parts that are there before a summary is, and their tokens. */
export function measureParts(request: Measured, { carry }: Layout) {
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

function tellingOf({ summaryPrefix, trigger, phase, isHandedOver }: FullRequest): SummaryTelling {
  // Between turns the agent has finished: what it continues with is the user's next message.
  const isInterrupted = trigger === 'auto' && phase === 'mid_turn';
  return { prefix: summaryPrefix, continuesWithoutAsking: isInterrupted && isHandedOver !== true };
}

function standardLayout(request: FullRequest): Layout {
  const telling = tellingOf(request);
  return { carry: (summary) => summaryMessage(summary, telling), arrange: rebuild, isFiltered: true };
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

function boundaryItem(request: Measured, preTokens: number, { implementation }: Authorship): Item {
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

interface ReceiptFacts {
  readonly plan: FullPlan;
  readonly author: Authorship;
  readonly fates: readonly Fate[];
  readonly postTokens: number;
  readonly written: Extract<FittedContext, { fits: true }>;
}

function writeReceipt(facts: ReceiptFacts): Receipt {
  const { plan, author, fates, written } = facts;
  const { request } = plan;
  return {
    version: 1,
    id: request.id,
    at: request.at,
    trigger: request.trigger,
    reason: request.reason,
    phase: request.phase,
    strategy: request.strategy,
    implementation: author.implementation,
    rung: written.draft.rung ?? author.rung,
    ...(author.model === undefined ? {} : { model: author.model }),
    ...(author.attempts.length === 0 ? {} : { attempts: author.attempts }),
    counter: request.counter,
    why: request.why,
    window: request.window,
    ...(request.targetTokens === undefined ? {} : { targetTokens: request.targetTokens }),
    preTokens: plan.preTokens,
    postTokens: facts.postTokens,
    inputSha256: (request.input ?? new InputHash(request.entries, request.hash)).digest(),
    summaryTokens: written.summaryTokens,
    kept: receiptEntry(fates, 'kept'),
    cut: cutFromKept(fates),
    summarised: receiptEntry(fates, 'summarised'),
    dropped: receiptEntry(fates, 'dropped'),
    after: after(facts),
    restoredFiles: plan.files,
    redactions: written.draft.redactions,
    guards: guards(facts),
    notes: notes(facts),
  };
}

function receiptEntry(fates: readonly Fate[], which: Fate['fate']): ReceiptEntry {
  const byCategory: Partial<Record<Category, number>> = {};
  const ranges: [number, number][] = [];
  let count = 0;
  for (const { entry, fate, tokens } of fates) {
    if (fate !== which) continue;
    count++;
    addTokens(byCategory, tokens);
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === entry.seq - 1) last[1] = entry.seq;
    else ranges.push([entry.seq, entry.seq]);
  }
  return { items: ranges, count, tokens: sumTokens(byCategory), byCategory };
}

function cutFromKept(fates: readonly Fate[]): NonNullable<Receipt['cut']> {
  const byCategory: Partial<Record<Category, number>> = {};
  let count = 0;
  for (const { cut } of fates) {
    if (cut === undefined) continue;
    count++;
    addTokens(byCategory, cut);
  }
  return { count, tokens: sumTokens(byCategory), byCategory };
}

function after({ plan: { request, frame }, fates, written }: ReceiptFacts): NonNullable<Receipt['after']> {
  return {
    kept: receiptEntry(fates, 'kept').tokens,
    summary: written.summaryTokens,
    files: itemsTokens(frame.files, request.measure),
    state: itemsTokens(frame.state, request.measure),
    hooks: 0,
  };
}

function guards({ plan, written, postTokens }: ReceiptFacts): readonly string[] {
  const { request, preTokens, givenAgain } = plan;
  const broken = findBrokenPairs(written.items.map(pairView));
  const isSound =
    broken.orphanCalls.length + broken.orphanResults.length + broken.duplicateResults.length === 0;
  if (!isSound) throw new RangeError('A compaction left a broken pair of call and result');
  return [
    'no_broken_pairs',
    ...(postTokens + givenAgain < preTokens ? ['smaller'] : []),
    ...(request.targetTokens === undefined ? [] : ['within_target']),
  ];
}

function notes({ plan, fates, written, postTokens }: ReceiptFacts): readonly string[] {
  const { request, preserved } = plan;
  const said: string[] = [...(request.notes ?? []), ...(written.draft.notes ?? [])];
  const within = noteWithin(request.targetTokens, plan.preTokens - plan.givenAgain);
  if (within !== undefined) said.unshift(within);
  if (fates.some(({ why }) => why === 'initial_context')) {
    said.push(
      `The initial context (${formatNumber(plan.givenAgain)} tokens) is left out and not counted: the agent that goes on gives its own.`,
    );
  }
  if (preserved.left > 0) {
    const older = plural(preserved.left, 'older user message');
    said.push(`In the summary only, since verbatim there was no room: ${older}.`);
  }
  const secrets = countKnownSecrets(written.items);
  if (secrets > 0) {
    said.push(
      `${plural(secrets, 'known secret')} ${secrets === 1 ? 'stands' : 'stand'} in what is kept word for word.`,
    );
  }
  if (postTokens + plan.givenAgain + (request.beside ?? 0) > request.window / 2) {
    const filling = largestParts(written.items, request.measure, request.beside);
    said.push(`Less than half of the window is free after this compaction. It is filled by ${filling}.`);
  }
  return said;
}

/** What is said where a target was met before anything was done for it; undefined where it was not, or there is none. */
export function noteWithin(target: number | undefined, before: number): string | undefined {
  if (target === undefined || before > target) return undefined;
  return `The context was within the ${formatNumber(target)} tokens asked for already: it held ${formatNumber(before)}. It was compacted all the same.`;
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
