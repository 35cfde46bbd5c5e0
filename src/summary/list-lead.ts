// The line above a list says how many of its items are told where that is not all: what is missing would read as not being there.

import type { SummaryLine } from './line.ts';
import type { ListPlace } from '../trail/trail.ts';

/** Stands in a lead for how many items are told, and costs as much. */
const TOLD = '(0 of';

/** A lead as it is counted, before it is known what is told below it. */
export function leadText(lead: string, place: ListPlace | undefined): string {
  return place === undefined ? `${lead}:` : `${lead} ${TOLD} ${place.list.items}):`;
}

/** The lead of the first of some lines, with how many items of its list follow below it where others do not. */
export function toldLead(lines: readonly SummaryLine[]): string {
  const { lead = '', place: first } = lines[0] ?? {};
  if (first === undefined) return lead;
  const end = lines.findIndex(({ place }) => place?.list !== first.list);
  const told = new Set((end < 0 ? lines : lines.slice(0, end)).map(({ place }) => place?.item));
  const mark = ` ${TOLD} ${first.list.items}):`;
  const isWhole = told.size === first.list.items;
  return lead.replace(mark, isWhole ? ':' : ` (${told.size} of ${first.list.items}):`);
}
