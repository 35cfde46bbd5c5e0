// Facts about models besides their windows: output limits, reasoning, and the cost of a request.

import { knownWindow, UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { priceOf } from '../tokens/prices.ts';
import type { ModelPrice } from '../tokens/prices.ts';
import type { ModelUsage } from '../protocol/model.ts';
import type { Effort } from '../vocabulary.ts';

/**
 * How to request reasoning: not at all, by effort (OpenAI), by a budget of tokens, or adaptively with an effort (Anthropic's
 * older and newer models).
 */
export type Reasoning = 'none' | 'effort' | 'budget' | 'adaptive';

/** The table's facts about one family. */
interface Family {
  readonly prefix: string;
  /** Tokens of one answer, reasoning included. */
  readonly outputLimit: number;
  readonly reasoning: Reasoning;
}

/**
 * Limits by family; the longest matching prefix applies.
 * @source the model pages of developers.openai.com and platform.claude.com
 */
const FAMILIES: readonly Family[] = [
  { prefix: 'gpt-5', outputLimit: 128_000, reasoning: 'effort' },
  { prefix: 'codex-', outputLimit: 100_000, reasoning: 'effort' },
  { prefix: 'gpt-4.1', outputLimit: 32_768, reasoning: 'none' },
  { prefix: 'gpt-4o', outputLimit: 16_384, reasoning: 'none' },
  { prefix: 'o3', outputLimit: 100_000, reasoning: 'effort' },
  { prefix: 'o4-mini', outputLimit: 100_000, reasoning: 'effort' },
  // Anthropic's newest models all take `adaptive`; the exceptions are the older ones, by name.
  { prefix: 'claude-', outputLimit: 64_000, reasoning: 'adaptive' },
  { prefix: 'claude-3-', outputLimit: 4096, reasoning: 'none' },
  { prefix: 'claude-3-5', outputLimit: 8192, reasoning: 'none' },
  { prefix: 'claude-3-7', outputLimit: 64_000, reasoning: 'budget' },
  { prefix: 'claude-opus-4', outputLimit: 32_000, reasoning: 'budget' },
  { prefix: 'claude-opus-4-5', outputLimit: 64_000, reasoning: 'budget' },
  { prefix: 'claude-opus-4-6', outputLimit: 128_000, reasoning: 'adaptive' },
  { prefix: 'claude-opus-4-7', outputLimit: 128_000, reasoning: 'adaptive' },
  { prefix: 'claude-opus-4-8', outputLimit: 128_000, reasoning: 'adaptive' },
  { prefix: 'claude-sonnet-4', outputLimit: 64_000, reasoning: 'budget' },
  { prefix: 'claude-sonnet-4-6', outputLimit: 64_000, reasoning: 'adaptive' },
  { prefix: 'claude-haiku-4', outputLimit: 64_000, reasoning: 'budget' },
];

/** The facts about a model. */
export interface ModelInfo {
  /** Whether the table contains it; otherwise the other facts are safe assumptions. */
  readonly isKnown: boolean;
  /** Raw context window in tokens. */
  readonly window: number;
  /** Whether the table contains the window; otherwise it is `UNKNOWN_MODEL_WINDOW`. */
  readonly isWindowKnown: boolean;
  /** Tokens of one answer; undefined: unknown, the provider decides. */
  readonly outputLimit: number | undefined;
  /** Undefined: unknown; reasoning is requested only if the request says so. */
  readonly reasoning: Reasoning | undefined;
  readonly price: ModelPrice | undefined;
}

/** The facts about a model by its name, which may have a gateway's prefix (`openai/gpt-5.1`). */
export function modelInfo(model: string): ModelInfo {
  const name = model.slice(model.lastIndexOf('/') + 1);
  let best: Family | undefined;
  for (const family of FAMILIES) {
    if (name.startsWith(family.prefix) && family.prefix.length > (best?.prefix.length ?? 0)) best = family;
  }
  const window = knownWindow(name);
  return {
    isKnown: best !== undefined && window !== undefined,
    window: window ?? UNKNOWN_MODEL_WINDOW,
    isWindowKnown: window !== undefined,
    outputLimit: best?.outputLimit,
    reasoning: best?.reasoning,
    price: priceOf(name),
  };
}

/** The cost of one request in US dollars; undefined for a model without a list price. */
export function costOf(model: string, usage: ModelUsage): number | undefined {
  const price = priceOf(model);
  if (price === undefined) return undefined;
  const plain = Math.max(0, usage.input - usage.cachedInput - usage.cacheWrite);
  const dollars =
    plain * price.input +
    usage.cachedInput * price.cachedInput +
    usage.cacheWrite * price.cacheWrite +
    usage.output * price.output;
  return dollars / 1_000_000;
}

/**
 * Thinking budget of older Anthropic models in tokens, by effort; their API requires at least 1,024.
 * @source Claude Code: 4,000 for "think", 10,000 for "think hard", 31,999 for "ultrathink"
 */
export const THINKING_BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 4_000,
  medium: 10_000,
  high: 16_000,
  xhigh: 31_999,
};
