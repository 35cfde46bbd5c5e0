// Typed canaries: facts of known kinds planted in a generated session that is compacted five times in a row. Real
// sessions show how much survives; canaries show which kind of fact is lost, and whether permanently.

import { WHOLE_ITEMS } from '../../history/clear.ts';
import { HistoryFold } from '../../history/project.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { codexRule, compactItems, newestLines } from './candidates.ts';
import { chanceFrom } from './chance.ts';
import type { Chance } from './chance.ts';
import { readLog } from './log.ts';
import { Past } from './past.ts';
import { linesOfItem } from './text.ts';

/** Kinds of facts. `superseded` is a value that the user changed: the new value must be the last one mentioned. */
export const CANARIES = ['rule', 'cap', 'path', 'id', 'decision', 'superseded'] as const;
export type CanaryKind = (typeof CANARIES)[number];

/** What is asked to keep the canaries. */
export const KEEPERS = ['context', 'newest', 'codex_rule'] as const;
export type Keeper = (typeof KEEPERS)[number];

/** How many canaries of each kind were alive after the last compaction, as a share of the sessions. */
export interface CanaryRow {
  readonly keeper: Keeper;
  readonly alive: Readonly<Record<CanaryKind, number>>;
}

/** The results of a run. */
export interface CanaryReport {
  readonly compactions: number;
  readonly sessions: number;
  readonly targetTokens: number;
  readonly rows: readonly CanaryRow[];
}

/** @source spec 2-engine §10: five successive compactions. */
const COMPACTIONS = 5;
const SESSIONS = 8;
/** The size of an automatic summary. @source spec 2-engine §5. */
const TARGET = 4_000;
/** Calls between two compactions: about 7,000 tokens, more than a compaction leaves. */
const CALLS_PER_ROUND = 30;

/**
 * Plants, compacts and checks, with the same sessions for every keeper. Runs one session at a time and yields its
 * number first, so that the caller can show progress or stop in between.
 */
export function* runCanaries(seed: number, count: CountText): Generator<number, CanaryReport> {
  const alive = new Map<string, number>();
  for (let session = 0; session < SESSIONS; session++) {
    yield session + 1;
    const chance = chanceFrom(seed, 'canaries', session);
    const planted = plant(chance);
    const contexts = compactRepeatedly(planted, chance, countOnce(count));
    for (const keeper of KEEPERS) {
      for (const kind of CANARIES) {
        const key = `${keeper} ${kind}`;
        if (planted.isAlive[kind](contexts[keeper])) alive.set(key, (alive.get(key) ?? 0) + 1);
      }
    }
  }
  const share = (keeper: Keeper, kind: CanaryKind) => (alive.get(`${keeper} ${kind}`) ?? 0) / SESSIONS;
  return {
    compactions: COMPACTIONS,
    sessions: SESSIONS,
    targetTokens: TARGET,
    rows: KEEPERS.map((keeper) => ({
      keeper,
      alive: {
        rule: share(keeper, 'rule'),
        cap: share(keeper, 'cap'),
        path: share(keeper, 'path'),
        id: share(keeper, 'id'),
        decision: share(keeper, 'decision'),
        superseded: share(keeper, 'superseded'),
      },
    })),
  };
}

/** Each round reads the whole log again, but its lines are tokenized only the first time. */
function countOnce(count: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
}

type Contexts = Readonly<Record<Keeper, readonly string[]>>;

function compactRepeatedly(planted: Planted, chance: Chance, count: CountText): Contexts {
  const records: LogRecord[] = [{ type: 'session_meta', cwd: '/home/dev/mill' }];
  const history = new HistoryFold(WHOLE_ITEMS);
  const trail = new TrailCollector();
  let folded = 0;
  let contexts: Contexts = { context: [], newest: [], codex_rule: [] };
  for (let round = 0; round < COMPACTIONS; round++) {
    const items = [...(planted.rounds[round] ?? []), ...work(round, chance)];
    records.push(...items.map((item): LogRecord => ({ type: 'item', item })));
    for (const record of records.slice(folded)) {
      history.add(record);
      trail.add(record);
    }
    folded = records.length;
    const log = readLog(records, count);
    const situation = {
      log,
      past: new Past(log).advance(log.steps.length),
      entries: history.entries,
      trail: trail.trail(),
    };
    const replacement = compactItems(situation, TARGET);
    contexts = {
      context: replacement?.flatMap(linesOfItem) ?? [],
      newest: newestLines(situation, TARGET).lines,
      codex_rule: codexRule(situation, TARGET).lines,
    };
    if (replacement !== undefined)
      records.push({ type: 'compacted', id: `compaction-${round}`, replacement });
  }
  return contexts;
}

interface Planted {
  /** The first items of each round. */
  readonly rounds: readonly (readonly Item[])[];
  readonly isAlive: Readonly<Record<CanaryKind, (lines: readonly string[]) => boolean>>;
}

const DIRECTORIES = ['vendor/quarry', 'third_party/anvil', 'legacy/loom', 'contrib/kiln'];
const STORES = ['SQLite', 'Redis', 'LevelDB', 'Postgres'];

function plant(chance: Chance): Planted {
  const pick = (words: readonly string[]) => words[Math.floor(chance() * words.length)] ?? '';
  const number = (from: number, to: number) => from + Math.floor(chance() * (to - from));
  const directory = pick(DIRECTORIES);
  const cap = `${number(310, 480)} kB`;
  const path = `src/lathe/spindle-${number(100, 999)}.ts`;
  const ticket = `OPS-${number(10_000, 99_999)}`;
  const store = pick(STORES);
  const [before, after] = [number(11, 19), number(21, 39)];
  const rule = `Never touch anything below ${directory} without asking me first.`;
  return {
    rounds: [
      [
        user(`Port the mill to the new lathe. The ticket is ${ticket}. ${rule}`),
        user(`The bundle must stay below ${cap}. Set the retry limit to ${before}.`),
        ...edit('canary-path', path),
        agent(`I decided to keep the queue in ${store} because the broker loses messages when it restarts.`),
      ],
      [user(`Change of plan: the retry limit is ${after} now, not ${before}.`)],
    ],
    isAlive: {
      rule: has(rule),
      cap: has('bundle', cap),
      path: has(path),
      id: has(ticket),
      decision: has('queue', store),
      superseded: (lines) =>
        lines.findLast((line) => line.includes('retry limit'))?.includes(`${after}`) === true,
    },
  };
}

/** Whether one line contains all of the words. */
function has(...needles: readonly string[]): (lines: readonly string[]) => boolean {
  return (lines) => lines.some((line) => needles.every((needle) => line.includes(needle)));
}

const PARTS = ['chuck', 'bed', 'carriage', 'apron', 'tailstock', 'gear', 'belt', 'spool', 'clutch', 'feed'];
const VERBS = ['align', 'measure', 'turn', 'clamp', 'grind', 'polish', 'balance', 'index'];

/** Ordinary work: reads, edits and test runs, each with distinct names. */
function work(round: number, chance: Chance): readonly Item[] {
  const pick = (words: readonly string[]) => words[Math.floor(chance() * words.length)] ?? '';
  const items: Item[] = [user(`Now look after the ${pick(PARTS)} of stage ${round + 1}.`)];
  for (let at = 0; at < CALLS_PER_ROUND; at++) {
    const id = `call-${round}-${at}`;
    const path = `src/stage${round + 1}/${pick(PARTS)}-${at}.ts`;
    if (at % 10 === 4) items.push(...edit(id, path));
    else if (at % 10 === 9)
      items.push(...shell(id, `npm test -- ${path}`, `${at + 3} tests passed, 0 failed`));
    else items.push(...shell(id, `cat ${path}`, listing(pick, at)));
    if (at % 6 === 5)
      items.push(agent(`The ${pick(PARTS)} needs to ${pick(VERBS)} before ${path} can ${pick(VERBS)}.`));
  }
  return [...items, agent(`Stage ${round + 1} is done.`)];
}

function listing(pick: (words: readonly string[]) => string, at: number): string {
  return Array.from({ length: 15 }, (_, line) => {
    return `export const ${pick(VERBS)}_${pick(PARTS)}_${at}_${line} = ${pick(VERBS)}(${pick(PARTS)}, ${line});`;
  }).join('\n');
}

function user(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function agent(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

function shell(callId: string, cmd: string, output: string): readonly Item[] {
  return [
    { type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd }), call_id: callId },
    { type: 'function_call_output', call_id: callId, output },
  ];
}

function edit(callId: string, path: string): readonly Item[] {
  const input = `*** Begin Patch\n*** Update File: ${path}\n@@\n-const turns = 1;\n+const turns = 2;\n*** End Patch`;
  return [
    { type: 'custom_tool_call', name: 'apply_patch', input, call_id: callId },
    {
      type: 'custom_tool_call_output',
      call_id: callId,
      output: `Success. Updated the following files:\nM ${path}`,
    },
  ];
}
