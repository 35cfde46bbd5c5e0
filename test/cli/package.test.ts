// What goes to npm, and what a start of the built program loads.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import { NOT_BUILT, PROGRAM, runBuilt } from '../support/built.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUNDLE = dirname(PROGRAM);

test('the package contains what the program needs, and no tests', { skip: NOT_BUILT }, () => {
  const { stdout, stderr, status } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const [pack] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  const paths = pack.files.map(({ path }) => path);
  for (const path of [
    'package.json',
    'README.md',
    'LICENSE',
    'dist/cli/main.js',
    'dist/lib/index.js',
    'dist/lib/index.d.ts',
    'schema/config.schema.json',
    'docs/config.md',
    'dist/cli/load.cjs',
    'dist/cli/package.json',
    'dist/cli/program.cjs',
    'dist/cli/terminal.cjs',
    'dist/cli/terminal-program.cjs',
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(
    paths.filter((path) => /\.test\.|^test\/|^src\/|node_modules|\/compiled\//.test(path)),
    [],
  );
});

/** A program outside of the repository that makes all four calls. */
const OUTSIDE = `import { writeFileSync } from 'node:fs';
import { compactMessages, compactSession, inspectSession, watch } from 'baton-agent';
import type { CompactedMessages, SessionCompaction, SessionInspection } from 'baton-agent';
import { approximateTokens } from 'baton-agent/engine';

const history = Array.from({ length: 40 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: 'tide '.repeat(99) + at }));
const compacted: CompactedMessages<{ role: string; content: string }> = await compactMessages(history, { targetTokens: 2000 });
const roles: string[] = compacted.messages.map(({ role }) => role);
writeFileSync('history.json', JSON.stringify(history));
const inspection: SessionInspection = await inspectSession('history.json', { top: 3 });
const session: SessionCompaction = await compactSession('history.json', { targetTokens: 2000, out: 'compacted.json', overwrites: true });
writeFileSync('short.json', JSON.stringify([{ role: 'user', content: 'Hello.' }]));
const refused: SessionCompaction = await compactSession('short.json');
const context = watch({ contextWindow: 9000 });
const next: { role: string; content: string }[] = await context.next(history);
console.log(
  compacted.tokensAfter <= 2000 && roles.length < 40,
  inspection.parts.reduce((sum, { tokens }) => sum + tokens, 0) === inspection.usedTokens,
  session.isCompacted && session.receipt.postTokens === session.tokensAfter && session.removed.items > 0,
  refused.isCompacted ? refused.summary : refused.why,
  next.length < 40,
  approximateTokens('tide') === 1,
);
`;

/** Without types it is JavaScript. */
const OUTSIDE_SCRIPT = OUTSIDE.replace(/^import type .*\n/m, '').replaceAll(
  /^const (\w+): .+? = /gm,
  'const $1 = ',
);

/** The examples in the doc comments of the calls, by file: what an editor shows. */
function documentedExamples(declarations: string): readonly (readonly [name: string, program: string])[] {
  return readdirSync(declarations)
    .filter((name) => name.endsWith('.d.ts'))
    .flatMap((name) => {
      const text = readFileSync(join(declarations, name), 'utf8');
      const [, example] = / \* ```ts\n([^]*?) \* ```\n/.exec(text) ?? [];
      if (example === undefined) return [];
      return [[name.replace('.d.ts', ''), example.replaceAll(/^ \* ?/gm, '')] as const];
    });
}

/** How a project reads the types of its packages; without `skipLibCheck`, so that those of the package are checked, too. */
const PROJECTS = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};

test(
  'another project makes all four calls of the packed package, in JavaScript and in TypeScript',
  { skip: NOT_BUILT },
  () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-packed-')));
    const run = (file: string, ...args: readonly string[]): string => {
      const { stdout, stderr, status } = spawnSync(file, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, stderr + stdout);
      return stdout;
    };
    try {
      const modules = join(folder, 'node_modules');
      mkdirSync(modules);
      const [{ filename }] = JSON.parse(
        run('npm', 'pack', ROOT, '--json', '--ignore-scripts', '--pack-destination', folder),
      ) as [{ readonly filename: string }];
      run('tar', '-xzf', filename);
      renameSync(join(folder, 'package'), join(modules, 'baton-agent'));
      const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
        readonly dependencies: Readonly<Record<string, string>>;
      };
      for (const name of [...Object.keys(dependencies), '@types']) {
        symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
      }
      writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
      writeFileSync(join(folder, 'program.mjs'), OUTSIDE_SCRIPT);
      assert.match(run(process.execPath, 'program.mjs'), /^true true true The context holds .+ true true\n$/);
      writeFileSync(join(folder, 'program.ts'), OUTSIDE);
      cpSync(join(ROOT, 'examples/sessions/tally.jsonl'), join(folder, 'session.jsonl'));
      const examples = documentedExamples(join(modules, 'baton-agent/dist/lib/calls'));
      assert.equal(examples.length, 4, 'one for each call');
      for (const [name, example] of examples) {
        // They need no types, so they are JavaScript as well.
        for (const ending of ['ts', 'mjs']) writeFileSync(join(folder, `${name}.${ending}`), example);
      }
      const names = examples.map(([name]) => name);
      writeFileSync(
        join(folder, 'examples.mjs'),
        names.map((name) => `await import('./${name}.mjs');\n`).join(''),
      );
      run(process.execPath, 'examples.mjs');
      const files = ['program', ...names].map((name) => `${name}.ts`);
      for (const [name, options] of Object.entries(PROJECTS)) {
        const compilerOptions = {
          ...options,
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          target: 'es2023',
          lib: ['es2023'],
          types: ['node'],
        };
        const project = join(folder, `${name}.json`);
        writeFileSync(project, JSON.stringify({ compilerOptions, files }));
        run(join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', project);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('the bundle has every prompt, and no messages in forty languages', { skip: NOT_BUILT }, () => {
  const bundle = readFileSync(join(BUNDLE, 'program.cjs'), 'latin1');
  for (const prompt of PROMPT_NAMES) assert.ok(bundle.includes(lineOf(SHIPPED_PROMPTS[prompt])), prompt);
  // Zod in German. One import of `z` by its name instead of the namespace brings 390 KB of such.
  assert.doesNotMatch(bundle, /ltige Eingabe/);
  assert.doesNotMatch(bundle, /[\u0080-\uffff]/, 'one byte a character');
});

test('a start keeps compiled code, and damage to it costs a start time only', { skip: NOT_BUILT }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-compiled-')));
  try {
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    const program = join(folder, 'dist', 'cli');
    cpSync(BUNDLE, program, { recursive: true });
    const compiled = join(program, 'compiled');
    rmSync(compiled, { recursive: true, force: true });
    const home = join(folder, 'home');
    mkdirSync(home);
    const help = (): string => {
      const ran = spawnSync(process.execPath, [join(program, 'main.js'), 'inspect', '--help'], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], BATON_HOME: home },
      });
      assert.equal(ran.status, 0, ran.stderr);
      assert.equal(ran.stderr, '');
      return ran.stdout;
    };
    const first = help();
    const [name = ''] = readdirSync(compiled);
    const file = join(compiled, name);
    const whole = readFileSync(file);
    assert.ok(name.startsWith('inspect-') && whole.length > 100_000, 'the code of this command');
    assert.equal(help(), first);
    assert.deepEqual(readFileSync(file), whole, 'a start that used it leaves it');
    const damaged = Buffer.from(whole);
    damaged.fill(0x55, whole.length / 2);
    writeFileSync(file, damaged);
    writeFileSync(join(compiled, 'inspect-of-an-older-bundle'), '');
    assert.equal(help(), first);
    assert.deepEqual(readdirSync(compiled), [name], 'what fits no more is gone');
    assert.notDeepEqual(readFileSync(file), damaged, 'and is replaced');
    rmSync(compiled, { recursive: true });
    writeFileSync(compiled, 'no folder');
    assert.equal(help(), first);
    assert.deepEqual(readdirSync(join(home, 'compiled')), [name], 'else it is kept in the home');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('commands without wide text in their tables build no patterns of emoji', { skip: NOT_BUILT }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-late-')));
  try {
    const refusal = join(folder, 'refusal.cjs');
    writeFileSync(refusal, "Intl.Segmenter = class { constructor() { throw new Error('built'); } };");
    const env = { PATH: process.env['PATH'], HOME: folder, NODE_OPTIONS: `--require ${refusal}` };
    const run = (...args: readonly string[]): string => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
        encoding: 'utf8',
        env,
      });
      assert.equal(status, 0, stderr);
      return stdout;
    };
    assert.match(run('inspect', join(ROOT, 'examples/sessions/tally.jsonl')), /█/);
    run('sessions');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The longest line of a prompt that needs no escape in a program. */
function lineOf(prompt: string): string {
  const plain = prompt.split('\n').filter((line) => !/["'`\\$]|[^ -~]/.test(line));
  return plain.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** Permissions stop everybody but root, so root runs this as nobody. @source \`nobody\` on Linux and BSD */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const NO_STRANGER =
  isRoot &&
  spawnSync(process.execPath, [PROGRAM, '--version'], { uid: NOBODY, gid: NOBODY }).status !== 0 &&
  'the tests run as root, whom permissions do not stop, and another user cannot run the program';

test('a read-only home has the shipped prompts', { skip: NOT_BUILT || NO_STRANGER }, async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-home-')));
  const stranger = isRoot ? { userId: NOBODY } : {};
  try {
    if (isRoot) chownSync(home, NOBODY, NOBODY);
    chmodSync(home, 0o500);
    const listed = await runBuilt(['prompts'], { home, ...stranger });
    assert.equal(listed.status, 0, listed.stderr);
    assert.match(listed.stdout, /^handoff\.md +missing/m);
    const shown = await runBuilt(['prompts', 'show', 'handoff'], { home, ...stranger });
    assert.equal(shown.stdout, SHIPPED_PROMPTS['handoff.md']);
    const reset = await runBuilt(['prompts', 'reset', 'handoff'], { home, ...stranger });
    assert.equal(reset.status, 1);
    assert.match(reset.stderr, /cannot be written \(EACCES\).*\[output_failed\]/s);
    chmodSync(home, 0o700);
    mkdirSync(join(home, '.baton/auto-compact'), { recursive: true });
    chmodSync(join(home, '.baton/auto-compact'), 0o000);
    const locked = await runBuilt(['prompts', 'show', 'handoff'], { home, ...stranger });
    assert.equal(locked.stdout, SHIPPED_PROMPTS['handoff.md']);
    assert.match(locked.stderr, /cannot be read \(EACCES\); the shipped prompt is used/);
  } finally {
    chmodSync(home, 0o700);
    rmSync(home, { recursive: true, force: true });
  }
});
