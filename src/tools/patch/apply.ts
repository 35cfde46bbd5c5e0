// Applies a patch to texts: all of it, or nothing.

import { BYTE_ORDER_MARK, fileLines, joinFileLines } from '../line-endings.ts';
import type { FileLine } from '../line-endings.ts';
import type { Hunk, HunkLine, PatchAction } from './parse.ts';

/** What becomes of one file. */
export interface FileChange {
  readonly path: string;
  /** Undefined for a file that is new. */
  readonly before: string | undefined;
  /** Undefined for a file that goes. */
  readonly after: string | undefined;
}

export type AppliedPatch =
  | { readonly type: 'changes'; readonly changes: readonly FileChange[] }
  /** One sentence for the model about the first thing that cannot be done. */
  | { readonly type: 'complaint'; readonly text: string };

/**
 * The changes that a patch comes to, each file once, in the order of the patch.
 * @param read the text of a file before the patch; undefined where there is none
 */
export function applyPatch(
  actions: readonly PatchAction[],
  read: (path: string) => string | undefined,
): AppliedPatch {
  const before = new Map<string, string | undefined>();
  const now = new Map<string, string | undefined>();
  const textOf = (path: string): string | undefined => {
    if (!now.has(path)) {
      before.set(path, read(path));
      now.set(path, before.get(path));
    }
    return now.get(path);
  };
  for (const action of actions) {
    const complaint = applyAction(action, textOf, now);
    if (complaint !== undefined) return { type: 'complaint', text: `${action.path}: ${complaint}` };
  }
  const changes = [...now].map(([path, after]) => ({ path, before: before.get(path), after }));
  return { type: 'changes', changes: changes.filter((change) => change.before !== change.after) };
}

function applyAction(
  action: PatchAction,
  textOf: (path: string) => string | undefined,
  now: Map<string, string | undefined>,
): string | undefined {
  const text = textOf(action.path);
  if (action.action === 'create') {
    if (text !== undefined) return 'the file exists already; update it, or delete it first.';
    now.set(action.path, action.lines.map((line) => `${line}\n`).join(''));
    return undefined;
  }
  if (text === undefined) return 'there is no such file.';
  if (action.action === 'delete') {
    now.set(action.path, undefined);
    return undefined;
  }
  const patched = applyHunks(text, action.hunks);
  if (patched.type === 'complaint') return patched.text;
  const { to = action.path } = action;
  if (to !== action.path) {
    if (textOf(to) !== undefined) return `it cannot be moved: ${to} exists already.`;
    now.set(action.path, undefined);
  }
  now.set(to, patched.text);
  return undefined;
}

type Patched =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'complaint'; readonly text: string };

/**
 * Applies the hunks of one file, in their order. A hunk must fit at one place only after the hunk before it: a place that
 * is guessed may be the wrong one. Where no place fits exactly, blanks at the ends of lines, then at both ends, are passed over.
 */
export function applyHunks(raw: string, hunks: readonly Hunk[]): Patched {
  const mark = raw.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const old = fileLines(raw.slice(mark.length));
  const texts = old.map(({ text }) => text);
  const fresh: FileLine[] = [];
  let cursor = 0;
  for (const hunk of hunks) {
    const place = findPlace(texts, hunk, cursor);
    if (typeof place === 'string') return { type: 'complaint', text: place };
    fresh.push(...old.slice(cursor, place));
    cursor = place;
    for (const { sign, text } of hunk.lines) {
      if (sign === '+') fresh.push({ text, ending: '' });
      else {
        // Context stays as it is in the file, even where its blanks were passed over.
        if (sign === ' ') fresh.push(...old.slice(cursor, cursor + 1));
        cursor++;
      }
    }
  }
  fresh.push(...old.slice(cursor));
  return { type: 'text', text: mark + joinFileLines(fresh, old) };
}

function oldLines(lines: readonly HunkLine[]): readonly string[] {
  return lines.flatMap(({ sign, text }) => (sign === '+' ? [] : [text]));
}

type Same = (a: string, b: string) => boolean;

const SAMENESS: readonly Same[] = [
  (a, b) => a === b,
  (a, b) => a.trimEnd() === b.trimEnd(),
  (a, b) => a.trim() === b.trim(),
];

/** How many places a complaint names. */
const MAX_PLACES = 8;

/** The line, counted from 0, at which a hunk begins; else what is wrong with it. */
function findPlace(lines: readonly string[], hunk: Hunk, cursor: number): number | string {
  const name = `the part at line ${hunk.patchLine} of the patch`;
  let from = cursor;
  for (const anchor of hunk.anchors) {
    const found = firstPlace(lines, [anchor], from);
    if (found === undefined) {
      return `${name} is to come after the line ${JSON.stringify(anchor)}, which is not there${cursor > 0 ? ' after the parts before it' : ''}.`;
    }
    from = found + 1;
  }
  const old = oldLines(hunk.lines);
  if (old.length === 0) return hunk.anchors.length > 0 && !hunk.isAtEnd ? from : lines.length;
  if (hunk.isAtEnd) {
    const last = lines.length - old.length;
    if (last >= from && SAMENESS.some((same) => fits(lines, old, last, same))) return last;
    return `${name} is not what stands at the end of the file.`;
  }
  for (const same of SAMENESS) {
    const places = placesOf(lines, old, from, same);
    if (places.length === 1 || (places.length > 1 && places[0] === from && hunk.anchors.length > 0)) {
      return places[0] ?? 0;
    }
    if (places.length > 1) {
      const named = places.slice(0, MAX_PLACES).map((place) => place + 1);
      return `${name} fits at ${places.length} places (lines ${named.join(', ')}${places.length > MAX_PLACES ? ', …' : ''}). Give it more lines of context, or an @@ line before it.`;
    }
  }
  return `${name} does not fit: ${describeMiss(lines, old, from)}`;
}

function firstPlace(lines: readonly string[], wanted: readonly string[], from: number): number | undefined {
  for (const same of SAMENESS) {
    for (let at = from; at + wanted.length <= lines.length; at++)
      if (fits(lines, wanted, at, same)) return at;
  }
  return undefined;
}

function placesOf(lines: readonly string[], wanted: readonly string[], from: number, same: Same): number[] {
  const places: number[] = [];
  for (let at = from; at + wanted.length <= lines.length; at++) {
    if (fits(lines, wanted, at, same)) places.push(at);
  }
  return places;
}

function fits(lines: readonly string[], wanted: readonly string[], at: number, same: Same): boolean {
  return wanted.every((line, index) => same(lines[at + index] ?? '', line));
}

/** The place where most of its first lines stand, and the line at which it stops fitting. */
function describeMiss(lines: readonly string[], old: readonly string[], from: number): string {
  let best = 0;
  let place = 0;
  for (let at = 0; at < lines.length; at++) {
    let length = 0;
    while (length < old.length && lines[at + length]?.trim() === old[length]?.trim()) length++;
    if (length > best) [best, place] = [length, at];
  }
  const wanted = JSON.stringify((old[best] ?? '').slice(0, 120));
  if (best === 0) return `there is no line ${wanted} in the file. Read the file again.`;
  if (best === old.length) {
    return place < from
      ? `its lines stand at line ${place + 1}, before the part that comes before it. Put the parts into the order of the file.`
      : 'its lines stand elsewhere.';
  }
  const there = lines[place + best];
  return `from line ${place + 1} on its first ${best} lines are there, but then comes ${there === undefined ? 'the end of the file' : JSON.stringify(there.slice(0, 120))}, not ${wanted}.`;
}
