// Items stored unchanged in a rollout where only Baton looks, because Codex cannot represent them, or a part of them.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { AUTHORS } from '../../vocabulary.ts';
import { isJsonObject } from '../fields.ts';

/** What an item of a type must have. */
interface Required {
  readonly texts?: readonly string[];
  readonly objects?: readonly string[];
  /** Lists of objects that have a type. */
  readonly lists?: readonly string[];
}

const CALL_RESULT: Required = { texts: ['call_id'] };

const REQUIRED: Readonly<Record<Item['type'], Required>> = {
  message: { texts: ['role'], lists: ['content'] },
  reasoning: { lists: ['summary'] },
  function_call: { texts: ['call_id', 'name', 'arguments'] },
  custom_tool_call: { texts: ['call_id', 'name', 'input'] },
  local_shell_call: { texts: ['call_id'], objects: ['action'] },
  function_call_output: CALL_RESULT,
  custom_tool_call_output: CALL_RESULT,
  web_search_call: {},
  compaction: {},
  compact_boundary: { texts: ['uuid', 'timestamp', 'trigger'] },
  attachment: { texts: ['kind', 'text'] },
  progress: { texts: ['text'] },
  ghost_snapshot: { objects: ['ghost_commit'] },
  unknown: { objects: ['raw'] },
};

/** The item that a value is; undefined if it is not an item. */
export function readWhole(value: Json | undefined): Item | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, origin } = value;
  if (typeof type !== 'string' || !Object.hasOwn(REQUIRED, type)) return undefined;
  const { texts = [], objects = [], lists = [] } = REQUIRED[type as Item['type']];
  const isItem =
    texts.every((key) => typeof value[key] === 'string') &&
    objects.every((key) => isJsonObject(value[key])) &&
    lists.every((key) => isTypedList(value[key])) &&
    (origin === undefined || isOrigin(origin)) &&
    hasResult(value) &&
    (type !== 'unknown' || typeof (value['raw'] as JsonObject)['type'] === 'string');
  return isItem ? (value as unknown as Item) : undefined;
}

function hasResult({ type, output }: JsonObject): boolean {
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return true;
  return typeof output === 'string' || isTypedList(output);
}

function isTypedList(value: Json | undefined): boolean {
  return (
    Array.isArray(value) &&
    (value as readonly Json[]).every((each) => isJsonObject(each) && typeof each['type'] === 'string')
  );
}

function isOrigin(value: Json): boolean {
  return isJsonObject(value) && AUTHORS.some((author) => author === value['author']);
}
