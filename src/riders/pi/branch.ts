// Between the entries of a pi session and the records and orders of a rider. Pure.

import { piReader } from '../../formats/pi/read.ts';
import { BATON_ENTRY, CLEARED_CONTENT, isClearing, joinItems, messageText } from '../../formats/pi/riding.ts';
import { objectAt, stringAt } from '../../formats/fields.ts';
import type { JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { HostOrder } from '../port.ts';
import type { PiDraft } from './api.ts';

/** The records of the entries from a position on; damage is what the reader makes of it. */
export function recordsOf(branch: readonly JsonObject[], from = 0): readonly LogRecord[] {
  const places = branch.map((entry, index) => ({ entry, at: { line: index + 1, part: 0 } }));
  const surveyor = piReader.survey(() => undefined);
  for (const { entry, at } of places) surveyor.accept(entry, at);
  const records: LogRecord[] = [];
  const reader = piReader.read(
    (record) => records.push(record),
    () => undefined,
    surveyor.result(),
  );
  for (const { entry, at } of places.slice(from)) reader.accept(entry, at);
  reader.end();
  return records;
}

/** What a branch holds since it was read. */
export type BranchNews =
  /** It continues what was read, and the drafts, if there were any, are in it. */
  | { readonly isContinued: true; readonly from: number; readonly own: ReadonlySet<number> }
  | { readonly isContinued: false };

/** Where the rider stands in a branch. */
export interface BranchMark {
  /** The id of the newest entry that was read; undefined: none was. */
  readonly lastId: string | undefined;
  /** How many entries Baton asked pi to append after it. */
  readonly ordered: number;
}

/** What is new; an entry that Baton ordered is known to it already. */
export function newsOf(branch: readonly JsonObject[], { lastId, ordered }: BranchMark): BranchNews {
  const at = branch.findLastIndex((entry) => entry['id'] === lastId);
  if (lastId === undefined || at === -1) return { isContinued: false };
  const own = new Set<number>();
  for (const [index, entry] of branch.entries()) {
    if (index > at && own.size < ordered && isOwn(entry)) own.add(index);
  }
  // pi drops the drafts of all extensions when one of them is invalid.
  if (own.size < ordered) return { isContinued: false };
  const hasForeign = branch.some(
    (entry, index) => index > at && entry['type'] === 'compaction' && !own.has(index),
  );
  return hasForeign ? { isContinued: false } : { isContinued: true, from: at + 1, own };
}

/** The entries that carry out an order. */
export function draftsOf(order: HostOrder, branch: readonly JsonObject[]): readonly PiDraft[] {
  const { replacement, cleared, added } = order;
  const drafts: PiDraft[] = [];
  if (replacement !== undefined) {
    const { summary, details } = joinItems(replacement.items);
    drafts.push({
      type: 'compaction',
      summary,
      firstKeptEntryId: replacement.keptFrom ?? null,
      details,
    });
  }
  const calls = new Set(cleared);
  for (const entry of branch) {
    const callId = stringAt(objectAt(entry, 'message') ?? {}, 'toolCallId');
    const targetId = stringAt(entry, 'id');
    if (callId === undefined || targetId === undefined || !calls.has(callId)) continue;
    drafts.push({ type: 'context_edit', targetId, replacement: { content: CLEARED_CONTENT } });
  }
  for (const item of added) {
    const content = messageText(item);
    drafts.push({ type: 'custom_message', customType: BATON_ENTRY, content, display: true });
  }
  return [...drafts, ...notesOf(order)];
}

/** The entries that keep an order's notes. */
export function notesOf({ notes }: HostOrder): readonly Extract<PiDraft, { type: 'custom' }>[] {
  return notes.map((note) => ({ type: 'custom', customType: BATON_ENTRY, data: { ...note } }));
}

function isOwn(entry: JsonObject): boolean {
  switch (entry['type']) {
    case 'compaction':
      return objectAt(objectAt(entry, 'details') ?? {}, BATON_ENTRY) !== undefined;
    case 'context_edit':
      return isClearing(entry);
    case 'custom':
    case 'custom_message':
      return entry['customType'] === BATON_ENTRY;
    default:
      return false;
  }
}
