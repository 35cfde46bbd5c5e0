// The built program among other processes: signals, pipes, terminals, environments.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUNDLED_SESSION } from '../../src/cli/bundled.ts';
import { writeBigSession } from '../support/big-session.ts';
import { environment, NOT_BUILT, PROGRAM, runBuilt, whenOpen } from '../support/built.ts';
import type { Ended } from '../support/built.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { NO_TERMINAL, showIn } from '../support/terminal.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const root = temporaryDirectory();
const big = join(root, 'big.jsonl');
const bigClaude = join(root, 'big-claude.jsonl');
/** Just long enough for progress to be drawn. */
const middling = join(root, 'middling.jsonl');
/** More than any pipe holds. */
const wide = join(root, 'wide.jsonl');

before(async () => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
  await writeBigSession(big, 'codex', 60e6);
  await writeBigSession(bigClaude, 'claude-code', 60e6);
  await writeBigSession(middling, 'codex', 10e6);
  await writeBigSession(wide, 'codex', 1e6);
});

/** A home with a small session `s.jsonl` in it, and links to the big ones. */
function freshHome(): string {
  const home = mkdtempSync(join(root, 'h'));
  writeFileSync(join(home, 's.jsonl'), asFile(workLines('codex')));
  symlinkSync(big, join(home, 'big.jsonl'));
  symlinkSync(middling, join(home, 'mid.jsonl'));
  return home;
}

const IN_HOME = ['big.jsonl', 'mid.jsonl', 's.jsonl'];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  for (const args of [
    ['inspect', 'big.jsonl'],
    ['compact', 'big.jsonl', '--out', 'out.jsonl'],
  ]) {
    test(`${signal} in the middle of ${args[0]}`, async () => {
      const home = freshHome();
      let stoppedAt = 0;
      const started = (child: ChildProcess): void => {
        void whenOpen(child, big).then(() => {
          stoppedAt = performance.now();
          child.kill(signal);
        });
      };
      const ended = await runBuilt(args, { home, started });
      assertFailed(ended, 'interrupted');
      assert.equal(ended.stdout, '');
      assert.ok(performance.now() - stoppedAt < 10_000, 'promptly');
      assert.deepEqual(readdirSync(home).toSorted(), IN_HOME);
    });
  }
}

test('Ctrl-C while it waits for standard input leaves no temporary file', async () => {
  const home = freshHome();
  const started = (child: ChildProcess): void => {
    child.stdin?.write('{"timestamp":');
    void whenSpooled(home).then(() => child.kill('SIGINT'));
  };
  const ended = await runBuilt(['inspect', '-'], { home, input: false, started });
  assertFailed(ended, 'interrupted');
  assert.deepEqual(readdirSync(home).toSorted(), IN_HOME);
});

async function whenSpooled(home: string): Promise<void> {
  while (!readdirSync(home).some((name) => name.startsWith('baton-'))) await sleep(5);
}

test('Ctrl-C while the output is written leaves the whole output or none', async () => {
  const home = freshHome();
  const started = (child: ChildProcess): void => {
    const watcher = watch(home, (_, name) => {
      if (name?.endsWith('.tmp') !== true) return;
      // A second Ctrl-C would end the process at once, as somebody who presses it again wants.
      watcher.close();
      child.kill('SIGINT');
    });
    child.once('exit', () => watcher.close());
  };
  const ended = await runBuilt(['compact', 'big.jsonl', '--out', 'out.jsonl'], { home, started });
  const isWritten = ended.status === 0;
  if (!isWritten) assertFailed(ended, 'interrupted');
  assert.deepEqual(
    readdirSync(home).toSorted(),
    isWritten ? ['big.jsonl', 'mid.jsonl', 'out.jsonl', 's.jsonl'] : IN_HOME,
  );
});

test('a reader that goes away causes no failure and no message', async () => {
  const home = freshHome();
  for (const shell of ['"$@" | head -1', '"$@" | head -c 10', '"$@" | true']) {
    for (const args of [['inspect', wide], ['compact', wide], ['inspect', '--json', wide], ['--help']]) {
      const ended = await runBuilt(args, { home, shell });
      assert.equal(ended.status, 0, ended.stderr);
      assertNoNoise(ended);
      assert.doesNotMatch(ended.stderr, /interrupted|failed/);
    }
  }
  await runBuilt(['compact', '-'], {
    home,
    shell: '"$@" | true',
    input: readFileSync(join(home, 's.jsonl')),
  });
  assert.deepEqual(readdirSync(home).toSorted(), IN_HOME, 'nothing that was put aside is left');
});

const PRINT_PEAK = `process.on('exit',()=>process.stderr.write('\\npeak '+process.resourceUsage().maxRSS+'\\n'))`;

/** Runs a command and tells how many kilobytes it held at most. */
async function runMeasured(args: readonly string[]): Promise<Ended & { readonly kilobytes: number }> {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT_PEAK)}` };
  const ended = await runBuilt(args, { home: root, env });
  return { ...ended, kilobytes: Number(/peak (\d+)/.exec(ended.stderr)?.[1]) };
}

test('a 60 MB session takes the memory of its live history', async () => {
  for (const path of [big, bigClaude]) {
    for (const args of [
      ['inspect', path],
      ['compact', path, '--prune'],
    ]) {
      const { stderr, status, kilobytes } = await runMeasured(args);
      assert.equal(status, 0, stderr);
      assert.ok(kilobytes < 380_000, `${args[0]}: ${kilobytes} kB`);
    }
  }
});

test('a document is not kept as bytes beside its text and its values', async () => {
  const path = join(root, 'messages.json');
  const messages = Array.from({ length: 20_000 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at} ${'word '.repeat(600)}`,
  }));
  writeFileSync(path, `[\n${messages.map((message) => JSON.stringify(message)).join(',\n')}\n]\n`);
  const { stderr, status, kilobytes } = await runMeasured(['inspect', path]);
  assert.equal(status, 0, stderr);
  // 61 MB: once as text, once as values, and what reading them takes. The bytes would be as much again.
  assert.ok(kilobytes < 265_000, `${kilobytes} kB`);
  rmSync(path);
});

test('a document that is too large is refused without being taken into memory, also where it is one line', async () => {
  const path = join(root, 'export.json');
  for (const start of ['{"info":{"id":"s"},"messages":[', '[{"role":"user","content":"a"},']) {
    writeFileSync(path, start);
    // Without blocks on the disk.
    truncateSync(path, 300e6);
    const { stderr, status, kilobytes } = await runMeasured(['inspect', path]);
    assert.equal(status, 1);
    assert.match(stderr, /one JSON document of more than 200 MB/, start);
    assert.ok(kilobytes < 200_000, `${start}: ${kilobytes} kB`);
  }
  rmSync(path);
});

test('every command explains itself and each of its options', async () => {
  const home = freshHome();
  const { stdout } = await baton(home, ['--help']);
  // The examples begin with the program's own name.
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'baton');
  for (const name of ['inspect', 'compact', 'undo', 'sessions', 'config', 'doctor', 'demo']) {
    assert.ok(commands.includes(name), name);
  }
  const config = ['show', 'schema', 'check', 'init'].map((name) => ['config', name]);
  for (const command of [...commands.filter((name) => name !== 'help').map((name) => [name]), ...config]) {
    const help = await baton(home, [...command, '--help']);
    assert.equal(help.status, 0, command.join(' '));
    assert.match(help.stdout, /^Usage: baton .+\n\n\S.{15}/, `${command.join(' ')} says what it does`);
    const options = help.stdout.split('\n').filter((line) => /^ {2}-/.test(line));
    assert.ok(options.length > 0);
    for (const option of options) assert.match(option, /^ {2}-\S.*? {2,}\S.{5}/, option);
  }
});

test('wrong usage: status 2, a suggestion, one sentence', async () => {
  const home = freshHome();
  const cases: readonly (readonly [string, RegExp])[] = [
    ['inspct s.jsonl', /Did you mean inspect\?/],
    ['inspect --jsn s.jsonl', /Did you mean --json\?/],
    ['--verson', /Did you mean --version\?/],
    ['inspect', /Missing required argument/],
    ['compact s.jsonl --strategy magic', /auto, micro, full/],
    ['compact s.jsonl --target-tokens lots', /8000 or 8k/],
    ['compact s.jsonl --json', /--out FILE/],
    ['compact s.jsonl --install --out o', /Omit one of them/],
    ['compact s.jsonl --strategy micro --model openai/gpt-5.1', /writes no summary/],
    ['compact s.jsonl --strategy micro --instructions i --preview', /writes no summary/],
    ['eval s.jsonl --timings', /Add --json/],
    ['compact s.jsonl --out -', /Write \.\/-/],
    ['compact s.jsonl --out - --install', /Omit one of them/],
    ['undo s.jsonl --out -', /Write \.\/-/],
    ['replay s.jsonl --html -', /Write \.\/-/],
    ['exec hi --model rehearsal --output-last-message -', /Write \.\/-/],
    ['sessions --limit -1', /above 0/],
    ['doctor now', /Too many arguments/],
    ['help inspct', /Unknown command 'inspct'\. Did you mean inspect\?/],
    ['tally --help', /Unknown command 'tally'\. .baton --help. lists/],
    [
      'config tally',
      /Unknown command 'config tally'\. .baton config --help. lists its commands and options\./,
    ],
    ['inspect --tally s.jsonl', /Unknown option '--tally'\. .baton inspect --help. lists its options\./],
    ['config help shw', /Unknown command 'shw'\. Did you mean show\?/],
    ['prompts tally --help', /Unknown command 'tally'/],
  ];
  for (const [line, words] of cases) {
    const ended = await runBuilt(line.split(' '), { home });
    assertFailed(ended, 'usage');
    assert.match(ended.stderr, words);
  }
  assert.ok(!existsSync(join(home, '-')), 'no file of that name');
  const alone = await runBuilt([], { home });
  assert.equal(alone.status, 2);
  assert.match(alone.stderr, /^Usage: baton/);
});

test('a working directory that is gone is explained', async () => {
  const home = freshHome();
  const script = `mkdir gone && cd gone && rmdir ../gone && exec '${process.execPath}' '${PROGRAM}' inspect last --json`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
    cwd: home,
    env: environment(home),
    encoding: 'utf8',
  });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /^baton: The working directory no longer exists\. .*cd\. \[file_not_found\]\n$/);
  assert.equal((JSON.parse(stdout) as { error: { code: string } }).error.code, 'file_not_found');
});

test('--version answers alone', async () => {
  const home = freshHome();
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  for (const flag of ['--version', '-V']) {
    const ended = await runBuilt([flag], { home, env: { NODE_DEBUG: 'esm' } });
    assert.equal(ended.stdout, `${version}\n`);
    assert.doesNotMatch(ended.stderr, /(?:command|agent|chunk-\w+)\.js/, 'and loads nothing');
    const closed = await runBuilt([flag], { home, shell: '"$@" | true' });
    assert.deepEqual([closed.status, closed.stderr], [0, '']);
    if (!existsSync('/dev/full')) continue;
    assertFailed(await runBuilt([flag], { home, shell: '"$@" >/dev/full' }), 'output_failed');
  }
});

test('a warning of Node in the working thread is shown, and standard output stays clean', async () => {
  const home = freshHome();
  const preload = join(home, 'warn.cjs');
  const isWorking = "!require('node:worker_threads').isMainThread";
  writeFileSync(preload, `if (${isWorking}) process.emitWarning('tide');`);
  const { status, stdout, stderr } = await runBuilt(['sessions', '--json'], {
    home,
    env: { NODE_OPTIONS: `--require ${preload}` },
  });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /Warning: tide/);
  JSON.parse(stdout);
});

test('the same session is compacted to the same bytes, except times and ids', async () => {
  const home = freshHome();
  const bundled = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');
  for (const format of ['codex', 'claude', 'markdown']) {
    const compactions = [];
    for (let time = 0; time < 2; time++) {
      const ended = await runBuilt(
        ['compact', bundled, '--target-tokens', '8k', '--prune', '--format', format],
        {
          home,
        },
      );
      assert.equal(ended.status, 0, ended.stderr);
      compactions.push(ended.stdout.replaceAll(NEW_EACH_TIME, ''));
    }
    assert.equal(compactions[0], compactions[1], format);
  }
});

const NEW_EACH_TIME =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|"durationMs":\d+/g;

test('a clean home: config, doctor and sessions work and say so', async () => {
  const home = mkdtempSync(join(root, 'clean'));
  const config = await runBuilt(['config'], { home });
  assert.equal(config.status, 0, config.stderr);
  const sessions = await runBuilt(['sessions'], { home });
  assert.match(sessions.stdout, /^No sessions found in ~\/\.baton/);
  assert.deepEqual(readdirSync(home), [], 'looking changes nothing');
  const doctor = await runBuilt(['doctor'], { home, env: { PATH: join(home, 'empty') } });
  assert.equal(doctor.status, 0, doctor.stderr + doctor.stdout);
  assert.match(doctor.stdout, /^ok +node/m);
  assert.match(doctor.stdout, /^absent +codex/m);
  const broken = await runBuilt(['doctor'], { home, env: { BATON_HOME: join(root, 'big.jsonl', 'home') } });
  assert.equal(broken.status, 1);
  assert.match(broken.stdout, /^broken +home.*\n +\S/m);
});

test('colour and symbols: only if wanted', async () => {
  const home = freshHome();
  // oxlint-disable-next-line no-control-regex
  const escape = /\u001B/;
  const plain = await runBuilt(['inspect', 's.jsonl'], { home });
  assert.doesNotMatch(plain.stdout, escape);
  const always = await runBuilt(['inspect', 's.jsonl', '--color', 'always'], {
    home,
    env: { NO_COLOR: '1' },
  });
  assert.match(always.stdout, escape);
  const codex = join(home, '.codex', 'sessions');
  mkdirSync(codex, { recursive: true });
  writeFileSync(join(codex, 'a.jsonl'), asFile(workLines('codex')));
  writeFileSync(join(codex, 'b.jsonl'), 'rubbish');
  for (const env of [{ LANG: 'C' }, { LC_ALL: 'POSIX' }, { TERM: 'dumb' }]) {
    for (const args of [
      ['inspect', 's.jsonl'],
      ['inspect', wide],
      ['sessions'],
      ['doctor'],
      ['--help'],
      ['compact', 's.jsonl', '--out', `o-${Object.values(env)[0] ?? ''}.jsonl`],
    ]) {
      const ended = await runBuilt(args, { home, env });
      assert.equal(ended.status, 0, ended.stderr);
      // oxlint-disable-next-line no-control-regex
      assert.match(ended.stdout + ended.stderr, /^[\x00-\x7F]*$/, args.join(' '));
    }
  }
});

if (NO_TERMINAL !== false) console.error(`SKIPPED: ${NO_TERMINAL}`);
test('CI has terminals', { skip: process.env['CI'] !== 'true' && 'not in CI' }, () => {
  assert.equal(NO_TERMINAL, false);
});

const SIZES = [
  [80, 24],
  [40, 10],
  [200, 50],
] as const;

/** A path or a command alone on its line stays whole, and so does a line of a configuration. */
function isCopied(line: string): boolean {
  return /^\s*(?:\S+|baton .*|\w+ = \S+)$/.test(line);
}

/** What a terminal gives time for at once. */
const PAGES = {
  'sizes of sessions': ['inspect s.jsonl', 'inspect mid.jsonl', 'compact s.jsonl --preview', 'doctor'],
  comparisons: [
    'replay s.jsonl --no-recall --policy baton',
    'eval s.jsonl',
    `eval ${BUNDLED_SESSION} --cuts 1 --sizes 4k --no-canaries`,
  ],
  'the rest': [
    'compact s.jsonl --out compacted.jsonl',
    'sessions --sort cost',
    'inspect s.jsonl --top',
    'config show',
    'prompts',
    '--help',
    'compact --help',
    'replay --help',
    'inspect nothing.jsonl',
  ],
};

for (const [columns, rows] of SIZES) {
  for (const [pages, commands] of Object.entries(PAGES)) {
    test(`a terminal of ${columns} by ${rows}: ${pages}`, { skip: NO_TERMINAL }, async () => {
      const script = commands.map((line) => `baton ${line}`).join('; ');
      const { lines, painted } = await showIn({ home: freshHome(), columns, rows }, script);
      assert.ok(lines.length > 30, `${lines.length} lines`);
      for (const line of lines) {
        assert.ok([...line].length <= columns || isCopied(line), `${[...line].length} columns: ${line}`);
      }
      // oxlint-disable-next-line no-control-regex
      assert.match(painted, /\u001B\[1m/, 'a terminal gets colour');
    });
  }
}

test('a terminal without colour: NO_COLOR, TERM=dumb, --color never', { skip: NO_TERMINAL }, async () => {
  const home = freshHome();
  for (const [env, flag] of [
    [{ NO_COLOR: '1' }, ''],
    [{ TERM: 'dumb' }, ''],
    [{}, ' --color never'],
  ] as const) {
    const { written } = await showIn({ home, columns: 80, rows: 24, env }, `baton inspect s.jsonl${flag}`);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(written, /\u001B\[[0-9;]*m/);
  }
});

test('progress is drawn on a terminal, keeps to its line and is erased', { skip: NO_TERMINAL }, async () => {
  const home = freshHome();
  const long = 'a-name-that-is-longer-than-the-terminal-is-wide.jsonl';
  symlinkSync(middling, join(home, long));
  const { lines, written } = await showIn({ home, columns: 40, rows: 10 }, `baton inspect ${long} > out.txt`);
  // oxlint-disable-next-line no-control-regex
  const drawn = [...written.matchAll(/(Reading [^\r\u001B]*?\d+ %)/g)].map(([, line = '']) => line);
  assert.ok(drawn.length > 0, 'it was drawn');
  for (const line of drawn) assert.ok(line.length < 40, line);
  assert.ok(!lines.some((line) => line.includes('Reading')), 'and is gone');
  assert.ok(existsSync(join(home, 'out.txt')));
  assert.doesNotMatch(readFileSync(join(home, 'out.txt'), 'utf8'), /Reading/);
  const dumb = await showIn(
    { home, columns: 80, rows: 24, env: { TERM: 'dumb' } },
    'baton inspect mid.jsonl > out.txt',
  );
  assert.doesNotMatch(dumb.written, /Reading/);
  const json = await showIn({ home, columns: 80, rows: 24 }, 'baton inspect mid.jsonl --json > out.txt');
  assert.doesNotMatch(json.written, /Reading/);
});
