// The size of the tools' schemas, as a note of the log: every request carries them, and no item holds them.

import type { NoteRecord } from '../protocol/record.ts';

/** The kind of the note. */
const TOOLS_NOTE = 'tool_tokens';

/** The note. @param tokens estimate of all schemas */
export function toolsNote(tokens: number): NoteRecord {
  return { type: 'note', kind: TOOLS_NOTE, value: { tokens } };
}

/** The estimate in a note; undefined for other notes, and for what is not a size. */
export function toolTokensIn({ kind, value: { tokens } }: NoteRecord): number | undefined {
  const isSize = kind === TOOLS_NOTE && typeof tokens === 'number' && Number.isSafeInteger(tokens);
  return isSize && tokens >= 0 ? tokens : undefined;
}
