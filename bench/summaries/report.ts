// The report of the yardstick: a value for `--json`, and tables for a terminal.

import { digits } from '../report.ts';
import type { Ablated } from './ablation.ts';
import type { RoomSize } from './code.ts';
import { FALSE_CLASSES } from './counters.ts';
import type { Kept, Scores } from './scores.ts';

/** The scores of one story at one size. */
export interface StoryScores {
  readonly story: string;
  readonly size: number;
  readonly scores: Scores;
}

/** Recall at one size, the mean over all cuts of some sessions. */
export interface RecallRow {
  readonly sessions: 'bundled' | 'recorded';
  readonly size: number;
  readonly cuts: number;
  readonly all: number;
  readonly withoutLists: number;
}

/** Everything that is measured. */
export interface YardstickReport {
  readonly stories: readonly StoryScores[];
  readonly recall: readonly RecallRow[];
  readonly code: readonly RoomSize[];
  /** Summaries of the bundled session beside `JSON.parse` of its lines. */
  readonly speed: {
    readonly megabytesPerSecond: number;
    /** Of the speed of `JSON.parse`. */
    readonly share: number;
  };
  /** Sentences about golden files that differ; empty where none does. */
  readonly goldens: readonly string[];
  readonly ablation?: readonly Ablated[];
}

/** Figures that must hold, each with whether it does; those of recall only with recorded sessions. @source docs/decisions/summary-yardstick.md */
export function targetsOf(report: YardstickReport): readonly Target[] {
  const { stories, recall, code, speed } = report;
  const summaries = Math.max(1, stories.length);
  const falseLines = stories.reduce((sum, { scores }) => sum + scores.falseLines.length, 0) / summaries;
  const rules = together(stories.map(({ scores }) => scores.rules));
  const lines = code.reduce((sum, room) => sum + room.lines, 0);
  const patterns = code.reduce((sum, room) => sum + room.patterns, 0);
  // The bundled session is short: nearly everything in it fits.
  const judged = recall.filter(({ sessions }) => sessions === 'recorded');
  const recallTargets = [
    [4_000, 0.55],
    [8_000, 0.66],
  ].flatMap(([size = 0, bound = 0]) =>
    judged
      .filter((row) => row.size === size)
      .map((row) => atLeast(`recall at ${size} tokens without lists`, row.withoutLists, bound)),
  );
  return [
    atMost('false or misleading lines per summary', falseLines, 0.3),
    atLeast('rules verbatim', shareOf(rules), 0.95),
    ...recallTargets,
    atMost('lines of code', lines, 8_000),
    atMost('regular expressions', patterns, 250),
    atLeast('of the speed of JSON.parse', speed.share, 0.04),
  ];
}

interface Target {
  readonly what: string;
  readonly figure: number;
  readonly target: string;
  readonly isMet: boolean;
}

function atMost(what: string, figure: number, bound: number): Target {
  return { what, figure, target: `≤ ${bound}`, isMet: figure <= bound };
}

function atLeast(what: string, figure: number, bound: number): Target {
  return { what, figure, target: `≥ ${bound}`, isMet: figure >= bound };
}

/** The report as Markdown tables. */
export function renderReport(report: YardstickReport): string {
  const { stories, recall, code, speed, goldens, ablation } = report;
  return [
    '### Stories',
    table(
      ['story', 'size', 'rules', 'first', 'state', 'decisions', 'false lines', 'lists', 'characters'],
      stories.map(({ story, size, scores }) => [
        story,
        sizeOf(size),
        kept(scores.rules),
        scores.hasFirst ? 'yes' : '**no**',
        kept(scores.state),
        kept(scores.decisions),
        String(scores.falseLines.length),
        percent(scores.lists / Math.max(1, scores.characters)),
        String(scores.characters),
      ]),
    ),
    '### False or misleading lines by class',
    table(
      ['class', ...sizesIn(stories).map(sizeOf), 'stories'],
      FALSE_CLASSES.map((each) => {
        const counts = sizesIn(stories).map((size) =>
          stories
            .filter((one) => one.size === size)
            .reduce(
              (sum, { scores }) => sum + scores.falseLines.filter((line) => line.class === each).length,
              0,
            ),
        );
        const tripped = stories.filter(({ scores }) => scores.falseLines.some((line) => line.class === each));
        return [each, ...counts.map(String), [...new Set(tripped.map(({ story }) => story))].join(', ')];
      }),
    ),
    '### Characters by section',
    table(['section', ...sizesIn(stories).map(sizeOf)], sectionRows(stories)),
    '### Recall',
    table(
      ['sessions', 'size', 'cuts', 'all lines', 'without lines that only list names'],
      recall.map((row) => [
        row.sessions,
        sizeOf(row.size),
        String(row.cuts),
        digits(row.all),
        digits(row.withoutLists),
      ]),
    ),
    '### Code',
    table(
      ['room', 'files', 'lines', 'regular expressions'],
      code.map(({ room, files, lines, patterns }) => [room, String(files), String(lines), String(patterns)]),
    ),
    `Speed on the bundled session: ${digits(speed.megabytesPerSecond)} MB/s, ${digits(speed.share)} of JSON.parse.`,
    '### Targets',
    table(
      ['what', 'figure', 'target', 'met'],
      targetsOf(report).map(({ what, figure, target, isMet }) => [
        what,
        digits(figure),
        target,
        isMet ? 'yes' : '**no**',
      ]),
    ),
    ...(ablation === undefined ? [] : ['### Ablation', renderAblation(ablation)]),
    ...(goldens.length === 0
      ? []
      : ['### Golden summaries that differ', goldens.map((fault) => `- ${fault}`).join('\n')]),
  ].join('\n\n');
}

/** The ablation as a table of losses: what goes with each kind of line. */
export function renderAblation(ablation: readonly Ablated[]): string {
  const [whole] = ablation;
  if (whole === undefined) return '';
  const { total: all } = whole;
  return table(
    [
      'without',
      'characters',
      'rules',
      'first',
      'state',
      'decisions',
      'false lines',
      'recall',
      'without lists',
      'refilled',
      'without lists, refilled',
    ],
    ablation.map(({ without, total }, at) => [
      without,
      at === 0 ? String(all.characters) : percent((total.characters - all.characters) / all.characters),
      ...(['rules', 'first', 'state', 'decisions', 'falseLines'] as const).map((key) =>
        at === 0 ? String(all[key]) : signed(total[key] - all[key], 0),
      ),
      ...[
        [total.recall.all, all.recall.all],
        [total.recall.withoutLists, all.recall.withoutLists],
        [total.refilled.all, all.refilled.all],
        [total.refilled.withoutLists, all.refilled.withoutLists],
      ].map(([now = 0, before = 0]) => (at === 0 ? now.toFixed(3) : signed(now - before, 3))),
    ]),
  );
}

function signed(value: number, places: number): string {
  const text = value.toFixed(places);
  if (Number(text) === 0) return '0';
  return value > 0 ? `+${text}` : `−${text.slice(1)}`;
}

function sectionRows(stories: readonly StoryScores[]): string[][] {
  const titles = [...new Set(stories.flatMap(({ scores }) => Object.keys(scores.bySection)))];
  return titles.map((title) => [
    title === '' ? '(before the first)' : title,
    ...sizesIn(stories).map((size) => {
      const here = stories.filter((one) => one.size === size).map(({ scores }) => scores.bySection);
      const all = here.flatMap((sections) => Object.values(sections)).reduce((sum, one) => sum + one, 0);
      return percent(here.reduce((sum, sections) => sum + (sections[title] ?? 0), 0) / Math.max(1, all));
    }),
  ]);
}

function sizesIn(stories: readonly StoryScores[]): readonly number[] {
  return [...new Set(stories.map(({ size }) => size))].toSorted((a, b) => a - b);
}

function together(all: readonly Kept[]): Kept {
  return {
    kept: all.reduce((sum, one) => sum + one.kept, 0),
    of: all.reduce((sum, one) => sum + one.of, 0),
  };
}

function shareOf(part: Kept): number {
  return part.of === 0 ? 1 : part.kept / part.of;
}

function kept({ kept: had, of }: Kept): string {
  return of === 0 ? '' : had === of ? `${had}/${of}` : `**${had}/${of}**`;
}

function sizeOf(size: number): string {
  return `${size / 1_000}k`;
}

function percent(share: number): string {
  return `${digits(Math.round(1_000 * share) / 10)} %`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableRow(head), tableRow(head.map(() => '-')), ...rows.map(tableRow)].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
