// Times things that are to be compared: interleaved (ABAB…), so that a busy machine is busy for all of them.

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

/** Rounds that warm the compiler up and do not count. */
const WARM_UPS = 2;

/**
 * Runs all contenders in turn, `rounds` times after the warm-up, and gives the median of each in milliseconds.
 * Garbage is collected before each run where the process allows it: nobody pays for what another left behind.
 */
export async function race<Names extends string>(
  contenders: Readonly<Record<Names, Contender>>,
  rounds: number,
): Promise<Readonly<Record<Names, number>>> {
  const entries = Object.entries(contenders) as [Names, Contender][];
  const times = new Map<Names, number[]>(entries.map(([name]) => [name, []]));
  for (let round = -WARM_UPS; round < rounds; round++) {
    for (const [name, contender] of entries) {
      const milliseconds = await timeOnce(contender);
      if (round >= 0) times.get(name)?.push(milliseconds);
    }
  }
  return Object.fromEntries(entries.map(([name]) => [name, median(times.get(name) ?? [])])) as Record<
    Names,
    number
  >;
}

/** Milliseconds of one run. */
export async function timeOnce({ run, prepare }: Contender): Promise<number> {
  prepare?.();
  globalThis.gc?.();
  const started = performance.now();
  const result = run();
  if (result instanceof Promise) await result;
  return performance.now() - started;
}
