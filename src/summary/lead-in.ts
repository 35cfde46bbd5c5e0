// The line above an incomplete list says how many of its items are shown: otherwise a missing item would seem not to exist.

import type { SummaryLine } from './line.ts';
import type { ListPlace } from '../trail/trail.ts';

/** Placeholder in a lead for the number of items shown; costs the same. */
const COUNT_PLACEHOLDER = '(0 of';

/** A lead as it is priced, before the lines below it are known. */
export function leadText(lead: string, place: ListPlace | undefined): string {
  return place === undefined ? `${lead}:` : `${lead} ${COUNT_PLACEHOLDER} ${place.list.items}):`;
}

/** The lead of the first of some lines, with the number of list items that follow if others are missing. */
export function shownLead(lines: readonly SummaryLine[]): string {
  const { lead = '', place: first } = lines[0] ?? {};
  if (first === undefined) return lead;
  const end = lines.findIndex(({ place }) => place?.list !== first.list);
  const shown = new Set((end < 0 ? lines : lines.slice(0, end)).map(({ place }) => place?.item));
  const mark = ` ${COUNT_PLACEHOLDER} ${first.list.items}):`;
  const isWhole = shown.size === first.list.items;
  return lead.replace(mark, isWhole ? ':' : ` (${shown.size} of ${first.list.items}):`);
}
