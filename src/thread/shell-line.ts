// The user's shell line, as the log keeps it beside the history. Pure.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import type { LineResult } from './tools.io.ts';

/** The kind of the notes that hold such lines. */
const SHELL_NOTE = 'shell_line';

type ShellLine = Extract<SessionEvent, { type: 'shell_line' }>;

/** A shell line and its outcome. */
export function shellNote(command: string, { end, text }: LineResult): NoteRecord {
  const { call_id, outcome, exit_code, duration_ms } = end;
  const value = { call_id, command, outcome, exit_code, duration_ms, output: text };
  return { type: 'note', kind: SHELL_NOTE, value };
}

/** The shell line in a record, for clients of a resumed thread; undefined for every other record. */
export function shellLineIn(record: LogRecord): ShellLine | undefined {
  if (record.type !== 'note' || record.kind !== SHELL_NOTE) return undefined;
  const { call_id, command, outcome, exit_code, duration_ms, output } = record.value;
  const ending = OUTCOMES.find((each) => each === outcome);
  const isWhole =
    typeof call_id === 'string' &&
    typeof command === 'string' &&
    typeof output === 'string' &&
    typeof duration_ms === 'number' &&
    ending !== undefined;
  if (!isWhole) return undefined;
  const status = typeof exit_code === 'number' ? exit_code : null;
  return { type: 'shell_line', call_id, command, outcome: ending, exit_code: status, duration_ms, output };
}

const OUTCOMES: readonly ShellLine['outcome'][] = [
  'exited',
  'killed',
  'timed_out',
  'interrupted',
  'not_started',
];
