// How much of a file a reader showed, if it reports that.

import type { LineRange } from '../../shell/file-actions.ts';

/** A reader's report about the text that it showed. */
export interface Extent {
  /** The lines shown, if there are more. */
  readonly range: LineRange | undefined;
  /** Lines of the whole file. */
  readonly total: number | undefined;
  /** Something was omitted, and the lines are unknown. */
  readonly hasGaps: boolean;
}

/** Everything that was requested. */
const WHOLE: Extent = { range: undefined, total: undefined, hasGaps: false };

/** `Showing lines 1-100 of 112`. @source Gemini CLI, pi */
const SHOWING = /Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9})/;
/** `(12 more lines not shown. Use offset=101 to continue reading)`, `[12 more lines in file. Use offset=101 to continue.]`. @source pi */
const CONTINUES = /(\d{1,9}) more lines (?:not shown|in file)\. Use offset=(\d{1,9})/;
/** `(12 more lines below)`. @source SWE-agent, OpenHands */
const BELOW = /^\((\d{1,9}) more lines below\)/m;
/** A number before a line, as readers print it. */
const NUMBERED = /^ *(\d{1,9})(?:→|\t|\||:)/gm;
/** @source Codex, Claude Code, mini-swe-agent, opencode */
const GAPS =
  /…\d{1,9} (?:tokens|chars) truncated…|^\.{3} \[\d{1,9} lines truncated\] \.{3}$|^Total output lines: \d|<elided_chars>|^\((?:File has more lines|Output capped)|^<persisted-output>/m;
/** Strings that appear in any such report. Testing them one by one takes a sixth of the time of a pattern. */
const SAYINGS = [
  'more lines',
  'Showing lines',
  'truncated',
  'Total output lines',
  '<elided_chars>',
  'Output capped',
  '<persisted',
];

/**
 * Parses a reader's report about the text that it printed.
 * @param from the first requested line
 */
export function extentOf(output: string, from = 1): Extent {
  if (!SAYINGS.some((saying) => output.includes(saying))) return WHOLE;
  const showing = SHOWING.exec(output);
  if (showing !== null) {
    const [, first = from, to = first, total] = showing.map(Number);
    return shown({ from: first, to }, total);
  }
  const continues = CONTINUES.exec(output);
  if (continues !== null) {
    const next = Number(continues[2]);
    return shown({ from, to: next - 1 }, next - 1 + Number(continues[1]));
  }
  const below = BELOW.exec(output);
  if (below !== null) {
    const numbers = [...output.matchAll(NUMBERED)];
    const to = Number(numbers.at(-1)?.[1]);
    return Number.isNaN(to)
      ? { ...WHOLE, hasGaps: true }
      : shown({ from: Number(numbers[0]?.[1]), to }, to + Number(below[1]));
  }
  return GAPS.test(output) ? { ...WHOLE, hasGaps: true } : WHOLE;
}

function shown(range: LineRange, total: number | undefined): Extent {
  return { range, total, hasGaps: false };
}
