// Codex rollouts written by hand: a short session about a tide table, in the shapes of codex 0.169.0.

import type { JsonObject } from '../../src/protocol/item.ts';

export const THREAD_ID = '01a00000-0000-7000-8000-00000000000a';
export const OTHER_THREAD_ID = '01a00000-0000-7000-8000-00000000000b';

/** A line before it gets its time and, in a paginated file, its ordinal. */
export interface RolloutLine {
  readonly type: string;
  readonly payload: JsonObject;
}

/** `paginated` is what 0.169.0 writes; `legacy` is what came before, without ordinals. */
export type HistoryMode = 'paginated' | 'legacy';

export function userMessage(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function assistantMessage(text: string): JsonObject {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

export function responseItem(payload: JsonObject): RolloutLine {
  return { type: 'response_item', payload };
}

export function sessionMeta(id: string, mode: HistoryMode, more: JsonObject = {}): RolloutLine {
  return {
    type: 'session_meta',
    payload: {
      id,
      session_id: id,
      timestamp: '2026-01-02T03:04:05.000Z',
      cwd: '/home/dev/tides',
      originator: 'codex_exec',
      cli_version: '0.169.0',
      source: 'exec',
      model_provider: 'loopback',
      history_mode: mode,
      ...more,
    },
  };
}

/** The tokens that the last request used, by which Codex decides whether to compact before the next one. */
export function tokenCount(total: number): RolloutLine {
  const usage = {
    input_tokens: total,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: total,
  };
  const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: 258_400 };
  return { type: 'event_msg', payload: { type: 'token_count', info, rate_limits: null } };
}

/** From here on the history is `history`. */
export function compacted(history: readonly JsonObject[], more: JsonObject = {}): RolloutLine {
  return { type: 'compacted', payload: { message: '', replacement_history: history, ...more } };
}

/** Items of the session: one question, one tool call with its result, one answer, a second question and answer. */
export const TIDES: readonly JsonObject[] = [
  userMessage('Print the tide table of the harbour as CSV.'),
  { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'call_1' },
  { type: 'function_call_output', call_id: 'call_1', output: 'harbour.dat\ntides.py' },
  assistantMessage('I will read harbour.dat and print one row per tide.'),
  userMessage('Use metres, not feet.'),
  assistantMessage('Heights are in metres now.'),
];

/** `TIDES` as the contract sees it. */
export const TIDES_SENT = [
  { role: 'user', text: 'Print the tide table of the harbour as CSV.' },
  { role: 'tool_call', text: 'exec_command {"cmd":"ls"}' },
  { role: 'tool_result', text: 'harbour.dat\ntides.py' },
  { role: 'assistant', text: 'I will read harbour.dat and print one row per tide.' },
  { role: 'user', text: 'Use metres, not feet.' },
  { role: 'assistant', text: 'Heights are in metres now.' },
] as const;

/** The session of `TIDES`, nearly as full as its window when `usedTokens` says so. */
export function tidesRollout(mode: HistoryMode, usedTokens = 900): readonly RolloutLine[] {
  return [sessionMeta(THREAD_ID, mode), ...TIDES.map(responseItem), tokenCount(usedTokens)];
}

/**
 * Lines as the bytes of a file.
 *
 * @param firstOrdinal the ordinal of the first line in a paginated file; `undefined` in a legacy one.
 */
export function rolloutText(lines: readonly RolloutLine[], firstOrdinal: number | undefined): string {
  return lines
    .map((line, index) => {
      const ordinal = firstOrdinal === undefined ? {} : { ordinal: firstOrdinal + index };
      return `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...ordinal, ...line })}\n`;
    })
    .join('');
}
