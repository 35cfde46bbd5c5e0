// Whether what a model said is a summary, and what of the user's words it left out. Pure.

import type { CountText } from '../../tokens/estimate.ts';
import { preservedWords } from '../../trail/preserved.ts';
import { redact } from '../../trail/redact.ts';
import { oneLine } from '../../trail/sentences.ts';
import type { Constraint } from '../../trail/trail.ts';
import { SUMMARY_SECTIONS } from '../../vocabulary.ts';
import type { StopReason } from '../../vocabulary.ts';
import { cleanSummary } from '../summary.ts';

/** One answer of a model, put together. */
export interface Answer {
  readonly text: string;
  /** Whether it called a tool. */
  readonly hasCalls: boolean;
  readonly stopReason: StopReason;
}

/** What an answer is held against. */
export interface Wanted {
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
export type Verdict =
  | { readonly type: 'summary'; readonly text: string; readonly missing: readonly string[] }
  /** Why it is none, for people; and what to tell the model. */
  | { readonly type: 'defect'; readonly why: string; readonly reminder: string }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'too_large'; readonly why: string };

/** Shorter texts say nothing of a session. @source rawr-behaviour §14: a valid summary is longer than 200 bytes */
const LEAST_CHARACTERS = 200;

/** A piece may be about little. */
const LEAST_PIECE_CHARACTERS = 20;

/** Sections without which even a reminded answer is no summary of the kind that was asked for. */
const LEAST_SECTIONS = 5;

/** Looks at an answer. @source spec 2-engine §4.4 */
export function judgeAnswer({ text: raw, hasCalls, stopReason }: Answer, wanted: Wanted): Verdict {
  if (hasCalls || stopReason === 'tool_calls') {
    return defect('it called a tool', 'Call no tool; answer with the summary alone.');
  }
  if (stopReason === 'refused') return { type: 'refused', why: 'the provider refused to answer' };
  if (stopReason === 'window_full')
    return { type: 'too_large', why: 'the window was full before the answer ended' };
  if (stopReason !== 'end_turn') {
    return defect('it was cut off', `Be shorter: ${wordsFor(wanted)} at the most, the analysis included.`);
  }
  const text = redact(raw).trim();
  if (text === '') return defect('it was empty', 'Answer with the summary.');
  if (/^(?:API_ERROR|Error):/.test(text))
    return defect('it was the text of an error', 'Answer with the summary.');
  if (text.length < (wanted.isPiece ? LEAST_PIECE_CHARACTERS : LEAST_CHARACTERS)) {
    return defect('it was too short to be a summary', 'Write the whole summary.');
  }
  return wanted.isPiece ? { type: 'summary', text: shortened(text), missing: [] } : judgeText(text, wanted);
}

function judgeText(raw: string, wanted: Wanted): Verdict {
  const missing = wanted.hasSections ? SUMMARY_SECTIONS.filter((section) => !hasSection(raw, section)) : [];
  // The last section is optional by its name.
  const needed = missing.filter((section) => section !== 'Optional Next Step');
  const isTaken = wanted.wasReminded
    ? SUMMARY_SECTIONS.length - missing.length >= LEAST_SECTIONS
    : needed.length === 0;
  if (!isTaken) {
    return defect(
      `it lacks the sections ${needed.join(', ')}`,
      `These headings are missing: ${needed.join(', ')}. Write all nine, under exactly the headings that were asked for.`,
    );
  }
  const fitting = [raw, shortened(raw)].find((text) => wanted.count(cleanSummary(text)) <= wanted.mostTokens);
  return fitting === undefined
    ? defect(
        `it takes more than the ${wanted.mostTokens} tokens that there is room for`,
        `Be shorter: ${wordsFor(wanted)} at the most.`,
      )
    : { type: 'summary', text: fitting, missing };
}

function hasSection(tagged: string, section: string): boolean {
  const text = tagged.replaceAll(/<\/?(?:analysis|summary)>/g, '\n');
  const words = section.replace('Optional ', '(?:Optional )?').replaceAll(' ', '\\s+');
  return new RegExp(`^[ \\t#*_>\\d.)-]*${words}\\b`, 'im').test(text);
}

/** The summary without the thinking before it. */
function shortened(text: string): string {
  const open = text.indexOf('<summary>');
  const close = text.lastIndexOf('</summary>');
  if (open !== -1 && close > open) return text.slice(open + '<summary>'.length, close).trim();
  const analysis = text.indexOf('</analysis>');
  return analysis === -1 ? text : text.slice(analysis + '</analysis>'.length).trim();
}

function wordsFor({ mostTokens }: Wanted): string {
  return `${Math.floor(mostTokens / 2)} words`;
}

function defect(why: string, reminder: string): Verdict {
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
    (constraint) => !kept.hasSentence(constraint.text) && !told.includes(oneLine(constraint.text)),
  );
  let left = Math.min(mostTokens - count(text), Math.floor(mostTokens * RULES_SHARE)) - count(RULES_HEADING);
  const lines: string[] = [];
  for (const constraint of missing.toReversed()) {
    const line = `\n- ${constraint.text}`;
    const tokens = count(line);
    if (tokens > left) break;
    left -= tokens;
    lines.unshift(line);
  }
  return lines.length === 0
    ? { text, added: 0 }
    : { text: `${text}${RULES_HEADING}${lines.join('')}`, added: lines.length };
}

const RULES_HEADING = '\n\nRules and corrections of the user, verbatim:';
