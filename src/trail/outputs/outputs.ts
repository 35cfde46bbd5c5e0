// What a tool result says about its call: the status, and the few lines that show the outcome.

import { isNoise } from '../../text/noise.ts';
import { clip, oneLine } from '../../text/sentences.ts';

/** A parsed tool result. */
export interface ToolOutcome {
  /** The output itself, without the producer's wrapper. */
  readonly text: string;
  readonly exitCode: number | undefined;
  /** The producer reports success without a code. */
  readonly isKnownWell?: boolean;
  /** A session that is still running; later writes refer to it. */
  readonly processId: string | undefined;
}

/** Characters searched at the head and the tail of an output; the end of a command's output matters most. */
const SCANNED_HEAD = 12_000;
const SCANNED_TAIL = 12_000;

/**
 * Parses a result: Codex's `{"output":…,"metadata":{"exit_code":…}}`, its sandbox message, its "Process exited with code"
 * header, Claude Code's "Exit code 1" line and Copilot CLI's closing line. Anything else is output with an unknown status.
 */
export function outcomeOf(result: string): ToolOutcome {
  if (isWrapped(result)) return jsonOutcome(result);
  if (result.startsWith('failed in sandbox ')) return sandboxOutcome(result);
  if (result.endsWith('>')) {
    const end = ENDED.exec(result.slice(-120));
    if (end !== null) return shellOutcome(result.slice(0, -end[0].length), Number(end[1]));
  }
  const head = result.slice(0, 400);
  const marker = head.search(/^Output:\n?/m);
  const status = /^(?:Process exited with code|Exit code:?|exit status:?) (-?\d{1,9})\b/im.exec(head);
  const processId = /^Process running with session ID (\d{1,12})/m.exec(head)?.[1];
  const from = marker < 0 ? 0 : result.indexOf('\n', marker) + 1;
  return {
    text: excerpt(from === 0 && marker >= 0 ? '' : result.slice(from)),
    exitCode: status === null ? undefined : Number(status[1]),
    processId,
  };
}

/** The footer of a shell that several calls share. @source Copilot CLI */
const ENDED = /\n?<shellId: \d{1,9} completed with exit code (-?\d{1,9})>$/;

function shellOutcome(output: string, exitCode: number): ToolOutcome {
  return { text: excerpt(output), exitCode, processId: undefined };
}

/** Whether a result is wrapped in JSON, with escaped line feeds. @source Codex 0.34 */
export function isWrapped(result: string): boolean {
  return result.startsWith('{"output":');
}

/** `failed in sandbox NAME with execution error: …, exit code: 2, stdout: …, stderr: …`. @source Codex 0.34 */
function sandboxOutcome(result: string): ToolOutcome {
  const head = /^failed in sandbox [^\n]{1,200}?, exit code: (-?\d{1,9}), stdout: /.exec(result);
  if (head === null) return { text: excerpt(result), exitCode: undefined, processId: undefined };
  const output = result.slice(head[0].length);
  const stderr = output.lastIndexOf(', stderr: ');
  const text =
    stderr < 0 ? output : `${output.slice(0, stderr)}\n${output.slice(stderr + ', stderr: '.length)}`;
  return { text: excerpt(text.trim()), exitCode: Number(head[1]), processId: undefined };
}

function jsonOutcome(result: string): ToolOutcome {
  try {
    const value: unknown = JSON.parse(result);
    if (
      typeof value === 'object' &&
      value !== null &&
      'output' in value &&
      typeof value.output === 'string'
    ) {
      const metadata = 'metadata' in value ? value.metadata : undefined;
      const hasCode = typeof metadata === 'object' && metadata !== null && 'exit_code' in metadata;
      const exitCode = hasCode && typeof metadata.exit_code === 'number' ? metadata.exit_code : undefined;
      return { text: excerpt(value.output), exitCode, processId: undefined };
    }
  } catch {
    // The producer cut it off: the text is all there is.
  }
  return { text: excerpt(result), exitCode: undefined, processId: undefined };
}

function excerpt(text: string): string {
  if (text.length <= SCANNED_HEAD + SCANNED_TAIL) return text;
  return `${text.slice(0, SCANNED_HEAD)}\n${text.slice(text.length - SCANNED_TAIL)}`;
}

const PROBLEM =
  /\b(?:error|fatal|unknown|invalid|unrecognized|panic|exception|traceback|failed|failure|cannot|undefined|denied|not found|no such|unexpected|expected|assert\w*|refused|rejected|timed? ?out|conflict)\b|✗|✖|✘|^--- FAIL|^FAIL\b/i;
/** Error codes and names, recognisable by their spelling. */
const PROBLEM_NAME = /\bE[A-Z]{4,}\b|\b[A-Z]{1,3}\d{3,5}\b|\w(?:Error|Exception)\b/;
/** A decisive line: a rejection, a compiler's or linter's message about a place, or the end of a wait. */
const DECIDES =
  /^\s*(?:! \[(?:remote )?rejected\]|fatal: |[^\s:]{1,200}\.\w{1,5}:\d{1,6}:\d{1,6}: (?!warning|note)\S+ \S)|\btimed out after\b/;
/** A line with a place and a problem described in more than one word. */
const PLACED = /^\s*[^\s:]{1,200}\.\w{1,5}:\d{1,6}: (?!in |\w*Warning\b)\S+ \S/;
/** The header above a linter's finding: a place and a rule, then a bar. @source Biome */
const FINDING_HEAD = /^(\S{1,200}:\d{1,6}:\d{1,6} \S{1,80}) [^\n]*━/;
/** Rows between such a header and its finding. */
const HEAD_ROWS = 3;
const COUNT =
  /\b\d{1,7} (?:tests? )?(?:pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|warnings?|skipped|todo|problems?|examples?)\b|^(?:ok|FAIL)\s+\S|^# (?:tests|pass|fail)\b|^Tests?:? /i;
/** Strings of which every count contains one; most outputs, and most lines of the others, contain none. */
const MAY_COUNT = /pass|fail|error|warning|skipped|todo|problem|example|^# tests|^(?:ok\s|tests?:? )/gim;
/** A table row with a failed status: of a pull request's checks, of a pipeline's runs. */
const FAILED_CELL = /(?:\t|\| )(?:fail(?:ed|ure)?|error(?:ed)?|timed_out)(?:\t| \||$)/i;
const NO_PROBLEM = /\b(?:0 (?:errors?|failed|failures|fail|problems?|warnings?)|no errors?)\b/i;

/** An outcome line is cut to this many characters. */
const OUTCOME_LINE_LENGTH = 220;

/** A line that says what is wrong, rather than where, or that something is. */
const SAYS_WHAT =
  /\w(?:Error|Exception)\b|\b(?:[Ee]rror|ERROR)(?: ?[:[(]| [A-Z]{1,3}\d{3,5}\b)|^E\s|^--- FAIL|^fatal:|^panic:|[Nn]ot found|[Nn]o such|\bexpected\b|[Ff]ailed to \w/;

/** A line that names a passed test; the words in that name do not make it a problem. */
const PASSED =
  /^\s*(?:\(pass\)|\(skip\)|--- (?:PASS|SKIP)|PASS\b|[✓✔√]|ok\s+(?:\d|\S+\s+(?:[\d.]+m?s|\(cached\))))/;

/** A line that names a failure in the words of the common test runners, or the expected value. */
const NAMES_FAILURE =
  /^\s*(?:\(fail\)|--- FAIL|FAIL(?:ED)?\b|[✗✖✘×] |not ok \d|●\s|E {2,}\S|test \S+ \.\.\. FAILED|CONFLICT \()/;

/** The difference below the name of a failing test. */
const DIFFERENCE = /^\s*(?:\+ |- )?(?:expected|received|actual|want|got|left|right)\b ?[:=]/i;

/** A line that no successful run prints. Words that a program merely prints ("error handling") do not count. */
const CERTAIN_FAILURE =
  /^\s*(?:\(fail\)|--- FAIL|(?:RESULT: ?)?FAIL(?:ED)?(?:\s|:|$)|not ok \d|npm (?:ERR!|error )|(?:ELIFECYCLE|error) +Command failed\b|Found [1-9]\d* errors?\b|[✖✘] \d+ problems? \([1-9]|\[\S{1,60}\] ERROR task failed|make(?:\[\d+\])?: \*\*\*|Traceback \(most|panic: |error(?:\[E\d+\])?: )|\berror TS\d+:|\b[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?|s)?\b(?! to\b)|^# fail [1-9]/i;

/** Strings of which every certain failure contains one. */
const MAY_FAIL = /fail|error|not ok|npm err|\*\*\*|traceback|panic/gi;

/** Whether an output reports a failure, whatever the status: a pipe has the status of its last program. */
export function saysFailed(text: string): boolean {
  return linesWith(MAY_FAIL, stripAnsi(text)).some(
    (line) => line.length < 2_000 && CERTAIN_FAILURE.test(line) && !PASSED.test(line),
  );
}

/** The lines of a text with a match; it does not copy the others. @param sought a global pattern that matches within a line */
function linesWith(sought: RegExp, text: string): string[] {
  const lines: string[] = [];
  sought.lastIndex = 0;
  for (let found = sought.exec(text); found !== null; found = sought.exec(text)) {
    const end = text.indexOf('\n', found.index);
    lines.push(text.slice(text.lastIndexOf('\n', found.index - 1) + 1, end < 0 ? text.length : end));
    if (end < 0) break;
    sought.lastIndex = end + 1;
  }
  return lines;
}

/** The uninformative first line of a traceback, and the lines that name its places. */
const TRACE_HEAD = /^\s*Traceback \(most recent call last\):?\s*$/;
const TRACE_PLACE = /^\s+(File "[^"\n]{1,300}", line \d{1,9})/;
const FRAME = /^\s*at \S.*:\d+:\d+\)?$/;
/** Code outside the project. */
const FOREIGN = /\/(?:site|dist)-packages\/|\/lib\/python[\d.]*\/|"<frozen /;

/** The places at the ends of tracebacks, by row: for each the last one in the project, as row and words. */
export function tracebackEnds(
  rows: readonly string[],
): ReadonlyMap<number, { readonly at: number; readonly place: string }> {
  const ends = new Map<number, { at: number; place: string }>();
  let place: { at: number; place: string } | undefined;
  for (const [at, row] of rows.entries()) {
    const found = row.length < 2_000 ? TRACE_PLACE.exec(row)?.[1] : undefined;
    if (found !== undefined) {
      if (place === undefined || !FOREIGN.test(found)) place = { at, place: found };
    } else if (place !== undefined && /^\S/.test(row)) {
      if (/^[\w.]+(?::|$)/.test(row)) ends.set(at, place);
      place = undefined;
    }
  }
  return ends;
}

/** Rows below the name of the first failure that show its error. @source Vitest, Jest */
const BELOW_FAILURE = 2;

/** An output that says nothing was found, which may be what the command was run to learn. */
const SAYS_NONE = /^\s*(?:\[\]|\{\}|no (?:\S+ ){1,5}found\.?)\s*$/i;
const EMPTY_LENGTH = 80;

/** The lines that show a command's outcome, at most `limit`: problems if it failed, causes first; counts in any case. */
export function outcomeLinesOf(text: string, hasFailed: boolean, limit = 4): string[] {
  if (!hasFailed && text.length <= EMPTY_LENGTH && SAYS_NONE.test(text)) return [oneLine(text)];
  const failing: string[] = [];
  const ends: string[] = [];
  const deciding: string[] = [];
  const causes: string[] = [];
  const others: string[] = [];
  const counts: string[] = [];
  const seen = new Set<string>();
  let noise: string | undefined;
  let failedAt: number | undefined;
  const plain = stripAnsi(text);
  const rows = hasFailed ? plain.split('\n') : linesWith(MAY_COUNT, plain);
  const traced = hasFailed && plain.includes('File "') ? tracebackEnds(rows) : undefined;
  for (const [at, raw] of rows.entries()) {
    if (raw.length < 4 || raw.length > 2_000) continue;
    if (hasFailed && (PASSED.test(raw) || /^\s*(?:raise|throw)\b/.test(raw) || isOfTrace(raw))) continue;
    // The code at a place says nothing about what happened there.
    if (traced !== undefined && /^\s/.test(raw) && TRACE_PLACE.test(rows[at - 1] ?? '')) continue;
    const end = traced?.get(at);
    if (end !== undefined) {
      ends.push(`${clip(oneLine(raw), OUTCOME_LINE_LENGTH)} (${end.place})`);
      continue;
    }
    const namesFailure = hasFailed && (NAMES_FAILURE.test(raw) || DIFFERENCE.test(raw));
    const counted = !namesFailure && (COUNT.test(raw) || FAILED_CELL.test(raw));
    const isCause = namesFailure || (hasFailed && !counted && isProblem(raw));
    if (!counted && !isCause) continue;
    if (isCause && isNoise(raw, at, rows)) {
      noise = raw;
      continue;
    }
    const line = clip(`${unframed(oneLine(withBars(raw)))}${foundPlace(raw, at, rows)}`, OUTCOME_LINE_LENGTH);
    if (!line.includes(' ') || seen.has(line)) continue;
    seen.add(line);
    if (namesFailure) failedAt ??= at;
    const says = SAYS_WHAT.test(line);
    const isBelow = says && failedAt !== undefined && at - failedAt <= BELOW_FAILURE;
    const cause = isBelow || DECIDES.test(raw) || PLACED.test(raw) ? deciding : says ? causes : others;
    (counted ? counts : namesFailure ? failing : cause).push(line);
  }
  // The first failing test by name, then what was wrong, then more of either.
  const problems = [
    ...failing.slice(0, 1),
    ...new Set(ends),
    ...deciding,
    ...causes,
    ...failing.slice(1),
    ...others,
  ];
  const lastCounts = counts.slice(-2);
  const picked = [...problems.slice(0, limit - Math.min(lastCounts.length, 1)), ...lastCounts].slice(
    0,
    limit,
  );
  if (picked.length > 0 || !hasFailed) return picked;
  return noise === undefined ? lastLines(plain, 2) : [clip(oneLine(noise), OUTCOME_LINE_LENGTH)];
}

/** A tab-separated row with its cells kept visible. */
function withBars(row: string): string {
  return FAILED_CELL.test(row) ? row.trim().replaceAll('\t', ' | ') : row;
}

function isProblem(row: string): boolean {
  return (PROBLEM.test(row) || PROBLEM_NAME.test(row) || DECIDES.test(row)) && !NO_PROBLEM.test(row);
}

/** Where a linter found the problem in a row, and the rule, in parentheses; empty if it does not say. */
function foundPlace(row: string, at: number, rows: readonly string[]): string {
  if (!/^\s*× /.test(row)) return '';
  for (const head of rows.slice(Math.max(0, at - HEAD_ROWS), at)) {
    const place = FINDING_HEAD.exec(head)?.[1];
    if (place !== undefined) return ` (${place})`;
  }
  return '';
}

/** Whether a line only announces a traceback. */
export function isTraceHead(line: string): boolean {
  return TRACE_HEAD.test(line);
}

/** Whether a line only announces a traceback or names one of its places. */
function isOfTrace(line: string): boolean {
  return isTraceHead(line) || TRACE_PLACE.test(line) || FRAME.test(line);
}

/** Turns `=== 2 failed ===` into "2 failed". */
function unframed(line: string): string {
  return line.replace(/^[=_!*#━─-]{3,} ?| ?(?<![=_!*#━─-])[=_!*#━─-]{3,}$/g, '');
}

function lastLines(text: string, count: number): string[] {
  const lines = text
    .slice(-1_000)
    .split('\n')
    .map((line) => clip(oneLine(line), OUTCOME_LINE_LENGTH));
  return lines.filter((line) => line !== '').slice(-count);
}

/** Removes terminal colours, and text that a later part of its line overwrote. */
export function stripAnsi(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
  const plain = text.includes('\u001b') ? text.replace(/\u001b\[[0-9;]{0,12}[A-Za-z]/g, '') : text;
  return plain.includes('\r') ? plain.split('\n').map(lastWritten).join('\n') : plain;
}

/** The visible text of an overwritten line; carriage returns at its end overwrite nothing. */
function lastWritten(line: string): string {
  const shown = line.replace(/(?<!\r)\r+$/, '');
  return line.slice(shown.lastIndexOf('\r') + 1);
}

/** Whether a line counts results of a run: tests, errors, problems. */
export function isCount(line: string): boolean {
  return line.length < 2_000 && COUNT.test(line);
}

/** Whether a line counts passed tests. */
export function saysPassed(line: string): boolean {
  return /\b[1-9]\d{0,6} (?:tests? )?pass(?:ed|ing)?\b/i.test(line);
}

/** Whether a line of a failed run says what went wrong. */
export function saysWhat(line: string): boolean {
  return (
    line.length < 2_000 &&
    !PASSED.test(line) &&
    !isOfTrace(line) &&
    (SAYS_WHAT.test(line) || DIFFERENCE.test(line) || DECIDES.test(line))
  );
}

/** Whether a line reports a failure, whatever the status. */
export function readsFailed(line: string): boolean {
  return (
    !PASSED.test(line) &&
    !isOfTrace(line) &&
    (CERTAIN_FAILURE.test(line) ||
      FAILED_CELL.test(line) ||
      NAMES_FAILURE.test(line) ||
      /^(?:---? )?FAIL|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|fail|errors?)\b/i.test(line))
  );
}

/** Whether an output with unknown status reads like a failure of its tool. */
export function looksFailed(text: string): boolean {
  return /^(?:<tool_use_error>|error\b|fatal:|Traceback|panic:|command not found|\S{1,80}: command not found|failed to|apply_patch verification failed|patch rejected|API Error)/i.test(
    text.trimStart().slice(0, 200),
  );
}

/**
 * How agents report to the model that the user rejected a call. Each must be at the head of a result, because an output may
 * quote them. @source session files of Claude Code and Gemini CLI; sources of Codex, opencode and Copilot CLI
 */
const REFUSALS = [
  /^The user doesn't want to (?:proceed|take this action)/,
  /^(?:exec )?(?:command|patch|execution|tool call|MCP tool call) (?:was )?rejected by (?:the )?user/i,
  /^(?:Error: )?\[Operation Cancelled\] Reason: /,
  /^(?:Error: )?User (?:denied|declined|rejected|cancelled) (?:execution|the (?:operation|tool|call)|this (?:operation|tool|call))/i,
  /^(?:Error: )?The user (?:has )?(?:rejected|denied|declined) (?:permission to use this|this tool call|the tool call|this action|this command)/i,
];

/** Introduces the user's own words in a rejection. */
const REFUSAL_WORDS = /(?:the user said|user feedback|with (?:the following )?feedback|feedback)[:：]\s*/i;

/** The user's comment on rejecting a tool call; an empty string for none, undefined if the result is not a rejection. */
export function refusalIn(result: string): string | undefined {
  const head = result.slice(0, 2_000).trimStart();
  if (!REFUSALS.some((refusal) => refusal.test(head))) return undefined;
  const marker = REFUSAL_WORDS.exec(head);
  return marker === null ? '' : head.slice(marker.index + marker[0].length).trim();
}

/** Addresses of pull requests and issues in a text, each once. */
export function linksIn(text: string): string[] {
  const links = new Set<string>();
  for (const match of text.matchAll(
    /https:\/\/[\w.-]{1,80}\/[\w./-]{1,120}\/(?:pull|issues|merge_requests)\/\d{1,8}/g,
  )) {
    links.add(match[0]);
  }
  return [...links];
}
