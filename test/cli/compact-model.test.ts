// `baton compact --model` against providers that fail in every way: each time it writes a valid compacted session, with
// the reason on standard error and in the receipt. What breaks a connection off, or holds it open, might keep a process
// from ending, and is met by a process; answers of every kind are met in this one, which loads the tokenizer once.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { isSummary } from '../../src/history/filter.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { textOfParts } from '../../src/protocol/item.ts';
import type { Receipt } from '../../src/protocol/receipt.ts';
import type { Rung, WireApi } from '../../src/vocabulary.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import type { Ended } from '../support/built.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import type { FailedRun } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import type { ProviderServer, Recorded } from '../support/provider-server/server.ts';
import type { Fault, Reply, Script } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { goodSummary, SUMMARY_MARK } from '../support/summaries.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const root = temporaryDirectory();

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/** A home with a session in it. */
function freshHome(): string {
  const home = mkdtempSync(join(root, 'h'));
  writeFileSync(join(home, 's.jsonl'), asFile(workLines('codex')));
  return home;
}

/** Milliseconds of silence that are a fault where silence is tested, and where a busy machine may cause it. */
const PATIENCE = { tested: 1_500, otherwise: 20_000 };

interface Wired {
  readonly wire?: WireApi;
  readonly patienceMs?: number;
}

/** The options that make a provider known under a name. */
function provider(
  name: string,
  baseUrl: string,
  { wire = 'chat', patienceMs = PATIENCE.otherwise }: Wired = {},
): readonly string[] {
  const table = {
    base_url: JSON.stringify(baseUrl),
    wire_api: JSON.stringify(wire),
    request_max_retries: '1',
    stream_max_retries: '1',
    stream_idle_timeout_ms: String(patienceMs),
  };
  return Object.entries(table).flatMap(([key, value]) => ['-c', `model_providers.${name}.${key}=${value}`]);
}

function settings(...values: readonly string[]): readonly string[] {
  return values.flatMap((value) => ['-c', value]);
}

/** Runs a command in a home: as a process, or in this one. */
type Run = (args: readonly string[], home: string) => Promise<FailedRun>;

const asProcess: Run = (args, home) => runBuilt(args, { home });
const inThisProcess: Run = (args, home) => baton(home, args, { ids: { uuid: () => randomUUID() } });

interface Compacted {
  readonly ended: FailedRun;
  readonly receipt: Receipt;
  /** The summary message of the file that was written. */
  readonly summary: string;
}

/** Compacts the session with the given options and reads back what was written. */
async function compact(args: readonly string[], run: Run = inThisProcess): Promise<Compacted> {
  const home = freshHome();
  const line = ['compact', join(home, 's.jsonl'), '--out', join(home, 'o.jsonl'), '--json', ...args];
  const ended = await run(line, home);
  assert.equal(ended.status, 0, ended.stderr);
  assertNoNoise(ended);
  assert.deepEqual(readdirSync(home).toSorted(), ['o.jsonl', 's.jsonl']);
  const fold = new HistoryFold(WHOLE_ITEMS);
  const { records, report } = await readSessionFile(join(home, 'o.jsonl'));
  for (const record of records) fold.add(record);
  assert.deepEqual(report.damage, []);
  const items = fold.entries.map(({ value }) => value);
  const { orphanCalls, orphanResults, duplicateResults } = findBrokenPairs(items.map(pairView));
  assert.deepEqual([orphanCalls, orphanResults, duplicateResults], [[], [], []]);
  const message = items.find(isSummary);
  assert.ok(message?.type === 'message', 'the summary is there');
  const receipt = JSON.parse(ended.stdout) as Receipt;
  assert.ok(receipt.postTokens < receipt.preTokens, 'it is smaller');
  return { ended, receipt, summary: textOfParts(message.content) };
}

function hasFault({ replies = [] }: Script, ...types: readonly Fault['type'][]): boolean {
  return replies.some(({ fault }) => fault !== undefined && types.includes(fault.type));
}

/** Whether a script does other than answer, so that only a process shows whether the program ends. */
function troublesConnection(script: Script): boolean {
  return hasFault(script, 'silence', 'stall', 'cut', 'early_end', 'malformed', 'content_type', 'drip');
}

/** Compacts with one scripted provider. */
async function compactWith(
  script: Script,
  {
    wire = 'chat',
    args = [],
    run = troublesConnection(script) ? asProcess : inThisProcess,
  }: { readonly wire?: WireApi; readonly args?: readonly string[]; readonly run?: Run } = {},
): Promise<Compacted & { readonly requests: readonly Recorded[] }> {
  const server = await startProviderServer(script);
  try {
    const patienceMs = hasFault(script, 'silence', 'stall') ? PATIENCE.tested : PATIENCE.otherwise;
    const wired = provider('fake', server.baseUrl, { wire, patienceMs });
    const compacted = await compact([...wired, '--model', 'fake/small', ...args], run);
    const invalid = server.requests.flatMap((request) => request.invalid ?? []);
    assert.deepEqual(invalid, [], 'a request that no API takes');
    return { ...compacted, requests: server.requests };
  } finally {
    await server.close();
  }
}

function outcomes({ attempts = [] }: Receipt): readonly string[] {
  return attempts.map(({ outcome }) => outcome);
}

/** The rest was written without a model, and why is told everywhere. */
function assertEmbedded({ receipt, ended, summary }: Compacted, why: RegExp): void {
  assert.deepEqual(
    [receipt.rung, receipt.implementation, receipt.model],
    ['embedded', 'embedded', undefined],
  );
  assert.match(receipt.attempts?.at(-1)?.why ?? '', why);
  assert.match(receipt.notes.join('\n'), why);
  assert.match(ended.stderr, why);
  assert.match(ended.stderr, /No model returned a summary \(.+\); this one was written without a model\./);
  assert.match(summary, /Primary Request and Intent/);
}

const GOOD: Reply = { text: goodSummary() };

function failing(fault: Fault): Script {
  return { replies: [{ ...GOOD, fault }] };
}

function status(code: number, changed: Partial<Extract<Fault, { type: 'status' }>> = {}): Script {
  return failing({ type: 'status', status: code, ...changed });
}

/** Two at a time: each is a process that waits more than it works. */
const TWO = { concurrency: 2 };

/** Apart from each other, as what is done in this process lets the providers of processes wait. */
const TROUBLED = [
  { where: 'by a process', isTroubled: true },
  { where: 'in this process', isTroubled: false },
] as const;

describe('a model that answers', TWO, () => {
  for (const wire of ['chat', 'responses', 'anthropic'] as const) {
    test(`writes the summary over ${wire}`, async () => {
      const { receipt, summary, ended } = await compactWith({ replies: [GOOD] }, { wire, run: asProcess });
      assert.deepEqual(
        [receipt.model, receipt.rung, receipt.implementation],
        ['fake/small', 'whole', 'full'],
      );
      assert.deepEqual(outcomes(receipt), ['accepted']);
      assert.ok((receipt.attempts?.[0]?.inputTokens ?? 0) > 1_000, 'what it cost is in the receipt');
      assert.match(summary, new RegExp(SUMMARY_MARK));
      assert.match(ended.stderr, /Summary by fake\/small: 1 request, [\d,]+ tokens in, [\d,]+ out/);
    });
  }

  test('writes the summary alone if nothing else is requested', async () => {
    const server = await startProviderServer({ replies: [GOOD] });
    const home = freshHome();
    const wired = [...provider('fake', server.baseUrl), '--model', 'fake/small'];
    const ran = await baton(home, ['compact', join(home, 's.jsonl'), '--summary-only', ...wired]);
    await server.close();
    assert.equal(ran.status, 0, ran.explanation);
    assert.match(ran.stdout, new RegExp(SUMMARY_MARK));
    assert.doesNotMatch(ran.stdout, /"type"/);
    assert.match(ran.stderr, /^fake\/small wrote it: 1 request/m);
    assert.deepEqual(readdirSync(home), ['s.jsonl']);
  });

  test('in drips is read to its end', async () => {
    const { receipt } = await compactWith(failing({ type: 'drip', bytes: 97, everyMs: 1 }));
    assert.deepEqual(outcomes(receipt), ['accepted']);
  });
});

/** What a smaller request, another one, or a reminder mends. */
const MENDED: readonly {
  readonly what: string;
  readonly script: Script;
  readonly wire?: WireApi;
  readonly outcomes: readonly string[];
  readonly told: RegExp;
  readonly rung?: Rung;
}[] = [
  {
    what: 'an overflow with numbers',
    script: { window: 3_000, replies: [GOOD] },
    outcomes: ['too_large', 'accepted'],
    told: /maximum context length is 3000 tokens/,
  },
  {
    what: 'an overflow without numbers',
    script: { window: 3_000, replies: [GOOD] },
    wire: 'responses',
    outcomes: ['too_large', 'accepted'],
    told: /exceeds the context window/,
  },
  {
    what: 'a 413 of a proxy',
    script: { replies: [{ fault: { type: 'status', status: 413 } }, GOOD] },
    outcomes: ['too_large', 'accepted'],
    told: /\(413\)/,
  },
  {
    what: 'a limit per minute that no waiting can meet',
    script: {
      replies: [
        {
          fault: {
            type: 'status',
            status: 429,
            message: 'Tokens per min (TPM): Limit 3000, Requested 9000.',
          },
        },
        GOOD,
      ],
    },
    outcomes: ['too_large', 'accepted'],
    told: /Limit 3000, Requested 9000/,
  },
  {
    what: 'a 429 that says when to come back',
    script: {
      replies: [{ fault: { type: 'status', status: 429, headers: { 'retry-after': '1' } } }, GOOD],
    },
    outcomes: ['accepted'],
    told: /Reconnecting… 1\/1 \(.*429/,
    rung: 'whole',
  },
  {
    what: 'a connection that is cut once',
    script: { replies: [{ ...GOOD, fault: { type: 'cut', afterEvents: 3 } }, GOOD] },
    outcomes: ['accepted'],
    told: /Reconnecting… 1\/1/,
    rung: 'whole',
  },
  {
    what: 'an answer without sections',
    script: { replies: [{ text: 'We lit the lamp. '.repeat(40) }, GOOD] },
    outcomes: ['defect', 'accepted'],
    told: /it lacks the sections/,
    rung: 'whole',
  },
  {
    what: 'an empty answer',
    script: { replies: [{}, GOOD] },
    outcomes: ['defect', 'accepted'],
    told: /it was empty/,
    rung: 'whole',
  },
  {
    what: 'an answer that is larger than there is room for',
    // Digits take more tokens than the server counts, which cuts nothing off.
    script: { replies: [{ text: goodSummary('7;3;9;1;'.repeat(120)) }, GOOD] },
    outcomes: ['defect', 'accepted'],
    told: /it is longer than the [\d,]+ available tokens/,
    rung: 'whole',
  },
  {
    what: 'an answer that the limit of the output cut off',
    script: { replies: [{ ...GOOD, stop: 'length' }, GOOD] },
    outcomes: ['defect', 'accepted'],
    told: /it was cut off/,
    rung: 'whole',
  },
  {
    what: 'a refusal of the output of tools',
    script: { replies: [{ ...GOOD, stop: 'content_filter' }, GOOD] },
    outcomes: ['refused', 'accepted'],
    told: /refused to answer/,
    rung: 'results_cleared',
  },
];

for (const { where, isTroubled } of TROUBLED) {
  describe(`is mended ${where}`, TWO, () => {
    const rows = MENDED.filter(({ script }) => troublesConnection(script) === isTroubled);
    for (const { what, script, wire = 'chat', outcomes: expected, told, rung } of rows) {
      test(what, async () => {
        const { receipt, summary, ended, requests } = await compactWith(script, { wire });
        assert.deepEqual(outcomes(receipt), expected);
        assert.equal(receipt.model, 'fake/small');
        if (rung !== undefined) assert.equal(receipt.rung, rung);
        assert.match(ended.stderr, told);
        assert.match(summary, new RegExp(SUMMARY_MARK));
        const sent = (receipt.attempts ?? []).reduce((sum, { retries }) => sum + 1 + retries, 0);
        assert.equal(requests.length, sent, 'the receipt tells every request');
      });
    }
  });
}

/** What nothing mends: the embedded summarizer writes. */
const HOPELESS: readonly {
  readonly what: string;
  readonly script: Script;
  readonly why: RegExp;
  /** Requests that reach the provider. */
  readonly requests: number;
  readonly wire?: WireApi;
}[] = [
  { what: '401', script: status(401), why: /\(401\)/, requests: 1 },
  { what: '403', script: status(403), why: /\(403\)/, requests: 1 },
  {
    what: 'a wrong model',
    script: status(404, { message: 'No such model.' }),
    why: /No such model/,
    requests: 1,
  },
  { what: 'no credit', script: status(429, { code: 'insufficient_quota' }), why: /\(429\)/, requests: 1 },
  {
    what: 'a 429 that wants a day',
    script: status(429, { headers: { 'retry-after': '86400' } }),
    why: /\(429\)/,
    requests: 1,
  },
  { what: '500', script: status(500), why: /\(500\)/, requests: 2 },
  { what: '529', script: status(529), why: /\(529\)/, requests: 2, wire: 'anthropic' },
  { what: 'silence', script: failing({ type: 'silence' }), why: /was silent for 1500 ms/, requests: 2 },
  {
    what: 'a stall',
    script: failing({ type: 'stall', afterEvents: 3 }),
    why: /was silent for 1500 ms during its answer/,
    requests: 2,
  },
  {
    what: 'a cut',
    script: failing({ type: 'cut', afterEvents: 3 }),
    why: /broke the connection/,
    requests: 2,
  },
  {
    what: 'a clean end too early',
    script: failing({ type: 'early_end', afterEvents: 3 }),
    why: /ended before it was finished/,
    requests: 2,
  },
  {
    what: 'malformed events',
    script: failing({ type: 'malformed', afterEvents: 3 }),
    why: /an event that is not a JSON/,
    requests: 2,
  },
  {
    what: 'a page',
    script: failing({ type: 'content_type', value: 'text/html' }),
    why: /text\/html/,
    requests: 1,
  },
  { what: 'nothing but empty answers', script: { replies: [{}] }, why: /it was empty/, requests: 2 },
  {
    what: 'nonsense',
    script: { replies: [{ text: 'lorem ipsum dolor '.repeat(60) }] },
    why: /it lacks the sections/,
    requests: 2,
  },
  {
    what: 'calls of tools',
    script: { replies: [{ ...GOOD, calls: [{ name: 'shell', arguments: { cmd: 'true' } }] }] },
    why: /it called a tool/,
    requests: 2,
  },
  {
    what: 'refusals',
    script: { replies: [{ ...GOOD, stop: 'content_filter' }] },
    why: /refused to answer/,
    requests: 2,
  },
  {
    what: 'answers that are always cut off',
    script: { replies: [{ ...GOOD, stop: 'length' }] },
    why: /it was cut off/,
    requests: 2,
  },
  {
    what: 'inflated answers',
    // Digits take more tokens than the server counts, which cuts nothing off.
    script: { replies: [{ text: goodSummary('7;3;9;1;'.repeat(120)) }] },
    why: /it is longer than|it was cut off/,
    requests: 2,
  },
];

for (const { where, isTroubled } of TROUBLED) {
  describe(`is done without a model ${where} after`, TWO, () => {
    const rows = HOPELESS.filter(({ script }) => troublesConnection(script) === isTroubled);
    for (const { what, script, why, requests: expected, wire = 'chat' } of rows) {
      test(what, async () => {
        const { requests, ...compacted } = await compactWith(script, { wire });
        assertEmbedded(compacted, why);
        assert.equal(requests.length, expected);
      });
    }
  });
}

describe('is done without a model after', TWO, () => {
  test('a window that is always too small', async () => {
    const { requests, ...compacted } = await compactWith({ window: 300, replies: [GOOD] });
    assertEmbedded(compacted, /maximum context length is 300 tokens/);
    assert.ok(requests.length <= 14, `${requests.length} requests`);
  });

  test('a provider that does not exist', async () => {
    const server = await startProviderServer({ replies: [GOOD] });
    await server.close();
    const options = [...provider('fake', server.baseUrl), '--model', 'fake/small'];
    assertEmbedded(await compact(options, asProcess), /cannot be reached \(ECONNREFUSED\)/);
  });

  for (const [what, delta, why] of [
    ['words', { content: 'bla bla bla '.repeat(50) }, /it was cut off/],
    ['thoughts', { reasoning: 'hm '.repeat(200) }, /it was cut off/],
    [
      'arguments',
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'x', arguments: 'x'.repeat(600) } }] },
      /does not end/,
    ],
  ] as const) {
    test(`an endless flood of ${what}`, async () => {
      const flood = await startFlood({ choices: [{ index: 0, delta }] });
      try {
        const options = [...provider('fake', flood.baseUrl), '--model', 'fake/small'];
        assertEmbedded(await compact(options, asProcess), why);
      } finally {
        await flood.close();
      }
    });
  }
});

/** A provider that says the same without end, as fast as it is heard. */
async function startFlood(event: object): Promise<Pick<ProviderServer, 'baseUrl' | 'close'>> {
  const block = `data: ${JSON.stringify(event)}\n\n`.repeat(100);
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(block));
    response.once('drain', () => setImmediate(pour, response));
  };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    pour(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

describe('which model is asked', TWO, () => {
  const servers: ProviderServer[] = [];
  after(() => Promise.all(servers.map((server) => server.close())));

  async function serve(script: Script): Promise<ProviderServer> {
    const server = await startProviderServer(script);
    servers.push(server);
    return server;
  }

  async function compactWithBoth(
    own: Script,
    session: Script,
  ): Promise<Compacted & { readonly asked: readonly number[] }> {
    const [first, second] = [await serve(own), await serve(session)];
    const compacted = await compact([
      ...provider('own', first.baseUrl),
      ...provider('fake', second.baseUrl),
      ...settings('compact.summarization_model="tiny"', 'compact.summarization_model_provider_id="own"'),
      '--model',
      'fake/small',
    ]);
    return { ...compacted, asked: [first.requests.length, second.requests.length] };
  }

  test('the summarization model first', async () => {
    const { receipt, asked } = await compactWithBoth({ replies: [GOOD] }, { replies: [GOOD] });
    assert.deepEqual([receipt.model, asked], ['own/tiny', [1, 0]]);
  });

  test('the model of --model if that one fails', async () => {
    const { receipt, asked, ended } = await compactWithBoth(status(401), { replies: [GOOD] });
    assert.deepEqual([receipt.model, asked], ['fake/small', [1, 1]]);
    assert.deepEqual(outcomes(receipt), ['failed', 'accepted']);
    assert.match(ended.stderr, /own\/tiny did not return a summary: own says \(401\)/);
  });

  test('no further model if both fail', async () => {
    const { asked, ...compacted } = await compactWithBoth(status(401), status(403));
    assert.deepEqual(asked, [1, 1]);
    assertEmbedded(compacted, /\(403\)/);
  });

  test('a summarization model without a key is not used, with a warning', async () => {
    const { baseUrl } = await serve({ replies: [GOOD] });
    const { receipt, ended } = await compact([
      ...provider('fake', baseUrl),
      ...settings(
        'compact.summarization_model="gpt-5.1"',
        'compact.summarization_model_provider_id="openai"',
      ),
      '--model',
      'fake/small',
    ]);
    assert.equal(receipt.model, 'fake/small');
    assert.match(ended.stderr, /warning: compact\.summarization_model is ignored\. .*OPENAI_API_KEY/);
  });

  test('a model whose window has no room gets no request, and a note says so', async () => {
    const { baseUrl, requests } = await serve({ replies: [GOOD] });
    const { receipt, ended } = await compact([
      ...provider('fake', baseUrl),
      ...settings('model="small"', 'model_provider="fake"', 'model_context_window=1500'),
      '--model',
      'fake/small',
    ]);
    assert.equal(requests.length, 0);
    assert.equal(receipt.rung, 'embedded');
    assert.match(ended.stderr, /No model returned a summary \(none has room for a request\)/);
  });
});

function lastMessage(requests: readonly Recorded[]): string {
  const messages = requests[0]?.body['messages'];
  return Array.isArray(messages) ? JSON.stringify(messages.at(-1)) : '';
}

describe('what is asked for', TWO, () => {
  test('--instructions stand in the request', async () => {
    const args = ['--instructions', 'Dwell on $& and the horn.'];
    const { requests } = await compactWith({ replies: [GOOD] }, { args });
    assert.match(lastMessage(requests), /Dwell on \$& and the horn\./);
    assert.match(lastMessage(requests), /Primary Request and Intent/);
  });

  test('compact_prompt replaces the shipped prompt, and needs no sections', async () => {
    const args = ['-c', 'compact_prompt="Tell of the lamp in {maxWords} words."'];
    const reply = { text: 'The lamp was lit as the keeper asked. '.repeat(12) };
    const { requests, receipt } = await compactWith({ replies: [reply] }, { args });
    assert.match(lastMessage(requests), /Tell of the lamp in \d+ words\./);
    assert.doesNotMatch(lastMessage(requests), /Primary Request/);
    assert.deepEqual(outcomes(receipt), ['accepted']);
  });
});

test('Ctrl-C during the request ends it at once, and leaves nothing', async () => {
  const server = await startProviderServer({ replies: [{ fault: { type: 'silence' } }] });
  try {
    const home = freshHome();
    const ended = await runBuilt(
      [
        'compact',
        's.jsonl',
        '--out',
        'o.jsonl',
        ...provider('fake', server.baseUrl),
        '--model',
        'fake/small',
      ],
      { home, started: (child) => void server.request(0).then(() => child.kill('SIGINT')) },
    );
    assertFailed(ended, 'interrupted');
    assert.ok(!existsSync(join(home, 'o.jsonl')), 'no output');
    assert.deepEqual(readdirSync(home), ['s.jsonl']);
    assert.equal(server.requests.length, 1);
  } finally {
    await server.close();
  }
});

test('an unavailable model is reported in one sentence with its cure', async () => {
  const home = freshHome();
  const run = (...args: readonly string[]): Promise<Ended> =>
    runBuilt(['compact', 's.jsonl', '--out', 'o.jsonl', ...args], { home });
  const unknown = await run('--model', 'nobody/small');
  assert.notEqual(unknown.status, 0);
  assert.match(unknown.stderr, /^baton: .*nobody.*\. .*\[[a-z_]+\]$/m);
  assertNoNoise(unknown);
  const keyless = await run('--model', 'openai/gpt-5.1');
  assert.notEqual(keyless.status, 0);
  assert.match(keyless.stderr, /^baton: .*OPENAI_API_KEY.*\[[a-z_]+\]$/m);
  assertNoNoise(keyless);
  const idle = await run('--instructions', 'Dwell on the horn.');
  assert.match(idle.stderr, /--instructions need a model.* \[usage\]$/m);
  assert.deepEqual(readdirSync(home), ['s.jsonl']);
});
