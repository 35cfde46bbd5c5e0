// What the agent's words say about the state of its work: phrases on word boundaries, only in its prose. Code,
// negations, future plans and questions assert nothing.

import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { clip, oneLine, proseLines, sentencesOf } from '../../text/sentences.ts';

/** Boundaries that language can signal. */
export type SpokenBoundary = 'agent_done' | 'topic_shift' | 'concluding_thought';

/** Phrases that signal a boundary, any one of them; an empty list disables its boundary. */
export interface PhraseLists {
  readonly agentDone: readonly string[];
  /** Any of these, anywhere in a message, prevents `agent_done`. */
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

/** The phrases without any configuration; config/watcher-schema.ts holds them. */
export const DEFAULT_PHRASES: PhraseLists = phraseLists(DEFAULT_CONFIG);

/** A boundary that a message signals, with the words that signal it. */
export interface SpokenSignal {
  readonly boundary: SpokenBoundary;
  /** The phrase as written in the message. */
  readonly phrase: string;
  /** The sentence around it, clipped. */
  readonly sentence: string;
}

/** Maximum length of a sentence in evidence, in characters. */
const SENTENCE_LENGTH = 160;

/** Searches messages for fixed phrase lists, compiled once. */
export class PhraseReader {
  readonly #done: PhraseFinder;
  readonly #doneNegative: PhraseFinder;
  readonly #shift: PhraseFinder;
  readonly #concluding: PhraseFinder;

  constructor(lists: PhraseLists = DEFAULT_PHRASES) {
    this.#done = new PhraseFinder(lists.agentDone);
    this.#doneNegative = new PhraseFinder(lists.agentDoneNegative);
    this.#shift = new PhraseFinder(lists.topicShift);
    this.#concluding = new PhraseFinder(lists.concludingThought);
  }

  /**
   * The boundaries that an agent's message signals, each at most once, with its first evidence. Accepts any text. The
   * caller must check whether the turn did work, without which `agent_done` does not count.
   */
  read(message: string): SpokenSignal[] {
    const prose = proseOf(message);
    const isUnfinished = !this.#doneNegative.in(prose).next().done;
    const found = [
      isUnfinished ? undefined : signalIn(prose, 'agent_done', this.#done),
      signalIn(prose, 'topic_shift', this.#shift),
      signalIn(prose, 'concluding_thought', this.#concluding),
    ];
    return found.filter((signal) => signal !== undefined);
  }
}

/** The agent's prose: without fenced and inline code, and with composed accents so that texts compare. */
function proseOf(message: string): string {
  const prose = proseLines(message)
    .join('\n')
    .replace(/`[^`\n]{0,500}`/g, '`…`');
  return prose.normalize('NFC');
}

function signalIn(prose: string, boundary: SpokenBoundary, finder: PhraseFinder): SpokenSignal | undefined {
  for (const { index, phrase } of finder.in(prose)) {
    const before = prose.slice(Math.max(0, index - CLAUSE_LENGTH), index);
    const after = prose.slice(index + phrase.length, index + phrase.length + CLAUSE_LENGTH);
    if (NEGATED.test(before)) continue;
    if (boundary !== 'concluding_thought' && isQuestion(after)) continue;
    if (boundary === 'agent_done' && NOT_YET.test(before)) continue;
    return { boundary, phrase: oneLine(phrase), sentence: sentenceAround(prose, { index, phrase }) };
  }
  return undefined;
}

function sentenceAround(prose: string, { index, phrase }: PhraseMatch): string {
  const end = prose.indexOf('\n', index + phrase.length);
  const lines = prose.slice(prose.lastIndexOf('\n', index) + 1, end < 0 ? undefined : end);
  const sentence = sentencesOf(lines).find((each) => each.includes(phrase)) ?? lines;
  return clip(oneLine(sentence), SENTENCE_LENGTH);
}

/** Characters around a phrase where its clause is searched for words that reverse it. */
const CLAUSE_LENGTH = 120;

/** Up to four words of the same clause between a reversing word and the phrase. */
const SAME_CLAUSE = '(?:[ \\t\\n]+[^\\s.!?;:,()—–]{1,40}){0,4}[ \\t\\n]+["\'“‘*_(]{0,3}$';

const NEGATED = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])(?:not|never|no|nothing|none|nobody|without|cannot|neither|nor)|n['’]t)${SAME_CLAUSE}`,
  'iu',
);

/** Words that make a completion future, conditional or incomplete. */
const NOT_YET = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:to|will|should|must|can|could|would|shall|might|may) be|to get|once|when|whenever|until|unless|if|whether|before|almost|nearly|partly|partially|half)${SAME_CLAUSE}`,
  'iu',
);

function isQuestion(after: string): boolean {
  return /^[^.!\n]{0,119}\?/.test(after);
}

/** A match of a phrase, with the words of the text. */
interface PhraseMatch {
  readonly index: number;
  readonly phrase: string;
}

/**
 * Finds any of the phrases, on word boundaries and ignoring case. Code checks the word boundaries: as part of the
 * pattern, the letter classes would take longer to compile than most sessions take to read.
 */
class PhraseFinder {
  /** Where a phrase may start. */
  readonly #any: RegExp | undefined;
  /** Longest first. */
  readonly #phrases: readonly {
    readonly pattern: RegExp;
    readonly opensWord: boolean;
    readonly closesWord: boolean;
  }[];

  constructor(phrases: readonly string[]) {
    const known = phrases
      .map((phrase) => phrase.normalize('NFC').trim())
      .filter((phrase) => phrase !== '')
      .toSorted((a, b) => b.length - a.length);
    const sources = known.map((phrase) => [...phrase].map(characterSource).join('').replace(/\s+/g, '\\s+'));
    this.#any = sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'giu');
    this.#phrases = known.map((phrase, index) => ({
      pattern: new RegExp(sources[index] ?? '', 'iuy'),
      opensWord: isWordAt(phrase, 0),
      closesWord: isWordAt(phrase, startOfCharacterBefore(phrase, phrase.length)),
    }));
  }

  /** The matches in a text, in order, without overlaps. */
  *in(text: string): Generator<PhraseMatch> {
    if (this.#any === undefined) return;
    for (let from = 0; ;) {
      this.#any.lastIndex = from;
      const index = this.#any.exec(text)?.index;
      if (index === undefined) return;
      const phrase = this.#at(text, index);
      if (phrase !== undefined) yield { index, phrase };
      // A pattern that reads whole characters steps back from the middle of one, and would find it for ever.
      from = index + (phrase?.length ?? ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1));
    }
  }

  #at(text: string, index: number): string | undefined {
    for (const { pattern, opensWord, closesWord } of this.#phrases) {
      pattern.lastIndex = index;
      const phrase = pattern.exec(text)?.[0];
      if (phrase === undefined || (opensWord && !isOpening(text, index))) continue;
      if (!closesWord || isClosing(text, index + phrase.length)) return phrase;
    }
    return undefined;
  }
}

/** Letters, marks and digits, except in scripts without spaces between words: there nothing marks the start of a word. */
const WORD_CHARACTER =
  /^(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{M}\p{N}_]/u;

function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x80) return /\w/.test(text.charAt(index));
  return index >= 0 && WORD_CHARACTER.test(text.slice(index, index + 2));
}

function startOfCharacterBefore(text: string, index: number): number {
  return (text.codePointAt(index - 2) ?? 0) > 0xffff ? index - 2 : index - 1;
}

/** A phrase does not start inside a word, a hyphenated compound, a path or a dotted name. */
function isOpening(text: string, index: number): boolean {
  if (index === 0) return true;
  const before = startOfCharacterBefore(text, index);
  if (isWordAt(text, before) || '/\\$@#'.includes(text.charAt(before))) return false;
  return !'-‑.'.includes(text.charAt(before)) || !isWordAt(text, startOfCharacterBefore(text, before));
}

/** Nor does a phrase end there. */
function isClosing(text: string, index: number): boolean {
  const after = text.charAt(index);
  if (after === '') return true;
  if (isWordAt(text, index) || after === '(') return false;
  return !'-‑./\\'.includes(after) || !isWordAt(text, index + 1);
}

function characterSource(character: string): string {
  // Turkish has an i with and one without a dot, and their capitals; case folding knows only the English pair.
  if (/[iıIİ]/.test(character)) return '(?:[iıİ]\\u0307?)';
  if (/['’]/.test(character)) return "['’]";
  return /\s/.test(character) ? ' ' : character.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
}
