// The arguments of git commands that determine what a commit holds: pathspecs, modes, the extent of a reset.

import { joinPath } from './scripts.ts';
import { wildcardMatcher } from '../text/wildcards.ts';

/** Which paths a command affects. */
export interface PathChoice {
  readonly matches: (path: string) => boolean;
  /** The paths, if all are named one by one; undefined if a pattern, a directory or `.` is among them. */
  readonly named: readonly string[] | undefined;
  /** Arguments that only the shell knows (`$FILES`), or an interactive choice (`-p`): the log does not show which paths. */
  readonly isUnclear: boolean;
}

/** A commit according to its arguments. */
export interface CommitWords {
  readonly isAll: boolean;
  readonly isAmend: boolean;
  /** `--dry-run` commits nothing. */
  readonly isTry: boolean;
  /** The paths, if any were given. */
  readonly paths: PathChoice | undefined;
  /** Staged changes are included, unless paths are given without `-i`. */
  readonly isOfIndex: boolean;
  readonly subject: string | undefined;
}

/** Options of `git commit` that take the next word; short ones also take the rest of their own word. */
const COMMIT_VALUES = new Set(
  '--message --file --reuse-message --reedit-message --author --date --template --trailer --fixup --squash --cleanup'.split(
    ' ',
  ),
);

/** Parses the words after `git commit`. @param directory where git ran, named as in the trail */
export function commitWords(words: readonly string[], directory: string): CommitWords {
  const operands: string[] = [];
  let letters = '';
  let subject: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (word.startsWith('--')) {
      if (word.startsWith('--message=')) subject ??= firstLine(word.slice('--message='.length));
      if (!COMMIT_VALUES.has(word)) continue;
      at++;
      if (word === '--message') subject ??= firstLine(words[at] ?? '');
    } else if (word.startsWith('-')) {
      const valued = /^-[^mFCct]*([mFCct])(.*)$/s.exec(word);
      letters += valued === null ? word : word.slice(0, word.indexOf(valued[1] ?? ''));
      if (valued === null) continue;
      const value = valued[2] === '' ? words[++at] : valued[2];
      if (valued[1] === 'm') subject ??= firstLine(value ?? '');
    } else operands.push(word);
  }
  return {
    isAll: letters.includes('a') || words.includes('--all'),
    isAmend: words.includes('--amend'),
    isTry: words.includes('--dry-run'),
    paths: operands.length === 0 ? undefined : pathsOf(operands, directory),
    isOfIndex: operands.length === 0 || letters.includes('i') || words.includes('--include'),
    subject,
  };
}

/** The first line of a message, also of a heredoc inside `$(…)`. */
export function firstLine(message: string): string | undefined {
  const lines = message.trimStart().split('\n');
  const subject = (lines[0]?.startsWith('$(cat <<') === true ? lines[1] : lines[0])?.trim();
  return subject === '' ? undefined : subject;
}

/** The paths given to `git add` or `git rm`. */
export function addedPaths(
  words: readonly string[],
  directory: string,
): PathChoice & { readonly isTracked: boolean } {
  const isTracked = words.some((word) => /^-\w*u/.test(word) || word === '--update');
  const isAll = isTracked || words.some((word) => /^-\w*A/.test(word) || word === '--all');
  const isByHand = words.some(
    (word) => /^-\w*[pien]/.test(word) || /^--(?:patch|interactive|edit|dry|intent|pathspec)/.test(word),
  );
  const operands = operandsOf(words);
  const choice =
    operands.length === 0 && isAll
      ? { matches: () => true, named: undefined, isUnclear: false }
      : pathsOf(operands, directory);
  return { ...choice, isUnclear: choice.isUnclear || isByHand, isTracked };
}

/** The words that are not options, and all words after `--`. */
export function operandsOf(words: readonly string[]): readonly string[] {
  const dashes = words.indexOf('--');
  const before = dashes < 0 ? words : words.slice(0, dashes);
  return [...before.filter((word) => !word.startsWith('-')), ...(dashes < 0 ? [] : words.slice(dashes + 1))];
}

/** The choice made by pathspecs, relative to the directory where git ran. */
export function pathsOf(specs: readonly string[], directory: string): PathChoice {
  const isUnclear = specs.some((spec) => /[$`{<]/.test(spec) || /^:[^/]/.test(spec));
  const paths = specs.map((spec) => (spec.startsWith(':/') ? spec.slice(2) : inDirectory(directory, spec)));
  const isPlain = specs.every((spec) => /[^/.]\.\w+$/.test(spec) && !/[*?[]/.test(spec));
  const patterns = paths.map((path) => (/[*?[]/.test(path) ? pathspecMatcher(path) : undefined));
  const matches = (path: string): boolean =>
    paths.some((spec, at) => patterns[at]?.(path) ?? isAtOrBelow(path, spec));
  return { matches, named: isPlain ? [...new Set(paths)] : undefined, isUnclear };
}

/** A path of a git command, named as in the trail: relative to the working directory if inside it. */
export function inDirectory(directory: string, path: string): string {
  const joined = path.startsWith('/') || directory === '.' ? path : joinPath(directory, path);
  const kept: string[] = [];
  for (const segment of joined.split('/')) {
    if (segment === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const resolved = kept.join('/');
  return joined.startsWith('/') ? `/${resolved}` : resolved === '' ? '.' : resolved;
}

/** Whether a path is a directory or is inside it; every relative path is inside `.`. */
export function isAtOrBelow(path: string, directory: string): boolean {
  if (directory === '.') return !/^[/~]|^\.\.(?:\/|$)/.test(path);
  return path === directory || path.startsWith(`${directory}/`);
}

/** Characters of the longest pathspec that matches a path. @source PATH_MAX of Linux */
const LONGEST_PATTERN = 4096;

/** In a pathspec, a star matches any characters, including slashes; what matches a directory matches everything below it. */
function pathspecMatcher(spec: string): (path: string) => boolean {
  if (spec.length > LONGEST_PATTERN) return () => false;
  const matchers = [wildcardMatcher(spec), wildcardMatcher(`${spec}/*`)];
  return (path) => path.length <= LONGEST_PATTERN && matchers.some((matches) => matches(path));
}

/** How many commits a revision such as `HEAD~2` is behind HEAD; undefined for other forms. */
export function stepsBack(revision: string): number | undefined {
  const match = /^(?:HEAD|@)((?:~\d*|\^)*)$/.exec(revision);
  if (match === null) return undefined;
  const steps = [...(match[1] ?? '').matchAll(/~(\d*)|\^/g)];
  return steps.reduce((sum, [, count]) => sum + (count === undefined || count === '' ? 1 : Number(count)), 0);
}
