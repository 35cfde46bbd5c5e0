// File operations of a script that did not take place, judging by its output: a write that its program reports as failed, or a
// read between two `echo` marks with nothing between them.

import type { CallMeaning } from '../calls/calls.ts';
import { fileActionsOf } from '../../shell/programs.ts';
import { joinPath } from '../../shell/scripts.ts';
import type { ShellFileAction } from '../../shell/file-actions.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';

/** What an output contains when a program complains. */
const COMPLAINS = ['irectory', 'ermission denied', 'ead-only file system', 'sed: '];

/** `sed: a.ts: No such file or directory`, `/bin/sh: 1: cannot create a/b: Directory nonexistent`, `Can't open a.pl: …`. */
const COMPLAINT =
  /^(?:(?:\/\S*\/)?([\w.-]{1,40}): |(Can't) open )(.{0,500}?)[:']? ?(?:No such file or directory|Permission denied|(?:Is|Not) a directory|Read-only file system|Directory nonexistent)/i;
/** A command that sed does not understand; sed then runs none. */
const MISSPELLED = /^sed: (?:-e expression #\d+|1: ")/;

const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh']);

/** A program's report that something is unavailable. */
interface Complaint {
  readonly program: string;
  readonly about: string;
}

function complaintOf(row: string): Complaint | undefined {
  if (row.length > 700) return undefined;
  if (MISSPELLED.test(row)) return { program: 'sed', about: row };
  const found = COMPLAINT.exec(row);
  return found === null
    ? undefined
    : { program: found[1] ?? 'perl', about: (found[3] ?? '').trim().replaceAll(/['"‘’`]/g, ' ') };
}

/** Whether a complaint means that a command's action did not take place; a redirection belongs to the shell. */
function denies({ program, about }: Complaint, command: SimpleCommand, action: ShellFileAction): boolean {
  const { words, redirects, directory } = command;
  const isOf = (word: string): boolean => [action.path, action.to].includes(joinPath(directory, word));
  if (SHELLS.has(program)) return redirects.some(({ target }) => isOf(target) && names(about, target));
  if (words[0] !== program) return false;
  if (MISSPELLED.test(about)) return true;
  // A copy of something missing creates nothing.
  return words.slice(1).some((word) => (program === 'cp' || isOf(word)) && names(about, word));
}

/** Whether a text names a path on its own. */
function names(text: string, path: string): boolean {
  return path !== '' && ` ${text} `.includes(` ${path} `);
}

/** The text with which an `echo` separates a script's output, or undefined: the values of shell variables are unknown. */
function markOf({ words: [program, ...words], redirects }: SimpleCommand): string | undefined {
  if (program !== 'echo' || redirects.length > 0 || /^-[neE]+$/.test(words[0] ?? '')) return undefined;
  const text = words.join(' ').trim();
  return text === '' || /[$`\\\n]/.test(text) ? undefined : text;
}

const NONE: ReadonlySet<SimpleCommand> = new Set();

/**
 * The commands of a script that printed nothing before the next mark or after the last. None if the marks appear in another
 * order: a loop, a condition, a pipe.
 */
function silentAmong(simple: readonly SimpleCommand[], output: string): ReadonlySet<SimpleCommand> {
  const silent = new Set<SimpleCommand>();
  const marks = simple.map(markOf);
  const given = marks.filter((mark) => mark !== undefined);
  if (given.length === 0) return silent;
  const rows = output.split('\n').map((row) => row.trim());
  const stand = rows.filter((row) => given.includes(row));
  if (stand.join('\n') !== given.join('\n')) return silent;
  let begun = 0;
  let from = 0;
  for (const [at, mark] of [...marks, undefined].entries()) {
    if (mark === undefined && at < simple.length) continue;
    const to = mark === undefined ? rows.length : rows.indexOf(mark, from);
    if (rows.slice(from, to).every((row) => row === ''))
      for (const command of simple.slice(begun, at)) silent.add(command);
    begun = at + 1;
    from = to + 1;
  }
  return silent;
}

/**
 * The script's actions that did not take place, as far as its output shows it: their indexes among the actions that its words
 * name.
 */
export function undoneActions({ files, simple = [] }: CallMeaning, output: string): ReadonlySet<number> {
  const undone = new Set<number>();
  const hasWrites = files.some(({ action }) => action !== 'read');
  const complaints =
    hasWrites && COMPLAINS.some((words) => output.includes(words))
      ? output.split('\n').flatMap((row) => complaintOf(row) ?? [])
      : [];
  const silent = files.length === 0 ? NONE : silentAmong(simple, output);
  if (complaints.length === 0 && silent.size === 0) return undone;
  let at = 0;
  for (const command of simple) {
    for (const action of fileActionsOf(command)) {
      const isUndone =
        action.action === 'read'
          ? silent.has(command)
          : complaints.some((complaint) => denies(complaint, command, action));
      if (isUndone) undone.add(at);
      at++;
    }
  }
  return undone;
}
