// Recognises scripts that run only git: these may write in `.git`, which no other confined command can. Decided by the shell's
// grammar. A wrong no costs the model a second call; the sandbox limits the damage of a wrong yes.

import type { Command, Node, Redirect, Script, Word, WordPart } from 'unbash';
import { parseScript } from '../../shell/scripts.ts';
import { mayMatchOption } from './trusted.ts';

/** The effect of a script on a repository. `init`: it only creates one. */
export type GitScript = 'git' | 'init' | 'other';

/**
 * Classifies a script.
 * @param root the workspace, absolute: `cd` and `git -C` must not leave it by name
 */
export function gitScriptOf(script: string, root: string): GitScript {
  const commands = parseScript(script);
  if (commands === undefined) return 'other';
  const verbs = verbsOf(commands, root);
  if (verbs === undefined || verbs.length === 0) return 'other';
  if (!verbs.includes('init')) return 'git';
  return verbs.every((verb) => verb === 'init') ? 'init' : 'other';
}

/** The git commands that a script runs, or undefined if it runs anything else. */
function verbsOf(script: Script, root: string): readonly string[] | undefined {
  if ('errors' in script && Array.isArray(script.errors) && script.errors.length > 0) return undefined;
  return joined(script.commands.map((node) => verbsIn(node, root)));
}

type Verbs = readonly string[] | undefined;

function joined(verbs: readonly Verbs[]): Verbs {
  return verbs.every((each) => each !== undefined) ? verbs.flat() : undefined;
}

function verbsIn(node: Node, root: string): Verbs {
  switch (node.type) {
    case 'Statement':
      if (node.background === true || !node.redirects.every(isHarmlessRedirect)) return undefined;
      return verbsIn(node.command, root);
    case 'AndOr':
    case 'CompoundList':
      return joined(node.commands.map((child) => verbsIn(child, root)));
    case 'Pipeline': {
      const [first, ...filters] = node.commands;
      return first !== undefined && filters.every(isFilter) ? verbsIn(first, root) : undefined;
    }
    case 'Command':
      return verbsOfCommand(node, root);
    default:
      return undefined;
  }
}

/** Shell commands that only print or change the directory. */
const BUILT_INS: ReadonlySet<string> = new Set([':', 'cd', 'echo', 'pwd', 'true']);

const FILTERS: ReadonlySet<string> = new Set(['cat', 'head', 'tail']);

function isFilter(node: Node): boolean {
  const command = node.type === 'Statement' && node.redirects.length === 0 ? node.command : node;
  if (command.type !== 'Command' || command.prefix.length > 0 || command.redirects.length > 0) return false;
  const { name, suffix } = command;
  return (
    name !== undefined &&
    isPlainName(name) &&
    FILTERS.has(name.value) &&
    suffix.every((word) => isLiteral(word) && /^-\w*$|^\d+$/.test(word.value))
  );
}

function verbsOfCommand({ name, prefix, suffix, redirects }: Command, root: string): Verbs {
  if (name === undefined || prefix.length > 0 || !isPlainName(name)) return undefined;
  if (!redirects.every(isHarmlessRedirect) || !suffix.every(isLiteral)) return undefined;
  const words = suffix.map(({ value }) => value);
  if (BUILT_INS.has(name.value)) {
    const isInside = name.value !== 'cd' || (words.length === 1 && staysInside(words[0] ?? '', root));
    return isInside ? [] : undefined;
  }
  return name.value === 'git' ? verbOfGit(words, root) : undefined;
}

function isPlainName({ text, value }: Word): boolean {
  return text === value;
}

/** Settings that a commit may need, and that name neither a command nor a path. */
const SETTINGS = /^(?:user\.(?:name|email)|(?:commit|tag)\.gpgsign|init\.defaultbranch)=/i;

function verbOfGit(words: readonly string[], root: string): Verbs {
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    const value = words[at + 1] ?? '';
    if (word === '-c' && SETTINGS.test(value)) at++;
    else if (word === '-C' && staysInside(value, root)) at++;
    else if (word !== '--no-pager') break;
  }
  const [verb = '', ...rest] = words.slice(at);
  return VERBS.has(verb) && isHarmless(verb, rest) ? [verb] : undefined;
}

/**
 * Git commands that work on a repository and its work tree and do not start programs from their arguments.
 * @source git(1), git 2.39
 */
const VERBS: ReadonlySet<string> = new Set([
  'add',
  'apply',
  'blame',
  'branch',
  'cat-file',
  'checkout',
  'cherry-pick',
  'commit',
  'describe',
  'diff',
  'init',
  'log',
  'ls-files',
  'merge',
  'mv',
  'rebase',
  'reflog',
  'reset',
  'restore',
  'rev-list',
  'rev-parse',
  'revert',
  'rm',
  'shortlog',
  'show',
  'stash',
  'status',
  'switch',
  'tag',
]);

/** Options that start programs, accept names of programs, or lead outside. Git accepts abbreviated options. */
const REFUSED_OPTIONS = [
  '--exec',
  '--ext-diff',
  '--interactive',
  '--output',
  '--receive-pack',
  '--separate-git-dir',
  '--template',
  '--textconv',
  '--upload-pack',
];

function isHarmless(verb: string, rest: readonly string[]): boolean {
  return rest.every((word) => {
    if (verb === 'rebase' && /^-\w*[xi]/.test(word)) return false;
    const [option = ''] = word.split('=');
    return option.length <= 2 || !REFUSED_OPTIONS.some((refused) => refused.startsWith(option));
  });
}

/** Whether a directory, as written, is the workspace or below it. */
function staysInside(directory: string, root: string): boolean {
  if (directory === '' || directory === '-' || directory.split('/').includes('..')) return false;
  return !directory.startsWith('/') || directory === root || directory.startsWith(`${root}/`);
}

/** A word without substitutions, except for path patterns that begin with a name. */
function isLiteral(word: Word): boolean {
  if (word.text.startsWith('~') || mayMatchOption(word)) return false;
  return (word.parts ?? []).every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  if (part.type !== 'DoubleQuoted') {
    return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
  }
  return part.parts.every(
    (child) => child.type === 'Literal' || (child.type === 'CommandExpansion' && isQuotedText(child.script)),
  );
}

/** `$(cat <<'EOF' …)`: a common way to write a message of several lines. */
function isQuotedText(script: Script | undefined): boolean {
  const [statement, ...others] = script?.commands ?? [];
  if (statement === undefined || others.length > 0 || statement.redirects.length > 0) return false;
  const { command } = statement;
  return (
    statement.background !== true &&
    command.type === 'Command' &&
    command.name?.text === 'cat' &&
    command.prefix.length + command.suffix.length === 0 &&
    command.redirects.length === 1 &&
    command.redirects.every(isText)
  );
}

function isHarmlessRedirect(redirect: Redirect): boolean {
  const { operator, target, variableName } = redirect;
  if (variableName !== undefined) return false;
  if (isText(redirect)) return true;
  if (operator === '>&') return /^[12]$/.test(target?.text ?? '');
  return /^(?:>|&>|<)$/.test(operator) && target?.text === '/dev/null';
}

/** A heredoc without substitutions. */
function isText({ operator, heredocQuoted, content }: Redirect): boolean {
  if (operator !== '<<' && operator !== '<<-') return false;
  return heredocQuoted === true || !/[$`\\]/.test(content ?? '$');
}
