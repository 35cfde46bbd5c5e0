// What `baton eval` prints in a terminal: one table per question, candidates as rows, budgets as columns.

import { CANARIES } from '../../../lab/eval/canaries.ts';
import type { CanaryReport } from '../../../lab/eval/canaries.ts';
import { CANDIDATES } from '../../../lab/eval/candidates.ts';
import type { CandidateName } from '../../../lab/eval/candidates.ts';
import type { Budget } from '../../../lab/eval/measure.ts';
import { budgetsIn } from '../../../lab/eval/report.ts';
import type { CandidateRow, MeasuredFile } from '../../../lab/eval/report.ts';
import type { Estimate } from '../../../lab/eval/statistics.ts';
import type { ModelWork } from './model.ts';
import type { Look } from '../../io.ts';
import type { UnreadFile } from '../../session-files/paths.io.ts';
import {
  foldLines,
  formatNumber,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
  tildePath,
} from '../../style.ts';

/** All results of a run. */
export interface Evaluation {
  readonly settings: { readonly sizes: readonly number[]; readonly cuts: number; readonly seed: number };
  readonly files: readonly MeasuredFile[];
  readonly unread: readonly UnreadFile[];
  /** Files in directories that are not sessions. */
  readonly skipped: number;
  readonly rows: readonly CandidateRow[];
  /** Absent unless requested. */
  readonly canaries?: CanaryReport;
  /** Absent unless a model was asked. */
  readonly model?: ModelWork;
}

const LABELS: Readonly<Record<CandidateName, string>> = {
  context: 'Baton, whole context',
  model_context: 'Baton with a model',
  summary: 'Baton, summary only',
  newest: 'newest tokens',
  codex_rule: 'user messages',
  cleared_results: 'old results cleared',
  own_summary: "the agent's summary",
  random_lines: 'random lines',
  upper_bound: 'upper bound',
};
const LABEL_WIDTH = 22;
const CELL_WIDTH = 9;
/** Columns between two columns of figures. */
const GAP = 2;

/** The evaluation as text. */
export function renderEvaluation(evaluation: Evaluation, look: Look, home: string): string {
  const { rows, files, canaries, settings } = evaluation;
  const cuts = files.flatMap((file) => file.cuts);
  if (cuts.length === 0) {
    const why =
      settings.cuts === 0
        ? 'No session was compacted where it could be measured, and --cuts 0 allows no other cuts.'
        : 'No session is long enough to measure. It needs 8,000 tokens of history, and ten identifiers ' +
          'from them that occur again later.';
    return foldLines(look, `${why}\n`);
  }
  const budgets = budgetsIn(files).filter((budget) => budget !== 'none');
  const table = (title: string, note: string, cell: (row: CandidateRow) => string, isCounted = false) =>
    renderTable({ title, note, budgets, rows, cell, isCounted }, look);
  const page = [
    headline(evaluation, look, home),
    table(
      'Future-use recall',
      'share of what was used later that is still present',
      ({ recall }) => share(recall),
      true,
    ),
    table(
      'Paired with random lines',
      differenceNote(rows.map(({ recallOverRandom }) => recallOverRandom)),
      ({ recallOverRandom }) => difference(recallOverRandom),
    ),
    table(
      'Paired with the newest tokens',
      differenceNote(rows.map(({ recallOverNewest }) => recallOverNewest)),
      ({ recallOverNewest }) => difference(recallOverNewest),
    ),
    renderOwn(rows, look),
    table('Unaided recall', 'only uses that no later result had shown again', ({ unaided }) =>
      share(unaided),
    ),
    table('User constraints kept verbatim', 'rules of the user, verbatim', ({ constraints }) =>
      share(constraints),
    ),
    renderTrail(rows, budgets, look),
    ...(canaries === undefined ? [] : [renderCanaries(canaries, look)]),
  ];
  return foldLines(look, page.filter((part) => part !== '').join('\n'));
}

/** The note of a table of differences. @param estimates those that it shows */
function differenceNote(estimates: readonly (Estimate | undefined)[]): string {
  return estimates.some((estimate) => estimate?.interval !== undefined)
    ? 'difference and its 95 % interval'
    : 'difference; an interval needs more sessions';
}

function headline(
  { settings, files, rows, unread, skipped, model }: Evaluation,
  look: Look,
  home: string,
): string {
  const cuts = files.flatMap((file) => file.cuts);
  const real = cuts.filter(({ kind }) => kind === 'compaction').length;
  const measured = new Set<string>(budgetsIn(files));
  const unmeasured = settings.sizes.filter((size) => !measured.has(`${size}`)).map(formatNumber);
  const short = files
    .filter((file) => file.cuts.length === 0)
    .map(({ path }) => printable(tildePath(path, home)));
  return [
    paint(
      look,
      'strong',
      `${plural(files.length - short.length, 'session')}, ${plural(cuts.length, 'cut')}, ${real} of them where a compaction really happened`,
    ),
    `Means over sessions; seed ${settings.seed}; o200k tokens; blank where there is nothing to measure.`,
    ...tooShort(short, settings.cuts),
    ...(unmeasured.length === 0 ? [] : [`Never a saving, so not measured: ${unmeasured.join(', ')} tokens`]),
    ...refusals(rows),
    ...modelLines(model),
    ...(skipped === 0
      ? []
      : [
          `${plural(skipped, 'file')} of the directory ${skipped === 1 ? 'is not a session' : 'are not sessions'}.`,
        ]),
    ...(unread.length === 0 ? [] : [`${plural(unread.length, 'file')} could not be read.`]),
    '',
  ].join('\n');
}

function modelLines(model: ModelWork | undefined): readonly string[] {
  if (model === undefined) return [];
  const { name, asked, written, requests, inputTokens, outputTokens, costUsd, why } = model;
  const cost = costUsd === undefined ? '' : `, $${costUsd.toFixed(4)}`;
  return [
    `Model: ${printable(name)} wrote ${formatNumber(written)} of ${formatNumber(asked)} summaries; ` +
      `${plural(requests, 'request')}, ${formatNumber(inputTokens)} tokens in, ${formatNumber(outputTokens)} out${cost}.`,
    ...(why === undefined || written === asked ? [] : [`The newest missing summary: ${printable(why)}.`]),
  ];
}

/** Where a compaction was refused, a mean over the other cuts would not include it. */
function refusals(rows: readonly CandidateRow[]): readonly string[] {
  const cutsOf = (candidate: CandidateName, budget: Budget): number =>
    rowAt(rows, candidate, budget)?.recall?.cuts ?? 0;
  const sizes = rows.flatMap(({ candidate, budget }) => {
    if (candidate !== 'random_lines') return [];
    const cuts = cutsOf('random_lines', budget);
    const refused = cuts - cutsOf('context', budget);
    const size =
      budget === 'own_summary' ? "the size of the agent's summary" : plural(Number(budget), 'token');
    return refused === 0 ? [] : [`${size} at ${formatNumber(refused)} of ${plural(cuts, 'cut')}`];
  });
  return sizes.length === 0
    ? []
    : [`Too small for the whole context, so not in its means: ${sizes.join('; ')}`];
}

/** Maximum number of sessions to list individually: a directory may hold thousands of a few words. */
const MOST_NAMED = 12;

function tooShort(paths: readonly string[], cuts: number): readonly string[] {
  if (paths.length === 0) return [];
  const why = cuts === 0 ? 'Not compacted where it could be measured' : 'Too short to measure';
  if (paths.length > MOST_NAMED) return [`${why}: ${plural(paths.length, 'session')}`];
  return paths.length === 1
    ? [`${why}: ${paths[0] ?? ''}`]
    : [`${why}:`, ...paths.map((path) => `  ${path}`)];
}

interface Table {
  readonly title: string;
  readonly note: string;
  readonly budgets: readonly Budget[];
  readonly rows: readonly CandidateRow[];
  readonly cell: (row: CandidateRow) => string;
  /** Show how many cuts each column is based on. */
  readonly isCounted?: boolean;
}

function renderTable({ title, note, budgets, rows, cell, isCounted = false }: Table, look: Look): string {
  const lines = CANDIDATES.map((candidate) => {
    const found = budgets.map((budget) => rowAt(rows, candidate, budget));
    const whole = rowAt(rows, candidate, 'none');
    // A context without a fixed size has one figure, followed by its size.
    const figure = whole === undefined ? '' : cell(whole);
    const size = formatNumber(Math.round(whole?.tokens?.mean ?? 0));
    return {
      label: LABELS[candidate],
      cells: found.map((row) => (row === undefined ? '' : cell(row))),
      aside: figure === '' ? '' : `${figure} at ${size} tokens`,
    };
  }).filter(({ cells, aside }) => aside !== '' || cells.some((text) => text !== ''));
  if (lines.length === 0) return '';
  const heads = budgets.map((budget) => headOf(budget, rows));
  const texts = [heads, ...lines.map(({ cells }) => cells)].flat();
  const width = Math.max(CELL_WIDTH, ...texts.map((text) => text.length + GAP));
  const all = isCounted && budgets.length > 0 ? [...lines, countLine(rows, budgets)] : lines;
  return [
    `${paint(look, 'strong', title)}  ${paint(look, 'faint', note)}`,
    ...renderGrid(heads, all, { widths: budgets.map(() => width), look }),
    '',
  ].join('\n');
}

interface GridLine {
  readonly label: string;
  readonly cells: readonly string[];
  /** Text outside the columns. */
  readonly aside?: string;
}

/** How many cuts each column is based on: a size is measured only where it saves tokens, so columns may differ. */
function countLine(rows: readonly CandidateRow[], budgets: readonly Budget[]): GridLine {
  const cuts = budgets.map((budget) => rowAt(rows, 'random_lines', budget)?.recall?.cuts ?? 0);
  return { label: 'cuts', cells: cuts.map(formatNumber) };
}

/** Lines of right-aligned columns; columns that do not fit beside each other follow below. */
function renderGrid(
  heads: readonly string[],
  lines: readonly GridLine[],
  { widths, look }: { readonly widths: readonly number[]; readonly look: Look },
): readonly string[] {
  const blocks = foldColumns(widths, look.width - LABEL_WIDTH);
  return blocks.flatMap((columns, block) => {
    const across = (cells: readonly string[]) =>
      columns.map((at) => padStart(cells[at] ?? '', widths[at] ?? 0)).join('');
    const isEmpty = (cells: readonly string[]) => columns.every((at) => (cells[at] ?? '') === '');
    const shown = lines.filter(({ cells, aside = '' }) => !isEmpty(cells) || (block === 0 && aside !== ''));
    return [
      ...(isEmpty(heads) ? [] : [padEnd('', LABEL_WIDTH) + across(heads)]),
      ...shown.map(({ label, cells, aside = '' }) => {
        const start = padEnd(`  ${label}`, LABEL_WIDTH);
        const line = start + across(cells);
        if (aside === '' || block > 0) return line.trimEnd();
        const beside = `${line}${' '.repeat(GAP)}${aside}`;
        return isEmpty(cells) && beside.length > look.width ? `${start}  ${aside}` : beside;
      }),
    ];
  });
}

/** Positions of columns, in as many rows as the width requires. A wider column gets its own row. */
function foldColumns(widths: readonly number[], room: number): readonly (readonly number[])[] {
  const blocks: number[][] = [[]];
  let used = 0;
  for (const [at, width] of widths.entries()) {
    if (used > 0 && used + width > room) {
      blocks.push([]);
      used = 0;
    }
    blocks.at(-1)?.push(at);
    used += width;
  }
  return blocks;
}

function headOf(budget: Budget, rows: readonly CandidateRow[]): string {
  if (budget !== 'own_summary') return formatNumber(Number(budget));
  const own = rowAt(rows, 'own_summary', budget);
  return `own ${formatNumber(Math.round(own?.tokens?.mean ?? 0))}`;
}

function rowAt(
  rows: readonly CandidateRow[],
  candidate: CandidateName,
  budget: Budget,
): CandidateRow | undefined {
  return rows.find((row) => row.candidate === candidate && row.budget === budget);
}

function share(estimate: Estimate | undefined): string {
  return estimate === undefined ? '' : estimate.mean.toFixed(2);
}

function difference(estimate: Estimate | undefined): string {
  if (estimate === undefined) return '';
  const { mean, interval } = estimate;
  const range = interval === undefined ? '' : ` [${signed(interval[0])} ${signed(interval[1])}]`;
  return `${signed(mean)}${range}`;
}

function signed(value: number): string {
  const text = value.toFixed(2);
  return text === '-0.00' ? '+0.00' : value < 0 ? text : `+${text}`;
}

/** Baton and the other candidates compared with the agents' own readable summaries, at their size. */
function renderOwn(rows: readonly CandidateRow[], look: Look): string {
  const own = rowAt(rows, 'own_summary', 'own_summary');
  if (own?.recall === undefined) return '';
  const heads = ['recall', 'over the agent'];
  const lines = CANDIDATES.flatMap((candidate) => {
    const row = rowAt(rows, candidate, 'own_summary');
    if (row?.recall === undefined) return [];
    const { mean, interval } = row.recall;
    const range = interval === undefined ? '' : ` [${interval.map((end) => end.toFixed(2)).join(' ')}]`;
    return [
      { label: LABELS[candidate], cells: [`${mean.toFixed(2)}${range}`, difference(row.recallOverOwn)] },
    ];
  });
  const { cuts, files } = own.recall;
  const basis = `${plural(cuts, 'compaction')} in ${plural(files, 'session')}, ${formatNumber(Math.round(own.tokens?.mean ?? 0))} tokens`;
  return [
    `${paint(look, 'strong', "Beside the agent's own summary")}  ${paint(look, 'faint', `${basis}; 95 % intervals over sessions`)}`,
    ...renderGrid(heads, lines, { widths: widthsOf(heads, lines), look }),
    '',
  ].join('\n');
}

/** The size for single figures: that of an automatic summary, or the nearest. @source spec 2-engine §5. */
const SHOWN_SIZE = 4_000;

function renderTrail(rows: readonly CandidateRow[], budgets: readonly Budget[], look: Look): string {
  const fixed = budgets.filter((budget) => budget !== 'own_summary').map(Number);
  const nearest = fixed.toSorted((a, b) => Math.abs(a - SHOWN_SIZE) - Math.abs(b - SHOWN_SIZE))[0];
  if (nearest === undefined) return '';
  const heads = ['files', 'commands', 'commits', 'precision', 'orphans', 'tokens', 'ms'];
  const lines = CANDIDATES.flatMap((candidate) => {
    const row = rowAt(rows, candidate, candidate === 'cleared_results' ? 'none' : `${nearest}`);
    if (row === undefined) return [];
    const cells = [
      share(row.files),
      share(row.commands),
      share(row.commits),
      share(row.precision),
      row.orphans === undefined ? '' : formatNumber(row.orphans),
      formatNumber(Math.round(row.tokens?.mean ?? 0)),
      row.milliseconds.toFixed(0),
    ];
    return [{ label: LABELS[candidate], cells }];
  });
  return [
    `${paint(look, 'strong', `Artifact trail at ${formatNumber(nearest)} tokens`)}  ${paint(look, 'faint', 'what is still mentioned, and how much of that is true')}`,
    ...renderGrid(heads, lines, { widths: widthsOf(heads, lines), look }),
    '',
  ].join('\n');
}

/** Each column is as wide as its longest text. */
function widthsOf(heads: readonly string[], lines: readonly GridLine[]): readonly number[] {
  return heads.map(
    (head, at) => GAP + Math.max(head.length, ...lines.map(({ cells }) => cells[at]?.length ?? 0)),
  );
}

function renderCanaries({ rows, compactions, sessions, targetTokens }: CanaryReport, look: Look): string {
  const lines = rows.map(({ keeper, alive }) => ({
    label: LABELS[keeper],
    cells: CANARIES.map((kind) => `${Math.round(alive[kind] * sessions)} of ${sessions}`),
  }));
  return [
    `${paint(look, 'strong', 'Canaries')}  ${paint(look, 'faint', `alive after ${compactions} compactions to ${formatNumber(targetTokens)} tokens, in ${sessions} synthetic sessions`)}`,
    ...renderGrid(CANARIES, lines, { widths: widthsOf(CANARIES, lines), look }),
    '',
  ].join('\n');
}
