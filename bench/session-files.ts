// Session files as the agents write them, made up: the shapes of the lines are theirs, every text is ours.

import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Format } from '../src/vocabulary.ts';
import { generateSteps } from './histories.ts';
import type { Step } from './histories.ts';

/** The root of the repository. The bundle of the benchmark lies in `bench/dist`. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `use` with a private folder that is gone afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a session of at least `bytes` bytes and returns its path. The agent compacts it every now and then. */
export async function writeSession(folder: string, format: Format, bytes: number): Promise<string> {
  const path = join(folder, `${format}-${bytes}.jsonl`);
  const out = createWriteStream(path);
  let written = 0;
  for (const line of endlessSession(format)) {
    const text = `${JSON.stringify(line)}\n`;
    written += Buffer.byteLength(text);
    if (!out.write(text)) await once(out, 'drain');
    if (written >= bytes) break;
  }
  out.end();
  await once(out, 'close');
  return path;
}

/** Bytes of the file in which Codex keeps these steps. */
export function codexFileBytes(steps: readonly Step[]): number {
  const writer = new CodexWriter();
  const lines = [...writer.head(), ...steps.flatMap((step) => writer.step(step))];
  return lines.reduce<number>((sum, line) => sum + Buffer.byteLength(JSON.stringify(line)) + 1, 0);
}

function* endlessSession(format: Format): Generator<object> {
  const writer = format === 'codex' ? new CodexWriter() : new ClaudeWriter();
  const steps = generateSteps(STEPS_PER_WINDOW);
  yield* writer.head();
  for (;;) {
    for (const step of steps) yield* writer.step(step);
    yield* writer.compaction();
  }
}

/** Steps between two compactions: about 190,000 tokens, what a window of 200,000 holds. */
const STEPS_PER_WINDOW = 400;

/** Instructions and tool schemas make the first lines of real files large. */
const INSTRUCTIONS = 'Work in small steps and run the tests after each of them. '.repeat(200);

class Clock {
  #seconds = 0;

  now(): string {
    return new Date(Date.UTC(2026, 0, 1) + ++this.#seconds * 1000).toISOString();
  }
}

class CodexWriter {
  readonly #clock = new Clock();
  #calls = 0;
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
            call_id: this.#callId(step.callId),
            output: `Chunk ID: 0a1b2c\nProcess exited with code 0\nOutput:\n${step.text}`,
          }),
          this.#tokenCount(),
        ];
    }
  }

  compaction(): readonly object[] {
    this.#used = 8000;
    const summary = `Summary of the work so far.\n${'The ledger was changed in small steps. '.repeat(400)}`;
    const history = [codexMessage('user', 'Please balance the ledger.'), codexMessage('user', summary)];
    return [
      this.#line('compacted', { message: summary, replacement_history: history }),
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
    this.#calls++;
    const made = {
      type: 'function_call',
      name: call.tool,
      arguments: JSON.stringify(call.input),
      call_id: this.#callId(call.id),
    };
    return [this.#item(reasoning), ...said, this.#item(made)];
  }

  /** The steps repeat in a long file, the ids of their calls must not. */
  #callId(id: string): string {
    return `${id}_${this.#calls}`;
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

class ClaudeWriter {
  readonly #clock = new Clock();
  #lines = 0;
  #calls = 0;
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
    const summary = `This session is being continued.\n${'The ledger was changed in small steps. '.repeat(400)}`;
    const logicalParentUuid = this.#last;
    this.#last = null;
    const boundary = this.#line({
      type: 'system',
      subtype: 'compact_boundary',
      logicalParentUuid,
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'auto', preTokens: 190_000 },
    });
    const message = { role: 'user', content: summary };
    return [
      boundary,
      this.#line({ type: 'user', message, isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    ];
  }

  #answer({ text, call }: Step & { readonly type: 'answer' }): readonly object[] {
    const blocks: object[] = text === '' ? [] : [{ type: 'text', text }];
    if (call !== undefined) {
      this.#calls++;
      blocks.push({ type: 'tool_use', id: this.#callId(call.id), name: call.tool, input: call.input });
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
    const id = this.#callId(callId);
    const block = { type: 'tool_result', tool_use_id: id, content: text, is_error: false };
    return this.#line({
      type: 'user',
      message: { role: 'user', content: [block] },
      toolUseResult: { stdout: text, stderr: '', interrupted: false, isImage: false },
    });
  }

  #callId(id: string): string {
    return `toolu_${id}_${this.#calls}`;
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

function uuid(number: number): string {
  return `0b000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** Sessions recorded by real agents, largest first: from the folder beside the repository, where it is at hand. */
export function recordedSessions(format: Format): readonly string[] {
  const folder = join(ROOT, '..', 'shared', 'sessions', format);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(b).size - statSync(a).size || (a < b ? -1 : 1));
}
