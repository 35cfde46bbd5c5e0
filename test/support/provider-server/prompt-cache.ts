// What a provider's prompt cache would find of a request: the proof that prefixes stay as they were.

import type { JsonObject } from '../../../src/protocol/item.ts';
import type { WireApi } from '../../../src/vocabulary.ts';

/** UTF-8 bytes that the server takes for a token. */
const BYTES_PER_TOKEN = 4;

/** @source Anthropic, prompt caching */
const LOOKBACK = 20;

/** Tokens of a text by the server's own count, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / BYTES_PER_TOKEN);
}

/** The parts of a request in the order in which the cache reads them: tools, system prompt, messages. */
export function promptOf(wire: WireApi, body: JsonObject): readonly JsonObject[] {
  const list = (key: string): readonly JsonObject[] =>
    Array.isArray(body[key]) ? (body[key] as readonly JsonObject[]) : [];
  switch (wire) {
    case 'responses':
      return [...list('tools'), { instructions: body['instructions'] ?? '' }, ...list('input')];
    case 'chat':
      return [...list('tools'), ...list('messages')];
    case 'anthropic':
      return [
        ...list('tools'),
        ...list('system'),
        ...list('messages').flatMap(({ role, content }) =>
          (Array.isArray(content)
            ? (content as readonly JsonObject[])
            : [{ type: 'text', text: content }]
          ).map((block) => ({ role, ...block })),
        ),
      ];
  }
}

/** Remembers what was sent. OpenAI finds every common prefix, Anthropic those that a breakpoint wrote. */
export class PromptCache {
  readonly #written = new Set<string>();

  /** Tokens of a request that an earlier one had put into the cache; then puts this one there. */
  read(wire: WireApi, body: JsonObject): number {
    const parts = promptOf(wire, body);
    const prefixes: string[] = [];
    let prefix = '';
    for (const { cache_control: _, ...part } of parts) prefixes.push((prefix += `${JSON.stringify(part)}\n`));
    const isMarked = (index: number): boolean =>
      wire !== 'anthropic' || parts[index]?.['cache_control'] !== undefined;
    const isLookedAt = (index: number): boolean => {
      for (let at = index; at <= Math.min(index + LOOKBACK, parts.length - 1); at++)
        if (isMarked(at)) return true;
      return false;
    };
    const found = prefixes.findLast((each, index) => this.#written.has(each) && isLookedAt(index)) ?? '';
    prefixes.forEach((each, index) => {
      if (isMarked(index)) this.#written.add(each);
    });
    return tokensOf(found);
  }
}
