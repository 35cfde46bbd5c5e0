// `/autocompact`: what the watcher does where it would compact, and how to make it compact less often.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import { GUTTER, listLines, movedCursor } from '../list.ts';
import type { Panel, PanelStep } from '../panel.ts';
import { indented, paragraph } from '../wording.ts';

/** A mode of the watcher. */
export type Mode = Extract<Op, { readonly type: 'set_settings' }>['mode'] & string;

const MODES: readonly (readonly [mode: Mode, does: string])[] = [
  ['tag', 'Prints a note where it would compact, and does nothing.'],
  ['suggest', 'Recommends a compaction at a good moment; you run /compact.'],
  ['auto', 'Compacts at a good moment, with notes and a handoff.'],
  ['off', 'Does not watch. The built-in limit still compacts before the window is full.'],
];

/** How to compact less often, and more. @source docs/config.md, `[rawr_auto_compaction.policy]` */
export const HOW_OFTEN =
  'To compact less often, lower percent_remaining_lt in [rawr_auto_compaction.policy.early], .ready and .asap of the configuration; to compact more often, raise it. /autocompact suggest leaves each decision to you.';

/** The four modes; the current one is marked. */
export function modePanel(current: Mode, cursor = currentPosition(current)): Panel {
  const panel: Panel = {
    lines: (canvas) => {
      const how = paragraph(HOW_OFTEN, canvas.width, { hue: 'quiet' });
      const foot: readonly Line[] = [[], ...how];
      const items = MODES.map(([mode, does], index) => [
        line(`${index + 1} ${mode}${mode === current ? ' (now)' : ''}`),
        ...indented(paragraph(does, canvas.width - GUTTER - 2, { hue: 'quiet' }), 2),
      ]);
      return frame(canvas, {
        title: 'When Baton compacts by itself',
        body: listLines(canvas, items, { cursor, room: roomFor(canvas, foot.length) }),
        foot,
        keys: [
          { keys: signsOf(canvas).upDown, does: 'move', isMinor: true },
          { keys: 'Enter', does: 'choose' },
          { keys: 'Esc', does: 'close' },
        ],
      });
    },
    press: (key) => {
      if (key.key === 'escape') return { panel: undefined };
      if (key.key === 'enter') return chosen(cursor, panel);
      if (/^[1-4]$/.test(key.text)) return chosen(Number(key.text) - 1, panel);
      return { panel: modePanel(current, movedCursor(cursor, MODES.length, key) ?? cursor) };
    },
  };
  return panel;
}

function currentPosition(current: Mode): number {
  return Math.max(
    0,
    MODES.findIndex(([mode]) => mode === current),
  );
}

function chosen(position: number, panel: Panel): PanelStep {
  const mode = MODES[position]?.[0];
  if (mode === undefined) return { panel };
  return { panel: undefined, effects: [{ type: 'send', op: { type: 'set_settings', mode } }] };
}
