// Sets the breakpoints of Anthropic's prompt cache. A breakpoint says: everything up to here may be needed again.

import { arrayAt, isJsonObject, objectsAt } from '../../formats/fields.ts';
import type { JsonObject } from '../../protocol/item.ts';

/** @source Anthropic, prompt caching: "up to 4 cache breakpoints" */
const MAX_BREAKPOINTS = 4;

const EPHEMERAL: JsonObject = { type: 'ephemeral' };

/**
 * The body with up to four breakpoints: the end of the constant part (system prompt, else tools), the end of the request, and the
 * ends of the two previous requests. The last two find what those requests cached, even if one answer with its results exceeds
 * the 20 blocks that the cache looks back. Only marks are added, so the bytes of the prefix stay.
 * @source Anthropic, prompt caching: breakpoints, automatic prefix checking
 */
export function withBreakpoints(body: JsonObject): JsonObject {
  const messages = objectsAt(body, 'messages');
  const userTurns = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const ends = new Set(userTurns.slice(1 - MAX_BREAKPOINTS));
  const marked = messages.map((message, index) =>
    ends.has(index) ? withMarkedEnd(message, 'content') : message,
  );
  const isSystemThere = arrayAt(body, 'system').length > 0;
  return { ...withMarkedEnd(body, isSystemThere ? 'system' : 'tools'), messages: marked };
}

/** Marks the last element of one of an object's lists. A user's last block can always carry a mark. */
function withMarkedEnd(holder: JsonObject, key: string): JsonObject {
  const list = arrayAt(holder, key);
  const last = list.at(-1);
  if (!isJsonObject(last)) return holder;
  return { ...holder, [key]: [...list.slice(0, -1), { ...last, cache_control: EPHEMERAL }] };
}
