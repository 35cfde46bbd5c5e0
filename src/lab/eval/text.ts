// The text of an item, as lines: the unit in which contexts are compared, cut and credited.

import { callOf, textOfOutput, textOfParts } from '../../protocol/item.ts';
import type { Item, Json } from '../../protocol/item.ts';

/** Longer lines are cut at white space: one line of minified code must not be all or nothing. */
const LONGEST_LINE = 500;

/** The non-blank lines of an item. The arguments of calls are decoded, so that their line feeds count. */
export function linesOfItem(item: Item): readonly string[] {
  return linesOf(textOfItem(item));
}

/**
 * The lines that the author of a call or message wrote. Text that an edit repeats to say where it applies is a
 * quotation, not a use: the replaced text, the lines of it that come back, and the context lines of a patch.
 */
export function linesWritten(item: Item): readonly string[] {
  const call = callOf(item);
  if (call === undefined) return linesOfItem(item);
  const parsed = parseJson(call.input);
  const edits = parsed === undefined ? [] : editsIn(parsed);
  const quoted = new Set(edits.flatMap(linesOf));
  return linesOf(withoutPatchContext(textOfItem(item))).filter((line) => !quoted.has(line));
}

const REPLACED_KEYS = new Set(['old_string', 'oldString', 'old_str', 'oldText', 'old_text']);

/** The texts that a call's arguments want replaced, at any depth. */
function editsIn(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, Json | undefined]) => {
    if (typeof inner === 'string') return REPLACED_KEYS.has(key) ? [inner] : [];
    return inner === undefined ? [] : editsIn(inner);
  });
}

function withoutPatchContext(text: string): string {
  if (!text.includes('*** Begin Patch')) return text;
  let isInside = false;
  const kept = text.split('\n').filter((line) => {
    if (line.includes('*** Begin Patch')) isInside = true;
    if (line.startsWith('*** End Patch')) isInside = false;
    return !isInside || line.startsWith('+') || line.includes('*** ');
  });
  return kept.join('\n');
}

/** Everything that an item says to a model, as text; empty for items that are never sent to a model. */
export function textOfItem(item: Item): string {
  const call = callOf(item);
  if (call !== undefined) return `${call.name}\n${decodeArguments(call.input)}`;
  switch (item.type) {
    case 'message':
      return textOfParts(item.content);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return decodeOutput(textOfOutput(item.output));
    case 'reasoning':
      return item.text ?? item.summary.map(({ text }) => text).join('\n');
    case 'attachment':
      return item.text;
    case 'unknown':
      return JSON.stringify(item.raw);
    default:
      return '';
  }
}

/** Early rollouts wrap a result in JSON, line feeds escaped. @source Codex 0.34 */
function decodeOutput(text: string): string {
  return text.startsWith('{"output":') ? decodeArguments(text) : text;
}

/** The non-blank lines of a text, with long ones cut. */
export function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.length <= LONGEST_LINE) {
      if (line.trim() !== '') lines.push(line);
    } else cutLine(line, lines);
  }
  return lines;
}

function cutLine(line: string, lines: string[]): void {
  for (let from = 0; from < line.length;) {
    const space = line.lastIndexOf(' ', from + LONGEST_LINE);
    const isNear = space > from + LONGEST_LINE / 2;
    const to = from + LONGEST_LINE >= line.length ? line.length : isNear ? space : from + LONGEST_LINE;
    const piece = line.slice(from, to);
    if (piece.trim() !== '') lines.push(piece);
    from = to;
  }
}

/** The strings and numbers of JSON arguments, one per line; a list of strings is one command line. Other text stays. */
export function decodeArguments(input: string): string {
  const parsed = parseJson(input);
  if (parsed === undefined || typeof parsed !== 'object' || parsed === null) return input;
  const leaves: string[] = [];
  collectLeaves(parsed, leaves);
  return leaves.join('\n');
}

/** The value of a JSON text, or undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function collectLeaves(value: Json | undefined, leaves: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') leaves.push(String(value));
  else if (Array.isArray(value)) {
    if (value.every((element) => typeof element === 'string')) leaves.push(value.join(' '));
    else for (const element of value as readonly Json[]) collectLeaves(element, leaves);
  } else if (typeof value === 'object' && value !== null) {
    for (const element of Object.values(value)) collectLeaves(element, leaves);
  }
}
