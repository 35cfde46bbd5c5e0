// Baton's command line, and how the real tools read every file that it writes.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isJsonObject } from '../../src/formats/fields.ts';
import type { JsonObject } from '../../src/protocol/item.ts';
import { CLEARED_RESULT } from '../../src/protocol/record.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { isSealed } from '../support/provider-server/seals.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import {
  assistantLine,
  boundaryLine,
  fillerLine,
  sessionText,
  summaryLine,
  toolResult,
  toolUse,
  userLine,
  type SessionLine,
} from './claude-sessions.ts';
import { createClaudeHome, placeSession, runClaudeResume } from './claude.ts';
import { createCodexHome, placeRollout, runCodexResume } from './codex.ts';
import {
  assistantMessage,
  responseItem,
  rolloutText,
  sessionMeta,
  THREAD_ID,
  tokenCount,
  userMessage,
} from './codex-rollouts.ts';
import { assertClaudeSends, assertCodexSends, resumeInClaude, resumeInCodex } from './contract.ts';
import type { Resumed } from './contract.ts';
import { projectionOf } from './projection.ts';
import { isCompactedByBaton, listSessions } from './recorded-sessions.ts';
import { sentByClaude, sentByCodex } from './sent.ts';
import type { SentItem } from './sent.ts';
import { objectsOf } from './shape.ts';
import { skipReason } from './tools.ts';

const skip = await skipReason();
const folder = temporaryDirectory();

/** Runs a command that must succeed, with ids that no other run has. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const ran = await baton(folder, args, { ids: { uuid: () => randomUUID() }, env });
  assert.equal(ran.status, 0, `${args.join(' ')}\n${ran.stderr}`);
  return ran;
}

function freshPath(): string {
  return join(folder, `${randomUUID()}.jsonl`);
}

/** The path of what a command wrote. */
async function made(...args: readonly string[]): Promise<string> {
  const path = freshPath();
  await run([...args, '--out', path]);
  return path;
}

async function written(text: string): Promise<string> {
  const path = freshPath();
  await writeFile(path, text);
  return path;
}

type Format = 'codex' | 'claude';

/** Asserts that the tool sends of a file what Baton reads in it; see `resumeInCodex` for `times`. */
async function assertSent(format: Format, path: string, times: 1 | 2 = 2): Promise<void> {
  const { items, context } = await projectionOf(path);
  assert.ok(items.length > 0);
  if (format === 'codex') await assertCodexSends({ path, items, times });
  else await assertClaudeSends({ path, items, context, times });
}

/** What the tool sends of a file. */
function sent(format: Format, path: string): Promise<Resumed> {
  return format === 'codex' ? resumeInCodex(path, 1) : resumeInClaude(path, 1);
}

/** What is sent of originals, by their text: many tests begin with the same one. */
const ofOriginals = new Map<string, Promise<Resumed>>();

async function sentOriginal(format: Format, path: string): Promise<Resumed> {
  const text = `${format}\n${await readFile(path, 'utf8')}`;
  const sending = ofOriginals.get(text) ?? sent(format, path);
  ofOriginals.set(text, sending);
  return sending;
}

async function assertSentAlike(format: Format, path: string, original: string): Promise<void> {
  assert.deepEqual((await sent(format, path)).items, (await sentOriginal(format, original)).items);
}

const TURNS = 30;
/** Listings long enough for clearing old ones to be worth it. */
const LISTING = Array.from({ length: 400 }, (_, hour) => `harbour-${hour}.dat high ${hour * 7} cm`).join(
  '\n',
);

/** A long talk about tide tables: each turn asks, runs a command and answers. */
function claudeTurns(cwd = '/home/dev/tides', turns = TURNS): readonly SessionLine[] {
  const lines = Array.from({ length: turns }, (_, turn): readonly SessionLine[] => {
    const before = turn === 0 ? {} : { after: `answer ${turn - 1}` };
    return [
      userLine({ name: `ask ${turn}`, ...before }, `Add the tides of day ${turn} to src/day${turn}.csv.`),
      assistantLine(
        { name: `call ${turn}`, after: `ask ${turn}` },
        toolUse(`toolu_${turn}`, 'Bash', { command: `ls data/day${turn}` }),
      ),
      userLine({ name: `result ${turn}`, after: `call ${turn}` }, [
        toolResult(`toolu_${turn}`, `day ${turn}\n${LISTING}`),
      ]),
      assistantLine(
        { name: `answer ${turn}`, after: `result ${turn}` },
        { type: 'text', text: `Day ${turn} is in the table.` },
      ),
    ];
  });
  return lines
    .flat()
    .map((line, index) => ({ ...line, cwd, ...reporting(line, Math.ceil((index + 1) / 4)) }));
}

/** About what a turn of the talk takes, in tokens. */
const TURN_TOKENS = 3_000;

/** The message of an answer, with a report of so many turns. */
function reporting({ message }: SessionLine, turns: number): JsonObject {
  if (!isJsonObject(message) || message['usage'] === undefined) return {};
  return { message: { ...message, usage: { input_tokens: turns * TURN_TOKENS, output_tokens: 1 } } };
}

function codexTurns(): string {
  const items = Array.from({ length: TURNS }, (_, turn): readonly JsonObject[] => [
    userMessage(`Add the tides of day ${turn} to src/day${turn}.csv.`),
    {
      type: 'function_call',
      name: 'shell',
      arguments: JSON.stringify({ command: ['ls', `data/day${turn}`] }),
      call_id: `call_${turn}`,
    },
    { type: 'function_call_output', call_id: `call_${turn}`, output: `day ${turn}\n${LISTING}` },
    assistantMessage(`Day ${turn} is in the table.`),
  ]);
  const lines = [sessionMeta(THREAD_ID, 'paginated'), ...items.flat().map(responseItem), tokenCount(150_000)];
  return rolloutText(lines, 0);
}

const SOURCES: Readonly<Record<Format, () => string>> = {
  codex: codexTurns,
  claude: () => sessionText(...claudeTurns()),
};
const COMPACT = ['--target-tokens', '8000'] as const;

for (const format of ['codex', 'claude'] as const) {
  const other = format === 'codex' ? 'claude' : 'codex';
  describe(`${format} sends what Baton wrote`, { skip, concurrency: 2 }, () => {
    it('a compaction, and the history before it when it is undone', async () => {
      const original = await written(SOURCES[format]());
      const compacted = await made('compact', original, '--format', 'same', ...COMPACT);
      await assertSent(format, compacted);
      assert.ok((await projectionOf(compacted)).items.length < (await projectionOf(original)).items.length);
      await assertSentAlike(format, await made('undo', compacted), original);
    });

    it('cleared results, and the whole ones when that is undone', async () => {
      const original = await written(SOURCES[format]());
      const cleared = await made('compact', original, '--strategy', 'micro');
      const { items } = await projectionOf(cleared);
      assert.equal(items.filter(({ text }) => text === CLEARED_RESULT).length, TURNS - 3);
      await assertSent(format, cleared);
      await assertSentAlike(format, await made('undo', cleared), original);
    });

    it('a file of the current context alone', async () => {
      const original = await written(SOURCES[format]());
      const pruned = await made('compact', original, '--prune', ...COMPACT);
      assert.ok((await readFile(pruned)).length < (await readFile(original)).length / 4);
      await assertSent(format, pruned);
      await assertSent(format, await made('compact', original, '--prune', '--strategy', 'micro'), 1);
    });

    it('a legacy compaction, and the history before it when it is undone', async () => {
      const original = await written(SOURCES[format]());
      const legacy = ['--set', 'features.compact_v2=false'];
      const compacted = await made(...legacy, 'compact', original, '--format', 'same');
      await assertSent(format, compacted);
      assert.ok((await projectionOf(compacted)).items.length < (await projectionOf(original)).items.length);
      await assertSentAlike(format, await made(...legacy, 'undo', compacted), original);
    });

    it(`a session that was ${other}'s`, async () => {
      const original = await written(SOURCES[other]());
      await assertSent(format, await made('compact', original, '--format', format, ...COMPACT));
    });
  });
}

describe("codex sends a provider's own compaction", { skip }, () => {
  for (const source of ['codex', 'claude'] as const) {
    it(`of a session of ${source}, with its state unchanged and without its shadow`, async () => {
      const server = await startProviderServer({ replies: [{ compacts: true }] });
      const home = await createCodexHome();
      try {
        const provider = `model_providers.far={base_url="${server.baseUrl}",wire_api="responses",remote_compaction="trigger"}`;
        const remote = ['--strategy', 'remote', '--model', 'far/gpt-5.1', '--format', 'codex', '--install'];
        const ran = await run(['--set', provider, 'compact', await written(SOURCES[source]()), ...remote], {
          CODEX_HOME: home.path,
        });
        const { id, path } = installed(ran);
        const { items } = await projectionOf(path);
        assert.deepEqual(items[0], { role: 'other', text: 'compaction' });
        const resumed = await runCodexResume({
          home,
          id,
          ...(source === 'codex' ? { provider: 'loopback' } : {}),
          prompt: 'Go on.',
          reply: 'Gone on.',
        });
        assert.equal(resumed.exitCode, 0, resumed.stderr);
        const [body = {}, ...more] = resumed.requests
          .filter((request) => request.path === '/v1/responses')
          .map((request) => request.body);
        assert.equal(more.length, 0);
        assert.deepEqual(sentByCodex(body).items, items);
        const state = objectsOf(body['input']).find(({ type }) => type === 'compaction');
        assert.ok(isSealed(String(state?.['encrypted_content'])), 'the state that the provider made');
        assert.doesNotMatch(JSON.stringify(body), /Primary Request and Intent/);
      } finally {
        await home.remove();
        await server.close();
      }
    });
  }
});

describe('claude gets back what the agent had read', { skip }, () => {
  it('files, worded as Claude Code words them', async () => {
    const read = [
      assistantLine(
        { name: 'read', after: `answer ${TURNS - 1}` },
        toolUse('toolu_read', 'Read', { file_path: '/home/dev/tides/tides.py' }),
      ),
      userLine({ name: 'was read', after: 'read' }, [toolResult('toolu_read', '1\tprint("low water")')]),
      assistantLine({ name: 'done', after: 'was read' }, { type: 'text', text: 'It prints the low water.' }),
    ];
    const original = await written(sessionText(...claudeTurns(), ...read));
    const workspace = join(folder, 'tides');
    await mkdir(workspace);
    await writeFile(join(workspace, 'tides.py'), 'print("high water")\n');
    const compacted = await made('compact', original, '--workspace', workspace, ...COMPACT);
    const { items, context } = await projectionOf(compacted);
    assert.match(context.join(), /Contents of .*tides\.py.*\nprint\("high water"\)/);
    await assertClaudeSends({ path: compacted, items, context: ['Called the Read tool', 'high water'] });
    await assertSentAlike('claude', await made('undo', compacted), original);
  });
});

describe('an installed session is resumed under its new id', { skip, concurrency: 2 }, () => {
  it('in codex, compacted again and undone twice', async () => {
    const home = await createCodexHome();
    try {
      const env = { CODEX_HOME: home.path };
      const provider = 'loopback';
      const original = await placeRollout(home, THREAD_ID, codexTurns());
      const resume = async (id: string) => {
        const ran = await runCodexResume({ home, id, provider, prompt: 'Go on.', reply: 'Gone on.' });
        assert.equal(ran.exitCode, 0, ran.stderr);
        const bodies = ran.requests.filter(({ path }) => path === '/v1/responses').map(({ body }) => body);
        assert.equal(bodies.length, 1);
        return sentByCodex(bodies[0] ?? {}).items;
      };
      const first = installed(await run(['compact', original, '--install', ...COMPACT], env));
      assert.notEqual(first.id, THREAD_ID);
      const { items } = await projectionOf(first.path);
      assert.deepEqual(await resume(first.id), items);
      await assertTakenBackTwice({ env, original, grown: first.path, resume });
    } finally {
      await home.remove();
    }
  });

  it('in claude, compacted again and undone twice', async () => {
    const home = await createClaudeHome();
    try {
      const env = { CLAUDE_CONFIG_DIR: join(home.path, 'config') };
      const original = await placeSession(home, randomUUID(), sessionText(...claudeTurns(home.project)));
      const resume = async (id: string) => {
        const ran = await runClaudeResume({ home, id, prompt: 'Go on.', reply: 'Gone on.' });
        assert.equal(ran.exitCode, 0, ran.stderr);
        const bodies = ran.requests
          .filter(({ path }) => path.startsWith('/v1/messages?'))
          .map(({ body }) => body);
        assert.equal(bodies.length, 1);
        return sentByClaude(bodies[0] ?? {}).items;
      };
      const first = installed(await run(['compact', original, '--install', ...COMPACT], env));
      const { items } = await projectionOf(first.path);
      assert.deepEqual(await resume(first.id), items);
      await assertTakenBackTwice({ env, original, grown: first.path, resume });
    } finally {
      await home.remove();
    }
  });
});

interface TakenBack {
  readonly env: Readonly<Record<string, string>>;
  readonly original: string;
  /** A compaction of `original` that the tool has gone on from with one prompt. */
  readonly grown: string;
  readonly resume: (id: string) => Promise<readonly SentItem[]>;
}

/** Compacts once more, takes both compactions back, and finds the original and what came since. */
async function assertTakenBackTwice({ env, original, grown, resume }: TakenBack): Promise<void> {
  const before = (await projectionOf(original)).items;
  const since = [
    { role: 'user', text: 'Go on.' },
    { role: 'assistant', text: 'Gone on.' },
  ];
  const second = installed(await run(['compact', grown, '--install', '--target-tokens', '2000'], env));
  const once = installed(await run(['undo', second.path, '--install'], env));
  assert.deepEqual(talkOf(await resume(once.id)).slice(-2), since);
  const twice = installed(await run(['undo', once.path, '--install'], env));
  const sentTwice = talkOf(await resume(twice.id));
  assert.deepEqual(sentTwice.slice(0, before.length), before);
  assert.deepEqual(sentTwice.slice(-4), [...since, ...since]);
}

/** Without the instructions and the environment that Codex records with each prompt. */
function talkOf(items: readonly SentItem[]): readonly SentItem[] {
  return items.filter(({ role, text }) => role !== 'developer' && !text.startsWith('<environment_context>'));
}

/** What a command says of the session that it installed. */
function installed({ stdout, stderr }: Ran): { readonly path: string; readonly id: string } {
  const path = /Written to (.+\.jsonl)\./.exec(stderr)?.[1];
  const id = /resume (\S+)$/m.exec(stdout)?.[1];
  if (path === undefined || id === undefined) throw new TypeError(`nothing was installed:\n${stderr}`);
  return { path, id };
}

describe('claude sends an undo in a file of more than 5 MiB', { skip, concurrency: 2 }, () => {
  const filler = fillerLine(6_000_000);

  it('of Baton: one line', async () => {
    const original = await written(sessionText(filler, ...claudeTurns()));
    const compacted = await made('compact', original, ...COMPACT);
    await assertSent('claude', compacted, 1);
    const undone = await made('undo', compacted);
    assert.equal(lineCount(await readFile(undone, 'utf8')), lineCount(await readFile(compacted, 'utf8')) + 1);
    await assertSentAlike('claude', undone, original);
  });

  it('of results that were cleared', async () => {
    const original = await written(sessionText(filler, ...claudeTurns()));
    const cleared = await made('compact', original, '--strategy', 'micro');
    await assertSent('claude', cleared, 1);
    await assertSentAlike('claude', await made('undo', cleared), original);
  });

  it('of a version without preserved lines: copies', async () => {
    const bare = [
      boundaryLine('bare'),
      summaryLine({ name: 'summary', after: 'bare' }),
      userLine({ name: 'since', after: 'summary' }, 'Add the moon phase.'),
    ];
    const original = await written(sessionText(filler, ...claudeTurns()));
    const compacted = await written(sessionText(filler, ...claudeTurns(), ...bare));
    const undone = await made('undo', compacted);
    const since = { role: 'user', text: 'Add the moon phase.' };
    const expected = [...(await sentOriginal('claude', original)).items, since];
    assert.deepEqual((await sent('claude', undone)).items, expected);
    // Taking back again what was taken back to goes by the copies.
    const again = await made('undo', await made('compact', undone, ...COMPACT));
    assert.deepEqual((await sent('claude', again)).items, expected);
  });
});

function lineCount(text: string): number {
  return text.split('\n').length;
}

const FULL = /Monotoba/;

for (const [format, folders] of [
  ['codex', ['codex', 'codex-0.169']],
  ['claude', ['claude-code', 'claude-code-2.1.329']],
] as const) {
  const recorded = await listSessions(...folders);
  const chosen = recorded.files.filter(isCompactedByBaton);
  describe(`${format} sends real sessions`, { skip: skip || recorded.skip, concurrency: 2 }, () => {
    for (const { name, path } of chosen) {
      it(`${name}: compacted and undone`, async () => {
        const original = await written(`${(await readFile(path, 'utf8')).trimEnd()}\n`);
        const compacted = await made('compact', original, ...COMPACT);
        const { items } = await projectionOf(compacted);
        assert.deepEqual((await sent(format, compacted)).items, items);
        const undone = await made('undo', compacted);
        // What was full is full again, and Codex compacts it before anything else.
        if (FULL.test(name)) return;
        if (format === 'claude') await assertSentAlike(format, undone, original);
        else await assertRestoredInCodex(undone, original);
      });
    }
  });
}

/**
 * Codex does not send these originals as they are: it compacts a full one, and speaks of another model than it was
 * recorded with. Reasoning is left aside, which lost its content on the way to the collection, and so are the results
 * that Codex itself gives to calls without one.
 */
async function assertRestoredInCodex(undone: string, original: string): Promise<void> {
  const { items } = await sent('codex', undone);
  assert.deepEqual(
    items.filter(({ role, text }) => role !== 'reasoning' && text !== 'aborted'),
    (await projectionOf(original)).items,
  );
}

const withOwn = await listSessions('claude-code-2.1.329');
const ownCompactions = withOwn.files.filter(({ name }) => !name.startsWith('injected'));

describe(
  'claude sends what preceded its own compactions once they are undone',
  { skip: skip || withOwn.skip, concurrency: 2 },
  () => {
    for (const { name, path } of ownCompactions) {
      it(name, async () => {
        const undone = await made('undo', path);
        assert.deepEqual((await sent('claude', undone)).items, (await projectionOf(undone)).items);
      });
    }
  },
);
