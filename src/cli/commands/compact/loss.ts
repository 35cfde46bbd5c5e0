// What a full compaction removes, for a user who decides whether that is acceptable. Pure.

import type { Fate } from '../../../compaction/full/request.ts';
import type { Compaction } from '../../../compaction/subject.ts';
import { isUserMessage } from '../../../history/filter.ts';
import { callOf, resultCallId, textOfParts } from '../../../protocol/item.ts';
import type { CallView, Item } from '../../../protocol/item.ts';
import { sumTokens } from '../../../tokens/estimate.ts';
import { redact } from '../../../text/redact.ts';
import type { Trail } from '../../../trail/trail.ts';
import { subjectOfCall } from '../../../calls/call-subject.ts';

/** How many results to list: in every examined session the later ones are small. */
const NAMED_RESULTS = 10;

/** A tool result that is no longer in the context. */
export interface LostResult {
  readonly tool: string;
  /** The command, file or pattern of its call; empty where the call has none. */
  readonly subject: string;
  readonly tokens: number;
  /** In the file; undefined for items that an earlier compaction inserted. */
  readonly line: number | undefined;
}

/** What a compaction removes. `tokens`, the kept items and the parts outside items add up to the size before. */
export interface Loss {
  /** Summarised, dropped, and cut from kept messages. */
  readonly tokens: number;
  /** Largest first, at most ten. */
  readonly largest: readonly LostResult[];
  readonly images: { readonly count: number; readonly tokens: number };
  readonly files: {
    /** Read or changed in the session, according to its trail. */
    readonly touched: number;
    /** Those that the new context mentions neither by path nor by name; changed ones first, then the newest. */
    readonly notNamed: readonly string[];
  };
  readonly userMessages: {
    readonly total: number;
    /** No longer verbatim, but covered by the summary. */
    readonly summarised: number;
    /** Kept without their images or without their middle. */
    readonly cut: number;
  };
  /** Sentences of the user that apply beyond their request. */
  readonly rules: {
    /** How many the new context contains verbatim. */
    readonly carriedOver: number;
    readonly leftOut: readonly string[];
  };
}

/** The loss of a full compaction. @param trail of the compacted session */
export function lossOf({ record, fates, items }: Compaction & { type: 'full' }, trail: Trail): Loss {
  const { receipt } = record;
  const gone = fates.filter(({ fate }) => fate !== 'kept');
  const asked = fates.filter(({ entry }) => isUserMessage(entry.value));
  const context = flat(items.map(wordsOf).join('\n'));
  const rules = [...new Set(trail.constraints.map(({ text }) => flat(redact(text))))];
  const isLeftOut = (rule: string): boolean => !context.includes(rule);
  return {
    tokens: receipt.summarised.tokens + receipt.dropped.tokens + (receipt.cut?.tokens ?? 0),
    largest: largestResults(fates, gone),
    images: lostImages(fates, items),
    files: filesIn(trail, context),
    userMessages: {
      total: asked.length,
      summarised: asked.filter(({ fate }) => fate !== 'kept').length,
      cut: asked.filter(({ cut }) => cut !== undefined && sumTokens(cut) > 1).length,
    },
    rules: {
      carriedOver: rules.filter((rule) => !isLeftOut(rule)).length,
      leftOut: rules.filter(isLeftOut),
    },
  };
}

function largestResults(fates: readonly Fate[], gone: readonly Fate[]): readonly LostResult[] {
  const calls = new Map<string, CallView>();
  for (const { entry } of fates) {
    const call = callOf(entry.value);
    if (call?.callId !== undefined) calls.set(call.callId, call);
  }
  return gone
    .flatMap((fate) => {
      const callId = resultCallId(fate.entry.value);
      return callId === undefined ? [] : [{ fate, callId, tokens: sumTokens(fate.tokens) }];
    })
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, NAMED_RESULTS)
    .map(({ fate, callId, tokens }) => {
      const call = calls.get(callId);
      const subject = call === undefined ? '' : subjectOfCall(call);
      return { tool: call?.name ?? 'unknown tool', subject, tokens, line: fate.entry.line };
    });
}

function lostImages(fates: readonly Fate[], items: readonly Item[]): Loss['images'] {
  const tokens = fates.reduce((sum, { fate, tokens: left, cut }) => {
    return sum + ((fate === 'kept' ? cut?.images : left.images) ?? 0);
  }, 0);
  const before = fates.reduce((sum, { entry }) => sum + imagesIn(entry.value), 0);
  return { count: before - items.reduce((sum, item) => sum + imagesIn(item), 0), tokens };
}

function imagesIn(item: Item): number {
  if (item.type === 'message') return item.content.filter(({ type }) => type === 'input_image').length;
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return 0;
  return typeof item.output === 'string'
    ? 0
    : item.output.filter(({ type }) => type === 'input_image').length;
}

function filesIn({ files }: Trail, context: string): Loss['files'] {
  const notNamed = files
    .filter(({ path }) => !context.includes(flat(path.slice(path.lastIndexOf('/') + 1))))
    .toSorted((a, b) => Math.sign(b.edits) - Math.sign(a.edits) || b.lastPosition - a.lastPosition);
  return { touched: files.length, notNamed: notNamed.map(({ path }) => path) };
}

function wordsOf(item: Item): string {
  if (item.type === 'message') return textOfParts(item.content);
  return item.type === 'attachment' ? `${item.path ?? ''}\n${item.text}` : '';
}

/** Collapses white space to single blanks, as summaries do in quotes. */
function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
