// The contexts that are compared at a cut, each within the same budget.

import { measureOnce } from '../../compaction/measure.ts';
import { compactFully } from '../../compaction/full/full.ts';
import { microCompact } from '../../compaction/micro/micro.ts';
import { preserveUserMessages } from '../../compaction/full/preserve.ts';
import { SUMMARY_PREFIX } from '../../history/filter.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { Entry } from '../../history/project.ts';
import type { Item } from '../../protocol/item.ts';
import { DEFAULT_ESTIMATE } from '../../tokens/estimate.ts';
import type { Trail } from '../../trail/trail.ts';
import { embeddedSummarizer } from '../../compaction/full/summary.ts';
import { writeSummary } from '../../summary/write.ts';
import { shuffled } from './chance.ts';
import type { Chance } from './chance.ts';
import type { SessionLog } from './log.ts';
import type { Past } from './past.ts';
import { linesOf, linesOfItem } from './text.ts';

/** What is compared, in the order shown. */
export const CANDIDATES = [
  'context',
  'model_context',
  'summary',
  'newest',
  'codex_rule',
  'cleared_results',
  'own_summary',
  'random_lines',
  'upper_bound',
] as const;
export type CandidateName = (typeof CANDIDATES)[number];

/** A context after compaction, as the metric sees it. */
export interface Context {
  readonly lines: readonly string[];
  /** Calls without result and results without call; undefined for contexts that do not consist of items. */
  readonly orphans: number | undefined;
}

/** The material of every candidate. */
export interface Situation {
  readonly log: SessionLog;
  /** What lies before the cut. */
  readonly past: Past;
  /** The agent's context at the cut. */
  readonly entries: readonly Entry<Item>[];
  readonly trail: Trail;
}

/** Raw window that a compaction is planned for; only shares of it matter, and none binds below 16,000 tokens. */
export const WINDOW = 200_000;

/** @source Codex, `COMPACT_USER_MESSAGE_MAX_TOKENS` (codex-behaviour §4.2). */
const CODEX_USER_TOKENS = 20_000;

/** Replaces a summary that could not be written. @source seed 002, canned summary. */
const CANNED_SUMMARY = 'Older turns were truncated to fit the context window.';

/** This engine: what `baton compact --target-tokens` leaves of the context. Undefined if it refuses. */
export function compactedContext(situation: Situation, budget: number): Context | undefined {
  const items = compactItems(situation, budget);
  return items === undefined ? undefined : contextOfItems(items);
}

/** The items of that context. */
export function compactItems(situation: Situation, budget: number): readonly Item[] | undefined {
  const { log, entries, trail } = situation;
  const count = log.table.tokensOfText;
  const result = compactFully(
    {
      id: 'eval',
      at: '1970-01-01T00:00:00.000Z',
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      strategy: 'full',
      why: 'measured',
      entries,
      window: WINDOW,
      targetTokens: budget,
      leavesInitialContext: true,
      isWrittenAlone: true,
      userMessageLimit: CODEX_USER_TOKENS,
      files: [],
      summaryPrefix: SUMMARY_PREFIX,
      state: [],
      measure: measureOnce(count, DEFAULT_ESTIMATE),
      count,
      counter: 'precise',
      // No one reads the receipt, and hashing the input again for each size would take most of the time.
      hash: () => '',
    },
    embeddedSummarizer(trail, count),
  );
  return result.outcome === 'compacted' ? result.record.replacement : undefined;
}

/** This engine's summary alone, at the whole budget. */
export function embeddedSummary({ log, trail }: Situation, budget: number): Context {
  const { text } = writeSummary(trail, { budgetTokens: budget, count: log.table.tokensOfText });
  return ofText(text);
}

/** The newest lines of the past. */
export function newestLines({ log, past }: Situation, budget: number): Context {
  const kept: string[] = [];
  const whole: Item[] = [];
  let left = budget;
  for (let at = past.cut - 1; at >= 0 && left >= 0; at--) {
    const step = log.steps[at];
    if (step === undefined || step.kind === 'initial') continue;
    for (const line of step.lines.toReversed()) {
      left -= log.table.tokensOfLine(line);
      if (left >= 0) kept.push(line);
    }
    if (left >= 0) whole.push(step.item);
  }
  return { lines: kept.toReversed(), orphans: countOrphans(whole.toReversed()) };
}

/** What Codex keeps when its summary fails: user messages, newest first, and a canned sentence. */
export function codexRule({ log, past }: Situation, budget: number): Context {
  const count = log.table.tokensOfText;
  const room = Math.max(0, Math.min(CODEX_USER_TOKENS, budget - count(CANNED_SUMMARY)));
  const { items } = preserveUserMessages(past.userMessages, room, count);
  return { lines: [...items.flatMap(linesOfItem), CANNED_SUMMARY], orphans: 0 };
}

/** The whole context with old tool results cleared, at whatever size that has. */
export function clearedResults({ log, entries }: Situation): Context {
  const items = entries.map(({ value }) => value);
  const result = microCompact(items, {
    ...DEFAULT_ESTIMATE,
    minTokensToSave: 1,
    keepLastTools: 3,
    count: log.table.tokensOfText,
  });
  return contextOfItems(result.wasEffective ? result.items : items);
}

/** Lines of the past in random order, until the next does not fit. */
export function randomLines({ log, past }: Situation, budget: number, chance: Chance): Context {
  const lines: string[] = [];
  let left = budget;
  for (const at of shuffled(past.lines.length, chance)) {
    const line = past.lines[at] ?? '';
    left -= log.table.tokensOfLine(line);
    if (left < 0) break;
    lines.push(line);
  }
  return { lines, orphans: undefined };
}

/** A text as a context. */
export function ofText(text: string): Context {
  return { lines: linesOf(text), orphans: undefined };
}

/** Items as a context. */
export function contextOfItems(items: readonly Item[]): Context {
  return { lines: items.flatMap(linesOfItem), orphans: countOrphans(items) };
}

function countOrphans(items: readonly Item[]): number {
  const { orphanCalls, orphanResults } = findBrokenPairs(items.map(pairView));
  return orphanCalls.length + orphanResults.length;
}
