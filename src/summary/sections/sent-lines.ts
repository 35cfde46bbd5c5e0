// Texts sent repeatedly to targets of one kind: one line for all answers to the comments of a review.

import { quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { clip } from '../../text/sentences.ts';
import { SINCE } from './step-lines.ts';
import type { CommandRun, Trail } from '../../trail/trail.ts';

/** A command that sends a text to a numbered target. */
const SENDS =
  /^(gh (?:api|pr comment|issue comment)) ['"]?(?=[^\s'"\d]*\d)([^\s'"]+)['"]? [^]*?(?:-f|-F|--field|--raw-field|--body|-b)[ =]["']?(?:body=)?["']?([^]*)$/;
const NUMBER = /\d{4,}/g;

/** Heading of runs that no other line shows. */
export const OTHER_RUNS = 'Other commands run, with how they went last:';

/** Fewer are shown one by one. */
const LEAST_SENT = 3;
/** Most numbers listed, and characters of the newest text. */
const NAMED = 24;
const TEXT_LENGTH = 100;

interface Sent {
  readonly run: CommandRun;
  readonly to: string;
  readonly number: string;
  readonly text: string;
}

/** One line for successful runs that differ only in target and text, and the commands that it covers. */
export function sentLines(runs: readonly CommandRun[]): {
  readonly lines: readonly SummaryLine[];
  readonly covered: ReadonlySet<string>;
} {
  const many = manySent(runs);
  return {
    lines: many.flatMap((sent) => {
      const { text, position, turn } = sentText(sent);
      const order = 1e9 + position;
      const line = `- ${text(` (message ${turn})`)}`;
      return [summaryLine({ section: SECTION.solving, order, text: line, value: 1, group: OTHER_RUNS })];
    }),
    covered: new Set(many.flat().map(({ run }) => run.command)),
  };
}

/**
 * Texts sent to many targets on the current request count as one step: returns its line, and the trail without the separate
 * calls.
 */
export function sentSteps(trail: Trail): { readonly lines: readonly SummaryLine[]; readonly rest: Trail } {
  const { commands, current, turns } = trail;
  const many = current.isAgentDone ? [] : manySent(commands.filter(({ turn }) => turn === turns));
  if (many.length === 0) return { lines: [], rest: trail };
  const positions = new Set(many.flat().map(({ run }) => run.position));
  const isOther = ({ position }: { readonly position: number }): boolean => !positions.has(position);
  return {
    lines: many.map((sent) => {
      const { text, position } = sentText(sent);
      const order = position + 0.4;
      const line = `- ran ${text('')}`;
      return summaryLine({ section: SECTION.current, order, text: line, value: 2, group: SINCE });
    }),
    rest: {
      ...trail,
      commands: commands.filter(isOther),
      current: {
        ...current,
        unread: current.unread.filter(isOther),
        tail: current.tail.filter(isOther),
        actions: current.actions.filter(({ call }) => call === undefined || !positions.has(call)),
      },
    },
  };
}

/** Texts that were sent to at least three targets of one kind. */
function manySent(runs: readonly CommandRun[]): readonly (readonly [Sent, ...Sent[]])[] {
  const groups = new Map<string, [Sent, ...Sent[]]>();
  for (const sent of runs.flatMap(sentBy)) {
    const group = groups.get(sent.to);
    if (group === undefined) groups.set(sent.to, [sent]);
    else group.push(sent);
  }
  return [...groups.values()].filter((sent) => new Set(sent.map(({ number }) => number)).size >= LEAST_SENT);
}

/** The texts that a run sent, command by command; empty if it also did something else. */
function sentBy(run: CommandRun): Sent[] {
  if (run.failed || !run.command.startsWith('gh ')) return [];
  const commands = run.command.split(/(?:;| &&) (?=gh )/);
  const sent = commands.flatMap((command) => {
    const [, verb = '', target = '', text = ''] = SENDS.exec(command) ?? [];
    const number = target.match(NUMBER)?.at(-1);
    return number === undefined
      ? []
      : [{ run, to: `${verb} ${target.replaceAll(NUMBER, '*')}`, number, text }];
  });
  return sent.length === commands.length ? sent : [];
}

/** The line for the texts sent, and the position of the newest. */
function sentText([first, ...others]: readonly [Sent, ...Sent[]]): {
  readonly text: (when: string) => string;
  readonly position: number;
  readonly turn: number;
} {
  const sent = [first, ...others];
  const newest = others.at(-1) ?? first;
  const times = new Map<string, number>();
  for (const { number } of sent) times.set(number, (times.get(number) ?? 0) + 1);
  const numbers = [...times.keys()];
  const again = numbers.filter((number) => (times.get(number) ?? 0) > 1).length;
  const twice = again === 0 ? '' : ` (${again} more than once)`;
  const more = numbers.length > NAMED ? `, and ${numbers.length - NAMED} more` : '';
  const to = `\`${newest.to}\`: sent to ${numbers.length}${twice}: ${numbers.slice(-NAMED).join(', ')}${more}`;
  const last = quoted(clip(newest.text.replace(/["']$/, ''), TEXT_LENGTH));
  return {
    text: (when) => `${to}; the newest${when}: ${last}`,
    position: newest.run.position,
    turn: newest.run.turn,
  };
}
