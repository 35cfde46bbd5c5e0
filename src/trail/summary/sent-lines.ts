// What was sent again and again to things of one kind: one line for all answers to the comments of a review.

import { quoted, SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { clip } from '../sentences.ts';
import type { CommandRun } from '../trail.ts';

/** What sends a text to a thing that has a number. */
const SENDS =
  /^(gh (?:api|pr comment|issue comment)) ['"]?([^\s'"]*\d[^\s'"]*)['"]? [^]*?(?:-f|-F|--field|--raw-field|--body|-b)[ =]["']?(?:body=)?["']?([^]*)$/;
const NUMBER = /\d{4,}/g;

/** Above runs that nothing else tells. */
export const OTHER_RUNS = 'Other commands run, with how they went last:';

/** Fewer are told one by one. */
const LEAST_SENT = 3;
/** Numbers that are named, and characters of the newest text. */
const NAMED = 24;
const TEXT_LENGTH = 100;

interface Sent {
  readonly run: CommandRun;
  readonly to: string;
  readonly number: string;
  readonly text: string;
}

/** One line for runs that ended well and differ by what they were sent to and what they said; the commands that it tells. */
export function sentLines(runs: readonly CommandRun[]): {
  readonly lines: readonly SummaryLine[];
  readonly told: ReadonlySet<string>;
} {
  const groups = new Map<string, Sent[]>();
  for (const sent of runs.flatMap(sentBy)) groups.set(sent.to, [...(groups.get(sent.to) ?? []), sent]);
  const many = [...groups.values()].filter(
    (sent) => new Set(sent.map(({ number }) => number)).size >= LEAST_SENT,
  );
  return {
    lines: many.flatMap(sentLine),
    told: new Set(many.flat().map(({ run }) => run.command)),
  };
}

/** What a run sent, command by command. */
function sentBy(run: CommandRun): Sent[] {
  if (run.failed || !run.command.startsWith('gh ')) return [];
  return run.command.split(/(?:;| &&) (?=gh )/).flatMap((command) => {
    const [, verb = '', target = '', text = ''] = SENDS.exec(command) ?? [];
    const number = target.match(NUMBER)?.at(-1);
    return number === undefined
      ? []
      : [{ run, to: `${verb} ${target.replaceAll(NUMBER, '*')}`, number, text }];
  });
}

function sentLine(sent: readonly Sent[]): SummaryLine[] {
  const newest = sent.at(-1);
  if (newest === undefined) return [];
  const times = new Map<string, number>();
  for (const { number } of sent) times.set(number, (times.get(number) ?? 0) + 1);
  const numbers = [...times.keys()];
  const again = numbers.filter((number) => (times.get(number) ?? 0) > 1).length;
  const twice = again === 0 ? '' : ` (${again} more than once)`;
  const more = numbers.length > NAMED ? `, and ${numbers.length - NAMED} more` : '';
  const to = `\`${newest.to}\`: sent to ${numbers.length}${twice}: ${numbers.slice(-NAMED).join(', ')}${more}`;
  const last = `the newest (message ${newest.run.turn}): ${quoted(clip(newest.text.replace(/["']$/, ''), TEXT_LENGTH))}`;
  const order = 1e9 + newest.run.position;
  return [
    summaryLine({ section: SECTION.solving, order, text: `- ${to}; ${last}`, value: 1, group: OTHER_RUNS }),
  ];
}
