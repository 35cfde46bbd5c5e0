// Whether the output reveals how a command ended: a pipe has the status of its last program, a list that of its last command.

import { saysPassed } from './outputs.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';

/** A script that ran without a reported failure. */
export interface QuietScript {
  readonly script: string;
  readonly simple: readonly SimpleCommand[];
  readonly output: string;
}

/** Whether the status of any of some commands in a script is unknown and its output does not show success either. */
export function isStatusHidden(of: readonly SimpleCommand[], run: QuietScript): boolean {
  const hidden = of.filter((one) => isHidden(one, run));
  return hidden.length > 0 && !showsSuccess(run, { of, hidden });
}

/** Whether a script printed a status other than 0 for one of some commands: `npm test; echo "exit: $?"`. */
export function printsFailure(of: readonly SimpleCommand[], run: Omit<QuietScript, 'script'>): boolean {
  return printedStatuses(of, run).some((status) => status !== 0);
}

/** A script continues after it in any case: `|| true`. */
const GUARD = /\|\|\s*(?:true|:|echo|printf)(?:[\s;)]|$)/;

function isHidden(one: SimpleCommand, { script, simple }: QuietScript): boolean {
  // What follows a condition shows its result.
  if (one.joint === 'inner') return false;
  const at = simple.indexOf(one);
  const sets = (option: RegExp): boolean =>
    simple.some(({ words }) => words[0] === 'set' && words.some((word) => option.test(word)));
  if (simple[at + 1]?.joint === '|' && !sets(/^pipefail$/)) return true;
  if (at < simple.findLastIndex(({ joint }) => joint === ';') && !sets(/^-\w*e/)) return true;
  return script.includes('||') && GUARD.test(script.slice(script.lastIndexOf(one.words[0] ?? '')));
}

/** Filters that pass the end of an output, and those that pass some part of any output. */
const ENDS = new Set(['tail', 'tee', 'cat']);
const WINDOWS = new Set([...ENDS, 'head']);
/** Discards error output. */
const SILENCED = /(?:2|&)>+\s*\/dev\/null/;
/** What represents an empty output. @source pi, Claude Code */
const NOTHING = /^\s*(?!\s)(?:\(no output\)|\(Bash completed with no output\))?\s*$/;

/** A line that no checker prints after finding something: its count, or its last word. */
const SAYS_WELL =
  /^\s*(?:PASS(?:ED)?\s*$|OK(?: \(.{1,80}\))?\s*$|ok\s+\S+\s+(?:[\d.]+m?s\b|\(cached\))|test result: ok\b|# fail 0\b|Success: no issues|All checks passed|All matched files use|Compiled successfully|BUILD SUCCESS|Build succeeded|[✓✔] built in|Finished (?:`|dev\b|release\b|test\b)|No (?:issues|errors|problems|warnings) found\b)|(?:^|[^\d.,])0 (?:issues|errors|problems|failures|failed|fail|offenses)\b/i;

/** Programs that print a failure at the end if what they run fails. */
const COMPLAINS_LAST = /^(?:npm|pnpm|yarn|bun|make|mise|just|cargo)$/;

function showsSuccess(
  run: QuietScript,
  { of, hidden }: { readonly of: readonly SimpleCommand[]; readonly hidden: readonly SimpleCommand[] },
): boolean {
  const { script, simple, output } = run;
  const statuses = printedStatuses(of, run);
  if (statuses.length > 0) return statuses.every((status) => status === 0);
  const shows = (one: SimpleCommand, filters: ReadonlySet<string>): boolean =>
    simple
      .slice(simple.indexOf(one) + 1)
      .every(({ words, joint }) => joint === '|' && filters.has(words[0] ?? ''));
  const isWhole = !SILENCED.test(script);
  if (isWhole && NOTHING.test(output)) return hidden.every((one) => shows(one, WINDOWS));
  if (isWhole && hidden.every((one) => COMPLAINS_LAST.test(one.words[0] ?? '') && shows(one, ENDS)))
    return true;
  return output
    .split('\n')
    .some((line) => line.length < LONGEST_LINE && (SAYS_WELL.test(line) || saysPassed(line)));
}

/** Characters of a line in which a checker reports its result; longer lines are data. */
const LONGEST_LINE = 2_000;

/** How a shell refers to the status of the previous command, or of the first one in a pipe. */
const STATUS = /\$\?|\$\{PIPESTATUS\[0\]\}|\$\{pipestatus\[1\]\}/;

/** The statuses that a script prints for some of its commands. */
function printedStatuses(
  of: readonly SimpleCommand[],
  { simple, output }: Omit<QuietScript, 'script'>,
): number[] {
  return simple.flatMap(({ words }, at) => {
    if (words[0] !== 'echo' && words[0] !== 'printf') return [];
    const text = words.slice(1).join(' ');
    const named = STATUS.exec(text);
    const [before] = simple.slice(Math.max(0, at - 1), at);
    if (named === null || before === undefined || (named[0] === '$?' && !of.includes(before))) return [];
    const lead = text.slice(0, named.index).trim();
    const printed = output.lastIndexOf(lead);
    const status = /^\s*(\d{1,3})\b/.exec(output.slice(printed + lead.length))?.[1];
    return printed < 0 || lead === '' || status === undefined ? [] : [Number(status)];
  });
}
