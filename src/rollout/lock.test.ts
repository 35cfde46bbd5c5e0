import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { BatonError } from '../errors.ts';
import { interceptedFiles, temporaryHome } from '../../test/support/rollouts.ts';
import type { OnCall } from '../../test/support/rollouts.ts';
import { isAlive, placeOwner, readOwner, readProcStat, writeOwner } from './owner.ts';
import type { Owner } from './owner.ts';
import { sweepAbandoned, takeLock } from './lock.io.ts';
import type { Lock } from './lock.io.ts';

const clock = { now: () => Date.UTC(2026, 0, 2) };
const direct = interceptedFiles((_, perform) => perform());
const NOT_LINUX = process.platform === 'linux' ? false : 'only Linux tells when a process started';

function lockOf(home: string): string {
  return join(home, 'thread.jsonl.lock');
}

async function take(home: string, onCall?: OnCall): Promise<Lock> {
  const files = onCall === undefined ? direct : interceptedFiles(onCall);
  return takeLock(join(home, 'thread.jsonl'), { files, clock });
}

async function ownerNow(home: string): Promise<Owner | undefined> {
  return readOwner(await readFile(lockOf(home), 'utf8').catch(() => ''));
}

/** A lock of this very process, changed. */
async function leaveLock(home: string, change: (owner: Owner) => object): Promise<void> {
  const lock = await take(home);
  await lock.release();
  await writeFile(lockOf(home), JSON.stringify({ ...lock.owner, ...change(lock.owner) }));
}

test('a lock is held once and let go', async (t) => {
  const home = await temporaryHome(t);
  const first = await take(home);
  assert.deepEqual(await ownerNow(home), JSON.parse(JSON.stringify(first.owner)));
  await assert.rejects(take(home), (error: BatonError) => {
    assert.equal(error.code, 'session_live');
    assert.match(
      error.message,
      new RegExp(`^thread.jsonl is open in process ${process.pid} since 2026-01-02`),
    );
    assert.match(error.cure, /fork the session/);
    assert.equal(error.data['pid'], process.pid);
    return true;
  });
  await first.release();
  await first.release();
  assert.deepEqual(await readdir(home), []);
  const second = await take(home);
  await first.release();
  assert.equal((await ownerNow(home))?.nonce, second.owner.nonce);
  await second.release();
});

const DEAD_PID = 4_194_304; // one more than Linux ever gives

test('the lock of a dead owner is taken over, and nothing is left of it', { skip: NOT_LINUX }, async (t) => {
  const dead: readonly (readonly [why: string, change: (owner: Owner) => object])[] = [
    ['there is no such process', () => ({ pid: DEAD_PID, nonce: 'dead' })],
    ['another process was given its number', () => ({ startedAt: '17', nonce: 'dead' })],
    ['the machine was started anew', ({ realm }) => ({ realm: { ...realm, boot: 'before' }, nonce: 'dead' })],
  ];
  for (const [why, change] of dead) {
    const home = await temporaryHome(t);
    await leaveLock(home, change);
    const lock = await take(home);
    assert.equal((await ownerNow(home))?.nonce, lock.owner.nonce, why);
    await lock.release();
    assert.deepEqual(await readdir(home), [], why);
  }
});

test('the lock of an owner of whom nothing is known stands', async (t) => {
  const unknown: readonly (readonly [message: RegExp, change: (owner: Owner) => object])[] = [
    [/on elsewhere, or was/, ({ realm }) => ({ realm: { ...realm, host: 'elsewhere', boot: 'other' } })],
    [
      /open in process \d+ on/,
      ({ realm }) => ({ realm: { ...realm, namespace: 'pid:[1]', host: hostname() } }),
    ],
    [/a lock that does not name a process/, () => ({ pid: 'x' })],
  ];
  for (const [message, change] of unknown) {
    const home = await temporaryHome(t);
    await leaveLock(home, change);
    const before = await readFile(lockOf(home), 'utf8');
    await assert.rejects(take(home), (error: BatonError) => {
      assert.equal(error.code, 'session_live');
      assert.match(error.message, message);
      assert.ok(error.cure.includes(lockOf(home)), error.cure);
      return true;
    });
    assert.equal(await readFile(lockOf(home), 'utf8'), before);
  }
});

test('a process that was killed and not yet buried is dead', { skip: NOT_LINUX }, async (t) => {
  const home = await temporaryHome(t);
  // The shell does not wait for its child, which stays a zombie.
  const shell = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => shell.kill('SIGKILL'));
  const pid = Number(await new Promise((resolve) => shell.stdout.once('data', resolve)));
  const stat = () => readFile(`/proc/${pid}/stat`, 'utf8');
  const startedAt = readProcStat(await stat())?.startedAt;
  await leaveLock(home, () => ({ pid, startedAt, nonce: 'child' }));
  await assert.rejects(take(home), { code: 'session_live' });
  process.kill(pid, 'SIGKILL');
  while (!(await stat()).includes(') Z ')) await sleep(5);
  await (await take(home)).release();
});

test('of takers at once exactly one wins, whatever the order of their calls', async (t) => {
  let run = 0;
  const root = await temporaryHome(t);
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.constantFrom(0, 1, 2), async (scheduler, dying) => {
      const home = join(root, String(run++));
      await direct.mkdir(home, { recursive: true, mode: 0o700 });
      if (dying > 0) await leaveLock(home, () => ({ pid: DEAD_PID, nonce: 'dead' }));
      // One died while it replaced the dead one.
      if (dying > 1) {
        const text = (await readFile(lockOf(home), 'utf8')).replace('"dead"', '"taker"');
        await writeFile(`${lockOf(home)}.dead`, text);
      }
      const onCall: OnCall = async ({ name, path }, perform) => {
        await scheduler.schedule(Promise.resolve(), `${name} ${path.slice(home.length)}`);
        return perform();
      };
      const takers = Promise.allSettled([take(home, onCall), take(home, onCall), take(home, onCall)]);
      const winners = (await scheduler.waitFor(takers)).flatMap((each) =>
        each.status === 'fulfilled' ? [each.value.owner.nonce] : [],
      );
      assert.deepEqual(winners, [(await ownerNow(home))?.nonce]);
    }),
    { numRuns: 60, seed: 20260102 },
  );
});

test('one who was late finds that the dead owner is gone, and lets go', async (t) => {
  const home = await temporaryHome(t);
  await leaveLock(home, () => ({ pid: DEAD_PID, nonce: 'dead' }));
  let winner: Lock | undefined;
  // Between reading the dead owner's lock and taking the right to replace it, somebody else does it all.
  const late = take(home, async ({ name, path }, perform) => {
    if (name === 'link' && path.includes('.draft') && winner === undefined && (await hasReadDead())) {
      winner = await take(home);
    }
    return perform();
  });
  let links = 0;
  async function hasReadDead(): Promise<boolean> {
    links += 1;
    return links === 2;
  }
  await assert.rejects(late, { code: 'session_live' });
  assert.equal((await ownerNow(home))?.nonce, winner?.owner.nonce);
  await winner?.release();
  assert.deepEqual(await readdir(home), []);
});

test('a lock that cannot be made is told, and leaves nothing', async (t) => {
  for (const failing of ['open', 'write', 'datasync', 'link'] as const) {
    const home = await temporaryHome(t);
    const error = Object.assign(new Error('full'), { code: 'ENOSPC' });
    const attempt = take(home, async ({ name }, perform) => {
      if (name === failing) throw error;
      return perform();
    });
    await assert.rejects(attempt, { code: 'output_failed' });
    assert.deepEqual(await readdir(home), [], failing);
  }
});

test('owners are told apart by more than their numbers', () => {
  const realm = { host: 'h', boot: 'b', namespace: 'n' };
  const owner: Owner = { pid: 1, startedAt: '5', realm, nonce: 'x', since: '2026-01-02T00:00:00.000Z' };
  assert.deepEqual(readOwner(writeOwner(owner)), owner);
  assert.equal(placeOwner(owner, realm), 'here');
  assert.equal(placeOwner(owner, { ...realm, host: 'renamed' }), 'here');
  assert.equal(placeOwner(owner, { ...realm, boot: 'later' }), 'gone');
  assert.equal(placeOwner(owner, { ...realm, namespace: 'container' }), 'elsewhere');
  assert.equal(placeOwner(owner, { host: 'h' }), 'here');
  assert.equal(placeOwner(owner, { host: 'other' }), 'elsewhere');
  assert.equal(isAlive(owner, undefined), false);
  assert.equal(isAlive(owner, { startedAt: '5' }), true);
  assert.equal(isAlive(owner, { startedAt: '6' }), false);
  assert.equal(isAlive(owner, {}), true);
  const fields = `S ${Array.from({ length: 18 }, (_, index) => index).join(' ')} 4711 0`;
  assert.deepEqual(readProcStat(`12 (odd) name) ${fields}`), { startedAt: '4711' });
  assert.equal(readProcStat(`12 (x) ${fields.replace('S', 'Z')}`), undefined);
  assert.equal(readProcStat(''), undefined);
  assert.equal(readOwner('{"pid":1}'), undefined);
});

test(
  'what is not a regular file in the place of a lock names no owner, and nobody waits for it',
  { skip: process.platform === 'win32' && 'no named pipes', timeout: 20_000 },
  async (t) => {
    const traps = {
      pipe: (path: string) => Promise.resolve(execFileSync('mkfifo', [path])),
      directory: (path: string) => mkdir(path),
      zeros: (path: string) => symlink('/dev/zero', path),
      nowhere: (path: string) => symlink('/nowhere/at/all', path),
      long: (path: string) => writeFile(path, '{"pid":1}'.padEnd(10 * 1024 * 1024)),
    };
    for (const [name, plant] of Object.entries(traps)) {
      const home = await temporaryHome(t);
      await plant(lockOf(home));
      await assert.rejects(take(home), (error: BatonError) => {
        assert.equal(error.code, 'session_live', name);
        assert.match(error.message, /^thread\.jsonl has a lock that does not name a process$/);
        assert.match(error.cure, /remove .*thread\.jsonl\.lock\.$/);
        return true;
      });
    }
  },
);

test('the lock of a session that was never begun goes when its process is gone', async (t) => {
  const home = await temporaryHome(t);
  await leaveLock(home, () => ({ pid: 2 ** 22 + 1, startedAt: 'never' }));
  const dead = await readFile(lockOf(home), 'utf8');
  await writeFile(join(home, 'begun.jsonl'), '{}');
  await writeFile(join(home, 'begun.jsonl.lock'), dead);
  await writeFile(join(home, 'odd.jsonl.lock'), 'no owner');
  const lock = await takeLock(join(home, 'mine.jsonl'), { files: direct, clock });
  await sweepAbandoned(home, { files: direct, clock });
  assert.deepEqual(await readdir(home), [
    'begun.jsonl',
    'begun.jsonl.lock',
    'mine.jsonl.lock',
    'odd.jsonl.lock',
  ]);
  await lock.release();
});
