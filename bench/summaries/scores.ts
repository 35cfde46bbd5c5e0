// What of a story's key a summary holds, and where its characters go.

import type { StoryKey } from '../../test/summaries/story.ts';
import { falseLines } from './counters.ts';
import type { FalseLine } from './counters.ts';
import { holds, isNameList, placedRows } from './summary-text.ts';

/** A part of a whole. */
export interface Kept {
  readonly kept: number;
  readonly of: number;
}

/** The scores of one summary. */
export interface Scores {
  /** Rules that hold, verbatim. */
  readonly rules: Kept;
  /** Whether it says what was requested first. */
  readonly hasFirst: boolean;
  readonly state: Kept;
  /** Choices with their reasons. */
  readonly decisions: Kept;
  readonly falseLines: readonly FalseLine[];
  readonly characters: number;
  /** Characters by section, headings included. */
  readonly bySection: Readonly<Record<string, number>>;
  /** Characters of rows that only list names. */
  readonly lists: number;
}

/** Scores a summary by a key. */
export function scoresOf(summary: string, key: StoryKey): Scores {
  const bySection: Record<string, number> = {};
  let lists = 0;
  for (const { row, section } of placedRows(summary)) {
    bySection[section] = (bySection[section] ?? 0) + row.length + 1;
    if (isNameList(row)) lists += row.length + 1;
  }
  return {
    rules: keptOf(key.rules, (rule) => holds(summary, rule)),
    hasFirst: holds(summary, key.first),
    state: keptOf(key.state, (phrases) => phrases.some((phrase) => holds(summary, phrase))),
    decisions: keptOf(key.decisions, ({ what, why }) => holds(summary, what) && holds(summary, why)),
    falseLines: falseLines(summary, key),
    characters: summary.length,
    bySection,
    lists,
  };
}

function keptOf<T>(wanted: readonly T[], isThere: (one: T) => boolean): Kept {
  return { kept: wanted.filter(isThere).length, of: wanted.length };
}
