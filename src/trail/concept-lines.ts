// The lines of "Key Technical Concepts": the commands of the project, and names that come up and stand nowhere else.

import { SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import type { CommandRun, Trail } from './trail.ts';

/** How often a command that works must have been run to be worth naming. */
const USUAL_RUNS = 2;

/** The commands of the project that were run again and again, with how they went last. */
export function commandLines(trail: Trail): SummaryLine[] {
  const bySignature = new Map<string, { runs: number; last: CommandRun }>();
  for (const run of trail.commands) {
    const key = run.command.split(' ').slice(0, 3).join(' ');
    const before = bySignature.get(key);
    bySignature.delete(key);
    bySignature.set(key, { runs: (before?.runs ?? 0) + 1, last: run });
  }
  const usual = [...bySignature.values()]
    .filter(
      ({ runs, last }) =>
        runs >= USUAL_RUNS && !/^(?:git|gh) /.test(last.command) && last.command.length < 90,
    )
    .toSorted((a, b) => b.runs - a.runs)
    .slice(0, 6);
  if (usual.length === 0) return [];
  const names = usual.map(
    ({ runs, last }) => `\`${last.command}\` (${runs}×, last ${last.failed ? 'failed' : 'ok'})`,
  );
  return [
    summaryLine({
      section: SECTION.concepts,
      order: 0,
      text: `- Commands in use: ${names.join(', ')}`,
      value: 2,
    }),
  ];
}

/** Names shown to a line, and lines of them at most: this section reminds, it does not list. */
const NAMES_PER_LINE = 6;
const TOKENS_PER_CONCEPT_LINE = 250;

/**
 * The heaviest names that no picked line shows, by kind; those that only results showed come last by their weight.
 * @param shown identifiers that the summary holds already
 */
export function conceptLines(trail: Trail, shown: ReadonlySet<string>, budget: number): SummaryLine[] {
  const most = NAMES_PER_LINE * Math.ceil(budget / TOKENS_PER_CONCEPT_LINE);
  const kinds = new Map<string, string[]>();
  for (const { text } of trail.identifiers) {
    if (shown.has(text)) continue;
    const kind = kindOf(text);
    const names = kinds.get(kind) ?? [];
    if (names.length < most) names.push(text);
    kinds.set(kind, names);
  }
  return [...kinds].flatMap(([kind, names], row) => {
    const lines: SummaryLine[] = [];
    for (let at = 0; at < names.length; at += NAMES_PER_LINE) {
      const some = names.slice(at, at + NAMES_PER_LINE).map((name) => `\`${name}\``);
      const text = `- ${kind}: ${some.join(', ')}`;
      lines.push(summaryLine({ section: SECTION.concepts, order: 1 + row * 1_000 + at, text, value: 0 }));
    }
    return lines;
  });
}

function kindOf(identifier: string): string {
  if (identifier.startsWith('-')) return 'Options that come up';
  if (/^#\d+$/.test(identifier) || /^[0-9a-f]{7,40}$/.test(identifier))
    return 'Numbers and hashes that come up';
  if (identifier.includes('/') || /\.[a-z]{1,5}$/.test(identifier)) return 'Paths and files that come up';
  return 'Names that come up';
}
