// `baton exec` as a process: turns over all three wires, with the real shell, in a real repository.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { textOfOutput } from '../../src/protocol/item.ts';
import { SUMMARY_SECTIONS } from '../../src/vocabulary.ts';
import { runBuilt } from '../support/built.ts';
import { ExecFixture, eventsOf, EXEC_KEY, messagesOf } from '../support/exec.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import { git, need } from '../support/tool-world.ts';
import type { Reply, ScriptedCall } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const bubblewrap = await need('bwrap');

const WIRES = ['responses', 'chat', 'anthropic'] as const;

function fixture(files: Readonly<Record<string, string>> = {}): ExecFixture {
  return new ExecFixture(root, server.baseUrl, files);
}

function shell(command: string): ScriptedCall {
  return { name: 'shell', arguments: { command } };
}

function write(path: string): ScriptedCall {
  return { name: 'write', arguments: { path, content: 'x\n' } };
}

/** Plays replies and remembers where their requests begin. */
function play(...replies: readonly Reply[]): () => readonly (typeof server.requests)[number][] {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  return () => server.requests.slice(from);
}

function assertSoundRequests(requests: readonly (typeof server.requests)[number][]): void {
  for (const { invalid, status } of requests)
    assert.deepEqual({ invalid, status }, { invalid: undefined, status: 200 });
}

for (const wire of WIRES) {
  describe(wire, () => {
    test('one turn: the answer alone on standard output, a session that can be read', async () => {
      const requests = play({ text: 'The lamp is lit.' });
      const at = fixture({ 'AGENTS.md': 'Never touch the horn.' });
      const ended = await at.exec(wire, ['Is the lamp lit?']);
      assert.equal(ended.stdout, 'The lamp is lit.\n', ended.stderr);
      assert.equal(ended.status, 0);
      assertNoNoise(ended);
      assertSoundRequests(requests());
      const sent = requests()[0]?.text ?? '';
      assert.match(sent, /Carry the request through/, 'the system prompt');
      assert.match(sent, /Never touch the horn\./, 'the instruction file');
      assert.match(sent, /<current_date>\d{4}-\d\d-\d\d</, 'the environment');
      assert.equal((await at.items()).length, 4);
      assert.deepEqual(at.locks(), []);
    });

    test('calls that read, an edit, a command: done in the order of the calls', async () => {
      const requests = play(
        {
          calls: [
            { name: 'read', arguments: { path: 'lamp.txt' } },
            { name: 'list_dir', arguments: {} },
            { name: 'edit', arguments: { path: 'lamp.txt', old_string: 'unlit', new_string: 'lit' } },
            shell('cat lamp.txt; git status --short'),
            { name: 'no_such_tool', arguments: {} },
            { name: 'shell', arguments: '{"command": 7}' },
          ],
        },
        { text: 'Lit.' },
      );
      const at = fixture({ 'lamp.txt': 'The lamp is unlit.\n' });
      const ended = await at.exec(wire, ['Light the lamp.']);
      assert.equal(ended.stdout, 'Lit.\n', ended.stderr);
      assertSoundRequests(requests());
      assert.equal(at.read('lamp.txt'), 'The lamp is lit.\n');
      const items = await at.items();
      assert.deepEqual(Object.values(findBrokenPairs(items.map(pairView))).flat(), []);
      const results = items.flatMap((item) =>
        item.type === 'function_call_output' ? [textOfOutput(item.output)] : [],
      );
      assert.equal(results.length, 6);
      assert.ok(
        results.some((text) => /Exit code: 0[\s\S]*The lamp is lit\./.test(text)),
        'the command saw the edit',
      );
      assert.ok(
        results.some(
          (text) => text.includes('There is no tool "no_such_tool"') && text.includes('apply_patch'),
        ),
        'the tools that there are',
      );
      assert.match(ended.stderr, /^\$ cat lamp\.txt; git status --short → exit 0, /m);
      assert.match(ended.stderr, /^edit lamp\.txt \(\+1 -1\)$/m);
    });

    test('a resumed session sends its past unchanged', async () => {
      const requests = play({ calls: [shell('echo one')] }, { text: 'First.' }, { text: 'Second.' });
      const at = fixture({ 'CLAUDE.md': 'Be brief.' });
      const first = await at.exec(wire, ['Say one.']);
      assert.equal(first.stdout, 'First.\n', first.stderr);
      // A prompt that was changed since belongs to new sessions.
      mkdirSync(join(at.home, '.baton/auto-compact'), { recursive: true });
      writeFileSync(join(at.home, '.baton/auto-compact/system.md'), 'You are somebody else.\n');
      const second = await at.exec(wire, ['--resume', 'last', 'Say two.']);
      assert.equal(second.stdout, 'Second.\n', second.stderr);
      const [, older, newer] = requests();
      assert.ok(older !== undefined && newer !== undefined, 'three requests');
      assertSoundRequests(requests());
      const [old, now] = [messagesOf(older), messagesOf(newer)].map((each) => each.map(plain));
      assert.deepEqual(now?.slice(0, old?.length), old, 'the same history');
      assert.equal(newer.text.match(/<current_date>/g)?.length, 1, 'what has not changed is not said again');
      for (const key of ['instructions', 'tools', 'system']) {
        assert.equal(plain(newer.body[key]), plain(older.body[key]), key);
      }
      assert.equal(at.rollouts().length, 1);
      const { records } = await readSessionFile(at.rollouts()[0] ?? '');
      const turns = records.flatMap((record) => (record.type === 'turn_started' ? [record.turnId] : []));
      assert.deepEqual(turns, ['turn-1', 'turn-2']);
    });
  });
}

/** JSON without the marks by which Anthropic is told what to keep in its cache: they move. */
function plain(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner)) ?? '';
}

test('--json prints every event as a line, and nothing else', async () => {
  play(
    {
      text: 'I look.',
      calls: [
        shell('printf one; printf two >&2; exit 3'),
        { name: 'update_plan', arguments: { plan: [{ step: 'Look', status: 'completed' }] } },
        { name: 'write', arguments: { path: 'log.txt', content: 'ok\n' } },
        { name: 'phase_checkpoint', arguments: { summary: 'Looked.' } },
      ],
    },
    { text: 'Done.' },
  );
  const at = fixture();
  const ended = await at.exec('responses', ['--json', 'Look.']);
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(ended.stderr, '');
  const events = eventsOf(ended);
  assert.deepEqual(
    events
      .filter((event) => event.type !== 'background_event')
      .filter((event) => event.type !== 'user_message' || event.author === 'user')
      .map(({ type }) => type)
      .filter((type) => !type.endsWith('_delta')),
    [
      'session_configured',
      'turn_started',
      'user_message',
      'agent_message',
      'tool_call_begin',
      'tool_call_begin',
      'tool_call_begin',
      'tool_call_begin',
      'spending',
      'token_count',
      'exec_command_begin',
      'exec_command_end',
      'plan_update',
      'tool_call_end',
      'tool_call_end',
      'phase_completed',
      'tool_call_end',
      'tool_call_end',
      'watcher_decision',
      'agent_message',
      'spending',
      'turn_complete',
      'token_count',
      'watcher_decision',
      'thread_idle',
      'shutdown_complete',
    ],
  );
  const [configured] = events;
  assert.ok(configured?.type === 'session_configured', 'the first says what was opened');
  assert.equal(configured.rollout_path, at.rollouts()[0]);
  assert.equal(configured.cwd, at.work);
  const output = events.flatMap((event) => (event.type === 'exec_command_output_delta' ? [event.delta] : []));
  assert.equal(output.join(''), 'onetwo');
  const end = events.find(({ type }) => type === 'exec_command_end');
  assert.ok(end?.type === 'exec_command_end' && end.exit_code === 3, 'the status of the command');
  const complete = events.find(({ type }) => type === 'turn_complete');
  assert.ok(complete?.type === 'turn_complete' && complete.last_agent_message === 'Done.', 'the answer');
});

test('the prompt may come from standard input, and has to come from somewhere', async () => {
  const at = fixture();
  for (const args of [[], ['-']]) {
    const requests = play({ text: 'Heard.' });
    const ended = await at.exec('chat', args, { input: 'Sound the horn — twice.\n' });
    assert.equal(ended.stdout, 'Heard.\n', ended.stderr);
    assert.match(requests()[0]?.text ?? '', /Sound the horn — twice\./);
  }
  const requests = play({});
  assertFailed(await at.exec('chat', [], { input: ' \n' }), 'usage');
  assert.equal(requests().length, 0);
});

test('a hundred calls in one turn', async () => {
  const calls = Array.from({ length: 98 }, (_, index) => ({
    calls: [{ name: 'grep', arguments: { pattern: `mark-${index}` } }],
  }));
  const requests = play({ calls: [shell('echo a'), shell('echo b')] }, ...calls, { text: 'Counted.' });
  const at = fixture({ 'marks.txt': 'mark-1\nmark-97\n' });
  const ended = await at.exec('anthropic', ['Count.'], { window: 200_000 });
  assert.equal(ended.stdout, 'Counted.\n', ended.stderr);
  assertSoundRequests(requests());
  const results = (await at.items()).filter((item) => item.type === 'function_call_output');
  assert.equal(results.length, 100);
});

/** Some 6,000 tokens. */
const LARGE = Array.from(
  { length: 400 },
  (_, at) => `${at}: the lamp burnt, the horn was silent, the sea calm.\n`,
).join('');

test('a window that fills in the middle of a turn is compacted, and the turn continues', async () => {
  const large = { calls: [{ name: 'read', arguments: { path: 'large.txt' } }] };
  const summary = SUMMARY_SECTIONS.map((section) => `## ${section}\n\nThe log is being read.`).join('\n\n');
  const at = fixture({ 'large.txt': LARGE });
  const requests = play(large, large, large, { text: summary }, { text: 'Read.' });
  const ended = await at.exec('responses', ['--json', 'Read the large file three times.'], {
    window: 24_000,
  });
  assert.equal(ended.status, 0, ended.stderr);
  assertSoundRequests(requests());
  assert.ok(
    requests().some(({ text }) => text.includes('Summarise it for the agent')),
    'the model of the session wrote the summary',
  );
  const order = eventsOf(ended).map(({ type }) => type);
  assert.ok(order.includes('context_compacted'), order.join());
  assert.ok(order.indexOf('compact_completed') < order.indexOf('turn_complete'), order.join());
  const last = requests().at(-1);
  assert.match(last?.text ?? '', /<environment_context>/, 'the initial context stays');
});

test('a call that needs approval is rejected, with the flag that would approve it, and is reported once', async () => {
  play({ calls: [write('a.txt'), write('b.txt')] }, { text: 'I may not.' });
  const at = fixture();
  const ended = await at.exec('chat', ['--sandbox', 'read_only', 'Write.']);
  assert.equal(ended.stdout, 'I may not.\n');
  assert.equal(ended.stderr.match(/--sandbox workspace_write lets such calls run/g)?.length, 1, ended.stderr);
  const results = (await at.items()).flatMap((item) =>
    item.type === 'function_call_output' ? [{ text: textOfOutput(item.output), success: item.success }] : [],
  );
  assert.equal(results.length, 2);
  for (const { text, success } of results) {
    assert.equal(success, false);
    assert.match(text, /not run\. .*read_only.*--sandbox workspace_write/);
  }
  assert.throws(() => at.read('a.txt'), { code: 'ENOENT' });
  play({ calls: [write('a.txt')] }, { text: 'I may.' });
  assert.equal((await at.exec('chat', ['--sandbox', 'workspace_write', 'Write.'])).stdout, 'I may.\n');
  assert.equal(at.read('a.txt'), 'x\n');
  play({ calls: [write('a.txt')] }, { text: 'Never.' });
  await at.exec('chat', ['--sandbox', 'workspace_write', '--approval', 'untrusted', 'Write.']);
});

test('under untrusted nothing is read through a link out of the workspace unasked', async () => {
  const at = fixture({ 'a.txt': 'oil' });
  writeFileSync(join(at.home, 'secret'), 'kept-to-itself');
  symlinkSync('../secret', join(at.work, 'notes.md'));
  const requests = play(
    { calls: [shell('cat a.txt'), shell('cat notes.md'), shell('cat *.md')] },
    { text: 'No.' },
  );
  const ended = await at.exec('chat', ['--approval', 'untrusted', 'Read.']);
  assert.equal(ended.stdout, 'No.\n', ended.stderr);
  const said = JSON.stringify(requests());
  assert.match(said, /oil/);
  assert.doesNotMatch(said, /kept-to-itself/);
  assert.match(said, /may read through a link that leads out of the workspace/);
});

test('a project may not loosen what the user allows', async () => {
  const at = fixture({ '.baton/config.toml': 'sandbox_mode = "danger_full_access"\n' });
  const requests = play({});
  const ended = await at.exec('chat', ['--sandbox=read_only', 'Hello.']);
  assert.equal(ended.status, 0, ended.stderr);
  assert.match(ended.stderr, /config\.toml:1: sandbox_mode may not be set by a project.* It is ignored\.$/m);
  assert.match(JSON.stringify(requests()[0]), /<sandbox_mode>read_only</);
});

test('secrets of the environment reach no command, and the key no output', async () => {
  play({ calls: [shell('env')] }, { text: 'Seen.' });
  const at = fixture();
  const ended = await at.exec('chat', ['--json', 'Look around.'], {
    env: { GITHUB_TOKEN: 'ghp_secret', NODE_ENV: 'shown', SHOWN: 'yes' },
  });
  assert.match(ended.stdout, /NODE_ENV=shown/);
  assert.doesNotMatch(ended.stdout, /SHOWN=yes/, 'what nobody listed');
  const kept = `${ended.stdout}${ended.stderr}${readFileSync(at.rollouts()[0] ?? '', 'utf8')}`;
  assert.doesNotMatch(kept, /ghp_secret/);
  assert.equal(kept.includes(EXEC_KEY), false);
});

describe('the answer', () => {
  test('is written to a file as well, in the place of what was there', async () => {
    const at = fixture();
    for (const text of ['First.', 'Second.']) {
      play({ text });
      const ended = await at.exec('responses', ['--output-last-message', 'answer.txt', 'Answer.']);
      assert.equal(ended.stdout, `${text}\n`, ended.stderr);
      assert.equal(readFileSync(join(at.home, 'answer.txt'), 'utf8'), text);
    }
    const requests = play({});
    assertFailed(await at.exec('responses', ['--output-last-message', '.', 'Answer.']), 'output_failed');
    assert.equal(requests().length, 0, 'found out before anything was paid for');
  });

  const SCHEMA = JSON.stringify({
    type: 'object',
    properties: { lamps: { type: 'integer' } },
    required: ['lamps'],
    additionalProperties: false,
  });

  for (const wire of WIRES) {
    test(`in a form that was asked for (${wire})`, async () => {
      const at = fixture();
      writeFileSync(join(at.home, 'form.json'), SCHEMA);
      const asked = ['--output-schema', 'form.json', 'How many lamps?'];
      const good = play({ text: '{"lamps": 2}' });
      const first = await at.exec(wire, asked);
      assert.equal(first.stdout, '{"lamps": 2}\n', first.stderr);
      assert.equal(good().length, 1);
      assert.match(good()[0]?.text ?? '', /additionalProperties/, 'the model is told the form');
      const mended = play({ text: 'Two lamps.' }, { text: '{"lamps": 2}' });
      const second = await at.exec(wire, asked);
      assert.equal(second.stdout, '{"lamps": 2}\n', second.stderr);
      assertSoundRequests(mended());
      assert.match(mended()[1]?.text ?? '', /"json_schema"/, 'the provider is held to the form');
      const never = play({ text: '{"lamps": "two"}' });
      const third = await at.exec(wire, asked);
      assertFailed(third, 'answer_invalid');
      assert.equal(third.stdout, '');
      assert.equal(never().length, 2, 'asked once more');
    });
  }

  test('a form that cannot be checked: a pattern without end, and references in a circle', async () => {
    const at = fixture();
    const forms = [
      [{ a: { type: 'string', pattern: '^(x+)+$' } }, `{"a": "${'x'.repeat(60)}!"}`, /in 2 seconds/],
      [{ a: { $ref: '#/$defs/b' } }, '{"a": 1}', /nested too deeply/],
      [{ a: { $ref: '#' } }, '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000), /nested too deeply/],
    ] as const;
    for (const [properties, text, why] of forms) {
      const $defs = { b: { $ref: '#/$defs/c' }, c: { $ref: '#/$defs/b' } };
      writeFileSync(join(at.home, 'form.json'), JSON.stringify({ type: 'object', $defs, properties }));
      play({ text });
      const ended = await at.exec('chat', ['--output-schema', 'form.json', 'x']);
      assertFailed(ended, 'answer_invalid');
      assert.match(ended.stderr, why);
    }
  });

  test('after a search whose pattern would take forever, without ripgrep', async () => {
    const line = `${'a'.repeat(5000)}!\n`;
    const at = fixture(
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`trap-${n}.txt`, line.repeat(100)])),
    );
    const programs = join(at.home, 'programs');
    mkdirSync(programs);
    for (const name of ['git', 'timeout']) {
      const path = execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
      symlinkSync(path, join(programs, name));
    }
    const requests = play(
      { calls: [{ name: 'grep', arguments: { pattern: '(a+)+$' } }] },
      { text: 'I search for plain text.' },
    );
    const ended = await at.exec('chat', ['Search.'], {
      env: { PATH: programs },
      shell: 'exec timeout -s KILL 40 "$@"',
    });
    assert.equal(ended.stdout, 'I search for plain text.\n', ended.stderr);
    assert.match(requests()[1]?.text ?? '', /The pattern cannot be used: it takes too long on these files/);
  });

  test('a form that is none', async () => {
    const at = fixture();
    const requests = play({});
    assertFailed(await at.exec('chat', ['--output-schema', 'none.json', 'x']), 'file_not_found');
    for (const text of ['{', '[]', '{"type": "object", "properties": {"a": {"type": "lamp"}}}']) {
      writeFileSync(join(at.home, 'form.json'), text);
      assertFailed(await at.exec('chat', ['--output-schema', 'form.json', 'x']), 'usage');
    }
    assert.equal(requests().length, 0);
  });
});

describe('without a model', () => {
  const nobody = ['-c', 'model_providers.ollama.base_url="http://127.0.0.1:9/v1"'];

  test('it says what there is to do', async () => {
    const ended = await runBuilt([...nobody, 'exec', 'Hello.'], { home: fixture().home });
    assertFailed(ended, 'model_missing');
    assert.match(ended.stderr, /OPENAI_API_KEY.*rehears/);
  });

  test('with --json the failure is a line, too', async () => {
    const ended = await runBuilt([...nobody, 'exec', '--json', 'Hello.'], { home: fixture().home });
    assertFailed(ended, 'model_missing');
    const event = eventsOf(ended).at(-1);
    assert.ok(event?.type === 'error' && event.code === 'model_missing', ended.stdout);
  });

  test('the key of a provider names the model that is meant', async () => {
    const at = fixture();
    play({ text: 'Here.' });
    const ended = await runBuilt(
      [
        '-c',
        `model_providers.openai.base_url=${JSON.stringify(server.baseUrl)}`,
        'exec',
        '-C',
        at.work,
        'Hello.',
      ],
      { home: at.home, env: { OPENAI_API_KEY: EXEC_KEY } },
    );
    assert.equal(ended.stdout, 'Here.\n', ended.stderr);
    assert.match(ended.stderr, /openai\/gpt-5\.1/);
  });
});

describe('a commit in the sandbox, without a question', { skip: bubblewrap.skip }, () => {
  for (const place of ['a repository', 'a work tree of its own', 'a directory below the top']) {
    test(`is made in ${place}`, async () => {
      const at = fixture({ 'sub/a.txt': 'a\n' });
      for (const [key, value] of [
        ['user.name', 'test'],
        ['user.email', 'test@example.com'],
        ['commit.gpgsign', 'false'],
      ] as const) {
        git(at.work, 'config', key, value);
      }
      git(at.work, 'add', '-A');
      git(at.work, 'commit', '-qm', 'one');
      const tree = join(at.home, 'tree');
      if (place === 'a work tree of its own') git(at.work, 'worktree', 'add', '-q', '-b', 'other', tree);
      const top = place === 'a work tree of its own' ? tree : at.work;
      const where = place === 'a directory below the top' ? join(top, 'sub') : top;
      play(
        { calls: [write('new.txt')] },
        { calls: [shell('git add -A && git commit -qm "two words"')] },
        { text: 'Committed.' },
      );
      const args = ['Commit.', '--sandbox', 'workspace_write', '-C', where];
      const ended = await at.exec('responses', args, { env: bubblewrap.env });
      assert.equal(ended.stdout, 'Committed.\n', ended.stderr);
      assert.equal(git(top, 'log', '-1', '--format=%s'), 'two words\n', ended.stderr);
      assert.equal(git(top, 'status', '--short'), '');
    });
  }
});
