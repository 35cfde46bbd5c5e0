// What `baton inspect` prints about a session. Pure: account in, text out.

import type { CompactionMark, ContextAccount, GaugePoint } from '../../../history/context-account.ts';
import type { LoadReport } from '../../../formats/session-file.io.ts';
import type { DamageNote } from '../../../formats/reader.ts';
import type { Boundary, PressureWord } from '../../../vocabulary.ts';
import { FORMAT_NAMES } from '../../../vocabulary.ts';
import { partsOf } from '../../../calls/context-parts.ts';
import type { ContextPart } from '../../../calls/context-parts.ts';
import type { Signal } from '../../../protocol/signal.ts';
import { isO200kModel } from '../../../tokens/models.ts';
import type { Top } from '../../../calls/inspect-top.ts';
import type { Inspection } from '../../../calls/inspection.ts';
import type { Look } from '../../io.ts';
import {
  COUNTED_TOKENS,
  arrow,
  bar,
  ellipsis,
  belowFolder,
  fitPath,
  fitWidth,
  foldLines,
  formatBytes,
  formatNumber,
  formatPercent,
  formatShare,
  gaugeBar,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
  sparkline,
  tildePath,
  wholePercents,
} from '../../style.ts';
import type { SparkCell, Tone } from '../../style.ts';

/** An inspected file. */
export interface InspectedFile extends Inspection {
  readonly path: string;
}

const WIDEST_LABEL = 18;
const NUMBER_WIDTH = 9;
const SHARE_WIDTH = 6;
const MOST_TOOLS = 6;
const MOST_DAMAGE_LINES = 8;
const MOST_COMPACTIONS = 8;

/** The whole view of one session. */
export function renderInspection(inspection: InspectedFile, look: Look, home: string): string {
  const sections = [
    renderHeader(inspection, look, home),
    renderGauge(inspection, look),
    ...(inspection.top === undefined
      ? viewOfSession(inspection, look)
      : [
          renderSplit(inspection.top, inspection, look),
          renderTop(inspection.top, inspection.account.cwd, look),
        ]),
  ].filter((section) => section !== '');
  return foldLines(look, sections.join('\n'));
}

function viewOfSession(inspection: Inspection, look: Look): readonly string[] {
  return [
    renderCategories(inspection, look),
    renderHistory(inspection, look),
    renderCompactions(inspection.account, look),
    renderFindings(inspection, look),
  ];
}

/** The unused parts of the window. */
const LEFT_PARTS: Readonly<Record<'free' | 'reserve', Pick<ContextPart, 'label' | 'note'>>> = {
  free: { label: 'free' },
  reserve: { label: 'reserve', note: 'compacted before it is used' },
};

/** The raw window in parts that add up to it. */
function renderSplit({ split }: Top, { account, counter }: Inspection, look: Look): string {
  const whole = split.reduce((sum, { tokens }) => sum + tokens, 0);
  const draw = drawerOf(whole, look);
  const percents = wholePercents(
    split.map(({ tokens }) => tokens),
    whole,
  );
  const used = partsOf(account);
  const rows = split.map(({ part, tokens }, index) => {
    const share = formatPercent(percents[index] ?? 0, tokens);
    return part === 'free' || part === 'reserve'
      ? draw({ ...LEFT_PARTS[part], tokens, tone: 'faint' }, share)
      : used
          .filter(({ kind }) => kind === part)
          .map((row) => draw(row, share))
          .join('');
  });
  return [
    `${paint(look, 'strong', 'Window')}  ${paint(look, 'faint', `${formatNumber(whole)} tokens; ${counterNote(counter, account.model)}`)}`,
    ...rows,
    '',
  ].join('\n');
}

function renderTop({ results, rereads, images }: Top, cwd: string | undefined, look: Look): string {
  const row = (tokens: number, what: string, about: string): string => {
    const room = Math.max(16, look.width - NUMBER_WIDTH - about.length - 6);
    return `  ${padStart(formatNumber(tokens), NUMBER_WIDTH)}  ${fitPath(look, printable(belowFolder(what, cwd)), room)}  ${paint(look, 'faint', about)}`;
  };
  const lines = results.map(({ tool, subject, tokens, line }) => {
    const where = [
      ...(subject === '' ? [] : [printable(tool)]),
      ...(line === undefined ? [] : [`line ${formatNumber(line)}`]),
    ];
    return row(tokens, subject === '' ? tool : subject, where.join(', '));
  });
  const read = rereads.map(({ path, reads, tokens }) =>
    row(tokens, path, `read ${formatNumber(reads)} times`),
  );
  const sections = [
    [paint(look, 'strong', 'Largest results'), ...(lines.length === 0 ? ['  none'] : lines)],
    ...(read.length === 0 ? [] : [[paint(look, 'strong', 'Read repeatedly'), ...read]]),
    ...(images.count === 0
      ? []
      : [
          [
            `${paint(look, 'strong', 'Images')}  ${formatNumber(images.count)}, ${formatNumber(images.tokens)} tokens`,
          ],
        ]),
  ];
  return sections.map((section) => `${section.join('\n')}\n`).join('\n');
}

function renderHeader({ path, report, account }: InspectedFile, look: Look, home: string): string {
  const facts = [
    account.producer === 'baton' ? 'Baton rollout' : FORMAT_NAMES[report.format],
    account.producerVersion === undefined ? undefined : `version ${account.producerVersion}`,
    account.model,
    account.cwd === undefined ? undefined : tildePath(account.cwd, home),
    formatBytes(report.bytes),
    plural(report.lines, 'line'),
  ].filter((fact) => fact !== undefined);
  const separator = look.hasUnicode ? ' · ' : ' - ';
  return `${paint(look, 'strong', printable(path))}\n${paint(look, 'faint', printable(facts.join(separator)))}\n`;
}

function renderGauge(inspection: Inspection, look: Look): string {
  const { account, threshold } = inspection;
  const { usage, usableWindow: usable } = account;
  const width = Math.max(8, Math.min(40, look.width - 50));
  const tone = toneOf(threshold.word, account.percentRemaining);
  const source = {
    reported: 'as the provider reported it, plus later items',
    estimated: 'from the receipt of its compaction, plus later items',
    none:
      account.points.length > 1
        ? 'by estimate with a margin: no report covers the present context'
        : 'by estimate with a margin: no usage was reported',
  }[usage.anchor];
  const from = {
    configured: 'configured window',
    recorded: 'window as recorded',
    model: `window known for ${account.model ?? 'the model'}`,
    provider: 'window as the provider reported it',
    unknown: `window unknown, ${formatNumber(account.window)} assumed; set model_context_window`,
  }[account.windowFrom];
  return [
    `${paint(look, 'strong', 'Context')}  ${paint(look, tone, gaugeBar(look, usage.used, usable, width))}  ` +
      `${100 - account.percentRemaining} % used, ${account.percentRemaining} % left${PRESSURE_WORDS[threshold.word]}`,
    `         ${formatNumber(usage.used)} of ${formatNumber(usable)} usable tokens` +
      compactsFrom(inspection),
    paint(look, 'faint', `         ${source}; ${from}`),
    '',
  ].join('\n');
}

/** Where the agent that wrote the file compacts; for a format without an agent, where Baton would. */
function compactsFrom({ report, account, agentLimit, threshold, isAutoCompactOn }: Inspection): string {
  if (agentLimit !== undefined) {
    const agent = report.format === 'codex' ? 'Codex' : 'Claude Code';
    return `; ${agent} compacts from about ${formatNumber(agentLimit)}`;
  }
  const compacts = account.producer === 'baton' ? 'compacts' : 'would compact';
  return isAutoCompactOn ? `; Baton ${compacts} from ${formatNumber(threshold.autoCompactThreshold)}` : '';
}

/** The words after the percentage. */
const PRESSURE_WORDS: Readonly<Record<PressureWord, string>> = {
  calm: '',
  warning: ', warning',
  error: ', almost full',
  auto_compact: ', auto-compaction due',
};

function toneOf(pressure: PressureWord, percent: number): Tone {
  if (pressure === 'auto_compact' || pressure === 'error') return 'bad';
  return pressure === 'warning' || percent < 40 ? 'warning' : 'good';
}

/** The visible part of a row. */
type Row = Omit<ContextPart, 'kind'>;

/** Draws parts of a whole: label, tokens, share as text, bar, note. */
function drawerOf(whole: number, look: Look): (row: Row, share: string) => string {
  const labelWidth = Math.min(WIDEST_LABEL, Math.max(8, look.width - NUMBER_WIDTH - SHARE_WIDTH - 7));
  const barWidth = Math.max(3, Math.min(36, look.width - labelWidth - NUMBER_WIDTH - SHARE_WIDTH - 8));
  return ({ label, tokens, tone, note = '' }, share) =>
    `  ${padEnd(fitWidth(look, label, labelWidth), labelWidth)}${padStart(formatNumber(tokens), NUMBER_WIDTH)}` +
    `${padStart(share, SHARE_WIDTH)}  ${paint(look, tone, bar(look, Math.max(0, tokens), whole, barWidth))}` +
    (note === '' ? '' : ` ${paint(look, 'faint', note)}`);
}

function renderCategories({ account, counter }: Inspection, look: Look): string {
  const parts = partsOf(account);
  const whole = account.usage.used;
  const percents = wholePercents(
    parts.map(({ tokens }) => tokens),
    whole,
  );
  const draw = drawerOf(whole, look);
  const row: RenderRow = (part, percent) => draw(part, formatPercent(percent, part.tokens));
  const lines = [
    `${paint(look, 'strong', 'What fills it')}  ${paint(look, 'faint', counterNote(counter, account.model))}`,
  ];
  for (const [index, part] of parts.entries()) {
    const percent = percents[index] ?? 0;
    lines.push(row(part, percent));
    if (part.kind === 'tool_results') lines.push(...toolRows(account, row, { whole, percent }));
  }
  return `${lines.join('\n')}\n`;
}

type RenderRow = (part: Row, percent: number) => string;

function counterNote(counter: Inspection['counter'], model: string | undefined): string {
  const counted = COUNTED_TOKENS[counter];
  if (counter === 'approximate') return `${counted}; --precise counts them`;
  return isO200kModel(model) ? counted : `${counted}, an approximation for this model`;
}

function tokensOf(shares: ContextAccount['tools']): number {
  return shares.reduce((tokens, share) => tokens + share.tokens, 0);
}

function toolRows(
  { tools, categories }: ContextAccount,
  row: RenderRow,
  { whole, percent }: { readonly whole: number; readonly percent: number },
): readonly string[] {
  if (tools.length === 0) return [];
  const rest = tools.slice(MOST_TOOLS);
  // In formats where results are messages, results have no tool name.
  const unnamed = (categories.tool_results ?? 0) - tokensOf(tools);
  const parts: readonly Row[] = [
    ...tools.slice(0, MOST_TOOLS).map(({ tool, tokens, results }): Row => {
      return { label: `  ${printable(tool)}`, tokens, tone: 'plain', note: plural(results, 'result') };
    }),
    ...(rest.length === 0
      ? []
      : [{ label: `  ${plural(rest.length, 'more tool')}`, tokens: tokensOf(rest), tone: 'plain' } as const]),
    ...(unnamed === 0 ? [] : [{ label: '  without a call', tokens: unnamed, tone: 'plain' } as const]),
  ];
  const percents = wholePercents(
    parts.map(({ tokens }) => tokens),
    whole,
    percent,
  );
  return parts.map((part, index) => row(part, percents[index] ?? 0));
}

function renderHistory({ account }: Inspection, look: Look): string {
  const { points } = account;
  if (points.length < 3) return '';
  const width = Math.max(16, Math.min(72, look.width - 8));
  const cells = sparkCells(account, width, look);
  const peak = points.reduce((most, { used }) => Math.max(most, used), 0);
  const marks = fullCompactions(account).length;
  const legend = hasMarks(marks, width)
    ? `; ${compactionSign(look)} marks ${plural(marks, 'compaction')}`
    : '';
  return [
    `${paint(look, 'strong', 'Gauge')}  ${paint(
      look,
      'faint',
      `${plural(account.turns, 'turn')}, ${plural(points.length - 1, 'report')}, ` +
        `peak ${formatNumber(peak)} tokens (${formatShare(peak, account.usableWindow)} of the usable window)${legend}`,
    )}`,
    `  ${sparkline(look, cells)}`,
    '',
  ].join('\n');
}

function compactionSign(look: Look): string {
  return look.hasUnicode ? '┃' : '|';
}

function fullCompactions(account: ContextAccount): readonly CompactionMark[] {
  return account.compactions.filter(({ kind, isUndone }) => kind === 'full' && !isUndone);
}

/** Marks are drawn while each gets a column, with a gauge column on both sides. */
function hasMarks(count: number, width: number): boolean {
  return count > 0 && 2 * count < width;
}

/**
 * At most `width` columns. Each compaction mark takes one, unless there are too many; the points between them share the rest, and
 * each column shows its highest point.
 */
export function sparkCells(account: ContextAccount, width: number, look: Look): SparkCell[] {
  const { points, usableWindow: usable } = account;
  const full = fullCompactions(account);
  const marks = hasMarks(full.length, width) ? full : [];
  const ends = [...marks.map(({ pointIndex }) => pointIndex), points.length];
  const stretches = ends.map((end, index) => points.slice(ends[index - 1] ?? 0, end));
  // Each stretch gets at least one column; the rest is shared by length.
  const seen = stretches.filter(({ length }) => length > 0).length;
  const share = (width - marks.length - seen) / Math.max(1, points.length - seen);
  return stretches.flatMap((stretch, index) => {
    const columnsHere =
      stretch.length === 0 ? 0 : 1 + Math.floor((stretch.length - 1) * Math.min(1, Math.max(0, share)));
    const cells: SparkCell[] = Array.from({ length: columnsHere }, (_, column) => {
      const from = Math.floor((column * stretch.length) / columnsHere);
      const to = Math.floor(((column + 1) * stretch.length) / columnsHere);
      return { level: highest(stretch.slice(from, to)) / usable };
    });
    if (index < marks.length) cells.push({ mark: compactionSign(look) });
    return cells;
  });
}

function highest(points: readonly GaugePoint[]): number {
  return points.reduce((most, { used }) => Math.max(most, used), 0);
}

function renderCompactions(account: ContextAccount, look: Look): string {
  if (account.compactions.length === 0) return '';
  const lines = [paint(look, 'strong', 'Compactions')];
  const hidden = Math.max(0, account.compactions.length - MOST_COMPACTIONS);
  if (hidden > 0) lines.push(`  ${ellipsis(look)} ${plural(hidden, 'older one')} (--json lists all)`);
  account.compactions.forEach((mark, index) => {
    if (index >= hidden) lines.push(...compactionLines(mark, index + 1, look));
  });
  return `${lines.join('\n')}\n`;
}

function compactionLines(mark: CompactionMark, number: number, look: Look): string[] {
  const where = [
    mark.line === undefined ? undefined : `line ${formatNumber(mark.line)}`,
    `turn ${mark.turn}`,
    mark.at?.slice(0, 16).replace('T', ' '),
    mark.isUndone ? 'undone' : undefined,
  ].filter((part) => part !== undefined);
  const lines = [
    `  #${number}  ${formatNumber(mark.preTokens)} ${arrow(look)} ${formatNumber(mark.postTokens)} tokens  ` +
      paint(look, 'faint', where.join(', ')),
    `      ${explainCompaction(mark)}`,
  ];
  if (mark.receipt !== undefined) lines.push(`      ${printable(mark.receipt.why)}`);
  return lines;
}

/** Why a compaction happened and what remained, in one sentence, from the data in the file. */
export function explainCompaction(mark: CompactionMark): string {
  const full = formatShare(mark.preTokens, mark.window);
  const who =
    mark.trigger === 'manual'
      ? 'requested by the user'
      : mark.trigger === 'auto'
        ? 'automatic'
        : 'trigger not recorded';
  const phase = mark.phase === undefined ? '' : `, ${PHASE_WORDS[mark.phase]}`;
  if (mark.kind === 'micro') {
    return `Micro, ${who}: ${plural(mark.clearedResults, 'old tool result')} cleared at ${full} of the usable window.`;
  }
  const summary = {
    readable: `a summary of about ${formatNumber(mark.summaryTokens)} tokens`,
    encrypted: 'a summary that only the provider can read',
    shadowed: `a summary that only the provider can read, and one in words of about ${formatNumber(mark.summaryTokens)} tokens`,
    none: 'no summary in the file',
  }[mark.summary];
  const items =
    mark.itemsBefore === 0
      ? `${plural(mark.itemsAfter, 'item')} replaced what is not in the file`
      : `${plural(mark.itemsBefore, 'item')} became ${formatNumber(mark.itemsAfter)}`;
  return `Full, ${who}${phase}, at ${full} of the usable window: ${items}, with ${summary}.`;
}

const PHASE_WORDS = {
  standalone_turn: 'as a separate turn',
  pre_turn: 'before a turn',
  mid_turn: 'during a turn',
  post_turn: 'after a turn',
} as const;

function renderFindings({ report, account, gaugeError, signals }: Inspection, look: Look): string {
  const { recorded, brokenPairs } = account;
  const lines = [
    `${paint(look, 'strong', 'Recorded')}  ${[
      plural(recorded.userMessages, 'user message'),
      plural(recorded.assistantMessages, 'assistant message'),
      plural(recorded.calls, 'tool call'),
      plural(recorded.results, 'result'),
      ...(recorded.sideItems > 0 ? [`${plural(recorded.sideItems, 'item')} outside the context`] : []),
    ].join(', ')}`,
    ...boundaryLines(signals, look),
  ];
  if (gaugeError !== undefined) {
    lines.push(
      `Gauge error: median ${(100 * gaugeError.median).toFixed(1)} % over ${plural(gaugeError.samples, 'reported usage')}`,
    );
  }
  const { orphanCalls, orphanResults, duplicateResults } = brokenPairs;
  const broken = [
    ...(orphanCalls.length === 0 ? [] : [`${plural(orphanCalls.length, 'call')} without result`]),
    ...(orphanResults.length === 0 ? [] : [`${plural(orphanResults.length, 'result')} without call`]),
    ...(duplicateResults.length === 0 ? [] : [plural(duplicateResults.length, 'second result')]),
  ];
  if (broken.length > 0)
    lines.push(
      paint(look, 'warning', `Broken pairs: ${broken.join(', ')}; a full compaction removes all of them.`),
    );
  if (account.rejectedSamples.length > 0) {
    const [first] = account.rejectedSamples;
    lines.push(
      `Ignored ${plural(account.rejectedSamples.length, 'usage report')} with impossible values, e.g. line ${first?.line ?? '?'}: ${first?.why ?? ''}.`,
    );
  }
  lines.push(...damageLines(report, look));
  if (report.hasGrown) lines.push('The file grew while Baton read it; the appended part is not included.');
  return `${lines.join('\n')}\n`;
}

/** What a person can check in the file; only `--json` includes the agent's phrases. */
function boundaryLines(signals: readonly Signal[], look: Look): string[] {
  const counts = new Map<Boundary, number>();
  for (const { boundary } of signals) counts.set(boundary, (counts.get(boundary) ?? 0) + 1);
  const told = (boundary: Boundary, word: string): string[] => {
    const count = counts.get(boundary) ?? 0;
    return count === 0 ? [] : [plural(count, word)];
  };
  const updates = counts.get('plan_update') ?? 0;
  const checkpoints = plural(counts.get('plan_checkpoint') ?? 0, 'plan checkpoint');
  const parts = [
    ...told('commit', 'commit'),
    ...told('pr_checkpoint', 'PR checkpoint'),
    ...(updates === 0 ? [] : [`${checkpoints} (of ${plural(updates, 'plan update')})`]),
    ...told('phase_completed', 'phase'),
    ...told('turn_complete', 'turn'),
  ];
  return parts.length === 0 ? [] : [`${paint(look, 'strong', 'Boundaries')}  ${parts.join(', ')}`];
}

function damageLines(report: LoadReport, look: Look): string[] {
  const groups = new Map<string, DamageNote[]>();
  for (const note of report.damage) {
    const kind = `${note.lost} ${note.message}`;
    const group = groups.get(kind);
    if (group === undefined) groups.set(kind, [note]);
    else group.push(note);
  }
  const shown = [...groups.values()].slice(0, MOST_DAMAGE_LINES);
  const lines = shown.flatMap((notes) => {
    const [first] = notes;
    if (first === undefined) return [];
    const { line, lost, message } = first;
    const others = new Set(notes.map((note) => note.line)).size - 1;
    const times = notes.reduce((sum, note) => sum + (note.times ?? 1), 0);
    const where = `line ${formatNumber(line)}${others === 0 ? '' : ` and ${plural(others, 'other line')}`}`;
    const often = times > others + 1 ? ` (${formatNumber(times)} times)` : '';
    return `${paint(look, lost ? 'bad' : 'warning', lost ? 'Lost' : 'Repaired')} ${where}: ${printable(message)}${often}`;
  });
  const more = groups.size - shown.length;
  return more > 0
    ? [...lines, `${ellipsis(look)} and ${plural(more, 'more kind')} of damage (--json lists all)`]
    : lines;
}
