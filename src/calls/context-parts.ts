// The parts of the used tokens, as rows: one table for the terminal, the report and every other view.

import type { ContextAccount } from '../history/context-account.ts';
import { CATEGORIES } from '../vocabulary.ts';
import type { Category } from '../vocabulary.ts';

/** Parts that are used but in no item of the file. */
export const BESIDE_PARTS = ['fixed', 'counting', 'restored', 'margin', 'unexplained'] as const;
export type BesidePart = (typeof BESIDE_PARTS)[number];

/** The display names of the parts. */
const PART_NAMES: Readonly<Record<Category | BesidePart, string>> = {
  system: 'system',
  summary: 'summary',
  user: 'user',
  assistant: 'assistant',
  reasoning: 'reasoning',
  tool_calls: 'tool calls',
  tool_results: 'tool results',
  attachments: 'attachments',
  images: 'images',
  other: 'other',
  fixed: 'in every request',
  counting: 'counted otherwise',
  restored: 'given again',
  margin: 'margin',
  unexplained: 'unexplained',
};

const BESIDE_NOTES: Readonly<Record<BesidePart, string>> = {
  fixed: 'instructions, tools',
  counting: 'the provider counts more',
  restored: 'by the agent, after its compaction',
  margin: 'of the estimate',
  unexplained: 'reported, and in no item',
};

const LESS_NOTES: Readonly<Record<BesidePart, string>> = {
  ...BESIDE_NOTES,
  counting: 'the provider counts less',
  unexplained: 'less was reported',
};

/** One row. All rows add up to the tokens used. */
export interface ContextPart {
  readonly kind: Category | BesidePart;
  readonly label: string;
  readonly tokens: number;
  readonly tone: 'accent' | 'faint' | 'plain';
  readonly note?: string;
}

/** The non-empty rows of an account: what the file holds, largest first, then what is beside it. */
export function partsOf({
  categories,
  besideItems: beside,
}: Pick<ContextAccount, 'categories' | 'besideItems'>): readonly ContextPart[] {
  const named = CATEGORIES.filter((category) => (categories[category] ?? 0) > 0)
    .toSorted((a, b) => (categories[b] ?? 0) - (categories[a] ?? 0))
    .map((kind): ContextPart => ({
      kind,
      label: PART_NAMES[kind],
      tokens: categories[kind] ?? 0,
      tone: 'accent',
    }));
  const others = BESIDE_PARTS.filter((kind) => beside[kind] !== 0).map((kind): ContextPart => ({
    kind,
    label: PART_NAMES[kind],
    tokens: beside[kind],
    tone: 'faint',
    note: (beside[kind] < 0 ? LESS_NOTES : BESIDE_NOTES)[kind],
  }));
  return [...named, ...others];
}
