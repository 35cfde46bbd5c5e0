// Records of made-up sessions, for tests that need a log and no file.

import type { Item } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';

export function userSays(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function agentSays(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

export function harnessSays(text: string): Item {
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

/** A call with JSON arguments and, unless it is left open, its result. */
export function toolCall(callId: string, name: string, input: object, output?: string): readonly Item[] {
  const call: Item = { type: 'function_call', name, arguments: JSON.stringify(input), call_id: callId };
  return output === undefined ? [call] : [call, { type: 'function_call_output', call_id: callId, output }];
}

/** Items as the records of a log, each on a line of its own. */
export function recordsOf(...items: readonly (Item | readonly Item[])[]): readonly LogRecord[] {
  return items.flat().map((item, at): LogRecord => ({ type: 'item', item, line: at + 1 }));
}
