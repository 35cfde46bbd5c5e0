// The legacy compaction (`features.compact_v2 = false`), over real HTTP: one request with everything, V1's layout, and what is
// done where no summary comes.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { CODEX_SUMMARY_PREFIX } from '../../src/history/filter.ts';
import type { JsonObject } from '../../src/protocol/item.ts';
import { textOfParts } from '../../src/protocol/item.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { readCompacted, shapeOf } from '../support/compacted.ts';
import type { CompactedSession } from '../support/compacted.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import type { Reply, Script } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { requestOf, writeRollout } from '../support/rollout.ts';

const folder = temporaryDirectory();
const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const SUMMARY =
  'The harbour is being charted basin by basin. Twelve basins are sounded and written down below charts/. The official charts stay ' +
  'as they are. Next comes the dredged channel, whose depth nobody has measured since the storm.';

const session = writeRollout(folder, 'harbour.jsonl', { reasons: true });
const REQUESTS = Array.from({ length: 12 }, (_, turn) => `user: ${requestOf(turn)}`);
const LEGACY = ['--set', 'features.compact_v2=false'];
let outputs = 0;

const provider = [
  '--set',
  `model_providers.far={base_url="${server.baseUrl}",wire_api="responses",request_max_retries=1,stream_max_retries=1,remote_compaction="trigger"}`,
];

interface Made extends CompactedSession {
  readonly ran: Ran;
  readonly out: string;
  /** The items of each request, in order. */
  readonly inputs: readonly (readonly JsonObject[])[];
}

interface Asking {
  readonly sets?: readonly string[];
  readonly args?: readonly string[];
  readonly file?: string;
  readonly window?: number;
}

/** Compacts by the legacy path with a provider that plays a script. */
async function ask(replies: Script['replies'], asking: Asking = {}): Promise<Made> {
  const { sets = [], args = [], file = session, window } = asking;
  server.play({ replies, ...(window === undefined ? {} : { window }) });
  const { length } = server.requests;
  const out = join(folder, `out-${++outputs}.jsonl`);
  const ran = await baton(folder, [
    ...provider,
    ...LEGACY,
    ...sets.flatMap((each) => ['--set', each]),
    'compact',
    file,
    '--model',
    'far/gpt-5.1',
    '--out',
    out,
    ...args,
  ]);
  assert.equal(ran.status, 0, `${ran.stderr}\n${JSON.stringify(ran.error)}`);
  const inputs = server.requests.slice(length).map(({ body }) => (body['input'] ?? []) as JsonObject[]);
  return { ran, out, inputs, ...(await readCompacted(out)) };
}

function textOfItem(item: JsonObject | undefined): string {
  return JSON.stringify(item?.['content'] ?? '');
}

function attachmentsOf({ items }: CompactedSession): readonly string[] {
  return items.flatMap((item) => (item.type === 'attachment' ? [item.kind] : []));
}

describe('the legacy compaction', () => {
  it('shows everything with one prompt, and keeps the user’s messages and the summary, no boundary', async () => {
    const { items, receipt, inputs } = await ask([{ text: SUMMARY }]);
    assert.equal(inputs.length, 1);
    const [input = []] = inputs;
    assert.equal(input[0]?.['role'], 'developer', 'nothing is filtered, the initial context included');
    assert.ok(JSON.stringify(input).includes('basin 0 mark 39'), 'results of tools too');
    assert.match(textOfItem(input.at(-1)), /Write a checkpoint/);
    assert.doesNotMatch(textOfItem(input.at(-1)), /Key Technical Concepts/);

    assert.deepEqual(items.map(shapeOf), [...REQUESTS, `summary: ${CODEX_SUMMARY_PREFIX}\n${SUMMARY}`]);
    assert.deepEqual(
      [receipt.implementation, receipt.rung, receipt.model],
      ['legacy', 'whole', 'far/gpt-5.1'],
    );
    assert.equal(receipt.summarised.byCategory.tool_results !== undefined, true);
  });

  it('is written like one by Codex', async () => {
    const { out } = await ask([{ text: SUMMARY }]);
    const line = readFileSync(out, 'utf8')
      .split('\n')
      .find((each) => each.includes('"type":"compacted"'));
    const { payload } = JSON.parse(line ?? '{}') as { payload: JsonObject };
    assert.equal(payload['message'], `${CODEX_SUMMARY_PREFIX}\n${SUMMARY}`);
    assert.equal(JSON.stringify(payload).includes('compact_boundary'), false);
  });

  it('keeps what a format demands: Claude Code has no compaction without a boundary', async () => {
    const { items } = await ask([{ text: SUMMARY }], { args: ['--format', 'claude'] });
    assert.deepEqual(items.map(shapeOf), [
      'compact_boundary',
      `summary: ${CODEX_SUMMARY_PREFIX}\n${SUMMARY}`,
      ...REQUESTS,
    ]);
  });

  it('restores no file and no todo list', async () => {
    const workspace = join(folder, 'workspace');
    mkdirSync(join(workspace, 'charts'), { recursive: true });
    writeFileSync(join(workspace, 'charts', 'notes.txt'), 'Read me.\n');
    const file = join(folder, 'with-plan.jsonl');
    const more = [
      {
        type: 'function_call',
        name: 'update_plan',
        arguments: JSON.stringify({ plan: [{ step: 'Sound the channel', status: 'in_progress' }] }),
        call_id: 'plan',
      },
      { type: 'function_call_output', call_id: 'plan', output: 'Plan updated' },
      {
        type: 'function_call',
        name: 'exec_command',
        arguments: JSON.stringify({ cmd: 'cat charts/notes.txt' }),
        call_id: 'cat',
      },
      { type: 'function_call_output', call_id: 'cat', output: 'Read me.' },
    ];
    const lines = more.map(
      (payload) =>
        `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', type: 'response_item', payload })}\n`,
    );
    writeFileSync(file, readFileSync(session, 'utf8') + lines.join(''));
    const args = ['--workspace', workspace];
    assert.deepEqual(attachmentsOf(await ask([{ text: SUMMARY }], { file, args })), []);
    const out = join(folder, 'with-plan-v2.jsonl');
    await baton(folder, ['compact', file, '--out', out, ...args]);
    assert.ok(attachmentsOf(await readCompacted(out)).length > 0, 'V2 gives them back');
  });

  it('uses the prompt and the instructions of the user', async () => {
    const { inputs } = await ask([{ text: SUMMARY }], {
      sets: ['compact_prompt="Say what is charted."'],
      args: ['--instructions', 'Name every shoal.'],
    });
    const last = textOfItem(inputs[0]?.at(-1));
    assert.match(last, /Say what is charted\./);
    assert.match(last, /Name every shoal\./);
    assert.doesNotMatch(last, /checkpoint/);
  });

  it('is what `auto` and `full` mean, and a target holds', async () => {
    const { items, receipt } = await ask([{ text: SUMMARY }], {
      args: ['--strategy', 'full', '--target-tokens', '400'],
    });
    assert.equal(receipt.implementation, 'legacy');
    assert.ok(receipt.postTokens <= 400, `${receipt.postTokens}`);
    assert.ok(items.length < REQUESTS.length + 1, 'the oldest requests had no room');
  });

  it('cuts a message in the middle that exceeds the limit for user messages', async () => {
    const { items } = await ask([{ text: SUMMARY }], { sets: ['compact.user_message_max_tokens=60'] });
    const texts = items.map((item) => (item.type === 'message' ? textOfParts(item.content) : ''));
    assert.ok(texts.length < REQUESTS.length, 'older ones are left to the summary');
  });

  it('runs in the built program', { skip: NOT_BUILT }, async () => {
    server.play({ replies: [{ text: SUMMARY }] });
    const home = join(folder, 'built');
    mkdirSync(home);
    const out = join(home, 'out.jsonl');
    const ran = await runBuilt(
      [...provider, ...LEGACY, 'compact', session, '--model', 'far/gpt-5.1', '--out', out],
      { home },
    );
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stderr, /Asking far\/gpt-5\.1 for a summary \(legacy compaction\)/);
    assert.equal((await readCompacted(out)).receipt.implementation, 'legacy');
  });
});

describe('a history that does not fit', () => {
  const small = ['model="gpt-5.1"', 'model_provider="far"', 'model_context_window=6000'];

  it('loses its oldest turns by our count, and a note informs the model', async () => {
    const { inputs, receipt } = await ask([{ text: SUMMARY }], { sets: small });
    assert.equal(inputs.length, 1);
    const [input = []] = inputs;
    const shown = JSON.stringify(input);
    assert.equal(input[0]?.['role'], 'developer', 'the initial context stays');
    assert.ok(!shown.includes('basin 0 mark') && shown.includes('basin 11 mark'), 'the oldest went');
    assert.match(textOfItem(input.at(-2)), /Automatic compaction omitted \d+ older item/);
    assert.equal(receipt.rung, 'oldest_dropped');
  });

  it('loses one more turn at each refusal, then two, then four, and asks at once', async () => {
    const refusal: Reply = {
      fault: {
        type: 'status',
        status: 400,
        code: 'context_length_exceeded',
        message: 'Your input exceeds the context window of this model.',
      },
    };
    const { inputs, receipt } = await ask([refusal, refusal, refusal, { text: SUMMARY }]);
    assert.deepEqual(
      inputs.map((input) => input.filter(({ type }) => type === 'function_call').length),
      [12, 12, 11, 10],
    );
    for (const input of inputs) {
      const calls = input.filter(({ type }) => type === 'function_call').map((each) => each['call_id']);
      const results = input
        .filter(({ type }) => type === 'function_call_output')
        .map((each) => each['call_id']);
      assert.deepEqual(results, calls, 'calls go with their results');
    }
    assert.deepEqual(
      receipt.attempts?.map(({ outcome }) => outcome),
      ['too_large', 'too_large', 'too_large', 'accepted'],
    );
    assert.equal(receipt.rung, 'oldest_dropped');
  });

  it('is abandoned after thirteen requests', async () => {
    const many = writeRollout(folder, 'many.jsonl', { turns: 3000, lines: 1 });
    const { inputs, receipt, ran } = await ask([{}], { window: 300, file: many });
    assert.equal(inputs.length <= 13, true, `${inputs.length}`);
    assert.deepEqual([receipt.implementation, receipt.rung], ['legacy', 'embedded']);
    assert.match(ran.stderr, /No model could summarise the conversation/);
  });
});

describe('without a summary', () => {
  const failing: readonly (readonly [title: string, reply: Reply, requests: number])[] = [
    ['an overloaded provider, asked once more by its adapter', { fault: { type: 'status', status: 503 } }, 2],
    ['a stream that breaks off', { text: SUMMARY, fault: { type: 'early_end', afterEvents: 2 } }, 2],
    ['an answer of nothing', { text: ' ' }, 1],
    ['the text of an error', { text: `Error: ${'no '.repeat(100)}` }, 1],
    ['a call of a tool', { calls: [{ name: 'sound', arguments: {} }] }, 1],
  ];
  for (const [title, reply, requests] of failing) {
    it(`${title}: Baton’s own records, in the same layout, and a notice`, async () => {
      const { items, receipt, inputs, ran } = await ask([reply]);
      assert.equal(inputs.length, requests);
      assert.deepEqual(items.slice(0, -1).map(shapeOf), REQUESTS);
      assert.match(
        shapeOf(items.at(-1) ?? { type: 'progress', text: '' }),
        /^summary: Another language model[^]*charts\/basin-11/,
      );
      assert.deepEqual(
        [receipt.implementation, receipt.rung, receipt.model],
        ['legacy', 'embedded', undefined],
      );
      assert.match(ran.stderr, /No model could summarise the conversation/);
      assert.match(receipt.notes.join('\n'), /No model could summarise the conversation/);
    });
  }

  it('without --model: the same, and nobody is blamed', async () => {
    const out = join(folder, 'embedded.jsonl');
    const ran = await baton(folder, [...LEGACY, 'compact', session, '--out', out]);
    assert.equal(ran.status, 0, ran.stderr);
    const { items, receipt } = await readCompacted(out);
    assert.deepEqual(items.slice(0, -1).map(shapeOf), REQUESTS);
    assert.deepEqual(
      [receipt.implementation, receipt.rung, receipt.attempts],
      ['legacy', 'embedded', undefined],
    );
    assert.doesNotMatch(receipt.notes.join('\n'), /No model/);
  });
});

describe('what belongs to compact_v2 is gone with it', () => {
  for (const strategy of ['micro', 'remote']) {
    it(`--strategy ${strategy} is refused`, async () => {
      const ran = await baton(folder, [
        ...LEGACY,
        ...provider,
        'compact',
        session,
        // Clearing asks no model, and says so first.
        ...(strategy === 'remote' ? ['--model', 'far/gpt-5.1'] : []),
        '--strategy',
        strategy,
      ]);
      assert.deepEqual([ran.status, ran.error?.['code']], [2, 'usage']);
      assert.match(String(ran.error?.['message']), /features\.compact_v2, which is false/);
      assert.match(String(ran.error?.['cure']), /compact_v2 = true/);
    });
  }

  it('features.remote_compaction has no effect, and the receipt says so', async () => {
    const { inputs, receipt } = await ask([{ text: SUMMARY }], { sets: ['features.remote_compaction=true'] });
    assert.ok(
      !JSON.stringify(inputs).includes('compaction_trigger'),
      'the provider was not asked to compact',
    );
    assert.equal(receipt.implementation, 'legacy');
    assert.match(receipt.notes.join('\n'), /remote_compaction has no effect/);
  });

  it('and with it on, nothing of the legacy compaction is left', async () => {
    const out = join(folder, 'v2.jsonl');
    await baton(folder, ['compact', session, '--out', out]);
    const { items, receipt } = await readCompacted(out);
    assert.equal(items[0]?.type, 'compact_boundary');
    assert.equal(receipt.implementation, 'embedded');
  });
});

describe('without anything to extract', () => {
  /** Nothing but what a harness said, and state that only a provider can read. */
  const silent = join(folder, 'silent.jsonl');
  const lines = [
    {
      type: 'session_meta',
      payload: { id: '01a00000-0000-7000-8000-000000000009', cwd: '/home/dev', cli_version: '0.140.0' },
    },
    ...Array.from({ length: 30 }, (_, at) => ({
      type: 'response_item',
      payload: { type: 'reasoning', summary: [], encrypted_content: `${at}`.padEnd(9000, 'A') },
    })),
  ];
  writeFileSync(
    silent,
    lines.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join(''),
  );

  it('the canned words are written, by both implementations', async () => {
    for (const [sets, implementation] of [
      [[], 'embedded'],
      [LEGACY, 'legacy'],
    ] as const) {
      const out = join(folder, `silent-${implementation}.jsonl`);
      const ran = await baton(folder, [...sets, 'compact', silent, '--out', out]);
      assert.equal(ran.status, 0, `${ran.stderr}${JSON.stringify(ran.error)}`);
      const { items, receipt } = await readCompacted(out);
      assert.deepEqual([receipt.implementation, receipt.rung], [implementation, 'canned']);
      const summary = items.map(shapeOf).find((shape) => shape.startsWith('summary: '));
      assert.match(summary ?? '', /There is no summary: the older turns were removed/);
      assert.equal(
        /What the user has said so far:\n\n\(none\)/.test(summary ?? ''),
        implementation === 'legacy',
      );
    }
  });
});
