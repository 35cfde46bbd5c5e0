// Searchers such as `grep`, and other programs that take a pattern or a program before their files.

import type { SimpleCommand } from './scripts.ts';

const GREPS = new Set(['rg', 'grep', 'egrep', 'ag', 'ack']);

const GREP_OPTIONS =
  '-A -B -C -m -e -f -d --after-context --before-context --context --max-count --regexp --file';
/** Options of searchers that take the next word for their value. */
const SEARCH_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['grep', wordSet(GREP_OPTIONS)],
  ['egrep', wordSet(GREP_OPTIONS)],
  ['rg', wordSet(`${GREP_OPTIONS} -g -t -T -r -j -M --glob --iglob --type --type-not --replace`)],
  ['ag', wordSet(`${GREP_OPTIONS} -G`)],
  ['ack', wordSet(GREP_OPTIONS)],
  ['awk', wordSet('-F -v -f')],
  ['jq', wordSet('-f --arg --argjson --indent')],
]);
/** Options with which a searcher shows only whether, which or how many files match, alone or combined. */
const SHOWS_NOTHING =
  /^(?:-[^-efgtTmABCdj]*[qlc]|--(?:quiet|silent|count|count-matches|files-with-matches|files-without-match)$)/;

/** Options that provide the pattern or the program, so that no operand does. */
const PATTERN_OPTIONS = wordSet('-e -f --regexp --file');

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** The files and directories that a command searches; undefined if it is not a search or shows none of their content. */
export function searchedOf({ words: [program = '', ...rest] }: SimpleCommand): readonly string[] | undefined {
  if (!GREPS.has(program) || rest.some((word) => SHOWS_NOTHING.test(word))) return undefined;
  return operandsBehindPattern(program, rest);
}

/** The operands of a searcher, or of `awk` and `jq`, after its pattern. */
export function operandsBehindPattern(program: string, rest: readonly string[]): readonly string[] {
  const operands: string[] = [];
  let hasPattern = false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('-') || word === '-') operands.push(word);
    else if (SEARCH_OPTIONS.get(program)?.has(word) === true) {
      hasPattern ||= PATTERN_OPTIONS.has(word);
      at++;
    }
  }
  return operands.slice(hasPattern ? 0 : 1);
}
