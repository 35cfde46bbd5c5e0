// Response items of a rollout as Items. Parsed objects are kept, so that keys of newer versions survive; a copy is made only if
// Baton adds a field. Payloads that are invalid for their kind are kept raw, as unknown.

import type { Item, Json, JsonObject, MessageItem, Part, UnknownItem } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import { markedOrigin } from '../../protocol/marker.ts';
import { isSummaryText, userRoleKind } from './authorship.ts';
import { applyMarks } from './marks.ts';
import { isJsonObject, stringAt } from '../fields.ts';
import { listAt } from './shapes.ts';

/** The context that helps to read an item. */
export interface ItemSurroundings {
  /** The `message` of the compaction whose replacement contains the item: the text of its summary. */
  readonly summaryText?: string;
  /** Baton's own fields of the item; see `marks.ts`. */
  readonly marks?: Json | undefined;
}

/** A payload that can be an item: it has a type. */
export type ItemPayload = JsonObject & { readonly type: string };

/** Receives a short description of what is wrong with an item. */
export type OnWrongShape = (what: string) => void;

/** Whether an object has a type, as every item does. */
export function isItemPayload(payload: JsonObject): payload is ItemPayload {
  return typeof payload['type'] === 'string';
}

/** The item in `payload`. Never fails: reports a wrong shape and keeps the payload as an `unknown` item. */
export function readItem(
  payload: ItemPayload,
  onWrongShape: OnWrongShape,
  around: ItemSurroundings = {},
): Item {
  const item = readPlainItem(payload, onWrongShape, around.summaryText);
  return around.marks === undefined ? item : applyMarks(item, around.marks);
}

function readPlainItem(
  payload: ItemPayload,
  onWrongShape: OnWrongShape,
  summaryText: string | undefined,
): Item {
  const { type } = payload;
  const item = readKnownItem(payload, summaryText);
  if (typeof item !== 'string') return item;
  onWrongShape(`${KNOWN_TYPES.has(type) ? type : 'item'} ${item}; kept as it is`);
  return unknownItem(payload);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'web_search_call',
  'compaction',
  'compaction_summary',
  'ghost_snapshot',
]);

/** Whether Baton interprets items of this type. */
export function isInterpretedType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}

/** Whether Codex writes items of this type; the oldest rollouts have them without a wrapper. */
export function isItemType(type: string): boolean {
  return KNOWN_TYPES.has(type) || type.endsWith('_call') || type.endsWith('_call_output');
}

/** The item, or what is wrong with its payload. */
function readKnownItem(payload: ItemPayload, summaryText: string | undefined): Item | string {
  switch (payload.type) {
    case 'message':
      return readMessage(payload, summaryText);
    case 'reasoning':
      return readReasoning(payload);
    case 'function_call':
      return requireStrings(payload, 'call_id', 'name', 'arguments');
    case 'custom_tool_call':
      return requireStrings(payload, 'call_id', 'name', 'input');
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readOutput(payload);
    case 'local_shell_call':
      return readLocalShellCall(payload);
    case 'web_search_call':
      if (payload['action'] === undefined || isJsonObject(payload['action']))
        return payload as unknown as Item;
      return 'has an action that is not an object';
    case 'compaction':
      return payload as unknown as Item;
    case 'compaction_summary':
      return { ...payload, type: 'compaction' };
    case 'ghost_snapshot':
      return isJsonObject(payload['ghost_commit']) ? (payload as unknown as Item) : 'has no ghost_commit';
    default:
      return unknownItem(payload);
  }
}

function unknownItem(raw: UnknownItem['raw']): UnknownItem {
  return { type: 'unknown', raw };
}

function requireStrings(payload: ItemPayload, ...keys: string[]): Item | string {
  for (const key of keys) {
    if (typeof payload[key] !== 'string') return `has no text in ${key}`;
  }
  return payload as unknown as Item;
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'developer', 'system']);

function readMessage(payload: ItemPayload, summaryText: string | undefined): Item | string {
  const { role, content: raw } = payload;
  if (!ROLES.has(role)) return 'has no known role';
  const content = readParts(raw);
  if (content === undefined) return 'has a content that is not a list of parts';
  const message = withField(payload, 'content', content) as MessageItem;
  const origin = markedOrigin(textOfParts(content.slice(0, 1)));
  if (origin !== undefined && role !== 'developer' && role !== 'system') return { ...message, origin };
  if (role !== 'user') return message;
  if (isSummaryOf(content, summaryText)) return asSummary(message);
  const kind = userRoleKind(content, payload);
  if (kind === 'user') return quotesSummary(content) ? { ...message, isCompactSummary: false } : message;
  return kind === 'summary' ? asSummary(message) : { ...message, origin: { author: 'harness' } };
}

/** Other readers recognise a summary by its first words; this message is known not to be one. */
function quotesSummary([first]: readonly Part[]): boolean {
  return first?.type === 'input_text' && isSummaryText(first.text);
}

function isSummaryOf(content: readonly Part[], summaryText: string | undefined): boolean {
  return summaryText !== undefined && summaryText !== '' && textOfParts(content) === summaryText;
}

function asSummary(message: MessageItem): MessageItem {
  return { ...message, origin: { author: 'harness' }, isCompactSummary: true };
}

/** The parts of a message or a result: the same array if Baton knows them all, undefined if it is not a list of parts. */
function readParts(raw: Json | undefined): readonly Part[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const values = raw as readonly Json[];
  let areKnown = true;
  for (const value of values) {
    if (!isJsonObject(value)) return undefined;
    if (!isKnownPart(value)) areKnown = false;
  }
  if (areKnown) return values as unknown as readonly Part[];
  return (values as readonly JsonObject[]).map((value) =>
    isKnownPart(value) ? (value as unknown as Part) : { type: 'other', value },
  );
}

function isKnownPart(value: JsonObject): boolean {
  switch (value['type']) {
    case 'input_text':
    case 'output_text':
      return typeof value['text'] === 'string';
    case 'input_image':
      return value['image_url'] === undefined || typeof value['image_url'] === 'string';
    case 'refusal':
      return typeof value['refusal'] === 'string';
    default:
      return false;
  }
}

function readReasoning(payload: ItemPayload): Item | string {
  const { encrypted_content: encrypted } = payload;
  if (encrypted !== undefined && encrypted !== null && typeof encrypted !== 'string') {
    return 'has an encrypted_content that is not text';
  }
  const summary = payload['summary'] ?? [];
  if (!Array.isArray(summary) || !(summary as readonly Json[]).every(isTextEntry)) {
    return 'has a summary that is not a list of texts';
  }
  const text = (listAt(payload, 'content') ?? []).filter(isTextEntry).map((entry) => entry['text']);
  const kept = payload['summary'] === undefined ? { ...payload, summary: [] } : payload;
  return (text.length === 0 ? kept : { ...kept, text: text.join('\n') }) as unknown as Item;
}

function isTextEntry(value: Json): value is JsonObject {
  return isJsonObject(value) && typeof value['text'] === 'string' && typeof value['type'] === 'string';
}

function readLocalShellCall(payload: ItemPayload): Item | string {
  if (!isJsonObject(payload['action'])) return 'has no action';
  if (typeof payload['call_id'] === 'string') return payload as unknown as Item;
  const id = stringAt(payload, 'id');
  // Before the Responses API named it, the id served as the call's.
  return id === undefined ? 'has no call_id' : ({ ...payload, call_id: id } as unknown as Item);
}

function readOutput(payload: ItemPayload): Item | string {
  const { call_id: callId, output: raw } = payload;
  if (typeof callId !== 'string') return 'has no text in call_id';
  if (typeof raw === 'string') return withExitCode(payload as unknown as Item, raw);
  const output = readParts(raw);
  if (output === undefined) return 'has an output that is neither text nor a list of parts';
  const item = withField(payload, 'output', output);
  const [first] = output;
  return first?.type === 'input_text' ? withExitCode(item, first.text) : item;
}

function withExitCode(item: Item, text: string): Item {
  const exitCode = exitCodeOf(text);
  return exitCode === undefined ? item : ({ ...item, exit_code: exitCode } as Item);
}

/** The payload as an item, copied only if the field differs from the parsed one. */
function withField(payload: ItemPayload, key: string, value: unknown): Item {
  return (value === payload[key] ? payload : { ...payload, [key]: value }) as unknown as Item;
}

/** The lines that Codex puts above the output of a command. @source rollouts of 0.125 to 0.169. */
const HEADER =
  /^(?:Chunk ID: [^\n]{0,60}\n)?(?:Wall time: [^\n]{0,60}\n)?(?:Process exited with code|Exit code:) (-?\d{1,10})\n/;
/** Until about 0.50 the output was a JSON text that ended like this. @source rollouts of 0.34. */
const JSON_TAIL = /"metadata":\{"exit_code":(-?\d{1,10}),"duration_seconds":[0-9.eE+-]{1,30}\}\}$/;
const JSON_OPENING = '{"output":';

function exitCodeOf(text: string): number | undefined {
  const code = text.charCodeAt(0);
  if (code === 123 /* { */) {
    if (!text.startsWith(JSON_OPENING)) return undefined;
    const match = JSON_TAIL.exec(text.slice(-120));
    return match === null ? undefined : Number(match[1]);
  }
  if (code !== 67 /* C */ && code !== 69 /* E */ && code !== 87 /* W */ && code !== 80 /* P */)
    return undefined;
  const match = HEADER.exec(text.slice(0, 240));
  return match === null ? undefined : Number(match[1]);
}
