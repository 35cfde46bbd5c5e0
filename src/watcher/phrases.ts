// What the agent's words say about the state of its work: phrases on word boundaries, in its prose only. Code, negations,
// plans for later and questions assert nothing.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { clip, oneLine, proseLines, sentencesOf } from '../trail/sentences.ts';

/** Boundaries that language tells. */
export type SpokenBoundary = 'agent_done' | 'topic_shift' | 'concluding_thought';

/** Phrases that tell a boundary, any of them; a list without any switches its boundary off. */
export interface PhraseLists {
  readonly agentDone: readonly string[];
  /** Any of these, anywhere in a message, and the message does not say that the agent is done. */
  readonly agentDoneNegative: readonly string[];
  readonly topicShift: readonly string[];
  readonly concludingThought: readonly string[];
}

/** The phrases of a configuration. */
export function phraseLists({ rawrAutoCompaction: { semanticSignals } }: Config): PhraseLists {
  return {
    agentDone: semanticSignals.agentDonePhrases,
    agentDoneNegative: semanticSignals.agentDoneNegativePhrases,
    topicShift: semanticSignals.topicShiftPhrases,
    concludingThought: semanticSignals.concludingThoughtPhrases,
  };
}

/** The phrases when nothing is configured; config/watcher-schema.ts holds them. */
export const DEFAULT_PHRASES: PhraseLists = phraseLists(DEFAULT_CONFIG);

/** A boundary that a message tells, with the words that tell it. */
export interface SpokenSignal {
  readonly boundary: SpokenBoundary;
  /** The phrase as the message has it. */
  readonly phrase: string;
  /** The sentence around it, clipped. */
  readonly sentence: string;
}

/** Characters of a sentence that evidence quotes. */
const SENTENCE_LENGTH = 160;

/** Reads messages by fixed lists, compiled once. */
export class PhraseReader {
  readonly #done: RegExp | undefined;
  readonly #doneNegative: RegExp | undefined;
  readonly #shift: RegExp | undefined;
  readonly #concluding: RegExp | undefined;

  constructor(lists: PhraseLists = DEFAULT_PHRASES) {
    this.#done = phrasePattern(lists.agentDone);
    this.#doneNegative = phrasePattern(lists.agentDoneNegative);
    this.#shift = phrasePattern(lists.topicShift);
    this.#concluding = phrasePattern(lists.concludingThought);
  }

  /**
   * The boundaries that a message of the agent tells, each at most once, with its first evidence. Takes any text. Whether
   * the turn did work, without which `agent_done` does not count, is for the caller to know.
   */
  read(message: string): SpokenSignal[] {
    const prose = proseOf(message);
    const isUnfinished = this.#doneNegative !== undefined && prose.search(this.#doneNegative) >= 0;
    const found = [
      isUnfinished ? undefined : signalIn(prose, 'agent_done', this.#done),
      signalIn(prose, 'topic_shift', this.#shift),
      signalIn(prose, 'concluding_thought', this.#concluding),
    ];
    return found.filter((signal) => signal !== undefined);
  }
}

/** The agent's prose: without fenced and inline code; accents composed, so that they compare. */
function proseOf(message: string): string {
  const prose = proseLines(message)
    .join('\n')
    .replace(/`[^`\n]{0,500}`/g, '`…`');
  return prose.normalize('NFC');
}

function signalIn(
  prose: string,
  boundary: SpokenBoundary,
  pattern: RegExp | undefined,
): SpokenSignal | undefined {
  if (pattern === undefined) return undefined;
  for (const match of prose.matchAll(pattern)) {
    const before = prose.slice(Math.max(0, match.index - CLAUSE_LENGTH), match.index);
    const after = prose.slice(match.index + match[0].length, match.index + match[0].length + CLAUSE_LENGTH);
    if (NEGATED.test(before)) continue;
    if (boundary !== 'concluding_thought' && isAsked(after)) continue;
    if (boundary === 'agent_done' && NOT_YET.test(before)) continue;
    return { boundary, phrase: oneLine(match[0]), sentence: sentenceAround(prose, match) };
  }
  return undefined;
}

function sentenceAround(prose: string, { index, 0: phrase }: RegExpExecArray): string {
  const end = prose.indexOf('\n', index + phrase.length);
  const lines = prose.slice(prose.lastIndexOf('\n', index) + 1, end < 0 ? undefined : end);
  const sentence = sentencesOf(lines).find((each) => each.includes(phrase)) ?? lines;
  return clip(oneLine(sentence), SENTENCE_LENGTH);
}

/** How far from a phrase its clause is searched for words that turn it. */
const CLAUSE_LENGTH = 120;

/** Up to four words of the same clause between a turning word and the phrase. */
const SAME_CLAUSE = '(?:[ \\t\\n]+[^\\s.!?;:,()—–]{1,40}){0,4}[ \\t\\n]+["\'“‘*_(]{0,3}$';

const NEGATED = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])(?:not|never|no|nothing|none|nobody|without|cannot|neither|nor)|n['’]t)${SAME_CLAUSE}`,
  'iu',
);

/** Words that put a completion into the future, into a condition, or short of the end. */
const NOT_YET = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:to|will|should|must|can|could|would|shall|might|may) be|to get|once|when|whenever|until|unless|if|whether|before|almost|nearly|partly|partially|half)${SAME_CLAUSE}`,
  'iu',
);

function isAsked(after: string): boolean {
  return /^[^.!\n]{0,119}\?/.test(after);
}

/** Scripts that put no space between words, so that nothing marks where one begins or ends. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = `(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_]`;
/** A phrase begins no word inside of another one, of a hyphenated compound, a path or a dotted name. */
const OPENING = `(?<!${WORD})(?<!${WORD}[-‑./@#])(?<![/\\\\$@#])`;
const CLOSING = `(?!${WORD})(?![-‑./\\\\]${WORD})(?!\\()`;

/** Any of the phrases, on word boundaries and in any case; undefined for a list that holds none. */
function phrasePattern(phrases: readonly string[]): RegExp | undefined {
  const sources = phrases
    .map((phrase) => phrase.normalize('NFC').trim())
    .filter((phrase) => phrase !== '')
    .toSorted((a, b) => b.length - a.length)
    .map(phraseSource);
  return sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'giu');
}

function phraseSource(phrase: string): string {
  const isWord = new RegExp(`^${WORD}`, 'u');
  const opening = isWord.test(phrase) ? OPENING : '';
  const closing = isWord.test([...phrase].at(-1) ?? '') ? CLOSING : '';
  return `${opening}${[...phrase].map(characterSource).join('').replace(/\s+/g, '\\s+')}${closing}`;
}

function characterSource(character: string): string {
  // Turkish has an i with and one without a dot, and their capitals; case folding knows only the pair of English.
  if (/[iıIİ]/.test(character)) return '(?:[iıİ]\\u0307?)';
  if (/['’]/.test(character)) return "['’]";
  return /\s/.test(character) ? ' ' : character.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
}
