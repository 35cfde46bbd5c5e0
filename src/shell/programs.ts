// What simple commands do to files, judging by their words: one table row per program.

import { hasExtension, movedFiles } from './file-actions.ts';
import type { LineRange, ShellFileAction } from './file-actions.ts';
import { gitActions, gitCommandOf } from './git-commands.ts';
import { madeFile } from './made-files.ts';
import { scriptEdits } from './script-edits.ts';
import { joinPath } from './scripts.ts';
import type { ShellRedirect, SimpleCommand } from './scripts.ts';
import { operandsBehindPattern } from './searches.ts';

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

/** What a run of a program does to files. Its operands are the words that do not begin with a dash. */
type ProgramEffect = (run: {
  readonly program: string;
  readonly operands: readonly string[];
  /** All words after the program. */
  readonly rest: readonly string[];
  readonly redirects: readonly ShellRedirect[];
}) => readonly ShellFileAction[];

const reads: ProgramEffect = ({ operands }) => operands.map((path) => ({ action: 'read', path }));
const creates: ProgramEffect = ({ operands }) => operands.map((path) => ({ action: 'create', path }));
const deletes: ProgramEffect = ({ operands }) => operands.map((path) => ({ action: 'delete', path }));

/** One row for programs with the same effect. A program without a row may still make a file (`made-files.ts`). */
const PROGRAM_EFFECTS: readonly (readonly [programs: string, effect: ProgramEffect])[] = [
  ['cat less more nl bat tac od xxd', reads],
  ['head tail', ({ program, rest }) => headActions(program, rest)],
  ['jq awk', readsBehindPattern],
  ['sed', ({ rest }) => sedActions(rest)],
  ['perl ruby', ({ rest }) => inPlaceActions(rest)],
  ['tee', teeActions],
  ['touch', creates],
  ['rm unlink', deletes],
  ['mv', ({ operands }) => movedFiles(operands)],
  ['cp', ({ operands }) => operands.slice(-1).map((path) => ({ action: 'create', path }))],
];

const EFFECT_OF: ReadonlyMap<string, ProgramEffect> = new Map(
  PROGRAM_EFFECTS.flatMap(([programs, effect]) =>
    programs.split(' ').map((program) => [program, effect] as const),
  ),
);

function programActions({ words, redirects }: SimpleCommand): readonly ShellFileAction[] {
  const [program = '', ...rest] = words;
  const effect = EFFECT_OF.get(program);
  if (effect !== undefined) {
    return effect({ program, operands: rest.filter((word) => !word.startsWith('-')), rest, redirects });
  }
  const made = madeFile(words);
  return made === undefined ? [] : [{ action: 'create', path: made }];
}

function readsBehindPattern({ program, rest }: Parameters<ProgramEffect>[0]): ShellFileAction[] {
  return operandsBehindPattern(program, rest)
    .filter(hasExtension)
    .map((path) => ({ action: 'read', path }));
}

function teeActions({ operands, rest, redirects }: Parameters<ProgramEffect>[0]): ShellFileAction[] {
  const isAppend = rest.some((word) => /^-\w*a/.test(word) || word === '--append');
  const content = heredocOf(redirects);
  const action = isAppend ? 'edit' : 'create';
  return operands.map((path) => ({ action, path, ...(content === undefined ? {} : { content }) }));
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

/** Excludes patterns, devices, variables and temporary files, which are not worth remembering. */
function isNamedFile(path: string): boolean {
  if (path === '' || path.length > 300) return false;
  return (
    !/[*?$`{}<>|\n]/.test(path) && !/^(?:\/dev\/|\/proc\/|&|\d+$)/.test(path) && path !== '.' && path !== '..'
  );
}
