// Describes a call in words, and selects what may be quoted from it.

import type { CallView } from '../protocol/item.ts';
import type { CallMeaning, FileAction } from './calls/calls.ts';
import { moreRows } from './calls/changes.ts';
import { objectRows } from '../text/json-rows.ts';
import { isTraceHead, readsFailed, saysPassed, stripAnsi, outcomeLinesOf } from './outputs/outputs.ts';
import { redact } from '../text/redact.ts';
import { clip, detached, oneLine } from '../text/sentences.ts';
import { scriptRows } from '../shell/script-rows.ts';

/** Describes what was done to a file. */
export function phraseOf(action: FileAction['action'], path: string, to: string | undefined): string {
  if (action === 'move') return `moved ${path} to ${to ?? path}`;
  if (action === 'restore') return `had git put back ${path}`;
  return `${{ edit: 'edited', create: 'wrote', delete: 'deleted', read: 'read' }[action]} ${path}`;
}

/**
 * The outcome of a run as a suffix; empty if it needs no words.
 * @param outcomeLines the output lines that show the outcome
 * @param isKnown whether the producer reports how it ended
 */
export function resultPhrase(failed: boolean, outcomeLines: readonly string[], isKnown: boolean): string {
  const line = failed ? outcomeLines[0] : (outcomeLines.find(readsFailed) ?? countsIn(outcomeLines));
  const shown = line === undefined || line === '' || /^ok\s/.test(line) ? '' : clip(oneLine(line), 140);
  if (failed) return ` → failed${shown === '' ? '' : `: ${shown}`}`;
  if (shown === '') return isKnown ? '' : ' → outcome not known';
  return readsFailed(shown) || !(isKnown || saysPassed(shown)) ? ` → said ${shown}` : ` → ok: ${shown}`;
}

/** A count up to this many characters is shown together with the previous one: `10 pass, 0 fail`. */
const SHORT_COUNT = 24;

/** The last count of a run, with the previous one if both are short. */
function countsIn(outcomeLines: readonly string[]): string | undefined {
  const last = outcomeLines.slice(-2);
  return last.every(({ length }) => length <= SHORT_COUNT) ? last.join(', ') : last.at(-1);
}

/** How a harness reports that a command is still running, or was stopped early. @source Copilot CLI, Claude Code */
const UNENDED =
  /^\s*<?command (?:with \S{1,20} \S{1,40} (?:is )?|is )?(still running|running in (?:the )?background|stopped)\b/i;
/** How the output of a stopped call ends. @source pi, Claude Code */
const STOPPED =
  /(?:^|\n)[^\S\n]*(?:Command aborted|<error>Command was aborted before completion<\/error>)\s*$/;
const HELP = /(?:^|\s)(?:--help|-h|help)(?:\s|$)/;
/** Section headings of a usage text. */
const HELP_PARTS =
  /^(?:usage|(?:available |global |core )?(?:commands|flags|options|subcommands|arguments))\b[^\n]{0,80}:?\s*$/gim;
/** Characters of an output that are searched for them. */
const HELP_HEAD = 4_000;

/** How a run ended that neither succeeded nor failed by itself, as a suffix; undefined for others. */
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

/** A call that is not a script may be quoted up to this many characters. */
const MAX_QUOTABLE_CALL = 1_000;

/**
 * The text that says what a call was for: its script, or the tool with its arguments. Edits return nothing: the file says it.
 */
export function quotableOf(call: CallView, { command, files, plan, text }: CallMeaning): string | undefined {
  if (command !== undefined) return quotableScript(command);
  if (plan !== undefined || files.length > 0) return undefined;
  return redact(`${call.name} ${oneLine(text.slice(0, MAX_QUOTABLE_CALL))}`);
}

/** The commands of a script. A line of text passed to them would read as a command when quoted alone. */
export function quotableScript(script: string): string {
  return redact(script.includes('\n') ? scriptRows(script).commands : script);
}

/**
 * Characters at the head of an output that are searched for its beginning. An output up to this length is short; so is what is
 * shown.
 */
const BEGINNING_SOUGHT = 600;
const BEGINNING_LENGTH = 90;

/** Two letters of any writing system. */
const WORD = /\p{L}{2}/u;

/**
 * How an output begins: its first line that holds a word. For a short output also the next lines that fit and the number of
 * those left; for JSON its objects; `nothing` for an empty one.
 * @param isRead whether it is the text of a file, where the first line is enough
 */
export function beginningOf(output: string, isRead = false): string {
  const [first = 'nothing', ...rest] = (isRead ? undefined : objectRows(output)) ?? firstRows(output, isRead);
  let text = first;
  let length = 0;
  for (; length < rest.length; length++) {
    const longer = `${text} | ${rest[length] ?? ''}`;
    if (longer.length > BEGINNING_LENGTH) break;
    text = longer;
  }
  const more = moreRows(rest.length - length).map((row) => ` ${row}`);
  return detached(`${clip(redact(text), BEGINNING_LENGTH)}${more.join('')}`);
}

/** The first line of an output that holds a word, with the lines after it if the output is short. */
function firstRows(output: string, isRead: boolean): readonly string[] {
  const head = stripAnsi(output.slice(0, BEGINNING_SOUGHT)).trim();
  let first: string | undefined;
  for (let from = 0; from < head.length;) {
    const end = head.indexOf('\n', from);
    const row = head.slice(from, end < 0 ? head.length : end).trim();
    from = end < 0 ? head.length : end + 1;
    if (UNENDED.test(row)) return [row.replace(/^<|>$/g, '')];
    if (/^<[^<>]*>$/.test(row)) continue;
    if (isTraceHead(row)) return outcomeLinesOf(output, true, 1);
    first ??= row;
    if (!WORD.test(row)) continue;
    const isShort = !isRead && output.length <= BEGINNING_SOUGHT;
    const rest = isShort ? head.slice(from).split('\n') : [];
    return [row, ...rest.map((one) => one.trim()).filter((one) => WORD.test(one))];
  }
  return first === undefined ? [] : [first];
}
