// Measures what turns and sessions take: `node --import tsx scripts/measure-limits.ts FILE…`. The figures stand in
// docs/decisions/limits.md.

import { AccountFold } from '../src/history/account.ts';
import { isUserMessage } from '../src/history/filter.ts';
import { loadSession } from '../src/formats/session-file.io.ts';
import { openSource } from '../src/formats/source.io.ts';
import { authorOf, callOf, isResult, resultCallId, textOfOutput } from '../src/protocol/item.ts';
import type { Item } from '../src/protocol/item.ts';
import type { LogRecord } from '../src/protocol/record.ts';
import { DEFAULT_CONFIG } from '../src/config/defaults.ts';
import { BatonError } from '../src/errors.ts';
import { costOf, priceOf } from '../src/tokens/prices.ts';

async function* nothing(): AsyncGenerator<Buffer> {
  // No standard input.
}

interface Taken {
  readonly requests: number;
  readonly tokens: number;
  readonly dollars: number;
}

const NOTHING: Taken = { requests: 0, tokens: 0, dollars: 0 };

function plus(one: Taken, other: Taken): Taken {
  return {
    requests: one.requests + other.requests,
    tokens: one.tokens + other.tokens,
    dollars: one.dollars + other.dollars,
  };
}

/** What each turn of the user took; a request without a count is taken to have sent the whole context. */
function takenByTurns(records: readonly LogRecord[]): readonly Taken[] {
  const turns: Taken[] = [NOTHING];
  const account = new AccountFold({
    estimate: DEFAULT_CONFIG.compact,
    safetyMultiplier: DEFAULT_CONFIG.compact.tokenSafetyMultiplier,
  });
  let model: string | undefined;
  let isAnswering = false;
  for (const record of records) {
    account.add(record);
    if (record.type === 'settings') model = record.model ?? model;
    if (record.type !== 'item') continue;
    const { item } = record;
    if (isUserMessage(item)) turns.push(NOTHING);
    const isAgents = authorOf(item) === 'agent' && !isResult(item);
    if (isAgents && !isAnswering) {
      const tokens = account.gauge().used;
      const price = priceOf(model ?? (item.type === 'message' ? item.model : undefined));
      const dollars =
        price === undefined ? 0 : costOf({ input: tokens, cached: tokens * 0.9, output: 500 }, price);
      turns.push(plus(turns.pop() ?? NOTHING, { requests: 1, tokens, dollars }));
    }
    isAnswering = isAgents;
  }
  return turns;
}

/** The longest run of steps that repeat themselves with their results, by the length of the cycle. */
function longestRepeats(records: readonly LogRecord[], cycle: number): { times: number; what: string } {
  const results = new Map<string, string>();
  const items = records.flatMap((record): readonly Item[] => (record.type === 'item' ? [record.item] : []));
  for (const item of items) {
    const id = resultCallId(item);
    if (id === undefined || !('output' in item)) continue;
    results.set(id, textOfOutput(item.output).replace(/^Wall time: .*$/m, ''));
  }
  const steps = items.flatMap((item): readonly string[] => {
    const call = callOf(item);
    if (isUserMessage(item)) return [`user ${item.content.length} ${Math.random()}`];
    if (call?.callId === undefined) return [];
    return [JSON.stringify([call.name, call.input, results.get(call.callId) ?? null])];
  });
  let best = { times: 1, what: '' };
  let run = 0;
  for (let at = cycle; at < steps.length; at++) {
    run = steps[at] === steps[at - cycle] ? run + 1 : 0;
    const times = Math.floor(run / cycle) + 1;
    if (times > best.times) best = { times, what: (steps[at] ?? '').slice(0, 60) };
  }
  return best;
}

/** Levels of brackets in a JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' || token === '[') most = Math.max(most, ++depth);
    else if (token === '}' || token === ']') depth--;
  }
  return most;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const allTurns: Taken[] = [];
const sessions: Taken[] = [];
let deepest = 0;
const repeats = [1, 2, 3].map((cycle) => ({ cycle, times: new Map<number, number>(), most: '' }));
for (const file of process.argv.slice(2)) {
  const records: LogRecord[] = [];
  try {
    const source = await openSource(file, nothing());
    await loadSession(source, (record) => records.push(record));
    await source.close();
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    process.stderr.write(`${file}: ${error.message}\n`);
    continue;
  }
  for (const record of records) {
    const call = record.type === 'item' && callOf(record.item);
    if (call !== false && call !== undefined) deepest = Math.max(deepest, depthOf(call.input));
  }
  const turns = takenByTurns(records).filter(({ requests }) => requests > 0);
  allTurns.push(...turns);
  sessions.push(turns.reduce(plus, NOTHING));
  for (const repeat of repeats) {
    const { times, what } = longestRepeats(records, repeat.cycle);
    if (times > Math.max(...repeat.times.keys(), 1)) repeat.most = what;
    repeat.times.set(times, (repeat.times.get(times) ?? 0) + 1);
  }
}
for (const [name, list] of [
  ['turn', allTurns],
  ['session', sessions],
] as const) {
  for (const key of ['requests', 'tokens', 'dollars'] as const) {
    const values = list.map((taken) => taken[key]);
    const told = [0.5, 0.9, 0.99, 1].map((share) =>
      quantile(values, share).toFixed(key === 'dollars' ? 2 : 0),
    );
    process.stdout.write(`${name} ${key} (${list.length}): median, 90 %, 99 %, most: ${told.join(', ')}\n`);
  }
}
for (const { cycle, times, most } of repeats) {
  const told = [...times].toSorted(([one], [other]) => one - other).map(([n, files]) => `${n}: ${files}`);
  process.stdout.write(`cycles of ${cycle}, times in a row by files: ${told.join(', ')} (${most})\n`);
}
process.stdout.write(`deepest arguments: ${deepest} levels\n`);
