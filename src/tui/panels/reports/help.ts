// Keys and commands.

import { line } from '../../lines/line.ts';
import type { Line } from '../../lines/line.ts';
import { widthOf, wrap } from '../../lines/wrap.ts';
import type { Panel } from '../panel.ts';
import { pagePanel } from './text.ts';

/** A command or a key, and what it does. */
export interface HelpEntry {
  /** `/compact [focus]`, `Ctrl+R`. */
  readonly name: string;
  readonly does: string;
}

/** Entries under a heading. */
export interface HelpSection {
  readonly heading: string;
  readonly entries: readonly HelpEntry[];
}

/** Longest name beside which the meaning stands, in columns; that of a longer one begins below it. */
const LONGEST_NAME = 26;

/** The sections one below the other. */
export function helpPanel(sections: readonly HelpSection[]): Panel {
  return pagePanel({
    title: 'Keys and commands',
    rowsOf: ({ width }) => sections.flatMap((section, index) => sectionRows(section, { index, width })),
  });
}

function sectionRows(
  { heading, entries }: HelpSection,
  { index, width }: { readonly index: number; readonly width: number },
): readonly Line[] {
  const widths = entries.map(({ name }) => widthOf(name)).filter((each) => each <= LONGEST_NAME);
  const column = Math.min(Math.max(0, ...widths) + 2, Math.floor(width / 2));
  const hanging: Line = [{ text: ' '.repeat(column + 2) }];
  return [
    ...(index === 0 ? [] : [[]]),
    line(heading, { hue: 'accent', isBold: true }),
    ...entries.flatMap(({ name, does }) => {
      const room = column - widthOf(name);
      const head: Line = [{ text: `  ${name}` }];
      const rest = { width, hanging };
      return room >= 2
        ? wrap([...head, { text: ' '.repeat(room) }, ...line(does, { hue: 'quiet' })], rest)
        : [...wrap(head, rest), ...wrap([...hanging, ...line(does, { hue: 'quiet' })], rest)];
    }),
  ];
}
