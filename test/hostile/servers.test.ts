// Providers that answer at random: recorded answers with other values, orders, headers and pieces, on all three wires. The
// answer ends within its bounds, the log can be resumed, and the terminal hears none of it.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { callOf } from '../../src/protocol/item.ts';
import { failureOf } from '../../src/providers/errors.ts';
import { WIRE_APIS } from '../../src/vocabulary.ts';
import type { WireApi } from '../../src/vocabulary.ts';
import { NOT_BUILT } from '../support/built.ts';
import { assertNoNoise } from '../support/explained.ts';
import { ExecFixture, eventsOf as linesOf, EXEC_KEY } from '../support/exec.ts';
import { fuzz, wildText, wildValue } from '../support/fuzz.ts';
import { temporaryDirectory } from '../support/program.ts';
import { client, collect, KEY, request } from '../support/provider-server/client.ts';
import { errorEvent, eventsOf } from '../support/provider-server/events.ts';
import type { WireEvent } from '../support/provider-server/events.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { readSessionFile } from '../support/read-format.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

type Change =
  | { readonly type: 'value' | 'key'; readonly at: number; readonly place: number; readonly value: unknown }
  | { readonly type: 'drop' | 'twice' | 'swap'; readonly at: number }
  | { readonly type: 'name' | 'raw'; readonly at: number; readonly text: string }
  | { readonly type: 'flood'; readonly at: number; readonly times: number };

/** How an answer is sent; what it says is in `changes`. */
interface Answer {
  readonly reply: Reply;
  readonly changes: readonly Change[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly ending: 'end' | 'reset' | 'stall' | 'drip';
  readonly error: string | null;
  readonly packed: 'no' | 'gzip' | 'br' | 'unsaid';
}

const place = fc.nat(1e6);
const changes: fc.Arbitrary<Change> = fc.oneof(
  ...Array.from({ length: 4 }, () =>
    fc.record({ type: fc.constant('value' as const), at: place, place, value: wildValue }),
  ),
  fc.record({ type: fc.constant('key' as const), at: place, place, value: wildText }),
  fc.record({ type: fc.constantFrom('drop' as const, 'twice' as const, 'swap' as const), at: place }),
  fc.record({ type: fc.constantFrom('name' as const, 'raw' as const), at: place, text: wildText }),
  fc.record({ type: fc.constant('flood' as const), at: place, times: fc.constantFrom(20, 3_000) }),
);

const call = fc.record(
  {
    name: fc.oneof(
      fc.constantFrom('read', 'shell', 'update_plan', 'grep', 'apply_patch', 'recall'),
      wildText,
    ),
    arguments: fc.oneof(
      fc.constantFrom({ path: 'lamp.txt' }, { command: 'echo lit' }, { pattern: '(a+)+$' }, '{"path":', '[]'),
      wildText,
    ),
    id: fc.oneof(fc.constantFrom('same', 'call_1'), wildText),
  },
  { requiredKeys: ['name', 'arguments'] },
);
const tokens = fc.constantFrom(0, 1, -5, 0.5, 1e308, 2 ** 53);
const reply: fc.Arbitrary<Reply> = fc.record(
  {
    text: wildText,
    reasoning: wildText,
    calls: fc.array(call, { maxLength: 4 }),
    compacts: fc.boolean(),
    stop: fc.constantFrom(
      'stop',
      'length',
      'max_output_tokens',
      'max_tokens',
      'pause_turn',
      'refusal',
      'x\u001B[2J',
    ),
    usage: fc.record({ input: tokens, output: tokens, cached: tokens }),
  },
  { requiredKeys: [] },
);

const answer: fc.Arbitrary<Answer> = fc.record({
  reply,
  changes: fc.array(changes, { maxLength: 3 }),
  status: fc.oneof(
    { weight: 9, arbitrary: fc.constant(200) },
    { weight: 1, arbitrary: fc.constantFrom(201, 204, 206, 301, 307, 400, 401, 413, 429, 500, 503, 599) },
  ),
  headers: fc.oneof(
    { weight: 9, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Readonly<Record<string, string>>>(
        { location: '/v1/elsewhere' },
        { 'retry-after': '86400' },
        { 'retry-after': '-1e9' },
        { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
        { 'content-type': 'text/html' },
        { 'content-type': 'application/json' },
        { 'content-encoding': 'identity, gzip' },
        { 'x-request-id': 'a'.repeat(4_000) },
      ),
    },
  ),
  ending: fc.constantFrom(...Array<'end'>(12).fill('end'), 'reset', 'stall', 'drip'),
  error: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: wildText }),
  packed: fc.constantFrom(...Array<'no'>(15).fill('no'), 'gzip', 'br', 'unsaid'),
});

interface Container {
  [key: string]: unknown;
}

function replaced(data: string, one: Extract<Change, { type: 'value' | 'key' }>): string {
  if (!data.startsWith('{')) return JSON.stringify(one.value) ?? '';
  const whole = JSON.parse(data) as Container;
  const places: (readonly [Container, string])[] = [];
  const collectPlaces = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || places.length > 200) return;
    for (const key of Object.keys(value)) {
      places.push([value as Container, key]);
      collectPlaces((value as Container)[key]);
    }
  };
  collectPlaces(whole);
  const [container, key] = places[one.place % Math.max(1, places.length)] ?? [];
  if (container === undefined || key === undefined) return data;
  if (one.type === 'value') container[key] = one.value;
  else
    Object.defineProperty(container, String(one.value), {
      value: container[key],
      enumerable: true,
      configurable: true,
    });
  return JSON.stringify(whole);
}

function applyTo(events: readonly WireEvent[], one: Change): readonly WireEvent[] {
  const at = one.at % Math.max(1, events.length);
  const event = events[at];
  if (event === undefined) return events;
  switch (one.type) {
    case 'value':
    case 'key':
      return events.with(at, { ...event, data: replaced(event.data, one) });
    case 'drop':
      return events.toSpliced(at, 1);
    case 'twice':
      return events.toSpliced(at, 0, event);
    case 'swap':
      return events.with(at, events[events.length - 1 - at] ?? event).with(events.length - 1 - at, event);
    case 'name':
      return events.with(at, { ...event, name: one.text });
    case 'raw':
      return events.toSpliced(at, 0, { name: undefined, data: one.text });
    case 'flood':
      return events.toSpliced(at, 0, ...Array<WireEvent>(one.times).fill(event));
  }
}

function bytesOf(wire: WireApi, number: number, { reply: said, changes: made, error }: Answer): Buffer {
  const whole = { reply: said, model: 'm', number, input: 100, cached: 0, output: 10 };
  const events = made.reduce(applyTo, eventsOf(wire, whole));
  const all = error === null ? events : [...events.slice(0, 3), errorEvent(wire, error, error)];
  return Buffer.from(
    all.map(({ name, data }) => `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`).join(''),
  );
}

let wire: WireApi = 'chat';
let answers: readonly Answer[] = [];
let asked = 0;
const server = createServer((incoming, response) => {
  incoming.resume();
  response.on('error', () => undefined);
  const one = answers[Math.min(asked++, answers.length - 1)];
  if (one !== undefined) void send(response, one, bytesOf(wire, asked, one));
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const address = server.address();
const baseUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`;
const sound = await startProviderServer({ replies: [{ text: 'Lit.' }] });
after(async () => {
  server.closeAllConnections();
  server.close();
  await sound.close();
});

async function send(response: ServerResponse, one: Answer, bytes: Buffer): Promise<void> {
  const { packed } = one;
  const body = packed === 'no' ? bytes : packed === 'br' ? brotliCompressSync(bytes, {}) : gzipSync(bytes);
  const said = packed === 'no' || packed === 'unsaid' ? {} : { 'content-encoding': packed };
  response.writeHead(one.status, { 'content-type': 'text/event-stream', ...said, ...one.headers });
  const half = body.subarray(0, body.length >> 1);
  switch (one.ending) {
    case 'end':
      return void response.end(body);
    case 'reset':
      return void response.write(half, () => response.socket?.resetAndDestroy());
    case 'stall':
      return void response.write(half);
    case 'drip':
      for (let at = 0; at < body.length && !response.destroyed; at += 1 + (body.length >> 4)) {
        response.write(body.subarray(at, at + 1 + (body.length >> 4)));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end();
  }
}

const anyWire = fc.constantFrom(...WIRE_APIS);
const IDLE_MS = 300;
const ANSWER_MS = 3_000;

test('an answer ends, with a failure that has a name or with calls that pair', async (t) => {
  let whole = 0;
  await fuzz(fc.tuple(anyWire, answer), { seed: 64, usual: 250 }, async ([of, one]) => {
    [wire, answers, asked] = [of, [one], 0];
    const begun = performance.now();
    const settings = { idleTimeoutMs: IDLE_MS, answerTimeoutMs: ANSWER_MS };
    const { events, error } = await collect(
      client(of, baseUrl, settings).stream(request(of), new AbortController().signal),
    );
    const ms = performance.now() - begun;
    assert.ok(ms < ANSWER_MS + 10_000, `${ms} ms`);
    // On a busy machine the time of an answer may be up before the server reads the request.
    assert.ok(asked <= 1, `${asked} requests`);
    if (error !== undefined) {
      assert.notEqual(failureOf(error), undefined, String(error instanceof Error ? error.stack : error));
      assert.ok(String(error).length < 5_000, 'a failure is short');
      assert.doesNotMatch(`${String(error)}${JSON.stringify(error)}`, new RegExp(KEY));
    } else {
      whole++;
      assert.equal(events.at(-1)?.type, 'completed');
    }
    const ids = events.flatMap((event) => {
      const made = event.type === 'item_done' ? callOf(event.item) : undefined;
      return made === undefined ? [] : [made.callId ?? ''];
    });
    assert.equal(new Set(ids).size, ids.length, 'ids come once');
    for (const id of ids) assert.match(id, /^[\w-]{1,40}$/);
  });
  t.diagnostic(`${whole} whole answers`);
  assert.ok(whole > 30);
});

/** What drives a terminal, but for the styles and the cursor of Baton's own lines. */
// oxlint-disable-next-line no-control-regex
const HARMFUL = /[\u0000-\u0008\u000B\u000C\u000E-\u001A\u001C-\u001F\u007F-\u009F]|\u001B(?!\[)/;

/** Requests that a turn may make here. */
const MOST_REQUESTS = 6;

test('a turn ends within its limits, its log is whole, and a sound provider takes it up', async () => {
  const played = fc.tuple(anyWire, fc.array(answer, { minLength: 1, maxLength: 4 }), fc.boolean());
  await fuzz(played, { seed: 65, usual: 7 }, async ([of, all, asJson]) => {
    [wire, answers, asked] = [of, all, 0];
    const at = new ExecFixture(root, baseUrl, { 'lamp.txt': 'lit\n' });
    at.configure(`[limits]\nturn_requests = ${MOST_REQUESTS}\n`);
    const ended = await at.exec(
      of,
      ['--sandbox', 'read_only', ...(asJson ? ['--json'] : []), 'Light the lamp.'],
      { env: { NODE_OPTIONS: '--max-old-space-size=256' } },
    );
    assert.ok(
      ended.status === 0 || ended.status === 1,
      `status ${ended.status}: ${ended.stderr.slice(-500)}`,
    );
    assert.ok(ended.milliseconds < 40_000, `${ended.milliseconds} ms`);
    assert.ok(asked <= MOST_REQUESTS, `${asked} requests`);
    assertNoNoise(ended);
    assert.doesNotMatch(ended.stdout + ended.stderr, new RegExp(EXEC_KEY));
    assert.doesNotMatch(ended.stderr, HARMFUL);
    if (asJson) linesOf(ended);
    const [path = ''] = at.rollouts();
    const { records, report } = await readSessionFile(path);
    assert.deepEqual(report.damage, []);
    const items = records.flatMap((record) => (record.type === 'item' ? [pairView(record.item)] : []));
    assert.deepEqual(Object.values(findBrokenPairs(items)).flat(), []);
    assert.deepEqual(at.locks(), []);
    const healthy = new ExecFixture(root, sound.baseUrl);
    sound.play({ key: EXEC_KEY, replies: [{ text: 'Lit.' }] });
    const again = await healthy.exec(of, [
      '--sandbox',
      'read_only',
      '-C',
      at.work,
      '--resume',
      path,
      'Go on.',
    ]);
    assert.equal(again.stdout, 'Lit.\n', again.stderr);
    assert.equal(sound.requests.at(-1)?.invalid, undefined);
  });
});
