// The words of the legacy compaction. Pure.

import type { MessageItem } from '../../protocol/item.ts';

/** What a model is asked for where the user has no `compact_prompt`. @source the job that V1's prompt does, in our own words */
const LEGACY_PROMPT =
  'The conversation reaches the end of its context window here. Write a checkpoint: a summary from which another model ' +
  'can take over the work. Say what has been done so far and which decisions were made; what the user wants, forbids and prefers; ' +
  'which facts, paths, commands and examples are needed to continue; and what remains to be done, step by step. Be brief and ' +
  'well organised, at most {maxWords} words, and reply with the summary alone.';

/** The user's `compact_prompt`, else Baton's; with what the user asks of this summary in particular behind it. */
export function legacyPrompt(own: string, instructions: string | undefined): string {
  const prompt = own.trim() === '' ? LEGACY_PROMPT : own.trim();
  return instructions === undefined
    ? prompt
    : `${prompt}\n\nThe user asks of this summary in particular:\n${instructions}`;
}

/** @source seed 002: "append a system note so the summarizer knows that earlier context was omitted" */
export function trimmingNote(items: number, tokens: number): MessageItem {
  const text =
    `Automatic compaction omitted ${items} older item(s) of about ${tokens} tokens that did not fit beside this request. ` +
    'What you see does not start at the beginning of the work.';
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text }],
    origin: { author: 'harness' },
  };
}
