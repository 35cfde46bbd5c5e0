// A list to choose from that narrows while you type.

import { fuzzyFilter } from '@earendil-works/pi-tui/dist/fuzzy.js';
import { line } from '../../lines/line.ts';
import type { Canvas, Line } from '../../lines/line.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from '../field.ts';
import type { Field } from '../field.ts';
import { signsOf } from '../../lines/signs.ts';
import { frame, roomFor } from '../frame.ts';
import type { KeyHint } from '../frame.ts';
import { GUTTER, listLines, movedCursor } from '../list.ts';
import type { KeyPress, Panel, PanelStep } from '../panel.ts';

/** What a picker offers. */
export interface Offer<Item> {
  readonly title: string;
  readonly items: readonly Item[];
  /** What the filter looks at. */
  readonly textOf: (item: Item) => string;
  /** The rows of an item, of at most `width` columns. */
  readonly rowsOf: (item: Item, canvas: Canvas) => readonly Line[];
  /** Shown where there is nothing to offer. */
  readonly empty: string;
  /** In front of what is typed to filter. */
  readonly filter: string;
  readonly keys: (canvas: Canvas) => readonly KeyHint[];
  readonly choose: (item: Item) => PanelStep;
  /** Another key for a key, such as `down` for `ctrl+r`. */
  readonly alias?: ReadonlyMap<string, string>;
  /** Takes a key before the picker does; undefined: the key does not concern it. */
  readonly other?: (key: KeyPress, item: Item | undefined) => PanelStep | undefined;
}

interface PickerState {
  /** Among the items that the filter leaves. */
  readonly cursor: number;
  readonly field: Field;
}

/** A picker. Enter chooses, Esc closes; a filter that is not empty is cleared first. */
export function picker<Item>(
  offer: Offer<Item>,
  state: PickerState = { cursor: 0, field: EMPTY_FIELD },
): Panel {
  const items = fuzzyFilter([...offer.items], state.field.text, offer.textOf);
  const panel: Panel = {
    lines: (canvas) => draw(offer, { ...state, items }, canvas),
    press: (pressed) => {
      const key = { ...pressed, key: offer.alias?.get(pressed.key) ?? pressed.key };
      const item = items[state.cursor];
      const taken = offer.other?.(key, item);
      if (taken !== undefined) return taken;
      if (key.key === 'escape') {
        return { panel: state.field.text === '' ? undefined : picker(offer) };
      }
      if (key.key === 'enter') return item === undefined ? { panel } : offer.choose(item);
      const isOfField = key.key === 'home' || key.key === 'end';
      const moved = isOfField ? undefined : movedCursor(state.cursor, items.length, key);
      if (moved !== undefined) return { panel: picker(offer, { ...state, cursor: moved }) };
      const field = typeInto(state.field, key);
      if (field === undefined) return { panel };
      return { panel: picker(offer, { cursor: field.text === state.field.text ? state.cursor : 0, field }) };
    },
  };
  return panel;
}

function draw<Item>(
  offer: Offer<Item>,
  { cursor, field, items }: PickerState & { readonly items: readonly Item[] },
  canvas: Canvas,
): readonly Line[] {
  const { width } = canvas;
  const prompt: Line = [{ text: `  ${offer.filter} `, hue: 'quiet' }];
  const search = fieldLine(field, { width, prompt, placeholder: 'type to filter' });
  const inner = { ...canvas, width: width - GUTTER };
  const room = roomFor(canvas, 2);
  const nothing = offer.items.length === 0 ? offer.empty : 'Nothing matches the filter.';
  const list =
    items.length === 0
      ? [line(`  ${nothing}`)]
      : listLines(
          canvas,
          items.map((item) => offer.rowsOf(item, inner)),
          { cursor, room },
        );
  const place = items.length === 0 ? '0' : `${cursor + 1}`;
  return frame(canvas, {
    title: offer.title,
    note: `${place} of ${items.length}`,
    body: [search, [], ...list],
    keys: [{ keys: signsOf(canvas).upDown, does: 'move', isMinor: true }, ...offer.keys(canvas)],
  });
}
