// What a call did, in words, and what may be quoted of it.

import type { CallView } from '../protocol/item.ts';
import type { CallMeaning, FileAction } from './calls/calls.ts';
import { moreRows } from './calls/changes.ts';
import { objectRows } from '../text/json-rows.ts';
import { isTraceHead, readsFailed, saysPassed, stripAnsi, tellingLines } from './outputs/outputs.ts';
import { redact } from '../text/redact.ts';
import { clip, detached, oneLine } from '../text/sentences.ts';
import { scriptRows } from '../shell/scripts.ts';

/** What was done to a file, in words. */
export function phraseOf(action: FileAction['action'], path: string, to: string | undefined): string {
  if (action === 'move') return `moved ${path} to ${to ?? path}`;
  if (action === 'restore') return `had git put back ${path}`;
  return `${{ edit: 'edited', create: 'wrote', delete: 'deleted', read: 'read' }[action]} ${path}`;
}

/**
 * How a run ended, in words behind it; nothing where that needs no word.
 * @param telling the lines that tell how it went
 * @param isKnown whether the producer says how it ended
 */
export function resultPhrase(failed: boolean, telling: readonly string[], isKnown: boolean): string {
  const line = failed ? telling[0] : (telling.find(readsFailed) ?? countsIn(telling));
  const said = line === undefined || line === '' || /^ok\s/.test(line) ? '' : clip(oneLine(line), 140);
  if (failed) return ` → failed${said === '' ? '' : `: ${said}`}`;
  if (said === '') return isKnown ? '' : ' → outcome not known';
  return readsFailed(said) || !(isKnown || saysPassed(said)) ? ` → said ${said}` : ` → ok: ${said}`;
}

/** Characters of a count that is told with the one before it: `10 pass, 0 fail`. */
const SHORT_COUNT = 24;

/** The last count of a run, with the one before it where both are short. */
function countsIn(telling: readonly string[]): string | undefined {
  const last = telling.slice(-2);
  return last.every(({ length }) => length <= SHORT_COUNT) ? last.join(', ') : last.at(-1);
}

/** How a harness says of a command that it runs on, or was ended before its end. @source Copilot CLI, Claude Code */
const UNENDED =
  /^\s*<?command (?:with \S{1,20} \S{1,40} (?:is )?|is )?(still running|running in (?:the )?background|stopped)\b/i;
/** What stands at the end of what was stopped by somebody. @source pi, Claude Code */
const STOPPED =
  /(?:^|\n)[^\S\n]*(?:Command aborted|<error>Command was aborted before completion<\/error>)\s*$/;
const HELP = /(?:^|\s)(?:--help|-h|help)(?:\s|$)/;
/** Heads of the parts of a text that says how a program is called. */
const HELP_PARTS =
  /^(?:usage|(?:available |global |core )?(?:commands|flags|options|subcommands|arguments))\b[^\n]{0,80}:?\s*$/gim;
/** Characters of an output that are looked at for them. */
const HELP_HEAD = 4_000;

/** What a run came to that neither went well nor failed by itself, in words behind it; undefined for others. */
export function otherEnd(
  parts: readonly string[],
  output: string,
  { failed }: { readonly failed: boolean },
): string | undefined {
  if (STOPPED.test(output.slice(-200))) return ' → stopped';
  if (failed) return undefined;
  const unended = UNENDED.exec(output)?.[1];
  if (unended !== undefined) return /stopped/i.test(unended) ? ' → stopped' : ' → still running';
  const [only = '', more] = parts;
  const head = output.slice(0, HELP_HEAD);
  const mayHelp = more === undefined && (head.includes('sage') || head.includes('USAGE'));
  if (!mayHelp || HELP.test(only)) return undefined;
  return [...head.matchAll(HELP_PARTS)].length > 1 ? ' → printed its help only' : undefined;
}

/** Characters of a call that may be quoted, where it is no script. */
const MAX_QUOTABLE_CALL = 1_000;

/** What tells what a call was for: its script, or the tool with what it was given. Of an edit the file tells that. */
export function quotableOf(call: CallView, { command, files, plan, text }: CallMeaning): string | undefined {
  if (command !== undefined) return quotableScript(command);
  if (plan !== undefined || files.length > 0) return undefined;
  return redact(`${call.name} ${oneLine(text.slice(0, MAX_QUOTABLE_CALL))}`);
}

/** The commands of a script: a line of a text that they are given would read as a command when it is quoted alone. */
export function quotableScript(script: string): string {
  return redact(script.includes('\n') ? scriptRows(script).commands : script);
}

/** Characters at the head of an output in which it says something, up to which it is short, and that are told of it. */
const BEGINNING_SOUGHT = 600;
const BEGINNING_LENGTH = 90;

/** Two letters of any script. */
const WORD = /\p{L}{2}/u;

/**
 * How an output begins: its first line that holds a word, of a short one the next as well as they fit and how many there are
 * more; of JSON its objects; `nothing` where there is none.
 * @param isRead whether it is the text of a file, of which the first line tells enough
 */
export function beginningOf(output: string, isRead = false): string {
  const [first = 'nothing', ...rest] = (isRead ? undefined : objectRows(output)) ?? firstRows(output, isRead);
  let text = first;
  let told = 0;
  for (; told < rest.length; told++) {
    const longer = `${text} | ${rest[told] ?? ''}`;
    if (longer.length > BEGINNING_LENGTH) break;
    text = longer;
  }
  const more = moreRows(rest.length - told).map((row) => ` ${row}`);
  return detached(`${clip(redact(text), BEGINNING_LENGTH)}${more.join('')}`);
}

/** The first line of an output that holds a word, and those behind it of one that is short. */
function firstRows(output: string, isRead: boolean): readonly string[] {
  const head = stripAnsi(output.slice(0, BEGINNING_SOUGHT)).trim();
  let first: string | undefined;
  for (let from = 0; from < head.length;) {
    const end = head.indexOf('\n', from);
    const row = head.slice(from, end < 0 ? head.length : end).trim();
    from = end < 0 ? head.length : end + 1;
    if (UNENDED.test(row)) return [row.replace(/^<|>$/g, '')];
    if (/^<[^<>]*>$/.test(row)) continue;
    if (isTraceHead(row)) return tellingLines(output, true, 1);
    first ??= row;
    if (!WORD.test(row)) continue;
    const isShort = !isRead && output.length <= BEGINNING_SOUGHT;
    const rest = isShort ? head.slice(from).split('\n') : [];
    return [row, ...rest.map((one) => one.trim()).filter((one) => WORD.test(one))];
  }
  return first === undefined ? [] : [first];
}
