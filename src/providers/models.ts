// What is known about models beside their windows: what they may answer, how they reason, what they cost.

import { knownWindow, UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import type { ModelUsage } from '../protocol/model.ts';
import type { Effort } from '../vocabulary.ts';

/** US dollars for a million tokens. */
export interface Prices {
  /** The day on which they were looked up, `YYYY-MM-DD`. */
  readonly asOf: string;
  readonly input: number;
  readonly cachedInput: number;
  /** Anthropic, five minutes; the others ask the price of `input`. */
  readonly cacheWrite: number;
  readonly output: number;
}

/**
 * How a model is told to think: not at all, by effort (OpenAI), by a budget of tokens, or as it sees fit with an effort
 * (Anthropic's older and newer models).
 */
export type Reasoning = 'none' | 'effort' | 'budget' | 'adaptive';

/** What the table knows of one family. */
interface Family {
  readonly prefix: string;
  /** Tokens of one answer, reasoning included. */
  readonly outputLimit: number;
  readonly reasoning: Reasoning;
}

const LOOKED_UP = '2026-11-21';

const openai = (input: number, cachedInput: number, output: number): Prices => ({
  asOf: LOOKED_UP,
  input,
  cachedInput,
  cacheWrite: input,
  output,
});

/** @source Anthropic: a write into the cache costs 1.25 times the input, a read 0.1 times */
const anthropic = (input: number, output: number): Prices => ({
  asOf: LOOKED_UP,
  input,
  cachedInput: input / 10,
  cacheWrite: input * 1.25,
  output,
});

/**
 * Limits by family; the longest matching prefix counts.
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

/**
 * Prices by the exact name, since variants of one family (mini, pro) cost up to a hundred times as much or as little. A
 * model that is not here has no price: unknown is better than wrong.
 * @source developers.openai.com/api/docs/pricing; Anthropic's pricing page
 */
const PRICES: ReadonlyMap<string, Prices> = new Map([
  ['gpt-5', openai(1.25, 0.125, 10)],
  ['gpt-5-codex', openai(1.25, 0.125, 10)],
  ['gpt-5-mini', openai(0.25, 0.025, 2)],
  ['gpt-5-nano', openai(0.05, 0.005, 0.4)],
  ['gpt-5.1', openai(1.25, 0.125, 10)],
  ['gpt-5.1-codex', openai(1.25, 0.125, 10)],
  ['gpt-5.4', openai(2.5, 0.25, 15)],
  ['gpt-5.4-mini', openai(0.75, 0.075, 4.5)],
  ['gpt-4.1', openai(2, 0.5, 8)],
  ['gpt-4.1-mini', openai(0.4, 0.1, 1.6)],
  ['gpt-4.1-nano', openai(0.1, 0.025, 0.4)],
  ['gpt-4o', openai(2.5, 1.25, 10)],
  ['gpt-4o-mini', openai(0.15, 0.075, 0.6)],
  ['o3', openai(2, 0.5, 8)],
  ['o4-mini', openai(1.1, 0.275, 4.4)],
  ['claude-3-5-haiku', anthropic(0.8, 4)],
  ['claude-3-7-sonnet', anthropic(3, 15)],
  ['claude-opus-4', anthropic(15, 75)],
  ['claude-opus-4-1', anthropic(15, 75)],
  ['claude-opus-4-5', anthropic(5, 25)],
  ['claude-opus-4-6', anthropic(5, 25)],
  ['claude-opus-4-8', anthropic(5, 25)],
  ['claude-sonnet-4', anthropic(3, 15)],
  ['claude-sonnet-4-5', anthropic(3, 15)],
  ['claude-sonnet-4-6', anthropic(3, 15)],
  ['claude-haiku-4-5', anthropic(1, 5)],
]);

/** What dated and moving names of one model have in common: `-20251001`, `-2025-08-07`, `-latest`. */
const VERSION = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|0)$/;

/** What is known of a model. */
export interface ModelInfo {
  /** Whether the table knows it; else the other facts are what is safe to assume. */
  readonly isKnown: boolean;
  /** Raw context window in tokens. */
  readonly window: number;
  /** Tokens of one answer; undefined: unknown, the provider decides. */
  readonly outputLimit: number | undefined;
  /** Undefined: unknown; it is asked to reason only where the request says so. */
  readonly reasoning: Reasoning | undefined;
  readonly prices: Prices | undefined;
}

/** What is known of a model by its name, which a gateway may have put a provider before (`openai/gpt-5.1`). */
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
    outputLimit: best?.outputLimit,
    reasoning: best?.reasoning,
    prices: PRICES.get(name) ?? PRICES.get(name.replace(VERSION, '')),
  };
}

/** What one request cost, in US dollars; undefined for a model without known prices. */
export function costOf(model: string, usage: ModelUsage): number | undefined {
  const { prices } = modelInfo(model);
  if (prices === undefined) return undefined;
  const plain = Math.max(0, usage.input - usage.cachedInput - usage.cacheWrite);
  return (
    (plain * prices.input +
      usage.cachedInput * prices.cachedInput +
      usage.cacheWrite * prices.cacheWrite +
      usage.output * prices.output) /
    1_000_000
  );
}

/**
 * Tokens that an older Anthropic model may think, by effort; its API takes no less than 1,024.
 * @source Claude Code: 4,000 for "think", 10,000 for "think hard", 31,999 for "ultrathink"
 */
export const THINKING_BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 4_000,
  medium: 10_000,
  high: 16_000,
  xhigh: 31_999,
};
