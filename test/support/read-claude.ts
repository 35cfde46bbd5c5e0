// Reads lines of a Claude Code session in memory, both passes.

import type { JsonObject } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import type { DamageNote, LineAt } from '../../src/formats/reader.ts';
import { claudeCodeReader } from '../../src/formats/claude-code/read.ts';
import type { ClaudeSurvey } from '../../src/formats/claude-code/tree/survey.ts';

/** A value with its place, for lines that hold several. */
export type PlacedLine = readonly [value: JsonObject, at: LineAt];

/** What a file of these lines reads as. */
export function readClaudeLines(lines: readonly JsonObject[]): {
  records: LogRecord[];
  notes: DamageNote[];
  survey: ClaudeSurvey;
} {
  return readPlacedLines(lines.map((value, index) => [value, { line: index + 1, part: 0 }]));
}

/** The same for values that know their place. */
export function readPlacedLines(lines: readonly PlacedLine[]): {
  records: LogRecord[];
  notes: DamageNote[];
  survey: ClaudeSurvey;
} {
  const notes: DamageNote[] = [];
  const records: LogRecord[] = [];
  const report = (note: DamageNote): void => void notes.push(note);
  const surveyor = claudeCodeReader.survey?.(report);
  if (surveyor === undefined) throw new TypeError('The reader has no survey');
  for (const [value, at] of lines) surveyor.accept(value, at);
  surveyor.end();
  const survey = surveyor.result();
  const reader = claudeCodeReader.read((record) => void records.push(record), report, survey);
  for (const [value, at] of lines) reader.accept(value, at);
  reader.end();
  return { records, notes, survey };
}
