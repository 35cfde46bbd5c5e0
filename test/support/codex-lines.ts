// Look-alikes of Codex rollouts, made here: the shapes are Codex's, every text is ours.

import type { JsonObject } from '../../src/protocol/item.ts';

/** The layouts that rollouts had over time, named after a version that wrote them. */
export const GENERATIONS = ['bare', '0.34', '0.125', '0.140', '0.169', '0.169-paginated'] as const;
export type Generation = (typeof GENERATIONS)[number];

export const SESSION_ID = '01a00000-0000-7000-8000-000000000001';
export const FIRST_WINDOW = '01a00000-0000-7000-8000-0000000000f1';
export const SECOND_WINDOW = '01a00000-0000-7000-8000-0000000000f2';

type Lines = readonly JsonObject[];

export function message(role: string, text: string, extra: JsonObject = {}): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }], ...extra };
}

/** A message with the metadata that Codex writes since about 0.160. */
export function messageOfKind(role: string, text: string, kind: string): JsonObject {
  return message(role, text, {
    internal_chat_message_metadata_passthrough: { turn_id: 'turn-1', content_item_kinds: [kind] },
  });
}

export function call(callId: string, cmd: string): JsonObject {
  return {
    type: 'function_call',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd }),
    call_id: callId,
  };
}

export function output(callId: string, text: string): JsonObject {
  return { type: 'function_call_output', call_id: callId, output: text };
}

export function reasoning(): JsonObject {
  return { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAA'.repeat(300) };
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
  /** Tokens of all requests so far. */
  readonly spent: number;
  readonly window: number;
  /** The total where it is no sum: Codex's estimate after a compaction. */
  readonly total?: number;
}

export function tokenCount({ input, output: out, spent, window, total }: Tokens): JsonObject {
  const last = {
    input_tokens: input,
    cached_input_tokens: 0,
    output_tokens: out,
    reasoning_output_tokens: 0,
    total_tokens: total ?? input + out,
  };
  return {
    type: 'token_count',
    info: {
      total_token_usage: { ...last, total_tokens: spent },
      last_token_usage: last,
      model_context_window: window,
    },
  };
}

/** Lines as a file of the generation has them: wrapped or bare, with or without ordinals. */
export class LineBuilder {
  readonly lines: JsonObject[] = [];
  readonly #generation: Generation;
  #second = 0;

  constructor(generation: Generation) {
    this.#generation = generation;
  }

  line(type: string, payload: JsonObject, extra: JsonObject = {}): this {
    const timestamp = this.now();
    const isPaginated = this.#generation === '0.169-paginated';
    const ordinal = this.lines.length;
    this.lines.push({ timestamp, ...(isPaginated && { ordinal }), type, payload, ...extra });
    return this;
  }

  item(payload: JsonObject, extra: JsonObject = {}): this {
    if (this.#generation !== 'bare') return this.line('response_item', payload, extra);
    this.lines.push(payload, { record_type: 'state' });
    return this;
  }

  event(payload: JsonObject): this {
    return this.#generation === 'bare' ? this : this.line('event_msg', payload);
  }

  raw(value: JsonObject): this {
    this.lines.push(value);
    return this;
  }

  now(): string {
    this.#second += 1;
    return new Date(Date.UTC(2025, 8, 1, 0, 0, this.#second)).toISOString();
  }
}

function versionOf(generation: Generation): string {
  return generation === '0.169-paginated' ? '0.169.0' : `${generation}.0`;
}

function hasTasks(generation: Generation): boolean {
  return generation !== 'bare' && generation !== '0.34';
}

/** What `model_context_window` says of a raw window of 272,000. */
export function windowIn(generation: Generation): number {
  return hasTasks(generation) ? 258_400 : 272_000;
}

export function head(generation: Generation, builder = new LineBuilder(generation)): LineBuilder {
  if (generation === 'bare') {
    return builder
      .raw({ id: SESSION_ID, timestamp: builder.now(), instructions: null, git: { branch: 'main' } })
      .raw({ record_type: 'state' });
  }
  const isNew = generation.startsWith('0.169');
  return builder.line('session_meta', {
    id: SESSION_ID,
    timestamp: builder.now(),
    cwd: '/home/dev/ledger',
    originator: 'codex_cli_rs',
    cli_version: versionOf(generation),
    ...(hasTasks(generation)
      ? { base_instructions: { text: 'Be useful.' }, model_provider: 'openai' }
      : { instructions: 'Repeated below as an item.' }),
    git: { branch: 'main', commit_hash: '0000000' },
    ...(isNew && {
      history_mode: generation === '0.169-paginated' ? 'paginated' : 'legacy',
      context_window: { window_id: FIRST_WINDOW },
    }),
  });
}

export function taskStarted(builder: LineBuilder, generation: Generation, turnId: string): LineBuilder {
  if (!hasTasks(generation)) return builder;
  return builder
    .event({ type: 'task_started', turn_id: turnId, model_context_window: windowIn(generation) })
    .line('turn_context', { turn_id: turnId, cwd: '/home/dev/ledger', model: 'model-a' });
}

export function taskComplete(builder: LineBuilder, generation: Generation, turnId: string): LineBuilder {
  return hasTasks(generation) ? builder.event({ type: 'task_complete', turn_id: turnId }) : builder;
}

/** A tool's result as the generation words it. */
export function commandOutput(generation: Generation, text: string, exitCode: number): string {
  if (generation === 'bare' || generation === '0.34') {
    return JSON.stringify({ output: text, metadata: { exit_code: exitCode, duration_seconds: 0.2 } });
  }
  return `Chunk ID: 0a1b2c\nWall time: 0.2000 seconds\nProcess exited with code ${exitCode}\nOutput:\n${text}`;
}

/** One session of two turns with one call each, as the generation would have written it. */
export function session(generation: Generation): Lines {
  const builder = head(generation);
  const window = windowIn(generation);
  const kinds = generation.startsWith('0.169');
  const user = (text: string, kind: string): JsonObject =>
    kinds ? messageOfKind('user', text, kind) : message('user', text);
  let spent = 0;
  for (const turn of [1, 2]) {
    taskStarted(builder, generation, `turn-${turn}`);
    if (turn === 1) {
      builder.item(
        user('<environment_context>\n<cwd>/home/dev/ledger</cwd>', 'environments.environment_context'),
      );
    }
    builder.item(user(`Please balance ledger ${turn}.`, 'user.text'));
    builder.event({ type: 'user_message', message: `Please balance ledger ${turn}.` });
    spent += 5000 * turn + 100;
    const measured = tokenCount({ input: 5000 * turn, output: 100, spent, window });
    const isBefore = generation === '0.34';
    if (isBefore) builder.event(measured);
    builder.item(reasoning()).item(call(`call-${turn}`, 'make balance'));
    builder.item(output(`call-${turn}`, commandOutput(generation, 'balanced', turn - 1)));
    if (!isBefore) builder.event(measured).event(measured);
    builder.event({ type: 'agent_message', message: 'Balanced.' });
    builder.item(message('assistant', 'Balanced.'));
    taskComplete(builder, generation, `turn-${turn}`);
  }
  return builder.lines;
}
