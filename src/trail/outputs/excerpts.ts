// Which rows of a result carry its content.

import { omittedRows, moreMark } from '../calls/changes.ts';
import { identifiersOf } from '../../text/identifiers/identifiers.ts';
import { objectRows } from '../../text/json-rows.ts';
import { isNoise } from '../../text/noise.ts';
import { isCount, readsFailed, saysWhat, tracebackEnds } from './outputs.ts';
import { foldedRows, withFolds, withoutEqual } from './runs-of-rows.ts';
import { clip, ELLIPSIS, hasMatches } from '../../text/sentences.ts';

/** Characters of a row of a result. */
const RESULT_ROW = 200;

/** What an excerpt is made for. */
export interface Excerpting {
  /** Approximate length of the excerpt in characters. */
  readonly room: number;
  /** The weight of each name that counts and was not yet shown. */
  readonly weights: ReadonlyMap<string, number>;
  /** Names whose rows in a listing are shown. */
  readonly counting: ReadonlySet<string>;
  /** Whether it is the text of a file, which begins with imports and ends with anything. */
  readonly isRead: boolean;
  /** Whether it is known to report a failure: then its text about the cause counts. */
  readonly hasFailed: boolean;
  /** Names in the call itself: what it searches for. */
  readonly sought: ReadonlySet<string>;
}

/**
 * Shares of the room: for outcomes, counts and problems of a call, or the cause of a failed run; for the rows with most names;
 * and for the beginning.
 */
const PROBLEMS_SHARE = 0.4;
const CAUSES_SHARE = 0.8;
const NAMING_SHARE = 0.5;
const HEAD_SHARE = 0.2;
const SHOWN_PROBLEMS = 4;
const SHOWN_COUNTS = 2;
/** Rows at either end of a result whose names are examined. */
const WEIGHED_ROWS = 150;

/** Characters that a result takes if shown in full. */
export function wholeLength(result: string): number {
  return lengthOf(plainRows(result, false).map((row) => clip(withoutColumns(row.trim()), RESULT_ROW)));
}

function lengthOf(rows: readonly string[]): number {
  return rows.reduce((sum, row) => sum + row.length + 1, 0);
}

/** The meaningful rows of a result: for JSON one per object, for a diff those that differ. */
function plainRows(result: string, isRead: boolean): readonly string[] {
  const objects = isRead ? undefined : objectRows(result);
  return withoutEqual(objects ?? differingRows(contentRows(result)));
}

/** Rows of a result that carry its content, in order; a row `…` replaces omitted ones, and the last such row counts them. */
export function excerptRows(
  result: string,
  { room, weights, counting, isRead, hasFailed, sought }: Excerpting,
): string[] {
  const all = plainRows(result, isRead);
  // The rest was not kept: its mark is not a row, and what precedes it is not an end.
  const beyond = omittedRows(all.at(-1) ?? '') ?? 0;
  const plain = beyond === 0 ? all : all.slice(0, -1);
  const rows = plain.map((row) =>
    clip(isRead ? row.trim() : withoutColumns(row.trim()), Math.min(RESULT_ROW, room - 1)),
  );
  const folded = foldedRows(rows, new Set([...counting, ...sought]));
  const short = withFolds(rows, folded);
  if (lengthOf(short) <= room) return beyond === 0 ? short : withCount(short, beyond, false);
  const kept = new Set<number>();
  let left = room;
  const keep = (at: number, until: number): boolean => {
    const length = (rows[at] ?? '').length + 1;
    if (kept.has(at) || folded.has(at)) return true;
    if (left - length < until) return false;
    left -= length;
    kept.add(at);
    return true;
  };
  const counts = isRead ? [] : rows.flatMap((row, at) => (isCount(row) || OUTCOME.test(row) ? [at] : []));
  const problems = isRead
    ? []
    : [
        ...[...tracebackEnds(plain)].flatMap(([at, place]) => [at, place.at]),
        ...rows.flatMap((row, at) =>
          (readsFailed(row) || (hasFailed && saysWhat(row))) && !isNoise(row, at, rows) ? [at] : [],
        ),
      ];
  const isReport = counts.length + problems.length > 0;
  if (!isRead) keep(problems[0] ?? counts.at(-1) ?? 0, -Infinity);
  const rest = room * (1 - (hasFailed ? CAUSES_SHARE : PROBLEMS_SHARE));
  for (const at of counts.slice(-SHOWN_COUNTS)) keep(at, rest);
  for (const at of problems.slice(0, SHOWN_PROBLEMS)) keep(at, rest);
  const naming = left - NAMING_SHARE * room;
  if (!isReport) for (const at of byNames(rows, weights, sought)) keep(at, isRead ? 0 : naming);
  const head = isReport ? rest - HEAD_SHARE * room : left / 2;
  for (let at = 0; at < rows.length && keep(at, head); at++);
  for (let at = rows.length - 1; at >= 0 && keep(at, 0); at--);
  const inOrder = [...kept].toSorted((a, b) => a - b);
  const excerpt = inOrder.flatMap((at, index) =>
    at - (inOrder[index - 1] ?? (isRead || hasFailed ? at : -1)) > 1
      ? [ELLIPSIS, rows[at] ?? '']
      : [rows[at] ?? ''],
  );
  const hasEnd = beyond === 0 && kept.has(rows.length - 1);
  return isRead || hasFailed ? excerpt : withCount(excerpt, uncounted(rows, kept) + beyond, hasEnd);
}

/** How many rows the omitted ones represent: a mark among them counts for the number it names. */
function uncounted(rows: readonly string[], kept: ReadonlySet<number>): number {
  return rows.reduce((sum, row, at) => sum + (kept.has(at) ? 0 : (omittedRows(row) ?? 1)), 0);
}

/** Rows with a count at the last omission, if any. */
function withCount(excerpt: readonly string[], left: number, hasEnd: boolean): string[] {
  const mark = moreMark(left);
  return hasEnd ? excerpt.with(excerpt.lastIndexOf(ELLIPSIS), mark) : [...excerpt, mark];
}

/** A table row without its column padding. */
function withoutColumns(row: string): string {
  const gaps = row.includes('   ') ? row.split(GAP) : [row];
  return gaps.length > LEAST_GAPS ? gaps.join('  ') : row;
}

const GAP = / {3,}/;
const LEAST_GAPS = 2;

/** A row that states the outcome of a call: a commit, a push, a version, the address of a pull request or an issue. */
const OUTCOME =
  /^\[\S{1,100}(?: \(root-commit\))? [0-9a-f]{7,40}\] |^https:\/\/(?=\S+$)\S+\/(?:pull|issues|merge_requests|releases)\/\S|^[ +*]?\s*(?:[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}|\[new (?:branch|tag)\]) +\S+ +-> |^v?\d+\.\d+\.\d\S*$/;

/** Rows without content: rules, fences, success messages of tools, a harness's notes about itself. */
const CHATTER =
  /^\s*(?!\s)(?:[\s|:=_*─━═⎯│┃{}()[\];,-]*|\/\*\*?|\*\/|Exit code:? \d+|```\w*|~~~\w*|<\/?(?:content|path|type|file|entries)>.*|The file .{1,300} has been (?:updated|created)(?: successfully)?\b.*|File created successfully at.*|Here's the result of running `cat -n`.*|Success\. Updated the following files:|(?:Edit applied|Wrote file|Edited file|File (?:written|edited|updated)) ?successfully\.?.*|Successfully (?:replaced text|wrote \d|edited|applied).*|Shell cwd was reset to .*|\(no output\)|Traceback \(most recent call last\):?|Debugger attached\.|Waiting for the debugger.*|> (?=\S+@\d)\S+ \S.*)$/;

/** A number that a reader puts before a line, with the indentation after it. */
const NUMBERED = /^ *(\d{1,6})(?:→|\t)\s*/;

/** Rows of a result without a harness's passing notes to the agent and without chatter. */
export function contentRows(result: string): string[] {
  return withoutNotices(result)
    .split('\n')
    .map((row) => row.trimEnd().replace(NUMBERED, '$1: '))
    .filter((row) => !CHATTER.test(row.replace(/^\d+: /, '')));
}

/** A harness's passing notes to the agent are not part of a result. */
function withoutReminders(text: string): string {
  return text.includes(REMINDER)
    ? text.replaceAll(/<system-reminder>[^]*?(?:<\/system-reminder>|$)/g, '')
    : text;
}

const REMINDER = '<system-reminder>';

const CITATION = '<oai-mem-citation>';

/** A message's text without its machine-readable citations of memories. @source Codex */
export function withoutCitations(text: string): string {
  return text.includes(CITATION)
    ? text.replaceAll(/\n?<oai-mem-citation>[^]*?(?:<\/oai-mem-citation>|$)/g, '')
    : text;
}

/** What read tools print around the text of a file. @source session files of Gemini CLI and SWE-agent */
const READ_NOTICE =
  /^[ \t]*(?:\(this is the (?:beginning|end) of the file\)|\(\d+ more lines (?:above|below)\)|\[File: .{1,300} \(\d+ lines total(?: after edit)?\)\]|(?:\.{3} )?[[(]\d+ more lines (?:not shown|in file)\. Use offset=\d+ to continue.{0,20}[\])]|\(Open file: .{1,300}\)|\(Current directory: .{1,300}\))[ \t]*(?:\n|$)/gm;
const TRUNCATED =
  /^\s*IMPORTANT: The file content has been truncated\.[^]{0,1000}?\n--- FILE CONTENT \(truncated\) ---\n/;

/** Strings of which a text with either contains at least one. */
const MAY_NOTICE = [
  'IMPORTANT: The file',
  ' of the file)',
  ' more lines ',
  '[File: ',
  '(Open file: ',
  '(Current directory: ',
];

/** The text of a file without the notes of its reader and its harness. */
export function withoutNotices(text: string): string {
  const content = withoutAgentNotes(withoutReminders(text));
  return MAY_NOTICE.some((part) => content.includes(part))
    ? content.replace(TRUNCATED, '').replace(READ_NOTICE, '')
    : content;
}

/** A harness's instructions to an agent about another one in the background. @source Claude Code session files */
const AGENT_NOTES =
  / \(internal ID - do not mention to user\.[^\n]*|^(?:output_file: [^\n]*\n)?Do NOT Read or Bash tail this file[^\n]*\n?/gm;

function withoutAgentNotes(text: string): string {
  return text.includes('(internal ID - do not') ? text.replaceAll(AGENT_NOTES, '') : text;
}

const DIFF_FILE = /^diff --git a\/\S+ b\//;
const DIFF_NOISE = /^(?:index [0-9a-f]+\.\.|--- |\+\+\+ |@@ |(?:new|deleted) file mode |old mode |new mode )/;

/** The files of a diff and the rows that differ. */
function differingRows(rows: readonly string[]): readonly string[] {
  const first = rows.findIndex((row) => DIFF_FILE.test(row));
  if (first < 0) return rows;
  return [
    ...rows.slice(0, first),
    ...rows
      .slice(first)
      .filter((row) => /^(?:[+-]|diff )/.test(row) && !DIFF_NOISE.test(row) && row.length > 2)
      .map((row) => row.replace(DIFF_FILE, 'diff ')),
  ];
}

/** Characters that a row costs besides its own. */
const ROW_OVERHEAD = 12;
/** Factor for the weight of a row that means little by itself: a lone field, a closing brace. */
const BARE_ROW = 0.3;
const WORD = /[A-Za-z]{2,}/g;
/** Least number of words in a meaningful row. */
const SOME_WORDS = 3;
/** Factor for the weight of a row that names what was searched for. */
const SOUGHT_FACTOR = 3;
const NOTHING_SOUGHT: ReadonlySet<string> = new Set();
/** Share of a row's weight that earlier rows must not have covered. */
const LEAST_NEW = 0.5;

/**
 * The rows that name anything that counts, those with the highest density of names first; skips rows whose names others cover.
 */
export function byNames(
  rows: readonly string[],
  weights: Excerpting['weights'],
  sought: Excerpting['sought'] = NOTHING_SOUGHT,
): number[] {
  const far = rows.length - WEIGHED_ROWS;
  const shown = new Set<string>();
  return rows
    .flatMap((row, at) => {
      if (at >= WEIGHED_ROWS && at < far) return [];
      const names = identifiersOf(row).filter((name) => weights.has(name));
      const weight = weightOf(names, weights) * (hasMatches(row, WORD, SOME_WORDS) ? 1 : BARE_ROW);
      const factor = names.some((name) => sought.has(name)) ? SOUGHT_FACTOR : 1;
      return weight === 0 ? [] : [{ at, names, rate: (weight * factor) / (ROW_OVERHEAD + row.length) }];
    })
    .toSorted((a, b) => b.rate - a.rate)
    .filter(({ names }) => {
      const fresh = names.filter((name) => !shown.has(name));
      const isNew = weightOf(fresh, weights) >= LEAST_NEW * weightOf(names, weights);
      if (isNew) for (const name of names) shown.add(name);
      return isNew;
    })
    .map(({ at }) => at);
}

function weightOf(names: readonly string[], weights: Excerpting['weights']): number {
  return names.reduce((sum, name) => sum + (weights.get(name) ?? 0), 0);
}
