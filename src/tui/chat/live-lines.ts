// The rows between the scrollback and the composer: what still changes. Pure.

import type { Canvas, Line } from '../lines/line.ts';
import { line } from '../lines/line.ts';
import { cut, lineWidth } from '../lines/wrap.ts';
import { cellLines, partsFrom } from './cell-lines.ts';
import type { Cell } from './cell.ts';
import type { Chat } from './chat.ts';
import { foldCells } from './fold.ts';
import { goldenPathLines } from './golden-path.ts';
import { signsOf } from '../lines/signs.ts';
import { wholeSeconds } from '../lines/words.ts';

/** Queued messages to show: more would push the composer off a small terminal. */
const MOST_QUEUED = 4;

/** What the rows depend on, besides the chat. */
export interface LiveView {
  readonly canvas: Canvas;
  readonly now: number;
  /** The newest cell of the scrollback. */
  readonly before: Cell | undefined;
}

/** The cells that still change, the golden path, and what waits. */
export function liveLines(chat: Chat, { canvas, now, before }: LiveView): readonly Line[] {
  let previous = before;
  // The panel of a request shows its call.
  const [asked] = chat.requests;
  const isAsked = (cell: Cell): boolean =>
    cell.type === 'call' && asked !== undefined && 'call_id' in asked && asked.call_id === cell.id;
  const cells = foldCells(chat.cells).flatMap((cell) => {
    if (isAsked(cell)) return [];
    const rows = cellLines(cell, { canvas, isWhole: false, now });
    if (rows.length === 0) return [];
    const gap: readonly Line[] = partsFrom(cell, previous) ? [[]] : [];
    previous = cell;
    return [...gap, ...rows];
  });
  const path = goldenPathLines(chat, canvas, now);
  const waiting = waitingLines(chat, canvas);
  return [
    ...cells,
    ...(path.length === 0 ? [] : [[], ...path]),
    ...(waiting.length === 0 ? [] : [[], ...waiting]),
  ];
}

function waitingLines({ steered, queue }: Chat, canvas: Canvas): readonly Line[] {
  const { ellipsis } = signsOf(canvas);
  const rows = [
    ...steered.map(({ text }) => ({ word: 'Next step: ', text })),
    ...queue.map(({ text }) => ({ word: 'After this: ', text })),
  ];
  const hidden = rows.length - MOST_QUEUED;
  return [
    ...rows
      .slice(0, MOST_QUEUED)
      .map(({ word, text }) =>
        cut(
          [{ text: `  ${word}`, hue: 'accent' }, { text: text.replaceAll(/\s+/g, ' ').trim() }],
          canvas.width,
          ellipsis,
        ),
      ),
    ...(hidden > 0 ? [line(`  ${ellipsis} ${hidden} more`, { hue: 'quiet' })] : []),
    ...(queue.length === 0 ? [] : [line('  alt+up takes them back', { hue: 'quiet' })]),
  ];
}

/** Milliseconds of one frame of the mark that something runs. */
const SPIN_MS = 120;

/**
 * The rule above the composer. It says that Baton works, and for how long, so that nothing jumps when it begins or ends.
 * @param now milliseconds since 1970
 */
export function ruleLine(chat: Chat, canvas: Canvas, now: number): Line {
  const { rule, spinner, dot, ellipsis } = signsOf(canvas);
  const since = chat.turn?.startedAt ?? chat.compactingSince;
  if (since === undefined) return [{ text: rule.repeat(canvas.width), hue: 'quiet' }];
  const mark = spinner[Math.floor(now / SPIN_MS) % spinner.length] ?? '';
  const word =
    chat.requests.length > 0 ? 'Waiting for you' : chat.activity === '' ? 'Working' : chat.activity;
  const took = wholeSeconds(Math.max(0, now - since));
  const tail: Line = [{ text: ` ${took} ${dot} esc to interrupt `, hue: 'quiet' }];
  const room = Math.max(0, canvas.width - lineWidth(tail) - 3);
  const head = cut(
    [
      { text: `${rule}${rule} `, hue: 'quiet' },
      { text: `${mark} ${word}`, hue: 'accent' },
    ],
    room,
    ellipsis,
  );
  const rest = Math.max(0, canvas.width - lineWidth(head) - lineWidth(tail));
  return cut([...head, ...tail, { text: rule.repeat(rest), hue: 'quiet' }], canvas.width, '');
}
