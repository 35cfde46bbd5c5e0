// The items of a history, in the shapes of OpenAI Responses because the rollouts of the field use them. Objects that
// a reader parsed are kept as they are: keys that Baton does not know survive a read and a write.

import type { Author, Reason, Step, Trigger, Implementation } from '../vocabulary.ts';

/** Anything JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Where an item came from. `synthetic` items are Baton's own; `step` and `sequenceId` name their sequence. */
export interface Origin {
  readonly author: Author;
  readonly step?: Step;
  readonly sequenceId?: string;
}

/** A part of a message or of a tool result. */
export type Part = TextPart | ImagePart | RefusalPart | OtherPart;
export interface TextPart {
  readonly type: 'input_text' | 'output_text';
  readonly text: string;
}
export interface ImagePart {
  readonly type: 'input_image';
  /** A data URL or a web address; absent if the producer kept only a reference. */
  readonly image_url?: string;
}
export interface RefusalPart {
  readonly type: 'refusal';
  readonly refusal: string;
}
/** A part that Baton does not interpret, with the producer's own JSON. */
export interface OtherPart {
  readonly type: 'other';
  readonly value: JsonObject;
}

interface ItemBase {
  /** The producer's id, if it gives one. */
  readonly id?: string;
  /** The key of the provider that made the item; only that provider accepts its encrypted or signed content. */
  readonly provider?: string;
  /** Absent: derived from type and role (see `authorOf`). */
  readonly origin?: Origin;
}

export interface MessageItem extends ItemBase {
  readonly type: 'message';
  readonly role: 'user' | 'assistant' | 'developer' | 'system';
  readonly content: readonly Part[];
  /** The message is the summary of a compaction. @source Claude Code session files, seed 001. */
  readonly isCompactSummary?: boolean;
  readonly isVisibleInTranscriptOnly?: boolean;
  /** A placeholder that a client wrote after an API failure, not a model's words. */
  readonly isApiErrorMessage?: boolean;
  /** The output of a command, for an agent that writes its commands as text instead of calling tools. */
  readonly isToolOutput?: boolean;
  readonly model?: string;
}

export interface ReasoningItem extends ItemBase {
  readonly type: 'reasoning';
  /** Readable summaries; often empty. */
  readonly summary: readonly { readonly type: string; readonly text: string }[];
  /** Readable reasoning (Anthropic thinking), if the provider shows it. */
  readonly text?: string;
  readonly encrypted_content?: string | null;
  /** Anthropic's signature over the block; the provider rejects a block without its signature. */
  readonly signature?: string;
}

export interface FunctionCallItem extends ItemBase {
  readonly type: 'function_call';
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  readonly call_id: string;
}

export interface CustomToolCallItem extends ItemBase {
  readonly type: 'custom_tool_call';
  readonly name: string;
  /** Plain text, not JSON. */
  readonly input: string;
  readonly call_id: string;
}

export interface LocalShellCallItem extends ItemBase {
  readonly type: 'local_shell_call';
  readonly call_id: string;
  readonly action: JsonObject;
}

export interface ToolOutputItem extends ItemBase {
  readonly type: 'function_call_output' | 'custom_tool_call_output';
  readonly call_id: string;
  readonly output: string | readonly Part[];
  /** Whether the tool succeeded, if the producer records it. Every compaction keeps it. */
  readonly success?: boolean;
  /** Exit status of the command, if the producer records it outside the text. */
  readonly exit_code?: number;
}

export interface WebSearchCallItem extends ItemBase {
  readonly type: 'web_search_call';
  readonly action?: JsonObject;
}

/** A provider's own compaction of everything before it: opaque, and readable only by that provider. */
export interface CompactionItem extends ItemBase {
  readonly type: 'compaction';
  readonly encrypted_content?: string;
  /**
   * Baton's own words for the same part of the conversation; sent instead of the state to a provider that cannot read
   * it, never beside it. Absent in items that others wrote.
   */
  readonly shadow?: string;
}

/** Marks the place of a compaction in the history; never sent to a model. */
export interface CompactBoundaryItem extends ItemBase {
  readonly type: 'compact_boundary';
  readonly uuid: string;
  readonly timestamp: string;
  readonly trigger: Trigger;
  readonly reason?: Reason;
  readonly implementation?: Implementation;
  /** Tokens of the context just before. Absent if the producer did not record them. */
  readonly preTokens?: number;
}

/** A file, todo list or plan given to the model beside the conversation; sent in the user role. */
export interface AttachmentItem extends ItemBase {
  readonly type: 'attachment';
  readonly kind: 'file' | 'todo' | 'plan' | 'other';
  readonly path?: string;
  readonly text: string;
}

/** What a client displayed while a tool ran; never sent to a model. */
export interface ProgressItem extends ItemBase {
  readonly type: 'progress';
  readonly text: string;
}

/** A saved state of the work tree, for undo; never sent to a model, and kept by every compaction. */
export interface GhostSnapshotItem extends ItemBase {
  readonly type: 'ghost_snapshot';
  readonly ghost_commit: JsonObject;
}

/** An item of a kind newer than this reader, kept unchanged. */
export interface UnknownItem extends ItemBase {
  readonly type: 'unknown';
  readonly raw: JsonObject & { readonly type: string };
}

export type Item =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | CustomToolCallItem
  | LocalShellCallItem
  | ToolOutputItem
  | WebSearchCallItem
  | CompactionItem
  | CompactBoundaryItem
  | AttachmentItem
  | ProgressItem
  | GhostSnapshotItem
  | UnknownItem;

/** A tool call, reduced to what every caller needs; `callId` is undefined for calls that never have a result line. */
export interface CallView {
  readonly callId: string | undefined;
  readonly name: string;
  /** The arguments as text: JSON for functions, plain text for custom tools. */
  readonly input: string;
}

/** The tool call that an item represents, or undefined. Unknown kinds named `…_call` count as calls. */
export function callOf(item: Item): CallView | undefined {
  switch (item.type) {
    case 'function_call':
      return { callId: item.call_id, name: item.name, input: item.arguments };
    case 'custom_tool_call':
      return { callId: item.call_id, name: item.name, input: item.input };
    case 'local_shell_call':
      return { callId: item.call_id, name: 'local_shell', input: JSON.stringify(item.action) };
    case 'web_search_call':
      return { callId: undefined, name: 'web_search', input: JSON.stringify(item.action ?? {}) };
    case 'unknown':
      return unknownCall(item.raw);
    default:
      return undefined;
  }
}

function unknownCall(raw: UnknownItem['raw']): CallView | undefined {
  if (!raw.type.endsWith('_call')) return undefined;
  const { call_id: callId, name, arguments: args } = raw;
  return {
    callId: typeof callId === 'string' ? callId : undefined,
    name: typeof name === 'string' ? name : raw.type.slice(0, -'_call'.length),
    input: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  };
}

/** The id of the call that an item answers, or undefined. Unknown kinds named `…_output` count as results. */
export function resultCallId(item: Item): string | undefined {
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') return item.call_id;
  if (item.type !== 'unknown' || !item.raw.type.endsWith('_output')) return undefined;
  const callId = item.raw['call_id'];
  return typeof callId === 'string' ? callId : undefined;
}

/** Whether an item is the result of a call, or command output without a call. */
export function isResult(item: Item): boolean {
  return resultCallId(item) !== undefined || (item.type === 'message' && item.isToolOutput === true);
}

/** Who wrote an item: its `origin`, else what type and role imply. */
export function authorOf(item: Item): Author {
  if (item.origin !== undefined) return item.origin.author;
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') return 'agent';
      return item.role === 'user' && item.isCompactSummary !== true ? 'user' : 'harness';
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
      return 'agent';
    case 'unknown':
      return callOf(item) === undefined ? 'harness' : 'agent';
    default:
      return 'harness';
  }
}

/** All text of a list of parts, joined by line feeds; images and other parts add nothing. */
export function textOfParts(parts: readonly Part[]): string {
  const texts: string[] = [];
  for (const part of parts) {
    if (part.type === 'input_text' || part.type === 'output_text') texts.push(part.text);
    else if (part.type === 'refusal') texts.push(part.refusal);
  }
  return texts.join('\n');
}

/** The text of a tool result. */
export function textOfOutput(output: ToolOutputItem['output']): string {
  return typeof output === 'string' ? output : textOfParts(output);
}
