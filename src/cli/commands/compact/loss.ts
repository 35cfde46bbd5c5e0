// What a full compaction takes away, for who has to decide whether that is right. Pure.

import type { Fate } from '../../../compaction/full/request.ts';
import type { Compaction } from '../../../compaction/subject.ts';
import { isUserMessage } from '../../../history/filter.ts';
import { callOf, resultCallId, textOfParts } from '../../../protocol/item.ts';
import type { CallView, Item } from '../../../protocol/item.ts';
import { sumTokens } from '../../../tokens/estimate.ts';
import { redact } from '../../../text/redact.ts';
import type { Trail } from '../../../trail/trail.ts';
import { subjectOfCall } from '../../../calls/call-subject.ts';

/** Results that are named: what follows them is small in every session that was looked at. */
const NAMED_RESULTS = 10;

/** A tool result that is in the context no more. */
export interface LostResult {
  readonly tool: string;
  /** The command, file or pattern of its call; empty where the call names none. */
  readonly subject: string;
  readonly tokens: number;
  /** In the file; undefined for what a compaction had put in. */
  readonly line: number | undefined;
}

/** What a compaction takes away. With what is kept, and with what no item holds, `tokens` add up to the size before. */
export interface Loss {
  /** Summarised, dropped, and cut from kept messages. */
  readonly tokens: number;
  /** Largest first, ten at most. */
  readonly largest: readonly LostResult[];
  readonly images: { readonly count: number; readonly tokens: number };
  readonly files: {
    /** Read or changed in the session, as far as its trail tells. */
    readonly touched: number;
    /** Those that the new context does not name, by path or by name; changed ones first, then the newest. */
    readonly notNamed: readonly string[];
  };
  readonly userMessages: {
    readonly total: number;
    /** Gone as text: the summary tells of them. */
    readonly summarised: number;
    /** Kept without their images or without their middle. */
    readonly cut: number;
  };
  /** Sentences of the user that hold beyond their request. */
  readonly rules: {
    /** How many stand in the new context word for word. */
    readonly carriedOver: number;
    readonly leftOut: readonly string[];
  };
}

/** The loss of a full compaction. @param trail of the session that was compacted */
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

/** As summaries quote: white space is one blank. */
function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
