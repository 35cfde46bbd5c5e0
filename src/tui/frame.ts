// The block at the bottom of the screen: what still changes, then the composer or a panel, then the status line. Pure.

import type { Chat } from './chat/chat.ts';
import type { Cell } from './chat/cell.ts';
import { liveLines, ruleLine } from './chat/live-lines.ts';
import { statusLine } from './chat/status-line.ts';
import type { ComposerView } from './composer/composer.ts';
import type { Canvas, Line } from './lines/line.ts';
import { textOf } from './lines/line.ts';
import { cut } from './lines/wrap.ts';
import type { CursorPlace } from './terminal/live-block.ts';

/** What the block depends on. */
export interface FrameView {
  readonly chat: Chat;
  readonly composer: ComposerView;
  /** Replaces the composer. */
  readonly panel: readonly Line[] | undefined;
  /** Replaces the status line: what the next key does, or what is offered. */
  readonly hint: string;
  readonly canvas: Canvas;
  readonly homeDirectory: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The newest cell of the scrollback. */
  readonly before: Cell | undefined;
}

/** A block that fits the screen. */
export interface Frame {
  readonly rows: readonly Line[];
  readonly cursor: CursorPlace | undefined;
}

/** Composes the block. The composer and the panel are always whole; of what is above them, the end is. */
export function composeFrame(view: FrameView): Frame {
  const { chat, composer, panel, canvas, now, before } = view;
  const live = liveLines(chat, { canvas, now, before });
  if (panel !== undefined) {
    const room = Math.max(0, canvas.rows - panel.length - 1);
    const above = live.slice(Math.max(0, live.length - room));
    return { rows: [...above, [], ...panel].slice(-canvas.rows), cursor: undefined };
  }
  const foot = [...composer.list, footLine(view)];
  const [top = [], ...draft] = composer.lines;
  const rule = isPlainRule(top) ? ruleLine(chat, canvas, now) : top;
  const bottom = [rule, ...draft, ...foot];
  const room = Math.max(0, canvas.rows - bottom.length - 1);
  const above = room === 0 ? [] : live.slice(Math.max(0, live.length - room));
  const rows = [...above, [], ...bottom].slice(-canvas.rows);
  const from = rows.length - bottom.length;
  const row = from + composer.cursor.row;
  return { rows, cursor: row < 0 ? undefined : { row, column: composer.cursor.column } };
}

/** Words in the composer's rule, such as the place in the history, matter more than the clock. */
function isPlainRule(rule: Line): boolean {
  return /^[─-]*$/.test(textOf(rule));
}

function footLine({ chat, hint, canvas, homeDirectory }: FrameView): Line {
  if (hint !== '') return cut([{ text: hint, hue: 'accent' }], canvas.width);
  return statusLine(chat, canvas, homeDirectory);
}
