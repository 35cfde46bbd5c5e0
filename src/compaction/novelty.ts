// Whether a thread gets on: what comes in that was not there before. Two compactions in a row with nothing new in between
// are a circle, which the loop guard breaks.

import { authorOf, callOf, resultCallId, textOfOutput, textOfParts } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { isSummary, isUserMessage } from '../history/filter.ts';
import type { Entry } from '../history/project.ts';
import { outcomeOf } from '../trail/outputs/outputs.ts';

/** Texts that are told apart, newest kept: more than one window holds calls and answers. */
const MAX_SEEN = 20_000;
/** Calls whose result is awaited. */
const MAX_DUE = 200;

/**
 * Tells progress from repetition, one record at a time: words of the user, an answer that the agent did not give before, the
 * first result of a call, a result that differs from those that the same call had. What Baton injects is not progress, nor is
 * what only a clock or a counter of the wrapper changed.
 * @source spec 2-engine §6, progress
 */
export class NoveltyDetector {
  readonly #seen = new Set<number>();
  readonly #due = new Map<string, string>();

  /** Takes the next record in. @returns whether it is progress */
  add(record: LogRecord): boolean {
    return record.type === 'item' && this.#isNew(record.item);
  }

  #isNew(item: Item): boolean {
    if (item.type === 'message') {
      if (authorOf(item) !== 'agent') return isUserMessage(item);
      const text = textOfParts(item.content).trim();
      return text !== '' && this.#isFirst(`said ${text}`);
    }
    const call = callOf(item);
    if (call?.callId !== undefined) {
      this.#due.set(call.callId, `${call.name} ${call.input}`);
      forgetOldest(this.#due, MAX_DUE);
      return false;
    }
    const callId = resultCallId(item);
    const asked = callId === undefined ? undefined : this.#due.get(callId);
    if (callId === undefined || asked === undefined || !('output' in item)) return false;
    this.#due.delete(callId);
    const { text } = outcomeOf(textOfOutput(item.output));
    return this.#isFirst(`${asked}\n${text}`);
  }

  #isFirst(text: string): boolean {
    const hash = hashOf(text);
    if (this.#seen.has(hash)) return false;
    this.#seen.add(hash);
    forgetOldest(this.#seen, MAX_SEEN);
    return true;
  }
}

/**
 * Whether the user or the agent said or did anything since the newest compaction in force. True where there was none, or only
 * one that cleared results.
 * @source spec 2-engine §4.1: something new since the last boundary
 */
export function hasNews(entries: readonly Entry<Item>[]): boolean {
  const replaced = entries.filter(({ isReplacement }) => isReplacement);
  if (!replaced.some(({ value }) => isSummary(value) || value.type === 'compaction')) return true;
  const newest = replaced.reduce((most, { seq }) => Math.max(most, seq), -1);
  return entries.some(({ seq, value }) => seq > newest && isWork(value));
}

function isWork(item: Item): boolean {
  if (callOf(item) !== undefined) return true;
  return item.type === 'message' && (authorOf(item) === 'agent' || isUserMessage(item));
}

/** FNV-1a over UTF-16 units. A collision hides one piece of progress among very many. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

function forgetOldest(kept: Map<unknown, unknown> | Set<unknown>, limit: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= limit) return;
    kept.delete(key);
  }
}
