// Patterns for paths: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` for any number of directories. Matching takes time that
// grows with pattern times path, whatever the pattern: nothing backtracks.

/** Most alternatives that `{a,b}` may come to. */
const MAX_ALTERNATIVES = 256;

/** Whether a path, relative and with `/`, is meant by a pattern. */
export type PathMatcher = (path: string) => boolean;

/**
 * Reads a pattern. One without a slash is for names at any depth, as in `.gitignore`; every other one is for whole paths.
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
      // At the end it means everything below, not the directory itself.
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

/** All readings of `{a,b}`, innermost last; undefined where there are too many. */
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

type Token = '*' | ((character: string) => boolean);

function nameMatcher(pattern: string): Piece {
  if (pattern === ANY_DIRECTORIES) return ANY_DIRECTORIES;
  const tokens = tokensOf(pattern);
  return (name) => matchesName(tokens, [...name]);
}

/** Greedy: when a later piece does not fit, only the last `*` takes one character more. */
function matchesName(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let star = -1;
  let starAt = 0;
  for (let at = 0; at < name.length;) {
    const now = tokens[token];
    if (now === '*') {
      star = token++;
      starAt = at;
    } else if (now !== undefined && now(name[at] ?? '')) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[token] === '*') token++;
  return token === tokens.length;
}

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') tokens.push('*');
    else if (character === '?') tokens.push(() => true);
    else if (character === '\\' && at + 1 < characters.length) {
      const literal = characters[++at];
      tokens.push((candidate) => candidate === literal);
    } else if (character === '[') {
      const end = characters.indexOf(']', at + 2);
      if (end < 0) tokens.push((candidate) => candidate === '[');
      else {
        tokens.push(characterClass(characters.slice(at + 1, end)));
        at = end;
      }
    } else tokens.push((candidate) => candidate === character);
  }
  return tokens;
}

function characterClass(inside: readonly string[]): (character: string) => boolean {
  const isNegated = inside[0] === '!' || inside[0] === '^';
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at] ?? '';
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== isNegated;
}

/** Orders paths as a walk through sorted directories meets them. */
export function comparePaths(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (let at = 0; at < left.length && at < right.length; at++) {
    const [one = '', other = ''] = [left[at], right[at]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
