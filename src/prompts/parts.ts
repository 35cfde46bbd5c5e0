// Splits a prompt file in two. Separate from the frontmatter parser, since most prompts have no frontmatter and a YAML parser
// loads slowly.

import type { Boundary, Tier } from '../vocabulary.ts';

/** The settings of a frontmatter. */
export interface Frontmatter {
  readonly version: number;
  /** Percent of the window that remains; absent for tiers that it does not set. */
  readonly thresholds: Partial<Readonly<Record<Tier, number>>>;
  readonly requiresAnyBoundary: readonly Boundary[];
  /** The last message in a packet that the watcher writes, in characters. */
  readonly maxTailCharacters: number | undefined;
}

/** The settings without a frontmatter. */
export const NO_FRONTMATTER: Frontmatter = {
  version: 0,
  thresholds: {},
  requiresAnyBoundary: [],
  maxTailCharacters: undefined,
};

/** A prompt, split into its parts. */
export interface ParsedPrompt {
  readonly frontmatter: Frontmatter;
  /** The text below the frontmatter, trimmed. */
  readonly body: string;
  /** `LINE:COLUMN: fault`, counted from the first line of the file. With any warning, all defaults apply. */
  readonly warnings: readonly string[];
}

/** Splits off the text between the `---` lines. A file that does not begin with a closed block is all text. */
export function splitPrompt(text: string): { readonly yaml: string | undefined; readonly body: string } {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)(?<=\n)---(?:\r?\n|$)/.exec(text);
  if (match === null) return { yaml: undefined, body: text.replace(/^\uFEFF/, '').trim() };
  return { yaml: match[1] ?? '', body: text.slice(match[0].length).trim() };
}
