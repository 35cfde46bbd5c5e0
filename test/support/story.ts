// A mini-notation for histories: a story told call by call becomes the records of a log.

import type { Item, MessageItem } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';

/** Writes the records of a made-up session, in order. Every method returns the story, so that it reads as one. */
export class Story {
  readonly records: LogRecord[] = [];
  #calls = 0;

  /** Starts in a working directory. */
  static in(cwd: string): Story {
    const story = new Story();
    story.records.push({ type: 'session_meta', cwd });
    return story;
  }

  user(text: string): this {
    return this.#message('user', text);
  }

  agent(text: string): this {
    return this.#message('assistant', text);
  }

  /** Text that the product injected in the user's name. */
  harness(text: string): this {
    return this.#item({ ...message('user', text), origin: { author: 'harness' } });
  }

  /** A function call with its result. */
  call(name: string, args: object, output: string, success?: boolean): this {
    const callId = `call-${++this.#calls}`;
    this.#item({ type: 'function_call', name, arguments: JSON.stringify(args), call_id: callId });
    return this.#item({
      type: 'function_call_output',
      call_id: callId,
      output,
      ...(success === undefined ? {} : { success }),
    });
  }

  /** A call whose result is not there yet. */
  started(name: string, args: object): this {
    const callId = `call-${++this.#calls}`;
    return this.#item({ type: 'function_call', name, arguments: JSON.stringify(args), call_id: callId });
  }

  /** A shell command as Codex writes it. */
  sh(script: string, output = '', exitCode = 0): this {
    const text = `Chunk ID: 1\nProcess exited with code ${exitCode}\nOutput:\n${output}`;
    return this.call('exec_command', { cmd: script }, text);
  }

  edit(path: string, oldText: string, newText: string): this {
    const args = { file_path: path, old_string: oldText, new_string: newText };
    return this.call('Edit', args, `The file ${path} has been updated.`);
  }

  read(path: string, content: string): this {
    return this.call('Read', { file_path: path }, content);
  }

  /** `plan('done: read', 'now: write', 'todo: test')` */
  plan(...steps: string[]): this {
    const status = { done: 'completed', now: 'in_progress', todo: 'pending' } as const;
    const plan = steps.map((entry) => {
      const [word = '', ...rest] = entry.split(': ');
      return { step: rest.join(': '), status: status[word as keyof typeof status] };
    });
    return this.call('update_plan', { plan }, 'Plan updated');
  }

  /** A compaction: the history is this summary from here on. */
  compacted(summary: string): this {
    this.records.push({
      type: 'compacted',
      id: `compaction-${this.records.length}`,
      replacement: [{ ...message('user', summary), isCompactSummary: true }],
      summary,
    });
    return this;
  }

  record(record: LogRecord): this {
    this.records.push(record);
    return this;
  }

  #message(role: 'user' | 'assistant', text: string): this {
    return this.#item(message(role, text));
  }

  #item(item: Item): this {
    this.records.push({ type: 'item', item });
    return this;
  }
}

function message(role: 'user' | 'assistant', text: string): MessageItem {
  return { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
}
