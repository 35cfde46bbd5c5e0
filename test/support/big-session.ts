// Sessions of any size, written as a stream: long work with compactions in between, so that the file is large and the
// live history is not. Shapes are the agents' own, every word is ours.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { JsonObject } from '../../src/protocol/item.ts';
import type { AgentFormat } from '../../src/vocabulary.ts';
import { ClaudeLines } from './claude-lines.ts';
import {
  call,
  commandOutput,
  head,
  LineBuilder,
  message,
  output,
  reasoning,
  taskComplete,
  taskStarted,
  tokenCount,
  windowIn,
} from './codex-lines.ts';

const GENERATION = '0.140';

/** Characters that enter the context before the agent compacts: about 90,000 tokens, within every known window. */
const CHARACTERS_PER_COMPACTION = 360_000;

/** Bytes of a tool result. @source the mean of real sessions is 3 kB, with a long tail. */
const RESULT_BYTES = [300, 900, 2500, 2500, 6000, 14_000] as const;

/**
 * Writes a session of at least `bytes` bytes, and at most one turn more; it never ends right after a compaction.
 * @param path a file that does not exist yet
 */
export async function writeBigSession(path: string, format: AgentFormat, bytes: number): Promise<void> {
  const chunks = format === 'codex' ? codexChunks() : claudeChunks();
  await pipeline(Readable.from(upTo(chunks, bytes)), createWriteStream(path, { flags: 'wx' }));
}

function* upTo(chunks: Generator<string>, bytes: number): Generator<string> {
  let written = 0;
  for (const chunk of chunks) {
    yield chunk;
    written += chunk.length;
    if (written >= bytes) return;
  }
}

function* codexChunks(): Generator<string> {
  const random = randomNumbers(1);
  yield text(head(GENERATION).lines);
  let inContext = 0;
  let spent = 0;
  const asked: string[] = [];
  for (let turn = 1; ; turn++) {
    const builder = new LineBuilder(GENERATION);
    const ask = `Step ${turn}: ${prose(random, 120)}`;
    if (inContext >= CHARACTERS_PER_COMPACTION) {
      const replacement = asked.slice(-20).map((said) => message('user', said));
      const summary = `So far ${turn - 1} steps are done. ${prose(random, 4000)}`;
      builder.line('compacted', {
        message: summary,
        replacement_history: [...replacement, message('user', summary)],
      });
      builder.event({ type: 'context_compacted' });
      inContext = 0;
    }
    asked.push(ask);
    taskStarted(builder, GENERATION, `turn-${turn}`).item(message('user', ask));
    builder.event({ type: 'user_message', message: ask });
    for (let step = 1; step <= 8; step++) {
      const callId = `call-${turn}-${step}`;
      const result = commandOutput(GENERATION, prose(random, pick(random, RESULT_BYTES)), 0);
      builder.item(reasoning()).item(call(callId, `cat src/part-${turn}/file-${step}.ts`));
      // The interface's own copy of the result, which is no part of the context.
      builder.event({ type: 'exec_command_end', call_id: callId, aggregated_output: result, exit_code: 0 });
      builder.item(output(callId, result));
      inContext += result.length + 1500;
      const input = 12_000 + Math.round(inContext / 4);
      spent += input;
      builder.event(tokenCount({ input, output: 80, spent, window: windowIn(GENERATION) }));
    }
    builder.event({ type: 'agent_message', message: `Step ${turn} is done.` });
    builder.item(message('assistant', `Step ${turn} is done.`));
    taskComplete(builder, GENERATION, `turn-${turn}`);
    yield text(builder.lines);
  }
}

function* claudeChunks(): Generator<string> {
  const random = randomNumbers(2);
  const session = new ClaudeLines();
  let inContext = 0;
  for (let turn = 1; ; turn++) {
    if (inContext >= CHARACTERS_PER_COMPACTION) {
      session.boundary({ preTokens: 15_000 + Math.round(inContext / 4) });
      session.summary(
        `This session is being continued from a previous conversation. So far ${turn - 1} steps are done. ${prose(random, 4000)}`,
      );
      inContext = 0;
    }
    session.user(`Step ${turn}: ${prose(random, 120)}`);
    for (let step = 1; step <= 8; step++) {
      const id = `msg-${turn}-${step}`;
      const callId = `toolu-${turn}-${step}`;
      const result = prose(random, pick(random, RESULT_BYTES));
      inContext += result.length + 900;
      const tokens = 15_000 + Math.round(inContext / 4);
      session.block(
        id,
        { type: 'thinking', thinking: prose(random, 400), signature: 'c2ln'.repeat(80) },
        tokens,
      );
      session.calls(id, callId, 'Read', { file_path: `/home/dev/project/part-${turn}/file-${step}.ts` });
      session.add({ type: 'progress', data: { type: 'bash_progress', output: result.slice(0, 500) } });
      session.result(callId, result, {
        toolUseResult: { type: 'text', file: { content: result, originalFile: result } },
      });
    }
    session.says(`msg-${turn}-end`, `Step ${turn} is done.`, 15_000 + Math.round(inContext / 4));
    yield text(session.lines).replaceAll(/"uuid-(\d+)"/g, longId);
    session.lines.length = 0;
  }
}

/** Ids as long as real ones: what a reader keeps of them counts. */
function longId(_: string, number: string): string {
  return `"0b5ce1de-0000-4000-8000-${number.padStart(12, '0')}"`;
}

function text(lines: readonly JsonObject[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const WORDS =
  'the ledger balance of account entry was checked against total and sum then posted export const value = parse(line); if (rate > limit) return error code 42 in src/ledger/post.ts after test run passed with'.split(
    ' ',
  );

function prose(random: () => number, characters: number): string {
  let words = '';
  while (words.length < characters) {
    words += `${WORDS[Math.floor(random() * WORDS.length)] ?? ''} `;
    if (random() < 0.06) words += `${Math.floor(random() * 1e6).toString(36)}\n`;
  }
  return words;
}

function pick(random: () => number, values: readonly number[]): number {
  return values[Math.floor(random() * values.length)] ?? 0;
}

/** The same numbers from 0 to 1 for the same seed. @source Mulberry32, Tommy Ettinger, public domain. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
