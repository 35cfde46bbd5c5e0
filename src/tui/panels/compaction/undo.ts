// `/undo`: says what it reverts, asks, does it, and shows what it could not revert.

import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import { formatNumber, plural } from '../../../tokens/words.ts';
import { wrap } from '../../lines/wrap.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import type { KeyHint } from '../frame.ts';
import { GUTTER, listLines, movedCursor } from '../list.ts';
import type { EventNamed } from '../../channel.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';
import { clampTop, placeOf, scrolledTop, shownRows } from '../scroll.ts';
import { fact, indented, paragraph } from '../wording.ts';

type Undo = Extract<Op, { readonly type: 'undo' }>;
type Preview = EventNamed<'undo_preview'>;

type UndoState =
  | { readonly at: 'choosing'; readonly cursor: number }
  | { readonly at: 'asking'; readonly what: Undo['what'] }
  /** The thread has said what an undo would do. `top`: the first shown row of it. */
  | { readonly at: 'confirming'; readonly preview: Preview; readonly cursor: number; readonly top: number }
  | { readonly at: 'undoing'; readonly incomplete?: EventNamed<'undo_incomplete'> }
  | { readonly at: 'over'; readonly rows: readonly Line[]; readonly isDone: boolean };

const WHATS: readonly (readonly [what: Undo['what'], label: string])[] = [
  ['turn', 'The newest turn, with its changes of files'],
  ['compaction', 'The newest compaction: the history before it comes back'],
];

/** Asks which of the two to undo. */
export function undoPanel(): Panel {
  return panelOf({ at: 'choosing', cursor: 0 });
}

/** `/undo turn`, `/undo compaction`: asks the thread what that would do. */
export function undoOf(what: Undo['what']): PanelStep {
  return {
    panel: panelOf({ at: 'asking', what }),
    effects: [{ type: 'send', op: { type: 'undo', what, preview: true } }],
  };
}

function panelOf(state: UndoState): Panel {
  return {
    lines: (canvas) => draw(state, canvas),
    press: (key, canvas) => pressed(state, key, canvas),
    receive: (event) => received(state, event),
  };
}

function received(state: UndoState, event: SessionEvent): Panel | undefined {
  const same = panelOf(state);
  const isWaiting = state.at === 'asking' || state.at === 'undoing';
  if (!isWaiting) return same;
  if (state.at === 'asking' && event.type === 'undo_preview' && event.what === state.what)
    return panelOf({ at: 'confirming', preview: event, cursor: 0, top: 0 });
  if (event.type === 'error') {
    const incomplete = state.at === 'undoing' ? state.incomplete : undefined;
    const rows = [
      line(event.message, { hue: 'warning' }),
      ...(incomplete === undefined ? [] : incompleteRows(incomplete)),
    ];
    return panelOf({ at: 'over', rows, isDone: false });
  }
  if (state.at !== 'undoing') return same;
  if (event.type === 'undo_incomplete') return panelOf({ at: 'undoing', incomplete: event });
  if (event.type !== 'undo_completed') return same;
  // What went well is in the transcript.
  if (event.left.length === 0) return undefined;
  const rows = [
    line(`Undone. ${plural(event.paths.length, 'file')} restored; these stay:`),
    ...event.left.map(leftRow),
  ];
  return panelOf({ at: 'over', rows, isDone: true });
}

function incompleteRows({ paths, left, kept_as: keptAs }: EventNamed<'undo_incomplete'>): readonly Line[] {
  return [
    ...(paths.length === 0 ? [] : [[], line('Restored:'), ...paths.map((path) => line(`  ${path}`))]),
    ...(left.length === 0 ? [] : [[], line('Not reverted:'), ...left.map(leftRow)]),
    ...(keptAs === null
      ? []
      : [[], line(`The files as they were are in git: git restore --source=${keptAs} -- .`)]),
  ];
}

function leftRow({ path, why }: { readonly path: string; readonly why: string }): Line {
  return [{ text: `  ${path}` }, { text: ` is ${why}`, hue: 'quiet' }];
}

/** What can be confirmed: one op, or one for each answer about files that were edited later. */
function waysOf({ what, later_edits: edits }: Preview): readonly (readonly [label: string, op: Undo])[] {
  const isContested = edits.some(({ overlaps }) => overlaps);
  if (!isContested) return [[`Undo this ${what}`, { type: 'undo', what }]];
  return [
    ['Undo it, and keep the later edits', { type: 'undo', what, later_edits: 'keep' }],
    ['Undo it, and revert the later edits, too', { type: 'undo', what, later_edits: 'revert' }],
  ];
}

function pressed(state: UndoState, key: KeyPress, canvas: Canvas): PanelStep {
  if (key.key === 'escape') return { panel: undefined };
  switch (state.at) {
    case 'choosing': {
      const chosen =
        key.key === 'enter' ? state.cursor : ['1t', '2c'].findIndex((names) => isOneOf(key, names));
      const what = WHATS[chosen]?.[0];
      if (what !== undefined) return undoOf(what);
      return {
        panel: panelOf({ ...state, cursor: movedCursor(state.cursor, WHATS.length, key) ?? state.cursor }),
      };
    }
    case 'confirming': {
      const ways = waysOf(state.preview);
      const chosen =
        key.key === 'enter' ? state.cursor : ['1y', '2'].findIndex((names) => isOneOf(key, names));
      const op = ways[chosen]?.[1];
      if (op !== undefined) return { panel: panelOf({ at: 'undoing' }), effects: [{ type: 'send', op }] };
      const size = previewSize(state.preview, canvas);
      // Where there is nothing to choose, the arrows scroll.
      const isPage = key.key.startsWith('page') || ways.length === 1;
      const top = isPage ? scrolledTop(clampTop(state.top, size), key, size) : undefined;
      if (top !== undefined) return { panel: panelOf({ ...state, top }) };
      return {
        panel: panelOf({ ...state, cursor: movedCursor(state.cursor, ways.length, key) ?? state.cursor }),
      };
    }
    case 'over':
      return key.key === 'enter' ? { panel: undefined } : { panel: panelOf(state) };
    case 'asking':
    case 'undoing':
      return { panel: panelOf(state) };
  }
}

function isOneOf({ text }: KeyPress, names: string): boolean {
  return text.length === 1 && names.includes(text);
}

function previewSize(preview: Preview, canvas: Canvas): { readonly total: number; readonly room: number } {
  const total = previewRows(preview, canvas.width).length;
  return { total, room: roomFor(canvas, waysOf(preview).length + 1) };
}

function draw(state: UndoState, canvas: Canvas): readonly Line[] {
  const { upDown } = signsOf(canvas);
  const close: KeyHint = { keys: 'Esc', does: 'close' };
  switch (state.at) {
    case 'choosing':
      return frame(canvas, {
        title: 'Undo',
        body: [
          ...listLines(
            canvas,
            WHATS.map(([, label], index) => [line(`${index + 1} ${label}`)]),
            { cursor: state.cursor, room: WHATS.length },
          ),
          ...paragraph('The next step says what that reverts, and asks.', canvas.width, { hue: 'quiet' }),
        ],
        keys: [{ keys: upDown, does: 'move', isMinor: true }, { keys: 'Enter', does: 'look' }, close],
      });
    case 'asking':
      return frame(canvas, {
        title: `Undo the newest ${state.what}`,
        body: [line('Looking at what it would revert. Nothing has changed.', { hue: 'quiet' })],
        keys: [close],
      });
    case 'confirming': {
      const { preview, cursor, top } = state;
      const size = previewSize(preview, canvas);
      const place = placeOf(top, size);
      const ways = waysOf(preview).map(([label], index) => [line(`${index + 1} ${label}`)]);
      return frame(canvas, {
        title: `Undo the newest ${preview.what}?`,
        hue: 'warning',
        ...(place === undefined ? {} : { note: place }),
        body: shownRows(previewRows(preview, canvas.width), top, size.room),
        foot: [[], ...listLines(canvas, ways, { cursor, room: ways.length })],
        keys: [
          { keys: 'Enter', does: 'undo' },
          ...(place === undefined ? [] : [{ keys: 'PgUp PgDn', does: 'scroll', isMinor: true } as const]),
          { keys: 'Esc', does: 'leave everything' },
        ],
      });
    }
    case 'undoing':
      return frame(canvas, {
        title: 'Undo',
        body: [line('Undoing.', { hue: 'quiet' })],
        keys: [{ keys: 'Esc', does: 'close; the undo goes on' }],
      });
    case 'over':
      return frame(canvas, {
        title: state.isDone ? 'Undone, but not everything' : 'Not undone',
        hue: 'warning',
        body: state.rows.flatMap((row) => (row.length === 0 ? [row] : wrapRow(row, canvas.width))),
        keys: [close],
      });
  }
}

function wrapRow(row: Line, width: number): readonly Line[] {
  return wrap(row, { width, hanging: [{ text: '    ' }] });
}

const CHANGES = {
  added: 'is removed: the turn made it',
  modified: 'gets its earlier content back',
  deleted: 'comes back: the turn deleted it',
} as const;

function previewRows(preview: Preview, width: number): readonly Line[] {
  return preview.what === 'turn' ? turnRows(preview, width) : compactionRows(preview, width);
}

function compactionRows(
  { pre_compact_tokens: before, post_compact_tokens: after }: Preview,
  width: number,
): readonly Line[] {
  const sizes =
    before === null || after === null
      ? 'The history before it comes back.'
      : `The ${formatNumber(before)} tokens from before it come back, in exchange for the ${formatNumber(after)} that it left.`;
  return [
    ...paragraph(sizes, width),
    ...paragraph('What was said since then stays, and no file changes.', width, { hue: 'quiet' }),
  ];
}

function turnRows(preview: Preview, width: number): readonly Line[] {
  const { message, items, files, blocked, later_edits: edits, untouched, warnings } = preview;
  const list = (head: string, rows: readonly Line[]): readonly Line[] =>
    rows.length === 0
      ? []
      : [[], ...paragraph(head, width, { isBold: true }), ...rows.flatMap((row) => wrapRow(row, width))];
  const contested = edits.filter(({ overlaps }) => overlaps);
  const others = edits.filter(({ overlaps }) => !overlaps);
  return [
    ...fact('Your words', line((message ?? '(none)').trim().replaceAll(/\s+/g, ' ')), width),
    ...fact('Leaves', line(`the history: ${plural(items ?? 0, 'item')}, with all that followed`), width),
    ...(files === null
      ? fact('Files', line('stay as they are: no snapshot was taken in this turn', { hue: 'warning' }), width)
      : files.length === 0
        ? fact('Files', line('none changes'), width)
        : list(
            `${plural(files.length, 'file')} to restore`,
            files.map(({ path, change }) => [
              { text: `  ${path}` },
              { text: ` ${CHANGES[change]}`, hue: 'quiet' },
            ]),
          )),
    ...list('Changed by the turn, and edited later', contested.map(leftRow)),
    ...list('Cannot be restored, so the undo would be incomplete', blocked.map(leftRow)),
    // Where the user decides about later edits, the decision holds for all of them.
    ...list('Edited after the turn only', contested.length === 0 ? [] : others.map(leftRow)),
    ...list('Stay as they are', [...(contested.length === 0 ? others : []), ...untouched].map(leftRow)),
    ...warnings.flatMap((warning) =>
      indented(paragraph(warning, width - GUTTER, { hue: 'warning' }), GUTTER),
    ),
  ];
}
