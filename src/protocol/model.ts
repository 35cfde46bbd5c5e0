// What is asked of a model and what comes back, whatever provider answers.

import type { Effort, StopReason, Verbosity } from '../vocabulary.ts';
import type { Item, JsonObject } from './item.ts';
import type { UsageSample } from './usage.ts';

/** A tool that the model may call. */
export interface ToolSpec {
  /** Letters, digits, `_` and `-`, at most 64: what every provider takes. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments: an object. */
  readonly parameters: JsonObject;
}

/** The form that an answer must have. */
export interface AnswerSchema {
  readonly name: string;
  /** JSON Schema, strict: every key required, no additional ones. */
  readonly schema: JsonObject;
}

/** One request. The provider's own settings (address, key, limits of waiting) belong to the `Model`. */
export interface ModelRequest {
  readonly model: string;
  /** The system prompt; empty: none. */
  readonly instructions: string;
  /** The history, with what is to be answered at its end. At least one item that is sent. */
  readonly items: readonly Item[];
  readonly tools: readonly ToolSpec[];
  readonly schema?: AnswerSchema;
  /** Left out for models that do not reason. */
  readonly effort?: Effort;
  /** Anthropic has no word for it and is not told. */
  readonly verbosity?: Verbosity;
  /** Tokens of the answer, reasoning included. */
  readonly maxOutputTokens?: number;
  /** Requests of one thread share it, so that the provider finds their common prefix in its cache. */
  readonly cacheKey?: string;
}

/** What the provider counted for one request and its answer, in tokens. */
export interface ModelUsage extends UsageSample {
  readonly source: 'reported';
  readonly covers: 'response';
  /** Everything sent, cached tokens included. */
  readonly input: number;
  /** Of `input`: read from the prompt cache. */
  readonly cachedInput: number;
  /** Of `input`: written to the prompt cache. */
  readonly cacheWrite: number;
  readonly output: number;
  /** Of `output`: reasoning, where the provider says so. */
  readonly reasoningOutput: number;
}

/**
 * One thing that a model says. Deltas are for display. An item comes whole and once; but only `completed` makes an answer
 * valid: whoever keeps or executes items before it must take them back when `restarted` or a failure comes instead.
 */
export type ModelEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | { readonly type: 'item_done'; readonly item: Item }
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  /** The last event of every answer. */
  | { readonly type: 'completed'; readonly stopReason: StopReason }
  | RestartedEvent;

/** The request failed and is about to be sent again; everything since the last of these is void. */
export interface RestartedEvent {
  readonly type: 'restarted';
  /** Counted from 1. */
  readonly retry: number;
  readonly maxRetries: number;
  /** Milliseconds waited before the request is sent again. */
  readonly delayMs: number;
  /** What failed, one sentence. */
  readonly why: string;
}

/** What a provider's own compaction left of a history. */
export interface RemoteCompaction {
  /** The new history as the provider gave it: one `compaction` item, and messages where it keeps some. */
  readonly items: readonly Item[];
  readonly usage: ModelUsage | undefined;
}
