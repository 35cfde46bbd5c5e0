// Calls of tools as rows: one line for a look, the tail of a command's output, the diff of an edit. Pure.

import { changeHeading, diffLines } from '../lines/diff.ts';
import type { Canvas, Line } from '../lines/line.ts';
import { line } from '../lines/line.ts';
import { headLines, tailLines } from '../lines/output.ts';
import { cut, lineWidth, wrap } from '../lines/wrap.ts';
import type { CallCell, ShownChange } from './cell.ts';
import type { CellView } from './cell-lines.ts';
import { signsOf } from '../lines/signs.ts';
import type { Signs } from '../lines/signs.ts';
import { shortDuration } from '../lines/words.ts';

/** Rows of output that a folded command shows. @source reference: what users of pi see and praise */
const TAIL_ROWS = 5;
/** Rows of a diff before it folds: what fits a small terminal beside its question. */
const DIFF_ROWS = 16;
/** Rows that a command may take. */
const COMMAND_ROWS = 3;

/** What belongs to a call stands in from it. */
const INDENT: Line = [{ text: '    ' }];

const VERBS: Readonly<Record<CallCell['kind'], string>> = {
  read: 'Read',
  search: 'Search',
  edit: 'Edit',
  execute: '$',
  shell: '$',
  plan: 'Plan',
  question: 'Ask',
  recall: 'Recall',
  other: 'Call',
};

/** The rows of a call. */
export function callLines(call: CallCell, view: CellView): readonly Line[] {
  if (call.kind === 'plan' && call.status === 'completed') return [];
  const head = titleLines(call, view);
  if (call.status === 'refused' && call.decided !== '') return head;
  if (call.changes.length > 0) {
    return call.changes.flatMap((change) => changeLines(change, call, view));
  }
  if (call.kind === 'execute' || call.kind === 'shell' || call.status === 'failed') {
    return [...head, ...outputLines(call, view)];
  }
  if (call.kind === 'question' && call.status === 'completed') {
    return [...head, ...reasonLines(call, view.canvas)];
  }
  if (call.status === 'refused') return [...head, ...reasonLines(call, view.canvas)];
  return head;
}

function titleLines(call: CallCell, { canvas, now }: CellView): readonly Line[] {
  const signs = signsOf(canvas);
  const isCommand = call.command !== undefined;
  const verb = VERBS[call.kind];
  const title = isCommand ? (call.command ?? '') : subjectsOf(call, signs).replaceAll('…', signs.ellipsis);
  const running = call.startedAt === undefined || now === undefined ? undefined : now - call.startedAt;
  const took = call.status === 'running' ? running : call.durationMs;
  const state = stateWords(call);
  const tail = [
    ...(state === '' ? [] : [state]),
    ...(call.decided === '' || call.status === 'running' ? [] : [call.decided]),
    ...(took === undefined || !isCommand ? [] : [shortDuration(took)]),
  ];
  const hue = hueOf(call);
  const rows = wrap(
    [
      { text: `${markOf(call, signs)} `, ...(hue === undefined ? {} : { hue }) },
      { text: `${verb} `, isBold: true },
      { text: title.split('\n').join(' ') },
      ...(tail.length === 0
        ? []
        : [{ text: `  ${tail.join(` ${signs.dot} `)}`, hue: hue ?? ('quiet' as const) }]),
    ],
    { width: canvas.width, hanging: [{ text: '    ' }] },
  );
  if (rows.length <= COMMAND_ROWS) return rows;
  const shown = rows.slice(0, COMMAND_ROWS - 1);
  const more: Line = [{ text: ` ${signs.ellipsis}`, hue: 'quiet' }];
  const room = canvas.width - lineWidth(more);
  return [...shown.slice(0, -1), [...cut(shown.at(-1) ?? [], room, ''), ...more], rows.at(-1) ?? []];
}

/** `a.ts, b.ts · Search lamp`: a verb for each run of looks of one kind. */
function subjectsOf(call: CallCell, { dot }: Signs): string {
  let { kind } = call;
  let words = subjectOf(call);
  for (const look of call.more) {
    words += look.kind === kind ? `, ${subjectOf(look)}` : ` ${dot} ${VERBS[look.kind]} ${subjectOf(look)}`;
    ({ kind } = look);
  }
  return words;
}

/** The title without the name of the tool, which the verb replaces. */
function subjectOf({ kind, tool, title }: Pick<CallCell, 'kind' | 'tool' | 'title'>): string {
  return kind !== 'other' && title.startsWith(`${tool} `) ? title.slice(tool.length + 1) : title;
}

function markOf({ status }: CallCell, signs: ReturnType<typeof signsOf>): string {
  if (status === 'running') return signs.running;
  return status === 'completed' ? signs.bullet : signs.failed;
}

function hueOf({ status, exitCode }: CallCell): 'bad' | 'warning' | undefined {
  if (status === 'failed' || (exitCode !== null && exitCode !== 0)) return 'bad';
  return status === 'refused' || status === 'interrupted' ? 'warning' : undefined;
}

/** How it ended, where that is not as hoped. */
function stateWords({ status, exitCode, decided }: CallCell): string {
  // The user's own words say it.
  if (status === 'refused' && decided !== '') return '';
  if (status === 'running' || status === 'completed')
    return exitCode !== null && exitCode !== 0 ? `exit ${exitCode}` : '';
  return exitCode !== null && exitCode !== 0 ? `exit ${exitCode}` : status;
}

function outputLines(call: CallCell, { canvas, isWhole }: CellView): readonly Line[] {
  const sheet = { ...canvas, width: Math.max(1, canvas.width - lineWidth(INDENT)) };
  const rows = isWhole ? headLines(call.output, Infinity, sheet) : tailLines(call.output, TAIL_ROWS, sheet);
  return rows.map((row): Line => [...INDENT, ...row.map((span) => ({ hue: 'quiet' as const, ...span }))]);
}

function reasonLines({ output }: CallCell, canvas: Canvas): readonly Line[] {
  const first = output.trim().split('\n')[0] ?? '';
  return first === ''
    ? []
    : wrap([{ text: '    ' }, { text: first, hue: 'quiet' }], {
        width: canvas.width,
        hanging: [{ text: '    ' }],
      });
}

function changeLines(change: ShownChange, call: CallCell, { canvas, isWhole }: CellView): readonly Line[] {
  const signs = signsOf(canvas);
  const decided = call.status === 'running' || call.decided === '' ? '' : `  ${call.decided}`;
  const head: Line = [
    { text: `${markOf(call, signs)} ` },
    ...changeHeading(change, canvas),
    { text: decided, hue: 'quiet' },
  ];
  const sheet = { ...canvas, width: Math.max(1, canvas.width - lineWidth(INDENT)) };
  const rows = diffLines(change.diff, change.to ?? change.path, sheet);
  const shown = isWhole ? rows : rows.slice(0, DIFF_ROWS);
  const hidden = rows.length - shown.length;
  const more =
    hidden === 0 ? [] : [line(`${signs.ellipsis} ${hidden} more lines (ctrl+o)`, { hue: 'quiet' })];
  const rest = change.is_diff_cut
    ? [line(`${signs.ellipsis} the rest of the diff is not shown`, { hue: 'quiet' })]
    : [];
  return [
    ...wrap(head, { width: canvas.width, hanging: INDENT }),
    ...[...shown, ...more, ...rest].map((row): Line => [...INDENT, ...row]),
  ];
}
