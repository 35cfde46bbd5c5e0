// Snapshots of real repositories.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { GIT_ENV, mustTake, NEVER, putBack, termsOf, WorkTree } from '../../test/support/work-tree.ts';
import type { Name } from '../../test/support/work-tree.ts';
import { BatonError } from '../errors.ts';
import { openSnapshots, SNAPSHOT_BOUNDS } from './snapshots.io.ts';
import type { Snapshots, SnapshotTerms } from './snapshots.io.ts';
import type { RestoreOutcome } from './undo.ts';
import type { Snapshot } from './snapshot.ts';

// A directory for temporary files that no other process uses.
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'baton-test-')));
process.env['TMPDIR'] = temporary;
after(() => rmSync(temporary, { recursive: true, force: true }));

interface Bench {
  readonly tree: WorkTree;
  readonly snapshots: Snapshots;
}

async function bench(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { isCommitted = true, ...terms }: Partial<SnapshotTerms> & { readonly isCommitted?: boolean } = {},
): Promise<Bench> {
  const tree = new WorkTree();
  t.after(() => tree.close());
  for (const [name, content] of Object.entries(files)) tree.put(name, content);
  if (isCommitted) tree.commitAll();
  const snapshots = await tree.open(terms);
  t.after(() => snapshots.close());
  return { tree, snapshots };
}

function restored(outcome: RestoreOutcome): Extract<RestoreOutcome, { type: 'restored' }> {
  if (outcome.type !== 'restored') throw new TypeError(JSON.stringify(outcome));
  return outcome;
}

const NAMES: readonly Name[] = [
  'a.txt',
  'b.txt',
  'dir/c.txt',
  'dir/deep/d.txt',
  'dir',
  'a.txt/below',
  'with space',
  'line\nfeed',
  '"quoted"\t\\',
  '-dash',
  ':(top)magic',
  'ümlaut',
  Buffer.from([0x66, 0xff, 0xfe]),
  '.gitattributes',
  'unseen/x.log',
];

const CONTENTS = ['', 'one\n', 'two\r\n', 'bin\0ary', '$Id$\n', '* text eol=crlf ident\n', 'x'.repeat(5000)];

type Edit =
  | { readonly what: 'write'; readonly name: Name; readonly content: string; readonly isExecutable: boolean }
  | { readonly what: 'link'; readonly name: Name; readonly to: string }
  | { readonly what: 'remove'; readonly name: Name }
  | { readonly what: 'stage' }
  | { readonly what: 'commit' };

const anyName = fc.constantFrom(...NAMES);
const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('write' as const),
      name: anyName,
      content: fc.constantFrom(...CONTENTS),
      isExecutable: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('link' as const),
      name: anyName,
      to: fc.constantFrom('a.txt', '/etc', 'nowhere', '..'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('remove' as const), name: anyName }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Edit>({ what: 'stage' }, { what: 'commit' }),
  },
);

/** An edit that the file system refuses, below a file or a link that leads nowhere, is none. */
function apply(tree: WorkTree, edit: Edit): void {
  if (edit.what === 'stage') tree.git('add', '-A');
  else if (edit.what === 'commit') tree.commitAll();
  else {
    const parents = edit.name.toString('latin1').split('/').slice(0, -1);
    const isBelowLink = parents.some((_, index) =>
      tree
        .files()
        .get(parents.slice(0, index + 1).join('/'))
        ?.startsWith('link'),
    );
    if (isBelowLink) return;
    try {
      if (edit.what === 'remove') return tree.remove(edit.name);
      if (edit.what === 'link') {
        tree.remove(edit.name);
        return symlinkSync(edit.to, tree.path(edit.name));
      }
      if (tree.files().get(edit.name.toString('latin1'))?.startsWith('link')) tree.remove(edit.name);
      tree.put(edit.name, edit.content);
      chmodSync(tree.path(edit.name), edit.isExecutable ? 0o755 : 0o644);
    } catch {
      // As it was.
    }
  }
}

describe('snapshots', () => {
  test('whatever is done after one, it brings every file back, and changes nothing of the user', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEdit, { maxLength: 8 }),
        fc.array(anyEdit, { minLength: 1, maxLength: 8 }),
        async (first, then) => {
          const tree = new WorkTree();
          const snapshots = await tree.open();
          try {
            tree.put('unseen/.gitignore', '*.log\n');
            for (const edit of first) apply(tree, edit);
            const files = tree.files();
            const status = tree.git('status', '--porcelain', '-z');
            const owned = tree.possessions();
            const snapshot = await mustTake(snapshots);
            assert.deepEqual(tree.files(), files);
            assert.deepEqual(tree.possessions(), owned);
            assert.equal(tree.git('status', '--porcelain', '-z'), status);
            for (const edit of then) apply(tree, edit);
            const later = tree.files();
            const ownedLater = tree.possessions();
            const outcome = restored(await putBack(snapshots, snapshot));
            assert.deepEqual(withoutUnseen(tree.files()), withoutUnseen(files));
            assert.deepEqual(tree.possessions(), ownedLater);
            restored(await putBack(snapshots, outcome.undo));
            assert.deepEqual(tree.files(), later);
          } finally {
            await snapshots.close();
            tree.close();
          }
        },
      ),
      { seed: 7, numRuns: 12 },
    );
  });

  test('the index stays the same bytes', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' });
    tree.put('a.txt', 'staged\n');
    tree.git('add', 'a.txt');
    tree.put('a.txt', 'and more\n');
    tree.put('new.txt', 'new\n');
    tree.git('stash', 'store', '-m', 'kept', tree.git('stash', 'create').trim());
    const before = tree.possessions();
    const snapshot = await mustTake(snapshots);
    assert.deepEqual(tree.possessions(), before);
    tree.put('a.txt', 'later\n');
    restored(await putBack(snapshots, snapshot));
    assert.deepEqual(tree.possessions(), before);
    assert.equal(tree.read('a.txt'), 'and more\n');
  });

  test('what git ignored then or ignores now is never removed', async (t) => {
    const { tree, snapshots } = await bench(t, { '.gitignore': 'out/\n', 'a.txt': 'one\n' });
    tree.put('out/data.csv', 'hours of work\n');
    const snapshot = await mustTake(snapshots);
    tree.put('.gitignore', 'tmp/\n');
    tree.put('tmp/log', 'log\n');
    tree.put('new.txt', 'new\n');
    const outcome = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(
      outcome.changes.map(({ path, change }) => `${change} ${path}`),
      ['modified .gitignore', 'added new.txt'],
    );
    assert.deepEqual(outcome.untouched, [
      { path: 'out/data.csv', why: 'a file that git ignored at the time of the snapshot' },
    ]);
    assert.equal(tree.read('out/data.csv'), 'hours of work\n');
    assert.equal(tree.read('tmp/log'), 'log\n');
    assert.ok(!tree.has('new.txt'), 'new.txt is still there');
  });

  test('a file that git ignores only now is saved before it is overwritten', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    tree.put('b.txt', 'then\n');
    const snapshot = await mustTake(snapshots);
    tree.put('.gitignore', 'b.txt\n');
    tree.put('b.txt', 'now\n');
    const { undo } = restored(await putBack(snapshots, snapshot));
    assert.equal(tree.read('b.txt'), 'then\n');
    restored(await putBack(snapshots, undo));
    assert.equal(tree.read('b.txt'), 'now\n');
  });

  test('an ignored file in the way of a directory stays', async (t) => {
    const { tree, snapshots } = await bench(t, { '.gitignore': '/way\n', 'a.txt': 'one\n' });
    tree.put('other', 'x\n');
    tree.put('.gitignore', '');
    tree.put('way/b.txt', 'then\n');
    const snapshot = await mustTake(snapshots);
    tree.remove('way');
    tree.put('.gitignore', '/way\n');
    tree.put('way', 'mine\n');
    const { failed } = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(failed, [{ path: 'way/b.txt', why: 'below something that is not a directory' }]);
    assert.equal(tree.read('way'), 'mine\n');
  });

  test('filters, line endings and keywords are left out of it, so that bytes come back', async (t) => {
    const { tree, snapshots } = await bench(t, {
      '.gitattributes': '*.txt text eol=lf ident\n*.big filter=trap\n',
      'a.txt': 'one\n',
    });
    const ran = join(tree.root, '..', `${tree.root.split('/').at(-1)}-ran`);
    for (const key of ['clean', 'smudge']) tree.git('config', `filter.trap.${key}`, `touch ${ran}; cat`);
    tree.git('config', 'filter.trap.required', 'true');
    tree.git('config', 'core.autocrlf', 'true');
    tree.put('a.txt', 'one\r\ntwo $Id$\r\n');
    tree.put('b.big', 'large\n');
    const files = tree.files();
    const snapshot = await mustTake(snapshots);
    tree.put('a.txt', 'changed');
    tree.put('b.big', 'changed');
    restored(await putBack(snapshots, snapshot));
    assert.deepEqual(tree.files(), files);
    assert.ok(!existsSync(ran), 'a program that the repository names was started');
  });

  for (const [key, value] of [
    ['core.ignorecase', 'true'],
    ['core.symlinks', 'false'],
    ['core.filemode', 'false'],
  ] as const) {
    test(`a planted ${key} hides nothing from an undo`, async (t) => {
      const { tree } = await bench(t, { 'a.txt': 'one', 'run.sh': 'echo' });
      tree.git('config', key, value);
      const snapshots = await tree.open();
      t.after(() => snapshots.close());
      symlinkSync('a.txt', tree.path('link'));
      chmodSync(tree.path('run.sh'), 0o755);
      tree.put('A.TXT', 'another');
      tree.put('Dir/b.txt', 'one');
      tree.put('dir/b.txt', 'another');
      await mustTake(snapshots);
      tree.remove('link');
      tree.put('link', 'a file');
      const before = tree.files();
      const snapshot = await mustTake(snapshots);
      tree.remove('link');
      symlinkSync('run.sh', tree.path('link'));
      chmodSync(tree.path('run.sh'), 0o644);
      for (const name of ['A.TXT', 'a.txt', 'Dir/b.txt', 'dir/b.txt']) tree.put(name, 'changed');
      restored(await putBack(snapshots, snapshot));
      assert.deepEqual(tree.files(), before);
    });
  }

  test('a hook, a signature and the settings of the user play no part', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    tree.put('.git/hooks/reference-transaction', '#!/bin/sh\ntouch "$GIT_DIR/ran"; exit 1\n');
    chmodSync(tree.path('.git/hooks/reference-transaction'), 0o755);
    tree.git('config', 'commit.gpgsign', 'true');
    tree.git('config', 'gpg.program', 'false');
    tree.git('config', 'core.logAllRefUpdates', 'always');
    const before = tree.possessions();
    await mustTake(snapshots);
    assert.deepEqual(tree.possessions(), before);
  });

  test('a locked index is in nobody’s way', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const snapshot = await mustTake(snapshots);
    tree.put('.git/index.lock', '');
    tree.put('a.txt', 'two\n');
    restored(await putBack(snapshots, snapshot));
    assert.equal(tree.read('a.txt'), 'one\n');
    assert.ok(tree.has('.git/index.lock'), 'the lock of somebody else is gone');
  });

  test('works before the first commit, and with a detached HEAD, which is told when it moves', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' }, { isCommitted: false });
    const unborn = await mustTake(snapshots);
    tree.commitAll();
    tree.git('checkout', '-q', '--detach');
    tree.put('a.txt', 'two\n');
    const described = await snapshots.describe(
      { states: [{ before: unborn, after: undefined }], laterEdits: 'revert', found: [] },
      NEVER,
    );
    assert.ok(described.type === 'described', 'refused');
    assert.match(
      described.warnings.join(),
      /HEAD has moved from no commit to [0-9a-f]{8} since: commits stay/,
    );
    restored(await putBack(snapshots, unborn));
    assert.equal(tree.read('a.txt'), 'one\n');
  });

  test('a workspace below the top is all that is saved and put back', async (t) => {
    const { tree } = await bench(t, { 'top.txt': 'one\n', 'app/a.txt': 'one\n' });
    const snapshots = await tree.open({ directory: join(tree.root, 'app') });
    t.after(() => snapshots.close());
    const snapshot = await mustTake(snapshots);
    tree.put('top.txt', 'mine\n');
    tree.put('app/a.txt', 'agent\n');
    const { changes } = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(changes, [{ path: 'a.txt', change: 'modified' }]);
    assert.equal(tree.read('top.txt'), 'mine\n');
  });

  test('a second work tree has its own files and shares the names of snapshots', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const first = await mustTake(snapshots);
    tree.git('worktree', 'add', '-q', '.git/beside');
    const other = await tree.open({ directory: join(tree.root, '.git/beside') });
    t.after(() => other.close());
    tree.put('.git/beside/a.txt', 'other\n');
    const second = await mustTake(other);
    assert.equal(second.ref, 'refs/baton/snapshots/thread/2');
    tree.put('.git/beside/a.txt', 'later\n');
    restored(await putBack(other, second));
    assert.equal(tree.read('.git/beside/a.txt'), 'other\n');
    assert.equal(tree.read('a.txt'), 'one\n');
    assert.notEqual(first.commit, second.commit);
  });

  test('a link in place of objects or names is not followed: it may lead out', async (t) => {
    for (const name of ['objects', 'refs', 'refs/baton', 'refs/baton/snapshots']) {
      const { tree } = await bench(t, { 'a.txt': 'one\n' });
      const path = join(tree.root, '.git', name);
      const elsewhere = join(tree.root, '.git/elsewhere');
      mkdirSync(dirname(path), { recursive: true });
      if (existsSync(path)) renameSync(path, elsewhere);
      else mkdirSync(elsewhere);
      symlinkSync(elsewhere, path);
      const outcome = await openSnapshots(termsOf(tree.root), NEVER);
      assert.ok('why' in outcome, name);
      assert.ok(outcome.why.startsWith(`${path} is a symbolic link`), outcome.why);
    }
  });

  test('repositories inside are left alone, and that is said', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    tree.git('init', '-q', 'inner');
    tree.put('inner/b.txt', 'mine\n');
    const outcome = await snapshots.take(NEVER);
    assert.ok(outcome.type === 'taken', 'skipped');
    assert.deepEqual(outcome.warnings, ['Repositories inside this one are not saved: inner/.']);
    tree.put('inner/b.txt', 'changed\n');
    const { changes } = restored(await putBack(snapshots, outcome.snapshot));
    assert.deepEqual(changes, []);
    assert.equal(tree.read('inner/b.txt'), 'changed\n');
  });

  test('no link leads an undo out of the workspace', async (t) => {
    const { tree, snapshots } = await bench(t, { 'dir/a.txt': 'one\n' });
    const outside = new WorkTree(false);
    t.after(() => outside.close());
    const snapshot = await mustTake(snapshots);
    tree.remove('dir');
    symlinkSync(outside.root, tree.path('dir'));
    outside.put('a.txt', 'mine\n');
    restored(await putBack(snapshots, snapshot));
    assert.equal(outside.read('a.txt'), 'mine\n');
    assert.equal(tree.read('dir/a.txt'), 'one\n');
  });

  test('a link that takes the place of a directory at any moment leads an undo nowhere', async (t) => {
    const names = Array.from({ length: 120 }, (_, number) => `dir/f${number}.txt`);
    const { tree, snapshots } = await bench(t, Object.fromEntries(names.map((name) => [name, 'one\n'])));
    const outside = new WorkTree(false);
    t.after(() => outside.close());
    const snapshot = await mustTake(snapshots);
    for (const name of names) tree.put(name, 'two\n');
    const swapping = new Worker(
      `const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
       const { dir, outside } = require('node:worker_threads').workerData;
       // The undo may have made the directory anew.
       const attempt = (step) => { try { step(); } catch {} };
       for (;;) {
         attempt(() => renameSync(dir, dir + '.aside'));
         attempt(() => symlinkSync(outside, dir));
         attempt(() => unlinkSync(dir));
         attempt(() => renameSync(dir + '.aside', dir));
       }`,
      { eval: true, workerData: { dir: tree.path('dir').toString(), outside: outside.root } },
    );
    const problem = new Promise<never>((_, reject) => swapping.once('error', reject));
    // What it finds is its own affair; only that it writes nowhere else is asked for.
    await Promise.race([Promise.all([putBack(snapshots, snapshot), sleep(300)]), problem]);
    await swapping.terminate();
    assert.deepEqual(readdirSync(outside.root), []);
  });

  test('a tree that was forged in the store of git is not written where no snapshot writes', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const taken = await mustTake(snapshots);
    const message = tree.git('log', '-1', '--format=%B', taken.commit);
    const blob = tree.git('rev-parse', `${taken.commit}:a.txt`).trim();
    const head = tree.git('rev-parse', 'HEAD').trim();
    const treeOf = (...entries: readonly (readonly [mode: string, name: string, id: string])[]): string => {
      const bytes = entries.flatMap(([mode, name, id]) => [
        Buffer.from(`${mode} ${name}\0`),
        Buffer.from(id, 'hex'),
      ]);
      return execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
        cwd: tree.root,
        env: GIT_ENV,
        input: Buffer.concat(bytes),
        encoding: 'utf8',
      }).trim();
    };
    const hooks = treeOf(['100755', 'post-checkout', blob]);
    const files = treeOf(['100644', '.gitignore', blob], ['100644', 'outside.txt', blob]);
    const forged = treeOf(
      ['40000', '..', files],
      ['40000', '.GIT', hooks],
      ['40000', '.git', treeOf(['40000', 'hooks', hooks])],
      ['40000', '.git\u200c', hooks],
      ['100644', 'a.txt', blob],
      ['160000', 'inner', head],
      ['40000', 'git~1', hooks],
    );
    const commit = tree.git('commit-tree', forged, '-m', message).trim();
    const before = tree.possessions();
    tree.put('a.txt', 'two\n');
    const { changes, failed } = restored(await putBack(snapshots, { commit, ref: 'HEAD' }));
    assert.deepEqual(changes, [{ path: 'a.txt', change: 'modified' }]);
    assert.deepEqual(
      failed.map(({ path }) => path).toSorted(),
      [
        '../.gitignore',
        '../outside.txt',
        '.GIT/post-checkout',
        '.git/hooks/post-checkout',
        '.git\u200c/post-checkout',
        'git~1/post-checkout',
        'inner',
      ].toSorted(),
    );
    assert.deepEqual(tree.possessions(), before);
    assert.deepEqual([...tree.files().keys()], ['a.txt']);
    assert.ok(!existsSync(join(tree.root, '../outside.txt')), 'a file outside was written');
  });

  test('what cannot even be looked at is left out, and the rest is saved', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    // A path that is longer than the system takes at once.
    const deep = Array.from({ length: 20 }, () => 'd'.repeat(240));
    execFileSync(
      'sh',
      ['-c', `for d in ${deep.join(' ')}; do mkdir $d && cd -P $d; done; echo deep > deep.txt; touch a`],
      { cwd: tree.root, stdio: 'pipe' },
    );
    const outcome = await snapshots.take(NEVER);
    assert.ok(outcome.type === 'taken', JSON.stringify(outcome));
    tree.put('a.txt', 'two\n');
    const { changes } = restored(await putBack(snapshots, outcome.snapshot));
    // Node cannot remove what it cannot name.
    execFileSync('rm', ['-rf', tree.path(deep[0] ?? '').toString()]);
    assert.deepEqual(changes, [{ path: 'a.txt', change: 'modified' }]);
  });

  test('a pipe, a directory or a file without end in the place of a file is named, and stays', async (t) => {
    const { tree, snapshots } = await bench(t, {
      'pipe.txt': 'one\n',
      'dir.txt': 'one\n',
      'huge.txt': 'one\n',
    });
    const snapshot = await mustTake(snapshots);
    for (const name of ['pipe.txt', 'dir.txt']) tree.remove(name);
    execFileSync('mkfifo', [tree.path('pipe.txt').toString()]);
    tree.git('init', '-q', 'dir.txt');
    truncateSync(tree.path('huge.txt'), 1e12);
    const { changes, failed } = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(changes, []);
    assert.deepEqual(
      failed.map(({ path }) => path),
      ['huge.txt', 'pipe.txt', 'dir.txt'],
    );
    assert.equal(statSync(tree.path('huge.txt')).size, 1e12);
  });

  test('too large a file is left out, then and now, and nothing of it is lost', async (t) => {
    const bounds = { ...SNAPSHOT_BOUNDS, fileBytes: 100 };
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n', 'grows.txt': 'small\n' }, { bounds });
    tree.put('large.bin', 'x'.repeat(101));
    const outcome = await snapshots.take(NEVER);
    assert.ok(outcome.type === 'taken', 'skipped');
    assert.deepEqual(outcome.warnings, [
      'Not saved, so an undo cannot restore: large.bin is too large (1 MB).',
    ]);
    tree.put('large.bin', 'small now');
    tree.put('grows.txt', 'y'.repeat(101));
    const { failed, untouched } = restored(await putBack(snapshots, outcome.snapshot));
    assert.deepEqual(failed, [{ path: 'grows.txt', why: 'too large (1 MB)' }]);
    assert.deepEqual(untouched, [{ path: 'large.bin', why: 'too large (1 MB) at the time of the snapshot' }]);
    assert.equal(tree.read('large.bin'), 'small now');
    assert.equal(tree.read('grows.txt').length, 101);
  });

  test('beyond its bounds a snapshot is skipped with a sentence', async (t) => {
    const { tree } = await bench(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' });
    tree.put('c.txt', 'three\n');
    tree.put('d.txt', 'four\n');
    const rows: readonly (readonly [Partial<SnapshotTerms>, RegExp])[] = [
      [{ bounds: { ...SNAPSHOT_BOUNDS, files: 3 } }, /has 4 files, more than 3$/],
      [{ bounds: { ...SNAPSHOT_BOUNDS, untrackedFiles: 1 } }, /2 files are neither committed nor ignored/],
      [{ bounds: { ...SNAPSHOT_BOUNDS, untrackedBytes: 10 } }, /hold 1 MB, more than 1 MB$/],
      [{ limitMs: 1 }, /takes longer than 0\.001 seconds$/],
    ];
    for (const [terms, expected] of rows) {
      const snapshots = await tree.open(terms);
      t.after(() => snapshots.close());
      const outcome = await snapshots.take(NEVER);
      assert.ok(outcome.type === 'skipped', 'taken');
      assert.match(outcome.why, expected);
    }
  });

  test('a merge that began since is not run over; one that was under way before is no obstacle', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const before = await mustTake(snapshots);
    tree.git('checkout', '-q', '-b', 'side');
    tree.put('a.txt', 'side\n');
    tree.commitAll();
    tree.git('checkout', '-q', 'main');
    tree.put('a.txt', 'main\n');
    tree.commitAll();
    assert.throws(() => tree.git('merge', '-q', 'side'));
    const outcome = await putBack(snapshots, before);
    assert.ok(outcome.type === 'refused', 'restored');
    assert.match(outcome.why, /a merge has begun since; finish or abort it first/);
    assert.match(tree.read('a.txt'), /<<<<<<</);
    const during = await mustTake(snapshots);
    tree.put('a.txt', 'resolved\n');
    restored(await putBack(snapshots, during));
    assert.match(tree.read('a.txt'), /<<<<<<</);
  });

  test('what cannot be read is left out; what is no file, too', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    execFileSync('mkfifo', [tree.path('pipe').toString()]);
    const outcome = await snapshots.take(NEVER);
    assert.ok(outcome.type === 'taken', 'skipped');
    // Git itself lists no pipe.
    assert.deepEqual(outcome.warnings, []);
    restored(await putBack(snapshots, outcome.snapshot));
    assert.ok(tree.has('pipe'), 'the pipe is gone');
  });

  test('a file that somebody changes during the undo is left to them', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const snapshot = await mustTake(snapshots);
    tree.put('a.txt', 'two\n');
    tree.put('b.txt', 'two\n');
    // The program `git` of this test changes a file as soon as the contents are asked for.
    const programs = new WorkTree(false);
    t.after(() => programs.close());
    programs.put(
      'git',
      `#!/bin/sh\ncase "$*" in *"cat-file --batch") echo mine > "${tree.root}/b.txt";; esac\nexec "${which('git')}" "$@"\n`,
    );
    chmodSync(programs.path('git'), 0o755);
    const slow = await tree.open({ env: { ...GIT_ENV, PATH: `${programs.root}:${GIT_ENV['PATH']}` } });
    t.after(() => slow.close());
    const { changes, failed } = restored(await putBack(slow, snapshot));
    assert.deepEqual(changes, [{ path: 'a.txt', change: 'modified' }]);
    assert.deepEqual(failed, [{ path: 'b.txt', why: 'changed since the undo began' }]);
    assert.equal(tree.read('b.txt'), 'mine\n');
  });

  test('stopped or killed at any git command it leaves nothing locked, and the next one works', async (t) => {
    const { tree } = await bench(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const programs = new WorkTree(false);
    t.after(() => programs.close());
    const owned = tree.possessions();
    for (const command of [
      'ls-files -z --stage',
      'update-index --add',
      'write-tree',
      'commit-tree',
      'update-ref',
    ]) {
      for (const how of ['killed', 'stopped'] as const) {
        tree.put('b.txt', `${command} ${how}\n`);
        programs.put(
          'git',
          `#!/bin/sh\ncase "$*" in *"${command}"*) ${how === 'killed' ? 'kill -9 $$' : 'echo > "$0.reached"; sleep 9'};; esac\nexec "${which('git')}" "$@"\n`,
        );
        chmodSync(programs.path('git'), 0o755);
        const snapshots = await tree.open({
          env: { ...GIT_ENV, PATH: `${programs.root}:${GIT_ENV['PATH']}` },
        });
        t.after(() => snapshots.close());
        if (how === 'killed') assert.equal((await snapshots.take(NEVER)).type, 'skipped');
        else {
          const stop = new AbortController();
          const taking = snapshots.take(stop.signal);
          const watch = setInterval(() => programs.has('git.reached') && stop.abort(), 5);
          await assert.rejects(
            taking,
            (error) => error instanceof BatonError && error.code === 'interrupted',
          );
          clearInterval(watch);
          programs.remove('git.reached');
        }
        assert.deepEqual(tree.possessions(), owned);
        programs.put('git', `#!/bin/sh\nexec "${which('git')}" "$@"\n`);
        assert.equal((await snapshots.take(NEVER)).type, 'taken', `${command} ${how}`);
      }
    }
  });

  test('an undo that is stopped says what it did not reach, and can be gone on with or back from', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const snapshot = await mustTake(snapshots);
    tree.put('a.txt', 'two\n');
    tree.put('new.txt', 'new\n');
    const programs = new WorkTree(false);
    t.after(() => programs.close());
    programs.put(
      'git',
      `#!/bin/sh\ncase "$*" in *"cat-file --batch") echo > "$0.reached"; sleep 9;; esac\nexec "${which('git')}" "$@"\n`,
    );
    chmodSync(programs.path('git'), 0o755);
    const slow = await tree.open({ env: { ...GIT_ENV, PATH: `${programs.root}:${GIT_ENV['PATH']}` } });
    t.after(() => slow.close());
    const stop = new AbortController();
    const watch = setInterval(() => programs.has('git.reached') && stop.abort(), 5);
    const outcome = restored(await putBack(slow, snapshot, stop.signal));
    clearInterval(watch);
    assert.deepEqual(outcome.changes, [{ path: 'new.txt', change: 'added' }]);
    assert.deepEqual(outcome.failed, [{ path: 'a.txt', why: 'not reached: it was stopped' }]);
    restored(await putBack(snapshots, outcome.undo));
    assert.deepEqual([tree.read('a.txt'), tree.read('new.txt')], ['two\n', 'new\n']);
    restored(await putBack(snapshots, snapshot));
    assert.deepEqual([tree.read('a.txt'), tree.has('new.txt')], ['one\n', false]);
  });

  test('files that come and go during a snapshot do not make it fail', async (t) => {
    const { tree } = await bench(t, { 'a.txt': 'one\n' });
    const programs = new WorkTree(false);
    t.after(() => programs.close());
    tree.put('gone.txt', 'soon\n');
    tree.put('kept.txt', 'kept\n');
    programs.put(
      'git',
      `#!/bin/sh\ncase "$*" in *"update-index --add"*) rm -f "${tree.root}/gone.txt";; esac\nexec "${which('git')}" "$@"\n`,
    );
    chmodSync(programs.path('git'), 0o755);
    const snapshots = await tree.open({ env: { ...GIT_ENV, PATH: `${programs.root}:${GIT_ENV['PATH']}` } });
    t.after(() => snapshots.close());
    const snapshot = await mustTake(snapshots);
    tree.remove('kept.txt');
    const { changes } = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(changes, [{ path: 'kept.txt', change: 'deleted' }]);
  });

  test('it outlives a collection of garbage, until it is pruned', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const taken: Snapshot[] = [];
    for (const content of ['two\n', 'three\n', 'four\n']) {
      tree.put('a.txt', content);
      taken.push(await mustTake(snapshots));
    }
    tree.git('gc', '-q', '--prune=now');
    const [oldest, , newest] = taken;
    assert.ok(oldest !== undefined && newest !== undefined, 'too few');
    restored(await putBack(snapshots, oldest));
    assert.equal(tree.read('a.txt'), 'two\n');
    // The state before that undo is the newest snapshot itself.
    assert.equal(await snapshots.prune({ keep: 2 }, NEVER), 1);
    tree.git('gc', '-q', '--prune=now');
    const gone = await putBack(snapshots, oldest);
    assert.deepEqual(gone, {
      type: 'refused',
      why: 'The files are unchanged: the snapshot is gone.',
    });
    restored(await putBack(snapshots, newest));
    for (const terms of [{ threadId: 'other', named: () => taken }, {}]) {
      const other = await tree.open(terms);
      t.after(() => other.close());
      assert.equal(await other.prune({ keep: 0 }, NEVER), 0, 'what is not its own is let go');
    }
    const again = await tree.open({ named: () => taken });
    t.after(() => again.close());
    assert.equal(await again.prune({ keep: 0 }, NEVER), 2);
  });

  test('where there is no repository, that is said', async (t) => {
    const bare = new WorkTree(false);
    t.after(() => bare.close());
    const rows: readonly (readonly [Partial<SnapshotTerms>, RegExp])[] = [
      [{}, /^The workspace is not in a git work tree\.$/],
      [{ env: { PATH: '/nonexistent' } }, /^Git is not installed\.$/],
    ];
    for (const [terms, expected] of rows) {
      const outcome = await openSnapshots({ ...termsOf(bare.root), ...terms }, NEVER);
      assert.ok('why' in outcome, 'there are snapshots');
      assert.match(outcome.why, expected);
    }
  });

  test('a commit of anybody else is no snapshot', async (t) => {
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n' });
    const commit = tree.git('rev-parse', 'HEAD').trim();
    const outcome = await putBack(snapshots, { commit, ref: 'HEAD' });
    assert.ok(outcome.type === 'refused', 'restored');
    assert.match(outcome.why, /not a snapshot of Baton/);
  });

  test('a file that looks the same is not read again, unless the private index is gone', async (t) => {
    const clock = { now: () => Date.now() + 60_000 };
    const workshop = join(temporary, 'workshop');
    const { tree, snapshots } = await bench(t, { 'a.txt': 'one\n', 'b.txt': 'one\n' }, { clock, workshop });
    await mustTake(snapshots);
    rmSync(join(workshop, 'index'));
    tree.put('b.txt', 'two\n');
    const snapshot = await mustTake(snapshots);
    tree.remove('a.txt');
    const { changes } = restored(await putBack(snapshots, snapshot));
    assert.deepEqual(changes, [{ path: 'a.txt', change: 'deleted' }]);
  });

  test('its own files are gone when it is closed', async (t) => {
    const tree = new WorkTree();
    t.after(() => tree.close());
    const snapshots = await tree.open();
    await mustTake(snapshots);
    await snapshots.close();
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('baton-workshop-')),
      [],
    );
  });
});

function which(program: string): string {
  return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}

/** What git ignored is in no snapshot. */
function withoutUnseen(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...files].filter(([path]) => !path.startsWith('unseen/')));
}
