// The lines of a file in which its names stand: what a summary may quote of its text.

import { definitionsIn } from './definitions.ts';
import { trimmedLines } from '../calls/known-text.ts';
import type { KnownText } from '../calls/known-text.ts';
import { redact } from '../../text/redact.ts';
import { rowAt } from '../../text/sentences.ts';
import type { FileRow } from '../trail.ts';

/** Characters of one line. */
const ROW_LENGTH = 110;

/** What is known of the names of a file. */
interface HeldNames {
  /** With the newest text of the file that holds it. */
  readonly symbols: ReadonlyMap<string, KnownText>;
  /** Names that a text of the file defines. */
  readonly defined: ReadonlyMap<string, string>;
}

/** A name of a file with the text that holds it, as they were when the trail was asked for. */
interface HeldName {
  readonly name: string;
  readonly isDefined: boolean;
  readonly content: HeldText;
}

type HeldText = Readonly<Omit<KnownText, 'changes'>>;

/** Most files have no line in a summary, and then nobody asks for what stands below it. */
export function rowsLater(
  names: readonly string[],
  { symbols, defined }: HeldNames,
): () => readonly FileRow[] {
  const contents = new Map<KnownText, HeldText>();
  const held: HeldName[] = [];
  for (const name of names) {
    const known = symbols.get(name);
    if (known === undefined) continue;
    let content = contents.get(known);
    if (content === undefined) {
      // Later edits change what is known, not what was known.
      content = { text: known.text, isWritten: known.isWritten, replaced: known.replaced };
      contents.set(known, content);
    }
    held.push({ name, isDefined: defined.has(name), content });
  }
  return () => rowsOf(held);
}

/** A line that only says what other files are asked for. */
const IMPORTING = /^(?:import\b|from \S+ import|use \w+::|#include|(?:const|var|let) .* = require\()/;

/** A line of a search, which tells of another file: `src/a.ts:12: …`. */
const FOUND_ELSEWHERE = /^[\w./-]+\.\w+[:-]\d+[:-]/;

/**
 * The lines that name the symbols, each once, those of one text in its order. What a file that was read defines is told by
 * kind and name: its lines would say little more in three times the room.
 */
function rowsOf(names: readonly HeldName[]): FileRow[] {
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
    const text = tellableRow(content, name, at, isDefinition);
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

/** The lines that the agent wrote: what an edit writes again as it stood is only its context. */
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

/** What is known of a text that many names stand in. */
interface ReadText {
  /** Where it defines which name. */
  definitions: ReadonlyMap<string, number> | undefined;
  /** Lines that were looked at, as twice the place of their beginning, one more as a definition. */
  readonly seen: Set<number>;
}

/** Whether a line was looked at for another name: one that is told whole reads the same for all of its names. */
function isSeen({ seen }: ReadText, text: string, at: number, isDefinition: boolean): boolean {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const isLong = (end < 0 ? text.length : end) - from > ROW_LENGTH;
  // Of a long line pieces are told: one for each stretch of two, or they would say the same words again and again.
  const line = isLong ? -1 - Math.floor(at / (2 * ROW_LENGTH)) : 2 * from + Number(isDefinition);
  if (seen.has(line)) return true;
  seen.add(line);
  return false;
}

/** What a line has to hold to tell something by itself: a definition does, a lone argument or brace does not. */
const LEAST_ROW = 28;
const LEAST_WORDS = 3;

/** A field with a value of one word, which says nothing without what it is a field of. */
const LONE_FIELD = /^["']?[\w.-]+["']?\s*[:=]\s*\S+[,;]?$/;

/** Characters around a name in which a secret is known before the line is cut: half of one has no shape. */
const REDACTED_LENGTH = 1_000;

/** A line with its number, where a reader printed one; empty where it tells nothing or might be a part of a secret. */
function tellableRow({ text }: HeldText, name: string, at: number, isDefinition: boolean): string {
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
