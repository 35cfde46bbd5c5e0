// What a command of the user stands for: the harness puts its instructions behind it, in its own name.

import { clip, detached, oneLine, proseBlocks } from './sentences.ts';
import { redact } from './redact.ts';

/** Characters of the outline that is kept. */
const OUTLINE_LENGTH = 360;

/** How Claude Code says where the instructions of a skill lie. @source Claude Code session files. */
const SKILL_OPENING = /^Base directory for this skill: (.+)\n/;

/**
 * Instructions in one line: where they lie, and their headings, or where there are none their
 * beginning. Undefined for reminders and what else stands in tags.
 */
export function outlineOf(text: string): string | undefined {
  if (/^\s*(?:<|$)/.test(text)) return undefined;
  const directory = SKILL_OPENING.exec(text)?.[1];
  const body = directory === undefined ? text : text.replace(SKILL_OPENING, '');
  const headings = proseBlocks(body).flatMap(({ line, mark }) => (mark === 'heading' ? [line] : []));
  const outline = headings.length === 0 ? oneLine(body) : headings.join('; ');
  const place = directory === undefined ? 'these instructions' : `the instructions in ${directory}`;
  return detached(redact(`${place}: ${clip(outline, OUTLINE_LENGTH)}`));
}
