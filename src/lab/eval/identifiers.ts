// The metric's own scanner for identifiers. It shares nothing with the summarizer's, which could otherwise score by
// agreeing with itself on what an identifier is.

const LONGEST = 120;
const SHORTEST = 3;

/** A run of the characters that identifiers are made of, with the signs that may lead it. */
const RUN = /[\w$~.@#/-][\w$~.@#/:+-]*/g;

/** Words in quotes of one kind on one line; the quotes must not touch other words (`don't`). */
const QUOTED = /(?<![\w\\])(["'`])([^"'`\n]{3,60})\1(?!\w)/g;

const FLAG = /^--[a-z][\w-]+$/i;
const REFERENCE = /^#\d+$/;
const ERROR_CODE = /^(?:[A-Z]{1,5}-?\d{2,}|E[A-Z]{4,})$/;
const HASH = /^(?=.*\d)(?=.*[a-f])[\da-f]{7,64}$/;
const DOTTED = /^[\w$-]+(?:\.[\w$-]+)+$/;
const SNAKE = /^\$?[\d_]*[A-Za-z][A-Za-z\d]*_+[A-Za-z\d]\w*$/;
const HUMPS = /^\$?[A-Za-z](?:[A-Z_]|[a-z\d]+_)*[a-z\d]+[A-Z]\w*$/;
const KEBAB = /^[A-Za-z\d]+(?:-[A-Za-z\d]+){2,}$/;
const NUMBER = /^v?\d+(?:\.\d+)+$|^\d{4,9}$|^\d+(?:\.\d+)?(?:ms|s|m|h|k|kb|mb|gb|kib|mib|gib|px|x)$/i;
const YEAR = /^(?:19|20)\d\d$/;

/**
 * The identifiers of one line, each once, in order of appearance: paths, dotted names, symbols with a hump or an
 * underscore, flags, error codes, hashes, issue numbers, versions, numbers with a unit or of four digits and more that
 * are not years, and quoted strings of several words. Linear in the line.
 * @param root working directory without its final slash, or empty; a path below it is given relative to it
 */
export function identifiersIn(line: string, root: string): readonly string[] {
  const found = new Set<string>();
  for (const [run] of line.matchAll(RUN)) for (const word of wordsOf(run)) addWord(found, word, root);
  for (const [, quote, inside] of line.matchAll(QUOTED)) {
    if (inside !== undefined && isQuotedName(inside, quote)) found.add(inside.trim());
  }
  return [...found];
}

/** `a.ts:12:3` is a place in `a.ts`, `key:value` two words; `a::b` and addresses are one. */
function wordsOf(run: string): readonly string[] {
  if (!run.includes(':') || run.includes('::') || run.includes('://')) return [run];
  return run.split(':');
}

function addWord(found: Set<string>, word: string, root: string): void {
  const text = trim(word);
  if (text.length < SHORTEST || text.length > LONGEST) return;
  const local = relativeTo(text, root);
  if (local.length >= SHORTEST && isIdentifier(local)) found.add(local);
}

function trim(word: string): string {
  const tail = word.replace(/(?<![.:+/~@#$-])[.:+/~@#$-]+$/, '');
  // `+name` and `-name` are lines of a diff, `--name` is a flag, `...name` follows an ellipsis, `.name` is hidden.
  return tail.startsWith('--') ? tail : tail.replace(/^(?:[-+]+|\.{3,})(?=[\w.])/, '');
}

function relativeTo(text: string, root: string): string {
  const inside = root !== '' && text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text;
  return inside.startsWith('./') ? inside.slice(2) : inside;
}

function isIdentifier(text: string): boolean {
  if (text.startsWith('-')) return FLAG.test(text);
  if (REFERENCE.test(text) || ERROR_CODE.test(text) || HASH.test(text)) return true;
  if (/^v?\d/.test(text) && NUMBER.test(text)) return !YEAR.test(text);
  if (!/[A-Za-z]/.test(text)) return false;
  if (text.includes('/')) return isPath(text);
  if (text.includes('::')) return true;
  if (DOTTED.test(text)) return text.split('.').some((part) => part.length >= 3);
  return SNAKE.test(text) || HUMPS.test(text) || KEBAB.test(text);
}

/** `and/or` is prose: a path has three parts, a file name with an ending, or a beginning that only paths have. */
function isPath(text: string): boolean {
  const parts = text.split('/').filter((part) => part !== '');
  if (parts.length === 0 || !parts.some((part) => /[A-Za-z]{2}/.test(part))) return false;
  return parts.length >= 3 || /^[~./@]/.test(text) || /\.\w+$/.test(parts.at(-1) ?? '');
}

function isQuotedName(inside: string, quote: string | undefined): boolean {
  if (!/[A-Za-z]{2}/.test(inside)) return false;
  const words = inside.trim().split(/\s+/).length;
  return words > 1 ? words <= 8 : quote === '`' && /^[\w$-]{3,}$/.test(inside);
}
