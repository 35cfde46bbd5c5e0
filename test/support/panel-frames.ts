// Panels as text that people read in review, at three kinds of terminal; and keys for them.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Canvas, Line } from '../../src/tui/lines/line.ts';
import { textOf } from '../../src/tui/lines/line.ts';
import { lineWidth } from '../../src/tui/lines/wrap.ts';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Op } from '../../src/protocol/wire/op.ts';
import type { KeyPress, Panel, PanelStep } from '../../src/tui/panels/panel.ts';

/** The usual terminal. */
export const WIDE: Canvas = { width: 80, rows: 24, hasUnicode: true };

const CANVASES: readonly (readonly [name: string, canvas: Canvas])[] = [
  ['80 columns', WIDE],
  ['50 columns', { width: 50, rows: 24, hasUnicode: true }],
  ['80 columns, without Unicode', { width: 80, rows: 24, hasUnicode: false }],
];

/** Signs that a terminal without Unicode lacks. Letters of other scripts are somebody's text. */
const SIGNS = /[\u00A0-\u00BF\u2010-\u2BFF]/;

const NAMED =
  /^(?:enter|escape|tab|shift\+tab|up|down|left|right|home|end|pageUp|pageDown|backspace|delete|(?:ctrl|alt)\+.+)$/;

/** A key by its name; any other text is typed, or pasted if it is longer than a character. */
export function keyOf(name: string): KeyPress {
  if (NAMED.test(name)) return { key: name, text: '' };
  return name.length === 1 ? { key: name === ' ' ? 'space' : name, text: name } : { key: '', text: name };
}

/** A panel that is open and takes keys. */
export function armed(panel: Panel): Panel {
  return panel.arm?.() ?? panel;
}

/** What the last of some keys does. @throws if a key before it closes the panel */
export function press(panel: Panel, ...names: readonly string[]): PanelStep {
  let step: PanelStep = { panel };
  for (const name of names) {
    assert.ok(step.panel, `closed before ${name}`);
    step = step.panel.press(keyOf(name), WIDE);
  }
  return step;
}

/** The panel after some keys. */
export function after(panel: Panel, ...names: readonly string[]): Panel {
  const { panel: next } = press(panel, ...names);
  assert.ok(next, `closed by ${names.join(' ')}`);
  return next;
}

/** The ops that the last of some keys sends. */
export function opsOf(panel: Panel, ...names: readonly string[]): readonly Op[] {
  const { effects = [] } = press(panel, ...names);
  return effects.flatMap((effect) => (effect.type === 'send' ? [effect.op] : []));
}

/** The panel after an event. */
export function heard(panel: Panel, event: SessionEvent): Panel {
  const next = panel.receive?.(event);
  assert.ok(next, `closed by ${event.type}`);
  return next;
}

/** The rows of a panel as text; a cursor on a blank is shown as a block. */
export function rowsOf(panel: Panel, canvas: Canvas = WIDE): readonly string[] {
  return panel.lines(canvas).map(shown);
}

function shown(row: Line): string {
  return row
    .map(({ text, isInverse }) => (isInverse === true && text === ' ' ? '\u2588' : text))
    .join('')
    .trimEnd();
}

/**
 * Compares panels with test/tui/NAME.frames.txt, or writes it with `BATON_FRAMES=write`: each at 80 and 50 columns, and
 * without Unicode. Every row fits; without Unicode no row holds one of its signs.
 */
export function checkFrames(
  name: string,
  moments: readonly (readonly [title: string, panel: Panel])[],
): void {
  const path = fileURLToPath(new URL(`../tui/${name}.frames.txt`, import.meta.url));
  const frames = moments.flatMap(([title, panel]) =>
    CANVASES.map(([kind, canvas]) => {
      const lines = panel.lines(canvas);
      const place = `${title}, ${kind}`;
      assert.ok(lines.length <= canvas.rows, `${place}: ${lines.length} rows`);
      for (const row of lines) {
        const text = textOf(row);
        assert.ok(lineWidth(row) <= canvas.width, `${place}: ${lineWidth(row)} columns: ${text}`);
        assert.doesNotMatch(text, /[\n\r]/, place);
        if (!canvas.hasUnicode) assert.doesNotMatch(text, SIGNS, place);
      }
      return `######## ${place}\n${lines.map(shown).join('\n')}\n`;
    }),
  );
  const drawn = frames.join('\n');
  if (process.env['BATON_FRAMES'] === 'write') writeFileSync(path, drawn);
  assert.equal(drawn, readFileSync(path, 'utf8'));
}
