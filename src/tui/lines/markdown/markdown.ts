// Markdown as lines for the terminal. Pure; never throws, whatever the text.

import { line, type Line, type Sheet } from '../line.ts';
import { cut, lineWidth, wrap } from '../wrap.ts';
import type { Block, BlockContent, Container } from './blocks.ts';
import { inlineLines } from './inline.ts';
import { blocksOf } from './stream.ts';
import { tableLines } from './tables.ts';

/** Columns that code is set in by. @source habit of terminal agents: frames would be copied with the code */
const CODE_INDENT = '  ';

/** Draws a message. */
export function markdownLines(source: string, canvas: Sheet): readonly Line[] {
  return blocksOf(source).flatMap((block) => blockLines(block, canvas));
}

/** Draws a block of a message. The lines of all blocks, one after the other, are the message. */
export function blockLines({ containers, gap, content }: Block, canvas: Sheet): readonly Line[] {
  const task = content.type === 'paragraph' ? taskOf(content.text, containers) : undefined;
  const { first, others } = prefixes(containers, canvas, task);
  const width = Math.max(1, canvas.width - lineWidth(others));
  const rows = contentLines(task === undefined ? content : { type: 'paragraph', text: task.text }, {
    ...canvas,
    width,
  });
  const lines = rows.map((row, index): Line => [...(index === 0 ? first : others), ...row]);
  if (gap === undefined) return lines;
  const around = prefixes(containers.slice(0, gap).map(asShown), canvas).others;
  return [trimEnd(around), ...lines];
}

function asShown(container: Container): Container {
  return { ...container, isShown: true };
}

function contentLines(content: BlockContent, sheet: Sheet): readonly Line[] {
  const { width } = sheet;
  switch (content.type) {
    case 'paragraph':
      return inlineLines(content.text).flatMap((each) => wrap(each, { width }));
    case 'heading': {
      const style = { isBold: true, ...(content.level === 1 ? { isUnderlined: true } : {}) };
      return inlineLines(content.text, style).flatMap((each) => wrap(each, { width }));
    }
    case 'rule':
      return [line((sheet.hasUnicode ? '─' : '-').repeat(width), { hue: 'quiet' })];
    case 'table':
      return tableLines(content.text, sheet);
    case 'html':
      return wrap(line(content.text), { width });
    case 'caption':
      return codeRows(line(content.text, { hue: 'quiet' }), width);
    case 'code':
      return codeRows(content.row, width);
    case 'nothing':
      return [[]];
  }
}

/** Where there is no room for the indentation there is none. */
function codeRows(row: Line, width: number): readonly Line[] {
  if (row.length === 0) return [[]];
  const indent = width > 4 * CODE_INDENT.length ? line(CODE_INDENT) : [];
  return wrap(row, { width: width - lineWidth(indent), isVerbatim: true }).map((each) => [
    ...indent,
    ...each,
  ]);
}

/** A task of a list: its box replaces the bullet. */
function taskOf(
  text: string,
  containers: readonly Container[],
): { readonly isDone: boolean; readonly text: string } | undefined {
  const item = containers.at(-1);
  const box = item?.type === 'item' && !item.isShown ? /^\[([ xX])\][ \n]/.exec(text) : null;
  return box === null ? undefined : { isDone: box[1] !== ' ', text: text.slice(box[0].length).trimStart() };
}

/** What the first row and the others begin with. Deep nesting leaves at least half of the width to the text. */
function prefixes(
  containers: readonly Container[],
  { width, hasUnicode }: Sheet,
  task?: { readonly isDone: boolean },
): { readonly first: Line; readonly others: Line } {
  const parts = containers.map((container, index) => {
    if (container.type === 'quote') {
      const bar = line(hasUnicode ? '│ ' : '| ', { hue: 'quiet' });
      return { first: bar, others: bar };
    }
    const isTask = task !== undefined && index === containers.length - 1;
    const text = isTask
      ? taskMarker(container.marker, task.isDone, hasUnicode)
      : markerText(container.marker, hasUnicode);
    const marker = `${text} `;
    const others = line(' '.repeat(lineWidth(line(marker))));
    return {
      first: container.isShown ? others : line(marker, isTask && task.isDone ? { hue: 'good' } : {}),
      others,
    };
  });
  // The widest characters have two columns.
  const most = Math.min(width >> 1, Math.max(0, width - 2));
  let used = 0;
  let from = parts.length;
  while (from > 0) {
    used += lineWidth(parts[from - 1]?.others ?? []);
    if (used > most) break;
    from--;
  }
  const kept = parts.slice(from);
  const first = kept.flatMap((each) => each.first);
  const others = kept.flatMap((each) => each.others);
  const inner = parts.at(-1);
  if (kept.length > 0 || inner === undefined) return { first, others };
  // Not even the innermost marker fits: what fits of it is better than nothing.
  return { first: cut(inner.first, most, ''), others: cut(inner.others, most, '') };
}

function markerText(marker: string, hasUnicode: boolean): string {
  return marker === '-' && hasUnicode ? '•' : marker;
}

function taskMarker(marker: string, isDone: boolean, hasUnicode: boolean): string {
  const unicode = isDone ? '☑' : '☐';
  const ascii = isDone ? '[x]' : '[ ]';
  const box = hasUnicode ? unicode : ascii;
  return marker === '-' ? box : `${marker} ${box}`;
}

function trimEnd(spans: Line): Line {
  const last = spans.at(-1);
  if (last === undefined) return spans;
  const text = last.text.trimEnd();
  return text === '' ? trimEnd(spans.slice(0, -1)) : [...spans.slice(0, -1), { ...last, text }];
}
