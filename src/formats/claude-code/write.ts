// Compactions, undos and whole conversations as lines that Claude Code resumes from.
//
// What a line must be to be taken was measured with the real tool (claude-code-behaviour §3b): the newest message
// decides the branch, every line has a timestamp, an id of an old answer is never used again, and copies carry no usage.

import type { CompactBoundaryItem, Item, JsonObject } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { CompactedRecord, MicroCompactedRecord } from '../../protocol/record.ts';
import { ClaudeChain } from './chain.ts';
import type { ClaudeWriting } from './chain.ts';

/** Lines to append to a file, or a file. */
export interface ClaudeLines {
  /** JSON texts, without line ends. */
  readonly lines: readonly string[];
  /** The uuid where the session goes on; null when nothing could be written. */
  readonly leafUuid: string | null;
  /** Items that have no place in a Claude Code session: reasoning of others, orphaned results, snapshots. */
  readonly leftOut: number;
}

/**
 * The lines that compact the session they are appended to: boundary, summary, and the rest of the replacement.
 *
 * Kept lines stay where they are and are named in the metadata. The tool was seen to put them after the summary; where
 * the replacement goes on after the summary, they are anchored after its last line, which the metadata can say but
 * was not tried with the real tool.
 * @throws RangeError when the replacement does not start with a boundary and a summary in the user role
 */
export function appendClaudeCompaction(
  options: ClaudeWriting & { readonly record: CompactedRecord },
): ClaudeLines {
  const { record, tail } = options;
  const [boundary, summary, ...rest] = record.replacement;
  if (boundary?.type !== 'compact_boundary' || summary?.type !== 'message' || summary.role !== 'user') {
    throw new RangeError(
      'A replacement without boundary and summary cannot be told in a Claude Code session',
    );
  }
  if (textOfParts(summary.content).trim() === '')
    throw new RangeError('An empty summary is none to Claude Code');
  const chain = new ClaudeChain(options, tail.uuid);
  const metadata: Record<string, JsonObject[string]> = compactMetadata(
    record,
    boundary,
    tail.cumulativeDroppedTokens,
  );
  chain.boundary({ uuid: record.id, logicalParentUuid: tail.uuid, metadata });
  chain.items([{ ...summary, isCompactSummary: true, isVisibleInTranscriptOnly: true }, ...rest]);
  // The boundary comes first, but names a line that only now has its id.
  Object.assign(metadata, preserved(record.keptRefs ?? [], chain.leaf));
  return textsOf(chain);
}

function compactMetadata(
  record: CompactedRecord,
  boundary: CompactBoundaryItem,
  droppedBefore: number,
): Record<string, JsonObject[string]> {
  // Always complete: a version of the tool crashed at its next compaction where they were missing.
  const preTokens = record.preTokens ?? boundary.preTokens ?? 0;
  const postTokens = record.postTokens ?? 0;
  return {
    trigger: record.trigger ?? boundary.trigger,
    preTokens,
    postTokens,
    cumulativeDroppedTokens: droppedBefore + Math.max(0, preTokens - postTokens),
    durationMs: record.receipt?.durationMs ?? 0,
    baton: batonFacts(record, boundary),
  };
}

/** What only Baton knows, under a key of its own; the tool passes over keys that it does not know. */
function batonFacts({ phase, receipt }: CompactedRecord, boundary: CompactBoundaryItem): JsonObject {
  const { reason, implementation } = boundary;
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
    ...(implementation === undefined ? {} : { implementation }),
    ...(receipt === undefined ? {} : { receipt: asJson(receipt) }),
  };
}

function preserved(keptRefs: readonly string[], anchorUuid: string | null): JsonObject {
  const [headUuid] = keptRefs;
  const tailUuid = keptRefs.at(-1);
  if (headUuid === undefined || tailUuid === undefined) return {};
  return {
    preservedSegment: { headUuid, anchorUuid, tailUuid },
    preservedMessages: { anchorUuid, uuids: keptRefs, allUuids: keptRefs },
  };
}

/**
 * The lines that take a compaction back: the line before it is continued again, with copies of what came since, and
 * a `last-prompt` that names the new leaf, which by itself makes the old branch win where there is nothing to copy.
 * @param options.before uuid of the line before the compaction (`SurveyedCompaction.before`)
 * @param options.since the items recorded after the compaction, in order
 */
export function appendClaudeUndo(
  options: ClaudeWriting & { readonly before: string; readonly since: readonly Item[] },
): ClaudeLines {
  const chain = new ClaudeChain(options, options.before);
  chain.items(options.since);
  const lastPrompt = {
    type: 'last-prompt',
    lastPrompt: '',
    leafUuid: chain.leaf,
    sessionId: options.newSessionId,
  };
  const written = textsOf(chain);
  return { ...written, lines: [...written.lines, JSON.stringify(lastPrompt)] };
}

/**
 * A conversation from its items alone: a file of its own, or appended to one as a branch of its own, whose root then
 * is what the tool resumes from.
 *
 * A micro-compaction is written this way, with the cleared results in the lines. Claude Code notes its own in a
 * `microcompact_boundary` and leaves the lines untouched, but the tool was never seen to honour that on resume; cleared
 * lines need no honouring. The record goes along in a line that the tool passes over, so that Baton can tell of it.
 */
export function writeClaudeSession(
  options: ClaudeWriting & { readonly items: readonly Item[]; readonly micro?: MicroCompactedRecord },
): ClaudeLines {
  const chain = new ClaudeChain(options, null);
  chain.items(options.items);
  const written = textsOf(chain);
  if (options.micro === undefined) return written;
  const note = {
    type: 'baton',
    micro: options.micro,
    sessionId: options.newSessionId,
    timestamp: options.at,
  };
  return { ...written, lines: [...written.lines, JSON.stringify(note)] };
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
