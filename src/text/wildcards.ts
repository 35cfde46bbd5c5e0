// Patterns of a shell for one text: `*`, `?`, `[a-z]`, `\x`. Matching takes time that grows with pattern times text, whatever
// the pattern: nothing backtracks.

type Token = '*' | ((character: string) => boolean);

/** Reads a pattern that a whole text must match. A star and a question mark match slashes, too: the caller splits paths. */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const tokens = tokensOf(pattern);
  return (text) => matchesTokens(tokens, [...text]);
}

/** Greedy: when a later piece does not fit, only the last `*` takes one character more. */
function matchesTokens(tokens: readonly Token[], text: readonly string[]): boolean {
  let token = 0;
  let star = -1;
  let starAt = 0;
  for (let at = 0; at < text.length;) {
    const now = tokens[token];
    if (now === '*') {
      star = token++;
      starAt = at;
    } else if (now !== undefined && now(text[at] ?? '')) {
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
