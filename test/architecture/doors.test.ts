// Some things have one door each, and no file of src/ goes round it: what is printed, and what children are given.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CommandIo } from '../../src/cli/io.ts';
import type { ProcessRequest } from '../../src/system/processes.io.ts';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** What may stand in the named files only. Comments count: they are cheap to word otherwise. */
const DOORS: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly files: readonly string[];
}[] = [
  {
    what: 'prints past the door to the terminal (io.stdout, io.stderr)',
    pattern:
      /\bprocess\.(?:stdout|stderr|emitWarning)|\bconsole\.|\bwriteSync\(1|\bwriteSync\(2|'node:(?:console|tty)'/,
    // The streams behind the door, `--version`, and a supervisor whose command cannot print any more: both say fixed words.
    files: [
      'cli/process.io.ts',
      'cli/main.ts',
      'cli/standard-streams.io.ts',
      // The terminal UI: lines reach it through `terminal/paint`, the UI's own door.
      'tui/terminal/screen.io.ts',
    ],
  },
  {
    what: 'reads the environment of the process but through `CommandIo.env`',
    pattern: /\bprocess\.env\b/,
    // The loader knows Baton's home before there is a command; a call of the library and a rider run in another program's process.
    files: [
      'riders/pi/extension.io.ts',
      'cli/process.io.ts',
      'cli/loading/compiled.io.ts',
      'cli/loading/load-terminal.io.ts',
      'calls/call-process.io.ts',
    ],
  },
  {
    what: 'starts processes but through `runProcess`',
    pattern: /child_process|'node:cluster'/,
    // The guard outlives Baton, which a process of `runProcess` must not.
    files: ['system/processes.io.ts', 'tui/terminal/guard.io.ts'],
  },
  {
    what: 'starts threads but the one that works',
    pattern: /worker_threads/,
    files: ['cli/supervisor.io.ts', 'cli/process.io.ts', 'cli/loading/load.io.ts'],
  },
  {
    what: 'runs programs unlooked at: with an environment of `processes/environment`, as these do',
    pattern: /\brunProcess\(/,
    files: [
      'system/processes.io.ts',
      'system/git.io.ts',
      'hooks/hooks.io.ts',
      'tools/toolbox.io.ts',
      'tools/shell/shell.io.ts',
      'tools/grep/grep.io.ts',
      'cli/commands/setup/doctor.ts',
    ],
  },
];

function* sources(directory = SOURCE): Generator<{ readonly path: string; readonly text: string }> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts')) {
      yield { path: relative(SOURCE, path), text: readFileSync(path, 'utf8') };
    }
  }
}

/** What a child may be given: values only. The environment of `CommandIo` may lack them, so that the compiler refuses it. */
function give(env: ProcessRequest['env']): number {
  return Object.keys(env).length;
}

test('no child gets the environment of Baton', () => {
  const env: CommandIo['env'] = {};
  // @ts-expect-error Its variables may be undefined: nobody has chosen from them.
  give(env);
  const door = [...sources()].find(({ path }) => path === 'system/processes.io.ts');
  assert.match(
    door?.text ?? '',
    /spawn\(file, args, \{ cwd, env, /,
    'the request has it, and nothing is inherited',
  );
});

for (const { what, pattern, files } of DOORS) {
  test(`no file ${what}`, () => {
    const found = [...sources()].filter(({ text }) => pattern.test(text)).map(({ path }) => path);
    assert.deepEqual(
      found.filter((path) => !files.includes(path)),
      [],
    );
    assert.deepEqual(found.toSorted(), files.toSorted(), 'the files of the door');
  });
}
