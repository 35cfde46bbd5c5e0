// Measures what a summary still has to say beside a continuation packet: `node --import tsx scripts/measure-packet.ts FILE…`.
// The figures stand in docs/decisions/packet.md.

import { keptConstraints } from '../src/lab/eval/constraints.ts';
import { chooseCuts } from '../src/lab/eval/cuts.ts';
import { readLog } from '../src/lab/eval/log.ts';
import { Past } from '../src/lab/eval/past.ts';
import { mean } from '../src/lab/eval/statistics.ts';
import { linesOf } from '../src/lab/eval/text.ts';
import { recallOf } from '../src/lab/eval/uses.ts';
import { loadSession } from '../src/formats/session-file.io.ts';
import { openSource } from '../src/formats/source.io.ts';
import { textOfParts } from '../src/protocol/item.ts';
import type { LogRecord } from '../src/protocol/record.ts';
import { loadTokenizer } from '../src/tokens/tokenizer.io.ts';
import type { CountText } from '../src/tokens/estimate.ts';
import { TrailCollector } from '../src/trail/collect.ts';
import type { Trail } from '../src/trail/trail.ts';
import { writeSummary } from '../src/summary/write.ts';
import { assemblePacket } from '../src/watcher/packet/assemble.ts';
import { factsOf } from '../src/watcher/packet/facts.ts';

const SEED = 7;
const CUTS = 3;
const LEAST_USES = 10;
const SIZES = [4_000, 8_000] as const;

async function* nothing(): AsyncGenerator<Buffer> {
  // No standard input.
}

interface Candidate {
  readonly name: string;
  readonly text: string;
}

function candidates(trail: Trail, size: number, count: CountText, lastAgentMessage: string): Candidate[] {
  const occasion = { tier: 'ready', percentRemaining: 60, signals: [], why: 'measured' } as const;
  const packetOf = (maxTokens: number): string =>
    assemblePacket(trail, occasion, factsOf(trail), { maxTokens, count, lastAgentMessage }).text;
  const summary = (budgetTokens: number): string => writeSummary(trail, { budgetTokens, count }).text;
  const shared = [0.25, 0.5, 0.75].map((share): Candidate => {
    const packet = packetOf(size * share);
    return { name: `${share * 100} % packet + summary`, text: `${packet}\n${summary(size - count(packet))}` };
  });
  return [{ name: 'summary', text: summary(size) }, ...shared, { name: 'packet', text: packetOf(size) }];
}

const count = await loadTokenizer();
/** By size and candidate: recall and kept constraints, a mean for each file. */
const scores = new Map<
  string,
  { readonly recall: number[]; readonly unaided: number[]; readonly rules: number[] }
>();
let cuts = 0;
for (const file of process.argv.slice(2)) {
  const records: LogRecord[] = [];
  const source = await openSource(file, nothing());
  await loadSession(source, (record) => records.push(record));
  const log = readLog(records, count);
  const collector = new TrailCollector();
  let next = 0;
  let lastMessage = '';
  const ofFile = new Map<
    string,
    { readonly recall: number[]; readonly unaided: number[]; readonly rules: number[] }
  >();
  const past = new Past(log);
  for (const cut of chooseCuts(log, CUTS, SEED)) {
    const { uses, constraints } = past.advance(cut.step);
    for (const record of records.slice(next, cut.record)) {
      collector.add(record);
      if (record.type !== 'item' || record.item.type !== 'message' || record.item.role !== 'assistant')
        continue;
      lastMessage = textOfParts(record.item.content);
    }
    next = cut.record;
    if (uses.length < LEAST_USES) continue;
    cuts++;
    const trail = collector.trail();
    for (const size of SIZES) {
      for (const { name, text } of candidates(trail, size, log.table.tokensOfText, lastMessage)) {
        const lines = linesOf(text);
        const key = `${size} ${name}`;
        const row = ofFile.get(key) ?? { recall: [], unaided: [], rules: [] };
        const recall = recallOf(lines, uses, log.table);
        row.recall.push(recall.all);
        if (cut.kind === 'regular' && recall.unaided !== undefined) row.unaided.push(recall.unaided);
        const rules = keptConstraints(lines, constraints);
        if (rules !== undefined) row.rules.push(rules);
        ofFile.set(key, row);
      }
    }
  }
  for (const [key, { recall, unaided, rules }] of ofFile) {
    const row = scores.get(key) ?? { recall: [], unaided: [], rules: [] };
    row.recall.push(mean(recall));
    if (unaided.length > 0) row.unaided.push(mean(unaided));
    if (rules.length > 0) row.rules.push(mean(rules));
    scores.set(key, row);
  }
}
process.stdout.write(`${cuts} cuts\n`);
for (const [key, { recall, unaided, rules }] of scores) {
  const shown = [recall, unaided, rules].map((values) => mean(values).toFixed(3)).join('  ');
  process.stdout.write(`${key.padEnd(46)} recall, unaided, rules  ${shown}  (${recall.length} files)\n`);
}
