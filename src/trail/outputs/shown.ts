// What the output of a call shows of files: a file that a search is given is not read, what is found belongs to the file
// that its row names, and of a file that is not there nothing was read.

import type { CallMeaning, FileAction } from '../calls/calls.ts';
import { codeAt } from '../../tokens/characters.ts';
import { withoutNotices } from './excerpts.ts';
import { extentOf } from '../calls/extent.ts';
import { fileActionsOf, hasExtension, joinPath, searchedOf } from '../../shell/scripts.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import { undoneActions } from './undone.ts';

/** Text of one file that was shown. */
export interface ShownText {
  readonly path: string;
  /** Of a search the rows that it found, each behind its number and a tab where it has one. */
  readonly text: string;
}

/** A call that ended, by what it did to files and showed of them. */
export interface ShownFiles {
  /** Without those that only would have been read. */
  readonly actions: readonly FileAction[];
  /** The output as the text of a file, where it is that of one and nothing else, and what searches found. */
  readonly texts: readonly ShownText[];
  /** Paths that were to be looked at and are not there. */
  readonly missing: readonly string[];
  /** Whether only a fallback of the script says so, which holds as well where all that lies around is gone. */
  readonly isSaidMissing: boolean;
}

/** Whether all that a call did was to look into files. */
export function onlyLooks({ files, simple = [] }: CallMeaning): boolean {
  if (files.some(({ action }) => action !== 'read')) return false;
  return files.length > 0 || simple.some((one) => searchedOf(one)?.some(hasExtension) === true);
}

const NOTHING: ShownFiles = { actions: [], texts: [], missing: [], isSaidMissing: false };

/** What a call did to files and showed of them, paths as its actions name them. */
export function shownFiles(meaning: CallMeaning, output: string, failed: boolean): ShownFiles {
  return meaning.command === undefined
    ? shownByTool(meaning, output, failed)
    : shownByScript(meaning, output);
}

/** How tools that read say that there is no such file. @source session files of Claude Code, pi, opencode, Gemini CLI and OpenHands */
const NO_FILE =
  /^(?:<tool_use_error>|Error(?: reading file)?: ?)*(?:File (?:does not exist|not found)|ENOENT|No such file|(?:Invalid `?path`? parameter|The (?:file|path)|File|Path)\b.{0,300} (?:does not exist|not found))/i;

/** How tools that write a file whole say that it was there before. @source session files of Claude Code and Gemini CLI */
const REWRITTEN = /^(?:The file .{1,300} has been (?:updated|overwritten)|Successfully overwrote file)/;

function shownByTool({ files }: CallMeaning, output: string, failed: boolean): ShownFiles {
  const [only] = files;
  if (only?.action === 'read' && NO_FILE.test(output.slice(0, 500)))
    return { ...NOTHING, missing: [only.path] };
  // An edit tool that failed wrote nothing.
  if (failed) return NOTHING;
  const isRead = only?.action === 'read' && files.length === 1;
  const isRewrite = only?.action === 'create' && REWRITTEN.test(output.slice(0, 500));
  const text = isRead ? withoutNotices(output) : '';
  return {
    ...NOTHING,
    actions: isRead
      ? [toItsEnd(withExtent(only, output), text)]
      : isRewrite
        ? [{ ...only, isRewrite }]
        : files,
    texts: isRead ? [{ path: only.path, text }] : [],
  };
}

/** A script may fail late and have read and written before. */
function shownByScript(meaning: CallMeaning, output: string): ShownFiles {
  const { simple = [], guarded = [], directory } = meaning;
  const undone = undoneActions(meaning, output);
  const files = meaning.files.filter((_, at) => !undone.has(at));
  const looks = meaning.files.filter(({ action }) => action === 'read');
  const searches = simple.filter((one) => searchedOf(one) !== undefined);
  if (looks.length + searches.length === 0) return { ...NOTHING, actions: files };
  const { rows, absent } = printedRows(output, [...simple, ...guarded]);
  const isAbsent = (path: string): boolean => absent.some((one) => path === one || path.endsWith(`/${one}`));
  const hasPrinted = rows.some((row) => row.trim() !== '');
  const mayBePart = simple.some(cutsOff);
  const actions = files
    .filter(({ action, path }) => action !== 'read' || (hasPrinted && !isAbsent(path)))
    .map((file) => ({ ...withExtent(file, output), mayBePart }));
  const searched = searches.flatMap((one) =>
    (searchedOf(one) ?? [])
      .filter(hasExtension)
      .map((path) => joinPath(directory, joinPath(one.directory, path))),
  );
  const paths = looks.map(({ path }) => path);
  const isSaidMissing = paths.length === 1 && !hasPrinted && guarded.some(saysMissing);
  const missing = isSaidMissing ? paths : [...paths, ...searched].filter(isAbsent);
  const printers = printersAmong(simple);
  const found = foundTexts(printers, rows).map((one) => ({ ...one, path: joinPath(directory, one.path) }));
  const whole = wholeText(printers, { actions, guarded, rows });
  const shownWhole = mayBePart ? undefined : whole[0];
  return {
    actions: actions.map((file) => (file.path === shownWhole?.path ? toItsEnd(file, shownWhole.text) : file)),
    texts: [...whole, ...found],
    missing: [...new Set(missing)],
    isSaidMissing,
  };
}

/** Whether a command passes on a part of what another prints. */
function cutsOff(command: SimpleCommand): boolean {
  return (
    /^(?:head|tail|sed|awk|grep|rg|cut)$/.test(command.words[0] ?? '') && fileActionsOf(command).length === 0
  );
}

/** A read with how much the reader says that it showed. */
function withExtent(file: FileAction, output: string): FileAction {
  if (file.action !== 'read') return file;
  const extent = extentOf(output, file.range?.from);
  return { ...file, extent, range: extent.range ?? file.range };
}

/** Characters of an output from which on it may have been cut. @source SCANNED_HEAD in outputs.ts, twice */
const MAY_BE_CUT = 24_000;
/** Blank rows at either end of what a reader printed that its harness may have taken off. */
const TRIMMED = 4;

/** A read of more lines than were shown went to the end of the file. */
function toItsEnd(file: FileAction, text: string): FileAction {
  const { range, extent } = file;
  if (file.action !== 'read' || range?.to === undefined || text.trim() === '') return file;
  if (extent?.hasGaps === true || extent?.range !== undefined || text.length >= MAY_BE_CUT) return file;
  const shown = text.trimEnd().split('\n').length;
  // A single line may be what the reader says instead of the text: that it was shown before, or is shorter than that.
  if (shown === 1 || shown + TRIMMED >= range.to - range.from + 1) return file;
  return { ...file, range: range.from === 1 ? undefined : { from: range.from } };
}

/** The rows of an output without what `echo` and the shell say and what is said of files that are not there. */
function printedRows(
  output: string,
  simple: readonly SimpleCommand[],
): { readonly rows: readonly string[]; readonly absent: readonly string[] } {
  const all = withoutEchoes(output.split('\n'), simple);
  const rows = output.includes(NO_MATCHES) ? all.filter((row) => !row.includes(NO_MATCHES)) : all;
  if (!MAY_BE_ABSENT.test(output)) return { rows, absent: [] };
  return {
    rows: rows.filter((row) => absentPath(row) === undefined),
    absent: rows.flatMap((row) => absentPath(row)?.replace(/^\.\//, '') ?? []),
  };
}

/** What `echo` prints is no row of a file. */
function withoutEchoes(rows: readonly string[], simple: readonly SimpleCommand[]): readonly string[] {
  const echoes = simple.filter(({ words }) => words[0] === 'echo' || words[0] === 'printf');
  if (echoes.length === 0) return rows;
  const said = echoes.flatMap(({ words }) =>
    words
      .slice(1)
      .filter((word) => !/^-[neE]+$/.test(word))
      .join(' ')
      .split(/\\n|\n/)
      .map((row) => row.trim()),
  );
  const isSaid = new Set(said);
  // What a shell puts in for a variable nobody knows: `exit: $?`.
  const begun = said.flatMap((row) => /^[^$]{4,}(?=\$)/.exec(row)?.[0] ?? []);
  return rows.filter(
    (row) =>
      !isSaid.has(row.trim()) && !begun.some((head) => row.startsWith(head) && row.length < head.length + 40),
  );
}

/** Whether a command says of what was looked at before it that it is not there. */
function saysMissing({ words }: SimpleCommand): boolean {
  return (
    words[0] === 'echo' &&
    /\b(?:not? \S|missing|none\b|does(?:n't| not) exist)/i.test(words.slice(1).join(' '))
  );
}

/** `cat: a: No such file or directory`, `sed: can't read a: …`, `head: cannot open 'a' for reading: …`, `rg: a: … (os error 2)`. */
const ABSENT =
  /^[\w./-]{1,60}: (?:line \d{1,6}: )?(?:can(?:no|')t (?:read|open|access|stat)(?: file)? )?['"‘`]?([^\n]{1,300}?)['"’`]?(?: for reading)?:? \(?(?:No such file or directory|IO error for operation on )/i;
/** `zsh: no such file or directory: a`. */
const ABSENT_LAST = /^[\w./-]{1,60}:(?:\d{1,6}:)? no such file or directory: ([^\n]{1,300})$/;
const MAY_BE_ABSENT = /no such file or directory/i;

/** What a shell says of a pattern that matches no file: `zsh:1: no matches found: src/*.json`. */
const NO_MATCHES = ': no matches found: ';

/** The path that a row says is not there, or undefined. */
function absentPath(row: string): string | undefined {
  if (row.length > 700 || !MAY_BE_ABSENT.test(row)) return undefined;
  return ABSENT_LAST.exec(row)?.[1] ?? ABSENT.exec(row)?.[1];
}

/** Programs that print nothing, or nothing that reads like the text of a file. */
const SILENT = new Set(
  'cd true false : set export mkdir sleep test [ pwd echo printf wc touch rm'.split(' '),
);
const FILTERS = new Set('head tail sort uniq cut tr sed awk cat nl less tee column'.split(' '));

/** The commands that may print something of their own. A search without a place to look filters what another prints. */
function printersAmong(simple: readonly SimpleCommand[]): readonly SimpleCommand[] {
  const printers = simple.filter(isPrinting);
  return printers.filter((one, at) => at === 0 || searchedOf(one)?.length !== 0);
}

/** Whether a command may print something of its own: not one that only passes on, nor one whose output goes into a file. */
function isPrinting(command: SimpleCommand): boolean {
  const [program = ''] = command.words;
  if (SILENT.has(program)) return false;
  if (command.redirects.some(({ operator, target }) => /^>>?$/.test(operator) && target !== '/dev/null'))
    return false;
  const looks = fileActionsOf(command);
  if (looks.length > 0) return looks.some(({ action }) => action === 'read' || action === 'create');
  return !FILTERS.has(program);
}

/** The text of the file that the only command which prints was given, if it was given one. */
function wholeText(
  printers: readonly SimpleCommand[],
  {
    actions,
    guarded,
    rows,
  }: {
    readonly actions: readonly FileAction[];
    readonly guarded: readonly SimpleCommand[];
    readonly rows: readonly string[];
  },
): readonly ShownText[] {
  const [printer] = printers;
  if (printer === undefined || printers.length > 1) return [];
  if (guarded.some((one) => fileActionsOf(one).length > 0)) return [];
  const looks = fileActionsOf(printer);
  const last = actions.at(-1);
  if (looks.length !== 1 || looks[0]?.action !== 'read' || last?.action !== 'read') return [];
  return last.path.endsWith(looks[0].path)
    ? [{ path: last.path, text: withoutNotices(rows.join('\n')) }]
    : [];
}

/** Files that are told with what a search found in them: more is a listing. */
const MAX_FOUND = 40;

/** A search, by what it was given. */
interface SearchCommand {
  readonly operands: readonly string[];
  readonly directory: string | undefined;
}

/** What searches found, by file: rows belong to the file that they name, and to the only one that was given where they name none. */
function foundTexts(printers: readonly SimpleCommand[], rows: readonly string[]): readonly ShownText[] {
  const searches = printers.flatMap((command): SearchCommand[] => {
    const operands = searchedOf(command)?.map((path) =>
      path.replace(/^\.\/(?=.)/, '').replace(/(?<=.)\/$/, ''),
    );
    return operands === undefined ? [] : [{ operands, directory: command.directory }];
  });
  const [search] = searches;
  if (search === undefined) return [];
  const names = new Names(searches);
  const found = new Map<string, string[]>();
  let under = printers.length === 1 ? soleFile(search) : undefined;
  for (const [at, row] of rows.entries()) {
    if (row === '' || row === '--') continue;
    const heading = isNumbered(rows[at + 1]) ? names.pathOf(row) : undefined;
    if (heading !== undefined) {
      under = heading;
      continue;
    }
    const name = names.before(row);
    const path = name === undefined ? under : names.pathOf(name);
    if (path === undefined) continue;
    const said = name === undefined ? row : row.slice(name.length + 1);
    const text = isNumbered(said) ? said.replace(NUMBER, '$1\t') : said;
    const lines = found.get(path);
    if (lines !== undefined) lines.push(text);
    else if (found.size < MAX_FOUND) found.set(path, [text]);
  }
  return [...found].map(([path, lines]) => ({ path, text: lines.join('\n') }));
}

/** The number of a row, before what was found there or beside it. */
const NUMBER = /^(\d{1,7})[:-]/;

function isNumbered(row = ''): boolean {
  const first = codeAt(row, 0);
  return first >= 0x30 && first <= 0x39 && NUMBER.test(row);
}

/** Files as rows of searches name them: `src/a.ts:12: …` where something was found, `src/a.ts-13- …` beside it. */
class Names {
  readonly #searches: readonly SearchCommand[];
  readonly #paths = new Map<string, string | undefined>();
  #newest = '';

  constructor(searches: readonly SearchCommand[]) {
    this.#searches = searches;
  }

  /** The path of a name, from where the script ran; undefined where it names nothing that was searched. */
  pathOf(name: string): string | undefined {
    if (this.#paths.has(name)) return this.#paths.get(name);
    if (name.length > 300 || !hasExtension(name)) return undefined;
    const search = this.#searches.find((one) => isCovered(name, one));
    const path = search === undefined ? undefined : joinPath(search.directory, name.replace(/^\.\//, ''));
    this.#paths.set(name, path);
    return path;
  }

  /** The name at the head of a row. Beside what was found stands a name that stood before a row already. */
  before(row: string): string | undefined {
    const name = row.slice(0, Math.max(0, row.indexOf(':')));
    if (this.pathOf(name) !== undefined) this.#newest = name;
    else if (this.#newest === '' || !row.startsWith(`${this.#newest}-`)) return undefined;
    return this.#newest;
  }
}

function isCovered(name: string, { operands }: SearchCommand): boolean {
  const path = name.replace(/^\.\//, '');
  if (operands.length === 0) return !/^[/~]/.test(path);
  return operands.some((operand) => {
    const [fixed = ''] = operand.split(/[*?[{]/, 1);
    if (fixed !== operand) return path.startsWith(fixed);
    return operand === path || (operand === '.' && !/^[/~]/.test(path)) || path.startsWith(`${operand}/`);
  });
}

/** The file that a search was given, where it was given one and nothing else. */
function soleFile({ operands, directory }: SearchCommand): string | undefined {
  const [only = ''] = operands;
  return operands.length === 1 && hasExtension(only) && !/[*?[{$]/.test(only)
    ? joinPath(directory, only)
    : undefined;
}
