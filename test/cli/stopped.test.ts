// Signals at random moments of real runs, with a fixed seed: the process always ends, an output is whole or absent, and a session
// can be resumed.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { writeBigSession } from '../support/big-session.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import type { Ended, World } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { assertNoNoise } from '../support/explained.ts';
import { temporaryDirectory } from '../support/program.ts';
import { startProviderServer } from '../support/provider-server/server.ts';

/** Runs of each command; `BATON_STOPS=200` tries more. */
const RUNS = Number(process.env['BATON_STOPS'] ?? 6);

/** A second, and what a busy machine takes besides to run a thread and to end a process. */
const PROMPTLY_MS = 3_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const root = temporaryDirectory();
const server = await startProviderServer({ replies: [{}] });
after(() => server.close());
const session = join(root, 'session.jsonl');
let compacted: Buffer;

before(async () => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
  await writeBigSession(session, 'codex', 4e6);
  compacted = readFileSync(session);
});

/** Numbers from 0 to 1, the same in every run. @source Numerical Recipes, a linear congruence */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Stopped extends Ended {
  /** From the signal to the end of the process; undefined where it had ended before. */
  readonly afterMs: number | undefined;
}

/** Sends a signal so many milliseconds after the start. */
async function stopped(
  signal: NodeJS.Signals,
  delayMs: number,
  run: (world: Pick<World, 'started'>) => Promise<Ended>,
): Promise<Stopped> {
  let sentAt: number | undefined;
  let endedAt = 0;
  const started = (child: ChildProcess): void => {
    child.once('exit', () => (endedAt = performance.now()));
    void sleep(delayMs).then(() => {
      if (endedAt !== 0) return;
      sentAt = performance.now();
      child.kill(signal);
    });
  };
  const ended = await run({ started });
  return { ...ended, afterMs: sentAt === undefined ? undefined : endedAt - sentAt };
}

function assertStopped({ status, stderr, afterMs = 0 }: Stopped, what: string): void {
  // Before the program runs at all, the signal ends it by itself.
  assert.ok(status === 130 || status === 0 || status === null, `${what}: ${status} ${stderr}`);
  assert.ok(afterMs < PROMPTLY_MS, `${what}: ${afterMs} ms`);
  assertNoNoise({ stderr });
}

describe('signals at random moments', { concurrency: true }, () => {
  test('of compact', async () => {
    const random = chance(6);
    for (let run = 0; run < RUNS; run++) {
      const home = mkdtempSync(join(root, 'h'));
      symlinkSync(session, join(home, 's.jsonl'));
      const delay = Math.floor(1_500 * random());
      const signal = SIGNALS[Math.floor(3 * random())] ?? 'SIGINT';
      const what = `run ${run}, ${signal} after ${delay} ms`;
      const end = await stopped(signal, delay, (world) =>
        runBuilt(['compact', 's.jsonl', '--out', 'out.jsonl'], { home, ...world }),
      );
      assertStopped(end, what);
      const made = readdirSync(home).filter((name) => name !== 's.jsonl');
      assert.ok(
        made.length === 0 || (made.length === 1 && made[0] === 'out.jsonl'),
        `${what}: ${made.join()}`,
      );
      if (made.length === 0) continue;
      const out = readFileSync(join(home, 'out.jsonl'));
      assert.ok(
        out.subarray(0, compacted.length).equals(compacted) && out.at(-1) === 0x0a,
        `${what}: it is whole`,
      );
    }
  });

  test('of exec', async () => {
    const random = chance(7);
    for (let run = 0; run < RUNS; run++) {
      const at = new ExecFixture(root, server.baseUrl);
      const command = 'echo made > made.txt; sleep 1000';
      server.play({ key: EXEC_KEY, replies: [{ calls: [{ name: 'shell', arguments: { command } }] }] });
      const delay = Math.floor(2_000 * random());
      const signal = SIGNALS[Math.floor(3 * random())] ?? 'SIGINT';
      const what = `run ${run}, ${signal} after ${delay} ms`;
      const end = await stopped(signal, delay, (world) => at.exec('chat', ['Work.'], world));
      assertStopped(end, what);
      if (at.rollouts().length === 0) continue;
      server.play({ key: EXEC_KEY, replies: [{ text: 'On it goes.' }] });
      const resumed = await at.exec('chat', ['--resume', 'last', 'Go on.']);
      assert.equal(resumed.stdout, 'On it goes.\n', `${what}: ${resumed.stderr}`);
      assert.deepEqual(Object.values(findBrokenPairs((await at.items()).map(pairView))).flat(), [], what);
    }
  });
});
