// Whether work grows with its input: the same is done with n, 2n and 4n of something, and the processor's time is compared.

import assert from 'node:assert/strict';

/** How many times as large the inputs of a growth test are; more for a longer hunt. */
export const GROWTH_SCALE = Number(process.env['BATON_GROWTH_SCALE'] ?? 1);

/** Below this many milliseconds of processor time nothing is said: start-up, compilation and collections weigh more. */
const NOISE_MS = 150;

/**
 * How much longer than four times as long four times as much may take. Linear work stays below 1.5 on a loaded machine;
 * quadratic work comes to 4. @source measured with Node 20 on two cores under a load of 15
 */
const MOST_EXCESS = 2.2;

/** Repetitions until a run is believed to be slow. */
const MOST_RUNS = 4;

/**
 * Asserts that work is not superlinear.
 * @param work does what is measured with an input of this size, and prepares it untimed: `prepare` comes first
 */
export async function assertLinear<Input>(
  name: string,
  size: number,
  work: {
    readonly prepare: (size: number) => Promise<Input> | Input;
    readonly run: (input: Input) => Promise<unknown> | unknown;
  },
): Promise<void> {
  const n = Math.ceil(size * GROWTH_SCALE);
  const inputs = { small: await work.prepare(n), large: await work.prepare(4 * n) };
  // The first run compiles: counted as that of the small input, it would hide what grows.
  await work.run(inputs.small);
  let small = Infinity;
  let large = Infinity;
  for (let run = 0; run < MOST_RUNS; run++) {
    small = Math.min(small, await processorMs(() => work.run(inputs.small)));
    large = Math.min(large, await processorMs(() => work.run(inputs.large)));
    if (large <= 4 * MOST_EXCESS * Math.max(small, NOISE_MS / 4)) return;
  }
  assert.fail(
    `${name}: ${small.toFixed(0)} ms for ${n}, ${large.toFixed(0)} ms for ${4 * n}: ${(large / small).toFixed(1)} times as long`,
  );
}

async function processorMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
