// Searches the log for what compaction removed from the context: results, calls and messages, by id or by words. A fold over the
// records; memory grows with the output, not with the log.

import { callOf, resultCallId, textOfOutput, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { isUserMessage } from '../../history/filter.ts';

/** A recallable part of the log. */
export interface Remembered {
  /** The id under which `recall` returns all of it: `#` and its position in the log, counted from 0. */
  readonly id: string;
  /** `user`, `assistant`, or the tool with the id of its call. */
  readonly who: string;
  /** Number of the user message before it, counted from 1; 0 before the first. */
  readonly turn: number;
  readonly text: string;
}

/** What to search for. */
export type RecallQuery =
  | { readonly type: 'id'; readonly id: string }
  /** Words or phrases, at least one of which must occur; more matches rank higher. */
  | { readonly type: 'words'; readonly words: readonly string[] };

/** Maximum number of places in a search result. */
const MAX_FOUND = 8;

/** The tool's own calls and results only repeat other records. */
const OWN_NAME = 'recall';

/** The terms of a query: quoted phrases, and words of two or more characters, in lower case. */
export function queryWords(query: string): readonly string[] {
  const words = [...query.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map(
    ([, phrase, word]) => phrase?.trim() ?? word ?? '',
  );
  return [...new Set(words.filter((word) => word.length > 1))].slice(0, 20);
}

/** Folds the records of a log into the matches of a query. */
export class RecallSearch {
  readonly #query: RecallQuery;
  readonly #found: { readonly remembered: Remembered; readonly score: number; readonly position: number }[] =
    [];
  readonly #tools = new Map<string, string>();
  #position = 0;
  #turn = 0;

  constructor(query: RecallQuery) {
    this.#query = query;
  }

  add(record: LogRecord): void {
    if (record.type !== 'item') return;
    const position = this.#position++;
    const { item } = record;
    if (isUserMessage(item)) this.#turn++;
    const call = callOf(item);
    if (call?.callId !== undefined) this.#tools.set(call.callId, call.name);
    const read = this.#read(item);
    if (read === undefined) return;
    const score = this.#score(read, position);
    if (score === 0) return;
    const { who, text } = read;
    this.#found.push({ remembered: { id: `#${position}`, who, turn: this.#turn, text }, score, position });
    if (this.#query.type === 'words' && this.#found.length > MAX_FOUND * 2) this.#prune();
  }

  /** Best first, then newest first; for an id, everything that belongs to it, in order. */
  found(): readonly Remembered[] {
    if (this.#query.type === 'words') this.#prune();
    return this.#found.map(({ remembered }) => remembered);
  }

  #prune(): void {
    this.#found.sort((a, b) => b.score - a.score || b.position - a.position);
    this.#found.length = Math.min(this.#found.length, MAX_FOUND);
  }

  #read(item: Item): { readonly who: string; readonly text: string; readonly callId?: string } | undefined {
    const call = callOf(item);
    if (call !== undefined) {
      if (call.name === OWN_NAME) return undefined;
      const callId = call.callId === undefined ? {} : { callId: call.callId };
      return {
        who: `call of ${call.name}${call.callId === undefined ? '' : ` ${call.callId}`}`,
        text: call.input,
        ...callId,
      };
    }
    const callId = resultCallId(item);
    if (callId !== undefined) {
      const name = this.#tools.get(callId) ?? 'a tool';
      if (name === OWN_NAME) return undefined;
      return { who: `result of ${name} ${callId}`, text: textOfResult(item), callId };
    }
    if (item.type !== 'message' || item.role === 'developer' || item.role === 'system') return undefined;
    // A summary only repeats what is in the log itself.
    if (item.isCompactSummary === true || item.isVisibleInTranscriptOnly === true) return undefined;
    return { who: item.origin?.author ?? item.role, text: textOfParts(item.content) };
  }

  #score({ text, callId }: { readonly text: string; readonly callId?: string }, position: number): number {
    if (this.#query.type === 'id') {
      return this.#query.id === callId || this.#query.id === `#${position}` ? 1 : 0;
    }
    const lower = text.toLowerCase();
    return this.#query.words.filter((word) => lower.includes(word)).length;
  }
}

function textOfResult(item: Item): string {
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
    return textOfOutput(item.output);
  }
  return item.type === 'unknown' ? JSON.stringify(item.raw) : '';
}

/** Characters of an excerpt on each side of a match. */
const EXCERPT = 160;

/** An excerpt around the first match of any word, on one line. */
export function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const place = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, place - EXCERPT);
  const to = Math.min(text.length, place + 2 * EXCERPT);
  const inside = text.slice(from, to).replace(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${inside}${to < text.length ? '…' : ''}`;
}
