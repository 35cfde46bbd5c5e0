// Sessions that other agents write as growing lines: pi, Gemini CLI, Copilot CLI, OpenHands.

import type { Call, Step } from '../histories.ts';
import { Clock, INSTRUCTIONS, SUMMARY, uuid } from './writer.ts';
import type { SessionWriter } from './writer.ts';

/** Tokens before a compaction, as agents note them. */
const FULL = 190_000;

/** Entries of a pi session of format 3, linked to a tree. */
export class PiWriter implements SessionWriter {
  readonly #clock = new Clock();
  #entries = 0;

  head(): readonly object[] {
    const head = {
      type: 'session',
      version: 3,
      id: uuid(0),
      timestamp: this.#clock.now(),
      cwd: '/home/dev/ledger',
    };
    return [head, this.#entry({ type: 'model_change', provider: 'anthropic', modelId: 'claude-sonnet-4-5' })];
  }

  step(step: Step): readonly object[] {
    const content = [{ type: 'text', text: step.text }];
    switch (step.type) {
      case 'request':
        return [this.#message({ role: 'user', content })];
      case 'answer':
        return [this.#answer(step)];
      case 'result': {
        const { callId: toolCallId, tool: toolName } = step;
        return [this.#message({ role: 'toolResult', toolCallId, toolName, content, isError: false })];
      }
    }
  }

  compaction(): readonly object[] {
    // The last of the entries before it stay.
    const firstKeptEntryId = this.#id(this.#entries - 20);
    return [this.#entry({ type: 'compaction', summary: SUMMARY, firstKeptEntryId, tokensBefore: FULL })];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): object {
    const content = [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...(call === undefined
        ? []
        : [{ type: 'toolCall', id: call.id, name: call.tool, arguments: call.input }]),
    ];
    const usage = { input: 9, output: 90, cacheRead: 20_000, cacheWrite: 900, cost: { total: 0 } };
    return this.#message({
      role: 'assistant',
      content,
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      usage,
      stopReason: call === undefined ? 'stop' : 'toolUse',
    });
  }

  #message(message: object): object {
    return this.#entry({ type: 'message', message: { ...message, timestamp: this.#clock.nowMs() } });
  }

  #entry(fields: object): object {
    const parentId = this.#entries === 0 ? null : this.#id(this.#entries);
    return { ...fields, id: this.#id(++this.#entries), parentId, timestamp: this.#clock.now() };
  }

  #id(entry: number): string {
    return entry.toString(16).padStart(8, '0');
  }
}

/** A log of Gemini CLI (2026): an answer is written again once its calls have their results. */
export class GeminiWriter implements SessionWriter {
  readonly #clock = new Clock();
  #messages = 0;
  #open: { readonly answer: object; readonly call: Call } | undefined;

  head(): readonly object[] {
    const at = this.#clock.now();
    return [
      { sessionId: uuid(0), projectHash: 'ab'.repeat(32), startTime: at, lastUpdated: at, kind: 'main' },
    ];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [this.#user(step.text)];
      case 'answer':
        return [this.#answer(step)];
      case 'result':
        return this.#result(step);
    }
  }

  compaction(): readonly object[] {
    return [
      {
        $set: { messages: [this.#user(SUMMARY), this.#gemini('Got it. Thanks for the additional context!')] },
      },
    ];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): object {
    const answer = this.#gemini(text);
    this.#open = call === undefined ? undefined : { answer, call };
    return answer;
  }

  #result({ callId, tool, text }: Step & { readonly type: 'result' }): readonly object[] {
    if (this.#open === undefined) return [];
    const { answer, call } = this.#open;
    const functionResponse = { id: callId, name: tool, response: { output: text } };
    const toolCall = {
      id: call.id,
      name: call.tool,
      args: call.input,
      result: [{ functionResponse }],
      status: 'success',
      timestamp: this.#clock.now(),
      resultDisplay: '',
      displayName: call.tool,
    };
    return [{ ...answer, toolCalls: [toolCall] }];
  }

  #user(text: string): object {
    return { ...this.#message('user'), content: [{ text }] };
  }

  #gemini(content: string): object {
    const tokens = { input: 20_000, output: 90, cached: 18_000, thoughts: 0, tool: 0, total: 20_090 };
    return { ...this.#message('gemini'), content, thoughts: [], tokens, model: 'gemini-3-flash-preview' };
  }

  #message(type: string): object {
    return { id: uuid(++this.#messages), timestamp: this.#clock.now(), type };
  }
}

/** Events of Copilot CLI 1.0. */
export class CopilotWriter implements SessionWriter {
  readonly #clock = new Clock();
  #events = 0;

  head(): readonly object[] {
    const context = { cwd: '/home/dev/ledger', gitRoot: '/home/dev/ledger', branch: 'main' };
    return [
      this.#event('session.start', { sessionId: uuid(0), version: 1, copilotVersion: '1.0.64', context }),
      this.#event('session.model_change', { newModel: 'claude-sonnet-4.6' }),
      this.#event('system.message', { role: 'system', content: INSTRUCTIONS }),
    ];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request': {
        const { text: content } = step;
        const transformedContent = `<current_datetime>${this.#clock.now()}</current_datetime>\n\n${content}`;
        return [this.#event('user.message', { content, transformedContent, attachments: [] })];
      }
      case 'answer':
        return this.#answer(step);
      case 'result': {
        const result = { content: step.text, detailedContent: step.text };
        return [
          this.#event('tool.execution_complete', { toolCallId: step.callId, success: true, result }),
          this.#event('assistant.turn_end', { turnId: '0' }),
        ];
      }
    }
  }

  compaction(): readonly object[] {
    const data = { success: true, preCompactionTokens: FULL, summaryContent: SUMMARY };
    return [this.#event('session.compaction_start', {}), this.#event('session.compaction_complete', data)];
  }

  #answer({ text: content, call }: Step & { readonly type: 'answer' }): readonly object[] {
    const model = 'claude-sonnet-4.6';
    const turn = this.#event('assistant.turn_start', { turnId: '0' });
    if (call === undefined) {
      return [turn, this.#event('assistant.message', { model, content, toolRequests: [] })];
    }
    const { id: toolCallId, tool, input } = call;
    const toolRequests = [{ toolCallId, name: tool, arguments: input, type: 'function' }];
    return [
      turn,
      this.#event('assistant.message', { model, content, toolRequests, reasoningOpaque: 'abcd'.repeat(100) }),
      this.#event('tool.execution_start', { toolCallId, toolName: tool, arguments: input, model }),
    ];
  }

  #event(type: string, data: object): object {
    const parentId = this.#events === 0 ? null : uuid(this.#events);
    return { type, data, id: uuid(++this.#events), timestamp: this.#clock.now(), parentId };
  }
}

/** The output of evaluations with OpenHands 0.x: a line for each run, with all of its events. */
export class OpenHandsWriter implements SessionWriter {
  readonly #clock = new Clock();
  #runs = 0;
  #events: object[] = [];
  #metadata: object = {};

  head(): readonly object[] {
    return [];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        this.#event({ source: 'user', action: 'message', args: { content: step.text } });
        break;
      case 'answer':
        this.#answer(step);
        break;
      case 'result':
        this.#event({
          source: 'agent',
          observation: 'run',
          content: step.text,
          cause: this.#events.length - 1,
          extras: { metadata: { exit_code: 0 } },
          tool_call_metadata: this.#metadata,
        });
        break;
    }
    return [];
  }

  /** A full window ends the run. */
  compaction(): readonly object[] {
    const run = { instance_id: `ledger-${++this.#runs}`, instruction: INSTRUCTIONS, history: this.#events };
    this.#events = [];
    return [{ ...run, metrics: { accumulated_cost: 1.5 }, error: null, test_result: { git_patch: '' } }];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): void {
    if (call === undefined) {
      this.#event({ source: 'agent', action: 'message', args: { content: text, wait_for_response: true } });
      return;
    }
    const body = { name: call.tool, arguments: JSON.stringify(call.input) };
    const message = { role: 'assistant', content: text, tool_calls: [{ id: call.id, function: body }] };
    this.#metadata = {
      function_name: call.tool,
      tool_call_id: call.id,
      total_calls_in_response: 1,
      model_response: {
        id: `chatcmpl-${call.id}`,
        model: 'claude-sonnet-4',
        usage: { prompt_tokens: 20_000, completion_tokens: 90 },
        choices: [{ message }],
      },
    };
    const args = { ...call.input, thought: text };
    this.#event({ source: 'agent', action: 'run', args, tool_call_metadata: this.#metadata });
  }

  #event(fields: object): void {
    this.#events.push({ id: this.#events.length, timestamp: this.#clock.now(), ...fields });
  }
}
