// A real process runs a whole thread, with its watcher, tools and log, and is killed with SIGKILL wherever its log is written;
// another process continues the thread. Nothing that was acknowledged may be missing, and nothing may happen twice.
//
// `BATON_CRASH_POINTS=all` kills it at every point; a sample of them is enough for every day.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { openRollout } from '../../src/rollout/rollout.io.ts';
import { openThreadIn } from '../support/opened-thread.ts';
import { client, MODEL } from '../support/provider-server/client.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import type { ProviderServer } from '../support/provider-server/server.ts';
import { bundled } from '../support/dying-process.ts';
import { EFFECTS, MESSAGES, REPLIES, says, userTexts } from './script.ts';

const NOT_POSIX = process.platform === 'win32' ? 'there is no SIGKILL' : false;

/** Points of the sample, evenly over all of them. */
const SAMPLE = 24;

interface Point {
  readonly call: number;
  readonly bytes?: number;
}

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

interface Place {
  /** Baton's home. */
  readonly home: string;
  /** The repository of the agent. */
  readonly work: string;
}

describe('a process with a live thread is killed', { skip: NOT_POSIX }, () => {
  let root: string;
  let program: string;
  let places = 0;

  before(async () => {
    ({ root, program } = await bundled(new URL('process.ts', import.meta.url)));
    const work = join(root, 'repository');
    execFileSync('git', ['init', '-q', '-b', 'main', work]);
    for (const [key, value] of Object.entries({ name: 'Keeper', email: 'keeper@tower.example' })) {
      execFileSync('git', ['-C', work, 'config', `user.${key}`, value]);
    }
  });
  after(() => rm(root, { recursive: true, force: true }));

  async function newPlace(): Promise<Place> {
    const folder = join(root, `place-${places++}`);
    const place = { home: join(folder, 'home'), work: join(folder, 'work') };
    await mkdir(place.home, { recursive: true });
    await cp(join(root, 'repository'), place.work, { recursive: true });
    return place;
  }

  async function play(place: Place, server: ProviderServer, point?: Point): Promise<Ended> {
    server.play({ replies: REPLIES });
    const args = point === undefined ? [] : [point.call, ...(point.bytes === undefined ? [] : [point.bytes])];
    const child = spawn(
      process.execPath,
      [program, place.home, place.work, server.baseUrl, ...args.map(String)],
      // What a killed process leaves among temporary files goes with the rest.
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TMPDIR: root } },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => {
        if (status === null || status === 0) resolve({ signal, output });
        else reject(new Error(`the process failed with status ${status}`));
      });
    });
  }

  /** Every point at which it can be stopped: between two calls, and within a write. */
  async function points(server: ProviderServer): Promise<readonly Point[]> {
    const place = await newPlace();
    const { output } = await play(place, server);
    assert.deepEqual(acknowledgedIn(output), MESSAGES, 'the script is acknowledged as a whole');
    await assertSound(place, { handovers: 2 });
    const calls = [...output.matchAll(/^call (\w+) (\d*)$/gm)];
    return calls.flatMap(([, name, size], call): Point[] =>
      name === 'write'
        ? [{ call }, { call, bytes: Math.floor(Number(size) / 2) }, { call, bytes: Number(size) - 1 }]
        : [{ call }],
    );
  }

  /** Kills it there, and has this process go on. @returns false where the run had fewer calls */
  async function killAndGoOn(point: Point, server: ProviderServer): Promise<boolean> {
    const place = await newPlace();
    const killed = await play(place, server, point);
    await whenDeserted(place.work);
    const acknowledged = acknowledgedIn(killed.output);
    const effects = effectsOf(place);
    if (rolloutsOf(place).length === 0 || !(await hasHead(place))) {
      assert.deepEqual(acknowledged, [], 'acknowledged, and no session is there');
      return killed.signal === 'SIGKILL';
    }
    server.play({ replies: [says('Going on.', 9_000)] });
    const from = server.requests.length;
    const thread = await openThreadIn({
      ...place,
      model: client('responses', server.baseUrl),
      modelName: MODEL.responses,
      resume: 'last',
    });
    const { ending, lastMessage } = await thread.turn('And now?');
    await thread.close();
    assert.deepEqual({ ending, lastMessage }, { ending: { type: 'complete' }, lastMessage: 'Going on.' });
    assert.deepEqual(
      server.requests.slice(from).filter(({ invalid }) => invalid !== undefined),
      [],
      'every request is one that a provider takes',
    );
    assert.deepEqual(effectsOf(place), effects, 'no command runs again by itself');
    await assertSound(place, { delivered: [...acknowledged, 'And now?'] });
    await rm(place.home, { recursive: true });
    return killed.signal === 'SIGKILL';
  }

  it('wherever it writes: another one continues, nothing is lost, nothing happens twice', async (t) => {
    const servers = await Promise.all([1, 2].map(() => startProviderServer({ replies: REPLIES })));
    t.after(() => Promise.all(servers.map((server) => server.close())));
    const [server] = servers;
    assert.ok(server !== undefined, 'there is a provider');
    const all = await points(server);
    assert.ok(all.length > 100, `only ${all.length} points`);
    const isAll = process.env['BATON_CRASH_POINTS'] === 'all';
    const step = isAll ? 1 : all.length / SAMPLE;
    const queue = all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
    t.diagnostic(`${queue.length} of ${all.length} points`);
    const failures: string[] = [];
    let killed = 0;
    const work = async (own: ProviderServer): Promise<void> => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
        try {
          if (await killAndGoOn(point, own)) killed++;
        } catch (error) {
          failures.push(`killed at ${JSON.stringify(point)}: ${String((error as Error).stack)}`);
        }
      }
    };
    await Promise.all(servers.map(work));
    t.diagnostic(`${killed} killed`);
    assert.deepEqual(failures, []);
    // Batches of appends differ a little from run to run.
    assert.ok(killed > 0.8 * (isAll ? all.length : SAMPLE), `only ${killed} were killed`);
  });
});

/** Waits until no process works in a directory, where the system shows that: a command outlives the process that is killed. */
async function whenDeserted(directory: string): Promise<void> {
  if (process.platform !== 'linux') return sleep(1000);
  const isThere = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
    } catch {
      // It has ended, or belongs to somebody else.
      return false;
    }
  };
  while (readdirSync('/proc').some((name) => /^\d+$/.test(name) && isThere(name))) await sleep(5);
}

function acknowledgedIn(output: string): readonly string[] {
  const texts = [...output.matchAll(/^acknowledged (.+)$/gm)].map(([, text = '']) => text);
  return [...new Set(texts)];
}

function effectsOf({ work }: Place): readonly string[] {
  const path = join(work, EFFECTS);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

function rolloutsOf({ home }: Place): readonly string[] {
  const sessions = join(home, 'sessions');
  if (!existsSync(sessions)) return [];
  return readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
}

/** Whether its first line is whole: before that nothing is recorded. */
async function hasHead(place: Place): Promise<boolean> {
  const [path = ''] = rolloutsOf(place);
  return readFileSync(join(place.home, 'sessions', path), 'utf8').includes('\n');
}

interface Expected {
  /** Messages that the history must hold. */
  readonly delivered?: readonly string[];
  readonly handovers?: number;
}

/** Holds what is true of every log, whatever happened to its writers. */
async function assertSound(place: Place, { delivered = MESSAGES, handovers }: Expected): Promise<void> {
  const records: LogRecord[] = [];
  const world = { clock: { now: () => Date.now() }, ids: { uuid: () => 'none' } };
  const { rollout } = await openRollout(place.home, 'last', world, (record) => records.push(record));
  const history = rollout.history.map(({ value }) => value);
  await rollout.close();
  assert.deepEqual(Object.values(findBrokenPairs(history.map(pairView))).flat(), [], 'a pair is torn apart');
  const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  const said = userTexts(items).toSorted();
  assert.deepEqual(said, [...new Set(said)], 'a message was delivered twice');
  for (const text of delivered) assert.ok(said.includes(text), `lost: ${text}`);
  const compactions = records.filter(({ type }) => type === 'compacted').length;
  const handoffs = items.flatMap(({ origin }) => (origin?.step === 'handoff' ? [origin.sequenceId] : []));
  assert.equal(new Set(handoffs).size, handoffs.length, 'handed over twice');
  assert.ok(handoffs.length <= compactions, `${handoffs.length} handoffs, ${compactions} compactions`);
  if (handovers !== undefined) assert.deepEqual([compactions, handoffs.length], [handovers, handovers]);
  const left = readdirSync(place.home, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    left.filter((name) => name.includes('.lock')),
    [],
    'a lock is left',
  );
}
