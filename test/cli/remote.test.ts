// A provider's own compaction, over real HTTP: what is asked, what is kept beside it, and what happens when it does not work.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { JsonObject } from '../../src/protocol/item.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { readCompacted, shapeOf } from '../support/compacted.ts';
import type { Reply, Script } from '../support/provider-server/script.ts';
import { isSealed } from '../support/provider-server/seals.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { FIRST_REQUEST, requestOf, writeRollout } from '../support/rollout.ts';

const folder = temporaryDirectory();
const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const SUMMARY = [
  '<summary>',
  ...[
    'Primary Request and Intent',
    'Key Technical Concepts',
    'Files and Code Sections',
    'Errors and Fixes',
    'Problem Solving',
    'All User Messages',
    'Pending Tasks',
    'Current Work',
    'Optional Next Step',
  ].map((heading, at) => `${at + 1}. ${heading}:\nThe basins are sounded one by one, part ${at}.`),
  '</summary>',
].join('\n');

const session = writeRollout(folder, 'harbour.jsonl', { reasons: true });
let outputs = 0;

interface AskedRun {
  readonly ran: Ran;
  readonly out: string;
  /** The bodies of the requests that the provider got. */
  readonly bodies: readonly JsonObject[];
  readonly paths: readonly string[];
}

const provider = (name: string, form: string, wire = 'responses'): readonly string[] => [
  '--set',
  `model_providers.${name}={base_url="${server.baseUrl}",wire_api="${wire}",request_max_retries=0,stream_max_retries=0${form === '' ? '' : `,remote_compaction="${form}"`}}`,
];

/** Compacts a file with a provider that plays a script. */
async function ask(
  replies: Script['replies'],
  args: readonly string[],
  { file = session, form = 'trigger', window }: { file?: string; form?: string; window?: number } = {},
): Promise<AskedRun> {
  server.play({ replies, ...(window === undefined ? {} : { window }) });
  const { length } = server.requests;
  const out = join(folder, `out-${++outputs}.jsonl`);
  const ran = await baton(folder, [
    ...provider('far', form),
    ...args
      .filter((each) => each.startsWith('features.') || each.startsWith('compact'))
      .flatMap((each) => ['--set', each]),
    'compact',
    file,
    '--model',
    'far/gpt-5.1',
    '--out',
    out,
    ...args.filter((each) => !each.startsWith('features.') && !each.startsWith('compact')),
  ]);
  const made = server.requests.slice(length);
  return { ran, out, bodies: made.map(({ body }) => body), paths: made.map(({ path }) => path) };
}

function inputOf(body: JsonObject | undefined): readonly JsonObject[] {
  return (body?.['input'] ?? []) as readonly JsonObject[];
}

/** The request that another provider gets for a summary of a file. */
async function askNear(wire: string, file: string): Promise<JsonObject> {
  server.play({ replies: [{ text: SUMMARY }] });
  const { length } = server.requests;
  const out = join(folder, `near-${++outputs}.jsonl`);
  const ran = await baton(folder, [
    ...provider('near', '', wire),
    'compact',
    file,
    '--model',
    'near/some-model',
    '--out',
    out,
  ]);
  assert.equal(ran.status, 0, ran.stderr);
  return server.requests[length]?.body ?? {};
}

/** A file that begins with a provider's own compaction, and the work that came after it. */
async function grownSession(): Promise<string> {
  const { out } = await ask([COMPACTS], [...REMOTE, '--prune']);
  const since = readFileSync(writeRollout(folder, 'since.jsonl', { turns: 6, first: 20 }), 'utf8');
  const grown = join(folder, `grown-${++outputs}.jsonl`);
  writeFileSync(grown, readFileSync(out, 'utf8') + since.slice(since.indexOf('\n') + 1));
  return grown;
}

const SHADOW = /conversation is summarized below/;
const REMOTE = ['--strategy', 'remote'];
const COMPACTS: Reply = { compacts: true };

describe("a provider's own compaction", () => {
  for (const [form, path] of [
    ['trigger', '/v1/responses'],
    ['endpoint', '/v1/responses/compact'],
  ] as const) {
    it(`stands where the summary would, by ${form}, with a readable shadow`, async () => {
      const { ran, out, bodies, paths } = await ask([COMPACTS], REMOTE, { form });
      assert.equal(ran.status, 0, ran.stderr);
      assert.deepEqual(paths, [path]);
      const input = inputOf(bodies[0]);
      assert.equal(input.at(-1)?.['type'] === 'compaction_trigger', form === 'trigger');
      assert.ok(JSON.stringify(input).includes('basin 3 mark 7'), 'the whole history was shown');
      assert.ok(!JSON.stringify(input).includes('Summarise'), 'no prompt of ours');

      const { items, record, receipt } = await readCompacted(out);
      assert.deepEqual(items.map(shapeOf), [
        'compact_boundary',
        'compaction',
        ...Array.from({ length: 12 }, (_, turn) => `user: ${requestOf(turn)}`),
      ]);
      const state = items.find((item) => item.type === 'compaction');
      assert.ok(isSealed(state?.encrypted_content ?? ''), 'the state is the provider’s');
      assert.equal(state?.provider, 'far');
      assert.match(state?.shadow ?? '', /^1\. Primary Request and Intent:[^]*charts\/basin-11\.txt/);
      assert.ok((state?.shadow ?? '').includes('Never touch the files below charts/official'), 'the rule');
      assert.equal(record.summary, state?.shadow);
      assert.deepEqual(
        [receipt.implementation, receipt.rung, receipt.model],
        ['remote', 'remote', 'far/gpt-5.1'],
      );
      assert.deepEqual(
        receipt.attempts?.map(({ rung, outcome, model }) => ({ rung, outcome, model })),
        [{ rung: 'remote', outcome: 'accepted', model: 'far/gpt-5.1' }],
      );
      assert.ok((receipt.attempts?.[0]?.inputTokens ?? 0) > 1000, 'what it cost is told');
    });
  }

  it('is a record as Codex writes its own: no message, and nothing but the state in the item', async () => {
    const { out } = await ask([COMPACTS], REMOTE);
    const line = readFileSync(out, 'utf8')
      .split('\n')
      .filter((each) => each.includes('"type":"compacted"'))
      .map(
        (each) => JSON.parse(each) as { payload: { message: string; replacement_history: JsonObject[] } },
      )[0];
    assert.equal(line?.payload.message, '');
    const state = line?.payload.replacement_history.find(({ type }) => type === 'compaction');
    assert.deepEqual(Object.keys(state ?? {}).toSorted(), ['encrypted_content', 'id', 'type']);
  });

  it('is taken back like every other', async () => {
    const { out } = await ask([COMPACTS], REMOTE);
    const undone = await baton(folder, ['undo', out, '--out', join(folder, 'undone.jsonl')]);
    assert.equal(undone.status, 0, undone.stderr);
    assert.match(undone.stderr, /is undone/);
    assert.match(undone.stderr, / is unchanged: resume it to keep the compaction\.$/m);
  });

  it('goes back to its provider as state, and to every other one in words', async () => {
    const grown = await grownSession();
    const own = await ask([{ text: SUMMARY }], ['--strategy', 'full'], { file: grown });
    assert.ok(
      inputOf(own.bodies[0]).some(({ type }) => type === 'compaction'),
      'state to its own provider',
    );
    assert.doesNotMatch(JSON.stringify(own.bodies[0]), SHADOW, 'and no words beside');
    for (const wire of ['responses', 'chat', 'anthropic'] as const) {
      const body = JSON.stringify(await askNear(wire, grown));
      assert.match(body, SHADOW, `${wire}: the shadow`);
      assert.ok(body.includes(FIRST_REQUEST), `${wire}: what was asked`);
      assert.ok(!body.includes('encrypted_content"'), `${wire}: no state of another provider`);
    }
  });

  it('of an agent of its own, without a shadow, is told of from the whole log', async () => {
    const since = readFileSync(writeRollout(folder, 'since.jsonl', { turns: 6, first: 20 }), 'utf8');
    const compacted = {
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'compacted',
      payload: {
        message: '',
        replacement_history: [{ type: 'compaction', encrypted_content: 'gAAA'.repeat(40) }],
      },
    };
    const file = join(folder, 'of-codex.jsonl');
    writeFileSync(
      file,
      `${readFileSync(session, 'utf8')}${JSON.stringify(compacted)}\n${since.slice(since.indexOf('\n') + 1)}`,
    );
    for (const wire of ['responses', 'chat'] as const) {
      const body = JSON.stringify(await askNear(wire, file));
      assert.match(body, SHADOW, wire);
      assert.ok(body.includes(FIRST_REQUEST), `${wire}: what was asked before it`);
      assert.ok(!body.includes('gAAA'), `${wire}: no state of nobody knows whom`);
    }
  });

  it('stays in words when the context is written for somebody else', async () => {
    const grown = await grownSession();
    for (const format of ['chat', 'anthropic', 'claude', 'markdown', 'responses']) {
      const ran = await baton(folder, [
        '--set',
        'compact.micro_compact_min_tokens_to_save=0',
        'compact',
        grown,
        '--strategy',
        'micro',
        '--format',
        format,
      ]);
      assert.equal(ran.status, 0, ran.stderr);
      assert.equal(ran.stdout.includes('Primary Request and Intent'), format !== 'responses', format);
      assert.equal(ran.stdout.includes('encrypted_content'), format === 'responses', format);
    }
  });

  it('is what is left of the past where a file holds nothing else of it', async () => {
    const { stdout, stderr, status } = await baton(folder, [
      'compact',
      await grownSession(),
      '--preview',
      '--full',
    ]);
    assert.equal(status, 0, stderr);
    // The shadow was the only place that told of this file.
    assert.match(stdout, /Basin 10 is in charts\/basin-10\.txt/);
  });

  it('of a session of another agent can be written for Codex', async () => {
    const claude = join(folder, 'claude.json');
    await baton(folder, [
      '--set',
      'compact.micro_compact_min_tokens_to_save=0',
      'compact',
      session,
      '--strategy',
      'micro',
      '--format',
      'anthropic',
      '--out',
      claude,
    ]);
    const { ran, out } = await ask([COMPACTS], [...REMOTE, '--format', 'codex'], { file: claude });
    assert.equal(ran.status, 0, ran.stderr);
    const { items } = await readCompacted(out);
    const state = items.find((item) => item.type === 'compaction');
    assert.ok(state?.encrypted_content !== undefined && state.shadow !== undefined, 'state and shadow');
  });

  it('shows the encrypted reasoning of nobody else', async () => {
    const { bodies } = await ask([COMPACTS], REMOTE);
    assert.ok(!inputOf(bodies[0]).some(({ type }) => type === 'reasoning'), 'no reasoning of another maker');
  });

  it('clears results of tools where the history does not fit the window', async () => {
    const small = [
      '--set',
      'model="gpt-5.1"',
      '--set',
      'model_provider="far"',
      '--set',
      'model_context_window=6000',
    ];
    server.play({ replies: [COMPACTS] });
    const { length } = server.requests;
    const out = join(folder, 'small-window.jsonl');
    const ran = await baton(folder, [
      ...provider('far', 'trigger'),
      ...small,
      'compact',
      session,
      '--model',
      'far',
      '--strategy',
      'remote',
      '--out',
      out,
    ]);
    assert.equal(ran.status, 0, ran.stderr);
    const input = inputOf(server.requests[length]?.body);
    const results = input.filter(({ type }) => type === 'function_call_output').map((each) => each['output']);
    assert.equal(results[0], '[Old tool result content cleared]');
    assert.notEqual(results.at(-1), '[Old tool result content cleared]');
    assert.equal((await readCompacted(out)).receipt.implementation, 'remote');
  });

  it('runs in the built program', { skip: NOT_BUILT }, async () => {
    server.play({ replies: [COMPACTS] });
    const home = join(folder, 'built');
    mkdirSync(home);
    const out = join(home, 'out.jsonl');
    const ran = await runBuilt(
      [...provider('far', 'endpoint'), 'compact', session, '--model', 'far/gpt-5.1', ...REMOTE, '--out', out],
      { home },
    );
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stderr, /Compacted by far\/gpt-5\.1: 1 request/);
    assert.match(ran.stderr, /Codex resumes with the provider openai/);
    assert.equal((await readCompacted(out)).receipt.implementation, 'remote');
  });
});

describe('a compaction of the provider that does not work leads to one local compaction', () => {
  const failing: readonly (readonly [title: string, reply: Reply, outcome: string, why: RegExp])[] = [
    ['an answer without a compaction', { text: 'Sure.' }, 'failed', /0 compactions among 1 items/],
    ['an empty answer', {}, 'failed', /0 compactions/],
    ['a refusal', { fault: { type: 'status', status: 500, message: 'Not now.' } }, 'failed', /Not now/],
    [
      'a stream that breaks off',
      { compacts: true, fault: { type: 'early_end', afterEvents: 1 } },
      'failed',
      /./,
    ],
    [
      'an event that is not a JSON',
      { compacts: true, fault: { type: 'malformed', afterEvents: 1 } },
      'failed',
      /./,
    ],
    [
      'an overflow',
      {
        fault: {
          type: 'status',
          status: 400,
          code: 'context_length_exceeded',
          message: 'Your input exceeds the context window of this model.',
        },
      },
      'too_large',
      /./,
    ],
  ];
  for (const [title, reply, outcome, why] of failing) {
    it(title, async () => {
      const { ran, out, bodies } = await ask([reply, { text: SUMMARY }], REMOTE);
      assert.equal(ran.status, 0, ran.stderr);
      assert.equal(bodies.length, 2);
      const { items, receipt } = await readCompacted(out);
      assert.ok(!items.some(({ type }) => type === 'compaction'), 'no state');
      assert.deepEqual([receipt.implementation, receipt.rung], ['full', 'whole']);
      assert.deepEqual(
        receipt.attempts?.map((each) => [each.rung, each.outcome]),
        [
          ['remote', outcome],
          ['whole', 'accepted'],
        ],
      );
      assert.match(receipt.attempts?.[0]?.why ?? '', why);
    });
  }

  it('one that frees too little', async () => {
    const { out } = await ask([{ ...COMPACTS, stateBytes: 200_000 }, { text: SUMMARY }], REMOTE);
    const { receipt } = await readCompacted(out);
    assert.equal(receipt.implementation, 'full');
    const [first] = receipt.attempts ?? [];
    assert.deepEqual([first?.rung, first?.outcome], ['remote', 'defect']);
    assert.match(first?.why ?? '', /too large to be worth it/);
  });

  it('without a model at all in the end, where nobody answers', async () => {
    const { out } = await ask([{ fault: { type: 'status', status: 401, message: 'Who are you?' } }], REMOTE);
    const { receipt } = await readCompacted(out);
    assert.deepEqual([receipt.implementation, receipt.rung], ['embedded', 'embedded']);
    assert.deepEqual(
      receipt.attempts?.map(({ rung }) => rung),
      ['remote', 'whole'],
    );
  });
});

describe('what is in the way of it', () => {
  const obstacles: readonly (readonly [
    title: string,
    args: readonly string[],
    why: RegExp,
    form?: string,
  ])[] = [
    ['a provider that cannot', [], /has no compaction of its own/, 'off'],
    ['instructions', ['--instructions', 'Dwell on basin 3.'], /ignores instructions/],
    ['a prompt of the user', ['compact_prompt="Sum up."'], /does not read compact_prompt/],
    ['a summarization model', ['compact.summarization_model="small"'], /summarization_model already chooses/],
    ['Claude Code', ['--format', 'claude'], /cannot hold a provider's compaction state/],
    ['Anthropic messages', ['--format', 'anthropic'], /cannot hold a provider.s compaction state/],
    ['chat messages', ['--format', 'chat'], /cannot hold a provider.s compaction state/],
    ['Markdown', ['--format', 'markdown'], /cannot hold a provider.s compaction state/],
  ];
  for (const [title, args, why, form = 'trigger'] of obstacles) {
    it(`${title}: an error by name, a note where it was only preferred`, async () => {
      const named = await ask([COMPACTS], [...REMOTE, ...args], { form });
      assert.equal(named.ran.status, 2);
      assert.equal(named.ran.error?.['code'], 'usage');
      assert.match(String(named.ran.error?.['message']), why);
      assert.notEqual(named.ran.error?.['cure'], '');
      assert.equal(named.bodies.length, 0, 'nobody was asked');

      const preferred = await ask(
        [{ text: SUMMARY }],
        ['features.remote_compaction=true', ...args, '--json'],
        { form },
      );
      assert.equal(preferred.ran.status, 0, preferred.ran.stderr);
      const { implementation, notes } = JSON.parse(preferred.ran.stdout) as {
        implementation: string;
        notes: string[];
      };
      assert.notEqual(implementation, 'remote');
      assert.match(notes.join('\n'), why);
      assert.ok(
        preferred.bodies.every((body) => !JSON.stringify(body).includes('compaction_trigger')),
        'the provider was not asked to compact',
      );
    });
  }

  it('a changed compact.md', async () => {
    const home = join(folder, 'prompts');
    mkdirSync(join(home, '.baton', 'auto-compact'), { recursive: true });
    writeFileSync(join(home, '.baton', 'auto-compact', 'compact.md'), 'Sum it up.\n');
    const ran = await baton(home, [
      ...provider('far', 'trigger'),
      'compact',
      session,
      '--model',
      'far/gpt-5.1',
      ...REMOTE,
    ]);
    assert.match(String(ran.error?.['message']), /or compact\.md/);
  });

  it('no model', async () => {
    const named = await baton(folder, ['compact', session, ...REMOTE]);
    assert.deepEqual([named.status, named.error?.['code']], [2, 'usage']);
    const out = join(folder, 'no-model.jsonl');
    await baton(folder, ['--set', 'features.remote_compaction=true', 'compact', session, '--out', out]);
    const { receipt } = await readCompacted(out);
    assert.equal(receipt.implementation, 'embedded');
    assert.match(receipt.notes.join('\n'), /provider did not compact, because no model is chosen/);
  });
});

describe('features.remote_compaction', () => {
  it('on: the provider compacts without being named', async () => {
    const { out } = await ask([COMPACTS], ['features.remote_compaction=true']);
    assert.equal((await readCompacted(out)).receipt.implementation, 'remote');
  });

  it('off: nobody asks it to', async () => {
    const { out, bodies } = await ask([{ text: SUMMARY }], []);
    assert.equal((await readCompacted(out)).receipt.implementation, 'full');
    assert.ok(!JSON.stringify(bodies).includes('compaction_trigger'), 'no trigger');
  });

  it('on, with another strategy by name: a summary', async () => {
    const { out } = await ask([{ text: SUMMARY }], ['features.remote_compaction=true', '--strategy', 'full']);
    const { receipt } = await readCompacted(out);
    assert.deepEqual(
      [receipt.implementation, receipt.notes.filter((note) => note.includes('provider'))],
      ['full', []],
    );
  });
});
