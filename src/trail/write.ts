// Writes the summary: nine sections filled by salience within a budget.

import type { CountText } from '../tokens/estimate.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import type { SummarySection } from '../vocabulary.ts';
import { nameLines, placedNames } from './concept-lines.ts';
import { linesOf } from './lines.ts';
import { untoldLines } from './message-lines.ts';
import type { Lines } from './lines.ts';
import { preservedWords } from './preserved.ts';
import { countRedactions, redact } from './redact.ts';
import type { SecretKind } from './redact.ts';
import { LinePicker } from './salience.ts';
import type { SummaryLine } from './line.ts';
import type { Trail } from './trail.ts';

/** Tokens of an automatic summary. @source spec 2-engine §5. */
export const DEFAULT_SUMMARY_TOKENS = 4_000;

/** Below this an empty section is left out; above, it says "None." so that a reader knows it was looked for. */
const ROOM_FOR_EMPTY_SECTIONS = 1_000;

/** Tokens kept back for names that no line shows: more room is for what can be read. @source docs/decisions/summary.md. */
function namesRoom(budget: number): number {
  return Math.min(0.33 * budget, Math.max(300, 900 - 0.15 * budget));
}

/** Share of the budget that names may take besides, of what nothing else has a use for. */
const LEFT_NAMES_SHARE = 0.04;

/** Tokens that are filled with short lines of names at the end, and names to such a line. */
const SHORT_NAMES_ROOM = 40;
const SHORT_NAMES = 3;

/** Tokens below which no line of names fits. */
const LEAST_NAMES_ROOM = 16;

/** What a summary may cost, and how it is counted. */
export interface SummaryOptions {
  /** At least 1; the default is `DEFAULT_SUMMARY_TOKENS`. */
  readonly budgetTokens?: number;
  readonly count: CountText;
  /** Texts of the user's messages that stay verbatim after the summary: they are referred to, not told again. */
  readonly preserved?: readonly string[];
}

/** A summary and what is in it. */
export interface Summary {
  readonly text: string;
  /** By the caller's `count`, over the whole text; never above the budget. */
  readonly tokens: number;
  /** Sections that say something, in order. */
  readonly sections: readonly SummarySection[];
  /** Secrets replaced in the text, by kind. */
  readonly redactions: Readonly<Partial<Record<SecretKind, number>>>;
}

/**
 * Writes a summary of a trail in the nine sections, at most `budgetTokens` long. Deterministic; each line is counted a
 * few times at most, and the whole once more at the end, since tokenizers may merge across lines.
 * @throws RangeError when the budget is below 1
 */
export function writeSummary(
  trail: Trail,
  { budgetTokens = DEFAULT_SUMMARY_TOKENS, count, preserved = [] }: SummaryOptions,
): Summary {
  if (!(budgetTokens >= 1)) throw new RangeError(`A summary of ${budgetTokens} tokens holds nothing`);
  const lines = linesOf(trail, budgetTokens, preservedWords(preserved));
  const picked = pickLines(trail, lines, budgetTokens, count);
  for (;;) {
    const text = render([...picked, ...untoldLines(lines.messages, picked)], budgetTokens);
    const tokens = count(text);
    if (tokens <= budgetTokens || picked.length === 0) {
      return { text, tokens, sections: sectionsOf(picked), redactions: countRedactions(text) };
    }
    dropTokens(picked, tokens - budgetTokens, count);
  }
}

function pickLines(trail: Trail, lines: Lines, budget: number, count: CountText): SummaryLine[] {
  const hasAllHeadings = budget >= ROOM_FOR_EMPTY_SECTIONS;
  const picker = new LinePicker({
    room: hasAllHeadings ? budget - headingTokens(lines.all, count) : budget,
    count,
    weights: unitWeights(trail),
    sectionHeading: (section) => (hasAllHeadings ? '' : `${heading(section)}\n\n`),
  });
  const { floors, all, files } = lines;
  for (const floor of floors) picker.takeFloor(floor, budget);
  picker.takeBest(all, namesRoom(budget));
  const fileLine = (path: string): SummaryLine | undefined => {
    const line = files.get(path);
    return line !== undefined && picker.has(line) ? line : undefined;
  };
  const shown = { isShown: (name: string) => picker.isShown(name), fileLine };
  const names = placedNames(trail);
  picker.takeBest(nameLines(names, shown, budget), Math.max(0, picker.room - namesRoom(budget)));
  picker.takeBest(all, 0);
  // In a short session everything else is told by now.
  picker.takeBest(nameLines(names, shown, budget), Math.max(0, picker.room - LEFT_NAMES_SHARE * budget));
  const rest = Math.max(0, picker.room - SHORT_NAMES_ROOM);
  if (picker.room > LEAST_NAMES_ROOM) picker.takeBest(nameLines(names, shown, budget, SHORT_NAMES), rest);
  return picker.picked;
}

/** Weights in units of a strong identifier: the mean of the fifty heaviest. */
export function unitWeights(trail: Trail): Map<string, number> {
  const strong = trail.identifiers.slice(0, 50);
  const mean = strong.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, strong.length);
  return new Map(trail.identifiers.map(({ text, weight }) => [text, weight / (mean || 1)]));
}

/** Counts each text once. */
export function countOnce(count: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = count(text);
    known.set(text, tokens);
    return tokens;
  };
}

/** What the headings cost, and the word below those that nothing can follow. */
function headingTokens(lines: Lines['all'], count: CountText): number {
  const filled = new Set(lines.map(({ section }) => section));
  return SUMMARY_SECTIONS.reduce(
    (sum, _, at) => sum + count(`${heading(at)}\n${filled.has(at) ? '' : 'None.\n'}\n`),
    0,
  );
}

function heading(section: number): string {
  return `${section + 1}. ${SUMMARY_SECTIONS[section] ?? ''}:`;
}

function render(picked: readonly SummaryLine[], budget: number): string {
  const blocks: string[] = [];
  SUMMARY_SECTIONS.forEach((_, section) => {
    const lines = picked.filter((line) => line.section === section).toSorted((a, b) => a.order - b.order);
    if (lines.length > 0) blocks.push(`${heading(section)}\n${renderLines(lines)}`);
    else if (budget >= ROOM_FOR_EMPTY_SECTIONS) blocks.push(`${heading(section)}\nNone.`);
  });
  return redact(blocks.join('\n\n'));
}

/** Lines below the headings of their groups. */
export function renderLines(lines: readonly SummaryLine[]): string {
  const rows: string[] = [];
  let group: string | undefined;
  let lead: string | undefined;
  for (const line of lines) {
    if (line.group !== undefined && line.group !== group) rows.push(line.group);
    if (line.lead !== undefined && (line.lead !== lead || line.group !== group)) rows.push(line.lead);
    group = line.group;
    lead = line.lead;
    rows.push(line.text);
  }
  return rows.join('\n');
}

function sectionsOf(picked: readonly SummaryLine[]): SummarySection[] {
  return SUMMARY_SECTIONS.filter((_, at) => picked.some(({ section }) => section === at));
}

/** Lets the lines go that were taken last: they were worth least. */
function dropTokens(picked: SummaryLine[], tokens: number, count: CountText): void {
  let left = tokens;
  while (left > 0) {
    const line = picked.pop();
    if (line === undefined) return;
    left -= count(line.text);
  }
}
