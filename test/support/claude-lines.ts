// Lines of Claude Code sessions, made up: the shapes of the real ones, texts of our own.

import type { JsonObject } from '../../src/protocol/item.ts';

/** Writes one session line after the other, each linked to the one before unless told otherwise. */
export class ClaudeLines {
  readonly lines: JsonObject[] = [];
  readonly #reportsTruly: boolean;
  #last: string | null = null;
  #count = 0;

  /** @param reportsTruly answers report the tokens of the lines before them, and not 100 */
  constructor(reportsTruly = false) {
    this.#reportsTruly = reportsTruly;
  }

  /** The uuid of the newest linked line. */
  get last(): string | null {
    return this.#last;
  }

  /** Continues from an earlier line, as a rewind does. */
  from(uuid: string | null): this {
    this.#last = uuid;
    return this;
  }

  /** Any linked line. */
  add(line: JsonObject): this {
    const uuid = `uuid-${++this.#count}`;
    this.lines.push({
      parentUuid: this.#last,
      isSidechain: false,
      userType: 'external',
      cwd: '/home/dev/project',
      sessionId: 'session-1',
      version: '2.1.20',
      gitBranch: 'main',
      uuid,
      timestamp: new Date(Date.UTC(2026, 0, 1) + this.#count * 1000).toISOString(),
      ...line,
    });
    this.#last = typeof line['uuid'] === 'string' ? line['uuid'] : uuid;
    return this;
  }

  /** A line without links, such as a snapshot. */
  note(line: JsonObject): this {
    this.lines.push(line);
    return this;
  }

  user(text: string, extra: JsonObject = {}): this {
    return this.add({ type: 'user', message: { role: 'user', content: text }, ...extra });
  }

  /** One block of an answer; lines of one `id` are one answer. */
  block(id: string, block: JsonObject, inputTokens = this.#inputTokens()): this {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 9,
      cache_read_input_tokens: inputTokens - 10,
      output_tokens: 3,
    };
    return this.add({
      type: 'assistant',
      message: { id, type: 'message', role: 'assistant', model: 'model-a', content: [block], usage },
    });
  }

  says(id: string, text: string, inputTokens = this.#inputTokens()): this {
    return this.block(id, { type: 'text', text }, inputTokens);
  }

  calls(id: string, callId: string, name = 'Bash', input: JsonObject = { command: 'ls' }): this {
    return this.block(id, { type: 'tool_use', id: callId, name, input });
  }

  result(callId: string, content: string, extra: JsonObject = {}): this {
    const block = { type: 'tool_result', tool_use_id: callId, content, is_error: false };
    return this.add({ type: 'user', message: { role: 'user', content: [block] }, ...extra });
  }

  attach(attachment: JsonObject, extra: JsonObject = {}): this {
    return this.add({ type: 'attachment', attachment, ...extra });
  }

  boundary(metadata: JsonObject = {}, extra: JsonObject = {}): this {
    const logicalParentUuid = this.#last;
    return this.add({
      type: 'system',
      subtype: 'compact_boundary',
      parentUuid: null,
      ...(logicalParentUuid === null ? {} : { logicalParentUuid }),
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'auto', preTokens: 1000, ...metadata },
      ...extra,
    });
  }

  summary(text: string, extra: JsonObject = {}): this {
    return this.user(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true, ...extra });
  }

  lastPrompt(leafUuid: string | null): this {
    return this.note({ type: 'last-prompt', lastPrompt: 'go on', leafUuid, sessionId: 'session-1' });
  }

  /** By four bytes a token. */
  #inputTokens(): number {
    if (!this.#reportsTruly) return 100;
    const sent = this.lines.map(({ message }) => JSON.stringify(message ?? '').length);
    return 100 + Math.ceil(sent.reduce((sum, bytes) => sum + bytes, 0) / 4);
  }
}
