// How to recognise a rollout by its lines, and what is easily mistaken for one.

import type { JsonObject } from '../../protocol/item.ts';
import { isItemType } from './items.ts';
import { isJsonObject } from '../fields.ts';

const LINE_TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'compacted',
  'turn_context',
  'world_state',
  'token_usage_record',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
  'baton_item',
  'baton_note',
  'baton_record',
]);

/**
 * How much a parsed line looks like one of a rollout: 1 for a kind of line that Codex writes, 0.6 for a wrapped line of an
 * unknown kind, 0 for anything else.
 */
export function looksLikeCodex(value: JsonObject): number {
  const { type, payload } = value;
  if (isJsonObject(payload)) {
    if (typeof type !== 'string') return 0;
    if (LINE_TYPES.has(type)) return 1;
    return typeof value['timestamp'] === 'string' ? 0.6 : 0;
  }
  return looksLikeBareCodex(value) ? 1 : 0;
}

/** Lines of the oldest layout: header, filler, and items without a wrapper. */
function looksLikeBareCodex(value: JsonObject): boolean {
  const { type, id, timestamp } = value;
  if (value['record_type'] === 'state') return true;
  if (type === undefined) {
    return typeof id === 'string' && typeof timestamp === 'string' && 'instructions' in value;
  }
  // Claude Code and pi also have lines of type "message" or similar, but with links of a tree.
  if (typeof type !== 'string' || !isItemType(type))
    return type === 'reasoning' && Array.isArray(value['summary']);
  return type !== 'message' || Array.isArray(value['content']);
}
