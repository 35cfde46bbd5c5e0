// Asks whether files may be changed.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { wrap } from '../../lines/wrap.ts';
import { plural } from '../../../tokens/words.ts';
import type { FileChangeView } from '../../../protocol/wire/event.ts';
import { signsOf } from '../../lines/signs.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { fact } from '../wording.ts';
import { approvalPanel } from './approval.ts';

/** Rows for one diff. */
export type DrawDiff = (diff: string, path: string, canvas: Canvas) => readonly Line[];

/** The diff of every file, and why it is asked. */
export function patchApproval(
  request: EventNamed<'patch_approval_request'>,
  drawDiff: DrawDiff = plainDiff,
): Panel {
  const { call_id: callId, paths, changes, reason } = request;
  const [only] = changes.length === 0 ? paths : changes.map(({ path }) => path);
  const files = changes.length === 0 ? paths.length : changes.length;
  return approvalPanel({
    callId,
    title: files === 1 ? `Change ${only}?` : `Change ${plural(files, 'file')}?`,
    matter: (canvas) =>
      changes.length === 0
        ? [
            ...paths.map((path) => line(`  ${path}`)),
            line('  The call cannot run as it is, so there is no diff.', { hue: 'warning' }),
          ]
        : changes.flatMap((change) => changeRows(change, canvas, drawDiff)),
    facts: ({ width }) => fact('Why asked', line(reason), width),
    again:
      files === 1 ? 'Yes, and edits of this file from now on' : 'Yes, and edits of these files from now on',
    answer: (answer) => ({ type: 'patch_approval', call_id: callId, ...answer }),
  });
}

const ACTIONS = { create: 'Create', edit: 'Edit', delete: 'Delete', move: 'Move' } as const;

function changeRows(change: FileChangeView, canvas: Canvas, drawDiff: DrawDiff): readonly Line[] {
  const { action, path, to, added_lines: added, removed_lines: removed, diff, is_diff_cut: isCut } = change;
  const { arrow, ellipsis } = signsOf(canvas);
  const head: Line = [
    { text: `${ACTIONS[action]} ` },
    { text: to === undefined ? path : `${path} ${arrow} ${to}`, isBold: true },
    { text: ' (' },
    { text: `+${added}`, hue: 'good' },
    { text: ' ' },
    { text: `-${removed}`, hue: 'bad' },
    { text: ')' },
  ];
  const rest = isCut ? [line(`  ${ellipsis} the rest of this diff is omitted`, { hue: 'warning' })] : [];
  return [...wrap(head, { width: canvas.width }), ...drawDiff(diff, path, canvas), ...rest];
}

/** A unified diff as it is, without its file headers. */
function plainDiff(diff: string, _path: string, { width }: Canvas): readonly Line[] {
  const rows = diff.replace(/\n$/, '').split('\n');
  return rows
    .filter((row) => !/^(?:---|\+\+\+) /.test(row))
    .flatMap((row) => wrap(line(`  ${row}`, hueOf(row)), { width, isVerbatim: true }));
}

function hueOf(row: string): { readonly hue?: 'good' | 'bad' | 'quiet' } {
  if (row.startsWith('+')) return { hue: 'good' };
  if (row.startsWith('-')) return { hue: 'bad' };
  return row.startsWith('@@') ? { hue: 'quiet' } : {};
}
