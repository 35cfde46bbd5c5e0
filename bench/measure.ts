// Times things that are to be compared: interleaved (ABAB…), so that a busy machine is busy for all of them.

import { existsSync, readFileSync } from 'node:fs';

/** One side of a comparison. */
export interface Contender {
  readonly run: () => unknown;
  /** Runs before each `run`, untimed. */
  readonly prepare?: () => void;
}

/** Middle of the sorted values; the lower one of two. NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? Number.NaN;
}

/** Rounds that warm the compiler up and do not count: at most this many, and no more once they took this long. */
const MOST_WARM_UPS = 8;
const WARM_UP_MS = 2000;

/**
 * Runs all contenders in turn, `rounds` times after the warm-up, and gives the median of each in milliseconds.
 * Nothing forces garbage collection in between: it shrinks the heap, and growing it again would be most of what a
 * short run costs.
 */
export async function race<Names extends string>(
  contenders: Readonly<Record<Names, Contender>>,
  rounds: number,
  readClock?: Clock,
): Promise<Readonly<Record<Names, number>>> {
  const entries = Object.entries(contenders) as [Names, Contender][];
  const times = new Map<Names, number[]>(entries.map(([name]) => [name, []]));
  const started = performance.now();
  for (let warmUp = 0; warmUp < MOST_WARM_UPS && performance.now() - started < WARM_UP_MS; warmUp++) {
    for (const [, contender] of entries) await timeOnce(contender, readClock);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, contender] of entries) times.get(name)?.push(await timeOnce(contender, readClock));
  }
  return Object.fromEntries(entries.map(([name]) => [name, median(times.get(name) ?? [])])) as Record<
    Names,
    number
  >;
}

/** Milliseconds of one run. */
export async function timeOnce(
  { run, prepare }: Contender,
  readClock: Clock = processorTime,
): Promise<number> {
  prepare?.();
  const before = readClock();
  const result = run();
  if (result instanceof Promise) await result;
  return readClock() - before;
}

/** Milliseconds since some moment. */
export type Clock = () => number;

/**
 * Processor time of this process, which does not go on while another program has the processor. All threads count, those
 * that collect garbage and read files too; other processes do not.
 */
export const processorTime: Clock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Processor time of the main thread alone, which is how long it kept everything else waiting; time that passes where
 * the system does not tell.
 */
export const mainThreadTime: Clock = () => {
  if (!existsSync(MAIN_THREAD)) return performance.now();
  return Number(readFileSync(MAIN_THREAD, 'utf8').split(' ')[0]) / 1e6;
};

/** The first number in it is the nanoseconds that the thread has run. @source Linux, Documentation/scheduler/sched-stats */
const MAIN_THREAD = '/proc/thread-self/schedstat';

/** Time that passes: for work that other processes do. */
export const passingTime: Clock = () => performance.now();
