// Made-up recordings with a known gauge: what is said and done has a size, and the provider reports the sum.

import type { Item, MessageItem } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { textOfSize } from './thread.ts';

/** Tokens of every request that are in no item. */
export const OVERHEAD = 10_000;

/** A session as its agent would have recorded it. Every method returns it, so that a test reads as a story. */
export class Recorded {
  readonly records: LogRecord[] = [];
  #calls = 0;
  #used = OVERHEAD;
  #minutes = 0;
  readonly #recordsTurns: boolean;
  #turns = 0;

  /** @param recordsTurns whether the log records where turns begin and end */
  constructor(window: number, { recordsTurns = true, model = 'gpt-5.2' } = {}) {
    this.#recordsTurns = recordsTurns;
    this.#push({ type: 'settings', model, usableWindow: Math.floor((window * 95) / 100) });
  }

  user(tokens = 20): this {
    if (this.#recordsTurns) this.#push({ type: 'turn_started', turnId: `t${++this.#turns}` });
    return this.#item(said('user', textOfSize('Please', tokens)), tokens);
  }

  /** Requests with one call each, whose results take so many tokens. */
  work(requests: number, tokens: number): this {
    for (let at = 0; at < requests; at++) this.#call(`cat part-${this.#calls}.ts`, tokens);
    return this;
  }

  /** One request with several calls at once. */
  parallel(calls: number, tokens: number): this {
    const ids = Array.from({ length: calls }, () => `c${++this.#calls}`);
    for (const id of ids) this.#item(shell(id, `cat ${id}.ts`), 10);
    for (const id of ids) this.#item(result(id, textOfSize(id, tokens)), tokens);
    return this.#report();
  }

  /** The agent goes on while one of two calls still waits for its result. */
  straggle(tokens: number): this {
    const [slow, quick, next] = [++this.#calls, ++this.#calls, ++this.#calls].map((call) => `c${call}`);
    this.#item(shell(slow ?? '', 'make all'), 10).#item(shell(quick ?? '', 'ls'), 10);
    this.#item(result(quick ?? '', textOfSize('ls', tokens)), tokens);
    this.#item(shell(next ?? '', 'cat made.ts'), 10);
    this.#item(result(slow ?? '', textOfSize('made', tokens)), tokens);
    return this.#item(result(next ?? '', textOfSize('made.ts', tokens)), tokens).#report();
  }

  commit(): this {
    return this.#call('git commit -am "One more step"', 20, '[main 1a2b3c4] One more step\n 1 file changed');
  }

  /** The agent answers, and the turn is over. */
  answer(text = 'The parts are in place as you asked, and they fit.'): this {
    this.#item(said('assistant', text), Math.ceil(text.length / 4));
    this.#report();
    if (this.#recordsTurns) this.#push({ type: 'turn_complete', turnId: `t${this.#turns}` });
    return this;
  }

  /** The user stops the turn. */
  abort(): this {
    return this.#push({ type: 'turn_aborted', turnId: `t${this.#turns}` });
  }

  /** The agent's own compaction. */
  compacted(tokens: number): this {
    const text = textOfSize('Summary', tokens);
    const summary: MessageItem = { ...said('user', text), isCompactSummary: true };
    this.#push({
      type: 'compacted',
      id: `own-${this.records.length}`,
      trigger: 'auto',
      preTokens: this.#used,
      replacement: [summary],
      summary: text,
    });
    this.#used = OVERHEAD + tokens;
    return this;
  }

  pause(minutes: number): this {
    this.#minutes += minutes;
    return this;
  }

  #call(script: string, tokens: number, output?: string): this {
    const id = `c${++this.#calls}`;
    this.#item(shell(id, script), 10);
    const text = `Process exited with code 0\nOutput:\n${output ?? textOfSize(`part ${id}`, tokens)}`;
    return this.#item(result(id, text), tokens).#report();
  }

  #report(): this {
    return this.#push({
      type: 'usage',
      usage: { source: 'reported', covers: 'history', total: this.#used, output: 10 },
    });
  }

  #item(item: Item, tokens: number): this {
    this.#used += tokens;
    return this.#push({ type: 'item', item });
  }

  #push(record: LogRecord): this {
    this.#minutes += 0.1;
    const at = new Date(Date.UTC(2026, 0, 5, 9) + this.#minutes * 60_000).toISOString();
    this.records.push({ ...record, at, line: this.records.length + 1 });
    return this;
  }
}

function said(role: 'user' | 'assistant', text: string): MessageItem {
  return { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
}

function shell(id: string, script: string): Item {
  return {
    type: 'function_call',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd: script }),
    call_id: id,
  };
}

function result(id: string, output: string): Item {
  return { type: 'function_call_output', call_id: id, output };
}
