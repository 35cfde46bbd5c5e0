// Commands that are known to only read, and only below the working directory: the policy `untrusted` runs them without approval.
// Unknown commands are not trusted; a wrong no costs a question, a wrong yes costs more.

import type { Command, Node, Word } from 'unbash';
import { parseScript } from '../../shell/scripts.ts';
import type { SandboxMode } from '../../vocabulary.ts';

/**
 * Whether every command of a script is known to only read below its working directory. Git is not trusted outside a sandbox: it
 * runs programs from the configuration of a repository, for example to compare files.
 */
export function isTrustedCommand(script: string, sandbox: SandboxMode): boolean {
  const parsed = parseScript(script);
  if (parsed === undefined || parsed.commands.length === 0) return false;
  if ('errors' in parsed && Array.isArray(parsed.errors) && parsed.errors.length > 0) return false;
  return parsed.commands.every((statement) => isTrusted(statement, sandbox));
}

/** A word of a trusted script: what it names, or what a pattern of it may match. */
export interface ReadWord {
  readonly text: string;
  readonly isPattern: boolean;
  /** It is where `cd` goes. */
  readonly isDirectory: boolean;
}

/** The words behind the programs of a trusted script, in their order; each may name a file, and options may hold one. */
export function wordsOf(script: string): readonly ReadWord[] {
  return (parseScript(script)?.commands ?? []).flatMap(wordsIn);
}

function wordsIn(node: Node): readonly ReadWord[] {
  switch (node.type) {
    case 'Statement':
      return wordsIn(node.command);
    case 'Pipeline':
    case 'AndOr':
    case 'CompoundList':
      return node.commands.flatMap(wordsIn);
    case 'Command':
      return node.suffix.map((word) => ({
        text: word.value,
        isPattern: isPattern(word),
        isDirectory: node.name?.value === 'cd',
      }));
    default:
      return [];
  }
}

function isTrusted(node: Node, sandbox: SandboxMode): boolean {
  switch (node.type) {
    case 'Statement':
      return node.redirects.length === 0 && node.background !== true && isTrusted(node.command, sandbox);
    case 'Pipeline':
    case 'AndOr':
    case 'CompoundList':
      return node.commands.every((child) => isTrusted(child, sandbox));
    case 'Command':
      return isTrustedProgram(node, sandbox);
    default:
      return false;
  }
}

function isTrustedProgram({ name, prefix, suffix, redirects }: Command, sandbox: SandboxMode): boolean {
  if (name === undefined || prefix.length > 0 || redirects.length > 0) return false;
  if (![name, ...suffix].every(isPlain)) return false;
  if (name.value === 'git' && sandbox === 'danger_full_access') return false;
  const operands = suffix.map(({ value }) => value);
  const rule = TRUSTED.get(name.value);
  if (rule === undefined || (rule !== any && suffix.some(mayMatchOption))) return false;
  return operands.every(staysBelow) && rule(operands);
}

/** A word without substitutions, whose value is therefore known here. */
function isPlain(word: Word): boolean {
  if (word.text.startsWith('~') || word.text.includes('\n')) return false;
  if (isPattern(word) && (mayLeadUp(word) || hasQuoting(word))) return false;
  return (word.parts ?? []).every(
    (part) =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every((child) => child.type === 'Literal')),
  );
}

/** A pattern that may match the parent directory, as `.?` does. */
function mayLeadUp({ text }: Word): boolean {
  return /(?<![^/])\.+[*?[]/.test(text);
}

/**
 * Whether the shell may replace a word with a file name that a program reads as an option: `*`, `-e*` and `""*` all match a file
 * named `-exec`.
 */
export function mayMatchOption(word: Word): boolean {
  return isPattern(word) && (hasQuoting(word) || !/^[\w./]/.test(word.text));
}

/** Whether an unquoted part of a word is a pattern. */
function isPattern({ text, parts }: Word): boolean {
  const unquoted = parts?.filter(({ type }) => type === 'Literal') ?? [{ text }];
  return unquoted.some((part) => /[*?[]/.test(part.text));
}

/** Quotes and backslashes hide how the matches of a pattern begin. */
function hasQuoting({ text }: Word): boolean {
  return /['"\\]/.test(text);
}

/** Options may contain paths, too: `--file=/etc/passwd`, `-f../x`. */
function staysBelow(operand: string): boolean {
  return !/(?:^|[=:])\/|^-\w+\/|(?:^|[^.\w])\.\.(?:\/|$)|^-.*\.\.\//.test(operand);
}

type Rule = (operands: readonly string[]) => boolean;

const any: Rule = () => true;

/** Only listed options, and any other words. */
function options(...allowed: readonly string[]): Rule {
  return (operands) =>
    operands.every((word) => !word.startsWith('-') || word === '--' || allowed.includes(word));
}

const GIT_OPTIONS = options(
  '--stat',
  '--oneline',
  '--short',
  '--porcelain',
  '--cached',
  '--staged',
  '--name-only',
  '--name-status',
  '--graph',
  '--all',
  '-s',
  '-b',
  '-p',
  '-1',
  '-3',
  '-5',
  '-10',
  '-20',
);

const GIT: ReadonlyMap<string, Rule> = new Map([
  ['status', GIT_OPTIONS],
  ['log', GIT_OPTIONS],
  ['diff', GIT_OPTIONS],
  ['show', GIT_OPTIONS],
  ['ls-files', GIT_OPTIONS],
]);

/** @source Codex' list of safe commands, without those that can write or run others by an option */
const TRUSTED: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...['cat', 'echo', 'false', 'head', 'ls', 'nl', 'pwd', 'stat', 'tail', 'true', 'wc', 'which'].map(
    (name) => [name, any] as const,
  ),
  // What follows every link that it meets may read anything.
  ['grep', (operands) => !operands.some((word) => /^-(?:[a-zA-Z]*R|-d)/.test(word))],
  ['cd', (operands) => operands.length === 1 && operands[0] !== '-'],
  [
    'find',
    (operands) =>
      operands.every((word) => !/^-(?:exec|ok|delete|fprint|fls|files0|follow$|[A-Z]*L)/.test(word)),
  ],
  ['rg', options('-n', '-i', '-l', '-c', '-w', '-F', '-e', '--files', '--hidden', '--line-number')],
  [
    'sed',
    ([flag, script = '', ...files]) =>
      flag === '-n' &&
      /^\d+(?:,\d+)?p$/.test(script) &&
      files.length > 0 &&
      // sed also accepts options after the script: -i, and -e with a script that runs commands.
      files.every((file) => !file.startsWith('-')),
  ],
  ['git', ([verb = '', ...rest]) => GIT.get(verb)?.(rest) ?? false],
]);
