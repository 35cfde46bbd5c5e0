// Patterns for paths: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` for any number of directories. Matching never backtracks:
// its time is proportional to pattern times path.

import { wildcardMatcher } from '../../text/wildcards.ts';

/** Maximum number of alternatives that `{a,b}` may expand to. */
const MAX_ALTERNATIVES = 256;

/** Whether a pattern matches a path, which is relative and uses `/`. */
export type PathMatcher = (path: string) => boolean;

/**
 * Compiles a pattern. Without a slash it matches names at any depth, as in `.gitignore`; otherwise it matches whole paths.
 * @returns undefined for a pattern with too many alternatives
 */
export function pathMatcher(pattern: string): PathMatcher | undefined {
  const alternatives = expandBraces(pattern.replace(/^\.?\//, ''));
  if (alternatives === undefined) return undefined;
  const wanted = alternatives.map((alternative): readonly Piece[] => {
    const names: readonly Piece[] = alternative.split('/').map(nameMatcher);
    return alternative.includes('/') ? names : [ANY_DIRECTORIES, ...names];
  });
  return (path) => {
    const names = path.split('/');
    return wanted.some((pieces) => matchesNames(pieces, names));
  };
}

const ANY_DIRECTORIES = '**';

type Piece = typeof ANY_DIRECTORIES | ((name: string) => boolean);

/** Row by row over the pieces: `reached[i]` says whether the pieces so far can end before name `i`. */
function matchesNames(pieces: readonly Piece[], names: readonly string[]): boolean {
  let reached = names.map(() => false);
  let isAtStart = true;
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const next: boolean[] = names.map(() => false);
    let nextAtStart = false;
    if (piece === ANY_DIRECTORIES) {
      // At the end, `**` means everything below, not the directory itself.
      let isOpen = isAtStart;
      nextAtStart = isAtStart && !isLast;
      for (const [at] of names.entries()) {
        next[at] = isLast ? isOpen : isOpen || reached[at] === true;
        isOpen ||= reached[at] === true;
      }
    } else {
      for (const [at, name] of names.entries()) {
        const before = at === 0 ? isAtStart : reached[at - 1] === true;
        next[at] = before && piece(name);
      }
    }
    reached = next;
    isAtStart = nextAtStart;
  }
  return reached.at(-1) ?? false;
}

/** All expansions of `{a,b}`, innermost last; undefined where there are too many. */
function expandBraces(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = /\{([^{}]*)\}/.exec(next);
    if (group === null) done.push(next);
    else {
      const [whole, inside = ''] = group;
      const head = next.slice(0, group.index);
      const tail = next.slice(group.index + whole.length);
      for (const choice of inside.split(',')) open.push(head + choice + tail);
    }
    if (open.length + done.length > MAX_ALTERNATIVES) return undefined;
  }
  return done;
}

function nameMatcher(pattern: string): Piece {
  return pattern === ANY_DIRECTORIES ? ANY_DIRECTORIES : wildcardMatcher(pattern);
}

/** Orders paths like a walk through sorted directories. */
export function comparePaths(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (let at = 0; at < left.length && at < right.length; at++) {
    const [one = '', other = ''] = [left[at], right[at]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
