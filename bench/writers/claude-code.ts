// Sessions as Claude Code 2.1 writes them.

import type { Step } from '../histories.ts';
import { Clock, SUMMARY, uuid } from './writer.ts';
import type { SessionWriter } from './writer.ts';

/** Lines of a Claude Code session. */
export class ClaudeWriter implements SessionWriter {
  readonly #clock = new Clock();
  #lines = 0;
  #last: string | null = null;
  #used = 0;

  head(): readonly object[] {
    return [{ type: 'summary', summary: 'Ledger work', leafUuid: uuid(1) }];
  }

  step(step: Step): readonly object[] {
    this.#used += Math.ceil(step.text.length / 4);
    switch (step.type) {
      case 'request':
        return [this.#line({ type: 'user', message: { role: 'user', content: step.text } })];
      case 'answer':
        return this.#answer(step);
      case 'result':
        return [this.#result(step)];
    }
  }

  compaction(): readonly object[] {
    this.#used = 8000;
    const logicalParentUuid = this.#last;
    this.#last = null;
    const boundary = this.#line({
      type: 'system',
      subtype: 'compact_boundary',
      logicalParentUuid,
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'auto', preTokens: 190_000 },
    });
    const message = { role: 'user', content: SUMMARY };
    return [
      boundary,
      this.#line({ type: 'user', message, isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    ];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): readonly object[] {
    const blocks: object[] = text === '' ? [] : [{ type: 'text', text }];
    if (call !== undefined) {
      blocks.push({ type: 'tool_use', id: `toolu_${call.id}`, name: call.tool, input: call.input });
    }
    const id = `msg_${this.#lines}`;
    return blocks.map((block) => this.#line({ type: 'assistant', message: this.#message(id, block) }));
  }

  #message(id: string, block: object): object {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 9,
      cache_read_input_tokens: this.#used,
      output_tokens: 3,
    };
    const model = 'claude-sonnet-4-5';
    return { id, type: 'message', role: 'assistant', model, content: [block], usage };
  }

  #result({ callId, text }: Step & { readonly type: 'result' }): object {
    const block = { type: 'tool_result', tool_use_id: `toolu_${callId}`, content: text, is_error: false };
    return this.#line({
      type: 'user',
      message: { role: 'user', content: [block] },
      toolUseResult: { stdout: text, stderr: '', interrupted: false, isImage: false },
    });
  }

  #line(fields: object): object {
    const line = {
      parentUuid: this.#last,
      isSidechain: false,
      userType: 'external',
      cwd: '/home/dev/ledger',
      sessionId: '0a000000-0000-4000-8000-000000000001',
      version: '2.1.20',
      gitBranch: 'main',
      uuid: uuid(++this.#lines),
      timestamp: this.#clock.now(),
      ...fields,
    };
    this.#last = line.uuid;
    return line;
  }
}
