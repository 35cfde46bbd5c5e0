// The lines of a compaction as records: Claude Code's own metadata, and Baton's notes beside it.

import type { Item, JsonObject } from '../../../protocol/item.ts';
import type { Receipt } from '../../../protocol/receipt.ts';
import type {
  CompactedRecord,
  MicroCompactedRecord,
  UndoCompactionRecord,
} from '../../../protocol/record.ts';
import { IMPLEMENTATIONS, PHASES, REASONS } from '../../../vocabulary.ts';
import { countAt, objectAt, stringAt, stringsAt } from '../../fields.ts';
import type { LineAt } from '../../reader.ts';
import { changeIdOf, listNotes } from './boundaries.ts';
import type { SurveyedCompaction, SurveyedList } from './boundaries.ts';

/** A line and its place. */
export interface PlacedLine {
  readonly value: JsonObject;
  readonly at: LineAt;
}

/** A compaction as far as its lines have been read. */
export interface ReadCompaction {
  readonly boundary: PlacedLine;
  readonly plan: SurveyedCompaction;
  readonly replacement: readonly Item[];
  /** The uuids of the lines of `replacement`. */
  readonly refs: readonly (string | null)[];
  readonly summary: string | undefined;
}

/** The record of a boundary that lists the whole history. */
export function listRecord(
  boundary: PlacedLine,
  { as, keptRefs }: SurveyedList,
): CompactedRecord | MicroCompactedRecord | UndoCompactionRecord {
  const metadata = objectAt(boundary.value, 'compactMetadata') ?? {};
  const { undo = '', micro = {}, newRefs } = listNotes(metadata);
  const id = idOf(boundary);
  if (as === 'undo') {
    return { type: 'undo_compaction', compactionId: undo, ...(newRefs.length === 0 ? {} : { newRefs }) };
  }
  if (as === 'micro') return { ...microCompactedRecord(micro, id, 'callIds'), newRefs };
  const trigger = triggerOf(metadata);
  const preTokens = countAt(metadata, 'preTokens');
  const postTokens = countAt(metadata, 'postTokens');
  return {
    type: 'compacted',
    id,
    ...(trigger === undefined ? {} : { trigger }),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
    replacement: [],
    keptRefs,
  };
}

/** The record of a compaction, from its boundary and the lines read so far. */
export function compactedRecord({ boundary: held, plan, ...read }: ReadCompaction): CompactedRecord {
  const { value } = held;
  const metadata = objectAt(value, 'compactMetadata') ?? {};
  const id = idOf(held);
  const trigger = triggerOf(metadata);
  const preTokens = countAt(metadata, 'preTokens');
  const postTokens = countAt(metadata, 'postTokens');
  const baton = objectAt(metadata, 'baton') ?? {};
  const boundary: Item = {
    type: 'compact_boundary',
    uuid: id,
    timestamp: stringAt(value, 'timestamp') ?? '',
    trigger: trigger ?? 'auto',
    ...oneOf('reason', baton, REASONS),
    ...oneOf('implementation', baton, IMPLEMENTATIONS),
    ...(preTokens === undefined ? {} : { preTokens }),
  };
  const { keptRefs, isKeptFirst } = plan;
  return {
    type: 'compacted',
    id,
    ...(trigger === undefined ? {} : { trigger }),
    ...oneOf('phase', baton, PHASES),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
    replacement: [boundary, ...read.replacement],
    replacementRefs: [null, ...read.refs],
    ...(keptRefs.length === 0 ? {} : { keptRefs }),
    ...(isKeptFirst ? { keptAt: 1 } : {}),
    ...(read.summary === undefined ? {} : { summary: read.summary }),
    ...receiptOf(metadata),
  };
}

/** From Claude Code's own boundary, or from Baton's note in a list. */
export function microCompactedRecord(
  metadata: JsonObject,
  id: string,
  callIdsKey: 'compactedToolIds' | 'callIds',
): MicroCompactedRecord {
  const trigger = triggerOf(metadata);
  const preTokens = countAt(metadata, 'preTokens');
  const tokensSaved = countAt(metadata, 'tokensSaved');
  return {
    type: 'micro_compacted',
    id,
    ...(trigger === undefined ? {} : { trigger }),
    callIds: stringsAt(metadata, callIdsKey),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(tokensSaved === undefined ? {} : { tokensSaved }),
    ...receiptOf(metadata),
  };
}

function triggerOf(metadata: JsonObject): 'manual' | 'auto' | undefined {
  const trigger = metadata['trigger'];
  return trigger === 'manual' || trigger === 'auto' ? trigger : undefined;
}

/** A field with one of its allowed words; nothing else is taken from a file. */
function oneOf<Key extends string, Word extends string>(
  key: Key,
  from: JsonObject,
  words: readonly Word[],
): { readonly [K in Key]?: Word } {
  const word = words.find((each) => each === from[key]);
  return (word === undefined ? {} : { [key]: word }) as { readonly [K in Key]?: Word };
}

/** Baton's own key beside those of Claude Code. */
function receiptOf(metadata: JsonObject): { receipt?: Receipt } {
  const receipt = objectAt(objectAt(metadata, 'baton') ?? metadata, 'receipt');
  return receipt !== undefined && isReceipt(receipt) ? { receipt } : {};
}

function isReceipt(value: unknown): value is Receipt {
  return (
    typeof value === 'object' && value !== null && 'version' in value && value.version === 1 && 'id' in value
  );
}

function idOf({ value, at }: PlacedLine): string {
  return changeIdOf({ uuid: stringAt(value, 'uuid'), line: at.line });
}
