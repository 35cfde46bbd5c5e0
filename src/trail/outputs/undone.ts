// What a script was told to do to files and did not, by what it printed: a write of which its program says that it could
// not be made, and a look between two words of `echo` between which nothing stands.

import type { CallMeaning } from '../calls/calls.ts';
import { fileActionsOf, joinPath } from '../../shell/scripts.ts';
import type { ShellFileAction, SimpleCommand } from '../../shell/scripts.ts';

/** What an output holds of which a program complains. */
const COMPLAINS = ['irectory', 'ermission denied', 'ead-only file system', 'sed: '];

/** `sed: a.ts: No such file or directory`, `/bin/sh: 1: cannot create a/b: Directory nonexistent`, `Can't open a.pl: …`. */
const COMPLAINT =
  /^(?:(?:\/\S*\/)?([\w.-]{1,40}): |(Can't) open )(.{0,500}?)[:']? ?(?:No such file or directory|Permission denied|(?:Is|Not) a directory|Read-only file system|Directory nonexistent)/i;
/** An order that sed does not understand: it did none of them. */
const MISSPELLED = /^sed: (?:-e expression #\d+|1: ")/;

const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh']);

/** A program that says of something that it could not be had. */
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

/** Whether a complaint says of an action of a command that it was not done: a redirection is its shell's. */
function denies({ program, about }: Complaint, command: SimpleCommand, action: ShellFileAction): boolean {
  const { words, redirects, directory } = command;
  const isOf = (word: string): boolean => [action.path, action.to].includes(joinPath(directory, word));
  if (SHELLS.has(program)) return redirects.some(({ target }) => isOf(target) && names(about, target));
  if (words[0] !== program) return false;
  if (MISSPELLED.test(about)) return true;
  // What copies makes nothing of what is not there.
  return words.slice(1).some((word) => (program === 'cp' || isOf(word)) && names(about, word));
}

/** Whether a text names a path by itself. */
function names(text: string, path: string): boolean {
  return path !== '' && ` ${text} `.includes(` ${path} `);
}

/** What an `echo` says that parts what a script prints, or undefined: what a shell replaces in it is not known. */
function markOf({ words: [program, ...words], redirects }: SimpleCommand): string | undefined {
  if (program !== 'echo' || redirects.length > 0 || /^-[neE]+$/.test(words[0] ?? '')) return undefined;
  const text = words.join(' ').trim();
  return text === '' || /[$`\\\n]/.test(text) ? undefined : text;
}

const NONE: ReadonlySet<SimpleCommand> = new Set();

/**
 * The commands of a script that printed nothing before the next mark, or behind the last. None where the marks do not stand
 * as they were given: a loop, a condition, a pipe.
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
 * Which actions of a script were not done, as far as what it printed says so: their places among those that its words tell.
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
