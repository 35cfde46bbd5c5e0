// Hooks as real processes: scripts for sh and node in a folder of their own.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BatonError } from '../errors.ts';
import type { HookNotes, HookSession, PostCompactInput, PreCompactInput } from '../protocol/hook.ts';
import { createHooks } from './hooks.io.ts';
import type { HookWorld } from './hooks.io.ts';

const NEVER = new AbortController().signal;

/** Ends a test that waits for what never comes; far above what anything here takes. */
const HANGS = { timeout: 15_000 };

/** Longer than any test may take, and not so long that a red one leaves it behind for good. */
const LONG = 'sleep 25';

let folder = '';
before(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-hooks-')))));
after(() => rmSync(folder, { recursive: true, force: true }));

const SESSION: HookSession = {
  sessionId: 's-1',
  transcriptPath: '/sessions/one.jsonl',
  cwd: undefined,
  model: 'a-model',
};

const PRE: PreCompactInput = {
  session: SESSION,
  trigger: 'auto',
  reason: 'boundary',
  phase: 'post_turn',
  customInstructions: undefined,
  preTokens: 160_000,
  window: 200_000,
  mayVeto: true,
};

const POST: PostCompactInput = {
  session: SESSION,
  trigger: 'manual',
  reason: 'user_requested',
  phase: 'standalone_turn',
  implementation: 'embedded',
  preTokens: 160_000,
  postTokens: 20_000,
  summary: 'What was done.',
};

interface Case {
  readonly command: string | readonly string[];
  readonly timeoutSeconds?: number;
  readonly matcher?: string;
}

function world(more: Partial<HookWorld> = {}): HookWorld {
  return { env: { PATH: process.env['PATH'] }, keyVariables: [], cwd: folder, platform: 'linux', ...more };
}

function whole(cases: readonly Case[]) {
  return cases.map((one) => ({ timeoutSeconds: 20, ...one }));
}

function preCompact(cases: readonly Case[], more: Partial<PreCompactInput> = {}, signal = NEVER) {
  return createHooks({ preCompact: whole(cases) }, world()).preCompact({ ...PRE, ...more }, signal);
}

function postCompact(cases: readonly Case[], more: Partial<PostCompactInput> = {}, signal = NEVER) {
  return createHooks({ postCompact: whole(cases) }, world()).postCompact({ ...POST, ...more }, signal);
}

function outcomes({ runs }: HookNotes): readonly string[] {
  return runs.map(({ outcome }) => outcome);
}

const readers: ChildProcess[] = [];
after(() => readers.forEach((reader) => reader.kill('SIGKILL')));

/** A FIFO that ends when the last process that holds it has ended, however that process came about. */
function witness(name: string) {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  // To open a FIFO waits for its other end, so that another process does it, which can be ended.
  const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  readers.push(reader);
  const began = new Promise<void>((resolve) => reader.stdout.once('data', () => resolve()));
  const ended = new Promise<void>((resolve) => reader.once('exit', () => resolve()));
  // A process in the background that keeps the hook's output and the FIFO open.
  const holds = `( exec 3>${path}; echo here >&3; exec ${LONG} ) &`;
  return { path, began, ended, holds };
}

describe('a hook', () => {
  it('reads what happened and where on its standard input', async () => {
    const file = join(folder, 'pre.json');
    await preCompact([{ command: `cat > ${file}` }]);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
      hook_event_name: 'PreCompact',
      session_id: 's-1',
      transcript_path: '/sessions/one.jsonl',
      cwd: null,
      model: 'a-model',
      trigger: 'auto',
      custom_instructions: null,
      reason: 'boundary',
      phase: 'post_turn',
      pre_compact_tokens: 160_000,
      context_window: 200_000,
      may_veto: true,
    });
    await postCompact([{ command: `cat > ${file}` }]);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
      hook_event_name: 'PostCompact',
      session_id: 's-1',
      transcript_path: '/sessions/one.jsonl',
      cwd: null,
      model: 'a-model',
      trigger: 'manual',
      compact_summary: 'What was done.',
      reason: 'user_requested',
      phase: 'standalone_turn',
      implementation: 'embedded',
      pre_compact_tokens: 160_000,
      post_compact_tokens: 20_000,
    });
  });

  it('may be a program with its arguments, which no shell reads', async () => {
    const script = join(folder, 'args.mjs');
    writeFileSync(script, `console.log(JSON.stringify({ instructions: process.argv.slice(2).join('|') }));`);
    const { instructions, warnings } = await preCompact([
      { command: [process.execPath, script, '$HOME', 'a b; exit 2', ''] },
    ]);
    assert.deepEqual([instructions, warnings], ['$HOME|a b; exit 2|', []]);
  });

  it('runs where the session works, else in the workspace', async () => {
    const inner = realpathSync(mkdtempSync(join(folder, 'inner-')));
    const command = `printf '{"instructions":"%s"}' "$(pwd -P)"`;
    const at = async (cwd: string | undefined) =>
      (await preCompact([{ command }], { session: { ...SESSION, cwd } })).instructions;
    assert.equal(await at(inner), inner);
    assert.equal(await at(join(folder, 'gone')), folder);
    assert.equal(await at(undefined), folder);
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    assert.equal(await at(file), folder);
  });

  it('gets no secret of the environment, and everything else', async () => {
    const secrets = {
      OPENAI_API_KEY: 'x',
      ANTHROPIC_AUTH_TOKEN: 'x',
      GITHUB_TOKEN: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      PGPASSWORD: 'x',
      my_client_secret_2: 'x',
      LAB_KEY: 'x',
    };
    const env = { ...secrets, PATH: process.env['PATH'], HOME: folder, BATON_HOME: '/b', EMPTY: '' };
    const file = join(folder, 'env');
    const hooks = createHooks(
      {
        preCompact: [
          { command: ['env'], timeoutSeconds: 20 },
          { command: `env > ${file}`, timeoutSeconds: 20 },
        ],
      },
      world({ env, keyVariables: ['LAB_KEY'] }),
    );
    // Of this process, too, nothing but what it was given.
    process.env['OUTER_ONLY'] = 'x';
    await hooks.preCompact(PRE, NEVER).finally(() => delete process.env['OUTER_ONLY']);
    const names = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
      // What the shell adds by itself.
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    assert.deepEqual(names.toSorted(), ['BATON_HOME', 'EMPTY', 'HOME', 'INSIDE_BATON_HOOK', 'PATH']);
  });

  it('need not read its input, however long', HANGS, async () => {
    const summary = 'x'.repeat(5_000_000);
    for (const command of ['exit 0', 'exec 0<&-; sleep 0.2', 'sleep 0.2', 'head -c 1 > /dev/null']) {
      const notes = await postCompact([{ command }], { summary });
      assert.deepEqual([command, outcomes(notes), notes.warnings], [command, ['done'], []]);
    }
    const all = await postCompact([{ command: '[ "$(wc -c)" -gt 5000000 ]' }], { summary });
    assert.deepEqual(outcomes(all), ['done']);
  });

  it('may print as much as it likes, but an answer of 10 MB is none', HANGS, async () => {
    const { instructions, warnings, runs } = await preCompact([
      { command: `printf '{"instructions":"'; head -c 10485760 /dev/zero | tr '\\0' x; printf '"}'` },
      { command: `head -c 10485760 /dev/zero >&2; echo '{"instructions":"heard"}'` },
    ]);
    assert.equal(instructions, 'heard');
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      ['failed', 'done'],
    );
    assert.equal(warnings.length, 1);
    // 10 MiB and the 19 characters around it, less the cap.
    assert.match(
      warnings[0] ?? '',
      new RegExp(`exceeded the longest answer by ${10_485_760 + 19 - 128 * 1024} bytes`),
    );
  });

  it('may print what is no text, which comes to nothing and breaks no terminal', async () => {
    const { instructions, warnings } = await preCompact([
      { command: `head -c 4096 /dev/urandom` },
      { command: `printf '\\033]0;title\\007\\033[2Jplain \\000 words\\r\\n'` },
      { command: `printf '\\033[31mred\\033[0m\\007 \\000' >&2; exit 1` },
    ]);
    assert.equal(instructions, undefined);
    assert.equal(warnings.length, 3);
    for (const warning of warnings) assert.doesNotMatch(warning, /\p{Cc}/u);
  });
});

describe('the status of a hook', () => {
  const cases: readonly (readonly [
    command: string | string[],
    outcome: string,
    warning: RegExp | undefined,
  ])[] = [
    ['exit 0', 'done', undefined],
    ['echo " {} "', 'done', undefined],
    ['echo "said on the side" >&2', 'done', undefined],
    ['echo why >&2; exit 1', 'failed', /ended with status 1: why\.$/],
    ['echo ignored; exit 3', 'failed', /ended with status 3\.$/],
    [`echo '{"veto":"no"}'; exit 255`, 'failed', /ended with status 255\.$/],
    ['no-such-command-anywhere', 'failed', /ended with status 127: .*not found/],
    ['kill -SEGV $$', 'failed', /was ended by SIGSEGV\.$/],
    ['echo hello', 'failed', /printed something other than a JSON object, which was ignored: hello\.$/],
    ['echo "[1]"', 'failed', /other than a JSON object/],
    [['no-such-command-anywhere'], 'failed', /could not be started: the command does not exist\.$/],
    [['/etc/passwd'], 'failed', /could not be started: it is not executable\.$/],
    [['/'], 'failed', /could not be started: it is not executable\.$/],
    [['echo', 'a\0b'], 'failed', /could not be started: /],
    [['echo', 'x'.repeat(3_000_000)], 'failed', /could not be started: E2BIG\.$/],
  ];
  for (const [command, outcome, warning] of cases) {
    it(`${JSON.stringify(command).slice(0, 60)}: ${outcome}, and the next hook runs`, async () => {
      const verdict = await preCompact([{ command }, { command: `echo '{"instructions":"next"}'` }]);
      assert.deepEqual(outcomes(verdict), [outcome, 'done']);
      assert.equal(verdict.veto, undefined);
      assert.equal(verdict.instructions, 'next');
      assert.equal(verdict.warnings.length, warning === undefined ? 0 : 1);
      if (warning !== undefined) assert.match(verdict.warnings[0] ?? '', warning);
    });
  }

  it('2 vetoes with what stands on standard error, and ends the round', async () => {
    const verdict = await preCompact([
      { command: `echo '{"instructions":"first"}'` },
      { command: 'echo printed; echo "tests are  running" >&2; exit 2' },
      { command: 'touch never-ran' },
    ]);
    assert.deepEqual(verdict.veto, {
      command: 'echo printed; echo "tests are running" >&2; exit 2',
      reason: 'tests are running',
    });
    assert.deepEqual(outcomes(verdict), ['done', 'vetoed']);
    assert.deepEqual(verdict.warnings, []);
    assert.throws(() => readFileSync(join(folder, 'never-ran')), /ENOENT/);
    assert.equal((await preCompact([{ command: 'exit 2' }])).veto?.reason, 'it gave no reason');
  });

  it('2 and a veto in JSON change nothing in an emergency, but are told', async () => {
    const verdict = await preCompact(
      [
        { command: 'echo wait >&2; exit 2' },
        { command: `echo '{"veto":"stop", "instructions":"then keep the plan"}'` },
        { command: `echo '{"instructions":"and the ids"}'` },
      ],
      { mayVeto: false },
    );
    assert.equal(verdict.veto, undefined);
    assert.deepEqual(outcomes(verdict), ['overruled', 'overruled', 'done']);
    assert.equal(verdict.instructions, 'then keep the plan\n\nand the ids');
    assert.deepEqual(
      verdict.warnings.map((warning) => warning.replace(/^.*\) /, '')),
      ['vetoed in an emergency: wait.', 'vetoed in an emergency: stop.'],
    );
  });

  it('2 means nothing after a compaction', async () => {
    const notes = await postCompact([{ command: 'echo oh >&2; exit 2' }]);
    assert.deepEqual(outcomes(notes), ['failed']);
    assert.match(notes.warnings[0] ?? '', /status 2, but post_compact cannot be vetoed: oh\.$/);
  });
});

describe('hooks of a session', () => {
  it('add context, joined in their order, by source', async () => {
    const hooks = createHooks(
      {
        sessionStart: whole([
          { command: `echo '{"context":"one"}'`, matcher: 'startup|compact' },
          { command: `echo '{"context":"never"}'`, matcher: 'resume' },
          { command: `echo '{"context":"  two "}'` },
        ]),
      },
      world(),
    );
    const notes = await hooks.sessionStart({ session: SESSION, source: 'compact' }, NEVER);
    assert.equal(notes.context, 'one\n\ntwo');
    assert.equal(notes.runs.length, 2);
    const other = await hooks.sessionStart({ session: SESSION, source: 'resume' }, NEVER);
    assert.equal(other.context, 'never\n\ntwo');
  });
});

describe('the time of a hook', () => {
  it('ends with everything that it started, though that holds its output open', HANGS, async () => {
    const { holds, ended } = witness('timeout');
    const notes = await postCompact([
      { command: `${holds} ${LONG}`, timeoutSeconds: 1 },
      { command: 'exit 0' },
    ]);
    assert.deepEqual(outcomes(notes), ['timed_out', 'done']);
    assert.match(notes.warnings[0] ?? '', /timed out after 1 second\.$/);
    await ended;
  });

  it('is up although it catches every signal that can be caught', HANGS, async () => {
    const { path, ended } = witness('trap');
    const stubborn = `trap '' TERM INT HUP; for i in 1 2 3 4 5 6 7 8 9; do sleep 3; done`;
    const verdict = await preCompact([{ command: `exec 3>${path}; ${stubborn}`, timeoutSeconds: 1 }]);
    assert.deepEqual(outcomes(verdict), ['timed_out']);
    assert.equal(verdict.veto, undefined);
    await ended;
  });

  it('is over when it has ended: what it leaves behind goes on and is not waited for', HANGS, async () => {
    const { holds, began, ended } = witness('background');
    const padding = ' '.repeat(60_000);
    const answer = `printf '{"instructions":"%s"}' "$(printf 'kept%60000s' end)"`;
    const stop = join(folder, 'pid');
    const verdict = await preCompact([{ command: `${holds} echo $! > ${stop}; ${answer}` }]);
    assert.deepEqual(outcomes(verdict), ['done']);
    // All of the answer was read: the end of it is beyond what counts, so it is the warning that tells.
    assert.match(verdict.warnings[0] ?? '', new RegExp(`of ${padding.length + 4} characters`));
    await began;
    process.kill(Number(readFileSync(stop, 'utf8')), 'SIGKILL');
    await ended;
  });
});

describe("the user's Ctrl-C", () => {
  it('ends a hook and everything it started at once, and no other one begins', HANGS, async () => {
    const { holds, began, ended } = witness('abort');
    const controller = new AbortController();
    const pending = preCompact(
      [{ command: `${holds} ${LONG}` }, { command: 'touch began-anyway' }],
      {},
      controller.signal,
    );
    await began;
    controller.abort();
    await assert.rejects(pending, (error) => error instanceof BatonError && error.code === 'interrupted');
    await ended;
    assert.throws(() => readFileSync(join(folder, 'began-anyway')), /ENOENT/);
  });

  it('starts nothing when it came before', async () => {
    const command = 'touch too-late';
    const signal = AbortSignal.abort();
    await assert.rejects(preCompact([{ command }], {}, signal), { code: 'interrupted' });
    const hooks = createHooks({ sessionStart: whole([{ command }]) }, world());
    const started = hooks.sessionStart({ session: SESSION, source: 'compact' }, signal);
    await assert.rejects(started, { code: 'interrupted' });
    const notes = await postCompact([{ command }], {}, signal);
    assert.deepEqual(outcomes(notes), ['interrupted']);
    assert.throws(() => readFileSync(join(folder, 'too-late')), /ENOENT/);
  });

  it('after a compaction is no failure, since the result is kept', HANGS, async () => {
    const { holds, began, ended } = witness('abort-post');
    const controller = new AbortController();
    const pending = postCompact(
      [{ command: `${holds} ${LONG}` }, { command: 'exit 0' }],
      {},
      controller.signal,
    );
    await began;
    controller.abort();
    assert.deepEqual(outcomes(await pending), ['interrupted']);
    await ended;
  });

  it('leaves no listener behind', async () => {
    let listeners = 0;
    const signal = {
      aborted: false,
      addEventListener: () => void (listeners += 1),
      removeEventListener: () => void (listeners -= 1),
    };
    const exitListeners = process.listenerCount('exit');
    const hooks = createHooks(
      { preCompact: whole([{ command: 'exit 0' }, { command: ['no-such'] }]) },
      world(),
    );
    await hooks.preCompact(PRE, signal);
    assert.equal(listeners, 0);
    assert.equal(process.listenerCount('exit'), exitListeners);
  });
});

describe('hooks do not run', () => {
  it('where none is configured for the occasion', async () => {
    const nothing = { runs: [], warnings: [] };
    assert.deepEqual(await postCompact([]), nothing);
    assert.deepEqual(await postCompact([{ command: 'exit 1', matcher: 'auto' }]), nothing);
    const hooks = createHooks({}, world({ platform: 'win32' }));
    assert.deepEqual(await hooks.preCompact(PRE, NEVER), {
      ...nothing,
      veto: undefined,
      instructions: undefined,
    });
  });

  it('within a hook, so that a hook may run Baton, nor on Windows; both say so', async () => {
    const config = { postCompact: whole([{ command: 'touch nested' }]) };
    for (const more of [{ env: { INSIDE_BATON_HOOK: '1' } }, { platform: 'win32' }]) {
      const notes = await createHooks(config, world(more)).postCompact(POST, NEVER);
      assert.deepEqual(notes.runs, []);
      assert.match(notes.warnings[0] ?? '', /^The hooks of post_compact were skipped: .*\.$/);
    }
    assert.throws(() => readFileSync(join(folder, 'nested')), /ENOENT/);
  });
});

describe('the end of Baton', () => {
  it('is the end of its hook', HANGS, async () => {
    const { holds, began, ended } = witness('exit');
    const module = fileURLToPath(new URL('hooks.io.ts', import.meta.url));
    const script = `
      import { createHooks } from ${JSON.stringify(module)};
      const hooks = createHooks(
        { postCompact: [{ command: ${JSON.stringify(`${holds} ${LONG}`)}, timeoutSeconds: 300 }] },
        { env: process.env, keyVariables: [], cwd: ${JSON.stringify(folder)}, platform: 'linux' },
      );
      void hooks.postCompact(${JSON.stringify(POST)}, new AbortController().signal);
      process.stdin.once('data', () => process.exit(0));
    `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    await began;
    child.stdin.end('go\n');
    await ended;
  });
});
