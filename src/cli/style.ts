// Pure pieces of the terminal views: numbers, bars, sparklines, columns.

import stringWidth from 'string-width';
import { apportion } from '../text/apportion.ts';
import type { Look } from './io.ts';

export { formatNumber, plural } from '../tokens/words.ts';
export { printable } from '../text/terminal-text.ts';

/** What counted the tokens of a table, beside its sum. */
export const COUNTED_TOKENS = {
  precise: 'tokens by o200k',
  approximate: 'tokens by estimate (bytes / 4)',
} as const;

/** Colours by meaning. The word or sign beside them says the same. */
export type Tone = 'plain' | 'faint' | 'strong' | 'good' | 'warning' | 'bad' | 'accent';

/** SGR codes that begin and end each tone. Node's `styleText` follows the terminal instead of the user's options. */
const STYLES: Readonly<Record<Exclude<Tone, 'plain'>, readonly [begin: number, end: number]>> = {
  faint: [90, 39],
  strong: [1, 22],
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
  accent: [36, 39],
};

/** Paints a text if colour is on. */
export function paint(look: Look, tone: Tone, text: string): string {
  if (!look.hasColor || tone === 'plain') return text;
  const [begin, end] = STYLES[tone];
  return `\u001B${look.seal}[${begin}m${text}\u001B${look.seal}[${end}m`;
}

/** Returns the cursor to the beginning of the line and clears it, for a progress line. */
export function eraseLine({ seal }: Look): string {
  return `\u001B${seal}[1G\u001B${seal}[K`;
}

/** `63 %`; a share too small to round up is `<1 %`, a share of nothing is `-`. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return '-';
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 1 ? '<1 %' : `${Math.round(percent)} %`;
}

/**
 * The percentages of parts, which add up to `total`.
 * @param total the percentage of all parts together, a whole number; 100 for everything
 */
export function wholePercents(parts: readonly number[], whole: number, total = 100): readonly number[] {
  return apportion(parts, { whole, of: 100, sum: total });
}

/** One of `wholePercents`. Shows that a part exists even if it rounds to zero. */
export function formatPercent(percent: number, tokens: number): string {
  return percent === 0 && tokens > 0 ? '<1 %' : `${percent} %`;
}

/** `4.1 MB`, decimal. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A bar of at most `width` columns for `part` of `whole`; a part above 0 is always visible. */
export function bar(look: Look, part: number, whole: number, width: number): string {
  const share = whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
  if (!look.hasUnicode) {
    const full = Math.round(share * width);
    return '#'.repeat(share > 0 ? Math.max(1, full) : 0);
  }
  const eighths = Math.round(share * width * 8);
  const visible = share > 0 ? Math.max(1, eighths) : 0;
  return '█'.repeat(visible >> 3) + (EIGHTHS[visible & 7] ?? '');
}

/** A bar on a track: used and free are distinguishable without colour. */
export function gaugeBar(look: Look, part: number, whole: number, width: number): string {
  const filled = Math.min(width, Math.round((whole <= 0 ? 0 : part / whole) * width));
  const [on, off] = look.hasUnicode ? ['█', '░'] : ['#', '.'];
  return on.repeat(filled) + off.repeat(width - filled);
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const ASCII_LEVELS = ['.', ':', '-', '=', '+', '*', '#', '@'] as const;

/** A cell of a sparkline: a level from 0 to 1, or a mark between levels. */
export type SparkCell = { readonly level: number } | { readonly mark: string };

/** One column per cell. */
export function sparkline(look: Look, cells: readonly SparkCell[]): string {
  const levels = look.hasUnicode ? LEVELS : ASCII_LEVELS;
  return cells
    .map((cell) =>
      'mark' in cell
        ? cell.mark
        : (levels[Math.min(levels.length - 1, Math.max(0, Math.floor(cell.level * levels.length)))] ?? ''),
    )
    .join('');
}

/** Columns of a printed text: two for a wide character or an emoji, none for a combining mark. */
export function columns(text: string): number {
  const plain = stripStyle(text);
  return NARROW.test(plain) ? plain.length : stringWidth(plain);
}

/**
 * Most printed characters, each one column wide: Latin letters, punctuation, arrows and bars. Measuring others takes a hundred
 * times longer, and 30 ms the first time.
 */
const NARROW = /^[ -~\u00A1-\u00AC\u00AE-\u02AF\u2010-\u2027\u2190-\u21FF\u2500-\u259F]*$/;

// oxlint-disable-next-line no-control-regex
const STYLE = /\u001B[0-9a-f]*\[[0-9;]*m/g;

function stripStyle(text: string): string {
  return text.replaceAll(STYLE, '');
}

/** Pads to a width; longer texts stay unchanged. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - columns(text))) + text;
}

/** Shortens to a width, between user-perceived characters, and ends with `…` (or `..`). */
export function fitWidth(look: Look, text: string, width: number): string {
  if (columns(text) <= width) return text;
  const end = look.hasUnicode ? '…' : '..';
  let kept = '';
  let taken = end.length;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += columns(segment);
    if (taken > width) break;
    kept += segment;
  }
  return kept + end;
}

/** A command that ends a line. Broken into lines, it would not work when pasted. */
const COMMAND = /(?<= with:) \S.*$|(?<=:) baton \S.*$/;

/** The words of a line, each with the blank before it. */
function piecesOf(line: string): readonly string[] {
  const command = COMMAND.exec(line);
  const words = line.slice(0, command?.index).split(/(?<=\S)(?= )/);
  return command === null ? words : [...words, command[0]];
}

/**
 * Shortens a path at its beginning, because its end distinguishes it from others: `…/docs/plan.md`. Other texts end with `…`.
 */
export function fitPath(look: Look, text: string, width: number): string {
  if (columns(text) <= width || !text.includes('/') || /\s/.test(text)) return fitWidth(look, text, width);
  const steps = text.split('/');
  for (let first = 1; first < steps.length; first++) {
    const end = `${look.hasUnicode ? '…' : '..'}/${steps.slice(first).join('/')}`;
    if (columns(end) <= width) return end;
  }
  return fitWidth(look, steps.at(-1) ?? text, width);
}

/** `…`, or dots on terminals that show only ASCII. */
export function ellipsis(look: Look): string {
  return look.hasUnicode ? '…' : '...';
}

/** `→`, or its ASCII form. */
export function arrow(look: Look): string {
  return look.hasUnicode ? '→' : '->';
}

/**
 * Breaks lines that are wider than the terminal at spaces and indents the continuation. A longer word, and a command that ends a
 * line, stay whole, since users copy paths and commands. In a pipe or file, lines stay whole.
 * @param hang columns before each continuation; by default two more than the line's own indentation
 */
export function foldLines(look: Look, text: string, hang?: number): string {
  if (look.isPiped === true) return text;
  return text
    .split('\n')
    .map((line) => (columns(line) <= look.width ? line : foldLine(line, look.width, hang)))
    .join('\n');
}

function foldLine(line: string, width: number, hang?: number): string {
  const own = /^ */.exec(stripStyle(line))?.[0].length ?? 0;
  const indent = ' '.repeat(Math.min(hang ?? own + 2, width >> 1));
  const rows: string[] = [];
  let row = '';
  let taken = 0;
  for (const piece of piecesOf(line)) {
    const wide = columns(piece);
    if (row !== '' && taken + wide > width) {
      rows.push(row);
      const word = piece.trimStart();
      row = indent + word;
      taken = indent.length + columns(word);
    } else {
      row += piece;
      taken += wide;
    }
  }
  return [...rows, row].join('\n');
}

/** A path below a folder without that folder; other texts unchanged. */
export function belowFolder(text: string, folder: string | undefined): string {
  return folder !== undefined && text.startsWith(`${folder}/`) ? text.slice(folder.length + 1) : text;
}

/** A path in short form: `~` for the home directory. */
export function tildePath(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
