// The receipt of a full compaction: what became of every item, what is there afterwards, and what held.

import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { Item } from '../../protocol/item.ts';
import type { Receipt, ReceiptEntry } from '../../protocol/receipt.ts';
import { addTokens, sumTokens } from '../../tokens/estimate.ts';
import { formatNumber, plural } from '../../tokens/words.ts';
import type { Category } from '../../vocabulary.ts';
import { itemsTokens, largestParts } from '../measure.ts';
import { InputHash } from './input-hash.ts';
import type { Authorship, Fate, FullPlan, SummaryDraft } from './request.ts';
import { countKnownSecrets } from './secrets.ts';

/** A plan and its outcome. */
export interface ReceiptFacts {
  readonly plan: FullPlan;
  readonly author: Authorship;
  readonly fates: readonly Fate[];
  readonly postTokens: number;
  readonly written: {
    readonly items: readonly Item[];
    readonly draft: SummaryDraft;
    readonly summaryTokens: number;
  };
}

/** The receipt of a carried-out plan. @throws RangeError when a call lost its result: a fault of Baton */
export function writeReceipt(facts: ReceiptFacts): Receipt {
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
      `The initial context (${formatNumber(plan.givenAgain)} tokens) is omitted and not counted: the agent that resumes adds its own.`,
    );
  }
  if (preserved.left > 0) {
    const older = plural(preserved.left, 'older user message');
    said.push(`Only the summary covers ${older}: there was no room to keep more verbatim.`);
  }
  const secrets = countKnownSecrets(written.items);
  if (secrets > 0) {
    said.push(
      `${plural(secrets, 'known secret')} ${secrets === 1 ? 'remains' : 'remain'} in the text that is kept verbatim.`,
    );
  }
  if (postTokens + plan.givenAgain + (request.beside ?? 0) > request.window / 2) {
    const filling = largestParts(written.items, request.measure, request.beside);
    said.push(`Less than half of the window is free after this compaction. Largest parts: ${filling}.`);
  }
  return said;
}

/** What is said where a target was met before anything was done for it; undefined where it was not, or there is none. */
export function noteWithin(target: number | undefined, before: number): string | undefined {
  if (target === undefined || before > target) return undefined;
  return `What a compaction can change held ${formatNumber(before)} tokens, already within the target of ${formatNumber(target)}. It was compacted all the same.`;
}
