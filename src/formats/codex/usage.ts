// Usage as Codex reports it: `token_count` events.

import type { JsonObject } from '../../protocol/item.ts';
import type { UsageSample } from '../../protocol/usage.ts';
import { usableWindow } from '../../tokens/pressure.ts';
import { objectAt } from '../fields.ts';
import { numberAt } from './shapes.ts';

/** The content of a `token_count`. */
export interface TokenCount {
  readonly sample: UsageSample;
  /** Tokens of all requests so far. */
  readonly spent: number | undefined;
}

/** Reads `info` of a `token_count`; undefined if it contains no usage. */
export function readTokenCount(info: JsonObject): TokenCount | undefined {
  const last = objectAt(info, 'last_token_usage');
  if (last === undefined) return undefined;
  const all = objectAt(info, 'total_token_usage');
  return { sample: readSample(last), spent: all === undefined ? undefined : numberAt(all, 'total_tokens') };
}

function readSample(last: JsonObject): UsageSample {
  const input = numberAt(last, 'input_tokens') ?? 0;
  const output = numberAt(last, 'output_tokens') ?? 0;
  const total = numberAt(last, 'total_tokens') ?? input + output;
  // After a compaction Codex writes its own estimate: a total without parts.
  if (input === 0 && output === 0) return { source: 'estimated', covers: 'history', total };
  return {
    source: 'reported',
    covers: 'response',
    total,
    output,
    cachedInput: numberAt(last, 'cached_input_tokens') ?? 0,
    reasoningOutput: numberAt(last, 'reasoning_output_tokens') ?? 0,
  };
}

/** Whether Codex repeats a usage, as it does when rate limits change. */
export function isRepeated(count: TokenCount, before: TokenCount | undefined): boolean {
  return (
    before !== undefined &&
    count.spent === before.spent &&
    count.sample.total === before.sample.total &&
    count.sample.output === before.sample.output
  );
}

/**
 * The usable window behind a `model_context_window`: since 0.46 Codex writes the usable part itself, before that the raw
 * window.
 * @source rollouts: 272,000 in one of 0.34, 258,400 (95 % of it) from 0.124 on, 38,000 for a configured 40,000 in 0.169; that
 * 0.46 (October 2025) is where it changed is from codex-behaviour §9 and could not be confirmed in a file.
 */
export function usableWindowOf(modelContextWindow: number, producerVersion: string | undefined): number {
  return isBefore046(producerVersion) ? usableWindow(modelContextWindow) : modelContextWindow;
}

function isBefore046(version: string | undefined): boolean {
  const match = /^(\d+)\.(\d+)\./.exec(version ?? '');
  // Layouts without a version are older than any with one.
  if (match === null) return version === undefined;
  return Number(match[1]) === 0 && Number(match[2]) < 46;
}
