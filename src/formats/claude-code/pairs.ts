// Which result answers which call. The Messages API requires the results of an answer's calls directly after it, each once.

import type { Item, ToolOutputItem } from '../../protocol/item.ts';
import { callOf } from '../../protocol/item.ts';
import { toolId } from './blocks.ts';

/** A call with the id it is written under and its result. */
export interface Pair {
  readonly id: string;
  readonly result: ToolOutputItem | undefined;
}

/** The pairs of a list, by the position of the call; a result belongs to the nearest preceding open call. */
export function pairUp(items: readonly Item[]): ReadonlyMap<number, Pair> {
  const pairs = new Map<number, Pair>();
  const open = new Map<string, number>();
  const used = new Set<string>();
  for (const [position, item] of items.entries()) {
    const callId = isWritable(item) ? callOf(item)?.callId : undefined;
    if (callId !== undefined) {
      pairs.set(position, { id: freshId(callId, used), result: undefined });
      open.set(callId, position);
    }
    if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') continue;
    const call = open.get(item.call_id);
    const pair = call === undefined ? undefined : pairs.get(call);
    if (call === undefined || pair === undefined) continue;
    pairs.set(call, { ...pair, result: item });
    open.delete(item.call_id);
  }
  return pairs;
}

function isWritable(item: Item): boolean {
  return (
    item.type === 'function_call' || item.type === 'custom_tool_call' || item.type === 'local_shell_call'
  );
}

function freshId(callId: string, used: Set<string>): string {
  const base = toolId(callId);
  let id = base;
  for (let count = 2; used.has(id); count++) id = `${base}_${count}`;
  used.add(id);
  return id;
}
