// Cells that say one thing together stand as one: looks at files, the watcher's steps, the notice of a compaction and its numbers. Pure.

import type { CallCell, Cell, NoteCell } from './cell.ts';

/** The notice that precedes the numbers of a compaction. @source seed 003 §2 */
const COMPACTED = 'Context compacted.';

/** A step of the watcher without a reason: `[rawr] auto-compaction: requesting scratch write`. @source seed 003 §2 */
const STEP = /^\[rawr\] auto-compaction: ([a-z-]+(?: [a-z-]+)*)$/;

/** Several of them in one row. */
const STEPS = /^\[rawr\] auto-compaction: [a-z-]+(?: [a-z-]+)*(?:; [a-z-]+(?: [a-z-]+)*)*$/;

/** Looks in one row: more would hide the first ones. */
const MOST_LOOKS = 12;

/** Whether the next cell may join it, so that it does not enter the scrollback yet. */
export function awaitsMore(cell: Cell | undefined): boolean {
  return cell !== undefined && (isLook(cell) || isStep(cell) || isNotice(cell));
}

/** Whether a call only looks, so that it may join the looks before it when it is done. */
export function isLooking(cell: Cell | undefined): boolean {
  return cell?.type === 'call' && (cell.kind === 'read' || cell.kind === 'search');
}

/** The cells with those joined that belong together. */
export function foldCells(cells: readonly Cell[]): readonly Cell[] {
  const folded: Cell[] = [];
  for (const cell of cells) {
    const joined = join(folded.at(-1), cell);
    if (joined === undefined) folded.push(cell);
    else folded[folded.length - 1] = joined;
  }
  return folded;
}

/** @returns undefined if the cells stay apart */
function join(before: Cell | undefined, cell: Cell): Cell | undefined {
  if (before === undefined) return undefined;
  if (isNotice(before) && cell.type === 'compaction') return cell;
  if (isStep(before) && isStep(cell)) {
    return { ...before, text: `${before.text}; ${STEP.exec(cell.text)?.[1] ?? ''}` };
  }
  if (isLook(before) && isLook(cell) && before.more.length + cell.more.length + 2 <= MOST_LOOKS) {
    return { ...before, more: [...before.more, cell, ...cell.more] };
  }
  return undefined;
}

function isNotice(cell: Cell): boolean {
  return cell.type === 'note' && cell.text === COMPACTED;
}

function isStep(cell: Cell): cell is NoteCell {
  return cell.type === 'note' && cell.tone === 'info' && STEPS.test(cell.text);
}

/** A look that succeeded and of which only the name is shown. */
function isLook(cell: Cell): cell is CallCell {
  return cell.type === 'call' && isLooking(cell) && cell.status === 'completed' && cell.decided === '';
}
