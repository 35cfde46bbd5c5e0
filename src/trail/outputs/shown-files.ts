// What the output of a call shows of files. A file given to a search was not read, hits belong to the file that their row
// names, and a missing file was not read.

import type { CallMeaning, FileAction } from '../calls/calls.ts';
import { codeAt } from '../../tokens/characters.ts';
import { withoutNotices } from './excerpts.ts';
import { extentOf } from '../calls/extent.ts';
import { fileActionsOf } from '../../shell/programs.ts';
import { hasExtension } from '../../shell/file-actions.ts';
import { joinPath } from '../../shell/scripts.ts';
import { searchedOf } from '../../shell/searches.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import { undoneActions } from './skipped-actions.ts';

/** Displayed text of one file. */
export interface ShownText {
  readonly path: string;
  /** For a search, the matching rows, each after its number and a tab if it has a number. */
  readonly text: string;
}

/** What a finished call did to files and showed of them. */
export interface ShownFiles {
  /** Without reads that did not take place. */
  readonly actions: readonly FileAction[];
  /** The output as the text of a file, if it is the text of just one, and the search hits. */
  readonly texts: readonly ShownText[];
  /** Paths that the call tried to read but that do not exist. */
  readonly missing: readonly string[];
  /** Whether only a fallback of the script says so, which also applies if everything around the file is gone. */
  readonly isReportedMissing: boolean;
}

/** Whether a call only read files. */
export function onlyReads({ files, simple = [] }: CallMeaning): boolean {
  if (files.some(({ action }) => action !== 'read')) return false;
  return files.length > 0 || simple.some((one) => searchedOf(one)?.some(hasExtension) === true);
}

const NOTHING: ShownFiles = { actions: [], texts: [], missing: [], isReportedMissing: false };

/** What a call did to files and showed of them; paths as in its actions. */
export function shownFiles(meaning: CallMeaning, output: string, failed: boolean): ShownFiles {
  return meaning.command === undefined
    ? shownByTool(meaning, output, failed)
    : shownByScript(meaning, output);
}

/** How read tools report a missing file. @source session files of Claude Code, pi, opencode, Gemini CLI and OpenHands */
const NO_FILE =
  /^(?:<tool_use_error>|Error(?: reading file)?: ?)*(?:File (?:does not exist|not found)|ENOENT|No such file|(?:Invalid `?path`? parameter|The (?:file|path)|File|Path)\b.{0,300} (?:does not exist|not found))/i;

/** How tools that write whole files report that the file existed before. @source session files of Claude Code and Gemini CLI */
const REWRITTEN = /^(?:The file .{1,300} has been (?:updated|overwritten)|Successfully overwrote file)/;

function shownByTool({ files }: CallMeaning, output: string, failed: boolean): ShownFiles {
  const [only] = files;
  if (only?.action === 'read' && NO_FILE.test(output.slice(0, 500)))
    return { ...NOTHING, missing: [only.path] };
  // A failed edit tool wrote nothing.
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

/** A script may fail late, after it has read and written. */
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
    isReportedMissing: isSaidMissing,
  };
}

/** Whether a command passes on only a part of another's output. */
function cutsOff(command: SimpleCommand): boolean {
  return (
    /^(?:head|tail|sed|awk|grep|rg|cut)$/.test(command.words[0] ?? '') && fileActionsOf(command).length === 0
  );
}

/** A read with the extent that the reader reports. */
function withExtent(file: FileAction, output: string): FileAction {
  if (file.action !== 'read') return file;
  const extent = extentOf(output, file.range?.from);
  return { ...file, extent, range: extent.range ?? file.range };
}

/** An output of this many characters may have been cut. @source SCANNED_HEAD in outputs.ts, twice */
const MAY_BE_CUT = 24_000;
/** Blank rows that a harness may have trimmed from either end of an output. */
const TRIMMED = 4;

/** A read that shows fewer lines than requested reached the end of the file. */
function toItsEnd(file: FileAction, text: string): FileAction {
  const { range, extent } = file;
  if (file.action !== 'read' || range?.to === undefined || text.trim() === '') return file;
  if (extent?.hasGaps === true || extent?.range !== undefined || text.length >= MAY_BE_CUT) return file;
  const shown = text.trimEnd().split('\n').length;
  // A single line may be the reader's own message: that it showed the file before, or that the file is shorter.
  if (shown === 1 || shown + TRIMMED >= range.to - range.from + 1) return file;
  return { ...file, range: range.from === 1 ? undefined : { from: range.from } };
}

/** The rows of an output, without those of `echo`, the shell and reports of missing files. */
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

/** What `echo` prints does not belong to a file. */
function withoutEchoes(rows: readonly string[], simple: readonly SimpleCommand[]): readonly string[] {
  const echoes = simple.filter(({ words }) => words[0] === 'echo' || words[0] === 'printf');
  if (echoes.length === 0) return rows;
  const echoed = echoes.flatMap(({ words }) =>
    words
      .slice(1)
      .filter((word) => !/^-[neE]+$/.test(word))
      .join(' ')
      .split(/\\n|\n/)
      .map((row) => row.trim()),
  );
  const echoedRows = new Set(echoed);
  // The value of a shell variable is unknown: `exit: $?`.
  const begun = echoed.flatMap((row) => /^[^$]{4,}(?=\$)/.exec(row)?.[0] ?? []);
  return rows.filter(
    (row) =>
      !echoedRows.has(row.trim()) &&
      !begun.some((head) => row.startsWith(head) && row.length < head.length + 40),
  );
}

/** Whether a command prints that something before it is missing. */
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

/** How a shell reports a pattern without a match: `zsh:1: no matches found: src/*.json`. */
const NO_MATCHES = ': no matches found: ';

/** The path that a row reports as missing, or undefined. */
function absentPath(row: string): string | undefined {
  if (row.length > 700 || !MAY_BE_ABSENT.test(row)) return undefined;
  return ABSENT_LAST.exec(row)?.[1] ?? ABSENT.exec(row)?.[1];
}

/** Programs that print nothing, or nothing that resembles the text of a file. */
const SILENT = new Set(
  'cd true false : set export mkdir sleep test [ pwd echo printf wc touch rm'.split(' '),
);
const FILTERS = new Set('head tail sort uniq cut tr sed awk cat nl less tee column'.split(' '));

/** The commands that may print output of their own. A search without a path filters another's output. */
function printersAmong(simple: readonly SimpleCommand[]): readonly SimpleCommand[] {
  const printers = simple.filter(isPrinting);
  return printers.filter((one, at) => at === 0 || searchedOf(one)?.length !== 0);
}

/** Whether a command may print output of its own: it does not just filter or redirect into a file. */
function isPrinting(command: SimpleCommand): boolean {
  const [program = ''] = command.words;
  if (SILENT.has(program)) return false;
  if (command.redirects.some(({ operator, target }) => /^>>?$/.test(operator) && target !== '/dev/null'))
    return false;
  const looks = fileActionsOf(command);
  if (looks.length > 0) return looks.some(({ action }) => action === 'read' || action === 'create');
  return !FILTERS.has(program);
}

/** The text of the file passed to the only command that prints, if it was given one. */
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

/** Most files that are shown with their hits: more make a listing. */
const MAX_FOUND = 40;

/** A search by its arguments. */
interface SearchCommand {
  readonly operands: readonly string[];
  readonly directory: string | undefined;
}

/** Search hits by file: rows belong to the file that they name or, without a name, to the only file searched. */
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
    const hit = name === undefined ? row : row.slice(name.length + 1);
    const text = isNumbered(hit) ? hit.replace(NUMBER, '$1\t') : hit;
    const lines = found.get(path);
    if (lines !== undefined) lines.push(text);
    else if (found.size < MAX_FOUND) found.set(path, [text]);
  }
  return [...found].map(([path, lines]) => ({ path, text: lines.join('\n') }));
}

/** A row's number, before a hit or its context. */
const NUMBER = /^(\d{1,7})[:-]/;

function isNumbered(row = ''): boolean {
  const first = codeAt(row, 0);
  return first >= 0x30 && first <= 0x39 && NUMBER.test(row);
}

/** File names in search rows: `src/a.ts:12: …` for a hit, `src/a.ts-13- …` for context. */
class Names {
  readonly #searches: readonly SearchCommand[];
  readonly #paths = new Map<string, string | undefined>();
  #newest = '';

  constructor(searches: readonly SearchCommand[]) {
    this.#searches = searches;
  }

  /** The path of a name, relative to where the script ran; undefined if it names nothing that was searched. */
  pathOf(name: string): string | undefined {
    if (this.#paths.has(name)) return this.#paths.get(name);
    if (name.length > 300 || !hasExtension(name)) return undefined;
    const search = this.#searches.find((one) => isCovered(name, one));
    const path = search === undefined ? undefined : joinPath(search.directory, name.replace(/^\.\//, ''));
    this.#paths.set(name, path);
    return path;
  }

  /** The name at the head of a row. A context row names a file that an earlier row named. */
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

/** The file given to a search, if it was given nothing else. */
function soleFile({ operands, directory }: SearchCommand): string | undefined {
  const [only = ''] = operands;
  return operands.length === 1 && hasExtension(only) && !/[*?[{$]/.test(only)
    ? joinPath(directory, only)
    : undefined;
}
