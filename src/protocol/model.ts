// What Baton sends to a model and what the model returns, for every provider.

import type { Effort, StopReason, Verbosity } from '../vocabulary.ts';
import type { Item, JsonObject } from './item.ts';
import type { UsageSample } from './usage.ts';

/** A tool that the model may call. */
export interface ToolSpec {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its type is an object. */
  readonly parameters: JsonObject;
}

/** The required form of an answer. */
export interface AnswerSchema {
  readonly name: string;
  /** JSON Schema, strict: every key is required, additional keys are not allowed. */
  readonly schema: JsonObject;
}

/** One request. The provider's own settings (address, key, timeouts) belong to the `Model`. */
export interface ModelRequest {
  readonly model: string;
  /** The system prompt; empty: none. */
  readonly instructions: string;
  /** The history, ending with what the model answers. At least one item must be sendable. */
  readonly items: readonly Item[];
  readonly tools: readonly ToolSpec[];
  readonly schema?: AnswerSchema;
  /** Omitted for models that do not reason. */
  readonly effort?: Effort;
  /** Not sent to Anthropic, which has no such setting. */
  readonly verbosity?: Verbosity;
  /** Limit of the answer in tokens, including reasoning. */
  readonly maxOutputTokens?: number;
  /** Shared by the requests of one thread, so that the provider's cache finds their common prefix. */
  readonly cacheKey?: string;
}

/** The provider's token counts for one request and its answer. */
export interface ModelUsage extends UsageSample {
  readonly source: 'reported';
  readonly covers: 'response';
  /** Everything sent, including cached tokens. */
  readonly input: number;
  /** Part of `input`: read from the prompt cache. */
  readonly cachedInput: number;
  /** Part of `input`: written to the prompt cache. */
  readonly cacheWrite: number;
  readonly output: number;
  /** Part of `output`: reasoning, if the provider reports it. */
  readonly reasoningOutput: number;
}

/**
 * One event of a model's answer. Deltas are for display. Each item arrives complete and once, but only `completed`
 * makes the answer valid: a consumer that keeps or executes items earlier must revert them if `restarted` or a failure
 * follows instead.
 */
export type ModelEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | { readonly type: 'item_done'; readonly item: Item }
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  /** The last event of every answer. */
  | { readonly type: 'completed'; readonly stopReason: StopReason }
  | RestartedEvent;

/** The request failed and is about to be sent again; everything since the previous restart is void. */
export interface RestartedEvent {
  readonly type: 'restarted';
  /** Counted from 1. */
  readonly retry: number;
  readonly maxRetries: number;
  /** Milliseconds waited before the request is sent again. */
  readonly delayMs: number;
  /** What failed, in one sentence. */
  readonly why: string;
}

/** The result of a provider's own compaction. */
export interface RemoteCompaction {
  /** The new history as the provider returned it: one `compaction` item, and messages if it keeps some. */
  readonly items: readonly Item[];
  readonly usage: ModelUsage | undefined;
}
