// What a turn and a session may spend, with a server that never stops: in `exec` and in `serve`, on all three wires.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { textOfOutput } from '../../src/protocol/item.ts';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { WIRE_APIS } from '../../src/vocabulary.ts';
import type { WireApi } from '../../src/vocabulary.ts';
import { runBuilt } from '../support/built.ts';
import type { Ended } from '../support/built.ts';
import { Client } from '../support/client.ts';
import { ExecFixture, eventsOf, EXEC_KEY } from '../support/exec.ts';
import { assertFailed } from '../support/explained.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

/** A fixture with limits, and a server that says this; the answer counts the requests that were sent. */
function set(
  limits: string,
  ...replies: readonly Reply[]
): { readonly at: ExecFixture; readonly asked: () => number } {
  const at = new ExecFixture(root, server.baseUrl);
  at.configure(limits === '' ? '' : `[limits]\n${limits}\n`);
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  return { at, asked: () => server.requests.length - from };
}

const SAME: Reply = { calls: [{ name: 'read', arguments: { path: 'lamp.txt' } }] };

/** Another call each time. */
function others(count: number, more: Partial<Reply> = {}): readonly Reply[] {
  return Array.from({ length: count }, (_, index) => ({
    calls: [{ name: 'read', arguments: { path: `lamp-${index}.txt` } }],
    ...more,
  }));
}

function of<Type extends SessionEvent['type']>(ended: Ended, type: Type) {
  return eventsOf(ended).filter(
    (event): event is Extract<SessionEvent, { type: Type }> => event.type === type,
  );
}

async function assertSound(at: ExecFixture): Promise<void> {
  const broken = findBrokenPairs((await at.items()).map(pairView));
  assert.deepEqual(Object.values(broken).flat(), []);
}

describe('a server that always answers with the same call', () => {
  for (const wire of WIRE_APIS) {
    test(`${wire}: a note warns the model, and the turn ends`, async () => {
      const { at, asked } = set('', SAME);
      const ended = await at.exec(wire, ['--json', 'Light the lamp.']);
      assertFailed({ ...ended, stdout: '' }, 'no_progress');
      assert.equal(asked(), 10);
      assert.deepEqual(
        of(ended, 'error').map(({ code }) => code),
        ['no_progress'],
      );
      assert.deepEqual(
        of(ended, 'turn_aborted').map(({ reason }) => reason),
        ['failed'],
      );
      await assertSound(at);
      const results = (await at.items()).flatMap((item) =>
        item.type === 'function_call_output' ? [textOfOutput(item.output)] : [],
      );
      assert.deepEqual(
        results.map((text) => text.includes('[Baton: ')),
        [false, false, ...Array<boolean>(8).fill(true)],
      );
    });
  }

  test('two alternating calls are not progress either', async () => {
    const replies = Array.from({ length: 20 }, () => others(2)).flat();
    const { at, asked } = set('repeated_calls = 4', ...replies);
    assertFailed(await at.exec('chat', ['Light the lamp.']), 'no_progress');
    assert.equal(asked(), 8);
  });

  test('the turn may continue if the user allows it', async () => {
    const { at, asked } = set('repeated_calls = 0', ...Array<Reply>(14).fill(SAME), { text: 'Lit.' });
    const ended = await at.exec('chat', ['Light the lamp.']);
    assert.deepEqual([ended.status, asked()], [0, 15], ended.stderr);
  });
});

describe('a limit', () => {
  for (const wire of WIRE_APIS) {
    test(`${wire}: of requests warns before it is reached, ends the turn, and is named in the cure`, async () => {
      const { at, asked } = set('turn_requests = 5', ...others(20));
      const ended = await at.exec(wire, ['--json', 'Light the lamp.']);
      assertFailed({ ...ended, stdout: '' }, 'limit_reached');
      assert.match(ended.stderr, /limits\.turn_requests = 5.*-c limits\.turn_requests=N/s);
      assert.equal(asked(), 5);
      const told = eventsOf(ended).flatMap((event) =>
        event.type === 'warning' || event.type === 'error' ? [event.type] : [],
      );
      assert.deepEqual(told, ['warning', 'error']);
      await assertSound(at);
      server.play({ key: EXEC_KEY, replies: [{ text: 'Lit.' }] });
      const again = await at.exec(wire, ['--resume', 'last', 'Go on.']);
      assert.equal(again.stdout, 'Lit.\n', again.stderr);
    });

    test(`${wire}: of tokens applies even if the server counts nothing, or next to nothing`, async () => {
      for (const usage of [
        { input: 0, output: 0 },
        { input: 1, output: 1 },
        { input: -5, output: 1e308 },
      ]) {
        const { at, asked } = set('turn_tokens = 20000', ...others(50, { usage }));
        assertFailed(await at.exec(wire, ['Light the lamp.']), 'limit_reached');
        assert.ok(asked() > 1 && asked() < 20, `${JSON.stringify(usage)}: ${asked()} requests`);
      }
    });
  }

  test('of a session continues its count when it is resumed', async () => {
    const { at, asked } = set('session_requests = 3', ...others(2), { text: 'Lit.' });
    assert.equal((await at.exec('chat', ['Light the lamp.'])).status, 0);
    const again = await at.exec('chat', ['--resume', 'last', 'Go on.']);
    assertFailed(again, 'limit_reached');
    assert.equal(asked(), 3);
    const freed = await at.exec('chat', ['-c', 'limits.session_requests=0', '--resume', 'last', 'Go on.']);
    assert.equal(freed.stdout, 'Lit.\n', freed.stderr);
  });

  test('of money applies if the price is known', async () => {
    const { at, asked } = set(
      'turn_dollars = 0.075',
      ...others(20, { usage: { input: 20_000, output: 10, cached: 0 } }),
    );
    const ended = await at.exec('responses', ['Light the lamp.']);
    assertFailed(ended, 'limit_reached');
    assert.match(ended.stderr, /US dollars \(limits\.turn_dollars = 0\.075/);
    assert.equal(asked(), 3);
  });

  test('counts requests that are sent again', async () => {
    const { at, asked } = set('turn_requests = 3', { fault: { type: 'status', status: 503 } });
    const ended = await at.exec('chat', [
      '-c',
      'model_providers.lab-chat.request_max_retries=50',
      'Light it.',
    ]);
    assertFailed(ended, 'limit_reached');
    assert.equal(asked(), 3);
  });

  test("counts the requests of the watcher's judge and summaries", async () => {
    const { at, asked } = set('session_requests = 2', {
      text: `The lamp is lit. ${'It shines. '.repeat(3_000)}`,
    });
    assert.equal((await at.exec('chat', ['Light the lamp.'])).status, 0);
    const client = new Client(at, ['--resume', 'last']);
    client.send({ type: 'compact', trigger: { type: 'user' }, strategy: 'full' });
    await client.next('compact_completed');
    client.say('Go on.');
    const { code } = await client.next('error');
    await client.close();
    assert.deepEqual([code, asked()], ['limit_reached', 2]);
  });

  test('in serve ends the turn and not the thread', async () => {
    const { at, asked } = set('turn_requests = 3', ...others(20));
    const client = new Client(at);
    client.say('Light the lamp.');
    await client.next('warning');
    assert.equal((await client.next('error')).code, 'limit_reached');
    assert.equal((await client.next('turn_aborted')).reason, 'failed');
    client.say('Go on.');
    assert.equal((await client.next('error')).code, 'limit_reached');
    assert.equal((await client.close()).status, 0);
    assert.equal(asked(), 6);
    await assertSound(at);
  });

  test('cannot be set by a project', async () => {
    const { at } = set('turn_requests = 2', ...others(4));
    mkdirSync(`${at.work}/.baton`);
    writeFileSync(`${at.work}/.baton/config.toml`, 'limits.turn_requests = 0\n');
    const ended = await at.exec('chat', ['Light the lamp.']);
    assertFailed(ended, 'limit_reached');
    assert.match(ended.stderr, /config\.toml:1: limits may not be set by a project/);
  });
});

test('a proxy that a variable names sees nothing, and doctor says so', async () => {
  let seen = 0;
  const proxy = createServer((socket) => {
    seen++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  after(() => proxy.close());
  const address = proxy.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const env = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, ALL_PROXY: url };
  const { at, asked } = set('', { text: 'Lit.' });
  const ended = await at.exec('chat', ['Light the lamp.'], { env });
  assert.deepEqual([ended.stdout, asked(), seen], ['Lit.\n', 1, 0], ended.stderr);
  const doctor = await runBuilt(['doctor'], { home: at.home, env });
  assert.match(doctor.stdout, /proxy +HTTPS_PROXY, HTTP_PROXY/);
  assert.equal(seen, 0);
});

describe('a server that lies', () => {
  const ways: readonly (readonly [name: string, wire: WireApi])[] = WIRE_APIS.map((wire) => [wire, wire]);
  for (const [name, wire] of ways) {
    test(`${name}: two calls with one id get their own results`, async () => {
      const calls = ['a', 'b'].map((word) => ({
        id: 'same',
        name: 'shell',
        arguments: { command: `echo ${word}` },
      }));
      const { at } = set('', { calls }, { text: 'Done.' });
      const ended = await at.exec(wire, ['Say both.']);
      assert.equal(ended.stdout, 'Done.\n', ended.stderr);
      const outputs = (await at.items()).flatMap((item) =>
        item.type === 'function_call_output' ? [textOfOutput(item.output).trim().split('\n').at(-1)] : [],
      );
      assert.deepEqual(outputs, ['a', 'b']);
      await assertSound(at);
      assert.deepEqual(server.requests.map(({ invalid }) => invalid).filter(Boolean), []);
    });

    test(`${name}: arguments of 100,000 levels are a broken answer, not a crash`, async () => {
      const deep = `{"path":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
      const { at } = set('', { calls: [{ name: 'read', arguments: deep }] });
      assertFailed(await at.exec(wire, ['Light the lamp.']), 'model_cut_off');
    });

    test(`${name}: a window of 10 does not compact forever`, async () => {
      const message =
        "This model's maximum context length is 10 tokens. However, your messages resulted in 9000 tokens.";
      const fault = { type: 'status', status: 400, code: 'context_length_exceeded', message } as const;
      const { at, asked } = set('', { fault });
      const ended = await at.exec(wire, ['Light the lamp.']);
      assert.equal(ended.status, 1, ended.stderr);
      assert.ok(asked() < 20, `${asked()} requests`);
    });
  }
});
