// Real processes, killed with SIGKILL before every call that changes something on the disk and in the middle of every write;
// another process continues. Nothing that was acknowledged may be missing, and nothing may appear twice.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openRollout } from '../../src/rollout/rollout.io.ts';
import { bundled } from '../support/dying-process.ts';
import { FORK, PARENT, playScript, SCRIPT_RECORDS, scriptWorld } from './script.ts';
import type { ScriptEnd } from './script.ts';

const NOT_POSIX = process.platform === 'win32' ? 'there is no SIGKILL' : false;

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

interface Point {
  readonly call: number;
  readonly bytes?: number;
}

async function ended(child: ChildProcess): Promise<Ended> {
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_, signal) => resolve({ signal, output }));
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) =>
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
  );
}

function acknowledgedIn({ output }: Ended): number {
  return Math.max(0, ...[...output.matchAll(/^acknowledged (\d+)$/gm)].map((match) => Number(match[1])));
}

function pointAt(call: number, bytes?: number): Point {
  return bytes === undefined ? { call } : { call, bytes };
}

describe('a process is killed', { skip: NOT_POSIX }, () => {
  let root: string;
  let program: string;
  let whole: ScriptEnd;
  let wholeBytes: readonly [parent: Buffer, fork: Buffer];
  let homes = 0;

  before(async () => {
    ({ root, program } = await bundled(new URL('process.ts', import.meta.url)));
    const home = await newHome();
    whole = await playScript(home, scriptWorld(), () => undefined);
    wholeBytes = await bytesOf(home);
  });
  after(() => rm(root, { recursive: true, force: true }));

  async function newHome(): Promise<string> {
    const home = join(root, `home-${homes++}`);
    await mkdir(home);
    return home;
  }

  function start(args: readonly (string | number)[], shell?: string): ChildProcess {
    const line = [process.execPath, program, ...args.map(String)];
    const [file = '', ...rest] = shell === undefined ? line : ['/bin/sh', '-c', shell, 'sh', ...line];
    return spawn(file, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  async function bytesOf(home: string): Promise<readonly [Buffer, Buffer]> {
    const path = (id: string) => join(home, `sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`);
    return [await readFile(path(PARENT)), await readFile(path(FORK))];
  }

  /** Plays the script to its end, and holds that the end is that of a script that nobody interrupted. */
  async function finish(home: string, acknowledged: number): Promise<void> {
    let appended = 0;
    const end = await playScript(home, scriptWorld(), (records) => {
      assert.ok(records > acknowledged, `record ${records} was acknowledged before, and appended again`);
      appended = records;
    });
    assert.ok(appended === SCRIPT_RECORDS || appended === 0, 'the script was not played to its end');
    assert.deepEqual(end.parent.history, whole.parent.history);
    assert.deepEqual(end.parent.compactions, whole.parent.compactions);
    assert.deepEqual(end.fork.history, whole.fork.history);
    assert.deepEqual(end.fork.compactions, whole.fork.compactions);
    const bytes = await bytesOf(home);
    // The very bytes: every record once, in order, none of them changed.
    assert.deepEqual(bytes[0].toString(), wholeBytes[0].toString());
    assert.deepEqual(bytes[1].toString(), wholeBytes[1].toString());
  }

  /** Every point at which the script can be stopped: between two calls, and within a write. */
  async function points(): Promise<readonly Point[]> {
    const { output } = await ended(start(['play', await newHome()]));
    const calls = [...output.matchAll(/^call (\w+) (\d*)$/gm)];
    return calls.flatMap(([, name, size], call): Point[] =>
      name === 'write'
        ? [undefined, Math.floor(Number(size) / 2), Number(size) - 1].map((bytes) => pointAt(call, bytes))
        : [pointAt(call)],
    );
  }

  async function killAt(home: string, { call, bytes }: Point): Promise<number> {
    const killed = await ended(start(['play', home, call, ...(bytes === undefined ? [] : [bytes])]));
    assert.equal(killed.signal, 'SIGKILL', `not killed at ${call}`);
    return acknowledgedIn(killed);
  }

  it('at every write point, and another one finishes its work', async (t) => {
    const all = await points();
    t.diagnostic(`${all.length} points`);
    assert.ok(all.length > 120, `only ${all.length} points`);
    const queue = [...all];
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
        const home = await newHome();
        const acknowledged = await killAt(home, point);
        await finish(home, acknowledged).catch((error: unknown) => {
          throw new Error(`killed at ${JSON.stringify(point)}: ${(error as Error).message}`, {
            cause: error,
          });
        });
        await rm(home, { recursive: true });
      }
    };
    await Promise.all([worker(), worker()]);
  });

  it('and the next one is killed, too, wherever it repairs and takes over', async () => {
    const torn = (await points()).filter(({ bytes }) => bytes !== undefined).at(50);
    assert.ok(torn !== undefined, 'there is no such point');
    const crashed = await newHome();
    const acknowledged = await killAt(crashed, torn);
    for (let call = 0; call < 14; call++) {
      const home = await newHome();
      await cp(crashed, home, { recursive: true });
      const more = await killAt(home, { call });
      await finish(home, Math.max(acknowledged, more));
    }
  });

  it('while it holds a thread that another one wants', async (t) => {
    const home = await newHome();
    await playScript(home, scriptWorld(), () => undefined);
    const holder = start(['hold', home, FORK]);
    t.after(() => holder.kill('SIGKILL'));
    assert.equal(await firstLine(holder), 'open');
    await assert.rejects(openRollout(home, FORK, scriptWorld()), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'session_live');
      assert.match(error.message, new RegExp(`is open in process ${holder.pid} `));
      return true;
    });
    const gone = ended(holder);
    holder.kill('SIGKILL');
    await gone;
    const { rollout } = await openRollout(home, FORK, scriptWorld());
    assert.deepEqual(rollout.history, whole.fork.history);
    await rollout.close();
  });

  it('and of those that want its thread then exactly one gets it', async (t) => {
    const home = await newHome();
    await playScript(home, scriptWorld(), () => undefined);
    const holder = start(['hold', home, FORK]);
    assert.equal(await firstLine(holder), 'open');
    const gone = ended(holder);
    holder.kill('SIGKILL');
    await gone;
    const racers = Array.from({ length: 6 }, () => start(['race', home, FORK]));
    t.after(() => racers.forEach((racer) => racer.kill('SIGKILL')));
    const answers = racers.map(firstLine);
    for (const racer of racers) racer.stdin?.write('now\n');
    assert.deepEqual((await Promise.all(answers)).toSorted(), [
      ...Array.from({ length: 5 }, () => 'session_live'),
      'won',
    ]);
  });

  it('or its file may not grow: what was acknowledged is there', async () => {
    const home = await newHome();
    // Blocks of 512 bytes, or of 1024 for some shells.
    const { output, signal } = await ended(start(['fill', home], 'ulimit -f 40; exec "$@"'));
    assert.equal(signal, null);
    const match = /^(\d+) .* could not be written: the file has reached its maximum size$/m.exec(output);
    assert.ok(match !== null, `not told as it is: ${output}`);
    const { rollout, damage } = await openRollout(home, 'last', scriptWorld());
    assert.equal(rollout.history.length, Number(match[1]));
    assert.deepEqual(damage, []);
    await rollout.append([{ type: 'turn_complete' }]);
    await rollout.close();
  });
});
