// What every reader of a session file has in common: lines in, log records and notes on damage out.

import type { JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';

/** Damage found in a file. `lost` says whether bytes could not be read as anything; nothing is ever lost silently. */
export interface DamageNote {
  /** 1-based. */
  readonly line: number;
  readonly kind:
    | 'malformed_json'
    | 'torn_last_line'
    | 'glued_lines'
    | 'nul_bytes'
    | 'invalid_utf8'
    | 'not_an_object'
    | 'wrong_shape'
    | 'duplicate_id'
    | 'dangling_parent'
    | 'parent_cycle'
    | 'impossible_usage';
  /** What was found and what was done about it, without text of the transcript. */
  readonly message: string;
  readonly lost: boolean;
  /** How often the line has it; absent: once. */
  readonly times?: number;
}

/** Where a value stood. A line of glued objects yields several values, told apart by `part` (0, 1, …). */
export interface LineAt {
  readonly line: number;
  readonly part: number;
}

export type Emit = (record: LogRecord) => void;
export type Report = (note: DamageNote) => void;

/** Takes the values of a file in order. */
export interface LineReader {
  accept(value: JsonObject, at: LineAt): void;
  /** Called once after the last line. */
  end(): void;
}

/**
 * A format whose lines form a tree has to see all of them before it knows which are the conversation, so it surveys
 * the file first and reads it a second time. `survey` is absent where one pass is enough.
 */
export interface FormatReader<Survey = undefined> {
  /**
   * Reads of the text of a line only what the survey looks at, without a full parse: the result may be given to the
   * survey in place of the parsed value. Undefined where only a parse can tell.
   */
  readonly skim?: (text: string) => JsonObject | undefined;
  readonly survey?: (report: Report) => LineReader & { result(): Survey };
  read(emit: Emit, report: Report, survey: Survey): LineReader;
}
