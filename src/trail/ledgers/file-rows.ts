// The lines of a file that contain its names: what a summary may quote of its text.

import { definitionsIn } from './definitions.ts';
import { trimmedLines } from '../calls/known-text.ts';
import type { KnownText } from '../calls/known-text.ts';
import { redact } from '../../text/redact.ts';
import { rowAt } from '../../text/sentences.ts';
import type { FileRow } from '../trail.ts';

/** Characters of one line. */
const ROW_LENGTH = 110;

/** What is known of the names of a file. */
interface KnownNames {
  /** Each with the newest text of the file that contains it. */
  readonly symbols: ReadonlyMap<string, KnownText>;
  /** Names that a text of the file defines. */
  readonly defined: ReadonlyMap<string, string>;
}

/** A name of a file with the text that contains it, as of the trail's creation. */
interface KnownName {
  readonly name: string;
  readonly isDefined: boolean;
  readonly content: HeldText;
}

type HeldText = Readonly<Omit<KnownText, 'changes'>>;

/** Computes rows on demand: most files get no line in a summary and never need them. */
export function lazyRows(
  names: readonly string[],
  { symbols, defined }: KnownNames,
): () => readonly FileRow[] {
  const contents = new Map<KnownText, HeldText>();
  const found: KnownName[] = [];
  for (const name of names) {
    const known = symbols.get(name);
    if (known === undefined) continue;
    let content = contents.get(known);
    if (content === undefined) {
      // Later edits change the known text; the trail keeps the earlier state.
      content = { text: known.text, isWritten: known.isWritten, replaced: known.replaced };
      contents.set(known, content);
    }
    found.push({ name, isDefined: defined.has(name), content });
  }
  return () => rowsOf(found);
}

/** A line that only imports from other files. */
const IMPORTING = /^(?:import\b|from \S+ import|use \w+::|#include|(?:const|var|let) .* = require\()/;

/** A search hit, which belongs to another file: `src/a.ts:12: …`. */
const FOUND_ELSEWHERE = /^[\w./-]+\.\w+[:-]\d+[:-]/;

/**
 * The lines that contain the symbols, each once, in the order of their text. For a file that was read, its definitions appear
 * by kind and name only: their full lines would add little and take three times the space.
 */
function rowsOf(names: readonly KnownName[]): FileRow[] {
  const found = new Map<string, FileRow & { readonly content: HeldText; readonly at: number }>();
  const texts = new Map<HeldText, ReadText>();
  const written = writtenLines(new Set(names.map(({ content }) => content)));
  for (const { name, isDefined, content } of names) {
    const read = texts.get(content) ?? { definitions: undefined, seen: new Set() };
    texts.set(content, read);
    if (isDefined) read.definitions ??= definitionsIn(content.text);
    const definedAt = isDefined ? read.definitions?.get(name) : undefined;
    const isDefinition = definedAt !== undefined;
    // Imports come first in a file.
    const at = definedAt ?? content.text.lastIndexOf(name);
    if (at < 0 || isSeen(read, content.text, at, isDefinition)) continue;
    const isWritten = content.isWritten && written.has(lineAt(content.text, at));
    if (isDefinition && !isWritten) continue;
    const text = printableRow(content, name, at, isDefinition);
    if (text === '' || found.has(text)) continue;
    found.set(text, { text, isWritten, isDefinition, content, at });
  }
  const order = new Map(
    [...new Set([...found.values()].map(({ content }) => content))].map((c, at) => [c, at]),
  );
  return [...found.values()]
    .toSorted((a, b) => (order.get(a.content) ?? 0) - (order.get(b.content) ?? 0) || a.at - b.at)
    .map(({ text, isWritten, isDefinition }) => ({ text, isWritten, isDefinition }));
}

/** The lines that the agent wrote. A line that an edit repeats unchanged is only context. */
function writtenLines(contents: ReadonlySet<HeldText>): ReadonlySet<string> {
  const written = new Set<string>();
  for (const { text, isWritten, replaced } of contents) {
    if (!isWritten) continue;
    const before = new Set(trimmedLines(replaced));
    for (const line of trimmedLines(text)) if (!before.has(line)) written.add(line);
  }
  return written;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, end < 0 ? text.length : end).trim();
}

/** What is known of a text that contains several names. */
interface ReadText {
  /** Which name it defines where. */
  definitions: ReadonlyMap<string, number> | undefined;
  /** The lines already checked, stored as twice the offset of their start, plus one for a definition. */
  readonly seen: Set<number>;
}

/** Whether a line was already checked for another name: a line shown whole reads the same for all its names. */
function isSeen({ seen }: ReadText, text: string, at: number, isDefinition: boolean): boolean {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const isLong = (end < 0 ? text.length : end) - from > ROW_LENGTH;
  // A long line is shown in pieces, one for every two stretches; otherwise the same words would repeat.
  const line = isLong ? -1 - Math.floor(at / (2 * ROW_LENGTH)) : 2 * from + Number(isDefinition);
  if (seen.has(line)) return true;
  seen.add(line);
  return false;
}

/** Least length of an informative line, unless it is a definition: excludes a lone argument or brace. */
const LEAST_ROW = 28;
const LEAST_WORDS = 3;

/** A field with a one-word value, which means nothing without its parent. */
const LONE_FIELD = /^["']?[\w.-]+["']?\s*[:=]\s*\S+[,;]?$/;

/** Characters around a name that are searched for secrets before the line is cut: half a secret is unrecognisable. */
const REDACTED_LENGTH = 1_000;

/** A line with its number if a reader printed one; empty if it is uninformative or might be part of a secret. */
function printableRow({ text }: HeldText, name: string, at: number, isDefinition: boolean): string {
  const whole = redact(rowAt(text, at, REDACTED_LENGTH));
  const row = rowAt(whole, Math.max(0, whole.indexOf(name)), ROW_LENGTH);
  const numbered = row.replace(/^(\d{1,6})(?:→|\t| {2,})\s*/, '$1: ');
  const bare = numbered.replace(/^\d+: /, '');
  if (!isDefinition && (bare.length < LEAST_ROW || (bare.match(/[A-Za-z]{2,}/g) ?? []).length < LEAST_WORDS))
    return '';
  const isData =
    /^<[^<>]*>$/.test(bare) ||
    (!isDefinition && LONE_FIELD.test(bare)) ||
    (bare.length > 40 && !bare.includes(' '));
  return isData || FOUND_ELSEWHERE.test(bare) || IMPORTING.test(bare) ? '' : numbered;
}
