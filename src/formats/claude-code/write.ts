// Compactions, undos and whole conversations as lines that Claude Code resumes from.
//
// The requirements on a line were measured with the real tool (docs/real-tools.md): every line has a timestamp, the id of an
// old answer is never reused, copies carry no usage, and a boundary says what it preserves.

import type { CompactBoundaryItem, Item, JsonObject, MessageItem } from '../../protocol/item.ts';
import { resultCallId, textOfParts } from '../../protocol/item.ts';
import type { CompactedRecord, MicroCompactedRecord } from '../../protocol/record.ts';
import { clearResult, isCleared } from '../../history/clear.ts';
import { isSummary } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import { itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { ClaudeChain } from './chain.ts';
import type { ClaudeWriting } from './chain.ts';
import type { ClaudeTail } from './tail.ts';

/** Lines to append to a file, or a file. */
export interface ClaudeLines {
  /** JSON texts, without line ends. */
  readonly lines: readonly string[];
  /** The uuid from which the session continues; null if nothing could be written. */
  readonly leafUuid: string | null;
  /** Number of items that a Claude Code session cannot represent: reasoning of other providers, orphaned results, snapshots. */
  readonly leftOut: number;
}

/**
 * The lines that compact the session they are appended to: boundary, summary, and the rest of the replacement. Claude Code
 * supports no other order, so a replacement in another one (the legacy one of Codex) is reordered.
 *
 * Kept lines stay in place and are named in the metadata, anchored after the last line of the replacement. The boundary lists
 * its preserved lines even if there are none: otherwise an undo would find nothing in a large file.
 * @throws RangeError if the replacement has no summary in the user role, or an empty one
 */
export function appendClaudeCompaction(
  options: ClaudeWriting & { readonly record: CompactedRecord },
): ClaudeLines {
  const { record, tail } = options;
  const { boundary, summary, rest } = partsOf(record, options.at);
  const chain = new ClaudeChain(options, tail.uuid);
  const metadata: Record<string, JsonObject[string]> = {
    // Always complete: a version of the tool crashed at its next compaction if they were missing.
    ...metadataOf({
      trigger: record.trigger ?? boundary.trigger,
      preTokens: record.preTokens ?? boundary.preTokens ?? 0,
      postTokens: record.postTokens ?? 0,
      droppedBefore: tail.cumulativeDroppedTokens,
      durationMs: record.receipt?.durationMs ?? 0,
    }),
    baton: compactionNotes(record, boundary),
  };
  chain.boundary({ uuid: record.id, logicalParentUuid: tail.uuid, metadata });
  chain.items([{ ...summary, isCompactSummary: true, isVisibleInTranscriptOnly: true }, ...rest]);
  // The boundary comes first, but names a line whose id is known only now.
  Object.assign(metadata, preserved(record.keptRefs ?? [], chain.leaf));
  return textsOf(chain);
}

interface CompactionParts {
  readonly boundary: CompactBoundaryItem;
  readonly summary: MessageItem;
  readonly rest: readonly Item[];
}

function partsOf(record: CompactedRecord, at: string): CompactionParts {
  const { replacement } = record;
  const boundary = replacement.find((item) => item.type === 'compact_boundary');
  const summary = replacement.find(isSummaryMessage);
  if (summary === undefined)
    throw new RangeError('A Claude Code session cannot represent a replacement without a summary');
  if (textOfParts(summary.content).trim() === '')
    throw new RangeError('Claude Code does not accept an empty summary');
  const rest = replacement.filter((item) => item !== boundary && item !== summary);
  return { boundary: boundary ?? boundaryOf(record, at), summary, rest };
}

function isSummaryMessage(item: Item): item is MessageItem {
  return item.type === 'message' && item.role === 'user' && isSummary(item);
}

function boundaryOf(
  { id, trigger = 'manual', receipt }: CompactedRecord,
  timestamp: string,
): CompactBoundaryItem {
  return {
    type: 'compact_boundary',
    uuid: id,
    timestamp,
    trigger,
    ...(receipt === undefined
      ? {}
      : { reason: receipt.reason, implementation: receipt.implementation, preTokens: receipt.preTokens }),
  };
}

interface BoundaryNumbers {
  readonly trigger: 'manual' | 'auto';
  readonly preTokens: number;
  readonly postTokens: number;
  readonly droppedBefore: number;
  readonly durationMs: number;
}

function metadataOf({ droppedBefore, ...numbers }: BoundaryNumbers): JsonObject {
  const { preTokens, postTokens } = numbers;
  return { ...numbers, cumulativeDroppedTokens: droppedBefore + Math.max(0, preTokens - postTokens) };
}

/** Facts that only Baton knows, under a key of its own; the tool ignores unknown keys. */
function compactionNotes({ phase, receipt }: CompactedRecord, boundary: CompactBoundaryItem): JsonObject {
  const { reason, implementation } = boundary;
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
    ...(implementation === undefined ? {} : { implementation }),
    ...(receipt === undefined ? {} : { receipt: asJson(receipt) }),
  };
}

function preserved(uuids: readonly string[], anchorUuid: string | null): JsonObject {
  return { preservedMessages: { anchorUuid, uuids, allUuids: uuids } };
}

/** A file that a list is appended to. */
export interface ClaudeFile {
  /** Size before anything is appended. */
  readonly bytes: number;
}

/** The undo of the newest compaction. */
export interface ClaudeUndo extends ClaudeWriting, ClaudeFile {
  readonly compactionId: string;
  /** The history before the compaction, and what followed. */
  readonly restored: readonly Entry<Item>[];
}

/** The line that undoes a compaction: a boundary that lists the history before it, and what followed. */
export function appendClaudeUndo(undo: ClaudeUndo): ClaudeLines {
  const { restored, tail, compactionId } = undo;
  const chain = new ClaudeChain(undo, tail.uuid);
  const items = restored.map(({ value }) => value);
  const list = canBeListed(undo, restored) ? listed(tail, restored) : copied(chain, restored);
  const tokens = estimate(items);
  const metadata = metadataOf({
    trigger: 'manual',
    preTokens: tokens,
    postTokens: tokens,
    droppedBefore: tail.cumulativeDroppedTokens,
    durationMs: 0,
  });
  return appendList(chain, undo, { list, uuid: undo.ids.uuid(), metadata, notes: { undo: compactionId } });
}

/** Old results to clear. */
export interface ClaudeMicroCompaction extends ClaudeWriting, ClaudeFile {
  readonly record: MicroCompactedRecord;
  /** The history before. */
  readonly entries: readonly Entry<Item>[];
}

/**
 * A micro-compaction: fresh copies of the cleared results, and a boundary that lists the history with the copies in place of
 * the old ones. Claude Code records its own in a `microcompact_boundary`, which it ignores on resume.
 */
export function appendClaudeMicroCompaction(micro: ClaudeMicroCompaction): ClaudeLines {
  const { record, tail } = micro;
  const chain = new ClaudeChain(micro, tail.uuid);
  const cleared = new Set(record.callIds);
  const after = micro.entries.map((entry): Entry<Item> => {
    const callId = resultCallId(entry.value);
    return callId !== undefined && cleared.has(callId)
      ? { ...entry, value: clearResult(entry.value) }
      : entry;
  });
  const list = canBeListed(micro, after) ? listed(tail, after, chain) : copied(chain, after);
  const { newRefs: _, receipt, ...notes } = record;
  const preTokens = record.preTokens ?? estimate(micro.entries.map(({ value }) => value));
  const metadata = metadataOf({
    trigger: record.trigger ?? 'manual',
    preTokens,
    postTokens: preTokens - (record.tokensSaved ?? 0),
    droppedBefore: tail.cumulativeDroppedTokens,
    durationMs: receipt?.durationMs ?? 0,
  });
  const notesOfMicro = { micro: asJson(receipt === undefined ? notes : { ...notes, receipt }) };
  return appendList(chain, micro, { list, uuid: record.id, metadata, notes: notesOfMicro });
}

/** A history as lines: uuids in order, and which of them were written for it. */
interface HistoryList {
  readonly uuids: readonly string[];
  /** Pairs of old and new uuid; the old one is null for a line that repeats none. */
  readonly copies: readonly (readonly [from: string | null, to: string])[];
}

interface ListBoundary {
  readonly list: HistoryList;
  readonly uuid: string;
  readonly metadata: JsonObject;
  readonly notes: JsonObject;
}

function appendList(
  chain: ClaudeChain,
  { tail }: ClaudeWriting,
  { list, uuid, metadata, notes }: ListBoundary,
): ClaudeLines {
  const baton = list.copies.length === 0 ? notes : { ...notes, copies: list.copies };
  chain.boundary({
    uuid,
    logicalParentUuid: tail.uuid,
    metadata: { ...metadata, baton, ...preserved(list.uuids, uuid) },
  });
  return textsOf(chain);
}

/**
 * Largest file in which a list may name any line, whatever boundaries follow it. Above 5 MiB, Claude Code reads nothing before
 * a boundary without information about preserved lines. The last MiB is reserved for records before the next compaction, which
 * comes soon after a full context was restored.
 * @source docs/real-tools.md
 */
const LARGEST_READ_WHOLE_BYTES = 4 * 1024 * 1024;

function canBeListed({ tail, bytes }: ClaudeWriting & ClaudeFile, entries: readonly Entry<Item>[]): boolean {
  const { bareBoundaryLine = 0 } = tail;
  const isReadWhole = bytes <= LARGEST_READ_WHOLE_BYTES;
  return entries.every(
    ({ value, ref, line = 0 }) =>
      !isSent(value) || (ref !== undefined && (isReadWhole || line >= bareBoundaryLine)),
  );
}

/** The history by the lines that it was read from; with a chain, cleared results are written to it. */
function listed(tail: ClaudeTail, entries: readonly Entry<Item>[], chain?: ClaudeChain): HistoryList {
  const rewritten = new Set<string>();
  if (chain !== undefined) {
    for (const { value, ref } of entries) if (ref !== undefined && isCleared(value)) rewritten.add(ref);
  }
  const inHistory = new Set(entries.map(({ ref }) => ref));
  const uuids = new Set<string>();
  const copies: [string, string][] = [];
  for (const { value, ref } of entries) {
    if (ref === undefined || !isSent(value)) continue;
    const copy = rewritten.has(ref) ? chain?.copy(value) : undefined;
    uuids.add(copy ?? ref);
    for (const uuid of silentAttachments(tail, ref, inHistory)) uuids.add(uuid);
    if (copy !== undefined) copies.push([ref, copy]);
  }
  return { uuids: [...uuids], copies };
}

/**
 * Attachments of a line that contain no text in the file, such as a reminder that Claude Code words when it sends it.
 * @param inHistory uuids of the lines that have a place in the history themselves
 */
function silentAttachments(
  tail: ClaudeTail,
  uuid: string,
  inHistory: ReadonlySet<string | undefined>,
): readonly string[] {
  const below = (tail.attachments?.get(uuid) ?? []).filter((each) => !inHistory.has(each));
  return below.flatMap((each) => [each, ...silentAttachments(tail, each, inHistory)]);
}

/** The history, written again. */
function copied(chain: ClaudeChain, entries: readonly Entry<Item>[]): HistoryList {
  chain.items(entries.map(({ value }) => value).filter(isSent));
  const uuids = chain.uuids;
  const copies: [string | null, string][] = [];
  const paired = new Set<string>();
  for (const { value, ref } of entries) {
    const copy = chain.uuidOf(value);
    if (copy === undefined || ref === undefined) continue;
    copies.push([ref, copy]);
    paired.add(copy);
  }
  for (const uuid of uuids) if (!paired.has(uuid)) copies.push([null, uuid]);
  return { uuids, copies };
}

/** Marks of compactions have lines of their own, but are never sent to a model. */
function isSent({ type }: Item): boolean {
  return type !== 'compact_boundary';
}

function estimate(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), 0);
}

/** A conversation from its items alone, as a separate file. */
export function writeClaudeSession(
  options: ClaudeWriting & { readonly items: readonly Item[] },
): ClaudeLines {
  const chain = new ClaudeChain(options, null);
  chain.items(options.items);
  return textsOf(chain);
}

function textsOf(chain: ClaudeChain): ClaudeLines {
  return {
    lines: chain.lines.map((line) => JSON.stringify(line)),
    leafUuid: chain.leaf,
    leftOut: chain.leftOut,
  };
}

function asJson(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
