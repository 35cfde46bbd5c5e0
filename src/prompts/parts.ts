// A prompt file in its two parts. Apart from what reads the first of them, since most prompts have none and a YAML parser takes
// long to load.

import type { Boundary, Tier } from '../vocabulary.ts';

/** What a frontmatter says. */
export interface Frontmatter {
  readonly version: number;
  /** As percent of the window that remain; tiers of which it says nothing are absent. */
  readonly thresholds: Partial<Readonly<Record<Tier, number>>>;
  readonly requiresAnyBoundary: readonly Boundary[];
  /** The last message in a packet of the watcher's, in characters. */
  readonly maxTailCharacters: number | undefined;
}

/** What holds without a frontmatter. */
export const NO_FRONTMATTER: Frontmatter = {
  version: 0,
  thresholds: {},
  requiresAnyBoundary: [],
  maxTailCharacters: undefined,
};

/** A prompt, taken apart. */
export interface ParsedPrompt {
  readonly frontmatter: Frontmatter;
  /** The text below the frontmatter, trimmed. */
  readonly body: string;
  /** `LINE:COLUMN: what is wrong`, counted from the first line of the file. One of them, and all defaults hold. */
  readonly warnings: readonly string[];
}

/** The text between the lines `---` and the one below them. A file that does not begin with a closed block is all text. */
export function splitPrompt(text: string): { readonly yaml: string | undefined; readonly body: string } {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)(?<=\n)---(?:\r?\n|$)/.exec(text);
  if (match === null) return { yaml: undefined, body: text.replace(/^\uFEFF/, '').trim() };
  return { yaml: match[1] ?? '', body: text.slice(match[0].length).trim() };
}
