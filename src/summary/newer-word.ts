// Which sentences the agent replaced itself: what it said before it looked, once it speaks of the same again.

import { identifiersOf } from '../text/identifiers/identifiers.ts';
import { wordsOf } from '../text/subjects.ts';
import type { Statement } from '../trail/trail.ts';

/** A sentence by where it stands and what it is about. */
interface DatedSentence {
  readonly position: number;
  /** Looked up when asked for: most names are spoken of once. */
  readonly words: () => ReadonlySet<string>;
}

/** Words that a sentence shares with a newer one at least, and the share that they are of its own: after a look, and otherwise. */
const LEAST_SHARED = 3;
const SHARED_AFTER_LOOK = 0.3;
const SHARED = 0.5;
/** Words from which on a sentence is long enough for its share to tell. */
const LEAST_WORDS = 4;
/** Newest sentences of one name that are compared: those of a name that all speak of say nothing new. */
const COMPARED = 12;

/**
 * Finds sentences that a newer one on the same request replaces: it names the same and shares words with it, fewer where the
 * message of the older one went on to look at what it says.
 * @param isTelling whether a sentence says something alone: no other one replaces any
 */
export function replacedAmong(
  statements: readonly Statement[],
  isTelling: (statement: Statement) => boolean,
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
    if (!isTelling(statement)) continue;
    for (const name of names) {
      const told = newer.get(name) ?? [];
      if (told.length < COMPARED) newer.set(name, [...told, { position, words }]);
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
