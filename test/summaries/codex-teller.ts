// Tells a made-up session as Codex would have written it.

import type { JsonObject } from '../../src/protocol/item.ts';
import {
  call,
  commandOutput,
  head,
  message,
  output,
  taskComplete,
  taskStarted,
} from '../support/codex-lines.ts';

const GENERATION = '0.140';

/** Writes one event after the other. The working directory is that of `codex-lines`. */
export class CodexTeller {
  readonly #session = head(GENERATION);
  #calls = 0;
  #turns = 0;

  get lines(): readonly JsonObject[] {
    return this.#session.lines;
  }

  user(text: string): this {
    if (this.#turns > 0) taskComplete(this.#session, GENERATION, `turn-${this.#turns}`);
    taskStarted(this.#session, GENERATION, `turn-${++this.#turns}`);
    this.#session.item(message('user', text)).event({ type: 'user_message', message: text });
    return this;
  }

  agent(text: string): this {
    this.#session.event({ type: 'agent_message', message: text }).item(message('assistant', text));
    return this;
  }

  sh(command: string, printed = '', exitCode = 0): this {
    const id = `call-${++this.#calls}`;
    this.#session.item(call(id, command));
    this.#session.item(output(id, commandOutput(GENERATION, printed, exitCode)));
    return this;
  }

  /** An edit of one line by a patch. */
  edit(path: string, before: string, after: string): this {
    return this.#patch(`*** Update File: ${path}\n@@\n-${before}\n+${after}`, `M ${path}`);
  }

  write(path: string, content: string): this {
    const added = content.split('\n').map((line) => `+${line}`);
    return this.#patch(`*** Add File: ${path}\n${added.join('\n')}`, `A ${path}`);
  }

  /** `plan('done: read', 'now: write', 'todo: test')` */
  plan(...steps: readonly string[]): this {
    const states = { done: 'completed', now: 'in_progress', todo: 'pending' } as const;
    const plan = steps.map((each) => {
      const [word = '', ...rest] = each.split(': ');
      return { step: rest.join(': '), status: states[word as keyof typeof states] };
    });
    const id = `call-${++this.#calls}`;
    const args = JSON.stringify({ plan });
    this.#session.item({ type: 'function_call', name: 'update_plan', arguments: args, call_id: id });
    this.#session.item(output(id, 'Plan updated'));
    return this;
  }

  /** A tool that runs JavaScript, which calls the other tools. */
  js(script: string, printed: string): this {
    return this.#custom('exec', script, `Script completed\nWall time 0.4 seconds\nOutput:\n\n${printed}`);
  }

  #patch(body: string, told: string): this {
    const text = `Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\n${told}\n`;
    return this.#custom('apply_patch', `*** Begin Patch\n${body}\n*** End Patch`, text);
  }

  #custom(name: string, input: string, printed: string): this {
    const id = `call-${++this.#calls}`;
    this.#session.item({ type: 'custom_tool_call', status: 'completed', call_id: id, name, input });
    this.#session.item({ type: 'custom_tool_call_output', call_id: id, output: printed });
    return this;
  }
}
