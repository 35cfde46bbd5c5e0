// A thread that is stuck in its own code: a signal still ends the process, and a summary that never ends is replaced.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import type { Receipt } from '../../src/protocol/receipt.ts';
import { SPIN, spinning } from '../support/blocked.ts';
import { runBuilt } from '../support/built.ts';
import type { Ended, World } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { readSessionFile } from '../support/read-format.ts';
import { asFile, workLines } from '../support/work-sessions.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A second, and what a busy machine takes to run two threads. A stuck process would take for ever. */
const PROMPTLY_MS = 3_000;

interface Stopped extends Ended {
  /** From the signal to the end of the process. */
  readonly afterMs: number;
  /** The signal that the process ended by, where the stuck thread could not be terminated in time. */
  readonly by: NodeJS.Signals | null;
}

/** Waits until a process spins, sends it a signal, and waits for its end. */
async function stopSpinning(
  signal: NodeJS.Signals,
  run: (world: Pick<World, 'started'>) => Promise<Ended>,
): Promise<Stopped> {
  let stoppedAt = 0;
  let endedAt = 0;
  let by: NodeJS.Signals | null = null;
  const started = (child: ChildProcess): void => {
    child.once('exit', (_, endedBy) => {
      endedAt = performance.now();
      by = endedBy;
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (stoppedAt !== 0 || !chunk.includes(SPIN)) return;
      stoppedAt = performance.now();
      child.kill(signal);
    });
  };
  const ended = await run({ started });
  assert.notEqual(stoppedAt, 0, `it spins: ${ended.stderr}`);
  return { ...ended, afterMs: endedAt - stoppedAt, by };
}

/** A busy machine may take more than the 100 ms that a stuck thread has to end; then the process ends by the signal itself. */
function assertStopped(stopped: Stopped, signal: NodeJS.Signals, what: string): void {
  if (stopped.by === null) assertFailed(stopped, 'interrupted');
  else assert.equal(stopped.by, signal);
  assert.ok(stopped.afterMs < PROMPTLY_MS, `${what}: ${stopped.afterMs} ms`);
}

/** A home with a session in it whose first request makes a reader of JSON spin. */
function freshHome(): string {
  const home = mkdtempSync(join(root, 'h'));
  writeFileSync(join(home, 's.jsonl'), asFile([...workLines('codex'), { type: SPIN }]));
  return home;
}

for (const signal of SIGNALS) {
  test(`${signal} ends a command whose thread is stuck`, async () => {
    const commands = [
      ['inspect', 's.jsonl'],
      ['compact', 's.jsonl', '--out', 'out.jsonl'],
      ['replay', 's.jsonl'],
    ];
    for (const args of signal === 'SIGINT' ? commands : commands.slice(0, 1)) {
      const home = freshHome();
      const stopped = await stopSpinning(signal, (world) =>
        runBuilt(args, { home, env: spinning(), ...world }),
      );
      assertStopped(stopped, signal, args.join(' '));
      assert.deepEqual(readdirSync(home), ['s.jsonl']);
    }
  });
}

test('a second signal ends it at once', async () => {
  const home = freshHome();
  const started = (child: ChildProcess): void => {
    child.stderr?.once('data', () => {
      child.kill('SIGINT');
      void sleep(50).then(() => child.kill('SIGINT'));
    });
  };
  const ended = await runBuilt(['inspect', 's.jsonl'], { home, env: spinning(), started });
  assertFailed(ended, 'interrupted');
});

function play(...replies: readonly Reply[]): void {
  server.play({ key: EXEC_KEY, replies });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The session of the fixture goes on, with every call answered. */
async function assertGoesOn(at: ExecFixture, by = server): Promise<void> {
  by.play({ key: EXEC_KEY, replies: [{ text: 'On it goes.' }] });
  const ended = await at.exec('chat', ['--resume', 'last', 'Go on.']);
  assert.equal(ended.stdout, 'On it goes.\n', ended.stderr);
  assert.deepEqual(Object.values(findBrokenPairs((await at.items()).map(pairView))).flat(), []);
}

for (const signal of SIGNALS) {
  test(`${signal} ends exec whose thread is stuck, with the command that it runs`, async () => {
    const at = new ExecFixture(root, server.baseUrl);
    const calls = [
      { name: 'shell', arguments: { command: 'echo $$ > shell; sleep 1000 & echo $! > child; wait' } },
      { name: 'shell', arguments: { command: 'echo' } },
    ];
    play({ calls });
    const blocked = spinWhen(join(at.work, 'child'));
    const stopped = await stopSpinning(signal, (world) =>
      at.exec('chat', ['Work.'], { env: blocked, ...world }),
    );
    assertStopped(stopped, signal, 'exec');
    await sleep(50);
    for (const name of ['child', 'shell']) assert.equal(isAlive(Number(at.read(name))), false, name);
    await assertGoesOn(at);
  });
}

/** Makes the thread that works spin as soon as a file is there. */
function spinWhen(path: string): Record<string, string> {
  const source = `
    import { existsSync, readFileSync, writeSync } from 'node:fs';
    import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) setInterval(() => {
      if (!existsSync(${JSON.stringify(path)}) || readFileSync(${JSON.stringify(path)}, 'utf8') === '') return;
      writeSync(2, ${JSON.stringify(`${SPIN}\n`)});
      for (;;);
    }, 5).unref();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}

test('Ctrl-C ends serve whose thread is stuck', async () => {
  const at = new ExecFixture(root, server.baseUrl);
  const flag = join(at.home, 'flag');
  const stopped = await stopSpinning('SIGINT', (world) =>
    at.serve('chat', [], {
      env: spinWhen(flag),
      input: false,
      started: (child) => {
        world.started?.(child);
        child.stdout?.once('data', () => writeFileSync(flag, 'now'));
      },
    }),
  );
  assertStopped(stopped, 'SIGINT', 'serve');
  await assertGoesOn(at).catch((error: unknown) => {
    if (at.rollouts().length > 0) throw error;
  });
});

test('a pipe that nobody reads does not keep the process alive', async () => {
  const home = freshHome();
  const big = join(home, 'big.jsonl');
  writeFileSync(big, asFile(workLines('codex')).toString().repeat(20));
  const pid = join(home, 'pid');
  const status = join(home, 'status');
  const isWritten = (path: string): boolean => existsSync(path) && readFileSync(path, 'utf8') !== '';
  const stop = async (): Promise<void> => {
    while (!isWritten(pid)) await sleep(10);
    await sleep(1_500);
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM');
    await sleep(PROMPTLY_MS);
    assert.ok(isWritten(status), 'it has ended while its reader has not');
  };
  let stopped: Promise<void> | undefined;
  const ended = await runBuilt(['compact', big, '--format', 'codex'], {
    home,
    shell: '{ "$@" & echo $! > pid; wait $!; echo $? > status; } | sleep 6',
    started: () => (stopped = stop()),
  });
  await stopped;
  assertNoNoise(ended);
});

/** Where a summary spins: while the log is read for it, and while it is written. */
const PLACES = ['TrailCollector.add', 'writeSummary'];

describe('a summary that never ends', { concurrency: true }, () => {
  for (const place of PLACES) {
    test(`compact writes a plain one if ${place} is stuck`, async () => {
      const home = mkdtempSync(join(root, 'h'));
      const text = asFile(workLines('codex')).toString();
      writeFileSync(join(home, 's.jsonl'), text.replaceAll('Please', SPIN));
      const ended = await runBuilt(['compact', 's.jsonl', '--out', 'out.jsonl', '--json'], {
        home,
        env: spinning([place]),
      });
      assert.equal(ended.status, 0, ended.stderr);
      assert.equal(ended.stderr.match(new RegExp(SPIN, 'g'))?.length, 1, 'it is tried once');
      assert.match(ended.stderr, /^The summary is plain because the usual one took too long/m);
      const receipt = JSON.parse(ended.stdout) as Receipt;
      assert.equal(receipt.rung, 'plain');
      assert.ok(receipt.postTokens < receipt.preTokens);
      assert.ok(receipt.notes.some((note) => note.startsWith('The summary is plain')));
      const { records } = await readSessionFile(join(home, 'out.jsonl'));
      const compacted = records.findLast((record) => record.type === 'compacted');
      assert.ok(compacted?.type === 'compacted');
      assert.deepEqual(Object.values(findBrokenPairs(compacted.replacement.map(pairView))).flat(), []);
      const told = compacted.replacement.map((item) => JSON.stringify(item)).join('\n');
      for (const turn of [1, 2, 3])
        assert.match(told, new RegExp(`${SPIN} post batch ${turn} `), 'every request');
      assert.match(told, /Batch 3 is posted/, "the agent's newest message");
    });

    test(`exec compacts with a plain one if ${place} is stuck, and continues`, async () => {
      const own = await startProviderServer({ replies: [{}] });
      after(() => own.close());
      const at = new ExecFixture(root, own.baseUrl);
      const long = 'for n in $(seq 400); do echo "line $n of the long log"; done';
      const replies = ['a', 'b', 'c', 'd'].map((id) => ({
        calls: [{ name: 'shell', arguments: { command: `${long}; echo ${id}` } }],
      }));
      own.play({ key: EXEC_KEY, replies: [...replies, { text: 'The log is read.' }] });
      const ended = await at.exec('chat', ['--json', `${SPIN} read the log.`], {
        window: 16_000,
        env: spinning([place]),
      });
      assert.equal(ended.status, 0, ended.stderr);
      assert.match(ended.stderr, new RegExp(SPIN));
      const { records } = await readSessionFile(at.rollouts()[0] ?? '');
      const receipts = records.flatMap((record) => (record.type === 'compacted' ? [record.receipt] : []));
      assert.ok(receipts.length > 0, ended.stdout.slice(-2000));
      for (const receipt of receipts) assert.equal(receipt?.rung, 'plain');
      await assertGoesOn(at, own);
    });
  }
});
