import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { FileChangeView } from '../../../protocol/tool.ts';
import { ProgressLines } from './exec-view.ts';

const LOOK = { hasColor: false, seal: '', hasUnicode: true, width: 80 };

function lines(...events: readonly SessionEvent[]): readonly string[] {
  const progress = new ProgressLines(LOOK);
  return events.flatMap((event) => progress.linesOf(event));
}

function begin(call_id: string, command: string): SessionEvent {
  return { type: 'exec_command_begin', call_id, command, cwd: '/work', sandbox: 'read_only' };
}

function end(call_id: string, exit_code: number | null): SessionEvent {
  const outcome = exit_code === null ? 'timed_out' : 'exited';
  return { type: 'exec_command_end', call_id, outcome, exit_code, duration_ms: 1234 };
}

const says = (message: string): SessionEvent => ({
  type: 'agent_message',
  id: 'm',
  turn_id: 't',
  message,
  author: 'agent',
  steps: [],
  sequence_id: null,
});
const DIFF = { diff: '', is_diff_cut: false };

function callEnd(call_id: string, changes: readonly FileChangeView[]): SessionEvent {
  const status = changes.length === 0 ? 'failed' : 'completed';
  const output = { output: '', is_output_cut: false, exit_code: null };
  return { type: 'tool_call_end', call_id, turn_id: 't', status, ...output, changes };
}

const complete: SessionEvent = {
  type: 'turn_complete',
  turn_id: 't',
  task_kind: 'regular',
  origin: { type: 'user' },
  answers: [],
  stop_reason: 'end_turn',
  last_agent_message: 'Done.',
};

test('commands are told when they end, each with its own name', () => {
  const told = lines(begin('a', 'npm\n  test'), begin('b', 'sleep 9'), end('b', null), end('a', 1));
  assert.deepEqual(told, ['$ sleep 9 → timed out, 1.2 s', '$ npm test → exit 1, 1.2 s']);
});

test('what the agent says is told once it says or does more; its last word goes to standard output', () => {
  assert.deepEqual(lines(says('I look.'), begin('a', 'ls'), end('a', 0), says('Done.'), complete), [
    'I look.',
    '$ ls → exit 0, 1.2 s',
  ]);
  assert.deepEqual(lines(says('One.\nTwo.'), says('Done.'), complete), ['One.', 'Two.']);
});

test('nothing that comes from outside steers the terminal, and no line is endless', () => {
  const [line = ''] = lines(begin('a', `echo \u001B[2J${'x'.repeat(1000)}`), end('a', 0));
  assert.doesNotMatch(line, /\p{Cc}/u);
  assert.ok(line.length < 220, line);
  for (const told of lines(
    { type: 'warning', message: 'a\u001B]0;b\u0007c' },
    says('\u001B[31mred'),
    says('x'),
  )) {
    assert.doesNotMatch(told, /\p{Cc}/u);
  }
});

test('files, plans, phases and compactions', () => {
  const changes = [
    { action: 'move', path: 'a', to: 'b', added_lines: 1, removed_lines: 2, ...DIFF },
    { action: 'delete', path: 'c', added_lines: 0, removed_lines: 9, ...DIFF },
  ] as const;
  const steps = [
    { step: 'Look', status: 'completed' },
    { step: 'Mend', status: 'in_progress' },
  ] as const;
  assert.deepEqual(
    lines(
      callEnd('a', changes),
      callEnd('b', []),
      { type: 'plan_update', call_id: 'c', kind: 'plan', steps },
      { type: 'phase_completed', call_id: 'd', summary: 'Looked\nwell.' },
      {
        type: 'micro_compact_completed',
        id: 'm',
        tools_compacted: 1,
        pre_compact_tokens: 90_500,
        post_compact_tokens: 70_000,
        tokens_saved: 20_500,
        duration_ms: 1,
      },
      { type: 'background_event', message: 'Context compacted.', surface: 'info' },
      { type: 'background_event', message: 'Tried twice.', surface: 'info' },
      { type: 'compact_failed', reason: 'not_written', error_message: 'It broke.' },
    ),
    [
      'move a → b (+1 -2)',
      'delete c (+0 -9)',
      'plan 1 of 2 done: Mend',
      'phase done: Looked well.',
      'compacted: 90,500 → 70,000 tokens, 1 old tool result cleared',
      'Tried twice.',
      'warning: not compacted: It broke.',
    ],
  );
});

test('what models cost is told at the end, by kind where there are several', () => {
  const spent = { requests: 3, tokens: 12_345, dollars: 0.051, unpriced_requests: 0 };
  const agent = { kind: 'agent', requests: 2, tokens: 12_000, dollars: 0.051, unpriced_requests: 0 } as const;
  const summary = { kind: 'summary', requests: 1, tokens: 345, dollars: 0, unpriced_requests: 1 } as const;
  const event = (session: typeof spent, by_kind: Extract<SessionEvent, { type: 'spending' }>['by_kind']) =>
    ({ type: 'spending', ...summary, dollars: null, by_kind, turn: session, session }) as const;
  const over = { type: 'shutdown_complete' } as const;
  assert.deepEqual(
    lines(event(spent, [agent]), event({ ...spent, unpriced_requests: 1 }, [agent, summary]), over),
    [
      'session so far: 3 requests, 1 of them unpriced, 12,345 tokens, about $0.05 (agent 2 requests, 12,000 tokens, about $0.05; summary 1 request, 345 tokens, price unknown)',
    ],
  );
  assert.deepEqual(lines(event(spent, [agent]), over), [
    'session so far: 3 requests, 12,345 tokens, about $0.05',
  ]);
});
