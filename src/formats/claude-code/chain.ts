// Items as the linked lines of a Claude Code session.

import type { Item, JsonObject, MessageItem } from '../../protocol/item.ts';
import type { Format } from '../../vocabulary.ts';
import {
  callBlock,
  messageBlocks,
  missingResultBlock,
  reasoningBlock,
  resultBlock,
  serverResult,
  toolId,
  userContent,
} from './blocks.ts';
import { attachmentContent } from './attachment.ts';
import { SYNTHETIC_MODEL } from './items.ts';
import { pairUp } from './pairs.ts';
import type { Pair } from './pairs.ts';
import type { ClaudeTail } from './tail.ts';

/** A source of fresh ids; each call returns another one. */
export interface ClaudeIds {
  /** For a line. Claude Code accepts any text, and writes UUIDs. */
  uuid(): string;
  /** For an answer. Never the id of an answer in the file, whose old blocks would be merged in. */
  messageId(): string;
}

/** What every writer of lines receives. */
export interface ClaudeWriting {
  /** The context fields of the lines: those of the file they continue, or of a new one. */
  readonly tail: ClaudeTail;
  readonly newSessionId: string;
  /** ISO 8601; each line is one millisecond later than the previous one. */
  readonly at: string;
  readonly ids: ClaudeIds;
  /** The model that answers are attributed to. */
  readonly model?: string;
  /** The format that the items were read from: only its own provider accepts reasoning back. */
  readonly from?: Format;
}

/** The metadata of a boundary, and its uuid. */
export interface BoundaryFacts {
  readonly uuid: string;
  readonly logicalParentUuid: string | null;
  readonly metadata: JsonObject;
}

const NO_USAGE: JsonObject = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};

/** Lines under construction, each linked to the previous one. */
export class ClaudeChain {
  readonly lines: JsonObject[] = [];
  /** Number of items that a Claude Code session cannot represent. */
  leftOut = 0;
  readonly #writing: ClaudeWriting;
  #parent: string | null;
  #atMs: number;
  #hasMessages: boolean;
  readonly #uuidOf = new Map<Item, string>();

  /**
   * @param parent the line to continue from, or null to start a root
   * @throws RangeError if `writing.at` is not a date
   */
  constructor(writing: ClaudeWriting, parent: string | null) {
    this.#writing = writing;
    this.#parent = parent;
    this.#hasMessages = parent !== null;
    this.#atMs = new Date(writing.at).getTime();
    if (Number.isNaN(this.#atMs)) throw new RangeError(`"${writing.at}" is not a date`);
  }

  /** The uuid of the last line written, or of the parent before the first. */
  get leaf(): string | null {
    return this.#parent;
  }

  /** The uuids of the lines written, in order. */
  get uuids(): readonly string[] {
    return this.lines.map(({ uuid }) => String(uuid));
  }

  /** The uuid of the line that an item was written to; undefined for an omitted one. */
  uuidOf(item: Item): string | undefined {
    return this.#uuidOf.get(item);
  }

  /** Starts a new root with the mark of a compaction. @source claude-code-behaviour §3a */
  boundary({ uuid, logicalParentUuid, metadata }: BoundaryFacts): void {
    this.#parent = null;
    this.#push(
      {
        type: 'system',
        subtype: 'compact_boundary',
        content: 'Conversation compacted',
        isMeta: false,
        level: 'info',
        ...(logicalParentUuid === null ? {} : { logicalParentUuid }),
        compactMetadata: metadata,
      },
      uuid,
    );
  }

  /** Writes items in order; the results of a call directly follow the answer that made it. */
  items(items: readonly Item[]): void {
    const pairs = pairUp(items);
    const taken = new Set<Item>();
    for (const pair of pairs.values()) if (pair.result !== undefined) taken.add(pair.result);
    for (let position = 0; position < items.length;) {
      const item = items[position];
      if (item === undefined) break;
      if (isOfAnswer(item)) {
        position = this.#answer(items, position, pairs);
        continue;
      }
      position++;
      // A result was written with its call; the API would reject one without a call.
      if (!isResult(item)) this.#single(item);
      else if (!taken.has(item)) this.leftOut++;
    }
  }

  /**
   * Writes a result or a message alone, regardless of the call.
   * @returns the uuid of its line; undefined for items that cannot stand alone
   */
  copy(item: Item): string | undefined {
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      this.#result({ id: toolId(item.call_id), result: item });
    } else if (!isOfAnswer(item)) this.#single(item);
    return this.uuidOf(item);
  }

  #wrote(item: Item): void {
    if (this.#parent !== null) this.#uuidOf.set(item, this.#parent);
  }

  /** Writes one answer: its blocks under one message id, then the results of its calls. Returns the index of the next item. */
  #answer(items: readonly Item[], from: number, pairs: ReadonlyMap<number, Pair>): number {
    const messageId = this.#writing.ids.messageId();
    const calls: Pair[] = [];
    let position = from;
    for (; position < items.length; position++) {
      const item = items[position];
      if (item === undefined || !isOfAnswer(item)) break;
      const pair = pairs.get(position);
      const blocks = this.#answerBlocks(item, pair);
      if (blocks.length === 0) this.leftOut++;
      else {
        this.#blocks(messageId, blocks);
        this.#wrote(item);
        if (pair?.result !== undefined && isServerPair(pair)) this.#wrote(pair.result);
      }
      if (pair !== undefined && !isServerPair(pair)) calls.push(pair);
    }
    for (const pair of calls) this.#result(pair);
    return position;
  }

  #answerBlocks(item: Item, pair: Pair | undefined): JsonObject[] {
    const from = this.#writing.from ?? 'claude-code';
    if (item.type === 'reasoning') {
      const block = reasoningBlock(item, from);
      return block === undefined ? [] : [block];
    }
    if (item.type === 'message') return isPlaceholder(item) ? [] : messageBlocks(item.content);
    if (item.type === 'unknown') return from === 'claude-code' ? [item.raw] : [];
    const call = pair === undefined ? undefined : callBlock(item, pair.id);
    if (call === undefined) return [];
    const answered = pair?.result === undefined ? undefined : serverResult(pair.result);
    return answered === undefined ? [call] : [{ ...call, type: 'server_tool_use' }, answered];
  }

  #blocks(messageId: string, blocks: readonly JsonObject[]): void {
    // The API rejects a conversation that begins with an answer.
    if (!this.#hasMessages) this.#user('The conversation up to here is not included.', { isMeta: true });
    this.#push({
      type: 'assistant',
      message: {
        id: messageId,
        type: 'message',
        role: 'assistant',
        model: this.#writing.model ?? 'unknown',
        content: blocks,
        stop_reason: blocks.at(-1)?.['type'] === 'tool_use' ? 'tool_use' : 'end_turn',
        stop_sequence: null,
        usage: NO_USAGE,
      },
    });
  }

  #result({ id, result }: Pair): void {
    const block = result === undefined ? missingResultBlock(id) : resultBlock(result, id);
    const code = result?.success === false ? result.exit_code : undefined;
    // Where Claude Code itself records the status of a failed command.
    const status = code === undefined ? {} : { toolUseResult: `Error: Exit code ${code}` };
    this.#user([block], status);
    if (result !== undefined) this.#wrote(result);
  }

  #single(item: Item): void {
    const { length } = this.lines;
    this.#writeSingle(item);
    if (this.lines.length > length) this.#wrote(item);
  }

  #writeSingle(item: Item): void {
    if (item.type === 'attachment') {
      this.#push({ type: 'attachment', attachment: attachmentContent(item) });
      return;
    }
    if (item.type === 'compact_boundary') {
      const { uuid, trigger, preTokens } = item;
      const metadata = { trigger, ...(preTokens === undefined ? {} : { preTokens }) };
      this.boundary({ uuid, logicalParentUuid: this.#parent, metadata });
      return;
    }
    if (item.type === 'message') this.#message(item);
    else this.leftOut++;
  }

  #message(item: MessageItem): void {
    const isOfOtherAgent = item.role !== 'user' && item.origin?.author !== 'synthetic';
    const content = userContent(item);
    const isEmpty = typeof content === 'string' ? content.trim() === '' : content.length === 0;
    // Another agent's messages to its own model (permissions, its sandbox) do not apply here.
    if (isOfOtherAgent || isEmpty) {
      this.leftOut++;
      return;
    }
    const isMeta = item.origin !== undefined && item.origin.author !== 'user';
    this.#user(content, {
      ...(item.isVisibleInTranscriptOnly === true ? { isVisibleInTranscriptOnly: true } : {}),
      ...(item.isCompactSummary === true ? { isCompactSummary: true } : {}),
      ...(isMeta && item.isCompactSummary !== true ? { isMeta: true } : {}),
    });
  }

  #user(content: string | JsonObject[], extra: JsonObject): void {
    this.#hasMessages = true;
    this.#push({ type: 'user', message: { role: 'user', content }, ...extra });
  }

  #push(line: JsonObject, uuid = this.#writing.ids.uuid()): void {
    const { tail, newSessionId } = this.#writing;
    this.lines.push({
      parentUuid: this.#parent,
      isSidechain: false,
      ...line,
      uuid,
      timestamp: new Date(this.#atMs).toISOString(),
      userType: tail.userType ?? 'external',
      ...(tail.entrypoint === undefined ? {} : { entrypoint: tail.entrypoint }),
      ...(tail.cwd === undefined ? {} : { cwd: tail.cwd }),
      sessionId: newSessionId,
      ...(tail.version === undefined ? {} : { version: tail.version }),
      ...(tail.gitBranch === undefined ? {} : { gitBranch: tail.gitBranch }),
      ...(tail.slug === undefined ? {} : { slug: tail.slug }),
    });
    this.#atMs += 1;
    this.#parent = uuid;
  }
}

function isOfAnswer(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant';
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
    case 'unknown':
      return true;
    default:
      return false;
  }
}

function isResult(item: Item): boolean {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

function isServerPair(pair: Pair): boolean {
  return pair.result !== undefined && serverResult(pair.result) !== undefined;
}

/** A client's placeholder for an answer must not be sent to a model as its own words. */
function isPlaceholder(item: MessageItem): boolean {
  return item.isApiErrorMessage === true || item.model === SYNTHETIC_MODEL;
}
