// What a file contains, whether still in the context or not.

import { callOf, isResult } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { RecordedCounts } from './context-account.ts';
import { isUserMessage } from './filter.ts';

/** Counts every recorded item, and remembers the tool of each call. */
export class RecordedItems {
  readonly counts: RecordedCounts = {
    items: 0,
    sideItems: 0,
    userMessages: 0,
    harnessMessages: 0,
    assistantMessages: 0,
    reasoning: 0,
    calls: 0,
    results: 0,
    unknownItems: 0,
  };
  readonly #toolOfCall = new Map<string, string>();
  #mostCalls = Infinity;

  /** From here on remembers the tools of the newest calls only. */
  keepNewest(calls: number): void {
    this.#mostCalls = calls;
    this.#forgetOldest();
  }

  add(item: Item, where: 'context' | 'side'): void {
    this.counts[where === 'side' ? 'sideItems' : 'items']++;
    const call = callOf(item);
    if (call !== undefined) {
      this.counts.calls++;
      if (call.callId !== undefined) this.#remember(call.callId, call.name);
    } else if (isResult(item)) this.counts.results++;
    else if (item.type === 'reasoning') this.counts.reasoning++;
    else if (item.type === 'unknown') this.counts.unknownItems++;
    else if (item.type === 'message') {
      if (item.role === 'assistant') this.counts.assistantMessages++;
      else if (isUserMessage(item)) this.counts.userMessages++;
      else this.counts.harnessMessages++;
    }
  }

  #remember(callId: string, tool: string): void {
    this.#toolOfCall.set(callId, tool);
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const oldest of this.#toolOfCall.keys()) {
      if (this.#toolOfCall.size <= this.#mostCalls) return;
      this.#toolOfCall.delete(oldest);
    }
  }

  /** The tool of a recorded call, unless forgotten. */
  toolOf(callId: string): string | undefined {
    return this.#toolOfCall.get(callId);
  }
}
