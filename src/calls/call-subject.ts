// The subject of a tool call, in one short line: its command, its file, or what it searches for.

import type { CallView } from '../protocol/item.ts';
import { shellScriptOf } from '../trail/calls/calls.ts';
import { redact } from '../text/redact.ts';
import { clip, oneLine } from '../text/sentences.ts';

/** Maximum length of a subject in characters: two subjects fit on a line of a terminal. */
const LONGEST_SUBJECT = 120;

/** The subject of a call with known secrets replaced; empty if its arguments name none. */
export function subjectOfCall(call: CallView): string {
  return clip(redact(oneLine(shellScriptOf(call) ?? firstText(call.input))), LONGEST_SUBJECT);
}

/** Arguments that name the subject take precedence over options. */
function firstText(input: string): string {
  if (!input.trimStart().startsWith('{')) return input.slice(0, 2 * LONGEST_SUBJECT);
  try {
    const values: unknown[] = Object.values(JSON.parse(input) as object);
    return values.find((value) => typeof value === 'string') ?? '';
  } catch {
    return '';
  }
}
