// The window that a provider named when it rejected a request as too long, as a note of the log.

import type { NoteRecord } from '../protocol/record.ts';

/** The kind of the note. */
export const LIMIT_NOTE = 'window_limit';

/**
 * The smallest plausible window, in tokens: no agent can work in less, and each compaction costs requests.
 * @source docs/decisions/limits.md
 */
export const LEAST_WINDOW = 4_096;

/** A window and its model. */
export interface LearntLimit {
  readonly model: string;
  /** Raw, in tokens. */
  readonly window: number;
}

/** The note for a limit that a provider named; undefined if it named none, or an implausible one. */
export function limitNote(limit: unknown, model: string): NoteRecord | undefined {
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < LEAST_WINDOW) return undefined;
  return { type: 'note', kind: LIMIT_NOTE, value: { model, window: limit } };
}

/** The limit in a note; undefined for other notes and implausible limits. */
export function limitIn({ kind, value }: NoteRecord): LearntLimit | undefined {
  const { model, window } = value;
  if (kind !== LIMIT_NOTE || typeof model !== 'string') return undefined;
  return limitNote(window, model) === undefined ? undefined : { model, window: Number(window) };
}
