// A page of lines to scroll through: a summary, a whole output, a transcript, a report.

import type { Canvas, Line } from '../../lines/line.ts';
import { wrap } from '../../lines/wrap.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import type { KeyHint } from '../frame.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';
import { clampTop, placeOf, scrolledTop, shownRows } from '../scroll.ts';

/** What a page shows. */
export interface Page {
  readonly title: string;
  /** The rows, of at most `width` columns. */
  readonly rowsOf: (canvas: Canvas) => readonly Line[];
  /** The first row that is shown; absent: 0. `Infinity`: the end. */
  readonly top?: number;
  /** Keys of its own, before those that scroll and close. */
  readonly keys?: readonly KeyHint[];
  /** Takes a key before the page does; undefined: the key does not concern it. */
  readonly other?: (key: KeyPress) => PanelStep | undefined;
}

/** Lines to scroll through, wrapped to the screen. Esc closes. */
export function textPanel(title: string, lines: readonly Line[]): Panel {
  return pagePanel({
    title,
    rowsOf: ({ width }) => lines.flatMap((each) => wrap(each, { width })),
  });
}

/** A page to scroll through. Esc or `q` closes. */
export function pagePanel(page: Page): Panel {
  const { title, rowsOf, top = 0, keys = [], other } = page;
  const panel: Panel = {
    lines: (canvas) => {
      const rows = rowsOf(canvas);
      const size = { total: rows.length, room: roomFor(canvas) };
      const place = placeOf(top, size);
      const scrolls: readonly KeyHint[] = [
        { keys: signsOf(canvas).upDown, does: 'scroll' },
        { keys: 'PgUp PgDn', does: 'page', isMinor: true },
      ];
      return frame(canvas, {
        title,
        ...(place === undefined ? {} : { note: place }),
        body: shownRows(rows, top, size.room),
        keys: [...keys, ...(place === undefined ? [] : scrolls), { keys: 'Esc', does: 'close' }],
      });
    },
    press: (key, canvas) => {
      const taken = other?.(key);
      if (taken !== undefined) return taken;
      if (key.key === 'escape' || key.text === 'q') return { panel: undefined };
      const size = { total: rowsOf(canvas).length, room: roomFor(canvas) };
      const moved = scrolledTop(clampTop(top, size), key, size);
      return { panel: moved === undefined ? panel : pagePanel({ ...page, top: moved }) };
    },
  };
  return panel;
}
