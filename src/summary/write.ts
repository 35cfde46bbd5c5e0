// Writes the summary: nine sections filled by salience within a budget.

import type { CountText } from '../tokens/estimate.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import type { SummarySection } from '../vocabulary.ts';
import { nameLines, placedNames } from './sections/concept-lines.ts';
import type { PlacedNames } from './sections/concept-lines.ts';
import { linesOf } from './lines.ts';
import { omittedMessagesLines } from './sections/message-lines.ts';
import type { Lines } from './lines.ts';
import { preservedWords } from './preserved.ts';
import { countRedactions, redact } from '../text/redact.ts';
import type { Redacted, SecretKind } from '../text/redact.ts';
import { shownLead } from './lead-in.ts';
import { LinePicker } from './salience.ts';
import type { SummaryLine } from './line.ts';
import type { Trail } from '../trail/trail.ts';
import { unitWeights } from './weights.ts';

/** Default budget of an automatic summary, in tokens. @source spec 2-engine §5. */
export const DEFAULT_SUMMARY_TOKENS = 4_000;

/** Below this budget, empty sections are omitted; above it, they say "None." so that a reader knows they were considered. */
const ROOM_FOR_EMPTY_SECTIONS = 1_000;

/** Tokens reserved for names that no line shows: room beyond this is for readable lines. @source docs/decisions/summary.md. */
function namesRoom(budget: number): number {
  return Math.min(0.33 * budget, Math.max(300, 900 - 0.15 * budget));
}

/** Share of the budget that names may take in addition, from otherwise unused room. */
const LEFT_NAMES_SHARE = 0.04;

/** Tokens to fill with short lines of names at the end, and the number of names per line. */
const SHORT_NAMES_ROOM = 40;
const SHORT_NAMES = 3;

/** Least number of tokens in which a line of names fits. */
const LEAST_NAMES_ROOM = 16;

/** The limit of a summary, and how it is counted. */
export interface SummaryOptions {
  /** At least 1; the default is `DEFAULT_SUMMARY_TOKENS`. */
  readonly budgetTokens?: number;
  readonly count: CountText;
  /** The user's messages that follow the summary verbatim: it refers to them without repeating them. */
  readonly preserved?: readonly string[];
}

/** A summary and facts about it. */
export interface Summary {
  readonly text: Redacted;
  /** Counted by the caller's `count` over the whole text; never above the budget. */
  readonly tokens: number;
  /** Non-empty sections, in order. */
  readonly sections: readonly SummarySection[];
  /** Number of secrets replaced in the text, by kind. */
  readonly redactions: Readonly<Partial<Record<SecretKind, number>>>;
}

/**
 * Summarizes a trail in the nine sections, in at most `budgetTokens`. Deterministic; counts each line a few times at most, and
 * the whole text once more at the end, because tokenizers may merge across lines.
 * @throws RangeError when the budget is below 1
 */
export function writeSummary(
  trail: Trail,
  { budgetTokens = DEFAULT_SUMMARY_TOKENS, count, preserved = [] }: SummaryOptions,
): Summary {
  if (!(budgetTokens >= 1)) throw new RangeError(`A summary of ${budgetTokens} tokens holds nothing`);
  const linesFor = linesOf(trail, budgetTokens, preservedWords(preserved));
  const context: RenderContext = {
    budget: budgetTokens,
    count: countOnce(count),
    names: placedNames(trail),
    weights: unitWeights(trail),
  };
  const first = pickedDraft(linesFor(0), context);
  const spare = first.picker.room;
  const hasUse = trail.current.unread.length > 0 && spare >= SPARE_SHARE * budgetTokens;
  const draft = hasUse ? pickedDraft(linesFor(spare), context) : first;
  const { picked } = draft.picker;
  const whole = (): Redacted => wholeText(draft);
  for (;;) {
    const text = whole();
    const tokens = count(text);
    if (tokens <= budgetTokens || picked.length === 0) {
      return { text, tokens, sections: sectionsOf(picked), redactions: countRedactions(text) };
    }
    dropTokens(picked, tokens - budgetTokens, count);
  }
}

/** From this share of the budget on, unused room goes to lines that were cut short. @source docs/decisions/summary.md */
const SPARE_SHARE = 0.05;

/** The context of every attempt at a summary. */
interface RenderContext {
  readonly budget: number;
  readonly count: CountText;
  readonly names: PlacedNames;
  readonly weights: ReadonlyMap<string, number>;
}

/** A summary while its lines are picked. */
interface Draft extends RenderContext {
  readonly picker: LinePicker;
  readonly lines: Lines;
}

/** A summary with its lines picked. */
function pickedDraft(lines: Lines, context: RenderContext): Draft {
  const draft = draftOf(lines, context);
  pickLines(draft);
  // The sum over lines exceeds the cost of the whole text; the difference is available, too.
  const left = context.budget - context.count(wholeText(draft));
  if (draft.picker.room <= LEAST_NAMES_ROOM && left > LEAST_NAMES_ROOM) {
    draft.picker.setRoom(left);
    pickRest(draft);
  }
  return draft;
}

function wholeText({ picker: { picked }, lines, budget }: Draft): Redacted {
  return render(
    picked.length === 0 ? [] : [...picked, ...omittedMessagesLines(lines.messages, picked)],
    budget,
  );
}

function draftOf(lines: Lines, paper: RenderContext): Draft {
  const { budget, count, weights } = paper;
  const hasAllHeadings = budget >= ROOM_FOR_EMPTY_SECTIONS;
  const picker = new LinePicker({
    room:
      budget - (hasAllHeadings ? headingTokens(lines.all, count) : 0) - omittedMessagesTokens(lines, count),
    count,
    weights,
    sectionHeading: (section) => (hasAllHeadings ? '' : `${heading(section)}\n\n`),
  });
  return { ...paper, picker, lines };
}

function pickLines(draft: Draft): void {
  const { picker, lines, budget } = draft;
  for (const floor of lines.floors) picker.takeFloor(floor, budget);
  picker.takeBest(lines.all, namesRoom(budget));
  picker.takeBest(unshownNames(draft), Math.max(0, picker.room - namesRoom(budget)));
  pickRest(draft);
}

/** Picks other lines worth showing; a short session has none, and names take a share of the rest. */
function pickRest(draft: Draft): void {
  const { picker, lines, budget } = draft;
  picker.takeBest(lines.all, 0);
  picker.takeBest(unshownNames(draft), Math.max(0, picker.room - LEFT_NAMES_SHARE * budget));
  const rest = Math.max(0, picker.room - SHORT_NAMES_ROOM);
  if (picker.room > LEAST_NAMES_ROOM) picker.takeBest(unshownNames(draft, SHORT_NAMES), rest);
}

/** Lines of names that no picked line shows. */
function unshownNames({ picker, lines, names, budget }: Draft, perLine?: number): SummaryLine[] {
  const fileLine = (path: string): SummaryLine | undefined => {
    const line = lines.files.get(path);
    return line !== undefined && picker.has(line) ? line : undefined;
  };
  const isShown = (name: string): boolean => picker.isShown(name);
  return nameLines(names, { isShown, fileLine }, budget, perLine);
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

/** Cost of the headings, including the word for empty sections. */
function headingTokens(lines: Lines['all'], count: CountText): number {
  const filled = new Set(lines.map(({ section }) => section));
  return SUMMARY_SECTIONS.reduce(
    (sum, _, at) => sum + count(`${heading(at)}\n${filled.has(at) ? '' : 'None.\n'}\n`),
    0,
  );
}

/** Cost of stating how many messages are omitted. */
function omittedMessagesTokens({ messages }: Lines, count: CountText): number {
  return omittedMessagesLines(messages, []).reduce((sum, { text }) => sum + count(`${text}\n`), 0);
}

function heading(section: number): string {
  return `${section + 1}. ${SUMMARY_SECTIONS[section] ?? ''}:`;
}

function render(picked: readonly SummaryLine[], budget: number): Redacted {
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
  let before: SummaryLine | undefined;
  for (const [at, line] of lines.entries()) {
    const isOfGroup = line.group === before?.group;
    if (line.group !== undefined && !isOfGroup) rows.push(line.group);
    const isOfLead = isOfGroup && line.lead === before?.lead && line.place?.list === before?.place?.list;
    if (line.lead !== undefined && !isOfLead) rows.push(shownLead(lines.slice(at)));
    before = line;
    rows.push(line.text);
  }
  return rows.join('\n');
}

function sectionsOf(picked: readonly SummaryLine[]): SummarySection[] {
  return SUMMARY_SECTIONS.filter((_, at) => picked.some(({ section }) => section === at));
}

/** Drops the lines that were taken last: they were worth least. */
function dropTokens(picked: SummaryLine[], tokens: number, count: CountText): void {
  let left = tokens;
  while (left > 0) {
    const line = picked.pop();
    if (line === undefined) return;
    left -= count(line.text);
  }
}
