// The continuation packet of a rehearsed agent: the embedded summary under the headings of the packet prompt.

import type { CountText } from '../../tokens/estimate.ts';
import type { Trail } from '../../trail/trail.ts';
import { writeSummary } from '../../summary/write.ts';
import { SUMMARY_SECTIONS } from '../../vocabulary.ts';
import type { SummarySection } from '../../vocabulary.ts';
import { SNIPPET_PLACEHOLDER } from '../../watcher/packet/accept.ts';
import { PACKET_SECTIONS, SECTION_NAMES } from '../../watcher/packet/sections.ts';
import type { PacketSection } from '../../watcher/packet/sections.ts';

/** Tokens of a packet. @source what `packet_max_tokens`, 4,000, leaves beside the facts and the tail, docs/decisions/packet.md */
export const PACKET_TOKENS = 2_500;

/** Which sections of the summary fill which part of a packet. */
const SECTIONS_OF: Readonly<
  Record<Exclude<PacketSection, 'snippet' | 'directive'>, readonly SummarySection[]>
> = {
  goal: ['Primary Request and Intent', 'All User Messages'],
  completed: ['Files and Code Sections', 'Errors and Fixes'],
  state: ['Current Work'],
  invariants: ['Key Technical Concepts', 'Problem Solving'],
  next_step: ['Optional Next Step', 'Pending Tasks'],
};

/** Writes the packet. The same trail gives the same text. */
export function rehearsedPacket(trail: Trail, count: CountText): string {
  const summary = writeSummary(trail, { budgetTokens: PACKET_TOKENS, count });
  const told = contentsOf(summary.text);
  return PACKET_SECTIONS.map((section) => `## ${SECTION_NAMES[section]}\n\n${partText(section, told)}`).join(
    '\n\n',
  );
}

function partText(section: PacketSection, told: ReadonlyMap<SummarySection, string>): string {
  if (section === 'snippet') return SNIPPET_PLACEHOLDER;
  if (section === 'directive') return 'Continue with the next step; do not start over.';
  const texts = SECTIONS_OF[section].flatMap((name) => told.get(name) ?? []);
  return texts.length === 0 ? 'None.' : texts.join('\n\n');
}

/** The text below each heading of a summary; the word for an empty section is not content. */
function contentsOf(summary: string): ReadonlyMap<SummarySection, string> {
  const lines = new Map<SummarySection, string[]>();
  let current: string[] | undefined;
  let next = 0;
  for (const line of summary.split('\n')) {
    const at = SUMMARY_SECTIONS.findIndex((name, nth) => nth >= next && line === `${nth + 1}. ${name}:`);
    const section = SUMMARY_SECTIONS[at];
    if (section === undefined) current?.push(line);
    else {
      current = [];
      lines.set(section, current);
      next = at + 1;
    }
  }
  const contents = [...lines].map(([section, rows]) => [section, rows.join('\n').trim()] as const);
  return new Map(contents.filter(([, text]) => text !== '' && text !== 'None.'));
}
