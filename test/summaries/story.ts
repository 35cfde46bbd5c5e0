// What a golden story is: a small session that we made up, and a key to it that a person wrote.

import type { JsonObject } from '../../src/protocol/item.ts';

/** How a run ended, as a careful reader of the log would put it. */
export type RunEnd = 'passed' | 'failed' | 'unknown';

/** What a reader knows who read the whole session: a summary is compared with this. Phrases are verbatim, white space aside. */
export interface StoryKey {
  /** A phrase of what the user requested first. */
  readonly first: string;
  /** Rules, limits and corrections that hold at the end. */
  readonly rules: readonly string[];
  /** The state of the work at the end: one of the phrases of each entry has to be there. */
  readonly state: readonly (readonly string[])[];
  /** Choices with their reasons, both in the words of the session. */
  readonly decisions: readonly { readonly what: string; readonly why: string }[];
  /** A phrase of each message of the user that a summary may not lose. */
  readonly requests: readonly string[];
  /** Runs by a part of their command, and how the newest of them ended. */
  readonly runs?: readonly { readonly command: string; readonly ended: RunEnd }[];
  /** Whether a run failed, wherever its output was. */
  readonly hasFailure?: boolean;
  /** The subject of the newest commit, if any, and the branch at the end. */
  readonly git?: {
    readonly newest?: string;
    readonly branch?: string;
    /** Commits that stand on their own, each with its subject. */
    readonly subjects?: readonly string[];
  };
  /** Files that the session changed, relative to the working directory. */
  readonly changed?: readonly string[];
  /** Values that the user or the work replaced: the old one without the new one behind it misleads. */
  readonly replaced?: readonly { readonly old: string; readonly by: string }[];
  /** Jobs that ended, by a part of their command. */
  readonly ended?: readonly string[];
  /** Words that are not the user's, though they stand in the user's messages or in results. */
  readonly others?: readonly string[];
  /** Files whose result was an image. */
  readonly images?: readonly string[];
  /** Statements that would be false or misleading. */
  readonly untrue?: readonly string[];
}

/** A golden story. */
export interface SessionStory {
  /** Also the name of its golden files. */
  readonly name: string;
  /** The lines of its session file. */
  readonly lines: readonly JsonObject[];
  readonly key: StoryKey;
}
