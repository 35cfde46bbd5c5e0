// What Claude Code adds to the conversation for the model: files, reminders, lists of tools, output of hooks.

import type { AttachmentItem, Item, JsonObject } from '../../protocol/item.ts';
import { isJsonObject, objectAt, stringAt, stringsAt } from '../fields.ts';

/** Kinds that are never sent to a model: records of requests, and information for the user only. */
const NEVER_SENT = new Set([
  'prompt_snapshot',
  'hook_system_message',
  'command_permissions',
  'session_context',
]);

const ATTACHMENT_KINDS = [
  'file',
  'todo',
  'plan',
  'other',
] as const satisfies readonly AttachmentItem['kind'][];

const KINDS: ReadonlyMap<string, AttachmentItem['kind']> = new Map([
  ['file', 'file'],
  ['compact_file_reference', 'file'],
  ['edited_text_file', 'file'],
  ['nested_memory', 'file'],
  ['pdf_reference', 'file'],
  ['todo', 'todo'],
  ['todo_reminder', 'todo'],
  ['task_reminder', 'todo'],
  ['plan_mode', 'plan'],
  ['plan_mode_reentry', 'plan'],
  ['plan_file_reference', 'plan'],
]);

/**
 * The item of an attachment line; undefined for one that the model does not receive (including empty ones).
 *
 * The text is `rendered` if the line has it: that is what was sent. Older lines only have the content. A prompt that the user
 * queued while the agent was working becomes a user message.
 */
export function attachmentItem(line: JsonObject): Item | undefined {
  const attachment = objectAt(line, 'attachment');
  if (attachment === undefined) return undefined;
  const type = stringAt(attachment, 'type') ?? '';
  if (NEVER_SENT.has(type)) return undefined;
  const text = renderedText(line) ?? contentText(type, attachment);
  if (text.trim() === '') return undefined;
  if (type === 'queued_command' && attachment['commandMode'] === 'prompt') {
    return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  }
  const mark = batonMark(attachment);
  if (mark !== undefined) {
    const { heading, ...what } = mark;
    return { type: 'attachment', ...what, text: heading === undefined ? text : `${heading}\n${text}` };
  }
  const path =
    stringAt(attachment, 'filename') ?? stringAt(attachment, 'path') ?? stringAt(attachment, 'planFilePath');
  return {
    type: 'attachment',
    kind: KINDS.get(type) ?? 'other',
    ...(path === undefined ? {} : { path }),
    text,
  };
}

/**
 * An attachment in a kind that was measured to reach the model when a session is resumed, with a note of its original kind.
 * Claude Code presents a file as the result of reading it, so the line that says whose contents these are is stored only as a
 * note.
 * @source docs/real-tools.md
 */
export function attachmentContent({ kind, path, text }: AttachmentItem): JsonObject {
  const mark = { kind, ...(path === undefined ? {} : { path }) };
  if (kind === 'file' && path !== undefined) {
    const [first = '', ...rest] = text.split('\n');
    const hasHeading = rest.length > 0 && first.startsWith(`Contents of ${path}`);
    const lines = hasHeading ? rest : [first, ...rest];
    const file = {
      filePath: path,
      content: lines.join('\n'),
      numLines: lines.length,
      startLine: 1,
      totalLines: lines.length,
    };
    return {
      type: 'file',
      filename: path,
      displayPath: path,
      content: { type: 'text', file },
      baton: hasHeading ? { ...mark, heading: first } : mark,
    };
  }
  if (kind === 'plan' && path !== undefined) {
    return { type: 'plan_file_reference', planFilePath: path, planContent: text, baton: mark };
  }
  return {
    type: 'hook_additional_context',
    content: [text],
    hookName: 'SessionStart',
    toolUseID: 'SessionStart',
    hookEvent: 'SessionStart',
    baton: mark,
  };
}

/** Baton's note about an attachment that it wrote. */
function batonMark(
  attachment: JsonObject,
): (Pick<AttachmentItem, 'kind' | 'path'> & { readonly heading?: string }) | undefined {
  const mark = objectAt(attachment, 'baton');
  if (mark === undefined) return undefined;
  const kind = ATTACHMENT_KINDS.find((each) => each === mark['kind']) ?? 'other';
  const path = stringAt(mark, 'path');
  const heading = stringAt(mark, 'heading');
  return {
    kind,
    ...(path === undefined ? {} : { path }),
    ...(heading === undefined ? {} : { heading }),
  };
}

function renderedText(line: JsonObject): string | undefined {
  const rendered = line['rendered'];
  if (typeof rendered === 'string') return rendered;
  if (!Array.isArray(rendered)) return undefined;
  const texts = rendered.filter(isJsonObject).map((each) => stringAt(each, 'content') ?? '');
  return texts.join('\n');
}

/** Events whose hooks pass their plain output to the model; other hooks only act. @source claude-code-behaviour §5 */
const EVENTS_HEARD = new Set(['SessionStart', 'UserPromptSubmit']);

function contentText(type: string, attachment: JsonObject): string {
  switch (type) {
    case 'queued_command':
      return stringAt(attachment, 'prompt') ?? stringsAt(attachment, 'prompt').join('\n');
    case 'compact_file_reference':
      return `Read before the compaction, too large to include: ${stringAt(attachment, 'filename') ?? 'a file'}`;
    case 'edited_text_file':
      return stringAt(attachment, 'snippet') ?? '';
    case 'hook_success':
      if (!EVENTS_HEARD.has(stringAt(attachment, 'hookEvent') ?? '')) return '';
      return stringAt(attachment, 'content') ?? '';
    case 'plan_file_reference':
      return stringAt(attachment, 'planContent') ?? '';
    default:
      return anyText(attachment);
  }
}

/** The text of kinds without a rule of their own. */
function anyText(attachment: JsonObject): string {
  for (const key of ['content', 'text', 'addedBlocks', 'addedLines']) {
    const texts = textsIn(attachment[key]);
    if (texts.length > 0) return texts.join('\n');
  }
  return '';
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.length === 0 ? [] : value.flatMap(elementText);
  if (!isJsonObject(value)) return [];
  const file = objectAt(value, 'file');
  return textsIn(file === undefined ? value['content'] : file['content']);
}

function elementText(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!isJsonObject(value)) return [];
  const text = stringAt(value, 'text');
  return [text ?? JSON.stringify(value)];
}
