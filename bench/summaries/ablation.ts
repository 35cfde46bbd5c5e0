// What each kind of line buys: the scores of the same summaries without it, and with its room given to the others.

import type { LogRecord } from '../../src/protocol/record.ts';
import type { SessionStory } from '../../test/summaries/story.ts';
import { approximateTokens } from '../../src/tokens/estimate.ts';
import { KIND_NAMES, kindOf } from './kinds.ts';
import { recallAt, summaryAt } from './recall.ts';
import type { NameRecall, Place } from './recall.ts';
import { scoresOf } from './scores.ts';
import { SIZES, summaryOf } from './summaries.ts';
import { withoutRows } from './summary-text.ts';

/** The size at which recall is ablated. @source `DEFAULT_SUMMARY_TOKENS` of src/summary/write.ts */
const SIZE = 4_000;

/** A story with the records of its file. */
export interface ReadStory extends SessionStory {
  readonly records: readonly LogRecord[];
}

/** Sums over all stories at all sizes, and the mean recall over all places at 4,000 tokens. */
export interface Total {
  readonly rules: number;
  readonly first: number;
  readonly state: number;
  readonly decisions: number;
  readonly falseLines: number;
  readonly characters: number;
  readonly recall: NameRecall;
  /** The recall where the room of the lines that are left out goes to the others. */
  readonly refilled: NameRecall;
}

/** The total without some kinds of lines. */
export interface Ablated {
  readonly without: string;
  readonly total: Total;
}

interface Written {
  readonly story: ReadStory;
  readonly summary: string;
}

interface WrittenAt {
  readonly place: Place;
  readonly summary: string;
}

/**
 * Ablates each kind in turn, then together as many of those that cost nothing alone as cost nothing together. The first
 * result is the whole.
 * @param onKind hears the name of each kind before its turn
 */
export function ablate(
  stories: readonly ReadStory[],
  places: readonly Place[],
  onKind: (name: string) => void,
): readonly Ablated[] {
  const written = writtenOf(stories);
  const cut = places.map((place): WrittenAt => ({ place, summary: summaryAt(place, SIZE) }));
  const without = (name: string, kinds: ReadonlySet<string>): Ablated => {
    onKind(name);
    return { without: name, total: totalOf(written, cut, kinds) };
  };
  const whole = without('nothing', new Set());
  const each = KIND_NAMES.map((name) => without(name, new Set([name])));
  const free = each.filter(({ total }) => isFree(total, whole.total)).map((one) => one.without);
  // Lines stand in for each other: what is free alone may not be free once its double has gone.
  const together = new Set<string>();
  const keys = totalOf(written, [], together);
  for (const name of free) {
    together.add(name);
    if (!isFree(totalOf(written, [], together), keys)) together.delete(name);
  }
  return [whole, ...each, without(`${together.size} kinds together`, together)];
}

function writtenOf(stories: readonly ReadStory[]): readonly Written[] {
  return stories.flatMap((story) =>
    SIZES.map((size): Written => ({ story, summary: summaryOf(story.records, size) })),
  );
}

/** Recall that a kind of line may cost and still count as no loss: below what a change of seed does. */
const NO_RECALL = 0.003;

/** Whether a total without a kind is no worse: nothing of a key lost, no recall, with its room given to others. */
export function isFree(total: Total, whole: Total): boolean {
  const keys = ['rules', 'first', 'state', 'decisions'] as const;
  return (
    keys.every((key) => total[key] >= whole[key]) &&
    total.falseLines <= whole.falseLines &&
    total.refilled.withoutLists >= whole.refilled.withoutLists - NO_RECALL
  );
}

function totalOf(written: readonly Written[], cut: readonly WrittenAt[], kinds: ReadonlySet<string>): Total {
  const scores = written.map(({ story, summary }) => scoresOf(strip(summary, kinds), story.key));
  const sum = (of: (one: (typeof scores)[number]) => number): number =>
    scores.reduce((total, one) => total + of(one), 0);
  const recalls = cut.map(({ place, summary }) => recallAt(place, strip(summary, kinds)));
  const refilled = cut.map((one, at) => {
    const stripped = strip(one.summary, kinds);
    const before = recalls[at] ?? { all: 0, withoutLists: 0 };
    if (stripped.length > 0.995 * one.summary.length) return before;
    return recallAt(one.place, refill(one, stripped, kinds));
  });
  return {
    rules: sum(({ rules }) => rules.kept),
    first: sum(({ hasFirst }) => (hasFirst ? 1 : 0)),
    state: sum(({ state }) => state.kept),
    decisions: sum(({ decisions }) => decisions.kept),
    falseLines: sum(({ falseLines }) => falseLines.length),
    characters: sum(({ characters }) => characters),
    recall: meanOf(recalls),
    refilled: meanOf(refilled),
  };
}

/** A larger summary without these kinds, in the same budget; `stripped` if none fits. */
function refill({ place }: WrittenAt, stripped: string, kinds: ReadonlySet<string>): string {
  const share = approximateTokens(stripped) / SIZE;
  if (share === 0) return stripped;
  for (const part of [1, 0.6, 0.3]) {
    const larger = Math.round(SIZE * (1 + part * (1 / Math.max(share, 0.25) - 1)));
    const candidate = strip(summaryAt(place, larger), kinds);
    if (place.log.table.tokensOfText(candidate) <= SIZE) return candidate;
  }
  return stripped;
}

function strip(summary: string, kinds: ReadonlySet<string>): string {
  return withoutRows(summary, (row) => kinds.has(kindOf(row) ?? ''));
}

function meanOf(recalls: readonly NameRecall[]): NameRecall {
  const mean = (of: (one: NameRecall) => number): number =>
    recalls.length === 0 ? 0 : recalls.reduce((sum, one) => sum + of(one), 0) / recalls.length;
  return { all: mean(({ all }) => all), withoutLists: mean(({ withoutLists }) => withoutLists) };
}
