// Exact replacement: the old text must occur and, unless all occurrences are requested, only once.

import type { TextEdit } from './line-endings.ts';
import { followStarts, placesOf } from '../sequence.ts';

/** The result of a replacement: edits of the text, or a sentence for the model. */
export type ReplacementOutcome =
  | { readonly type: 'edits'; readonly edits: readonly TextEdit[] }
  | { readonly type: 'complaint'; readonly text: string };

/** The replacement to make. */
export interface ReplacementRequest {
  readonly oldText: string;
  readonly newText: string;
  readonly replacesAll: boolean;
}

/** How many places a complaint lists. */
const MAX_PLACES = 8;

/** Longer texts are not written. @source half of the longest string of Node */
const LONGEST_TEXT = 2 ** 28;

/** Finds the places to replace in a text with line feeds. */
export function findReplacement(text: string, request: ReplacementRequest): ReplacementOutcome {
  const wanted = request.oldText.replaceAll('\r\n', '\n');
  const newText = request.newText.replaceAll('\r\n', '\n');
  if (wanted === '') return complaint('old_string is empty. To create a new file use write.');
  if (wanted === newText) return complaint('old_string and new_string are the same.');
  const places = placesOf(text, wanted);
  if (places.length === 0) return complaint(describeMiss(text, wanted));
  if (places.length > 1 && !request.replacesAll) {
    const lines = places.slice(0, MAX_PLACES).map((place) => lineAt(text, place));
    const more = places.length > MAX_PLACES ? ', …' : '';
    return complaint(
      `old_string occurs ${places.length} times (lines ${lines.join(', ')}${more}). Add the lines around the one you mean, or set replace_all.`,
    );
  }
  if (text.length + places.length * newText.length > LONGEST_TEXT) {
    return complaint(`the file would have more than ${LONGEST_TEXT} characters.`);
  }
  return {
    type: 'edits',
    edits: places.map((from) => ({ from, to: from + wanted.length, text: newText })),
  };
}

function complaint(text: string): ReplacementOutcome {
  return { type: 'complaint', text };
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** Why a text does not occur, if the reason is known. */
function describeMiss(text: string, wanted: string): string {
  const place = squeezedPlace(text, wanted);
  if (place !== undefined) {
    return `old_string is not in the file exactly, but from line ${place} on the text differs only in whitespace. Copy it exactly, without line numbers.`;
  }
  if (/^ *\d+\t/.test(wanted)) {
    return 'old_string is not in the file. It begins with a line number, which read adds to each line and which is not part of the file.';
  }
  return 'old_string is not in the file. Read the file again and copy the text exactly.';
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, '');
}

/** The line where a text begins if whitespace within and around lines is ignored. */
function squeezedPlace(text: string, wanted: string): number | undefined {
  const needle = wanted.split('\n').map(squeeze);
  if (needle.every((line) => line === '')) return undefined;
  const ids = new Map<string, number>();
  const hay = Array.from(text.split('\n'), (line) => {
    const key = squeeze(line);
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  });
  let found: number | undefined;
  followStarts(
    hay,
    needle.map((line) => ids.get(line) ?? -1),
    (place, length) => {
      if (length === needle.length) found ??= place + 1;
    },
  );
  return found;
}
