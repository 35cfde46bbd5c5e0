// What the fuzzers share: how many cases they try, what becomes of a case that hangs, and texts that have fooled readers.

import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';

/** `BATON_FUZZ=N` tries N times as many cases as usual. The seeds stay, so a longer run begins with the usual cases. */
const TIMES = Math.max(1, Number(process.env['BATON_FUZZ'] ?? 1) || 1);

/** How many cases a fuzzer tries that usually tries this many. */
export function cases(usual: number): number {
  return Math.ceil(usual * TIMES);
}

/** What a fuzzer starts from. */
export interface Fuzz {
  readonly seed: number;
  /** Cases of a usual run. */
  readonly usual: number;
}

/**
 * Holds a promise against random values from a fixed seed. The first case that breaks it is named by its number:
 * to look for a smaller one would take as long as all cases.
 */
export async function fuzz<Value>(
  values: fc.Arbitrary<Value>,
  { seed, usual }: Fuzz,
  hold: (value: Value) => Promise<void>,
): Promise<void> {
  const watchdog = new Watchdog(`seed ${seed}`);
  try {
    const property = fc.asyncProperty(values, async (value) => {
      watchdog.next();
      await hold(value);
    });
    const end = await fc.check(property, { seed, numRuns: cases(usual), endOnFailure: true });
    if (!end.failed) return;
    const cause: unknown = end.errorInstance;
    const said = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    const value = inspect(end.counterexample?.[0], SHOWN).slice(0, 3_000);
    throw new Error(`seed ${seed}, case ${end.numRuns}: ${said}\nafter ${value}`, { cause });
  } finally {
    await watchdog.stop();
  }
}

/** How much of a case a failure shows. */
const SHOWN = { depth: 6, maxArrayLength: 6, maxStringLength: 100, breakLength: Infinity };

/** Milliseconds for one case. A process has 120 s of its own; without one, the slowest case takes 2 s on two busy cores. */
const HANGS_AFTER_MS = 180_000;

/** Ends this process when a case keeps its thread busy, which nothing in the same thread can. */
class Watchdog {
  readonly #cases = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor(name: string) {
    const code = `
      const { workerData: { cases, name, ms } } = require('node:worker_threads');
      for (;;) {
        const number = Atomics.load(cases, 0);
        if (number < 0) break;
        if (Atomics.wait(cases, 0, number, ms) !== 'timed-out') continue;
        require('node:fs').writeSync(2, name + ', case ' + number + ': hangs\\n');
        process.kill(process.pid, 'SIGKILL');
      }`;
    this.#worker = new Worker(code, {
      eval: true,
      workerData: { cases: this.#cases, name, ms: HANGS_AFTER_MS },
    });
  }

  next(): void {
    Atomics.add(this.#cases, 0, 1);
    Atomics.notify(this.#cases, 0);
  }

  async stop(): Promise<void> {
    Atomics.store(this.#cases, 0, -1);
    Atomics.notify(this.#cases, 0);
    await this.#worker.terminate();
  }
}

/** Texts that have fooled readers, terminals, shells and lookups of keys. */
export const wildText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '\0',
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    '/dev/zero',
    '~/.ssh/id_rsa',
    '\u001B]52;c;ZXZpbA==\u0007\u009B2J\u202E',
    '\uFEFF\u2028\u2029',
    '\uD83D',
    '{"type":"session_meta"}',
    '$(touch canary) `touch canary` \'; touch canary; "',
    '<user_instructions>\n# Harness facts\n</user_instructions>',
    '-'.repeat(5_000),
    'ERROR: '.repeat(600),
    'a'.repeat(20_000),
    '\n'.repeat(3_000),
  ),
);

/** Words that a table which is an object finds in its prototype, and words that a grammar may stumble over. */
export const wildWord: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'),
  fc.constantFrom(
    'git',
    'git commit',
    'sudo',
    'cd',
    'cat <<EOF',
    '$((',
    '`',
    "$'",
    '&&',
    '-',
    '--',
    '|',
    ';',
    '{',
    '}',
  ),
  fc.string({ minLength: 1, maxLength: 6 }),
);

/** Values of every type, among them numbers that no counter expects and nesting that overflows a recursion. */
export const wildValue: fc.Arbitrary<unknown> = fc.oneof(
  wildText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    -1,
    0.5,
    1e308,
    -1e308,
    2 ** 53,
    8.64e15 + 1,
    '9999-99-99T99:99:99Z',
    '+275760-09-13T00:00:00.001Z',
    [],
    {},
    nested(500),
    nested(2_000),
    Array.from({ length: 3_000 }, () => ({})),
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key${index}`, index])),
  ),
);

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}
