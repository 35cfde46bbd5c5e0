// Makes items from the loose JSON of other formats.

import type {
  FunctionCallItem,
  Item,
  Json,
  JsonObject,
  MessageItem,
  Origin,
  Part,
  ReasoningItem,
  ToolOutputItem,
} from '../protocol/item.ts';
import { isSummary, STEPS_LEGEND } from '../history/filter.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { isJsonObject, objectAt, stringAt } from './fields.ts';

/** Text that a product wrote in the user's name. */
export const HARNESS: Origin = { author: 'harness' };

/** A message with one text; no message for an empty text. */
export function textMessage(
  role: MessageItem['role'],
  text: string,
  flags: Partial<Omit<MessageItem, 'type' | 'role' | 'content'>> = {},
): MessageItem[] {
  if (text === '') return [];
  return [{ type: 'message', role, content: [textPart(role, text)], ...flags }];
}

/** A message with some parts; no message without parts. */
export function partsMessage(
  role: MessageItem['role'],
  content: readonly Part[],
  flags: Partial<Omit<MessageItem, 'type' | 'role' | 'content'>> = {},
): MessageItem[] {
  return content.length === 0 ? [] : [{ type: 'message', role, content, ...flags }];
}

/** A text as a part of a message in the role. */
export function textPart(role: MessageItem['role'], text: string): Part {
  return { type: role === 'assistant' ? 'output_text' : 'input_text', text };
}

/** Readable reasoning; none for an empty text about which nothing else is known. */
export function reasoning(text: string, signature?: string): ReasoningItem[] {
  if (text === '' && signature === undefined) return [];
  return [{ type: 'reasoning', summary: [], text, ...(signature === undefined ? {} : { signature }) }];
}

/** A tool call; arguments that are not text become JSON text. */
export function functionCall(callId: string, name: string, args: Json | undefined): FunctionCallItem {
  return {
    type: 'function_call',
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    call_id: callId,
  };
}

/** The result of a call. */
export function functionResult(
  callId: string,
  output: ToolOutputItem['output'],
  outcome: { readonly success?: boolean | undefined; readonly exitCode?: number | undefined } = {},
): ToolOutputItem {
  const { success, exitCode } = outcome;
  return {
    type: 'function_call_output',
    call_id: callId,
    output,
    ...(success === undefined ? {} : { success }),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  };
}

/** What a compaction left: a mark of its place, and the summary in the user role. */
export function compactionItems(
  id: string,
  summary: string,
  facts: { readonly at?: string | undefined; readonly trigger?: 'auto' | 'manual' | undefined } = {},
): readonly Item[] {
  return [
    {
      type: 'compact_boundary',
      uuid: id,
      timestamp: facts.at ?? '',
      trigger: facts.trigger ?? 'auto',
    },
    ...textMessage('user', summary, { isCompactSummary: true, origin: HARNESS }),
  ];
}

/**
 * A message array does not mark compactions, so a summary is recognised by its first words. A message that begins with
 * one is split: the rest are messages of their own, merged by an API that wants roles to alternate. Each
 * begins with a text.
 */
export function partSummaries(items: readonly Item[]): readonly Item[] {
  return items.flatMap((item): readonly Item[] => {
    if (item.type !== 'message' || !isSummary(item)) return [item];
    const [summary, ...rest] = item.content;
    if (summary === undefined) return [item];
    const flags = { isCompactSummary: true, origin: HARNESS };
    return [{ ...item, content: [summary], ...flags }, ...mergedMessages(rest)];
  });
}

function mergedMessages(parts: readonly Part[]): readonly MessageItem[] {
  const starts = parts.flatMap((part, at) => (at === 0 || part.type === 'input_text' ? [at] : []));
  return starts.flatMap((start, nth) => {
    const content = parts.slice(start, starts[nth + 1]);
    const isSteps = content[0]?.type === 'input_text' && isStepsGivenBack(content[0].text);
    return partsMessage('user', content, isSteps ? { origin: HARNESS } : {});
  });
}

function isStepsGivenBack(text: string): boolean {
  const [first = ''] = text.split('\n', 1);
  return first.endsWith(STEPS_LEGEND);
}

/**
 * The parts of a content that is a text or a list of blocks, in both of the field's spellings (`text`, `input_text` and
 * `output_text`; `image`, `image_url` and `input_image`). Calls `onOdd` for anything else.
 */
export function partsOf(role: MessageItem['role'], content: Json | undefined, onOdd: () => void): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [textPart(role, content)];
  if (!Array.isArray(content)) {
    onOdd();
    return [];
  }
  return (content as readonly Json[]).flatMap((block): Part[] => {
    if (typeof block === 'string') return block === '' ? [] : [textPart(role, block)];
    if (isJsonObject(block)) return [partOf(role, block)];
    onOdd();
    return [];
  });
}

function partOf(role: MessageItem['role'], block: JsonObject): Part {
  const text = stringAt(block, 'text');
  switch (block['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case undefined:
      return text === undefined ? { type: 'other', value: block } : textPart(role, text);
    case 'refusal': {
      const refusal = stringAt(block, 'refusal');
      return refusal === undefined ? { type: 'other', value: block } : { type: 'refusal', refusal };
    }
    case 'image':
    case 'image_url':
    case 'input_image': {
      const url = imageUrl(block);
      return url === undefined ? { type: 'input_image' } : { type: 'input_image', image_url: url };
    }
    default:
      return { type: 'other', value: block };
  }
}

/** The image of a block: a web address, or a data URL built from the block's content. */
function imageUrl(block: JsonObject): string | undefined {
  const nested = objectAt(block, 'image_url') ?? objectAt(block, 'source') ?? block;
  const url = stringAt(nested, 'url') ?? stringAt(block, 'image_url');
  const data = stringAt(nested, 'data');
  if (url !== undefined || data === undefined) return url;
  const mediaType = stringAt(nested, 'media_type') ?? stringAt(nested, 'mimeType') ?? 'image/png';
  return data.startsWith('data:') ? data : `data:${mediaType};base64,${data}`;
}

/** A provider's usage report for one request; none if nothing was counted (placeholders, aborted answers). */
export function requestUsage(counts: {
  /** Tokens sent, in the parts that the provider bills separately. */
  readonly input: readonly (Json | undefined)[];
  readonly cachedInput?: Json | undefined;
  readonly output?: Json | undefined;
}): UsageSample | 'impossible' | undefined {
  const input = counts.input.map((count) => count ?? 0);
  const cachedInput = counts.cachedInput ?? 0;
  const output = counts.output ?? 0;
  if (!input.every(isCount) || !isCount(cachedInput) || !isCount(output)) return 'impossible';
  const total = input.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  return { source: 'reported', covers: 'request', total, cachedInput, output };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
