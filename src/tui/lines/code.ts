// Highlights code line by line: a line depends on the lines before it only, so that code can be printed while it arrives, and
// looks the same as when it is highlighted at once. Pure.

import { languageNamed, scopedCode, type Language, type OpenModes } from './languages.ts';
import type { Hue, Line, Span } from './line.ts';

/**
 * Characters of one piece of code that are highlighted; what follows is plain. At about 0.1 ms a line this takes 50 ms.
 * @source measured with TypeScript of 40 columns a line
 */
const MOST_HIGHLIGHTED = 20_000;

/** Characters of a line that is highlighted; longer ones are data or minified. @source as long as a screen of 80 × 24 */
const LONGEST_LINE = 2_000;

/** Lines that are kept to know what is open. Deeper nesting starts afresh. @source decision: each is read again for each line */
const MOST_CONTEXT = 12;

/** Where highlighting stands between two lines. */
export interface CodeState {
  readonly language: Language | undefined;
  /** The lines that opened what is open now: a comment, a string, a list of parameters. */
  readonly context: readonly string[];
  readonly open: OpenModes;
  /** Characters so far. */
  readonly characters: number;
}

/** The state before the first line. @param name the language as written after a fence; unknown ones stay plain */
export function beginCode(name: string): CodeState {
  return codeIn(languageNamed(name));
}

/** The state before the first line of a language. */
export function codeIn(language: Language | undefined): CodeState {
  return { language, context: [], open: [], characters: 0 };
}

/** What a grammar's names look like. A name with a dot counts as its first part if it is not listed itself. */
const HUES: ReadonlyMap<string, Hue> = new Map(
  Object.entries<Hue>({
    keyword: 'keyword',
    operator: 'keyword',
    'meta.keyword': 'keyword',
    'selector-tag': 'keyword',
    'template-tag': 'keyword',
    bullet: 'keyword',
    string: 'string',
    regexp: 'string',
    'char.escape': 'string',
    link: 'string',
    code: 'string',
    number: 'number',
    literal: 'number',
    symbol: 'number',
    comment: 'comment',
    quote: 'comment',
    doctag: 'comment',
    meta: 'comment',
    built_in: 'name',
    type: 'name',
    title: 'name',
    section: 'name',
    name: 'name',
    attr: 'name',
    attribute: 'name',
    property: 'name',
    'selector-class': 'name',
    'selector-id': 'name',
    'selector-attr': 'name',
    'selector-pseudo': 'name',
    'variable.language': 'keyword',
    addition: 'good',
    deletion: 'bad',
  }),
);

function hueOf(scope: string | undefined): Hue | undefined {
  if (scope === undefined) return undefined;
  return HUES.get(scope) ?? HUES.get(scope.slice(0, Math.max(0, scope.indexOf('.'))));
}

/** Highlights the next line of code, without its line end. */
export function nextCodeLine(
  state: CodeState,
  text: string,
): { readonly row: Line; readonly state: CodeState } {
  const { language } = state;
  const plain = { row: text === '' ? [] : [{ text }], state };
  if (language === undefined || text.length > LONGEST_LINE) return plain;
  const characters = state.characters + text.length + 1;
  if (characters > MOST_HIGHLIGHTED) return { ...plain, state: { ...state, characters } };
  const before = state.context.map((each) => `${each}\n`).join('');
  const scoped = scopedCode(`${before}${text}\n`, language);
  if (scoped === undefined) return { ...plain, state: { ...state, characters } };
  const row: Span[] = [];
  let skipped = 0;
  for (const part of scoped.parts) {
    const own = part.text.slice(Math.max(0, before.length - skipped)).replace(/\n$/, '');
    skipped += part.text.length;
    if (skipped <= before.length || own === '') continue;
    const hue = hueOf(part.scope);
    const last = row.at(-1);
    if (last !== undefined && last.hue === hue) row[row.length - 1] = { ...last, text: last.text + own };
    else row.push(hue === undefined ? { text: own } : { text: own, hue });
  }
  return { row, state: { ...state, characters, ...contextAfter(state, scoped.open, text) } };
}

/** A line that changes what is open is needed to understand those that follow. */
function contextAfter(
  { context, open: before }: CodeState,
  open: OpenModes,
  text: string,
): Pick<CodeState, 'context' | 'open'> {
  if (open.length === 0) return { context: [], open };
  if (open.length === before.length && open.every((mode, index) => mode === before[index])) {
    return { context, open };
  }
  return context.length < MOST_CONTEXT ? { context: [...context, text], open } : { context: [], open: [] };
}

/**
 * Highlights code. @param name the language as written after a fence, such as `ts`; unknown ones stay plain
 * @returns a line for each line of the source; not wrapped
 */
export function codeLines(source: string, name: string): readonly Line[] {
  let state = beginCode(name);
  return source
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((text) => {
      const next = nextCodeLine(state, text);
      ({ state } = next);
      return next.row;
    });
}
