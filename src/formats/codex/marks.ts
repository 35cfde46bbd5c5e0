// Fields of an item that Codex cannot represent. The writer strips them from the payload, which stays exactly what Codex would
// write, and puts those that a reader could not derive under a separate key `baton`.

import type { AttachmentItem, Item, Json, JsonObject } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import { isJsonObject } from '../fields.ts';
import { readWhole } from './verbatim-items.ts';

/** Fields of items that belong to Baton and are never part of a Codex payload. */
export const BATON_FIELDS = [
  'origin',
  'isCompactSummary',
  'isVisibleInTranscriptOnly',
  'isApiErrorMessage',
  'isToolOutput',
  'model',
  'provider',
  'success',
  'exit_code',
  'shadow',
] as const;

const ATTACHMENT_KINDS: ReadonlySet<unknown> = new Set<AttachmentItem['kind']>([
  'file',
  'todo',
  'plan',
  'other',
]);

/** The marks with which a reader who sees `derived` gets `item`; undefined if it sees the same anyway. */
export function marksFor(item: Item, derived: Item): JsonObject | undefined {
  const marks: Record<string, Json> = {};
  if (item.type === 'attachment') {
    marks['attachment'] =
      item.path === undefined ? { kind: item.kind } : { kind: item.kind, path: item.path };
  }
  const wanted = item as unknown as JsonObject;
  const seen = item.type === 'attachment' ? {} : (derived as unknown as JsonObject);
  for (const field of BATON_FIELDS) {
    if (JSON.stringify(wanted[field]) !== JSON.stringify(seen[field])) marks[field] = wanted[field] ?? null;
  }
  return Object.keys(marks).length === 0 ? undefined : marks;
}

/**
 * The item with its marks; null removes a derived field. The mark `whole` is the item itself. Marks of a wrong shape are
 * ignored.
 */
export function applyMarks(item: Item, marks: Json): Item {
  if (!isJsonObject(marks)) return item;
  const whole = readWhole(marks['whole']);
  if (whole !== undefined) return whole;
  const attachment = marks['attachment'];
  const base = isJsonObject(attachment) ? asAttachment(item, attachment) : item;
  const marked: Record<string, unknown> = { ...base };
  for (const field of BATON_FIELDS) {
    const value = marks[field];
    if (value === undefined) continue;
    if (value === null) delete marked[field];
    else if (isFieldValue(field, value)) marked[field] = value;
  }
  return marked as unknown as Item;
}

function asAttachment(item: Item, { kind, path }: JsonObject): Item {
  if (item.type !== 'message' || !ATTACHMENT_KINDS.has(kind)) return item;
  const attachment: AttachmentItem = {
    type: 'attachment',
    kind: kind as AttachmentItem['kind'],
    text: textOfParts(item.content),
  };
  return typeof path === 'string' ? { ...attachment, path } : attachment;
}

const AUTHORS: ReadonlySet<unknown> = new Set(['user', 'agent', 'harness', 'synthetic']);

function isFieldValue(field: (typeof BATON_FIELDS)[number], value: Json): boolean {
  switch (field) {
    case 'origin':
      return isJsonObject(value) && AUTHORS.has(value['author']);
    case 'model':
    case 'provider':
    case 'shadow':
      return typeof value === 'string';
    case 'exit_code':
      return typeof value === 'number';
    default:
      return typeof value === 'boolean';
  }
}
