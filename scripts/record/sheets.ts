// Invents the time sheets that the recorded session works on: half a year of four people, always the same.

interface SheetFile {
  readonly path: string;
  readonly text: string;
}

const PEOPLE = ['ana', 'ben', 'chi', 'dov'] as const;

const WORK: readonly (readonly [project: string, notes: readonly string[]])[] = [
  ['acme/portal', ['review of the import queue', 'login form, second round', 'pairing on the upload dialog']],
  ['acme/billing', ['invoice layout', 'dunning letters', 'tax rates for the new year', 'export to the bank']],
  ['borealis/api', ['rate limits', 'pagination of /orders', 'bug: order 4711 twice', 'schema migration']],
  ['cedar/site', ['photos for the start page', 'contact form', 'accessibility audit']],
  ['internal/admin', ['weekly meeting', 'mail', 'interviews', 'planning']],
];

/** Lines that people got wrong, by month and the number of the line before which they stand. */
const SLIPS: Readonly<Record<string, readonly (readonly [at: number, line: string])[]>> = {
  '2026-03': [
    [41, '2026-03-06 9:05-11:20 dov acme/portal forgot the zero'],
    [96, '2026-03-13 13:00-25:10 ana borealis/api hour that does not exist'],
    [150, '2026-03-20 14:00-14:00 ben internal/admin started and stopped by mistake'],
  ],
  '2026-04': [
    [70, '2026-04-10 08:30-10:00 ana acme/protal typo in the project'],
    [133, '2026-04-31 09:00-12:00 dov cedar/site april has thirty days'],
  ],
  '2026-05': [
    [22, '2026-05-05 10:15-12:40 chi'],
    [118, '05/18/2026 09:00-11:00 ben acme/billing other way to write a date'],
    [180, '2026-05-27 16:00-17:30 dov borealis/ops half done; see ticket'],
  ],
  '2026-06': [[77, '2026-06-11 11:00–12:30 ana cedar/site dash from a word processor']],
};

const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'] as const;

/** Months in which chi works abroad and writes times with an offset. */
const ABROAD: ReadonlySet<string> = new Set(['2026-04', '2026-05']);

/** The sheets, one file a month. */
export function inventSheets(): readonly SheetFile[] {
  const next = sequence(20_260_101);
  return MONTHS.map((month) => {
    const lines = daysOf(month).flatMap((day) => [...dayLines(`${month}-${day}`, next), '']);
    for (const [at, line] of (SLIPS[month] ?? []).toReversed()) lines.splice(at, 0, line);
    return { path: `timesheets/${month}.txt`, text: `# ${month}, times in UTC\n${lines.join('\n')}` };
  });
}

type Next = (limit: number) => number;

/** Numbers from 0 to below a limit: a linear congruential generator, the same on every machine. */
function sequence(seed: number): Next {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function daysOf(month: string): readonly string[] {
  const days: string[] = [];
  for (let day = 1; day <= 31; day++) {
    const date = new Date(`${month}-${String(day).padStart(2, '0')}T00:00:00Z`);
    const isInMonth = date.toISOString().startsWith(month);
    if (isInMonth && date.getUTCDay() % 6 !== 0) days.push(date.toISOString().slice(8, 10));
  }
  return days;
}

function dayLines(date: string, next: Next): readonly string[] {
  const lines = PEOPLE.flatMap((person) => personLines(date, person, next));
  if (next(5) > 0) return lines;
  const start = 21 * 60 + 30 + next(90);
  return [
    ...lines,
    `${date} ${clock(start)}-${clock(start + 150 + next(120))} ben borealis/ops night deploy`,
  ];
}

function personLines(date: string, person: string, next: Next): readonly string[] {
  const offset = person === 'chi' && ABROAD.has(date.slice(0, 7)) ? '+02:00' : '';
  const lines: string[] = [];
  let minute = 8 * 60 + next(75);
  for (let count = 1 + next(3); count > 0; count--) {
    const [project, notes] = pick(WORK, next);
    const end = minute + 35 + next(160);
    lines.push(`${date} ${clock(minute)}-${clock(end)}${offset} ${person} ${project} ${pick(notes, next)}`);
    minute = end + 1 + next(50);
  }
  return lines;
}

function pick<T>(list: readonly T[], next: Next): T {
  const value = list[next(list.length)];
  if (value === undefined) throw new RangeError('Cannot pick from an empty list');
  return value;
}

function clock(minute: number): string {
  const hours = Math.floor(minute / 60) % 24;
  return `${String(hours).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
