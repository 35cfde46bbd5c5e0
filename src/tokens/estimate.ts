// Cheap token counts for decisions on the hot path: no tokenizer, linear in the bytes, no allocation.

import { codeAt } from './characters.ts';
import type { Item, Part, ToolOutputItem } from '../protocol/item.ts';
import type { Category } from '../vocabulary.ts';
import type { TokensByCategory } from '../protocol/receipt.ts';

/** The settings of an estimate; keys of `[compact]`. */
export interface EstimateSettings {
  /** UTF-8 bytes per token. @source seed 001 §6: 4. */
  readonly approxBytesPerToken: number;
  /** Tokens of one image of any size. @source seed 001 §6: 2000. */
  readonly tokensPerImage: number;
}

export const DEFAULT_ESTIMATE: EstimateSettings = { approxBytesPerToken: 4, tokensPerImage: 2000 };

/** Counts the tokens of a text: the estimate below, or an exact tokenizer. */
export type CountText = (text: string) => number;

/** Length of a text in UTF-8 bytes; a lone surrogate counts 3, as it would when replaced by U+FFFD. */
export function utf8Length(text: string): number {
  return nativeLength === undefined || text.length < LEAST_FOR_NATIVE ? countUtf8(text) : nativeLength(text);
}

/** The runtime's own count, about nine times faster on long texts; a pure function that only Node has. */
const nativeLength = (globalThis as { readonly Buffer?: { byteLength(text: string): number } }).Buffer
  ?.byteLength;

/** With fewer characters, the call costs more than it saves. */
const LEAST_FOR_NATIVE = 64;

function countUtf8(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = codeAt(text, index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPairAt(text, index, unit)) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

function isPairAt(text: string, index: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = codeAt(text, index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/**
 * Tokens of a text: UTF-8 bytes / bytes per token, rounded up.
 * @source seed 001 §6 `approximate`; Codex estimates the same way (codex-behaviour §4.5).
 */
export function approximateTokens(text: string, settings: EstimateSettings = DEFAULT_ESTIMATE): number {
  return Math.ceil(utf8Length(text) / settings.approxBytesPerToken);
}

/**
 * Adds the margin to an estimate without a reported anchor, rounded up.
 * @param multiplier `token_safety_multiplier`, at least 1. @source seed 001 §6: 1.33.
 */
export function withSafetyMargin(tokens: number, multiplier: number): number {
  return Math.ceil(tokens * multiplier);
}

/**
 * Tokens of encrypted reasoning: three quarters of its characters are payload, of which 650 bytes are overhead.
 * @source Codex's own estimate for reasoning of earlier turns (codex-behaviour §4.5).
 */
export function encryptedReasoningTokens(characters: number): number {
  return Math.max(0, Math.ceil(((characters * 3) / 4 - 650) / 4));
}

/**
 * Tokens of an item as a model would bill them, split by category. Items that are never sent to a model (boundaries, progress,
 * ghost snapshots) cost nothing.
 */
export function itemTokens(
  item: Item,
  count: CountText = approximateTokens,
  settings: EstimateSettings = DEFAULT_ESTIMATE,
): TokensByCategory {
  switch (item.type) {
    case 'message':
      return withImages(messageCategory(item), partsTokens(item.content, count, settings));
    case 'reasoning':
      return { reasoning: reasoningTokens(item, count) };
    case 'function_call':
      return { tool_calls: count(item.name) + count(item.arguments) };
    case 'custom_tool_call':
      return { tool_calls: count(item.name) + count(item.input) };
    case 'local_shell_call':
      return { tool_calls: count(JSON.stringify(item.action)) };
    case 'web_search_call':
      return { tool_calls: count(JSON.stringify(item.action ?? {})) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return withImages('tool_results', outputTokens(item.output, count, settings));
    case 'compaction':
      return { summary: encryptedReasoningTokens((item.encrypted_content ?? '').length) };
    case 'attachment':
      return { attachments: count(item.text) };
    case 'unknown':
      return { other: count(JSON.stringify(item.raw)) };
    case 'compact_boundary':
    case 'progress':
    case 'ghost_snapshot':
      return {};
  }
}

/** Sum of a split. */
export function sumTokens(split: TokensByCategory): number {
  let sum = 0;
  for (const category in split) sum += split[category as Category] ?? 0;
  return sum;
}

/** Adds `split` to `totals` in place. */
export function addTokens(totals: Partial<Record<Category, number>>, split: TokensByCategory): void {
  // Not `Object.entries`: this runs for every item of a context, where the lists would dominate the cost.
  for (const key in split) {
    const category = key as Category;
    totals[category] = (totals[category] ?? 0) + (split[category] ?? 0);
  }
}

function messageCategory(item: Item & { type: 'message' }): Category {
  if (item.isCompactSummary === true) return 'summary';
  if (item.isToolOutput === true) return 'tool_results';
  if (item.role === 'assistant') return 'assistant';
  if (item.role === 'user' && item.origin?.author !== 'harness') return 'user';
  return 'system';
}

interface TextAndImages {
  readonly text: number;
  readonly images: number;
}

function withImages(category: Category, { text, images }: TextAndImages): TokensByCategory {
  return images === 0 ? { [category]: text } : { [category]: text, images };
}

function outputTokens(
  output: ToolOutputItem['output'],
  count: CountText,
  settings: EstimateSettings,
): TextAndImages {
  return typeof output === 'string'
    ? { text: count(output), images: 0 }
    : partsTokens(output, count, settings);
}

function partsTokens(parts: readonly Part[], count: CountText, settings: EstimateSettings): TextAndImages {
  let text = 0;
  let images = 0;
  for (const part of parts) {
    if (part.type === 'input_image') images += settings.tokensPerImage;
    else if (part.type === 'refusal') text += count(part.refusal);
    else if (part.type === 'other') text += count(JSON.stringify(part.value));
    else text += count(part.text);
  }
  return { text, images };
}

function reasoningTokens(item: Item & { type: 'reasoning' }, count: CountText): number {
  const readable = item.text === undefined ? 0 : count(item.text);
  const hidden = item.encrypted_content ?? item.signature ?? '';
  return Math.max(readable, encryptedReasoningTokens(hidden.length));
}
