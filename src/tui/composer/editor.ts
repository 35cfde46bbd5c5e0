// The draft's text and cursor, kept by pi-tui's editor: wrapping, word moves, undo, kill ring, pastes as chips. This file alone
// knows that class: it gives it keys as the bytes it understands, and turns its rows into spans.

import { Editor } from '@earendil-works/pi-tui/dist/components/editor.js';
import { CURSOR_MARKER } from '@earendil-works/pi-tui/dist/tui.js';
import type { Line, Span } from '../lines/line.ts';
import { widthOf } from '../lines/wrap.ts';

/** What pi-tui's editor keeps to itself and this file needs; a test notices when a version changes it. */
interface Insides {
  readonly pastes: Map<number, string>;
  readonly state: { lines: string[]; cursorLine: number; cursorCol: number };
  readonly killRing: { push(text: string, how: { readonly prepend: boolean }): void };
  setCursorCol(column: number): void;
  pushUndoSnapshot(): void;
  isOnFirstVisualLine(): boolean;
  isOnLastVisualLine(): boolean;
}

/** The editor's keys as bytes, so that one key is the same however its terminal encodes it. */
const BYTES: ReadonlyMap<string, string> = new Map([
  ['up', '\u001B[A'],
  ['down', '\u001B[B'],
  ['right', '\u001B[C'],
  ['left', '\u001B[D'],
  ['home', '\u001B[H'],
  ['end', '\u001B[F'],
  ['pageUp', '\u001B[5~'],
  ['pageDown', '\u001B[6~'],
  ['delete', '\u001B[3~'],
  ['shift+delete', '\u001B[3~'],
  ['backspace', '\u007F'],
  ['shift+backspace', '\u007F'],
  ['ctrl+left', '\u001B[1;5D'],
  ['ctrl+right', '\u001B[1;5C'],
  ['alt+left', '\u001B[1;3D'],
  ['alt+right', '\u001B[1;3C'],
  ['alt+b', '\u001B[1;3D'],
  ['alt+f', '\u001B[1;3C'],
  ['alt+backspace', '\u001B\u007F'],
  ['ctrl+backspace', '\u001B\u007F'],
  ['alt+d', '\u001Bd'],
  ['alt+delete', '\u001Bd'],
  ['alt+y', '\u001By'],
  ['ctrl+a', '\u0001'],
  ['ctrl+b', '\u0002'],
  ['ctrl+d', '\u0004'],
  ['ctrl+e', '\u0005'],
  ['ctrl+f', '\u0006'],
  ['ctrl+h', '\u007F'],
  ['ctrl+k', '\u000B'],
  ['ctrl+u', '\u0015'],
  ['ctrl+w', '\u0017'],
  ['ctrl+y', '\u0019'],
  ['ctrl+-', '\u001F'],
]);

/** A large paste as the draft shows it. */
const CHIP = /\[paste #(\d{1,9}) (?:\+\d{1,12} lines|\d{1,12} chars)\]/g;

/** Characters that a draft cannot hold: they would drive the terminal. Tabs and line ends are converted. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;

/** Columns to wrap at least: the editor never ends wrapping a character that is wider than a row. @source pi-tui 0.74.2, `wordWrapLine` */
const LEAST_WIDTH = 8;

/** The visible rows of a draft. */
export interface DraftRows {
  readonly rows: readonly Line[];
  /** Where the cursor is: a row of `rows`, and a column. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** Rows that are scrolled out of sight. */
  readonly above: number;
  readonly below: number;
}

/** The text of a draft with its cursor. */
export class DraftEditor {
  readonly #editor: Editor;
  readonly #insides: Insides;
  /** What the editor asks of its terminal. */
  readonly #tui = { requestRender: () => undefined, terminal: { rows: 24 } };

  constructor() {
    const selectList = {
      selectedPrefix: plain,
      selectedText: plain,
      description: plain,
      scrollInfo: plain,
      noMatch: plain,
    };
    this.#editor = new Editor(this.#tui as unknown as ConstructorParameters<typeof Editor>[0], {
      borderColor: plain,
      selectList,
    });
    this.#insides = this.#editor as unknown as Insides;
    this.#editor.focused = true;
  }

  /** The text with chips for large pastes. */
  get text(): string {
    return this.#editor.getText();
  }

  /** The text with the pastes themselves. */
  get expandedText(): string {
    return this.expand(this.text);
  }

  /** A text with the pastes instead of their chips. */
  expand(text: string): string {
    return text.replace(CHIP, (chip, id: string) => this.#insides.pastes.get(Number(id)) ?? chip);
  }

  /** The cursor's line up to the cursor. */
  get before(): string {
    const { lines, cursorLine, cursorCol } = this.#insides.state;
    return (lines[cursorLine] ?? '').slice(0, cursorCol);
  }

  get isOnFirstLine(): boolean {
    return this.#insides.state.cursorLine === 0;
  }

  /** Whether the cursor is in the first or last row, as wrapped when the rows were last drawn. */
  isAtEdge(edge: 'first' | 'last'): boolean {
    return edge === 'first' ? this.#insides.isOnFirstVisualLine() : this.#insides.isOnLastVisualLine();
  }

  /** Takes a key that edits or moves; others do nothing. */
  press(key: string, text: string): void {
    const bytes = BYTES.get(key);
    if (bytes !== undefined) this.#editor.handleInput(bytes);
    else if (text !== '') this.#editor.handleInput(text.replace(CONTROL, ''));
  }

  newline(): void {
    this.#editor.handleInput('\u001B\r');
  }

  /**
   * Inserts pasted text, as a chip if it has more than 10 lines or 1,000 characters. Pasting what a chip of the draft holds puts
   * the text in its place.
   */
  paste(text: string): void {
    const { pastes } = this.#insides;
    const known = new Set(pastes.keys());
    const draft = this.text;
    this.#editor.handleInput(`\u001B[200~${text.replace(CONTROL, keepsPasteKeys)}\u001B[201~`);
    const added = [...pastes.keys()].find((id) => !known.has(id));
    if (added === undefined) return;
    const pasted = pastes.get(added) ?? '';
    const chip = [...draft.matchAll(CHIP)].find(([, id]) => pastes.get(Number(id)) === pasted)?.[0];
    if (chip === undefined) return;
    this.#editor.handleInput('\u007F');
    pastes.delete(added);
    const at = draft.indexOf(chip);
    const lines = (draft.slice(0, at) + pasted).split('\n');
    this.replace(draft.slice(0, at) + pasted + draft.slice(at + chip.length));
    this.#insides.state.cursorLine = lines.length - 1;
    this.#insides.setCursorCol(lines.at(-1)?.length ?? 0);
  }

  /** Replaces the whole text; the cursor goes to its end. Undo brings the former text back. */
  replace(text: string): void {
    this.#editor.setText(text.replace(CONTROL, ''));
  }

  /** Replaces the text before the cursor. @param length UTF-16 units of the cursor's line */
  replaceBefore(length: number, text: string): void {
    this.#insides.pushUndoSnapshot();
    const { lines, cursorLine, cursorCol } = this.#insides.state;
    const line = lines[cursorLine] ?? '';
    const start = Math.max(0, cursorCol - length);
    lines[cursorLine] = line.slice(0, start) + text + line.slice(cursorCol);
    this.#insides.setCursorCol(start + text.length);
  }

  /** Removes the first character of the text; the cursor stays at its place. */
  dropFirst(): void {
    const { lines, cursorLine, cursorCol } = this.#insides.state;
    lines[0] = (lines[0] ?? '').slice(1);
    if (cursorLine === 0) this.#insides.setCursorCol(Math.max(0, cursorCol - 1));
  }

  /** Keeps a text for Ctrl+Y. */
  keep(text: string): void {
    if (text !== '') this.#insides.killRing.push(text, { prepend: false });
  }

  /**
   * The rows around the cursor: at most 30 % of the terminal's, and at least 5. Wider than `width` if that is below `LEAST_WIDTH`.
   * @source pi-tui's editor
   */
  draw(width: number, terminalRows: number): DraftRows {
    this.#tui.terminal.rows = terminalRows;
    const [top = '', ...rest] = this.#editor.render(Math.max(LEAST_WIDTH, width));
    const bottom = rest.pop() ?? '';
    let cursor = { row: 0, column: 0 };
    const rows = rest.map((row, at) => {
      const marker = row.indexOf(CURSOR_MARKER);
      if (marker !== -1) cursor = { row: at, column: widthOf(row.slice(0, marker)) };
      return spansOf(row.replace(CURSOR_MARKER, ''));
    });
    return { rows, cursor, above: hidden(top), below: hidden(bottom) };
  }
}

/** The editor's own colours: none. */
function plain(text: string): string {
  return text;
}

/** Keeps ESC in a paste: the editor turns keys that a terminal encoded within a paste back, and drops every other one. */
function keepsPasteKeys(character: string): string {
  return character === '\u001B' ? character : '';
}

/** Rows out of sight, which the editor writes into its frame. */
function hidden(frame: string): number {
  return Number(/[↑↓] (\d{1,9}) more/.exec(frame)?.[1] ?? 0);
}

/** A row of the editor: its only sequences are the inverse cursor's. Spaces at the end are padding. */
function spansOf(row: string): Line {
  const [before = '', rest] = row.split('\u001B[7m');
  if (rest === undefined) return withChips(before.trimEnd());
  const [cursor = '', after = ''] = rest.split('\u001B[0m');
  return [...withChips(before), { text: cursor, isInverse: true }, ...withChips(after.trimEnd())];
}

function withChips(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(CHIP)) {
    spans.push({ text: text.slice(end, match.index) }, { text: match[0], hue: 'accent' });
    end = match.index + match[0].length;
  }
  spans.push({ text: text.slice(end) });
  return spans.filter((span) => span.text !== '');
}
