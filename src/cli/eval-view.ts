// What `baton eval` shows in a terminal: one table per question, candidates down, budgets across.

import { CANARIES } from '../eval/canaries.ts';
import type { CanaryReport } from '../eval/canaries.ts';
import { CANDIDATES } from '../eval/candidates.ts';
import type { CandidateName } from '../eval/candidates.ts';
import type { Budget } from '../eval/measure.ts';
import { budgetsIn } from '../eval/report.ts';
import type { CandidateRow, MeasuredFile } from '../eval/report.ts';
import type { Estimate } from '../eval/statistics.ts';
import type { Look } from './io.ts';
import { formatNumber, padEnd, padStart, paint, plural, printable, tildePath } from './style.ts';

/** A file that could not be measured, with why. */
export interface UnreadableFile {
  readonly path: string;
  readonly error: Readonly<Record<string, unknown>>;
}

/** Everything that a run found out. */
export interface Evaluation {
  readonly settings: { readonly sizes: readonly number[]; readonly cuts: number; readonly seed: number };
  readonly files: readonly MeasuredFile[];
  readonly unreadable: readonly UnreadableFile[];
  readonly rows: readonly CandidateRow[];
  /** Absent where nobody asked. */
  readonly canaries?: CanaryReport;
}

const LABELS: Readonly<Record<CandidateName, string>> = {
  context: 'Baton, whole context',
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

/** The evaluation as text. */
export function renderEvaluation(evaluation: Evaluation, look: Look, home: string): string {
  const { rows, files, canaries } = evaluation;
  const cuts = files.flatMap((file) => file.cuts);
  if (cuts.length === 0) {
    return (
      'No session is long enough to be measured: 8,000 tokens of past are needed, and ten identifiers ' +
      'of it that are written again afterwards.\n'
    );
  }
  const budgets = budgetsIn(files).filter((budget) => budget !== 'none');
  const table = (title: string, note: string, cell: (row: CandidateRow) => string) =>
    renderTable({ title, note, budgets, rows, cell }, look);
  return [
    headline(evaluation, look, home),
    table('Future-use recall', 'share of what was used later that is still there', ({ recall }) =>
      share(recall),
    ),
    table('Paired with random lines', 'difference and its 95 % interval', ({ recallOverRandom }) =>
      difference(recallOverRandom),
    ),
    table('Paired with the newest tokens', 'difference and its 95 % interval', ({ recallOverNewest }) =>
      difference(recallOverNewest),
    ),
    table('Unaided recall', 'only uses that no later result had shown again', ({ unaided }) =>
      share(unaided),
    ),
    table('User constraints kept verbatim', 'rules of the user, word for word', ({ constraints }) =>
      share(constraints),
    ),
    renderTrail(rows, budgets, look),
    ...(canaries === undefined ? [] : [renderCanaries(canaries, look)]),
  ].join('\n');
}

function headline({ settings, files, unreadable }: Evaluation, look: Look, home: string): string {
  const cuts = files.flatMap((file) => file.cuts);
  const real = cuts.filter(({ kind }) => kind === 'compaction').length;
  const skipped = files
    .filter((file) => file.cuts.length === 0)
    .map(({ path }) => printable(tildePath(path, home)));
  return [
    paint(
      look,
      'strong',
      `${plural(files.length - skipped.length, 'session')}, ${plural(cuts.length, 'cut')}, ${real} of them where a compaction really happened`,
    ),
    `Means over sessions; seed ${settings.seed}; o200k tokens.`,
    ...(skipped.length === 0 ? [] : [`Too short to be measured: ${skipped.join(', ')}`]),
    ...(unreadable.length === 0 ? [] : [`${plural(unreadable.length, 'file')} could not be read.`]),
    '',
  ].join('\n');
}

interface Table {
  readonly title: string;
  readonly note: string;
  readonly budgets: readonly Budget[];
  readonly rows: readonly CandidateRow[];
  readonly cell: (row: CandidateRow) => string;
}

function renderTable({ title, note, budgets, rows, cell }: Table, look: Look): string {
  const cells = CANDIDATES.map((candidate) => {
    const found = budgets.map((budget) => rowAt(rows, candidate, budget));
    const whole = rowAt(rows, candidate, 'none');
    const texts = found.map((row) => (row === undefined ? '' : cell(row)));
    // A context of no fixed size has one figure; its size stands beside it.
    const own =
      whole === undefined ? '' : `${cell(whole)} at ${formatNumber(Math.round(whole.tokens?.mean ?? 0))}`;
    return { candidate, texts, own };
  }).filter(({ texts, own }) => texts.some((text) => text !== '') || /\d.* at /.test(own));
  const heads = budgets.map((budget) => headOf(budget, rows));
  const width = Math.max(
    CELL_WIDTH,
    ...[heads, ...cells.map(({ texts }) => texts)].flat().map((text) => text.length + 2),
  );
  const head = heads.map((text) => padStart(text, width)).join('');
  return [
    `${paint(look, 'strong', title)}  ${paint(look, 'faint', note)}`,
    padEnd('', LABEL_WIDTH) + head,
    ...cells.map(({ candidate, texts, own }) =>
      `  ${padEnd(LABELS[candidate], LABEL_WIDTH - 2)}${texts.map((text) => padStart(text, width)).join('')}${own === '' ? '' : `  ${own} tokens`}`.trimEnd(),
    ),
    '',
  ].join('\n');
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

/** The size at which the single figures are shown: that of an automatic summary, or the nearest. @source spec 2-engine §5. */
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
    return [
      `  ${padEnd(LABELS[candidate], LABEL_WIDTH - 2)}${cells.map((text) => padStart(text, CELL_WIDTH + 1)).join('')}`,
    ];
  });
  return [
    `${paint(look, 'strong', `Artifact trail at ${formatNumber(nearest)} tokens`)}  ${paint(look, 'faint', 'what was done and is still told; of what is told, how much is true')}`,
    padEnd('', LABEL_WIDTH) + heads.map((head) => padStart(head, CELL_WIDTH + 1)).join(''),
    ...lines,
    '',
  ].join('\n');
}

function renderCanaries({ rows, compactions, sessions, targetTokens }: CanaryReport, look: Look): string {
  return [
    `${paint(look, 'strong', 'Canaries')}  ${paint(look, 'faint', `alive after ${compactions} compactions to ${formatNumber(targetTokens)} tokens, in ${sessions} made-up sessions`)}`,
    padEnd('', LABEL_WIDTH) + CANARIES.map((kind) => padStart(kind, 12)).join(''),
    ...rows.map(
      ({ keeper, alive }) =>
        `  ${padEnd(LABELS[keeper], LABEL_WIDTH - 2)}${CANARIES.map((kind) => padStart(`${Math.round(alive[kind] * sessions)} of ${sessions}`, 12)).join('')}`,
    ),
    '',
  ].join('\n');
}
