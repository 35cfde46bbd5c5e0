// `baton exec` when things go wrong: providers, people, disks, other processes. Whatever happens, what was recorded can be gone
// on with, nothing is left running, and one sentence says what to do.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../../src/errors.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { textOfOutput } from '../../src/protocol/item.ts';
import { ABORTED_RESULT } from '../../src/session/loop.ts';
import { runBuilt } from '../support/built.ts';
import type { Ended } from '../support/built.ts';
import { ExecFixture, eventsOf, EXEC_KEY } from '../support/exec.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import type { Fault, Reply, Script } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

function fixture(files: Readonly<Record<string, string>> = {}): ExecFixture {
  return new ExecFixture(root, server.baseUrl, files);
}

function play(...replies: readonly Reply[]): void {
  server.play({ key: EXEC_KEY, replies });
}

/** The session of the fixture resumes: nothing is lost, the strict server accepts it, and no live process locks it. */
async function assertGoesOn(at: ExecFixture): Promise<void> {
  const old = await at.items();
  assert.deepEqual(Object.values(findBrokenPairs(old.map(pairView))).flat(), []);
  play({ text: 'On it goes.' });
  const ended = await at.exec('chat', ['--resume', 'last', 'Go on.']);
  assert.equal(ended.stdout, 'On it goes.\n', ended.stderr);
  assert.deepEqual((await at.items()).slice(0, old.length), old);
}

describe('a provider', () => {
  const LONG = 'The lamp is lit and the horn is sounding every minute, as it has since dusk.';
  const faults: readonly (readonly [name: string, fault: Fault, code: ErrorCode])[] = [
    ['that is silent', { type: 'silence' }, 'model_network'],
    ['that stops in the middle', { type: 'stall', afterEvents: 3 }, 'model_cut_off'],
    ['that breaks off', { type: 'cut', afterEvents: 3 }, 'model_cut_off'],
    ['that talks nonsense', { type: 'malformed', afterEvents: 3 }, 'model_cut_off'],
    ['that is broken', { type: 'status', status: 500 }, 'model_overloaded'],
    ['that has had enough', { type: 'status', status: 429 }, 'model_rate_limit'],
    ['behind a login page', { type: 'content_type', value: 'text/html' }, 'model_network'],
  ];
  for (const [name, fault, code] of faults) {
    test(`${name} fails the turn and not the session`, async () => {
      const at = fixture();
      play({ text: LONG, fault });
      const ended = await at.exec('chat', ['Is the lamp lit?']);
      assertFailed(ended, code);
      assert.equal(ended.stdout, '');
      assert.match(ended.stderr, /--resume [0-9a-f-]{36}/, 'how to go on');
      await assertGoesOn(at);
    });
  }

  test('with --json the failure is told once, as an event', async () => {
    const at = fixture();
    play({ fault: { type: 'status', status: 500 } });
    const ended = await at.exec('responses', ['--json', 'Hello.']);
    assertFailed(ended, 'model_overloaded');
    const errors = eventsOf(ended).filter(({ type }) => type === 'error');
    assert.equal(errors.length, 1);
    assert.ok(errors[0]?.type === 'error' && errors[0].code === 'model_overloaded', ended.stdout);
  });

  test('that does not take the key, which is told to nobody', async () => {
    const at = fixture();
    play({});
    const ended = await at.exec('anthropic', ['Hello.'], { env: { LAB_KEY: 'sk-wrong-0123456789' } });
    assertFailed(ended, 'model_auth');
    assert.doesNotMatch(`${ended.stdout}${ended.stderr}`, /sk-wrong/);
  });

  test('is not asked about a message that no session can hold', async () => {
    const at = fixture();
    play({ text: 'Never.' });
    const asked = server.requests.length;
    const ended = await at.exec('chat', ['-'], { input: 'a'.repeat(33 * 1024 * 1024) });
    assertFailed(ended, 'record_too_large');
    assert.match(ended.stderr, /has 34 MB, more than 32 MB.* Put a large text into a file/);
    assert.equal(server.requests.length, asked);
    assert.deepEqual(at.locks(), []);
  });

  test('without its key is never asked', async () => {
    const at = fixture();
    const asked = server.requests.length;
    assertFailed(await at.exec('anthropic', ['Hello.'], { env: { LAB_KEY: '' } }), 'model_auth');
    assert.equal(server.requests.length, asked);
    assert.deepEqual(at.rollouts(), []);
  });

  test('that does not exist', async () => {
    const gone = await startProviderServer({ replies: [{}] });
    await gone.close();
    const at = new ExecFixture(root, gone.baseUrl);
    assertFailed(await at.exec('responses', ['Hello.']), 'model_network');
    assert.deepEqual(at.locks(), []);
  });

  test('whose window takes not even the beginning', async () => {
    const at = fixture();
    const script: Script = { key: EXEC_KEY, window: 200, replies: [{ text: 'Never.' }] };
    server.play(script);
    const ended = await at.exec('chat', ['Hello.']);
    assert.ok(
      ['model_overflow', 'context_exhausted'].some((code) => ended.stderr.includes(`[${code}]`)),
      ended.stderr,
    );
    assert.equal(ended.status, 1);
    assertNoNoise(ended);
    await assertGoesOn(at);
  });
});

/** Starts a run and lets something happen to it as soon as a condition holds. */
function interrupted(
  at: ExecFixture,
  happen: (child: ChildProcess) => Promise<void>,
  args: readonly string[] = ['Go.'],
): Promise<Ended> {
  return at.exec('chat', args, { started: (child) => void happen(child) });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // What nobody waited for still has a number.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} while the model speaks ends the turn at once, and the session can be gone on with`, async () => {
    const at = fixture();
    play({ text: 'The lamp is lit.', fault: { type: 'stall', afterEvents: 2 } });
    const next = server.requests.length;
    const ended = await interrupted(at, async (child) => {
      const request = await server.request(next);
      await until(() => request.status === 0 && at.rollouts().length > 0);
      child.kill(signal);
    });
    assertFailed(ended, 'interrupted');
    const { records } = await readSessionFile(at.rollouts()[0] ?? '');
    const last = records.findLast(({ type }) => type !== 'note');
    assert.equal(
      last?.type === 'turn_aborted' && last.reason,
      'interrupted',
      'by the user, and not when the provider was given up',
    );
    const id = /--resume ([0-9a-f-]{36})/.exec(ended.stderr)?.[1];
    assert.ok(id !== undefined && at.rollouts()[0]?.includes(id) === true, 'the id of the session');
    await assertGoesOn(at);
  });
}

test(
  'Ctrl-C during a command ends the command with everything that it started',
  { skip: process.platform !== 'linux' },
  async () => {
    const at = fixture();
    const command = 'sleep 300 & echo $! > child; echo $$ > shell; wait';
    play({ calls: [{ name: 'shell', arguments: { command } }] }, { text: 'Never said.' });
    const ended = await interrupted(at, async (child) => {
      await until(() => existsSync(join(at.work, 'shell')) && at.read('shell').endsWith('\n'));
      child.kill('SIGINT');
    });
    assertFailed(ended, 'interrupted');
    for (const name of ['child', 'shell']) assert.equal(isAlive(Number(at.read(name))), false, name);
    const result = (await at.items()).find((item) => item.type === 'function_call_output');
    assert.ok(result?.type === 'function_call_output', 'the call has its result');
    assert.equal(textOfOutput(result.output), ABORTED_RESULT);
    await assertGoesOn(at);
  },
);

test(
  'a second Ctrl-C waits for nothing, and leaves nothing running',
  { skip: process.platform !== 'linux' },
  async () => {
    const at = fixture();
    const command = `trap '' TERM; echo $$ > shell; while :; do sleep 0.05; done`;
    play({ calls: [{ name: 'shell', arguments: { command } }] });
    const ended = await interrupted(at, async (child) => {
      await until(() => existsSync(join(at.work, 'shell')) && at.read('shell').endsWith('\n'));
      child.kill('SIGINT');
      await sleep(50);
      child.kill('SIGINT');
    });
    assert.equal(ended.status, 130);
    assertNoNoise(ended);
    await sleep(50);
    assert.equal(isAlive(Number(at.read('shell'))), false);
    play({ text: 'On it goes.' });
    assert.equal((await at.exec('chat', ['--resume', 'last', 'Go on.'])).stdout, 'On it goes.\n');
  },
);

test('Ctrl-C at any moment of the start leaves nothing, or a session that can be resumed', async () => {
  for (const delay of [0, 30, 60, 90, 120, 160, 200, 260]) {
    const at = fixture();
    play({ text: 'The lamp is lit.', fault: { type: 'stall', afterEvents: 1 } });
    const ended = await interrupted(at, async (child) => {
      await sleep(delay);
      child.kill('SIGINT');
    });
    // Before the program runs at all, the signal ends it by itself.
    assert.ok(ended.status === 130 || ended.status === null, `${delay} ms: ${ended.status} ${ended.stderr}`);
    assertNoNoise(ended);
    if (at.rollouts().length > 0) await assertGoesOn(at);
  }
});

/** More than a pipe holds: when it is written, the program has begun to read. */
const HALF_A_PROMPT = 'Half a prompt '.repeat(100_000);

function stopHalfWay(child: ChildProcess): void {
  child.stdin?.write(HALF_A_PROMPT, () => child.kill('SIGINT'));
}

test('Ctrl-C while it waits for the prompt', async () => {
  const at = fixture();
  const ended = await at.exec('chat', [], { input: false, started: stopHalfWay });
  assert.equal(ended.status, 130, ended.stderr);
  assertNoNoise(ended);
  assert.deepEqual(at.rollouts(), []);
});

/** A command after which the program's own status stands in the file `status`, whatever it is piped into. */
const WITH_STATUS = '{ "$@"; echo $? >status; }';

function statusOf({ home }: ExecFixture): string {
  return readFileSync(join(home, 'status'), 'utf8').trim();
}

test('a reader of --json that goes away ends the run, which is no failure and can be gone on with', async () => {
  const at = fixture();
  play({ calls: [{ name: 'shell', arguments: { command: 'sleep 1' } }] }, { fault: { type: 'silence' } });
  const ended = await at.exec('chat', ['--json', 'Go.'], { shell: `${WITH_STATUS} | head -1` });
  assert.equal(statusOf(at), '0', ended.stderr);
  assert.equal(eventsOf(ended)[0]?.type, 'session_configured');
  assertNoNoise(ended);
  assert.match(
    ended.stderr,
    /^baton: The reader closed standard output, .* Resume with: baton exec --resume /m,
  );
  assert.doesNotMatch(ended.stderr, /interrupted|failed/i);
  await assertGoesOn(at);
});

test('a full disk behind --json ends the run, and is what is told', async () => {
  const at = fixture();
  play({ text: 'Done.' });
  const ended = await at.exec('chat', ['--json', 'Go.'], { shell: '"$@" >/dev/full' });
  assertFailed(ended, 'output_failed');
  assert.doesNotMatch(ended.stderr, /interrupted/i);
  assert.ok(!ended.stderr.includes('--resume') || at.rollouts().length > 0, 'what is named is there');
  assert.deepEqual(at.locks(), []);
});

test('the answer is in its file, also where nobody reads standard output', async () => {
  const at = fixture();
  play({ calls: [{ name: 'shell', arguments: { command: 'sleep 1' } }] }, { text: 'Done.' });
  const args = ['--output-last-message', 'answer.md', 'Go.'];
  const ended = await at.exec('chat', args, { shell: `${WITH_STATUS} | true` });
  assert.equal(statusOf(at), '0', ended.stderr);
  assert.equal(readFileSync(join(at.home, 'answer.md'), 'utf8'), 'Done.');
});

describe('two processes', () => {
  test('the second one is told who has the session; when that was killed, it is taken over', async () => {
    const at = fixture();
    // The first one must outlive the second, however slow the machine is.
    at.configure('', { idleTimeoutMs: 60_000 });
    play({ fault: { type: 'silence' } });
    const next = server.requests.length;
    const first = interrupted(at, async (child) => {
      await server.request(next);
      const asked = server.requests.length;
      const second = await at.exec('chat', ['--resume', 'last', 'Mine.']);
      assertFailed(second, 'session_live');
      assert.match(second.stderr, new RegExp(`\\b${child.pid}\\b`));
      assert.equal(server.requests.length, asked, 'nothing was sent');
      child.kill('SIGKILL');
    });
    assert.equal((await first).status, null);
    assert.notDeepEqual(at.locks(), [], 'the dead one has left its lock');
    play({ text: 'Mine now.' });
    const third = await at.exec('chat', ['--resume', 'last', 'Mine.']);
    assert.equal(third.stdout, 'Mine now.\n', third.stderr);
    assert.deepEqual(at.locks(), []);
  });

  test('a session that there is not', async () => {
    const at = fixture();
    const id = '00000000-0000-4000-8000-000000000000';
    for (const which of ['last', id, 'nowhere.jsonl']) {
      assertFailed(await at.exec('chat', ['--resume', which, 'Go on.']), 'file_not_found');
    }
  });
});

describe('a disk', () => {
  test('on which the home cannot be written', async () => {
    const at = fixture();
    const asked = server.requests.length;
    writeFileSync(join(at.home, 'file'), '');
    const settings = [`base_url=${JSON.stringify(server.baseUrl)}`, 'wire_api=chat'];
    const args = settings.flatMap((setting) => ['-c', `model_providers.lab.${setting}`]);
    const env = { BATON_HOME: join(at.home, 'file/baton') };
    const ended = await runBuilt([...args, 'exec', '--model', 'lab/m', 'Hello.'], { home: at.home, env });
    assertFailed(ended, 'output_failed');
    assert.equal(server.requests.length, asked, 'found out before anything was paid for');
  });

  test('that is full from the start', { skip: process.platform === 'win32' }, async () => {
    const at = fixture();
    play({ text: 'Never said.' });
    const ended = await at.exec('chat', ['Hello.'], { shell: 'ulimit -f 2; exec "$@"' });
    assertFailed(ended, 'output_failed');
    assert.deepEqual(at.locks(), []);
  });

  test(
    'that fills in the middle of a turn keeps what was acknowledged',
    { skip: process.platform === 'win32' },
    async () => {
      const at = fixture({ 'large.txt': 'The sea is calm.\n'.repeat(1500) });
      play({ calls: [{ name: 'read', arguments: { path: 'large.txt' } }] }, { text: 'Never said.' });
      const ended = await at.exec('chat', ['Hello.'], { shell: 'ulimit -f 40; exec "$@"' });
      assertFailed(ended, 'output_failed');
      play({ text: 'On it goes.' });
      const second = await at.exec('chat', ['--resume', 'last', 'Go on.']);
      assert.equal(second.stdout, 'On it goes.\n', second.stderr);
    },
  );
});
