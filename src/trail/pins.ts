// Texts that the user pinned: kept word for word by every compaction, until they are unpinned. Pure.

import { BatonError } from '../errors.ts';
import type { AttachmentItem } from '../protocol/item.ts';
import type { NoteRecord } from '../protocol/record.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { formatNumber, plural } from '../tokens/words.ts';

/** A text that stays. */
export interface Pin {
  readonly id: string;
  readonly text: string;
}

/** Most that all pinned texts of a thread take, in tokens of bytes / 4. @source docs/decisions/snapshots.md */
export const MAX_PINNED_TOKENS = 2000;

const PINNED = 'pin';
const UNPINNED = 'unpin';

const HEADING = 'Pinned by the user, to be kept in mind word for word:';

/**
 * What is to be recorded for a new pin: the note, then the item, by which the model knows of it before a compaction does.
 * @param pins what is pinned already
 * @throws BatonError `pins_full`; `usage` for a text that says nothing
 */
export function pinRecords(
  pins: readonly Pin[],
  { id, text }: Pin,
): readonly [NoteRecord, { readonly type: 'item'; readonly item: AttachmentItem }] {
  if (text.trim() === '') {
    throw new BatonError('usage', 'There is nothing to pin', { cure: 'Give the text to be kept.' });
  }
  const before = pins.filter((pin) => pin.id !== id);
  const tokens = pinnedTokens([...before, { id, text }]);
  if (tokens > MAX_PINNED_TOKENS) {
    const cure = before.length === 0 ? 'Pin a shorter text.' : 'Unpin something, or pin a shorter text.';
    throw new BatonError(
      'pins_full',
      `Pinned texts would take ${formatNumber(tokens)} tokens in every context, more than the ${formatNumber(MAX_PINNED_TOKENS)} there is room for`,
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

/** What is to be recorded when a text is no longer pinned. It leaves the context with the next compaction. */
export function unpinRecord(id: string): NoteRecord {
  return { type: 'note', kind: UNPINNED, value: { id } };
}

/** What is pinned after one more note; the newest text of an id counts. */
export function pinsAfter(pins: readonly Pin[], { kind, value }: NoteRecord): readonly Pin[] {
  const { id, text } = value;
  if ((kind !== PINNED && kind !== UNPINNED) || typeof id !== 'string') return pins;
  const others = pins.filter((pin) => pin.id !== id);
  return kind === PINNED && typeof text === 'string' ? [...others, { id, text }] : others;
}

/** What stands for the pins in a history, all in one item; none without pins. */
export function pinnedItems(pins: readonly Pin[]): readonly AttachmentItem[] {
  if (pins.length === 0) return [];
  const text = `${HEADING}\n${pins.map((pin) => pin.text).join('\n\n')}`;
  return [{ type: 'attachment', kind: 'other', text, origin: { author: 'harness' } }];
}

/** What the pins take in a context, in tokens of bytes / 4. */
export function pinnedTokens(pins: readonly Pin[]): number {
  return pinnedItems(pins).reduce((sum, { text }) => sum + approximateTokens(text), 0);
}

/** What a receipt says of them: one sentence; none without pins. */
export function pinnedNotes(pins: readonly Pin[]): readonly string[] {
  return pins.length === 0
    ? []
    : [
        `${plural(pins.length, 'pinned text')} kept word for word (about ${plural(pinnedTokens(pins), 'token')}).`,
      ];
}
