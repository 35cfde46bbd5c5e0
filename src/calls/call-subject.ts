// What a tool call is about, in one short line: its command, its file, what it searches for.

import type { CallView } from '../protocol/item.ts';
import { shellScriptOf } from '../trail/calls/calls.ts';
import { redact } from '../text/redact.ts';
import { clip, oneLine } from '../text/sentences.ts';

/** Characters of a subject: two subjects fit on a line of a terminal. */
const LONGEST_SUBJECT = 120;

/** The subject of a call with known secrets replaced; empty where its arguments name none. */
export function subjectOfCall(call: CallView): string {
  return clip(redact(oneLine(shellScriptOf(call) ?? firstText(call.input))), LONGEST_SUBJECT);
}

/** Arguments that say what a call is about come before those that say how. */
function firstText(input: string): string {
  if (!input.trimStart().startsWith('{')) return input.slice(0, 2 * LONGEST_SUBJECT);
  try {
    const values: unknown[] = Object.values(JSON.parse(input) as object);
    return values.find((value) => typeof value === 'string') ?? '';
  } catch {
    return '';
  }
}
