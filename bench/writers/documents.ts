// Sessions that are one JSON document: opencode, SWE-agent, mini-swe-agent.

import type { Call, Step } from '../histories.ts';
import { Clock, INSTRUCTIONS, SUMMARY, uuid } from './writer.ts';
import type { SessionWriter } from './writer.ts';

/** What stands before the messages of `opencode export`. */
export const OPENCODE_OPEN = `{
"info": {"id": "ses_1", "directory": "/home/dev/ledger", "version": "1.14.30", "time": {"created": 1767225600000}},
"messages": [
`;

/** Messages of opencode 1.14, each with its parts: a call and its result are one. */
export class OpencodeWriter implements SessionWriter {
  readonly #clock = new Clock();
  #messages = 0;
  #open: { readonly text: string; readonly call: Call } | undefined;

  head(): readonly object[] {
    return [];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [this.#user({ type: 'text', text: step.text })];
      case 'answer':
        if (step.call === undefined) return [this.#answer([{ type: 'text', text: step.text }])];
        this.#open = { text: step.text, call: step.call };
        return [];
      case 'result':
        return this.#open === undefined ? [] : [this.#work(this.#open, step.text)];
    }
  }

  compaction(): readonly object[] {
    const asked = this.#user({ type: 'compaction', auto: true });
    return [asked, this.#answer([{ type: 'text', text: SUMMARY }], { summary: true, mode: 'compaction' })];
  }

  #work({ text, call }: { readonly text: string; readonly call: Call }, output: string): object {
    const state = {
      status: 'completed',
      input: call.input,
      output,
      metadata: { output, exit: 0, truncated: false },
      title: call.tool,
      time: { start: this.#clock.nowMs(), end: this.#clock.nowMs() },
    };
    const tool = { type: 'tool', tool: call.tool, callID: call.id, state };
    return this.#answer([...(text === '' ? [] : [{ type: 'text', text }]), tool]);
  }

  #user(part: object): object {
    return this.#message({ role: 'user', model: { providerID: 'openai', modelID: 'gpt-5' } }, [part]);
  }

  #answer(parts: readonly object[], fields: object = {}): object {
    const tokens = { input: 2000, output: 90, reasoning: 0, cache: { read: 18_000, write: 0 } };
    const info = {
      role: 'assistant',
      mode: 'build',
      providerID: 'openai',
      modelID: 'gpt-5',
      tokens,
      ...fields,
    };
    return this.#message(info, [
      { type: 'step-start' },
      ...parts,
      { type: 'step-finish', reason: 'stop', tokens },
    ]);
  }

  #message(info: object, parts: readonly object[]): object {
    const messageID = `msg_${uuid(++this.#messages)}`;
    const ids = { sessionID: 'ses_1', messageID };
    return {
      info: { ...info, id: messageID, sessionID: 'ses_1', time: { created: this.#clock.nowMs() } },
      parts: parts.map((part, at) => ({ ...part, id: `prt_${this.#messages}_${at}`, ...ids })),
    };
  }
}

/** Steps of a SWE-agent trajectory (1.x), which its history tells again. */
export class SweStepWriter implements SessionWriter {
  #open: { readonly text: string; readonly call: Call } | undefined;

  head(): readonly object[] {
    return [];
  }

  step(step: Step): readonly object[] {
    if (step.type === 'answer' && step.call !== undefined) this.#open = { text: step.text, call: step.call };
    if (step.type !== 'result' || this.#open === undefined) return [];
    const { text, call } = this.#open;
    const state = { working_dir: '/home/dev/ledger' };
    return [
      { action: actionOf(call), observation: step.text, response: text, thought: text, state, query: [] },
    ];
  }

  compaction(): readonly object[] {
    return [];
  }
}

/** The history of a SWE-agent trajectory (1.x): what the model was sent. */
export class SweHistoryWriter implements SessionWriter {
  head(): readonly object[] {
    return [{ role: 'system', content: INSTRUCTIONS, agent: 'main', message_type: 'system_prompt' }];
  }

  step(step: Step): readonly object[] {
    const content = [{ type: 'text', text: step.text }];
    const observed = { content, agent: 'main', message_type: 'observation' };
    switch (step.type) {
      case 'request':
        return [{ role: 'user', ...observed }];
      case 'answer':
        return [sweAnswer(step)];
      case 'result':
        return [{ role: 'tool', ...observed, tool_call_ids: [step.callId] }];
    }
  }

  compaction(): readonly object[] {
    return [];
  }
}

function sweAnswer({ text, call }: Step & { readonly type: 'answer' }): object {
  const said = { role: 'assistant', content: text, thought: text, agent: 'main', message_type: 'action' };
  if (call === undefined) return said;
  const body = { name: call.tool, arguments: JSON.stringify(call.input) };
  return { ...said, action: actionOf(call), tool_calls: [{ id: call.id, type: 'function', function: body }] };
}

function actionOf(call: Call): string {
  return Object.values(call.input).join(' ');
}

/** What stands before the messages of a mini-swe-agent trajectory. */
export const MINI_OPEN = `{
"info": {
  "exit_status": "Submitted",
  "submission": "",
  "mini_version": "1.15.0",
  "config": {"model": {"model_name": "google/gemini-3-pro"}, "environment": {"cwd": "/home/dev/ledger"}}
},
"messages": [
`;

/** Messages of mini-swe-agent 1.15, whose commands are text; each answer with the whole response of the API. */
export class MiniWriter implements SessionWriter {
  readonly #clock = new Clock();

  head(): readonly object[] {
    return [{ role: 'system', content: INSTRUCTIONS }];
  }

  step(step: Step): readonly object[] {
    switch (step.type) {
      case 'request':
        return [{ role: 'user', content: step.text }];
      case 'answer':
        return [this.#answer(step)];
      case 'result': {
        const content = `<returncode>0</returncode>\n<output>\n${step.text}\n</output>`;
        return [{ role: 'user', content }];
      }
    }
  }

  compaction(): readonly object[] {
    return [];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): object {
    const action = call === undefined ? '' : `\n\n\`\`\`bash\n${actionOf(call)}\n\`\`\``;
    const message = { role: 'assistant', content: `THOUGHT: ${text}${action}` };
    const response = {
      object: 'chat.completion',
      created: this.#clock.nowMs() / 1000,
      model: 'google/gemini-3-pro',
      choices: [{ finish_reason: 'stop', index: 0, message }],
      usage: { prompt_tokens: 20_000, completion_tokens: 90, total_tokens: 20_090 },
    };
    return { ...message, extra: { response } };
  }
}
