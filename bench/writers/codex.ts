// Rollouts as Codex 0.140 writes them.

import type { Step } from '../histories.ts';
import { Clock, INSTRUCTIONS, SUMMARY } from './writer.ts';
import type { SessionWriter } from './writer.ts';

/** Lines of a Codex rollout. */
export class CodexWriter implements SessionWriter {
  readonly #clock = new Clock();
  #used = 0;

  head(): readonly object[] {
    const meta = {
      id: '01a00000-0000-7000-8000-000000000001',
      timestamp: this.#clock.now(),
      cwd: '/home/dev/ledger',
      originator: 'codex_cli_rs',
      cli_version: '0.140.0',
      base_instructions: { text: INSTRUCTIONS },
      git: { branch: 'main', commit_hash: '0000000' },
    };
    return [
      this.#line('session_meta', meta),
      this.#line('turn_context', { turn_id: 'turn-1', cwd: '/home/dev/ledger', model: 'gpt-5-codex' }),
    ];
  }

  step(step: Step): readonly object[] {
    this.#used += Math.ceil(step.text.length / 4);
    switch (step.type) {
      case 'request':
        return [
          this.#item(codexMessage('user', step.text)),
          this.#event({ type: 'user_message', message: step.text }),
        ];
      case 'answer':
        return this.#answer(step);
      case 'result':
        return [
          this.#item({
            type: 'function_call_output',
            call_id: step.callId,
            output: `Chunk ID: 0a1b2c\nProcess exited with code 0\nOutput:\n${step.text}`,
          }),
          this.#tokenCount(),
        ];
    }
  }

  compaction(): readonly object[] {
    this.#used = 8000;
    const history = [codexMessage('user', 'Please balance the ledger.'), codexMessage('user', SUMMARY)];
    return [
      this.#line('compacted', { message: SUMMARY, replacement_history: history }),
      this.#event({ type: 'context_compacted' }),
      this.#tokenCount(),
    ];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): readonly object[] {
    const reasoning = { type: 'reasoning', summary: [], content: null, encrypted_content: SEALED };
    const said =
      text === ''
        ? []
        : [
            this.#item(codexMessage('assistant', text)),
            this.#event({ type: 'agent_message', message: text }),
          ];
    if (call === undefined) return [this.#item(reasoning), ...said];
    const made = {
      type: 'function_call',
      name: call.tool,
      arguments: JSON.stringify(call.input),
      call_id: call.id,
    };
    return [this.#item(reasoning), ...said, this.#item(made)];
  }

  #tokenCount(): object {
    const usage = {
      input_tokens: this.#used,
      cached_input_tokens: 0,
      output_tokens: 100,
      reasoning_output_tokens: 0,
      total_tokens: this.#used + 100,
    };
    const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: 258_400 };
    return this.#event({ type: 'token_count', info, rate_limits: null });
  }

  #item(payload: object): object {
    return this.#line('response_item', payload);
  }

  #event(payload: object): object {
    return this.#line('event_msg', payload);
  }

  #line(type: string, payload: object): object {
    return { timestamp: this.#clock.now(), type, payload };
  }
}

const SEALED = 'gAAAAABo'.repeat(100);

function codexMessage(role: string, text: string): object {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}
