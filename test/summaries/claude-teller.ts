// Tells a made-up session as Claude Code would have written it.

import type { JsonObject } from '../../src/protocol/item.ts';
import { ClaudeLines } from '../support/claude-lines.ts';

/** The working directory of all sessions told here. @source `ClaudeLines` */
const HOME = '/home/dev/project';

/** Writes one event after the other. Paths are relative to the working directory. */
export class ClaudeTeller {
  readonly #session = new ClaudeLines();
  #calls = 0;

  get lines(): readonly JsonObject[] {
    return this.#session.lines;
  }

  user(text: string): this {
    this.#session.user(text);
    return this;
  }

  agent(text: string): this {
    this.#session.says(`msg-${++this.#calls}`, text);
    return this;
  }

  /** A message that the user queued, and that reached the agent without a record of its own. */
  queued(content: string): this {
    const place = { timestamp: '2026-01-01T00:10:00.000Z', sessionId: 'session-1' };
    this.#session.note({ type: 'queue-operation', operation: 'enqueue', ...place, content });
    this.#session.note({ type: 'queue-operation', operation: 'remove', ...place });
    return this;
  }

  sh(command: string, output = '', exitCode = 0): this {
    const text = exitCode === 0 ? output : `Exit code ${exitCode}\n${output}`;
    return this.#call('Bash', { command }, text, exitCode !== 0);
  }

  read(path: string, content: string): this {
    return this.#call('Read', { file_path: `${HOME}/${path}` }, content);
  }

  edit(path: string, before: string, after: string): this {
    const input = { file_path: `${HOME}/${path}`, old_string: before, new_string: after };
    return this.#call('Edit', input, `The file ${HOME}/${path} has been updated.`);
  }

  write(path: string, content: string): this {
    const input = { file_path: `${HOME}/${path}`, content };
    return this.#call('Write', input, `File created successfully at: ${HOME}/${path}`);
  }

  /** `todo('done: read', 'now: write', 'todo: test')` */
  todo(...steps: readonly string[]): this {
    const states = { done: 'completed', now: 'in_progress', todo: 'pending' } as const;
    const todos = steps.map((step) => {
      const [word = '', ...rest] = step.split(': ');
      const content = rest.join(': ');
      return { content, status: states[word as keyof typeof states], activeForm: content };
    });
    return this.#call('TodoWrite', { todos }, 'Todos have been modified successfully.');
  }

  /** A command that the user did not approve. */
  refused(command: string, words: string): this {
    const text =
      "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, " +
      `the new_string was NOT written to the file). To tell you how to proceed, the user said:\n${words}`;
    return this.#call('Bash', { command }, text, true);
  }

  /** A read whose result is an image. */
  picture(path: string): this {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    return this.#call('Read', { file_path: `${HOME}/${path}` }, [{ type: 'image', source }]);
  }

  /** A command that goes on in the background. */
  background(command: string, id: string): this {
    const input = { command, run_in_background: true };
    return this.#call('Bash', input, `Command running in background with ID: ${id}`);
  }

  /** What a background command had printed when the agent looked. */
  looked(id: string, output: string, status: 'completed' | 'failed' | 'running', exitCode = 0): this {
    const ended = status === 'running' ? '' : `<exit_code>${exitCode}</exit_code>\n\n`;
    const text = `<status>${status}</status>\n\n${ended}<stdout>\n${output}\n</stdout>`;
    return this.#call('BashOutput', { bash_id: id }, text);
  }

  /** The harness's note that a background task ended. */
  notified(id: string, summary: string, result = ''): this {
    const status = summary.includes('failed') ? 'failed' : 'completed';
    this.#session.user(
      `<task-notification>\n<task-id>${id}</task-id>\n<status>${status}</status>\n<summary>${summary}</summary>\n` +
        `<result>${result}</result>\n</task-notification>`,
    );
    return this;
  }

  /** A skill's text, which the harness puts into the user's name. */
  skill(text: string): this {
    this.#session.user(text, { isMeta: true });
    return this;
  }

  #call(name: string, input: JsonObject, content: string | JsonObject[], isError = false): this {
    const id = `toolu-${++this.#calls}`;
    this.#session.calls(`msg-${this.#calls}`, id, name, input);
    const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
    this.#session.add({ type: 'user', message: { role: 'user', content: [block] } });
    return this;
  }
}
