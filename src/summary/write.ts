// Writes the summary: nine sections filled by salience within a budget.

import type { CountText } from '../tokens/estimate.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import type { SummarySection } from '../vocabulary.ts';
import { nameLines, placedNames } from './sections/concept-lines.ts';
import type { PlacedNames } from './sections/concept-lines.ts';
import { linesOf } from './lines.ts';
import { untoldLines } from './sections/message-lines.ts';
import type { Lines } from './lines.ts';
import { preservedWords } from './preserved.ts';
import { countRedactions, redact } from '../text/redact.ts';
import type { Redacted, SecretKind } from '../text/redact.ts';
import { toldLead } from './list-lead.ts';
import { LinePicker } from './salience.ts';
import type { SummaryLine } from './line.ts';
import type { Trail } from '../trail/trail.ts';
import { unitWeights } from './weights.ts';

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
  readonly text: Redacted;
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
  const linesFor = linesOf(trail, budgetTokens, preservedWords(preserved));
  const paper: RenderContext = {
    budget: budgetTokens,
    count: countOnce(count),
    names: placedNames(trail),
    weights: unitWeights(trail),
  };
  const first = pickedDraft(linesFor(0), paper);
  const spare = first.picker.room;
  const hasUse = trail.current.unread.length > 0 && spare >= SPARE_SHARE * budgetTokens;
  const draft = hasUse ? pickedDraft(linesFor(spare), paper) : first;
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

/** Share of the budget from which on room that nothing has a use for goes to what was cut short. @source docs/decisions/summary.md */
const SPARE_SHARE = 0.05;

/** What every attempt at a summary is written with. */
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
function pickedDraft(lines: Lines, paper: RenderContext): Draft {
  const draft = draftOf(lines, paper);
  pickLines(draft);
  // Line by line a text costs more than as a whole: what that leaves is given out, too.
  const left = paper.budget - paper.count(wholeText(draft));
  if (draft.picker.room <= LEAST_NAMES_ROOM && left > LEAST_NAMES_ROOM) {
    draft.picker.setRoom(left);
    pickRest(draft);
  }
  return draft;
}

function wholeText({ picker: { picked }, lines, budget }: Draft): Redacted {
  return render(picked.length === 0 ? [] : [...picked, ...untoldLines(lines.messages, picked)], budget);
}

function draftOf(lines: Lines, paper: RenderContext): Draft {
  const { budget, count, weights } = paper;
  const hasAllHeadings = budget >= ROOM_FOR_EMPTY_SECTIONS;
  const picker = new LinePicker({
    room: budget - (hasAllHeadings ? headingTokens(lines.all, count) : 0) - untoldTokens(lines, count),
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

/** Takes what else is worth telling; in a short session nothing is, and names take a share of what is left. */
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

/** What the headings cost, and the word below those that nothing can follow. */
function headingTokens(lines: Lines['all'], count: CountText): number {
  const filled = new Set(lines.map(({ section }) => section));
  return SUMMARY_SECTIONS.reduce(
    (sum, _, at) => sum + count(`${heading(at)}\n${filled.has(at) ? '' : 'None.\n'}\n`),
    0,
  );
}

/** What it costs to say how many messages are left out. */
function untoldTokens({ messages }: Lines, count: CountText): number {
  return untoldLines(messages, []).reduce((sum, { text }) => sum + count(`${text}\n`), 0);
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
    if (line.lead !== undefined && !isOfLead) rows.push(toldLead(lines.slice(at)));
    before = line;
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
