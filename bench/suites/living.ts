// A thread that lives long: what a turn costs, and what the heap holds, after a hundred turns and after ten thousand, with the
// log on the disk, the watcher on and a handover every 25 turns. The model answers at once, so that the rest is Baton's.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LongThread } from '../../test/support/long-thread.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { withFolder } from '../session-files.ts';
import type { Effort } from './suite.ts';

const TOPIC = 'A thread of many turns';
/** Turns over which the time of one is taken: four handovers are among them. */
const STRETCH = 100;

/** How a thread stands. */
interface Stand {
  readonly turns: number;
  /** Processor time, mean of the turns before. */
  readonly msPerTurn: number;
  readonly heapMegabytes: number;
}

/** The rows of a long life. */
export async function* living({ isQuick }: Effort): AsyncGenerator<Row> {
  const stands = await withFolder((folder) => live(folder, isQuick ? [100, 300, 1000] : [100, 1000, 10_000]));
  const [first] = stands;
  if (first === undefined) return;
  for (const stand of stands) yield* rowsOf(stand, first);
}

async function live(folder: string, marks: readonly number[]): Promise<readonly Stand[]> {
  await warmUp(join(folder, 'warm-up'));
  const thread = await openIn(join(folder, 'thread'));
  const stands: Stand[] = [];
  for (const turns of marks) {
    await thread.playUntil(turns - STRETCH);
    const { user, system } = process.cpuUsage();
    await thread.playUntil(turns);
    const spent = process.cpuUsage({ user, system });
    const msPerTurn = (spent.user + spent.system) / 1000 / STRETCH;
    stands.push({ turns, msPerTurn, heapMegabytes: heapMegabytes() });
  }
  await thread.close();
  return stands;
}

async function warmUp(folder: string): Promise<void> {
  const thread = await openIn(folder);
  await thread.playUntil(2 * STRETCH);
  await thread.close();
}

function openIn(folder: string): Promise<LongThread> {
  mkdirSync(folder);
  return LongThread.open(folder);
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

function rowsOf({ turns, msPerTurn, heapMegabytes: heap }: Stand, first: Stand): readonly Row[] {
  const time = { topic: TOPIC, what: `a turn, mean of the ${STRETCH} up to turn ${digits(turns)}` };
  const space = { topic: TOPIC, what: `heap in use after turn ${digits(turns)}` };
  const [ms, megabytes] = [duration(msPerTurn), `${digits(heap)} MB`];
  if (turns === first.turns) {
    return [
      { ...time, baton: ms, against: '', figure: ms },
      { ...space, baton: megabytes, against: '', figure: megabytes },
    ];
  }
  const [slower, larger] = [msPerTurn / first.msPerTurn, heap / first.heapMegabytes];
  return [
    {
      ...time,
      baton: ms,
      against: `up to turn ${first.turns} ${duration(first.msPerTurn)}`,
      figure: `${digits(slower)}× its cost`,
      target: atMost(slower, 1.5, '×'),
    },
    {
      ...space,
      baton: megabytes,
      against: `after turn ${first.turns} ${digits(first.heapMegabytes)} MB`,
      figure: `${digits(larger)}× its size`,
      target: atMost(larger, 2, '×'),
    },
  ];
}
