// Searching: ripgrep and what stands in for it give the same result, and neither can be made to search for ever.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { git, need, ToolBench } from '../../../test/support/tool-world.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { RESULT_TOKENS } from '../cap.ts';

const HANGS = { timeout: 60_000 };

const installed = await need('rg');

const FILES = {
  '.gitignore': 'dist/\n*.log\n',
  '.github/ci.yml': 'run: needle\n',
  'a.ts': 'const needle = 1;\nother\nconst NEEDLE = needle;\n',
  'a-b/c.ts': 'needle (in) [brackets]\n',
  'a/b.ts': 'one\ntwo\nneedle\nfour\nneedle\nsix\nseven\nneedle\n',
  'crlf.txt': 'needle\r\nx\r\n',
  'open-ended.txt': 'x\nneedle',
  'sub/dist/out.js': 'needle\n',
  'dist/out.js': 'needle\nneedle\n',
  'debug.log': 'needle\n',
  'wide.txt': `${'x'.repeat(900)}needle${'y'.repeat(900)}\n`,
  'with space/ü ñ.md': 'nädel needle\n',
  'nested/.gitignore': 'hidden.txt\n',
  'nested/hidden.txt': 'needle\n',
  'nested/shown.txt': 'needle\n',
  '.ignore': 'a.ts\n',
} as const;

describe('grep', HANGS, () => {
  let plain: ToolBench;
  let ripgrep: ToolBench;
  before(async () => {
    plain = await ToolBench.open({ files: FILES, isRepository: true, without: ['rg'] });
    plain.put('binary.bin', Buffer.from('needle\n\0needle\n'));
    plain.put('latin.txt', Buffer.from('caf\xe9 needle\n', 'latin1'));
    symlinkSync('/etc/passwd', plain.path('link.txt'));
    git(plain.root, 'add', 'a.ts', '.gitignore');
    ripgrep = await plain.reopen(installed.env);
  });
  after(() => plain.close());

  it('finds lines in files that git does not ignore, in a fixed order', async () => {
    const { text } = await plain.call('grep', { pattern: 'needle' });
    assert.deepEqual(
      text.split('\n').map((line) => line.slice(0, 60)),
      [
        '.github/ci.yml:1:run: needle',
        'a/b.ts:3:needle',
        'a/b.ts:5:needle',
        'a/b.ts:8:needle',
        'a-b/c.ts:1:needle (in) [brackets]',
        'a.ts:1:const needle = 1;',
        'a.ts:3:const NEEDLE = needle;',
        'crlf.txt:1:needle',
        'latin.txt:1:caf\uFFFD needle',
        'nested/shown.txt:1:needle',
        'open-ended.txt:2:needle',
        `wide.txt:1:${'x'.repeat(49)}`,
        'with space/ü ñ.md:1:nädel needle',
      ],
    );
  });

  const queries: readonly object[] = [
    { pattern: 'needle' },
    { pattern: 'NEEDLE', ignore_case: true },
    { pattern: '(?i)NEEDLE' },
    { pattern: '^needle$' },
    { pattern: '(in) [brackets]', literal: true },
    { pattern: 'needle', context: 1 },
    { pattern: 'needle', context: 3, path: 'a' },
    { pattern: 'needle', files_only: true },
    { pattern: 'needle', files_only: true, limit: 2 },
    { pattern: 'needle', limit: 3 },
    { pattern: 'needle', include: '*.ts' },
    { pattern: 'needle', include: 'a/**' },
    { pattern: 'needle', path: 'a', include: 'b.ts' },
    { pattern: 'needle', path: 'a.ts' },
    { pattern: 'needle', path: 'dist' },
    { pattern: 'needle', path: 'debug.log' },
    { pattern: 'needle', path: 'nested' },
    { pattern: String.raw`n\wedle\b` },
    { pattern: 'n.del', path: 'with space' },
    { pattern: '-x' },
    { pattern: 'not there at all' },
  ];
  for (const query of queries) {
    it(`gives the same with ripgrep: ${JSON.stringify(query)}`, { skip: installed.skip }, async () => {
      assert.equal((await ripgrep.call('grep', query)).text, (await plain.call('grep', query)).text);
    });
  }

  it('says what is wrong with a pattern', { skip: installed.skip }, async () => {
    for (const bench of [plain, ripgrep]) {
      const called = await bench.call('grep', { pattern: '(' });
      assert.equal(called.success, false);
      assert.match(called.text, /^The pattern cannot be used: /);
    }
  });

  it('says that there is more than it shows', async () => {
    const { text } = await plain.call('grep', { pattern: 'needle', limit: 3 });
    assert.match(text, /\n\[The first 3 matches; there are more\./);
    assert.equal(
      (await plain.call('grep', { pattern: 'needle', path: 'a', limit: 3 })).text.includes('more'),
      false,
    );
  });

  it('gives up on a pattern that would take for ever', async () => {
    plain.put('trap.txt', `${'a'.repeat(5000)}!\n`);
    const called = await plain.call('grep', { pattern: '(a+)+$', path: 'trap.txt' });
    assert.match(called.text, /takes too long/);
  });

  it('stops when the user does', async () => {
    for (const bench of [plain, ripgrep]) {
      const { text, success } = await bench.call('grep', { pattern: 'x' }, { signal: AbortSignal.abort() });
      assert.equal(success, false);
      assert.match(text, /stopped/);
    }
  });

  it('never gives more than a result may hold', async () => {
    plain.put(
      'many.txt',
      `${'needle in a rather long line of text, again and again '.repeat(9)}\n`.repeat(3000),
    );
    for (const bench of [plain, ripgrep]) {
      const { text } = await bench.call('grep', { pattern: 'needle', limit: 2000, path: 'many.txt' });
      assert.ok(approximateTokens(text) <= RESULT_TOKENS, `${approximateTokens(text)} tokens`);
    }
  });
});

describe('glob', HANGS, () => {
  let bench: ToolBench;
  before(async () => (bench = await ToolBench.open({ files: FILES, isRepository: true })));
  after(() => bench.close());
  const glob = async (args: object) => (await bench.call('glob', args)).text.split('\n');

  it('finds what git does not ignore', async () => {
    assert.deepEqual(await glob({ pattern: '*.{ts,js}' }), ['a/b.ts', 'a-b/c.ts', 'a.ts']);
    assert.deepEqual(await glob({ pattern: 'nested/**' }), ['nested/.gitignore', 'nested/shown.txt']);
    assert.deepEqual(await glob({ pattern: '*.zzz' }), ['No file matches *.zzz.']);
  });

  it('matches relative to path, and looks into an ignored directory when it is named', async () => {
    assert.deepEqual(await glob({ pattern: '*/*.js', path: '.' }), ['No file matches */*.js.']);
    assert.deepEqual(await glob({ pattern: '*.js', path: 'dist' }), ['dist/out.js']);
    assert.deepEqual(await glob({ pattern: 'b.ts', path: 'a' }), ['a/b.ts']);
  });

  it('finds the files of another repository inside', async () => {
    bench.put('inner/x.ts', '');
    bench.put('inner/y.tmp', '');
    bench.put('inner/.gitignore', '*.tmp\n');
    git(bench.path('inner'), 'init', '-q');
    assert.deepEqual(await glob({ pattern: 'inner/*' }), ['inner/.gitignore', 'inner/x.ts']);
  });

  it('lists everything where there is no repository, and follows no link', async () => {
    const bare = await ToolBench.open({ files: FILES });
    symlinkSync('..', bare.path('a', 'loop'));
    const { text } = await bare.call('glob', { pattern: 'dist/*' });
    assert.equal(text, 'dist/out.js');
    assert.doesNotMatch((await bare.call('glob', { pattern: '**' })).text, /loop/);
    bare.close();
  });

  it('starts nothing that a repository names', async () => {
    const hostile = await ToolBench.open({
      files: { 'a.ts': '', spy: '#!/bin/sh\ntouch spied\n' },
      isRepository: true,
    });
    execFileSync('chmod', ['+x', hostile.path('spy')]);
    git(hostile.root, 'config', 'core.fsmonitor', './spy');
    for (const [name, args] of [
      ['glob', { pattern: '*' }],
      ['list_dir', {}],
      ['grep', { pattern: 'touch' }],
    ] as const) {
      await hostile.call(name, args);
      assert.equal(existsSync(hostile.path('spied')), false, name);
    }
    git(hostile.root, 'status');
    assert.equal(existsSync(hostile.path('spied')), true, 'the trap works');
    hostile.close();
  });
});

describe('list_dir', HANGS, () => {
  it('shows a tree without what git ignores, and counts that', async () => {
    const bench = await ToolBench.open({ files: FILES, isRepository: true });
    symlinkSync('a.ts', bench.path('link'));
    const { text } = await bench.call('list_dir', { depth: 1 });
    const shown = [
      './',
      '.github/',
      '.gitignore',
      '.ignore',
      'a-b/',
      'a.ts',
      'a/',
      'crlf.txt',
      'link@',
      'nested/',
    ];
    const more = ['open-ended.txt', 'sub/', 'wide.txt', 'with space/', '[2 ignored by git]'];
    assert.deepEqual(
      text.split('\n').map((line) => line.trim()),
      [...shown, ...more],
    );
    assert.match((await bench.call('list_dir', { path: 'dist' })).text, /^dist\/\n {2}out\.js$/);
    assert.match((await bench.call('list_dir', { path: 'a.ts' })).text, /use read/);
    bench.close();
  });

  it('shows names that would break lines as one', async () => {
    const bench = await ToolBench.open({ files: { 'two\nlines': '', 'tab\there': '' } });
    assert.equal((await bench.call('list_dir', {})).text, './\n  tab\\there\n  two\\nlines');
    bench.close();
  });
});

describe('a workspace of 50,000 files', { timeout: 180_000 }, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await ToolBench.open({ isRepository: true, env: installed.env });
    for (let directory = 0; directory < 49; directory++) {
      mkdirSync(bench.path(`d${directory}`));
      for (let file = 0; file < 500; file++) {
        writeFileSync(bench.path(`d${directory}`, `f${file}.txt`), file === 7 ? 'needle\n' : '');
      }
    }
    mkdirSync(bench.path('flat'));
    for (let file = 0; file < 25_500; file++) writeFileSync(bench.path('flat', `g${file}.txt`), '');
  });
  after(() => bench.close());

  it('is searched whole, with a result of its limit', async () => {
    const found = await bench.call('grep', { pattern: 'needle' });
    assert.equal(found.text.split('\n').length, 49);
    const plain = await bench.reopen({}, bench.root, ['rg']);
    assert.equal((await plain.call('grep', { pattern: 'needle' })).text, found.text);
    const files = (await bench.call('glob', { pattern: '*.txt' })).text.split('\n');
    assert.equal(files.length, 501);
    assert.equal(files.at(-1), '[49500 more files match; narrow the pattern or the path.]');
  });

  it('is listed without one directory hiding the others', async () => {
    const { text } = await bench.call('list_dir', {});
    assert.match(text, /^ {2}flat\/$/m);
    assert.match(text, /^ {4}\[450 more\]$/m);
    const flat = await bench.call('list_dir', { path: 'flat' });
    assert.match(flat.text, /\[25000 more\]$/);
    assert.ok(approximateTokens(flat.text) < RESULT_TOKENS, 'within the limit');
  });
});
