// Which sentences the agent itself superseded: those from before a look, once it mentions the same subject again.

import { identifiersOf } from '../text/identifiers/identifiers.ts';
import { wordsOf } from '../text/subjects.ts';
import type { Statement } from '../trail/trail.ts';

/** A sentence with its position and subject. */
interface DatedSentence {
  readonly position: number;
  /** Computed on demand: most names are mentioned once. */
  readonly words: () => ReadonlySet<string>;
}

/**
 * The least number of words that a sentence shares with a newer one, and their least share of its own words: after a look, and
 * otherwise.
 */
const LEAST_SHARED = 3;
const SHARED_AFTER_LOOK = 0.3;
const SHARED = 0.5;
/** A sentence needs this many words for that share to be meaningful. */
const LEAST_WORDS = 4;
/** Newest sentences compared per name: if every sentence mentions a name, sharing it means little. */
const COMPARED = 12;

/**
 * Finds sentences superseded by a newer one on the same request, which names the same thing and shares words with it; fewer
 * words suffice if the older message announced a look at the matter.
 * @param isInformative whether a sentence means something alone: others replace none
 */
export function supersededAmong(
  statements: readonly Statement[],
  isInformative: (statement: Statement) => boolean,
): ReadonlySet<Statement> {
  const replaced = new Set<Statement>();
  const newer = new Map<string, DatedSentence[]>();
  for (const statement of statements.toReversed()) {
    const { turn, position, text, kind, isUnchecked } = statement;
    if (kind !== 'decision' && kind !== 'finding') continue;
    const names = identifiersOf(text).map((name) => `${turn} ${name}`);
    if (names.length === 0) continue;
    const words = wordsLater(text);
    const least = isUnchecked === true ? SHARED_AFTER_LOOK : SHARED;
    const isReplacedBy = (other: DatedSentence): boolean => {
      if (other.position <= position) return false;
      const own = words();
      const shared = sharedBy(own, other.words());
      return shared >= LEAST_SHARED && shared >= least * Math.max(LEAST_WORDS, own.size);
    };
    if (names.some((name) => newer.get(name)?.some(isReplacedBy))) replaced.add(statement);
    if (!isInformative(statement)) continue;
    for (const name of names) {
      const newerOnes = newer.get(name) ?? [];
      if (newerOnes.length < COMPARED) newer.set(name, [...newerOnes, { position, words }]);
    }
  }
  return replaced;
}

function wordsLater(text: string): DatedSentence['words'] {
  let words: ReadonlySet<string> | undefined;
  return () => (words ??= wordsOf(text));
}

function sharedBy(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of words) if (others.has(word)) shared++;
  return shared;
}
