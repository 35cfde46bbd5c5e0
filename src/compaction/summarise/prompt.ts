// The words around a transcript: the request to the model, and a description of what it does not see. Pure.

import type { MessageItem } from '../../protocol/item.ts';
import { renderPrompt } from '../../prompts/render.ts';
import type { Ask } from './ladder.ts';
import type { Excerpt } from './transcript.ts';

/** The texts that a summary is asked for with. */
export interface SummaryPrompts {
  /** `compact-system.md`. */
  readonly system: string;
  /** `compact.md`, or the user's own `compact_prompt`. May hold `{maxWords}`. */
  readonly request: string;
  /** Whether `request` asks for the nine sections; a user's own prompt may ask for anything. */
  readonly hasSections: boolean;
  /** What the user asks of this summary besides. */
  readonly instructions?: string;
}

/** English words that one token makes. @source OpenAI, "What are tokens": 100 tokens are about 75 words */
export const WORDS_PER_TOKEN = 0.75;

/** How long the answer may be that an ask is for, in tokens. */
export function wantedTokens({ chunk }: Ask, mostTokens: number): number {
  return chunk === undefined ? mostTokens : Math.max(200, Math.floor(mostTokens / chunk.count));
}

/**
 * The last message of a request for a summary.
 * @param digest what Baton's own records say of the whole conversation; told where something is not shown
 */
export function askMessage(
  ask: Ask,
  prompts: SummaryPrompts,
  excerpt: Excerpt,
  { mostTokens, digest }: { readonly mostTokens: number; readonly digest: string },
): MessageItem {
  const maxWords = String(Math.max(100, Math.floor(wantedTokens(ask, mostTokens) * WORDS_PER_TOKEN)));
  const paragraphs = [
    ...omittedNote(excerpt, digest),
    ...partialsNote(ask),
    ask.chunk === undefined ? renderPrompt(prompts.request, { maxWords }) : pieceRequest(ask.chunk, maxWords),
    ...(prompts.instructions === undefined
      ? []
      : [`The user asks of this summary in particular:\n${prompts.instructions}`]),
    ...(ask.reminder === undefined ? [] : [`Your last answer could not be used. ${ask.reminder}`]),
  ];
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: paragraphs.join('\n\n') }],
    origin: { author: 'harness' },
  };
}

/** @source seed 002: "append a system note so the summarizer knows earlier context was omitted" */
function omittedNote({ omitted, omittedTokens }: Excerpt, digest: string): readonly string[] {
  if (omitted === 0) return [];
  const note = `Earlier context is omitted here: ${omitted} items of about ${omittedTokens} tokens did not fit.`;
  return digest === ''
    ? [note]
    : [
        `${note} A program took these notes on the whole conversation; rely on them for what you cannot see:\n\n${digest}`,
      ];
}

function partialsNote({ chunk, partials }: Ask): readonly string[] {
  const told = partials.flatMap((text, index) =>
    text === undefined ? [] : [`Summary of part ${index + 1}:\n${text}`],
  );
  // A piece is summarised by itself; it is the last request that puts them together.
  if (told.length === 0 || chunk !== undefined) return [];
  return [
    `The conversation was too long to read at once. Here are summaries of its parts, in order:\n\n${told.join('\n\n')}`,
  ];
}

function pieceRequest({ index, count }: NonNullable<Ask['chunk']>, maxWords: string): string {
  return (
    `This is part ${index + 1} of ${count} of a conversation that is too long to read at once. Summarise this part in at most ` +
    `${maxWords} words, for someone who will combine the parts: what the user requested and prohibited, in the user's own ` +
    'words; which files were read and changed and how; which commands ran and how they ended; errors and how they were resolved; ' +
    'decisions and their reasons; and what is still open at the end. Keep names, paths, numbers and error messages exactly as they are. ' +
    'Reply with the summary alone.'
  );
}
