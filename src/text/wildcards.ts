// Shell patterns for a single text: `*`, `?`, `[a-z]`, `\x`. Without backtracking, matching takes time proportional to pattern
// times text, whatever the pattern.

type Token = '*' | ((character: string) => boolean);

/** Compiles a pattern that must match a whole text. Stars and question marks match slashes, too: the caller splits paths. */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const tokens = tokensOf(pattern);
  return (text) => matchesTokens(tokens, [...text]);
}

/** Greedy: if a later piece does not fit, only the last `*` takes one more character. */
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
