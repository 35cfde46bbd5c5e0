// Small sessions of real work in both formats: long enough to be worth a compaction, short enough to be damaged often.

import type { JsonObject } from '../../src/protocol/item.ts';
import type { AgentFormat } from '../../src/vocabulary.ts';
import { ClaudeLines } from './claude-lines.ts';
import * as codex from './codex-lines.ts';

const GENERATION = '0.140';
const TURNS = 3;
const CALLS_PER_TURN = 2;

/** The lines of a session of three turns with two calls each, about 20 kB. */
export function workLines(format: AgentFormat): readonly JsonObject[] {
  return format === 'codex' ? codexWork() : claudeWork();
}

/** Lines as the bytes of a file. */
export function asFile(lines: readonly JsonObject[]): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function codexWork(): readonly JsonObject[] {
  const builder = codex.head(GENERATION);
  let spent = 0;
  for (let turn = 1; turn <= TURNS; turn++) {
    codex.taskStarted(builder, GENERATION, `turn-${turn}`);
    builder.item(codex.message('user', request(turn)));
    builder.event({ type: 'user_message', message: request(turn) });
    for (let step = 1; step <= CALLS_PER_TURN; step++) {
      const callId = `call-${turn}-${step}`;
      builder.item(codex.call(callId, command(turn, step)));
      builder.item(codex.output(callId, codex.commandOutput(GENERATION, result(turn, step), step - 1)));
      spent += 5000 * turn;
      const input = 5000 * turn + 800 * step;
      builder.event(codex.tokenCount({ input, output: 90, spent, window: codex.windowIn(GENERATION) }));
    }
    builder.item(codex.message('assistant', answer(turn)));
    codex.taskComplete(builder, GENERATION, `turn-${turn}`);
  }
  return builder.lines;
}

function claudeWork(): readonly JsonObject[] {
  const session = new ClaudeLines(true);
  for (let turn = 1; turn <= TURNS; turn++) {
    session.user(request(turn));
    for (let step = 1; step <= CALLS_PER_TURN; step++) {
      const callId = `toolu-${turn}-${step}`;
      session.calls(`msg-${turn}-${step}`, callId, 'Bash', { command: command(turn, step) });
      session.result(callId, result(turn, step), { toolUseResult: { stdout: result(turn, step) } });
    }
    session.says(`msg-${turn}-end`, answer(turn), 5000 * turn);
  }
  return session.lines;
}

function request(turn: number): string {
  return `Please post batch ${turn} to src/ledger/post-${turn}.ts; never round before the sum.`;
}

function command(turn: number, step: number): string {
  return `sed -n 1,80p src/ledger/batch-${turn}-${step}.ts`;
}

function answer(turn: number): string {
  return `Batch ${turn} is posted; the sum of src/ledger/post-${turn}.ts is checked.`;
}

function result(turn: number, step: number): string {
  return Array.from(
    { length: 24 },
    (_, line) => `  ${line + 1}  export const entry${turn}${step}${line} = post(${line * 37 + turn}, 'é→𝄞');`,
  ).join('\n');
}
