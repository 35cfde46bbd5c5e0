// A cell as rows. Pure.

import type { Canvas, Line } from '../lines/line.ts';
import { line, textOf } from '../lines/line.ts';
import type { Block } from '../lines/markdown/blocks.ts';
import { blockLines } from '../lines/markdown/markdown.ts';
import { unfinishedSoFar } from '../lines/markdown/stream.ts';
import { cut, lineWidth, wrap } from '../lines/wrap.ts';
import { callLines } from './call-lines.ts';
import type {
  AgentCell,
  Cell,
  CompactionCell,
  HeadCell,
  NoteCell,
  PlanCell,
  TurnCell,
  UserCell,
} from './cell.ts';
import { signsOf } from '../lines/signs.ts';
import { shortTokens, shortDuration } from '../lines/words.ts';

/** How a cell is shown. */
export interface CellView {
  readonly canvas: Canvas;
  /** All of its output instead of the end. */
  readonly isWhole: boolean;
  /** Milliseconds since 1970, for what still runs; undefined in the scrollback. */
  readonly now: number | undefined;
}

/** Rows of a message of the watcher that are shown: enough to recognise it. */
const AUTO_ROWS = 3;

/** The rows of a cell, without the empty row that parts it from the one before. */
export function cellLines(cell: Cell, view: CellView): readonly Line[] {
  switch (cell.type) {
    case 'user':
      return userLines(cell, view);
    case 'agent':
      return cell.packetBy === undefined ? agentLines(cell, view.canvas) : packetLines(cell, view);
    case 'call':
      return callLines(cell, view);
    case 'note':
      return noteLines(cell, view.canvas);
    case 'compaction':
      return compactionLines(cell, view.canvas);
    case 'plan':
      return planLines(cell, view.canvas);
    case 'turn':
      return turnLines(cell, view.canvas);
    case 'head':
      return [headLine(cell, view.canvas)];
  }
}

/** What Baton reports of itself. */
function isNews({ type }: Cell): boolean {
  return type === 'note' || type === 'compaction';
}

function isShort(cell: Cell): boolean {
  return cell.type === 'call' && (cell.kind === 'read' || cell.kind === 'search');
}

/** Whether an empty row parts two cells: short calls and notes of one kind stand together. */
export function partsFrom(cell: Cell, before: Cell | undefined): boolean {
  if (before === undefined) return true;
  if (cell.type === 'agent' && cell.continues) return false;
  if (cell.type === 'turn') return false;
  if (isNews(cell) && isNews(before)) return false;
  return !(isShort(cell) && isShort(before));
}

function userLines({ text, isAuto, steps }: UserCell, view: CellView): readonly Line[] {
  const { canvas } = view;
  const { prompt } = signsOf(canvas);
  const head: Line = [{ text: `${prompt} `, hue: 'accent', isBold: true }];
  const hanging: Line = [{ text: '  ' }];
  if (!isAuto) {
    return text.split('\n').flatMap((each, at) =>
      wrap([...(at === 0 ? head : hanging), { text: each, isBold: true }], {
        width: canvas.width,
        hanging,
      }),
    );
  }
  const words = steps.map((step) => step.replaceAll('_', ' ')).join(', ');
  const title: Line = [
    { text: `${prompt} auto`, hue: 'accent', isBold: true },
    { text: words === '' ? '' : `  ${words}`, hue: 'quiet' },
  ];
  const body = text
    .trim()
    .split('\n')
    .flatMap((each) =>
      wrap([{ text: '  ' }, { text: each, hue: 'quiet' }], { width: canvas.width, hanging }),
    );
  return [title, ...folded(body, view)];
}

/** The first rows that say something, and how many are folded. */
function folded(rows: readonly Line[], { canvas, isWhole }: CellView): readonly Line[] {
  if (isWhole || rows.length <= AUTO_ROWS + 1) return rows;
  const shown = rows.filter((row) => textOf(row).trim() !== '').slice(0, AUTO_ROWS);
  return [...shown, moreLine(rows.length - shown.length, canvas)];
}

/** Says how many rows are folded, and the key that shows them. */
function moreLine(hidden: number, canvas: Canvas): Line {
  return line(`  ${signsOf(canvas).ellipsis} ${hidden} more line${hidden === 1 ? '' : 's'} (ctrl+o)`, {
    hue: 'quiet',
  });
}

function agentLines({ blocks, stream, isDone }: AgentCell, canvas: Canvas): readonly Line[] {
  const rest = isDone ? [] : unfinishedSoFar(stream);
  return [...blocks, ...rest].flatMap((block) => blockLines(block, canvas));
}

/** The packet of a handover: folded from its first word on, since it is meant for the agent. */
function packetLines({ blocks, stream, isDone, packetBy }: AgentCell, view: CellView): readonly Line[] {
  const { canvas } = view;
  const { bullet } = signsOf(canvas);
  const inner = { ...canvas, width: Math.max(1, canvas.width - 2) };
  const rest = isDone ? [] : unfinishedSoFar(stream);
  const rows = [
    ...blocks.map((block) => rememberedRows(block, inner)),
    ...rest.map((block) => blockLines(block, inner)),
  ]
    .flat()
    .map((row): Line => [{ text: '  ' }, ...row.map((span) => ({ hue: 'quiet' as const, ...span }))]);
  const title: Line = [
    { text: `${bullet} Packet`, isBold: true },
    { text: `  by ${packetBy === 'Baton' ? 'Baton' : 'the agent'}, for after the compaction`, hue: 'quiet' },
  ];
  return [cut(title, canvas.width), ...folded(rows, view)];
}

/** A growing packet is counted in every frame. */
const REMEMBERED = new WeakMap<Block, { readonly canvas: Canvas; readonly rows: readonly Line[] }>();

function rememberedRows(block: Block, canvas: Canvas): readonly Line[] {
  const known = REMEMBERED.get(block);
  if (known?.canvas.width === canvas.width && known.canvas.hasUnicode === canvas.hasUnicode)
    return known.rows;
  const rows = blockLines(block, canvas);
  REMEMBERED.set(block, { canvas, rows });
  return rows;
}

function headLine({ title, about }: HeadCell, canvas: Canvas): Line {
  const { rule, dot, ellipsis } = signsOf(canvas);
  const head: Line = [
    { text: `${rule}${rule} `, hue: 'quiet' },
    { text: title, isBold: true },
    { text: `  ${about.join(` ${dot} `)} `, hue: 'quiet' },
  ];
  const room = Math.max(0, canvas.width - lineWidth(head));
  return cut([...head, { text: rule.repeat(room), hue: 'quiet' }], canvas.width, ellipsis);
}

const TONES = {
  info: { hue: 'quiet', word: '' },
  warning: { hue: 'warning', word: 'warning: ' },
  error: { hue: 'bad', word: 'error: ' },
} as const;

function noteLines({ tone, text }: NoteCell, canvas: Canvas): readonly Line[] {
  const { hue, word } = TONES[tone];
  const { bullet } = signsOf(canvas);
  return wrap(
    [
      { text: `${bullet} `, hue },
      ...line(word, { hue, isBold: true }),
      { text, ...(tone === 'info' ? { hue } : {}) },
    ],
    { width: canvas.width, hanging: [{ text: '  ' }] },
  );
}

/** Milliseconds of a compaction below which its duration says nothing. */
const QUICK_MS = 1000;

/** One line: `152k → 9k at commit c4a690d · /why · /undo`, after the notice. @source the product's promise; seed 003 §2, the notice */
function compactionLines(cell: CompactionCell, canvas: Canvas): readonly Line[] {
  const { arrow, dot, bullet } = signsOf(canvas);
  const moment = cell.moment === '' ? '' : ` ${cell.moment}`;
  const notice = cell.how === 'cleared' ? 'Old tool results cleared.' : 'Context compacted.';
  const took = cell.durationMs < QUICK_MS ? '' : ` ${dot} ${shortDuration(cell.durationMs)}`;
  return wrap(
    [
      { text: `${bullet} ${notice} `, hue: 'accent' },
      {
        text: `${shortTokens(cell.before)} ${arrow} ${shortTokens(cell.after)}`,
        isBold: true,
        hue: 'accent',
      },
      { text: moment },
      { text: `${took} ${dot} /why ${dot} /undo`, hue: 'quiet' },
    ],
    { width: canvas.width, hanging: [{ text: '  ' }] },
  );
}

/** Signs and hues of steps; the sign says the same as the hue. */
export function planLines(
  { kind, steps }: Pick<PlanCell, 'kind' | 'steps'>,
  canvas: Canvas,
): readonly Line[] {
  const signs = signsOf(canvas);
  const done = steps.filter(({ status }) => status === 'completed').length;
  const title: Line = [
    { text: `${signs.bullet} ` },
    { text: kind === 'plan' ? 'Plan' : 'Todos', isBold: true },
    { text: `  ${done} of ${steps.length} done`, hue: 'quiet' },
  ];
  const rows = steps.flatMap(({ step, status }) => {
    const sign =
      status === 'completed'
        ? signs.done
        : status === 'in_progress'
          ? signs.running
          : status === 'cancelled'
            ? signs.skipped
            : signs.pending;
    const isOver = status === 'completed' || status === 'cancelled';
    const hanging: Line = [{ text: '    ' }];
    return wrap(
      [
        { text: `  ${sign} `, ...(status === 'in_progress' ? { hue: 'accent' as const } : {}) },
        {
          text: step,
          ...(isOver ? { hue: 'quiet' as const } : {}),
          ...(status === 'cancelled' ? { isStruck: true } : {}),
          ...(status === 'in_progress' ? { isBold: true } : {}),
        },
      ],
      { width: canvas.width, hanging },
    );
  });
  return [title, ...rows];
}

/** What ended, and after what time. */
function turnLines({ ending, durationMs }: TurnCell, canvas: Canvas): readonly Line[] {
  const { bullet } = signsOf(canvas);
  const took = durationMs === undefined ? '' : shortDuration(durationMs);
  if (ending === 'complete') return took === '' ? [] : [line(`  took ${took}`, { hue: 'quiet' })];
  const word =
    ending === 'interrupted' ? 'Interrupted. What should the agent do instead?' : 'The turn failed.';
  return [line(`${bullet} ${word}`, { hue: 'warning' })];
}
