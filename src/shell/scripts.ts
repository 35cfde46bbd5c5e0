// Shell scripts as data: which programs ran with which words. unbash provides the grammar; `programs.ts` knows what the
// programs do to files.

import { parse } from 'unbash';
import type { Command, Node, Redirect, Script, Word } from 'unbash';

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

/** Joins a directory and a path as a shell would; an absolute path or `~` stays as it is. */
export function joinPath(directory: string | undefined, path: string): string {
  if (directory === undefined || directory === '' || /^[/~$]/.test(path)) return path;
  return `${directory.replace(/\/$/, '')}/${path}`;
}
