// Converts a history for one wire format: items from other providers are dropped or put into words. Everything sent before keeps
// its place, so that the provider finds it in its prompt cache.

import { writeMessages } from '../../formats/messages/message-arrays.ts';
import { arrayAt, isJsonObject, stringAt } from '../../formats/fields.ts';
import { shadowMessage } from '../../history/shadow.ts';
import { textOfParts } from '../../protocol/item.ts';
import type {
  CompactionItem,
  ImagePart,
  Item,
  JsonObject,
  MessageItem,
  Part,
  ToolOutputItem,
} from '../../protocol/item.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import type { MessageFormat } from '../../vocabulary.ts';

/** The system prompt and the messages of one request. */
export interface WireHistory {
  readonly instructions: string;
  readonly messages: readonly JsonObject[];
}

/**
 * The history of a request for one wire. Reasoning and compactions without a maker count as this provider's own if they have the
 * form of its wire.
 * @throws RangeError if the history has no item to send to a model
 */
export function wireHistory(request: ModelRequest, format: MessageFormat, provider: string): WireHistory {
  const own = withShortIds(request.items, format).flatMap((item) => ownItem(item, format, provider));
  const { instructions, items } =
    format === 'chat' ? withOneSystemMessage(request, own) : { ...request, items: own };
  const written = writeMessages(format, items, format);
  const messages = format === 'chat' ? written.map(withPlainText) : written;
  if (messages.length === 0)
    throw new RangeError('A request needs at least one item that is sent to the model.');
  return { instructions, messages };
}

function ownItem(item: Item, format: MessageFormat, provider: string): readonly Item[] {
  switch (item.type) {
    case 'reasoning':
      return isReadable(item, format, provider) ? [item] : [];
    case 'compaction':
      return isReadable(item, format, provider) ? [item] : shadowOf(item);
    // Kinds that Baton does not know can only come from another API, or a newer one.
    case 'unknown':
      return [];
    // Only the Responses API can represent a search that ran at the provider.
    case 'web_search_call':
      return format === 'responses' && typeof item.action?.['type'] === 'string' ? [item] : [];
    case 'message':
      return ownMessage(item, format);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [ownResult(item, format)];
    default:
      return [item];
  }
}

/** Some providers reject empty messages and others skip them; remove them before dropping reasoning that nothing follows. */
function ownMessage(item: MessageItem, format: MessageFormat): readonly Item[] {
  const content = item.content.map((part) => knownPart(part, format, item.role));
  return isBlank(content) ? [] : [{ ...item, content }];
}

function isBlank(parts: readonly Part[]): boolean {
  return parts.every(
    (part) => part.type !== 'input_image' && part.type !== 'other' && textOfParts([part]).trim() === '',
  );
}

/** Replaces another provider's compaction: otherwise, changing the provider would lose everything before it. */
function shadowOf(item: CompactionItem): readonly Item[] {
  const shadow = shadowMessage(item);
  return shadow === undefined ? [] : [shadow];
}

function isReadable(item: Item, format: MessageFormat, provider: string): boolean {
  if (item.provider !== undefined) return item.provider === provider;
  if (item.type !== 'reasoning') return format === 'responses';
  // A signature is Anthropic's, and so is readable unencrypted text; ciphertext alone does not identify a provider.
  const isSigned = item.signature !== undefined;
  return format === 'anthropic' ? isSigned : format === 'responses' && !isSigned;
}

/** Blocks besides texts and images that the Messages API accepts from a user. @source Anthropic Messages API */
const ANTHROPIC_BLOCKS: ReadonlySet<unknown> = new Set(['document', 'search_result']);

function knownPart(part: Part, format: MessageFormat, role: MessageItem['role']): Part {
  if (part.type === 'input_image') return role === 'user' && isTakenImage(part) ? part : NO_IMAGE;
  if (part.type !== 'other') return part;
  if (format === 'anthropic' && role === 'user' && ANTHROPIC_BLOCKS.has(part.value['type'])) return part;
  return { type: 'input_text', text: JSON.stringify(part.value) };
}

const NO_IMAGE: Part = { type: 'input_text', text: '[image]' };

/** @source OpenAI and Anthropic, vision: PNG, JPEG, GIF and WebP, inline or at a web address */
const TAKEN_IMAGE = /^(?:https?:|data:image\/(?:png|jpeg|gif|webp);base64,.)/;

function isTakenImage({ image_url: url }: ImagePart): boolean {
  return url !== undefined && TAKEN_IMAGE.test(url);
}

/** The text for a tool that failed silently: Anthropic rejects an error without text. */
const SILENT_FAILURE = '[The tool failed without a message]';

function ownResult(item: ToolOutputItem, format: MessageFormat): ToolOutputItem {
  const output =
    typeof item.output === 'string'
      ? item.output
      : item.output.map((part) => knownPart(part, format, 'user'));
  const isSilent = typeof output === 'string' ? output.trim() === '' : isBlank(output);
  return { ...item, output: isSilent && item.success === false ? SILENT_FAILURE : output };
}

/** Longest id of a call. @source OpenAI's errors "string too long": 40 in Chat Completions, 64 in Responses */
const MAX_ID: Readonly<Record<MessageFormat, number>> = { chat: 40, responses: 64, anthropic: 64 };

/** Numbers ids that are too long for this provider, in the order of the history. */
function withShortIds(items: readonly Item[], format: MessageFormat): readonly Item[] {
  const short = new Map<string, string>();
  return items.map((item) => {
    if (!('call_id' in item) || item.call_id.length <= MAX_ID[format]) return item;
    const id = short.get(item.call_id) ?? `call_renamed_${short.size + 1}`;
    short.set(item.call_id, id);
    return { ...item, call_id: id };
  });
}

/**
 * The templates of many models accept one system message, at the beginning: system messages there join the instructions, and
 * later ones go into the user role, in the words that Claude Code uses for it.
 */
function withOneSystemMessage(
  { instructions }: ModelRequest,
  items: readonly Item[],
): { readonly instructions: string; readonly items: readonly Item[] } {
  const first = items.findIndex((item) => !isSystem(item));
  const leading = items.slice(0, first === -1 ? items.length : first).filter(isSystem);
  const rest = items.slice(leading.length).map((item) => (isSystem(item) ? asReminder(item) : item));
  const texts = [instructions, ...leading.map((item) => textOfParts(item.content))];
  return { instructions: texts.filter((text) => text !== '').join('\n\n'), items: rest };
}

function isSystem(item: Item): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function asReminder(item: MessageItem): MessageItem {
  const text = `<system-reminder>\n${textOfParts(item.content)}\n</system-reminder>`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

/** Merges text-only content into one string: every server accepts that, and it grows at the end when a message is added. */
function withPlainText(message: JsonObject): JsonObject {
  const parts = arrayAt(message, 'content').filter(isJsonObject);
  if (parts.length === 0 || parts.some((part) => part['type'] !== 'text')) return message;
  return { ...message, content: parts.map((part) => stringAt(part, 'text') ?? '').join('\n\n') };
}
