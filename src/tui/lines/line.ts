// What the terminal shows, as data: lines of styled text. Only `terminal/paint` turns them into bytes, and it shows control
// characters instead of sending them, so no text of a model, a tool or a file can drive the terminal.

/** Colours by meaning. A word or a sign beside them says the same, because a terminal may have no colour. */
export type Hue =
  'quiet' | 'accent' | 'good' | 'warning' | 'bad' | 'keyword' | 'string' | 'number' | 'comment' | 'name';

/** A run of text in one style. */
export interface Span {
  /** Without line ends. */
  readonly text: string;
  /** Absent: the terminal's own colour. */
  readonly hue?: Hue;
  readonly isBold?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isStruck?: boolean;
  /** Foreground and background change places: cursors and selections. */
  readonly isInverse?: boolean;
}

/** One row of the terminal, or a row before wrapping. */
export type Line = readonly Span[];

/** What the terminal can show. */
export interface Canvas {
  /** Columns. */
  readonly width: number;
  /** Rows of the whole terminal. */
  readonly rows: number;
  /** Block characters, box lines and arrows; otherwise plain ASCII. */
  readonly hasUnicode: boolean;
}

/** What decides how lines are drawn; how many rows there are does not. */
export type Sheet = Pick<Canvas, 'width' | 'hasUnicode'>;

/** A line of one style. */
export function line(text: string, style: Omit<Span, 'text'> = {}): Line {
  return text === '' ? [] : [{ ...style, text }];
}

/** The text of a line, without styles. */
export function textOf(spans: Line): string {
  return spans.map(({ text }) => text).join('');
}
