// Whether what a model said is a summary, and what of the user's words it left out. Pure.

import type { CountText } from '../../tokens/estimate.ts';
import { formatNumber } from '../../tokens/words.ts';
import { preservedWords } from '../../summary/preserved.ts';
import { redact } from '../../text/redact.ts';
import { oneLine } from '../../text/sentences.ts';
import type { Constraint } from '../../trail/trail.ts';
import { SUMMARY_SECTIONS } from '../../vocabulary.ts';
import type { StopReason } from '../../vocabulary.ts';
import { cleanSummary } from '../full/summary.ts';

/** One answer of a model, put together. */
export interface ModelAnswer {
  readonly text: string;
  /** Whether it called a tool. */
  readonly hasCalls: boolean;
  readonly stopReason: StopReason;
}

/** What an answer must satisfy. */
export interface AnswerTerms {
  /** Largest size of the summary in tokens by `count`. */
  readonly mostTokens: number;
  readonly count: CountText;
  /** Whether the nine sections were asked for. */
  readonly hasSections: boolean;
  /** It was asked for a second time: a few missing sections are then taken as they are. */
  readonly wasReminded: boolean;
  /** A summary of a piece, which only has to say something. */
  readonly isPiece: boolean;
}

/** What an answer is worth. */
export type AnswerVerdict =
  | { readonly type: 'summary'; readonly text: string; readonly missing: readonly string[] }
  /** Why it is none, for people; and what to tell the model. */
  | { readonly type: 'defect'; readonly why: string; readonly reminder: string }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'too_large'; readonly why: string };

/** Shorter texts say nothing of a session. @source rawr-behaviour §14: a valid summary is longer than 200 bytes */
const LEAST_CHARACTERS = 200;

/** A piece may be about little. */
const LEAST_PIECE_CHARACTERS = 20;

/** Sections without which even an answer to a reminder is not a summary of the requested kind. */
const LEAST_SECTIONS = 5;

/** Looks at an answer. @source spec 2-engine §4.4 */
export function judgeAnswer(
  { text: raw, hasCalls, stopReason }: ModelAnswer,
  wanted: AnswerTerms,
): AnswerVerdict {
  if (hasCalls || stopReason === 'tool_calls') {
    return defect('it called a tool', 'Call no tool; answer with the summary alone.');
  }
  if (stopReason === 'refused') return { type: 'refused', why: 'the provider refused to answer' };
  if (stopReason === 'window_full')
    return { type: 'too_large', why: 'the window was full before the answer ended' };
  if (stopReason !== 'end_turn') {
    return defect('it was cut off', `Be shorter: ${wordsFor(wanted)} at most, including the analysis.`);
  }
  const text = redact(raw).trim();
  const summary = shortened(text);
  if (summary === '') return defect('it was empty', 'Answer with the summary.');
  if (/^(?:API_ERROR|Error):/.test(summary))
    return defect('it was the text of an error', 'Answer with the summary.');
  if (summary.length < (wanted.isPiece ? LEAST_PIECE_CHARACTERS : LEAST_CHARACTERS)) {
    return defect('it was too short to be a summary', 'Write the whole summary.');
  }
  return wanted.isPiece ? { type: 'summary', text: summary, missing: [] } : judgeText(text, summary, wanted);
}

function judgeText(raw: string, summary: string, wanted: AnswerTerms): AnswerVerdict {
  // Headings in the analysis are not sections.
  const missing = wanted.hasSections
    ? HEADINGS.filter(({ pattern }) => !pattern.test(summary)).map(({ section }) => section)
    : [];
  // The last section is optional by its name.
  const needed = missing.filter((section) => section !== 'Optional Next Step');
  const isTaken = wanted.wasReminded
    ? SUMMARY_SECTIONS.length - missing.length >= LEAST_SECTIONS
    : needed.length === 0;
  if (!isTaken) {
    return defect(
      `it lacks the sections ${needed.join(', ')}`,
      `These headings are missing: ${needed.join(', ')}. Write all nine, under exactly the requested headings.`,
    );
  }
  const fitting = [raw, summary].find((text) => wanted.count(cleanSummary(text)) <= wanted.mostTokens);
  return fitting === undefined
    ? defect(
        `it is longer than the ${formatNumber(wanted.mostTokens)} available tokens`,
        `Be shorter: ${wordsFor(wanted)} at most.`,
      )
    : { type: 'summary', text: fitting, missing };
}

/** The lines that open the sections, whatever numbers and marks a model puts before their headings. */
const HEADINGS = SUMMARY_SECTIONS.map((section) => {
  const words = section
    .replace('Optional ', '(?:Optional )?')
    .replaceAll(' and ', ' (?:and|&) ')
    .replaceAll(' ', '\\s+');
  return { section, pattern: new RegExp(`^[^\\p{L}\\n\\r\\u2028\\u2029]*${words}(?!\\p{L})`, 'imu') };
});

/** The summary without the thinking before it. Tags that enclose a small part of it are quoted from the conversation. */
function shortened(text: string): string {
  const thought = splitAt(text, '<analysis>', '</analysis>');
  const told = thought === undefined ? text : `${thought.before}${thought.after}`.trim();
  const summary = splitAt(told, '<summary>', '</summary>');
  if (summary === undefined) return told;
  const around = summary.before.length + summary.after.length;
  return around > summary.inside.length ? told : summary.inside.trim();
}

/** A text around and inside of a pair of tags, from the first opening one. A summary may quote tags, so its end is the last one. */
function splitAt(text: string, opening: string, closing: string) {
  const open = text.indexOf(opening);
  const close = opening === '<summary>' ? text.lastIndexOf(closing) : text.indexOf(closing, open);
  if (open === -1 || close < open) return undefined;
  return {
    before: text.slice(0, open),
    inside: text.slice(open + opening.length, close),
    after: text.slice(close + closing.length),
  };
}

function wordsFor({ mostTokens }: AnswerTerms): string {
  return `${Math.floor(mostTokens / 2)} words`;
}

function defect(why: string, reminder: string): AnswerVerdict {
  return { type: 'defect', why, reminder };
}

/** The share of a summary's room that rules may take which the model left out. @source docs/decisions/ladder.md */
const RULES_SHARE = 0.2;

/**
 * A summary with the user's rules that it does not hold verbatim put behind it: models keep one in five of them. Newest
 * first where not all have room.
 * @param preserved texts of the user's messages that stay verbatim beside the summary
 * @source spec 2-engine §10: the large model's own summaries keep 19 % of the constraints verbatim
 */
export function withRules(
  text: string,
  constraints: readonly Constraint[],
  {
    preserved,
    mostTokens,
    count,
  }: {
    readonly preserved: readonly string[];
    readonly mostTokens: number;
    readonly count: CountText;
  },
): { readonly text: string; readonly added: number } {
  const kept = preservedWords(preserved);
  const told = oneLine(text);
  const missing = constraints.filter(
    (rule) => !rule.isPasted && !kept.hasSentence(rule.text) && !told.includes(oneLine(rule.text)),
  );
  let left = Math.min(mostTokens - count(text), Math.floor(mostTokens * RULES_SHARE)) - count(RULES_HEADING);
  const lines: string[] = [];
  for (const constraint of missing.toReversed()) {
    const line = `\n- ${constraint.text}`;
    const tokens = count(line);
    if (tokens > left) continue;
    left -= tokens;
    lines.unshift(line);
  }
  return lines.length === 0
    ? { text, added: 0 }
    : { text: `${text}${RULES_HEADING}${lines.join('')}`, added: lines.length };
}

const RULES_HEADING = '\n\nRules and corrections of the user, verbatim:';
