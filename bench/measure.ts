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

/**
 * So long each side runs first without being counted, by the clock that it is measured with, for the compiler to see its
 * code often enough. By time and not by rounds, so that work of 2 ms and work of 2 s are both measured as they run on.
 */
const WARM_UP_MS = 3000;

/**
 * What is quicker runs several times in a row and counts with its mean. The garbage that a run leaves is collected during
 * one of the next: sides that took turns run by run would pay for each other's.
 */
const TURN_MS = 100;

/**
 * Lets every contender warm up, then all take turns, `rounds` times; gives the median turn of each in milliseconds a run.
 * Nothing forces garbage collection in between: it shrinks the heap, and growing it again would be most of what a
 * short run costs.
 */
export async function race<Names extends string>(
  contenders: Readonly<Record<Names, Contender>>,
  rounds: number,
  readClock: Clock = processorTime,
): Promise<Readonly<Record<Names, number>>> {
  const sides: Side<Names>[] = [];
  for (const [name, contender] of Object.entries(contenders) as [Names, Contender][]) {
    const runMs = await warmUp(contender, readClock);
    sides.push({ name, contender, runs: Math.max(1, Math.round(TURN_MS / runMs)), times: [] });
  }
  // The first turn of each does not count: code that sides share met only one of them so far.
  for (let round = 0; round <= rounds; round++) {
    for (const side of sides) side.times.push(await takeTurn(side, readClock));
  }
  return Object.fromEntries(sides.map(({ name, times }) => [name, median(times.slice(1))])) as Record<
    Names,
    number
  >;
}

interface Side<Names> {
  readonly name: Names;
  readonly contender: Contender;
  /** How often it runs in a turn. */
  readonly runs: number;
  /** Mean of each turn so far. */
  readonly times: number[];
}

/** Milliseconds of a run with what is prepared for it, the mean of those that warmed up. */
async function warmUp(contender: Contender, readClock: Clock): Promise<number> {
  const began = readClock();
  let runs = 0;
  do {
    await timeOnce(contender, readClock);
    runs++;
  } while (readClock() - began < WARM_UP_MS);
  return (readClock() - began) / runs;
}

async function takeTurn({ contender, runs }: Side<string>, readClock: Clock): Promise<number> {
  // What the side before has left is collected meanwhile; a long run outweighs it. @source docs/decisions/speed.md
  const leading = runs > 1 ? runs : 0;
  for (let run = 0; run < leading; run++) await timeOnce(contender, readClock);
  let sum = 0;
  for (let run = 0; run < runs; run++) sum += await timeOnce(contender, readClock);
  return sum / runs;
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
