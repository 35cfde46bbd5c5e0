// The prompts of this and earlier sessions. Pure.

/** A prompt as it was sent. */
export interface Prompt {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/** Prompts to keep at most. @source some months of work, which a search goes through within a key press */
export const MOST_PROMPTS = 1000;

/** Prompts with a new one at their end: nothing changes if it is blank or repeats the last one. Oldest first. */
export function withPrompt(prompts: readonly Prompt[], prompt: Prompt): readonly Prompt[] {
  if (prompt.text.trim() === '' || prompts.at(-1)?.text === prompt.text) return prompts;
  return [...prompts, prompt].slice(-MOST_PROMPTS);
}

/** The prompts as a search lists them: newest first, each text once. */
export function recentPrompts(prompts: readonly Prompt[]): readonly Prompt[] {
  const recent = new Map<string, Prompt>();
  for (const prompt of prompts.toReversed()) if (!recent.has(prompt.text)) recent.set(prompt.text, prompt);
  return [...recent.values()];
}
