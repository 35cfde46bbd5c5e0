// Texts, numbers and times as panels show them.

import type { SandboxMode } from '../../vocabulary.ts';
import { line } from '../lines/line.ts';
import type { Line, Span } from '../lines/line.ts';
import { wrap } from '../lines/wrap.ts';

/** A text as rows, broken at its line ends and at spaces. */
export function paragraph(text: string, width: number, style: Omit<Span, 'text'> = {}): readonly Line[] {
  return text.split(/\r\n|\r|\n/).flatMap((each) => wrap(line(each, style), { width }));
}

/** Rows with blanks before each. */
export function indented(rows: readonly Line[], columns: number): readonly Line[] {
  return rows.map((row) => (row.length === 0 ? row : [{ text: ' '.repeat(columns) }, ...row]));
}

/** Columns of the names in front of facts. */
const NAME_WIDTH = 12;

/** A fact with its name in front, such as `Folder      ~/project`; the rows of a long one stand below each other. */
export function fact(name: string, value: Line, width: number): readonly Line[] {
  return wrap(value, { width: Math.max(1, width - NAME_WIDTH) }).map((row, index) => [
    { text: index === 0 ? name.padEnd(NAME_WIDTH) : ' '.repeat(NAME_WIDTH), hue: 'quiet' },
    ...row,
  ]);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * How long ago something was: `now`, `5m ago`, `3h ago`, `2d ago`.
 * @param now milliseconds since 1970
 * @param at the same, or ISO 8601; a time that cannot be read is an empty text
 */
export function ageOf(now: number, at: number | string): string {
  const ms = now - (typeof at === 'number' ? at : Date.parse(at));
  if (Number.isNaN(ms)) return '';
  if (ms < MINUTE) return 'now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h ago`;
  return `${Math.floor(ms / DAY)}d ago`;
}

/** Bytes: `812 B`, `204 KB`, `1.5 MB`, in units of 1,000. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A wire word for people: `workspace_write` is `workspace write`. */
export function spoken(word: string): string {
  return word.replaceAll('_', ' ');
}

/** What a sandbox allows, in a few words. */
export function sandboxWords(sandbox: SandboxMode): string {
  switch (sandbox) {
    case 'read_only':
      return 'read only: it can change nothing';
    case 'workspace_write':
      return 'workspace write: it can change files of the workspace';
    case 'danger_full_access':
      return 'full access: nothing is protected';
  }
}
