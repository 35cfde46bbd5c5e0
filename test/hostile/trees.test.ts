// Directories that a stranger made to hold up whoever looks into them: too many entries, too deep, circles, odd names, and what is
// no file. Each tool ends in bounded time and output, and at the word of the user.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { approximateTokens } from '../../src/tokens/estimate.ts';
import { loadInstructions } from '../../src/thread/instructions.io.ts';
import { RESULT_TOKENS } from '../../src/tools/cap.ts';
import { GROWTH_SCALE } from '../support/growth.ts';
import { ToolBench } from '../support/tool-world.ts';

/** Entries of the large directories; 200,000 with `BATON_GROWTH_SCALE=50`. */
const ENTRIES = Math.ceil(4000 * GROWTH_SCALE);

/** As deep as names of one letter go before a path is too long for the system, and on. */
const DEPTH = 3000;

/** What a call may take, in milliseconds: on an idle machine none takes a tenth of it. */
const PATIENCE_MS = 30_000 * Math.max(1, GROWTH_SCALE / 10);

/** How soon a call ends when the user stops it; 40 ms on an idle machine. */
const STOP_MS = 2_000;

const CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ['glob', { pattern: '**/*' }],
  ['glob', { pattern: '**/{a,b}*?[a-z]**' }],
  ['list_dir', { depth: 5 }],
  ['grep', { pattern: 'needle' }],
];

function script(cwd: string, text: string): void {
  execFileSync('/bin/bash', ['-c', text], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

let bench: ToolBench;
let plain: ToolBench;
const socket = createServer();
before(async () => {
  bench = await ToolBench.open();
  plain = await bench.reopen({}, bench.root, ['rg']);
  const { root } = bench;
  script(root, `mkdir many && cd many && seq 1 ${ENTRIES} | xargs touch`);
  script(root, `mkdir folders && cd folders && seq 1 ${ENTRIES / 2} | xargs mkdir`);
  // The second level of many directories, each of them large.
  script(
    root,
    `mkdir wide && cd wide && for d in {1..40}; do mkdir $d; (cd $d; seq 1 ${ENTRIES / 40} | xargs touch); done`,
  );
  mkdirSync(bench.path('deep'));
  // A shell takes minutes, because it keeps the whole path.
  const dig = `for (let i = 0; i < ${DEPTH}; i++) { fs.mkdirSync('d'); process.chdir('d'); }`;
  execFileSync(process.execPath, ['-e', dig], { cwd: bench.path('deep') });
  mkdirSync(bench.path('odd'));
  symlinkSync('.', bench.path('odd/circle'));
  symlinkSync('..', bench.path('odd/up'));
  symlinkSync('b', bench.path('odd/a'));
  symlinkSync('a', bench.path('odd/b'));
  execFileSync('mkfifo', [bench.path('odd/pipe')]);
  await new Promise<void>((resolve) => socket.listen(bench.path('odd/socket'), resolve));
  writeFileSync(bench.path('odd/line\n[Only the first file was looked at.]'), 'needle\n');
  writeFileSync(bench.path('odd/\u001b]0;title\u0007'), 'needle\n');
  writeFileSync(Buffer.concat([Buffer.from(`${bench.path('odd')}/`), Buffer.from([0xff, 0xfe])]), 'needle\n');
});
after(() => {
  socket.close();
  script(bench.root, 'rm -rf deep');
  bench.close();
});

describe('a hostile tree', () => {
  for (const [tool, args] of CALLS) {
    for (const path of GROWTH_SCALE > 1 ? ['.', 'many', 'folders', 'wide', 'deep', 'odd'] : ['.', 'odd']) {
      test(`${tool} ${JSON.stringify(args)} in ${path} ends, with a result of the usual size`, async () => {
        for (const one of [bench, plain]) {
          const begun = performance.now();
          const { text } = await one.call(tool, { ...args, path });
          assert.ok(performance.now() - begun < PATIENCE_MS, `${performance.now() - begun} ms`);
          assert.ok(approximateTokens(text) <= RESULT_TOKENS + 200, `${text.length} characters`);
          assert.doesNotMatch(text, /^\[Only the first file|(?!\n)\p{Cc}/mu);
          if (tool !== 'grep') break;
        }
      });
    }

    test(`${tool} ${JSON.stringify(args)} ends when the user says so`, async () => {
      const stop = new AbortController();
      const called = plain.call(tool, args, { signal: stop.signal });
      await sleep(20);
      const begun = performance.now();
      stop.abort();
      await called;
      assert.ok(performance.now() - begun < STOP_MS, `${performance.now() - begun} ms`);
    });
  }

  test('is read only through regular files', async () => {
    for (const name of ['pipe', 'socket', 'circle', 'up', 'a']) {
      const { success } = await bench.call('read', { path: `odd/${name}` });
      assert.equal(success, false, name);
    }
  });

  test('has its instructions found from its depth', async () => {
    const begun = performance.now();
    const { files } = await loadInstructions(bench.path('deep', ...Array<string>(1500).fill('d')));
    assert.deepEqual(files, []);
    assert.ok(performance.now() - begun < PATIENCE_MS);
  });
});

for (const pipe of ['.git/info/exclude', 'below/.gitignore']) {
  for (const without of [[], ['rg']] as const) {
    const name = `${pipe} as a pipe stops git once at most${without.length > 0 ? ', also without ripgrep' : ''}`;
    test(name, { skip: process.platform === 'win32' }, async () => {
      const files = { 'a.txt': 'needle\n', 'below/b.txt': 'thread\n' };
      const stopped = await ToolBench.open({ files, isRepository: true, without });
      script(stopped.root, `rm -f ${pipe} && mkfifo ${pipe}`);
      const begun = performance.now();
      for (const [tool, args] of CALLS.toReversed())
        assert.match((await stopped.call(tool, args)).text, /a\.txt/);
      const ms = performance.now() - begun;
      assert.ok(ms < 30_000, `${ms} ms`);
      stopped.close();
    });
  }
}
