// Completion as each real shell does it. Missing shells are skipped with a note.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { homeOfAllAgents, place, PLACED } from '../support/agent-homes.ts';
import { environment, NOT_BUILT, PROGRAM, runBuilt } from '../support/built.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { NO_TERMINAL } from '../support/terminal.ts';

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

const home = homeOfAllAgents();
mkdirSync(join(home, 'bin'));
mkdirSync(join(home, 'notes'));
writeFileSync(join(home, 'notes.md'), '');
writeFileSync(join(home, 'bin/baton'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
chmodSync(join(home, 'bin/baton'), 0o755);

/** Why a shell cannot be tried, or false; a skipped shell is told of where nobody could overlook it. */
function missing(shell: string): string | false {
  if (spawnSync(shell, ['-c', 'exit 0']).status === 0) return false;
  const why = `${shell} is not installed, so its completion was not tried`;
  console.error(`SKIPPED: ${why}`);
  return why;
}

function run(shell: string, ...args: readonly string[]): readonly string[] {
  const env = environment(home);
  const { stdout, stderr, status } = spawnSync(shell, args, {
    cwd: home,
    encoding: 'utf8',
    env: { ...env, PATH: `${join(home, 'bin')}:${env['PATH'] ?? ''}` },
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout.split('\n').slice(0, -1);
}

async function candidates(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await baton(home, ['complete', '--', ...words]);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

/** The terms of a section of help: `--json`, `inspect`. */
async function termsOf(args: readonly string[], pattern: RegExp): Promise<readonly string[]> {
  const look = { hasColor: false, seal: '', hasUnicode: true, width: 200 };
  const { stdout } = await baton(home, [...args, '--help'], { look });
  const [sections = ''] = stdout.split('\nExample');
  return [...sections.matchAll(pattern)].flatMap(([, ...terms]) =>
    terms.filter((term) => term !== undefined),
  );
}

test('completion offers every command and option that help shows, and nothing else', async () => {
  const commands = await termsOf([], /^ {2}([a-z]+) .*/gm);
  assert.ok(commands.length > 12);
  assert.deepEqual(await candidates(''), commands);
  const globals = await candidates('--');
  for (const command of commands.filter((name) => name !== 'help')) {
    const own = await termsOf([command], /^ {2}(?:(-\w), )?(--[a-z-]+)/gm);
    const offered = await candidates(command, '-');
    assert.deepEqual(offered.filter((name) => own.includes(name)).toSorted(), own.toSorted(), command);
    for (const name of offered)
      assert.ok(own.includes(name) || name.length === 2 || globals.includes(name), name);
  }
  assert.deepEqual(await candidates('config', ''), ['show', 'schema', 'check', 'init', 'help']);
});

test('values of options, also behind an equals sign, and after options of the program', async () => {
  assert.deepEqual(await candidates('sessions', '--sort', ''), ['time', 'size', 'tokens', 'cost']);
  assert.deepEqual(await candidates('sessions', '--sort=s'), ['--sort=size']);
  assert.deepEqual(await candidates('--color', 'never', 'compact', '--strategy', 'm'), ['micro']);
  assert.deepEqual(await candidates('--color', 'n'), ['never']);
  assert.deepEqual(await candidates('completion', 'f'), ['fish']);
  assert.deepEqual(await candidates('sessions', '--limit', ''), []);
  assert.deepEqual(await candidates('no-such-command', 'x', '--y', ''), []);
});

test('sessions with their titles, and only those of Baton for --resume', async () => {
  const { stdout } = await baton(home, ['complete', '--', 'inspect', '']);
  const lines = stdout.split('\n');
  assert.match(lines[0] ?? '', /^last\tthe newest: .{5}/);
  assert.ok(lines.some((line) => line.startsWith(`${PLACED.codex.id}\tCodex: Please post batch 1`)));
  assert.equal(lines.at(-2), '\tfiles');
  assert.deepEqual(await candidates('exec', '--resume', ''), ['last', PLACED.baton.id, '']);
  assert.deepEqual((await candidates('undo', '0c')).slice(0, 1), [PLACED.codex.id]);
});

test('completion does not offer an id that a shell would read as more than a word', async () => {
  const hostile = homeOfAllAgents();
  for (const id of ['$(touch taken)', 'a;b', '`b`', "it's", '-rf', 'a b'])
    place(hostile, `.claude/projects/-home-dev-project/${id}.jsonl`, '{"type":"user"}\n', 1);
  const { stdout } = await baton(hostile, ['complete', '--', 'inspect', '']);
  const values = stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
  assert.ok(values.includes(PLACED.claude.id));
  for (const value of values) assert.match(value, /^[\w.:-]*$/);
});

test('bash', { skip: missing('bash') }, () => {
  const script = `
    source <(baton completion bash)
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _baton; (IFS=,; echo "\${COMPREPLY[*]}"); }
    try baton ins
    try baton inspect last : co
    try baton inspect 0c
    try baton sessions --sort ''
    try baton sessions --sort = s
    try baton inspect note | tr , '\\n' | sort | paste -sd ,
    try baton exec --cd no
    COMP_TYPE=63 try baton completion ''
    COMP_TYPE=63 try baton inspect 0
  `;
  const lines = run('bash', '--norc', '-c', script);
  assert.deepEqual(lines.slice(0, 8), [
    'inspect',
    'codex,copilot',
    PLACED.codex.id,
    'time,size,tokens,cost',
    'size',
    'notes,notes.md',
    'notes',
    'bash,zsh,fish',
  ]);
  assert.match(
    lines[8] ?? '',
    new RegExp(`^${PLACED.codex.id} {2}\\(Codex: Please post .*,${PLACED.baton.id} {2}\\(Baton: `),
  );
});

test('fish', { skip: missing('fish') }, () => {
  const script = [
    'baton completion fish | source',
    ...['baton ins', 'baton sessions --sort s', 'baton inspect last:cl', 'baton inspect note'].map(
      (line) => `complete -C '${line}'; echo ===`,
    ),
  ].join('\n');
  const lines = run('fish', '--no-config', '-c', script);
  const [first, second, third, fourth] = lines.join('\n').split('\n===');
  assert.match(first ?? '', /^inspect\tshow what fills/);
  assert.equal(second, '\nsize');
  assert.match(third ?? '', /^\nlast:claude\tPlease post batch 1/);
  assert.deepEqual(fourth?.trim().split('\n').toSorted(), ['notes.md', 'notes/']);
});

let terminals = 0;

/** Types a line into an interactive shell, and waits until the terminal shows what is expected. */
async function type(start: string, prepare: string, keys: string, expected: RegExp): Promise<void> {
  const socket = `baton-completion-${process.pid}-${++terminals}`;
  const env = environment(home);
  const tmux = (...args: readonly string[]): string =>
    spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      cwd: home,
      env: { ...env, PATH: `${join(home, 'bin')}:${env['PATH'] ?? ''}`, TERM: 'xterm-256color' },
    }).stdout;
  const wait = async (pattern: RegExp): Promise<void> => {
    for (let attempt = 0; attempt < 400; attempt++) {
      if (pattern.test(tmux('capture-pane', '-p', '-J'))) return;
      await sleep(50);
    }
    assert.match(tmux('capture-pane', '-p', '-J'), pattern);
  };
  try {
    tmux('new-session', '-d', '-x', '120', '-y', '40', start);
    tmux('send-keys', '-l', `PATH='${join(home, 'bin')}':$PATH; ${prepare}; echo rea''dy`);
    tmux('send-keys', 'Enter');
    await wait(/^ready/m);
    tmux('send-keys', '-l', keys);
    tmux('send-keys', 'Tab');
    await wait(expected);
  } finally {
    tmux('kill-server');
  }
}

describe('at a terminal', { skip: NO_TERMINAL }, () => {
  test('bash replaces the word, colon and all', { skip: missing('bash') }, async () => {
    await type(
      'bash --norc --noprofile',
      'source <(baton completion bash)',
      'baton inspect last:cla',
      /baton inspect last:claude/,
    );
  });

  test('zsh', { skip: missing('zsh') }, async () => {
    const prepare = 'autoload -Uz compinit && compinit -u -D && source <(baton completion zsh)';
    await type('zsh -f', prepare, 'baton inspect last:cla', /baton inspect last:claude/);
    await type('zsh -f', prepare, 'baton sessions --sort ', /time[\s\S]*size[\s\S]*tokens[\s\S]*cost/);
    await type('zsh -f', prepare, 'baton inspect 0', /Codex: Please post batch 1/);
  });
});

test('the script of every shell is printed, and another shell is refused', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await baton(temporaryDirectory(), ['completion', shell]);
    assert.match(stdout, new RegExp(`completion for ${shell}\\.`));
  }
  assert.equal((await baton(home, ['completion', 'csh'])).status, 2);
  const piped = await runBuilt(['completion', 'bash'], { home });
  assert.equal(piped.stdout, (await baton(home, ['completion', 'bash'])).stdout);
});
