// The lines of names: the project's commands, and names from files and requests that no other line shows.

import { isFragment } from '../../text/identifiers/fragments.ts';
import { isAnonymous, listed, quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import type { PreservedWords } from '../preserved.ts';
import { withoutAssignments } from '../../shell/runners.ts';
import { ELLIPSIS, oneLine, withoutEmphasis, withoutMarker } from '../../text/sentences.ts';
import { isMeaningful } from '../../trail/talk/statements.ts';
import { isSpeech, isFinding, pointsBack } from '../speech.ts';
import { statementKey } from './work-lines.ts';
import type { Retractions } from '../../trail/talk/retractions.ts';
import type { CommandRun, Trail } from '../../trail/trail.ts';
import type { Quote } from '../../text/identifiers/identifiers.ts';

/** A working command must have been run this often to be worth naming. */
const USUAL_RUNS = 2;

/** The project's frequently run commands, each by the words common to all runs, with the last result. */
export function commandLines(trail: Trail): SummaryLine[] {
  const bySignature = new Map<string, { runs: number; shared: readonly string[]; last: CommandRun }>();
  for (const run of trail.commands) {
    const words = run.command.split(' ');
    const key = words.slice(0, 3).join(' ');
    const before = bySignature.get(key);
    bySignature.delete(key);
    bySignature.set(key, {
      runs: (before?.runs ?? 0) + 1,
      shared: sharedStart(before?.shared ?? words, words),
      last: run,
    });
  }
  const usual = [...bySignature.values()]
    .filter(
      ({ runs, last }) =>
        runs >= USUAL_RUNS &&
        !/^(?:git|gh|edit) /.test(withoutAssignments(last.command)) &&
        last.command.length < 90,
    )
    .toSorted((a, b) => b.runs - a.runs)
    .slice(0, 6);
  if (usual.length === 0) return [];
  const names = usual.map(
    ({ runs, shared, last }) =>
      `\`${shared.join(' ').replace(/(?<! &&)(?: &&)+$/, '')}\` (${runs}×${lastEnd(last)})`,
  );
  return [
    summaryLine({
      section: SECTION.concepts,
      order: 0,
      text: `- Commands in use: ${names.join(', ')}`,
      value: 2,
    }),
  ];
}

/** How the last run of a command ended, as far as known. */
function lastEnd({ failed, isHidden }: CommandRun): string {
  if (failed) return ', last failed';
  return isHidden ? '' : ', last ok';
}

/** The words with which both begin. */
function sharedStart(one: readonly string[], other: readonly string[]): readonly string[] {
  const end = one.findIndex((word, at) => word !== other[at]);
  return end < 0 ? one : one.slice(0, end);
}

/** The context of quotations. */
interface QuotationContext {
  readonly preserved: PreservedWords;
  readonly retractions: Retractions;
  /** Sentences of the agent that are no longer worth showing, by `saidKey`. */
  readonly passed: ReadonlySet<string>;
}

/** Value of a quoted line besides its names. */
const QUOTE_VALUE = 0.05;

/**
 * The lines in which agent and user last named something, each once: the command with the option, the sentence with the symbol.
 * They bring in names that no other line would show.
 */
export function quoteLines(
  trail: Trail,
  budget: number,
  { preserved, retractions: standing, passed }: QuotationContext,
): SummaryLine[] {
  const current = oneLine(trail.requests.at(-1)?.text ?? '');
  const rules = new Set(trail.constraints.map(({ text }) => text));
  const isShownAnyway = ({ by, text }: Quote) =>
    by === 'user' && (current.includes(text) || rules.has(text) || preserved.hasSentence(text));
  const turnAt = turnFinder(trail);
  const isObsolete = ({ by, position, text }: Quote) =>
    by === 'agent' &&
    (passed.has(statementKey(position, withoutEmphasis(withoutMarker(text)))) ||
      standing.isObsolete({ turn: turnAt(position), position, text }));
  const hasRoom = budget >= ROOM_FOR_OUTCOMES;
  const byText = new Map<string, Quote>();
  const quotedAt = new Set<number>();
  const seen = new Set<string>();
  for (const { quote } of trail.identifiers) {
    if (quote === undefined) continue;
    // A sentence with many names serves as the quotation of each.
    const key = statementKey(quote.position, quote.text);
    if (seen.has(key)) continue;
    seen.add(key);
    if (!isInformative(quote) || isShownAnyway(quote) || isObsolete(quote)) continue;
    if (hasRoom && isWithoutResult(quote)) continue;
    // Two excerpts from one long line would repeat each other.
    if (quote.text.startsWith(ELLIPSIS) && quotedAt.has(quote.position)) continue;
    quotedAt.add(quote.position);
    byText.set(quote.text, quote);
  }
  return [...byText.values()].map((quote) => quoteLine(quote, turnAt(quote.position), hasRoom));
}

/** Among calls with results, a call without one, or with an outdated one, would read as one that found nothing. */
function isWithoutResult({ by, outcome }: Quote): boolean {
  return by === 'call' && outcome === undefined;
}

/**
 * From this many tokens of the budget on, a quoted call appears with its request and the beginning of its result. @source
 * docs/decisions/summary.md
 */
const ROOM_FOR_OUTCOMES = 3_000;

/** With this many JSON fields, a quotation is data. */
const DATA_FIELDS = 3;

/** Whether a quotation is informative: not a line that only introduces others, code, a lone name or data. */
function isInformative({ by, text }: Quote): boolean {
  if (by === 'call') return true;
  const plain = withoutEmphasis(text);
  if (text.split('":').length > DATA_FIELDS || !isMeaningful(plain) || !isSpeech(plain)) return false;
  return by === 'user' || (isFinding(plain) && !pointsBack(plain));
}

function quoteLine(
  { by, text, position, outcome, isRowOfMany }: Quote,
  turn: number,
  hasRoom: boolean,
): SummaryLine {
  const isCall = by === 'call';
  const went = !hasRoom
    ? ''
    : ` (message ${turn}${isRowOfMany === true ? ', with other commands' : ''})${outcome === undefined ? '' : ` → ${outcome}`}`;
  return summaryLine({
    section: isCall ? SECTION.solving : SECTION.concepts,
    order: isCall ? 2e9 + position : 10 + position,
    text: isCall ? `- \`${text}\`${went}` : `- ${quoted(withoutEmphasis(text))} (${by}, message ${turn})`,
    ...(isCall ? {} : { quotes: withoutEmphasis(text) }),
    value: QUOTE_VALUE,
    group: isCall ? 'Calls on the way:' : 'Said on the way:',
  });
}

/** Names on a line: as many as one line is credited with. @source docs/decisions/summary.md. */
const NAMES_PER_LINE = 10;
/** Tokens of the budget for each line of names at one place, so that no file or request takes them all. */
const TOKENS_PER_LINE_OF_PLACE = 1_000;

/** What the lines of names need to know about the lines already picked. */
export interface Shown {
  /** Whether the summary already shows an identifier. */
  readonly isShown: (identifier: string) => boolean;
  /** The picked line about a file, if any. */
  readonly fileLine: (path: string) => SummaryLine | undefined;
}

/** The names of a trail with the places that they belong to. */
export interface PlacedNames {
  /** Those with the most weight for their length first. */
  readonly names: readonly PlacedName[];
  readonly turnLabel: (turn: number) => string;
}

interface PlacedName {
  readonly text: string;
  /** The file that contains it, if any. */
  readonly path: string | undefined;
  /** The request during which it was named last. */
  readonly turn: number;
  /** Whether user or agent named it, in a call or in words. */
  readonly isOwn: boolean;
  /** Its weight relative to its length: a long name costs more tokens. */
  readonly rate: number;
}

/** What a name costs besides its own characters, in characters. @source docs/decisions/summary.md. */
const NAME_OVERHEAD = 10;

/** Assigns a place to each name that may be listed; the same for every list of one summary. */
export function placedNames(trail: Trail): PlacedNames {
  const homes = fileHomes(trail);
  const turnAt = turnFinder(trail);
  const names: PlacedName[] = [];
  for (const { text, weight, position, ownMentions } of trail.identifiers) {
    if (isAnonymous(text) || isFragment(text)) continue;
    const rate = weight / (NAME_OVERHEAD + text.length);
    names.push({ text, path: homes.get(text), turn: turnAt(position), isOwn: ownMentions > 0, rate });
  }
  names.sort((a, b) => b.rate - a.rate);
  return { names, turnLabel: (turn) => turnLabel(turn, trail) };
}

/**
 * The heaviest names that no picked line shows, each at its place: below the file that contains it, or with the request during
 * which it was named last. Without its context, a name would mean nothing to a reader.
 */
export function nameLines(
  placed: PlacedNames,
  shown: Shown,
  budget: number,
  perLine = NAMES_PER_LINE,
): SummaryLine[] {
  const most = NAMES_PER_LINE * Math.max(1, Math.ceil(budget / TOKENS_PER_LINE_OF_PLACE));
  const byFile = new Map<string, string[]>();
  const byTurn = new Map<number, string[]>();
  // Names that only a help text or a file shows are used later as often as others, but have not been used yet.
  const options = new Map<string, string[]>();
  for (const { text, path, turn, isOwn } of placed.names) {
    if (shown.isShown(text)) continue;
    if (text.startsWith('--')) append(options, isOwn ? '- Options in use' : '- Options seen', text);
    else if (path !== undefined) append(byFile, path, text);
    else append(byTurn, turn, text);
  }
  return [
    ...[...byFile].flatMap(([path, names], at) =>
      fileNameLines(path, names.slice(0, most), { shown, at, perLine }),
    ),
    ...[...options].flatMap(([label, names]) =>
      chunksOf(names.slice(0, most), perLine).map((some, at) =>
        namesLine(some, { section: SECTION.concepts, order: 1 + at / 1_000, label }),
      ),
    ),
    ...[...byTurn].flatMap(([turn, names]) =>
      chunksOf(names.slice(0, most), perLine).map((some, at) =>
        namesLine(some, {
          section: SECTION.concepts,
          order: 1e3 + turn + at / 1_000,
          label: `- ${placed.turnLabel(turn)}`,
          group: 'Names in use, by message:',
        }),
      ),
    ),
  ];
}

function append<K>(groups: Map<K, string[]>, key: K, name: string): void {
  const names = groups.get(key);
  if (names === undefined) groups.set(key, [name]);
  else names.push(name);
}

/** The file of each symbol: the first that contains it, last changed files first. */
function fileHomes({ files }: Trail): Map<string, string> {
  const homes = new Map<string, string>();
  const changed = files.filter(({ state }) => state === 'edited' || state === 'created');
  for (const { path, symbols } of [...changed, ...files.filter(({ state }) => state === 'read')]) {
    for (const symbol of symbols) if (!homes.has(symbol)) homes.set(symbol, path);
  }
  return homes;
}

/** Finds the request at a log position, 0 before the first. */
function turnFinder({ requests }: Trail): (position: number) => number {
  return (position) => {
    let [low, high] = [0, requests.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((requests[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return requests[low - 1]?.turn ?? 0;
  };
}

function turnLabel(turn: number, { turns }: Trail): string {
  if (turn === turns) return 'current request';
  return turn === 0 ? 'before message 1' : `message ${turn}`;
}

function fileNameLines(
  path: string,
  names: readonly string[],
  { shown, at, perLine }: { readonly shown: Shown; readonly at: number; readonly perLine: number },
): SummaryLine[] {
  const lines: SummaryLine[] = [];
  const line = shown.fileLine(path);
  const order = line === undefined ? 9_000 + at : line.order + 1;
  for (const [row, some] of chunksOf(names, perLine).entries()) {
    const head = line ?? lines[0];
    const place = { section: SECTION.files, order: order + row / 1_000 };
    lines.push(
      namesLine(some, { ...place, label: head === undefined ? `- ${path} names` : '  names', parent: head }),
    );
  }
  return lines;
}

interface NamesPlace {
  readonly section: number;
  readonly order: number;
  readonly label: string;
  readonly group?: string | undefined;
  /** The line that the names belong to. */
  readonly parent?: SummaryLine | undefined;
}

/** A line of names has its identifiers without a search. */
function namesLine(
  names: readonly string[],
  { section, order, label, group, parent }: NamesPlace,
): SummaryLine {
  return summaryLine({
    section,
    order,
    group,
    parent,
    text: `${label}: ${listed(names)}`,
    value: 0,
    identifiers: [names],
  });
}

function chunksOf(names: readonly string[], size: number): string[][] {
  const chunks: string[][] = [];
  for (let at = 0; at < names.length; at += size) chunks.push(names.slice(at, at + size));
  return chunks;
}
