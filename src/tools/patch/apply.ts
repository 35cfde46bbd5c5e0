// Applies a patch to texts: completely or not at all.

import { BYTE_ORDER_MARK, fileLines, joinFileLines } from '../files/line-endings.ts';
import type { FileLine } from '../files/line-endings.ts';
import type { Hunk, HunkLine, PatchAction } from './parse.ts';
import { LineIndex, Steps } from './placing.ts';

/** The change of one file. */
export interface FileChange {
  readonly path: string;
  /** Undefined for a new file. */
  readonly before: string | undefined;
  /** Undefined for a deleted file. */
  readonly after: string | undefined;
}

export type AppliedPatch =
  | { readonly type: 'changes'; readonly changes: readonly FileChange[] }
  /** One sentence for the model about the first step that fails. */
  | { readonly type: 'complaint'; readonly text: string };

/**
 * The changes of a patch, each file once, in the order of the patch. Yields before each part: a patch may take seconds, and its
 * caller decides whether to continue.
 * @param read the text of a file before the patch; undefined where there is none
 */
export function* applyPatch(
  actions: readonly PatchAction[],
  read: (path: string) => string | undefined,
): Generator<void, AppliedPatch> {
  const before = new Map<string, string | undefined>();
  const now = new Map<string, string | undefined>();
  const textOf = (path: string): string | undefined => {
    if (!now.has(path)) {
      before.set(path, read(path));
      now.set(path, before.get(path));
    }
    return now.get(path);
  };
  const steps = new Steps();
  for (const action of actions) {
    const complaint = yield* applyAction(action, { textOf, now, steps });
    if (complaint !== undefined) return { type: 'complaint', text: `${action.path}: ${complaint}` };
  }
  const changes = [...now].map(([path, after]) => ({ path, before: before.get(path), after }));
  return { type: 'changes', changes: changes.filter((change) => change.before !== change.after) };
}

interface Texts {
  readonly textOf: (path: string) => string | undefined;
  readonly now: Map<string, string | undefined>;
  readonly steps: Steps;
}

function* applyAction(
  action: PatchAction,
  { textOf, now, steps }: Texts,
): Generator<void, string | undefined> {
  yield;
  const text = textOf(action.path);
  if (action.action === 'create') {
    if (text !== undefined) return 'the file already exists; update it, or delete it first.';
    now.set(action.path, action.lines.map((line) => `${line}\n`).join(''));
    return undefined;
  }
  if (text === undefined) return 'the file does not exist.';
  if (action.action === 'delete') {
    now.set(action.path, undefined);
    return undefined;
  }
  const patched = yield* applyHunks(text, action.hunks, steps);
  if (patched.type === 'complaint') return patched.text;
  const { to = action.path } = action;
  if (to !== action.path) {
    if (textOf(to) !== undefined) return `it cannot be moved: ${to} already exists.`;
    now.set(action.path, undefined);
  }
  now.set(to, patched.text);
  return undefined;
}

type Patched =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'complaint'; readonly text: string };

/**
 * Applies the hunks of one file in order. Each hunk must fit at exactly one place after the previous hunk, because a guessed
 * place may be the wrong one. If no place fits exactly, it ignores whitespace at the ends of lines, then at both ends.
 */
function* applyHunks(raw: string, hunks: readonly Hunk[], steps: Steps): Generator<void, Patched> {
  const mark = raw.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const old = fileLines(raw.slice(mark.length));
  const index = new LineIndex(
    old.map(({ text }) => text),
    steps,
  );
  const fresh: FileLine[] = [];
  let cursor = 0;
  // One by one: a call with 200,000 arguments overflows the stack.
  const keepUpTo = (end: number): void => {
    for (; cursor < end; cursor++) {
      const line = old[cursor];
      if (line !== undefined) fresh.push(line);
    }
  };
  for (const hunk of hunks) {
    yield;
    const place = findPlace({ index, length: old.length, line: (at) => old[at]?.text }, hunk, cursor);
    if (typeof place === 'string') return { type: 'complaint', text: place };
    if (steps.areSpent) return { type: 'complaint', text: TOO_MUCH };
    keepUpTo(place);
    for (const { sign, text } of hunk.lines) {
      // Context keeps the file's whitespace, even where matching ignored it.
      if (sign === '+') fresh.push({ text, ending: '' });
      else if (sign === ' ') keepUpTo(cursor + 1);
      else cursor++;
    }
  }
  keepUpTo(old.length);
  return { type: 'text', text: mark + joinFileLines(fresh, old) };
}

function oldLines(lines: readonly HunkLine[]): readonly string[] {
  return lines.flatMap(({ sign, text }) => (sign === '+' ? [] : [text]));
}

/** How many places a complaint lists. */
const MAX_PLACES = 8;

const TOO_MUCH =
  'the patch takes too long: it changes large files many times, or its parts consist of lines that occur at many places. Send it in several calls.';

/** A file to patch. */
interface PatchedFile {
  readonly index: LineIndex;
  /** Its number of lines. */
  readonly length: number;
  readonly line: (at: number) => string | undefined;
}

/** The 0-based line where a hunk begins, or what is wrong with it. */
function findPlace(file: PatchedFile, hunk: Hunk, cursor: number): number | string {
  const { index, length } = file;
  const name = `the part at line ${hunk.patchLine} of the patch`;
  let from = cursor;
  for (const anchor of hunk.anchors) {
    const found = index.firstLine(anchor, from);
    if (found === undefined) {
      return `${name} must follow the line ${JSON.stringify(anchor)}, which does not occur${cursor > 0 ? ' after the parts before it' : ''}.`;
    }
    from = found + 1;
  }
  const old = oldLines(hunk.lines);
  const isAnchored = hunk.anchors.length > 0;
  if (old.length === 0) return isAnchored && !hunk.isAtEnd ? from : length;
  if (hunk.isAtEnd) {
    const last = length - old.length;
    if (last >= from && index.isAt(old, last)) return last;
    return `${name} does not match the end of the file.`;
  }
  const places = index.places(old, from, { isFirstEnough: isAnchored, most: MAX_PLACES });
  if (places === undefined) return `${name} does not fit: ${describeMiss(file, old, from)}`;
  const [place = 0] = places.first;
  if (places.count === 1) return place;
  const named = places.first.map((each) => each + 1);
  return `${name} fits at ${places.count} places (lines ${named.join(', ')}${places.count > MAX_PLACES ? ', …' : ''}). Give it more lines of context, or an @@ line before it.`;
}

/** The place that matches most of its first lines, and the line where the match ends. */
function describeMiss({ index, line }: PatchedFile, old: readonly string[], from: number): string {
  const { place, length } = index.longestStart(old);
  const wanted = JSON.stringify((old[length] ?? '').slice(0, 120));
  if (length === 0) return `the line ${wanted} is not in the file. Read the file again.`;
  if (length === old.length) {
    return place < from
      ? `its lines are at line ${place + 1}, above the previous part. Put the parts into the order of the file.`
      : 'its lines are elsewhere.';
  }
  const there = line(place + length);
  return `from line ${place + 1} on its first ${length} lines match, but then comes ${there === undefined ? 'the end of the file' : JSON.stringify(there.slice(0, 120))}, not ${wanted}.`;
}
