// The results as a table: on the terminal while they come in, and between two marks of docs/benchmarks.md.

/** One comparison. */
export interface Row {
  /** The heading it belongs under. */
  readonly topic: string;
  /** What was done, to how much. */
  readonly what: string;
  readonly baton: string;
  /** What Baton is compared with, and its figure; empty where the target is absolute. */
  readonly against: string;
  /** The figure that the target is about. */
  readonly figure: string;
  /** Absent for a row that only informs. */
  readonly target?: Target;
}

/** A target of the specification and whether it was met. */
export interface Target {
  readonly text: string;
  readonly isMet: boolean;
}

/** At least `bound`; `figure` by its unit. */
export function atLeast(figure: number, bound: number, unit = ''): Target {
  return { text: `≥ ${bound}${unit}`, isMet: figure >= bound };
}

/** At most `bound`. */
export function atMost(figure: number, bound: number, unit = ''): Target {
  return { text: `≤ ${bound}${unit}`, isMet: figure <= bound };
}

/** A figure with three significant digits, without an exponent. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(3)).toString();
}

/** A time in the unit that suits it. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 10_000) return `${digits(milliseconds / 1000)} s`;
  return milliseconds < 0.1 ? `${digits(milliseconds * 1000)} µs` : `${digits(milliseconds)} ms`;
}

/** The rows as Markdown, one table for each topic, in order of appearance. */
export function renderTables(rows: readonly Row[]): string {
  const topics = [...new Set(rows.map(({ topic }) => topic))];
  return topics
    .map((topic) => {
      const lines = rows.filter((row) => row.topic === topic).map(renderRow);
      const head = ['| what | Baton | compared with | figure | target | met |', '| - | - | - | -: | - | - |'];
      return [`### ${topic}`, '', ...head, ...lines].join('\n');
    })
    .join('\n\n');
}

function renderRow({ what, baton, against, figure, target }: Row): string {
  const met = target === undefined ? '' : target.isMet ? 'yes' : '**no**';
  return `| ${[what, baton, against, figure, target?.text ?? '', met].join(' | ')} |`;
}

/** One row as a line for the terminal. */
export function renderLine({ what, baton, against, figure, target }: Row): string {
  const verdict = target === undefined ? '' : ` (target ${target.text}: ${target.isMet ? 'met' : 'MISSED'})`;
  return `  ${what}: ${baton}${against === '' ? '' : `; ${against}`}; ${figure}${verdict}`;
}

const BEGIN = '<!-- begin: written by `npm run bench -- --write` -->';
const END = '<!-- end -->';

/**
 * Puts `content` between the marks of a page.
 * @throws RangeError when the page lacks the marks
 */
export function replaceBetweenMarks(page: string, content: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new RangeError('The page has no marks to write between');
  return `${page.slice(0, begin + BEGIN.length)}\n\n${content}\n\n${page.slice(end)}`;
}
