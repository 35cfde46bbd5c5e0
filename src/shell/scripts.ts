// Shell commands as data: which programs ran with which words, and which files they read, wrote, moved or removed. unbash
// provides the grammar; this file knows only how the common programs use their operands.

import { parse } from 'unbash';
import type { Command, Node, Redirect, Script, Word } from 'unbash';

import { madeFile } from './made-files.ts';
import { scriptEdits } from './script-edits.ts';

/** A closed range of lines, counted from 1; without an end, it extends to the end of the file. */
export interface LineRange {
  readonly from: number;
  readonly to?: number;
}

/** One simple command of a script, without wrappers (`env X=1`, `sudo`, `timeout 5`). */
export interface SimpleCommand {
  /** Program and operands, quotes removed; never empty. */
  readonly words: readonly string[];
  /** The program as given, if its path selects one of several: `/usr/bin/python3`. */
  readonly given: string | undefined;
  /** Variables set for this command only (`X=1`), as written. */
  readonly assignments: readonly string[];
  readonly redirects: readonly ShellRedirect[];
  /** The directory that `cd` changed to, as written, or undefined. */
  readonly directory: string | undefined;
  /** The operator between it and the previous command: `inner` within a condition or a function. */
  readonly joint: Joint;
}

export type Joint = '&&' | '|' | ';' | 'inner';

/** A redirection to or from a file, or a heredoc with its text. */
export interface ShellRedirect {
  readonly operator: string;
  readonly target: string;
  readonly content: string | undefined;
}

/** What a command does to one file. */
export interface ShellFileAction {
  /** `restore`: git restores its version, discarding edits; the path may be a directory. */
  readonly action: 'read' | 'edit' | 'create' | 'delete' | 'move' | 'restore';
  readonly path: string;
  /** The new name of a moved file. */
  readonly to?: string;
  readonly range?: LineRange;
  /** The text written or added, if the command contains it. */
  readonly content?: string;
  /** The editing commands, if the new text is unknown; for `restore`, git's revision, if named. */
  readonly how?: string;
}

/** The parser is quadratic on some nonsense (nested braces); a longer script is data, and its head is enough. */
export const MAX_SCRIPT_LENGTH = 20_000;
const MAX_DEPTH = 8;

/**
 * The simple commands of a script in order, including those inside `bash -lc "…"`, subshells, loops and conditions. Never
 * throws: for an unparsable script it returns the commands before the error.
 */
export function simpleCommands(script: string): SimpleCommand[] {
  return partedScript(script).simple;
}

/** The simple commands of a script, separated from those behind `||`, which may not have run. */
export function partedScript(script: string): { simple: SimpleCommand[]; guarded: SimpleCommand[] } {
  const simple: SimpleCommand[] = [];
  const guarded: SimpleCommand[] = [];
  const walk: ScriptWalk = { found: simple, guarded, directory: undefined, joint: ';', isInner: false };
  collectScript(script.slice(0, MAX_SCRIPT_LENGTH), walk, 0);
  return { simple, guarded };
}

interface ScriptWalk {
  readonly found: SimpleCommand[];
  readonly guarded: SimpleCommand[];
  directory: string | undefined;
  /** How the next command is joined to the previous one. */
  joint: Joint;
  isInner: boolean;
}

function collectScript(script: string, walk: ScriptWalk, depth: number): void {
  if (depth > MAX_DEPTH) return;
  visitAll(parseScript(script)?.commands ?? [], ';', walk, depth);
}

/** Visits consecutive commands with the same joint. */
function visitAll(nodes: readonly Node[], joint: Joint, walk: ScriptWalk, depth: number): void {
  for (const [at, node] of nodes.entries()) {
    if (at > 0) walk.joint = joint;
    visit(node, walk, depth);
  }
}

/** Visits commands that run under a condition, or when called. */
function visitInner(nodes: readonly Node[], walk: ScriptWalk, depth: number): void {
  const wasInner = walk.isInner;
  walk.isInner = true;
  for (const node of nodes) visit(node, walk, depth);
  walk.isInner = wasInner;
}

/** The syntax tree of a script; undefined if it is nonsense that the parser rejects or could stall on. */
export function parseScript(script: string): Script | undefined {
  if (script.length > MAX_SCRIPT_LENGTH || /\{{40}|\({40}/.test(script)) return undefined;
  try {
    return parse(script);
  } catch {
    return undefined;
  }
}

function visit(node: Node, walk: ScriptWalk, depth: number): void {
  switch (node.type) {
    case 'Command':
      visitCommand(node, walk, depth);
      return;
    case 'Statement':
      visit(node.command, walk, depth);
      addRedirects(node.redirects, walk);
      return;
    case 'AndOr':
      for (const [at, child] of node.commands.entries()) {
        const isGuarded = node.operators[at - 1] === '||';
        if (at > 0) walk.joint = node.operators.slice(0, at).includes('||') ? ';' : '&&';
        visit(child, isGuarded ? { ...walk, found: walk.guarded } : walk, depth);
      }
      return;
    case 'Pipeline':
      visitAll(node.commands, '|', walk, depth);
      return;
    case 'CompoundList':
      visitAll(node.commands, ';', walk, depth);
      return;
    case 'If':
      visitInner([node.clause, node.then, ...(node.else === undefined ? [] : [node.else])], walk, depth);
      return;
    case 'While':
      visitAll([node.clause, node.body], ';', walk, depth);
      return;
    case 'For':
    case 'Select':
    case 'ArithmeticFor':
    case 'BraceGroup':
    case 'Coproc':
      visit(node.body, walk, depth);
      return;
    case 'Function':
      visitInner([node.body], walk, depth);
      return;
    case 'Subshell': {
      const outside = walk.directory;
      visit(node.body, walk, depth);
      walk.directory = outside;
      return;
    }
    case 'Case':
      visitInner(
        node.items.map(({ body }) => body),
        walk,
        depth,
      );
      return;
    default:
  }
}

function visitCommand(node: Command, walk: ScriptWalk, depth: number): void {
  const bare = programWords(node);
  const inner = nestedScript(bare);
  if (inner !== undefined) {
    collectScript(inner, walk, depth + 1);
    addRedirects(node.redirects, walk);
    return;
  }
  const [program, operand] = bare;
  if (program === undefined) {
    addRedirects(node.redirects, walk);
    return;
  }
  walk.found.push({
    words: bare,
    given: givenProgram(node, program),
    assignments: assignmentsOf(node),
    redirects: node.redirects.flatMap(fileRedirect),
    directory: walk.directory,
    joint: walk.isInner ? 'inner' : walk.joint,
  });
  if (program === 'cd' && operand !== undefined && operand !== '-') {
    walk.directory = joinPath(walk.directory, operand);
  }
}

/** Program and operands of a command, without quotes and wrappers; empty for a bare assignment. */
export function programWords(node: Command): string[] {
  const words = node.name === undefined ? node.suffix : [node.name, ...node.suffix];
  return withoutWrappers(words.map(wordValue));
}

const NO_WORDS: readonly string[] = [];

/** The variables set before a program, or by a leading `env`. */
function assignmentsOf({ prefix, name, suffix }: Command): readonly string[] {
  const set = prefix.map(({ text }) => text);
  if (!WRAPPERS.has(programName(name?.text ?? ''))) return set.length === 0 ? NO_WORDS : set;
  const program = suffix.findIndex(({ text }) => !isAssignment(text) && !text.startsWith('-'));
  return [
    ...set,
    ...suffix
      .slice(0, Math.max(0, program))
      .map(({ text }) => text)
      .filter(isAssignment),
  ];
}

/** A word that a shell leaves unchanged: no quotes, variables, patterns, escapes. */
const BARE = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/** A word as a program receives it. The parser reads each word again for its value, which nine in ten do not need. */
function wordValue(word: Word): string {
  return BARE.test(word.text) ? word.text : word.value;
}

/** A redirection of a whole group (`{ …; } > f`) has no program of its own. */
function addRedirects(redirects: readonly Redirect[], walk: ScriptWalk): void {
  const files = redirects.flatMap(fileRedirect);
  if (files.length > 0)
    walk.found.push({
      words: [':'],
      given: undefined,
      assignments: NO_WORDS,
      redirects: files,
      directory: walk.directory,
      joint: walk.isInner ? 'inner' : walk.joint,
    });
}

function fileRedirect(redirect: Redirect): ShellRedirect[] {
  if (redirect.operator === '>&' || redirect.operator === '<&') return [];
  const target = redirect.target === undefined ? '' : wordValue(redirect.target);
  const content = redirect.operator.startsWith('<<') ? (redirect.content ?? redirect.body?.value) : undefined;
  return target === '' && content === undefined ? [] : [{ operator: redirect.operator, target, content }];
}

/** Programs that run the rest of their words, with the number of operands that they take themselves. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ['sudo', 0],
  ['env', 0],
  ['command', 0],
  ['exec', 0],
  ['nohup', 0],
  ['time', 0],
  ['nice', 0],
  ['stdbuf', 0],
  ['xvfb', 0],
  ['timeout', 1],
]);

const OPTIONS_WITH_VALUE = new Set(['-u', '-g', '-n', '-k', '-s', '-C', '-h', '-p']);

function withoutWrappers(words: readonly string[]): string[] {
  let at = 0;
  for (;;) {
    while (at < words.length && isAssignment(words[at] ?? '')) at++;
    const own = WRAPPERS.get(programName(words[at] ?? ''));
    if (own === undefined) break;
    at++;
    while ((words[at] ?? '').startsWith('-')) at += OPTIONS_WITH_VALUE.has(words[at] ?? '') ? 2 : 1;
    while (at < words.length && isAssignment(words[at] ?? '')) at++;
    at += own;
  }
  const [program, ...rest] = words.slice(at);
  return program === undefined ? [] : [programName(program), ...rest];
}

function isAssignment(word: string): boolean {
  const equals = word.indexOf('=');
  return equals > 0 && /^\w+$/.test(word.slice(0, equals));
}

/** `/usr/bin/git` is git; a project script keeps its path, which is more specific. */
function programName(word: string): string {
  return /^\/(?:usr\/)?(?:local\/)?s?bin\//.test(word) ? word.slice(word.lastIndexOf('/') + 1) : word;
}

/** Programs that an environment provides in its own version. */
const SEVERAL = /^(?:python|pip|node|npm|npx|ruby|gem|perl|php|java|javac|gcc|g\+\+|clang)[\d.]*$/;

function givenProgram({ name, suffix }: Command, program: string): string | undefined {
  if (!SEVERAL.test(program)) return undefined;
  const given = [...(name === undefined ? [] : [name]), ...suffix].map(({ text }) => text);
  return given.find((word) => word !== program && programName(word) === program);
}

const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh']);

/** The script passed to a shell as an argument: `bash -lc "…"`. */
export function nestedScript(words: readonly string[]): string | undefined {
  if (!SHELLS.has(words[0] ?? '')) return undefined;
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) return undefined;
    if (!word.startsWith('--') && word.includes('c')) return words[at + 1];
  }
  return undefined;
}

/** A script split into its commands and their input: heredocs and quoted texts of several lines. */
export interface ScriptRows {
  readonly commands: string;
  readonly texts: string;
}

const HEREDOC = /<<-?[ \t]*(?:(['"])([^'"\n]{1,60})\1|\\?([A-Za-z_]\w{0,59}))/;

const NO_ROWS: ReadonlyMap<string, number> = new Map();

/** Splits a script line by line, without parsing: linear, and adequate for nonsense, too. */
export function scriptRows(script: string): ScriptRows {
  const rows = script.split('\n');
  // Indexed first, so that marks without an end do not make it quadratic.
  const last = script.includes('<<') ? new Map(rows.map((row, at) => [row.trim(), at])) : NO_ROWS;
  const commands: string[] = [];
  const texts: string[] = [];
  let quote = '';
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? '';
    const wasQuoted = quote !== '';
    const read = readQuotes(row, quote);
    quote = read.quote;
    const rest = wasQuoted ? row.slice(read.closedAt) : row;
    if (wasQuoted) texts.push(row.slice(0, read.closedAt));
    const isContinued = commands.at(-1)?.endsWith('\\') === true;
    if (/\w|\\$/.test(rest)) commands.push(isContinued ? rest.trimStart() : rest);
    const heredoc = quote === "'" ? null : HEREDOC.exec(rest);
    const mark = heredoc?.[2] ?? heredoc?.[3];
    if (mark === undefined || (last.get(mark) ?? -1) <= at) continue;
    let end = at + 1;
    while (rows[end]?.trim() !== mark) end++;
    texts.push(...rows.slice(at + 1, end));
    at = end;
  }
  return { commands: joinContinued(commands), texts: texts.join('\n') };
}

/** Joins each row that ends with a backslash to the next one. */
function joinContinued(rows: readonly string[]): string {
  return rows
    .map((row) => (row.endsWith('\\') ? `${row.slice(0, -1).trimEnd()} ` : `${row.trimEnd()}\n`))
    .join('')
    .trimEnd();
}

/** The quotation open at the end of a row, and where the one that was open at its start closed. */
function readQuotes(row: string, open: string): { readonly quote: string; readonly closedAt: number } {
  let quote = open;
  let closedAt = open === '' ? 0 : row.length;
  let isFirst = open !== '';
  for (let at = 0; at < row.length; at++) {
    const char = row.charAt(at);
    if (char === '\\' && quote !== "'") at++;
    else if (quote === '' && char === '#' && /(?:^|\s)$/.test(row.charAt(at - 1))) break;
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (quote !== '' && char === quote) {
      if (isFirst) closedAt = at + 1;
      isFirst = false;
      quote = '';
    }
  }
  return { quote, closedAt };
}

/** Joins a directory and a path as a shell would; an absolute path or `~` stays as it is. */
export function joinPath(directory: string | undefined, path: string): string {
  if (directory === undefined || directory === '' || /^[/~$]/.test(path)) return path;
  return `${directory.replace(/\/$/, '')}/${path}`;
}

const READERS = new Set(['cat', 'head', 'tail', 'less', 'more', 'nl', 'bat', 'tac', 'od', 'xxd']);
const GREPS = new Set(['rg', 'grep', 'egrep', 'ag', 'ack']);
/** Programs that take a program before the files that they read. */
const QUERIES = new Set(['jq', 'awk']);

/** What a simple command does to files, judging by its words; paths joined with the directory of `cd`. */
export function fileActionsOf(command: SimpleCommand): ShellFileAction[] {
  const git = gitCommandOf(command);
  return [
    ...joined(git === undefined ? programActions(command) : gitActions(git), git ?? command),
    ...joined(interpreterActions(command), command),
    ...joined(redirectActions(command), command),
  ];
}

function joined(
  actions: readonly ShellFileAction[],
  { directory }: { readonly directory: string | undefined },
): ShellFileAction[] {
  return actions
    .filter(({ action, path }) => isNamedFile(path) || (action === 'restore' && path === '.'))
    .map((action) => ({
      ...action,
      path: joinPath(directory, action.path),
      ...(action.to === undefined ? {} : { to: joinPath(directory, action.to) }),
    }));
}

/** A run of git without the options before its verb. */
export interface GitCommand {
  /** Its directory, after `-C`. */
  readonly directory: string | undefined;
  readonly verb: string;
  /** The words after the verb. */
  readonly words: readonly string[];
}

/** Parses a git command; undefined for other commands. */
export function gitCommandOf({ words, directory }: SimpleCommand): GitCommand | undefined {
  if (words[0] !== 'git') return undefined;
  let within = directory;
  let at = 1;
  for (; words[at]?.startsWith('-') === true; at++) {
    const option = words[at];
    if (option === '-C') within = joinPath(within, words[++at] ?? '');
    else if (option === '-c') at++;
  }
  return { directory: within, verb: words[at] ?? '', words: words.slice(at + 1) };
}

function gitActions({ verb, words }: GitCommand): ShellFileAction[] {
  const operands = words.filter((word) => !word.startsWith('-'));
  if (verb === 'mv') return moveActions(operands);
  if (verb === 'rm') return operands.map((path) => ({ action: 'delete', path }));
  const paths = restoredPaths(verb, words);
  const how = revisionOf(verb, words, paths);
  return paths.map((path) => ({ action: 'restore', path, ...(how === undefined ? {} : { how }) }));
}

/** The revision from which a git command takes paths, if it names one other than what is checked out. */
function revisionOf(verb: string, words: readonly string[], paths: readonly string[]): string | undefined {
  const source = words.findIndex((word) => word === '-s' || word === '--source');
  const first = words.find((word) => !word.startsWith('-'));
  const named =
    verb === 'restore'
      ? words[source < 0 ? Infinity : source + 1]
      : verb === 'checkout' || verb === 'reset'
        ? first
        : undefined;
  return named === undefined || named === 'HEAD' || paths.includes(named) ? undefined : named;
}

/** The paths whose edits a git command discards. */
function restoredPaths(verb: string, words: readonly string[]): readonly string[] {
  const dashes = words.indexOf('--');
  const named = dashes < 0 ? [] : words.slice(dashes + 1);
  const operands = words.filter((word) => !word.startsWith('-'));
  if (verb === 'checkout') {
    if (dashes >= 0) return named;
    if (words.some((word) => /^-[bB]$/.test(word) || word === '--orphan')) return [];
    // Without dashes the first word may be a branch: a file has an extension.
    return operands.filter((word, at) => at > 0 || word === '.' || hasExtension(word));
  }
  if (verb === 'restore') {
    const isOfIndex = words.some((word) => word === '-S' || word === '--staged');
    const isOfFiles = words.some((word) => word === '-W' || word === '--worktree');
    if (isOfIndex && !isOfFiles) return [];
    const source = words.findIndex((word) => word === '-s' || word === '--source');
    return operands.filter((word) => source < 0 || word !== words[source + 1]);
  }
  if (verb === 'reset') return words.includes('--hard') ? ['.'] : [];
  if (verb === 'stash') return ['push', 'save'].includes(words[0] ?? '') ? named : [];
  return [];
}

function programActions({ words, redirects }: SimpleCommand): ShellFileAction[] {
  const [program = '', ...rest] = words;
  const operands = rest.filter((word) => !word.startsWith('-'));
  if (program === 'sed') return sedActions(rest);
  if (program === 'perl' || program === 'ruby') return inPlaceActions(rest);
  if (program === 'head' || program === 'tail') return headActions(program, rest);
  if (READERS.has(program)) return operands.map((path) => ({ action: 'read', path }));
  if (QUERIES.has(program)) {
    return operandsBehindPattern(program, rest)
      .filter(hasExtension)
      .map((path) => ({ action: 'read', path }));
  }
  if (program === 'tee') {
    const isAppend = rest.some((word) => /^-\w*a/.test(word) || word === '--append');
    const content = heredocOf(redirects);
    const action = isAppend ? 'edit' : 'create';
    return operands.map((path) => ({ action, path, ...(content === undefined ? {} : { content }) }));
  }
  if (program === 'touch') return operands.map((path) => ({ action: 'create', path }));
  if (program === 'rm' || program === 'unlink') return operands.map((path) => ({ action: 'delete', path }));
  if (program === 'mv') return moveActions(operands);
  if (program === 'cp') return operands.slice(-1).map((path) => ({ action: 'create', path }));
  const made = madeFile(words);
  return made === undefined ? [] : [{ action: 'create', path: made }];
}

function moveActions(operands: readonly string[]): ShellFileAction[] {
  const to = operands.at(-1);
  if (to === undefined || operands.length < 2) return [];
  const isInto = operands.length > 2 || to.endsWith('/');
  return operands.slice(0, -1).map((path) => ({
    action: 'move',
    path,
    to: isInto ? joinPath(to, path.slice(path.lastIndexOf('/') + 1)) : to,
  }));
}

const GREP_OPTIONS =
  '-A -B -C -m -e -f -d --after-context --before-context --context --max-count --regexp --file';
/** Options of searchers that take the next word for their value. */
const SEARCH_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['grep', wordSet(GREP_OPTIONS)],
  ['egrep', wordSet(GREP_OPTIONS)],
  ['rg', wordSet(`${GREP_OPTIONS} -g -t -T -r -j -M --glob --iglob --type --type-not --replace`)],
  ['ag', wordSet(`${GREP_OPTIONS} -G`)],
  ['ack', wordSet(GREP_OPTIONS)],
  ['awk', wordSet('-F -v -f')],
  ['jq', wordSet('-f --arg --argjson --indent')],
]);
/** Options with which a searcher shows only whether, which or how many files match, alone or combined. */
const SHOWS_NOTHING =
  /^(?:-[^-efgtTmABCdj]*[qlc]|--(?:quiet|silent|count|count-matches|files-with-matches|files-without-match)$)/;

/** Options that provide the pattern or the program, so that no operand does. */
const PATTERN_OPTIONS = wordSet('-e -f --regexp --file');

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** The files and directories that a command searches; undefined if it is not a search or shows none of their content. */
export function searchedOf({ words: [program = '', ...rest] }: SimpleCommand): readonly string[] | undefined {
  if (!GREPS.has(program) || rest.some((word) => SHOWS_NOTHING.test(word))) return undefined;
  return operandsBehindPattern(program, rest);
}

/** The operands of a searcher after its pattern. */
function operandsBehindPattern(program: string, rest: readonly string[]): readonly string[] {
  const operands: string[] = [];
  let hasPattern = false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('-') || word === '-') operands.push(word);
    else if (SEARCH_OPTIONS.get(program)?.has(word) === true) {
      hasPattern ||= PATTERN_OPTIONS.has(word);
      at++;
    }
  }
  return operands.slice(hasPattern ? 0 : 1);
}

function sedActions(rest: readonly string[]): ShellFileAction[] {
  const isInPlace = rest.some((word) => /^-[a-zA-Z]*i/.test(word) || word.startsWith('--in-place'));
  const scripts: string[] = [];
  const files: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '-e' || word === '-f' || word === '--expression') scripts.push(rest[++at] ?? '');
    // BSD sed takes an empty suffix for its backups as a separate word.
    else if (!word.startsWith('-') && word !== '') files.push(word);
  }
  const script = scripts[0] ?? files.shift() ?? '';
  if (isInPlace)
    return files.map((path) => ({ action: 'edit', path, how: [script, ...scripts.slice(1)].join('\n') }));
  const range = sedRange(script);
  return files.map((path) => ({ action: 'read', path, ...(range === undefined ? {} : { range }) }));
}

/** `perl -pi -e SCRIPT FILE…`, with its options in any order. */
function inPlaceActions(rest: readonly string[]): ShellFileAction[] {
  const end = rest.findIndex((word, at) => !word.startsWith('-') && !/^-\w*e$/.test(rest[at - 1] ?? ''));
  const options = end < 0 ? rest : rest.slice(0, end);
  if (end < 0 || !options.some((word) => /^-[a-zA-Z0-9]*i/.test(word))) return [];
  const how = options.filter((_, at) => /^-\w*e$/.test(options[at - 1] ?? '')).join('\n');
  return rest.slice(end).map((path) => ({ action: 'edit', path, how }));
}

const INTERPRETER = /^(?:python[\d.]*|node|bun|deno|ruby)$/;

/** What a program does to files, if passed as a word (`node -e`) or a heredoc (`python - <<EOF`). */
function interpreterActions({ words, redirects }: SimpleCommand): ShellFileAction[] {
  if (!INTERPRETER.test(words[0] ?? '')) return [];
  const inline = words.find((_, at) => /^(?:-c|-e|--eval)$/.test(words[at - 1] ?? ''));
  const program = inline ?? heredocOf(redirects) ?? '';
  return scriptEdits(program).map(({ path, how }) => ({ action: 'edit', path, how }));
}

function sedRange(script: string): LineRange | undefined {
  const match = /^(\d{1,9})(?:,(\d{1,9}|\$))?p/.exec(script.trim());
  if (match === null) return undefined;
  const from = Number(match[1]);
  if (match[2] === '$') return { from };
  return { from, to: match[2] === undefined ? from : Number(match[2]) };
}

function headActions(program: string, rest: readonly string[]): ShellFileAction[] {
  const files: string[] = [];
  let lines: number | undefined;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '-n' || word === '-c') {
      if (word === '-n') lines = Number(rest[at + 1]);
      at++;
    } else if (/^-n?\d{1,9}$/.test(word)) lines = Number(word.replace(/^-n?/, ''));
    else if (!word.startsWith('-')) files.push(word);
  }
  const hasRange = program === 'head' && lines !== undefined && lines > 0;
  return files.map((path) => ({
    action: 'read',
    path,
    ...(hasRange ? { range: { from: 1, to: lines ?? 1 } } : {}),
  }));
}

function heredocOf(redirects: readonly ShellRedirect[]): string | undefined {
  return redirects.find(({ operator }) => operator.startsWith('<<'))?.content;
}

function redirectActions({ words, redirects }: SimpleCommand): ShellFileAction[] {
  const heredoc = heredocOf(redirects);
  return redirects.flatMap((redirect): ShellFileAction[] => {
    const { operator, target } = redirect;
    if (operator.startsWith('<')) return operator === '<' ? [{ action: 'read', path: target }] : [];
    const isAppend = operator.includes('>>');
    const content = words[0] === 'cat' ? heredoc : words[0] === 'echo' ? words.slice(1).join(' ') : undefined;
    return [
      { action: isAppend ? 'edit' : 'create', path: target, ...(content === undefined ? {} : { content }) },
    ];
  });
}

/** Whether a word may be the name of a file rather than of a directory. */
export function hasExtension(word: string): boolean {
  return /[^/.]\.[A-Za-z]\w{0,8}$/.test(word);
}

/** Excludes patterns, devices, variables and temporary files, which are not worth remembering. */
function isNamedFile(path: string): boolean {
  if (path === '' || path.length > 300) return false;
  return (
    !/[*?$`{}<>|\n]/.test(path) && !/^(?:\/dev\/|\/proc\/|&|\d+$)/.test(path) && path !== '.' && path !== '..'
  );
}
