// The contract of all session readers: lines in, log records and damage notes out.

import type { JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';

/** Damage found in a file. `lost` says whether bytes could not be read at all; no loss is ever silent. */
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
  /** The problem and how it was handled, without text of the transcript. */
  readonly message: string;
  readonly lost: boolean;
  /** How often it occurs on the line; absent: once. */
  readonly times?: number;
}

/** The place of a value. A line of concatenated objects yields several values, distinguished by `part` (0, 1, …). */
export interface LineAt {
  readonly line: number;
  readonly part: number;
}

export type Emit = (record: LogRecord) => void;
export type Report = (note: DamageNote) => void;

/** Takes in the values of a file in order. */
export interface LineReader {
  accept(value: JsonObject, at: LineAt): void;
  /** Called once after the last line. */
  end(): void;
}

/**
 * A format whose lines form a tree requires all of them to determine the conversation, so its reader surveys the file first and
 * reads it a second time. `survey` is absent if one pass is enough.
 */
export interface FormatReader<Survey = undefined> {
  /**
   * Reads from a line's text only what the survey needs, without a full parse; the survey accepts the result in place of the
   * parsed value. Undefined if only a parse can decide.
   */
  readonly skim?: (text: string) => JsonObject | undefined;
  readonly survey?: (report: Report) => LineReader & { result(): Survey };
  read(emit: Emit, report: Report, survey: Survey): LineReader;
}
