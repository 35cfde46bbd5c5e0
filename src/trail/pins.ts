// Texts that the user pinned: every compaction keeps them word for word until they are unpinned. Pure.

import { BatonError } from '../errors.ts';
import type { AttachmentItem } from '../protocol/item.ts';
import type { NoteRecord } from '../protocol/record.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { formatNumber, plural } from '../tokens/words.ts';

/** A pinned text. */
export interface Pin {
  readonly id: string;
  readonly text: string;
}

/** Limit for all pinned texts of a thread together, in tokens of bytes / 4. @source docs/decisions/snapshots.md */
export const MAX_PINNED_TOKENS = 2000;

const PINNED = 'pin';
const UNPINNED = 'unpin';

const HEADING = 'Pinned by the user, to be kept in mind word for word:';

/**
 * The records to write for a new pin: the note, then the item that shows it to the model before a compaction does.
 * @param pins the existing pins
 * @throws BatonError `pins_full`; `usage` for an empty text
 */
export function pinRecords(
  pins: readonly Pin[],
  { id, text }: Pin,
): readonly [NoteRecord, { readonly type: 'item'; readonly item: AttachmentItem }] {
  if (text.trim() === '') {
    throw new BatonError('usage', 'There is nothing to pin', { cure: 'Give the text to keep.' });
  }
  const before = pins.filter((pin) => pin.id !== id);
  const tokens = pinnedTokens([...before, { id, text }]);
  if (tokens > MAX_PINNED_TOKENS) {
    const cure = before.length === 0 ? 'Pin a shorter text.' : 'Unpin something, or pin a shorter text.';
    throw new BatonError(
      'pins_full',
      `Pinned texts would take ${formatNumber(tokens)} tokens in every context, more than the limit of ${formatNumber(MAX_PINNED_TOKENS)}`,
      { cure, data: { tokens, limit: MAX_PINNED_TOKENS, pins: before.map((pin) => pin.id) } },
    );
  }
  const [item] = pinnedItems([{ id, text }]);
  if (item === undefined) throw new TypeError('a pin has an item');
  return [
    { type: 'note', kind: PINNED, value: { id, text } },
    { type: 'item', item },
  ];
}

/** The record to write when a text is unpinned. The text leaves the context with the next compaction. */
export function unpinRecord(id: string): NoteRecord {
  return { type: 'note', kind: UNPINNED, value: { id } };
}

/** The pins after one more note; for each id the newest text counts. */
export function pinsAfter(pins: readonly Pin[], { kind, value }: NoteRecord): readonly Pin[] {
  const { id, text } = value;
  if ((kind !== PINNED && kind !== UNPINNED) || typeof id !== 'string') return pins;
  const others = pins.filter((pin) => pin.id !== id);
  return kind === PINNED && typeof text === 'string' ? [...others, { id, text }] : others;
}

/** The pins as a single item of a history; no item without pins. */
export function pinnedItems(pins: readonly Pin[]): readonly AttachmentItem[] {
  if (pins.length === 0) return [];
  const text = `${HEADING}\n${pins.map((pin) => pin.text).join('\n\n')}`;
  return [{ type: 'attachment', kind: 'other', text, origin: { author: 'harness' } }];
}

/** Size of the pins in a context, in tokens of bytes / 4. */
export function pinnedTokens(pins: readonly Pin[]): number {
  return pinnedItems(pins).reduce((sum, { text }) => sum + approximateTokens(text), 0);
}

/** One sentence about the pins for a receipt; none without pins. */
export function pinnedNotes(pins: readonly Pin[]): readonly string[] {
  return pins.length === 0
    ? []
    : [
        `${plural(pins.length, 'pinned text')} kept word for word (about ${plural(pinnedTokens(pins), 'token')}).`,
      ];
}
