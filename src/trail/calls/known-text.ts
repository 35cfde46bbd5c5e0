// The known text of a file, updated by edits made after it was read or written.

/** Text that was read from a file or written to it; only the part that is still in the file. */
export interface KnownText {
  text: string;
  readonly isWritten: boolean;
  /** What the edit that wrote it replaced; empty if it replaced nothing. */
  readonly replaced: string;
  /** How many changes of the file have been applied to it. */
  changes: number;
}

/** One place of a file that an edit changed. */
export interface TextReplacement {
  readonly old: string;
  readonly new: string;
  /** Both consist of whole lines, not necessarily adjacent, as in a patch; otherwise the old text was contiguous. */
  readonly isLines: boolean;
}

/** A change of a file; without replacements, its content is unknown. */
export interface FileChange {
  /** Counted from 1 within the file. */
  readonly number: number;
  readonly replaced: readonly TextReplacement[];
}

/**
 * Updates a text: removes deleted lines and replaces text within lines. Drops leading line numbers, because lines may have
 * moved.
 */
export function bringUpToDate(known: KnownText, changes: readonly FileChange[]): void {
  const missed = changes.filter(({ number }) => number > known.changes);
  if (missed.length === 0) return;
  const lines = trimmedLines(known.text);
  known.text = changedLines(known.isWritten ? lines : withoutNumbers(lines), missed).join('\n');
  known.changes = missed.at(-1)?.number ?? known.changes;
}

/** Whether changes removed anything from a text. */
export function isTouched(text: string, changes: readonly FileChange[]): boolean {
  if (changes.length === 0) return false;
  const lines = trimmedLines(text);
  return changedLines(lines, changes).join('\n') !== lines.join('\n');
}

/** The lines of a text, each trimmed. */
export function trimmedLines(text: string): string[] {
  return text.split('\n').map((line) => line.trim());
}

/** A shorter piece of a line is too common to identify. */
const LEAST_PIECE = 4;

function changedLines(trimmed: readonly string[], changes: readonly FileChange[]): readonly string[] {
  let lines = trimmed;
  for (const replacement of changes.flatMap(({ replaced }) => replaced)) {
    const piece = replacement.old.trim();
    if (replacement.isLines || piece.includes('\n')) {
      const removed = removedLines(replacement);
      if (removed.size > 0) lines = lines.filter((line) => !removed.has(line));
    } else if (piece.length >= LEAST_PIECE && lines.some((line) => line.includes(piece))) {
      lines = lines.flatMap((line) =>
        line.includes(piece) ? line.split(piece).join(replacement.new.trim()).split('\n') : [line],
      );
    }
  }
  return lines;
}

/** Cached by replacement, because a file's texts all apply the same ones. */
const removedBy = new WeakMap<TextReplacement, ReadonlySet<string>>();

/** The lines that a replacement removes and does not write again. */
function removedLines(replacement: TextReplacement): ReadonlySet<string> {
  const known = removedBy.get(replacement);
  if (known !== undefined) return known;
  const removed = new Set(trimmedLines(replacement.old));
  for (const line of replacement.new.split('\n')) removed.delete(line.trim());
  removed.delete('');
  removedBy.set(replacement, removed);
  return removed;
}

/** How readers number lines: `cat -n`, `nl`, `grep -n` and the file tools of the agents. */
const LINE_NUMBER = /^\d{1,6}(?:→|\t| {2,}|[|:-] ?)[ \t]*/;

/** Strips leading numbers if half of the lines have one: they come from the reader. */
function withoutNumbers(lines: readonly string[]): readonly string[] {
  const filled = lines.filter((line) => line !== '');
  const isNumbered = 2 * filled.filter((line) => LINE_NUMBER.test(line)).length >= filled.length;
  return isNumbered ? lines.map((line) => line.replace(LINE_NUMBER, '')) : lines;
}
