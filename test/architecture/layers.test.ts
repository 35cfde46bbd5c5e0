// Reads the imports and checks the dependency rule of ARCHITECTURE.md. The table below is the rule.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src');

/** What the rooms that decide are built on: values in, values out. */
const ENGINE = [
  'vocabulary',
  'errors',
  'protocol',
  'ports',
  'tokens',
  'text',
  'shell',
  'history',
  'trail',
] as const;

/** What each room may import besides itself. Imports point inwards. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  vocabulary: [],
  errors: [],
  protocol: ['vocabulary', 'errors'],
  ports: ['protocol'],
  tokens: ['vocabulary', 'errors', 'protocol'],
  text: ['tokens'],
  shell: ['text'],
  system: ['errors', 'ports', 'text'],
  config: ['vocabulary', 'errors', 'protocol', 'text', 'system'],
  prompts: ['vocabulary', 'text', 'config', 'system'],
  history: ['vocabulary', 'errors', 'protocol', 'tokens'],
  trail: ['vocabulary', 'errors', 'protocol', 'ports', 'tokens', 'text', 'shell'],
  summary: ['vocabulary', 'tokens', 'text', 'shell', 'trail'],
  compaction: [...ENGINE, 'config', 'prompts', 'summary'],
  watcher: [...ENGINE, 'config', 'prompts', 'summary'],
  session: [...ENGINE, 'config', 'summary', 'compaction', 'watcher'],
  snapshots: ['vocabulary', 'errors', 'protocol', 'ports', 'system'],
  hooks: ['vocabulary', 'errors', 'protocol', 'ports', 'text', 'system', 'config'],
  tools: ['vocabulary', 'protocol', 'ports', 'tokens', 'history', 'text', 'shell', 'system'],
  formats: ['vocabulary', 'errors', 'protocol', 'ports', 'tokens', 'history', 'system'],
  // Baton's own sessions have the shapes of Codex's.
  rollout: ['errors', 'protocol', 'ports', 'history', 'formats', 'system'],
  // The wire shapes of messages are those that files of messages have.
  providers: [
    'vocabulary',
    'errors',
    'protocol',
    'ports',
    'config',
    'tokens',
    'text',
    'history',
    'formats',
    'system',
  ],
  lab: [...ENGINE, 'config', 'prompts', 'summary', 'compaction', 'watcher', 'session', 'system'],
  // Opens a thread: clients have no other door to one.
  thread: [
    ...ENGINE,
    'config',
    'prompts',
    'compaction',
    'watcher',
    'session',
    'system',
    'snapshots',
    'tools',
    'formats',
    'rollout',
    'providers',
  ],
  // A client: it knows threads by the protocol only. The history of prompts and the names of files come through the doors of system.
  tui: ['vocabulary', 'errors', 'protocol', 'tokens', 'text', 'system'],
  calls: [
    ...ENGINE,
    'config',
    'prompts',
    'summary',
    'compaction',
    'watcher',
    'session',
    'formats',
    'system',
    'rollout',
    'providers',
  ],
  // Baton inside other agents: the watcher by the calls, the sessions by the formats.
  riders: [...ENGINE, 'config', 'compaction', 'formats', 'calls'],
  index: [
    ...ENGINE,
    'config',
    'prompts',
    'summary',
    'compaction',
    'watcher',
    'session',
    'lab',
    'providers',
    'formats',
    'thread',
    'calls',
  ],
  cli: [
    ...ENGINE,
    'config',
    'prompts',
    'summary',
    'compaction',
    'watcher',
    'session',
    'system',
    'snapshots',
    'hooks',
    'tools',
    'formats',
    'rollout',
    'providers',
    'thread',
    'lab',
    'calls',
    'tui',
  ],
};

/** Files that may wait and touch the world, whatever their room. */
const OUTER = /\.io\.ts$/;
const OUTER_FOLDERS = new Set(['formats', 'providers', 'cli', 'calls', 'index']);

/** What the ES library still lets a pure file do. */
const IMPURE = /\b(?:Date\.now\(|new Date\(\)|Math\.random\(|await |async |setTimeout\(|fetch\(|from 'node:)/;

interface Module {
  readonly path: string;
  readonly place: string;
  readonly text: string;
}

function modules(directory = SOURCE): Module[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return modules(path);
    if (!entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) return [];
    return [{ path: relative(SOURCE, path), place: placeOf(path), text: readFileSync(path, 'utf8') }];
  });
}

function placeOf(path: string): string {
  return (relative(SOURCE, path).split('/')[0] ?? '').replace(/\.ts$/, '');
}

function importsOf({ path, text }: Module): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((match) =>
    placeOf(join(SOURCE, dirname(path), match[1] ?? '')),
  );
}

const all = modules();

test('every place of the rule has modules', () => {
  for (const place of Object.keys(MAY_IMPORT)) {
    assert.ok(
      all.some((module) => module.place === place),
      `no file in ${place}: take it out of the rule`,
    );
  }
});

test('imports point inwards', () => {
  for (const module of all) {
    const allowed = MAY_IMPORT[module.place];
    assert.ok(allowed, `${module.path} is in no place of the dependency rule`);
    for (const target of importsOf(module)) {
      assert.ok(
        target === module.place || allowed.includes(target),
        `${module.path} imports ${target}; ${module.place} may import ${allowed.join(', ') || 'nothing'}`,
      );
    }
  }
});

test('only .io.ts files and outer rooms read clocks, chance or the world', () => {
  const pure = all.filter(({ path, place }) => !OUTER.test(path) && !OUTER_FOLDERS.has(place));
  assert.ok(pure.length > 20);
  for (const { path, text } of pure) {
    const offence = text
      .split('\n')
      .findIndex((line) => IMPURE.test(line) && !/^\s*(?:\*|\/\/|\/\*)/.test(line));
    assert.equal(offence, -1, `${path}:${offence + 1} is not pure`);
  }
});

test('only the parser of the protocol loads its schemas: zod costs half a start of Node', () => {
  const value = /^import (?!type\b)[^;]*protocol\/wire\/(?:op|event|shared)\.ts'/m;
  const beside = /^import (?!type\b)[^;]*'\.\/(?:op|event|shared)\.ts'/m;
  const loaders = all.filter(
    ({ place, text }) => value.test(text) || (place === 'protocol' && beside.test(text)),
  );
  assert.deepEqual(
    loaders.map(({ path }) => path),
    ['protocol/wire/event.ts', 'protocol/wire/op.ts', 'protocol/wire/parse.ts'],
  );
});

/** What opens a file for reading, or may. */
const OPENS = new Set([
  'open',
  'openSync',
  'openAsBlob',
  'readFile',
  'readFileSync',
  'createReadStream',
  'promises',
]);

/** Why a file beside the door may import one of those. */
const BESIDE_THE_DOOR: Readonly<Record<string, string>> = {
  'cli/main.ts': "reads the program's own package.json",
  'cli/loading/compiled.io.ts': 'reads the bundle, and compiled code beside it or in the home',
  'cli/commands/setup/config.ts': 'creates the starter file',
  'calls/output.io.ts': 'creates the output',
  'cli/standard-streams.io.ts': 'opens standard input by its descriptor',
  'formats/source.io.ts': 'creates the file that a stream is put aside in',
  'rollout/disk.io.ts': "writes the log of Baton's own thread, once the door has read its head",
  'snapshots/restore.io.ts': 'opens directories, and no file',
  'system/processes.io.ts': 'opens `/dev/null`',
  'tools/files/files.io.ts': 'creates the file that a tool writes',
  'tui/terminal/screen.io.ts': 'opens the terminal for output',
};

test('one door opens every file that a stranger may have planted', () => {
  const offenders = all.filter(({ path, text }) => path !== 'system/planted.io.ts' && opensFiles(text));
  assert.deepEqual(offenders.map(({ path }) => path).toSorted(), Object.keys(BESIDE_THE_DOOR).toSorted());
});

function opensFiles(text: string): boolean {
  const imports = text.matchAll(/^(?:import|export) (?!type\b)([^;]*?) from '(?:node:)?fs(?:\/promises)?'/gm);
  const isDynamic = /(?:import|require|getBuiltinModule)\(\s*'(?:node:)?fs(?:\/promises)?'/.test(text);
  return (
    isDynamic ||
    [...imports].some(
      ([, names = '']) => !names.startsWith('{') || names.split(/[{},\s]+/).some((name) => OPENS.has(name)),
    )
  );
}

test('the rule sees every way to open a file', () => {
  for (const planted of [
    "import { readFile } from 'node:fs/promises';",
    "import { stat, open as unlock } from 'fs/promises';",
    "import * as disk from 'node:fs';",
    "import disk from 'fs';",
    "import {\n  existsSync,\n  readFileSync,\n} from 'node:fs';",
    "const { readFileSync } = await import('node:fs');",
    "export { createReadStream } from 'node:fs';",
  ]) {
    assert.ok(opensFiles(planted), planted);
  }
  assert.ok(!opensFiles("import { opendir, stat } from 'node:fs/promises';"));
});

test('modules are named by nouns of the field', () => {
  for (const { path } of all) {
    assert.doesNotMatch(path, /(?:^|[/-])(?:utils?|helpers?|manager|service|common|core|misc)(?:\.ts|\/|-)/);
  }
});

test('no default exports, no wildcard exports', () => {
  for (const { path, text } of all) assert.doesNotMatch(text, /^export (?:default|\*)/m, path);
});
