// Changes of files: a heading, and the diff with line numbers. Pure.

import type { FileChangeView } from '../../protocol/wire/event.ts';
import { codeIn, nextCodeLine, type CodeState } from './code.ts';
import { languageOfPath } from './languages.ts';
import { line, type Canvas, type Hue, type Line, type Sheet } from './line.ts';
import { lineWidth, wrap } from './wrap.ts';

/** A row of a diff; `number` is that of the new file, for a removed line that of the old one. */
type DiffRow =
  | { readonly type: 'gap' }
  /** Anything that is not a line of a file: "\ No newline at end of file", or text that is not a diff. */
  | { readonly type: 'remark'; readonly text: string }
  | { readonly type: 'line'; readonly sign: '+' | '-' | ' '; readonly number: number; readonly text: string };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Lines before the first hunk that name the files. */
const TITLE = /^(?:--- |\+\+\+ |diff |index |new file|deleted file|old mode|new mode|similarity|rename )/;

function rowsOf(unified: string): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const raw of unified.replace(/\n$/, '').split('\n')) {
    const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    // Some programs leave an empty line of context without its space.
    const sign = text[0] ?? ' ';
    if (oldLeft > 0 || newLeft > 0) {
      if (sign !== '+' && sign !== '-' && sign !== ' ') {
        rows.push({ type: 'remark', text });
        continue;
      }
      const number = sign === '-' ? oldLine : newLine;
      rows.push({ type: 'line', sign, number, text: text.slice(1) });
      if (sign !== '+') oldLeft--;
      if (sign !== '-') newLeft--;
      if (sign !== '+') oldLine++;
      if (sign !== '-') newLine++;
      continue;
    }
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      if (rows.length > 0) rows.push({ type: 'gap' });
      oldLine = Number(hunk[1]);
      oldLeft = Number(hunk[2] ?? 1);
      newLine = Number(hunk[3]);
      newLeft = Number(hunk[4] ?? 1);
    } else if (text !== '' && !TITLE.test(text)) {
      rows.push({ type: 'remark', text });
    }
  }
  return rows;
}

/** Columns of code below which line numbers are left out. @source decision: a line of code at the deepest habitual indentation */
const LEAST_CODE = 20;

const HUES: Readonly<Record<'+' | '-' | ' ', Hue>> = { '+': 'good', '-': 'bad', ' ': 'quiet' };

/** Draws a diff. @param path of the file, for its language */
export function diffLines(unified: string, path: string, { width, hasUnicode }: Sheet): readonly Line[] {
  const rows = rowsOf(unified);
  const digits = String(Math.max(0, ...rows.map((row) => (row.type === 'line' ? row.number : 0)))).length;
  const hasNumbers = width - digits - 3 >= LEAST_CODE;
  const gutter = (text: string): string => (hasNumbers ? `${text.padStart(digits)} ` : '');
  const beginning = codeIn(languageOfPath(path));
  let before: CodeState = beginning;
  let after: CodeState = beginning;
  return rows.flatMap((row) => {
    if (row.type === 'gap') {
      before = beginning;
      after = beginning;
      const mark = hasUnicode ? '⋯' : '...';
      return wrap(line(hasNumbers ? mark.padStart(digits) : mark, { hue: 'quiet' }), { width });
    }
    if (row.type === 'remark') return wrap(line(row.text, { hue: 'quiet' }), { width });
    const { sign, text } = row;
    const code = nextCodeLine(sign === '-' ? before : after, text);
    if (sign === '-') before = code.state;
    else after = code.state;
    if (sign === ' ') before = after;
    const hue = HUES[sign];
    const hasHues = code.row.some((span) => span.hue !== undefined);
    const shown = sign === '+' && hasHues ? code.row : line(text, { hue });
    const first: Line = [...line(gutter(String(row.number)), { hue: 'quiet' }), { text: `${sign} `, hue }];
    const others = line(' '.repeat(lineWidth(first)));
    return wrap(shown, { width: width - lineWidth(first), isVerbatim: true }).map((each, index) => [
      ...(index === 0 ? first : others),
      ...each,
    ]);
  });
}

const VERBS: Readonly<Record<FileChangeView['action'], string>> = {
  create: 'Created',
  edit: 'Edited',
  delete: 'Deleted',
  move: 'Moved',
};

/** `Edited src/a.ts (+2 -1)`. Not wrapped. */
export function changeHeading(
  change: Pick<FileChangeView, 'action' | 'path' | 'to' | 'added_lines' | 'removed_lines'>,
  { hasUnicode }: Pick<Canvas, 'hasUnicode'>,
): Line {
  const counts = [
    ...(change.added_lines > 0 ? [{ text: `+${change.added_lines}`, hue: 'good' as const }] : []),
    ...(change.removed_lines > 0 ? [{ text: `-${change.removed_lines}`, hue: 'bad' as const }] : []),
  ];
  const shown = counts.flatMap((count, index): Line => (index === 0 ? [count] : [{ text: ' ' }, count]));
  const to: Line =
    change.to === undefined ? [] : [{ text: hasUnicode ? ' → ' : ' -> ' }, { text: change.to, isBold: true }];
  return [
    { text: `${VERBS[change.action]} ` },
    { text: change.path, isBold: true },
    ...to,
    ...(shown.length === 0 ? [] : [{ text: ' (' }, ...shown, { text: ')' }]),
  ];
}
