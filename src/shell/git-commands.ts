// Runs of git as data: the verb, its words, and what it does to files.

import { hasExtension, movedFiles } from './file-actions.ts';
import type { ShellFileAction } from './file-actions.ts';
import { joinPath } from './scripts.ts';
import type { SimpleCommand } from './scripts.ts';

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

/** What it does to files; paths as written. */
export function gitActions({ verb, words }: GitCommand): ShellFileAction[] {
  const operands = words.filter((word) => !word.startsWith('-'));
  if (verb === 'mv') return movedFiles(operands);
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
