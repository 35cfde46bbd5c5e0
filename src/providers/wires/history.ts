// A history as one wire format takes it: what another provider made is left out or said in words, and nothing that was
// sent before changes its place, so that the provider finds it in its prompt cache.

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
 * The history of a request on one wire. Reasoning and compactions without a maker are taken for this provider's own if
 * they have the form of its wire.
 * @throws RangeError when no item of the history is sent to a model
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
    // Kinds that Baton does not know can only be what another API, or a newer one, wrote.
    case 'unknown':
      return [];
    // Only the Responses API has a place for a search that ran at the provider.
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

/**
 * A message that says nothing is refused by some and skipped by others; here it goes before reasoning is left out that
 * nothing follows.
 */
function ownMessage(item: MessageItem, format: MessageFormat): readonly Item[] {
  const content = item.content.map((part) => knownPart(part, format, item.role));
  return isBlank(content) ? [] : [{ ...item, content }];
}

function isBlank(parts: readonly Part[]): boolean {
  return parts.every(
    (part) => part.type !== 'input_image' && part.type !== 'other' && textOfParts([part]).trim() === '',
  );
}

/** What stands for a compaction of another provider: without it a change of provider would lose all that is behind it. */
function shadowOf(item: CompactionItem): readonly Item[] {
  const shadow = shadowMessage(item);
  return shadow === undefined ? [] : [shadow];
}

function isReadable(item: Item, format: MessageFormat, provider: string): boolean {
  if (item.provider !== undefined) return item.provider === provider;
  if (item.type !== 'reasoning') return format === 'responses';
  // A signature is Anthropic's, and so is readable text that nothing encrypts; ciphertext alone tells nobody's name.
  const isSigned = item.signature !== undefined;
  return format === 'anthropic' ? isSigned : format === 'responses' && !isSigned;
}

/** Blocks that the Messages API takes from a user beside texts and images. @source Anthropic Messages API */
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

/** What a tool reads that failed in silence: Anthropic refuses an error without a word. */
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

/** Ids that another provider made longer than this one takes, numbered in the order of the history. */
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
 * Templates of many models take one system message, at the beginning: what is said to the model there joins the
 * instructions, and what is said later goes into the user role, in the words that Claude Code uses for it.
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

/** Texts alone are one text: that is what every server takes, and what grows at its end when a message is added. */
function withPlainText(message: JsonObject): JsonObject {
  const parts = arrayAt(message, 'content').filter(isJsonObject);
  if (parts.length === 0 || parts.some((part) => part['type'] !== 'text')) return message;
  return { ...message, content: parts.map((part) => stringAt(part, 'text') ?? '').join('\n\n') };
}
