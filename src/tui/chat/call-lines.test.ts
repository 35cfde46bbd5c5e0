import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../lines/line.ts';
import { callLines } from './call-lines.ts';
import { EMPTY_CHAT, takeEvent, takeFinished } from './chat.ts';

const CANVAS = { width: 80, rows: 24, hasUnicode: true };

test('a diff that was cut says so', () => {
  const call = { call_id: 'c', turn_id: 't' };
  const begun = takeEvent(
    EMPTY_CHAT,
    { type: 'tool_call_begin', ...call, tool: 'edit', kind: 'edit', title: 'edit a', locations: [] },
    0,
  );
  const change = { action: 'edit', path: 'a', added_lines: 2, removed_lines: 1 } as const;
  const ended = takeEvent(
    begun,
    {
      type: 'tool_call_end',
      ...call,
      status: 'completed',
      output: '',
      is_output_cut: false,
      exit_code: null,
      changes: [{ ...change, diff: '@@ -1,9 +1,9 @@\n a\n', is_diff_cut: true }],
    },
    1,
  );
  const [cell] = takeFinished(ended).finished;
  assert.ok(cell?.type === 'call');
  const rows = callLines(cell, { canvas: CANVAS, isWhole: true, now: undefined }).map(textOf);
  assert.equal(rows.at(-1), '    … the rest of the diff is not shown');
});
