// The command line of the benchmarks, read before anything is built for them.

import { parseArgs } from 'node:util';

/** What can be measured, in the order in which it is. */
export const SUITE_NAMES = [
  'starting',
  'reading',
  'accounting',
  'counting',
  'clearing',
  'summarizing',
  'compacting',
  'deciding',
  'sampling',
  'living',
  'memory',
  'terminal',
] as const;

/** The name of a suite. */
export type SuiteName = (typeof SUITE_NAMES)[number];

/** The section that measures what summaries say. */
const SUMMARIES = 'summaries';

/** What is said to whoever asks, or asks for what there is not. */
export const USAGE = `Usage: npm run bench -- [SUITE…] [--quick] [--write]
       npm run bench -- summaries [--quick] [--json] [--ablate]

  SUITE    ${SUITE_NAMES.join(', ')}; all when none is named
  --quick  fewer rounds and smaller sizes
  --write  writes the tables into docs/benchmarks.md; not with --quick or a SUITE

  summaries  measures what summaries say instead of time, and compares them with the golden ones;
             BATON_GOLDEN=write in the environment writes those
  --quick    without recorded sessions
  --json     the report as JSON
  --ablate   also what each kind of line buys
`;

/** What is asked for. `why`: a sentence about what cannot be understood. */
export type CommandLine =
  | {
      readonly type: 'run';
      readonly suites: readonly SuiteName[];
      readonly isQuick: boolean;
      readonly writes: boolean;
      /** The process runs one suite by itself and tells the one that started it. */
      readonly isChild: boolean;
    }
  | {
      /** What summaries say; stands alone. */
      readonly type: 'summaries';
      readonly isQuick: boolean;
      readonly isJson: boolean;
      readonly ablates: boolean;
    }
  | { readonly type: 'help' }
  | { readonly type: 'refused'; readonly why: string };

/** Reads the arguments behind `npm run bench --`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    return read(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { type: 'refused', why: error.message };
  }
}

/** @throws TypeError for an option that there is not */
function read(args: readonly string[]): CommandLine {
  const { values: flags, positionals: named } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      child: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      ablate: { type: 'boolean', default: false },
    },
  });
  if (flags.help) return { type: 'help' };
  if (named.length === 1 && named[0] === SUMMARIES) {
    if (flags.write) {
      const why = '--write is for times: BATON_GOLDEN=write writes the golden summaries.';
      return { type: 'refused', why };
    }
    return { type: 'summaries', isQuick: flags.quick, isJson: flags.json, ablates: flags.ablate };
  }
  if (named.includes(SUMMARIES)) {
    return { type: 'refused', why: `${SUMMARIES} measures no time: name it alone.` };
  }
  if (flags.json || flags.ablate) {
    return { type: 'refused', why: `--json and --ablate belong to ${SUMMARIES}: name it.` };
  }
  const unknown = named.filter((name) => !isSuite(name));
  if (unknown.length > 0) {
    const why = `There is no suite ${unknown.join(', ')}: choose from ${SUITE_NAMES.join(', ')}.`;
    return { type: 'refused', why };
  }
  if (flags.write && (flags.quick || named.length > 0)) {
    const why = '--write tells of all suites at full effort: leave --quick and the names of suites out.';
    return { type: 'refused', why };
  }
  const suites = named.length === 0 ? SUITE_NAMES : named.filter(isSuite);
  return { type: 'run', suites, isQuick: flags.quick, writes: flags.write, isChild: flags.child };
}

function isSuite(name: string): name is SuiteName {
  return SUITE_NAMES.some((each) => each === name);
}
