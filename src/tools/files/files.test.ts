// Files on a real disk: read, written, edited, patched; and what must never happen to them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ToolBench } from '../../../test/support/tool-world.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { RESULT_TOKENS } from '../cap.ts';
import { ReadTracker } from './read-tracker.ts';
import type { ToolWorld } from '../world.ts';
import { commitChanges, LARGEST_EDITED_FILE } from './files.io.ts';

const HANGS = { timeout: 30_000 };

let bench: ToolBench;
before(async () => (bench = await ToolBench.open()));
after(() => bench.close());

/** Names in the workspace, so that a temporary file that stayed shows. */
function names(): readonly string[] {
  return readdirSync(bench.root, { recursive: true, encoding: 'utf8' }).toSorted();
}

function content(path: string): string {
  return readFileSync(bench.path(path), 'utf8');
}

/** Paths that lead out of the workspace or to what is no file, each made in `traps/`. */
function makeTraps(): readonly string[] {
  mkdirSync(bench.path('traps'), { recursive: true });
  const traps = ['traps/out', 'traps/dir/passwd', 'traps/nowhere', 'traps/pipe', 'traps/device'];
  if (!existsSync(bench.path('traps/pipe'))) {
    symlinkSync('/etc/passwd', bench.path('traps/out'));
    symlinkSync('/etc', bench.path('traps/dir'));
    symlinkSync('/tmp/nothing-is-here/x', bench.path('traps/nowhere'));
    execFileSync('mkfifo', [bench.path('traps/pipe')]);
    symlinkSync('/dev/zero', bench.path('traps/device'));
  }
  return [
    ...traps,
    '/etc/passwd',
    '../x',
    '..',
    '/',
    'a/../../x',
    '/dev/zero',
    '/proc/self/environ',
    'x\0y',
    'traps/pipe/x',
  ];
}

describe('paths that lead astray', HANGS, () => {
  it('are refused by every tool for files, and nothing hangs', async () => {
    for (const path of makeTraps()) {
      const calls: readonly (readonly [string, object | string])[] = [
        ['read', { path }],
        ['write', { path, content: 'x' }],
        ['edit', { path, old_string: 'root', new_string: 'x' }],
        ['apply_patch', { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-root\n+x\n*** End Patch` }],
        ['apply_patch', { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }],
        ['apply_patch', { input: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` }],
        ['list_dir', { path }],
        ['grep', { path, pattern: 'root' }],
        ['glob', { path, pattern: '*' }],
      ];
      for (const [name, args] of calls) {
        const called = await bench.call(name, args);
        assert.equal(called.success, false, `${name} ${path}: ${called.text}`);
        assert.doesNotMatch(called.text, /root:x|failed:/, `${name} ${path}`);
      }
    }
    assert.ok(lstatSync(bench.path('traps/nowhere')).isSymbolicLink(), 'links stay');
    assert.match(readFileSync('/etc/passwd', 'utf8'), /root/);
  });

  it("are those into git's own folder, for changes", async () => {
    bench.put('.git/config', '[core]\n');
    bench.put('sub/.git/hooks/x', '');
    for (const path of ['.git/config', '.git/hooks/post-commit', 'sub/.git/hooks/x', '.GIT/config']) {
      assert.equal((await bench.call('write', { path, content: 'x' })).success, false, path);
    }
    assert.equal(content('.git/config'), '[core]\n');
  });
});

describe('read', HANGS, () => {
  it('numbers lines, whatever they end with', async () => {
    bench.put('r.txt', 'one\r\ntwo\n\nfour');
    assert.equal((await bench.call('read', { path: 'r.txt' })).text, '1\tone\n2\ttwo\n3\t\n4\tfour');
    const part = await bench.call('read', { path: 'r.txt', offset: 2, limit: 2 });
    assert.equal(part.text, '2\ttwo\n3\t\n[Lines 2 to 3 of 4; continue with offset 4.]');
    assert.equal((await bench.call('read', { path: 'r.txt', offset: 4 })).text, '4\tfour');
  });

  it('says what cannot be shown', async () => {
    bench.put('empty', '');
    bench.put('binary', Buffer.from([0x7f, 0x45, 0, 1]));
    bench.put('latin', Buffer.from('caf\xe9\n', 'latin1'));
    mkdirSync(bench.path('directory'), { recursive: true });
    const texts: Record<string, RegExp> = {
      empty: /^empty is empty\.$/,
      binary: /^binary is binary, 4 bytes/,
      latin: /^1\tcaf\uFFFD\n\[Some bytes are not valid UTF-8/,
      directory: /use list_dir/,
      missing: /The file missing does not exist/,
    };
    for (const [path, pattern] of Object.entries(texts)) {
      assert.match((await bench.call('read', { path })).text, pattern);
    }
    bench.put('r.txt', 'a\n');
    assert.match(
      (await bench.call('read', { path: 'r.txt', offset: 9 })).text,
      /has only 1 lines, so line 9 does not exist/,
    );
  });

  it('cuts long lines and says by how much', async () => {
    bench.put('long', `${'x'.repeat(300_000)}\nshort\n`);
    const { text } = await bench.call('read', { path: 'long' });
    assert.equal(text, `1\t${'x'.repeat(2000)} [… 298000 characters of this line omitted]\n2\tshort`);
  });

  it('gives a large file page by page, every line once', async () => {
    const lines = Array.from({ length: 9000 }, (_, index) => `${'word '.repeat(index % 40)}${index}`);
    bench.put('large', `${lines.join('\n')}\n`);
    const seen: string[] = [];
    for (let offset = 1, pages = 0; ; pages++) {
      assert.ok(pages < 100, 'ends');
      const { text } = await bench.call('read', { path: 'large', offset });
      assert.ok(approximateTokens(text) <= RESULT_TOKENS, `${approximateTokens(text)} tokens`);
      for (const [, line] of text.matchAll(/^\d+\t(.*)$/gm)) seen.push(line ?? '');
      const next = /continue with offset (\d+)\.\]$/.exec(text)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    assert.deepEqual(seen, lines);
  });

  it('reads out of a file of 60 MB without holding it', async () => {
    writeFileSync(bench.path('huge'), 'a line of a very large file\n'.repeat(2_200_000));
    const bytesBefore = process.memoryUsage().rss;
    const { text } = await bench.call('read', { path: 'huge', offset: 2_000_000, limit: 1 });
    assert.match(
      text,
      /^2000000\ta line of a very large file\n\[Lines 2000000 to 2000000; continue with offset 2000001\.\]$/,
    );
    assert.ok(process.memoryUsage().rss - bytesBefore < 100e6, 'memory');
  });
});

describe('write', HANGS, () => {
  it('makes a new file with its directories, and tells of it', async () => {
    const called = await bench.call('write', { path: 'w/x/new.txt', content: 'a\nb\n' });
    assert.equal(called.success, true);
    assert.equal(content('w/x/new.txt'), 'a\nb\n');
    assert.deepEqual(called.changes, [
      {
        action: 'create',
        path: 'w/x/new.txt',
        added_lines: 2,
        removed_lines: 0,
        diff: '--- /dev/null\n+++ b/w/x/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n',
        is_diff_cut: false,
      },
    ]);
  });

  it('writes over a file only when all of it was seen as it is', async () => {
    bench.put('seen.txt', 'a\nb\nc\n');
    const write = () => bench.call('write', { path: 'seen.txt', content: 'new\n' });
    assert.match((await write()).text, /not read all of it/);
    await bench.call('read', { path: 'seen.txt', limit: 2 });
    assert.match((await write()).text, /not read all of it/, 'a part is not enough');
    await bench.call('read', { path: 'seen.txt', offset: 3 });
    bench.put('seen.txt', 'a\nb\nother\n');
    assert.match((await write()).text, /changed since you read it/);
    assert.equal(content('seen.txt'), 'a\nb\nother\n');
    await bench.call('read', { path: 'seen.txt' });
    utimesSync(bench.path('seen.txt'), 1, 1);
    assert.equal((await write()).success, true, 'touched is not changed');
    assert.equal((await write()).success, true, 'what it wrote itself it knows');
    assert.equal(content('seen.txt'), 'new\n');
  });

  it('keeps permissions, line endings and links', async () => {
    bench.put('script.sh', 'a\r\nb\r\n');
    chmodSync(bench.path('script.sh'), 0o751);
    symlinkSync('script.sh', bench.path('alias.sh'));
    await bench.call('read', { path: 'alias.sh' });
    const called = await bench.call('write', { path: 'alias.sh', content: 'c\nd\n' });
    assert.equal(called.success, true, called.text);
    assert.equal(content('script.sh'), 'c\r\nd\r\n');
    assert.equal(statSync(bench.path('script.sh')).mode & 0o777, 0o751);
    assert.ok(lstatSync(bench.path('alias.sh')).isSymbolicLink(), 'still a link');
  });

  it('refuses what no file can hold, or what none should', async () => {
    assert.match((await bench.call('write', { path: 'h', content: 'a\ud83d' })).text, /half a character/);
    const large = 'x'.repeat(LARGEST_EDITED_FILE + 1);
    assert.match((await bench.call('write', { path: 'h', content: large })).text, /too large/);
    assert.match((await bench.call('write', { path: 'w', content: 'x' })).text, /is a directory/);
    assert.equal(existsSync(bench.path('h')), false);
  });
});

describe('edit', HANGS, () => {
  beforeEach(() => bench.put('e.txt', 'one\r\ntwo\r\nthree\r\n'));

  it('changes exactly what is named', async () => {
    const called = await bench.call('edit', {
      path: 'e.txt',
      old_string: 'one\ntwo',
      new_string: '1\n2\n2.5',
    });
    assert.equal(called.success, true, called.text);
    assert.equal(content('e.txt'), '1\r\n2\r\n2.5\r\nthree\r\n');
    const diff = '--- a/e.txt\n+++ b/e.txt\n@@ -1,3 +1,4 @@\n-one\r\n-two\r\n+1\r\n+2\r\n+2.5\r\n three\r\n';
    assert.deepEqual(called.changes, [
      { action: 'edit', path: 'e.txt', added_lines: 3, removed_lines: 2, diff, is_diff_cut: false },
    ]);
  });

  it('changes nothing when it cannot', async () => {
    const namesBefore = names();
    for (const args of [
      { old_string: 'nowhere', new_string: 'x' },
      { old_string: 't', new_string: 'x' },
      { old_string: 'one', new_string: 'one' },
      { old_string: 'one', new_string: '\udc00' },
      { old_string: '', new_string: 'x' },
    ]) {
      const called = await bench.call('edit', { path: 'e.txt', ...args });
      assert.equal(called.success, false, JSON.stringify(args));
      assert.match(called.text, /Nothing was (?:changed|run)/);
      assert.deepEqual(called.events, []);
    }
    assert.equal(content('e.txt'), 'one\r\ntwo\r\nthree\r\n');
    assert.deepEqual(names(), namesBefore);
  });

  it('needs to have read again what another changed', async () => {
    await bench.call('read', { path: 'e.txt' });
    bench.put('e.txt', 'one\nTWO\n');
    const edit = () => bench.call('edit', { path: 'e.txt', old_string: 'one', new_string: '1' });
    assert.match((await edit()).text, /changed since you read it/);
    await bench.call('read', { path: 'e.txt' });
    assert.equal((await edit()).success, true);
    assert.equal(
      (await bench.call('edit', { path: 'e.txt', old_string: '1', new_string: '2' })).success,
      true,
    );
  });

  it('refuses binary files and other encodings, byte for byte as they were', async () => {
    const bytes = Buffer.from('caf\xe9 one\n', 'latin1');
    bench.put('latin.txt', bytes);
    const called = await bench.call('edit', { path: 'latin.txt', old_string: 'one', new_string: 'x' });
    assert.match(called.text, /not valid UTF-8/);
    assert.deepEqual(readFileSync(bench.path('latin.txt')), bytes);
  });
});

describe('apply_patch', HANGS, () => {
  const patch = (...lines: readonly string[]) =>
    bench.call('apply_patch', ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'));

  it('is interrupted between its parts, and changes nothing', async () => {
    const lines = Array.from({ length: 200_000 }, (_, line) => `line ${line}\n`).join('');
    bench.put('large.txt', lines);
    const parts = Array.from({ length: 20_000 }, (_, part) => `@@\n line ${part * 10}\n+y`);
    const input = ['*** Begin Patch', '*** Update File: large.txt', ...parts, '*** End Patch'].join('\n');
    const controller = new AbortController();
    const called = bench.call('apply_patch', input, { signal: controller.signal });
    controller.abort();
    assert.deepEqual([(await called).success, content('large.txt') === lines], [false, true]);
  });

  it('adds, changes, moves and deletes at once', async () => {
    bench.put('p/change.txt', 'a\r\nb\r\n');
    bench.put('p/from.sh', 'x\n');
    chmodSync(bench.path('p/from.sh'), 0o755);
    bench.put('p/gone.txt', 'x');
    const called = await patch(
      '*** Add File: p/new/n.txt',
      '+n',
      '*** Update File: p/change.txt',
      '@@',
      '-b',
      '+B',
      '*** Update File: p/from.sh',
      '*** Move to: p/to/to.sh',
      '@@',
      '-x',
      '+y',
      '*** Delete File: p/gone.txt',
    );
    assert.equal(
      called.text,
      'Done:\nA p/new/n.txt (+1)\nM p/change.txt (+1 -1)\nR p/from.sh -> p/to/to.sh (+1 -1)\nD p/gone.txt',
    );
    assert.equal(content('p/change.txt'), 'a\r\nB\r\n');
    assert.equal(statSync(bench.path('p/to/to.sh')).mode & 0o777, 0o755);
    assert.deepEqual(
      names().filter((name) => name.startsWith('p/') || name === 'p'),
      ['p', 'p/change.txt', 'p/new', 'p/new/n.txt', 'p/to', 'p/to/to.sh'],
    );
    assert.deepEqual(
      called.changes?.map(({ action, path, to, diff }) => [action, path, to, diff.split('\n')[0]]),
      [
        ['create', 'p/new/n.txt', undefined, '--- /dev/null'],
        ['edit', 'p/change.txt', undefined, '--- a/p/change.txt'],
        ['move', 'p/from.sh', 'p/to/to.sh', '--- a/p/from.sh'],
        ['delete', 'p/gone.txt', undefined, '--- a/p/gone.txt'],
      ],
    );
  });

  it('changes nothing at all when one part does not fit', async () => {
    bench.put('q/a.txt', 'a\n');
    bench.put('q/b.txt', 'b\n');
    const namesBefore = names();
    const called = await patch(
      '*** Update File: q/a.txt',
      '@@',
      '-a',
      '+A',
      '*** Add File: q/deep/c',
      '+c',
      '*** Update File: q/b.txt',
      '@@',
      '-x',
      '+B',
    );
    assert.equal(called.success, false);
    assert.match(called.text, /^q\/b\.txt: .*Nothing was changed\.$/);
    assert.deepEqual([content('q/a.txt'), content('q/b.txt'), names()], ['a\n', 'b\n', namesBefore]);
  });

  it('takes two names of one file for a mistake', async () => {
    bench.put('q/a.txt', 'a\n');
    const called = await patch('*** Delete File: q/a.txt', '*** Add File: ./q/a.txt', '+x');
    assert.match(called.text, /are the same file/);
    assert.equal(content('q/a.txt'), 'a\n');
  });

  it('minds what another changed', async () => {
    bench.put('q/s.txt', 'a\nb\n');
    await bench.call('read', { path: 'q/s.txt' });
    bench.put('q/s.txt', 'a\nB\n');
    assert.match(
      (await patch('*** Update File: q/s.txt', '@@', '-a', '+A')).text,
      /changed since you read it/,
    );
    assert.match((await patch('*** Delete File: q/s.txt')).text, /changed since you read it/);
    assert.equal(content('q/s.txt'), 'a\nB\n');
  });
});

describe('changes on disk', HANGS, () => {
  const original = (path: string) => {
    const bytes = readFileSync(path);
    const { mode, uid, gid, mtimeMs } = statSync(path);
    return { bytes, text: bytes.toString('utf8'), owner: { mode, uid, gid }, mtimeMs };
  };
  const commit = (changes: Parameters<typeof commitChanges>[0]) =>
    commitChanges(changes, { tracker: new ReadTracker() } as unknown as ToolWorld);

  it('are taken back when one of them fails half-way', async () => {
    bench.put('c/a', 'a');
    bench.put('c/b', 'b');
    const namesBefore = names();
    const failure = await commit([
      { path: bench.path('c/a'), original: original(bench.path('c/a')), text: 'A' },
      { path: bench.path('c/new'), original: undefined, text: 'new' },
      { path: bench.path('c/b'), original: original(bench.path('c/b')), text: undefined },
      // The temporary file can be written; a name of this length cannot.
      { path: bench.path('c/deep/down', 'x'.repeat(300)), original: undefined, text: 'x' },
    ]);
    assert.match(failure ?? '', /Nothing was changed: ENAMETOOLONG/);
    assert.deepEqual([content('c/a'), content('c/b'), names()], ['a', 'b', namesBefore]);
  });

  it('are not made over what another program wrote in the meantime', async () => {
    bench.put('c/a', 'a');
    const known = original(bench.path('c/a'));
    bench.put('c/a', 'other');
    const namesBefore = names();
    assert.match(
      (await commit([{ path: bench.path('c/a'), original: known, text: 'A' }])) ?? '',
      /in the meantime/,
    );
    assert.match(
      (await commit([{ path: bench.path('c/a'), original: undefined, text: 'A' }])) ?? '',
      /in the meantime/,
    );
    assert.deepEqual([content('c/a'), names()], ['other', namesBefore]);
  });
});

function patchOf(body: string): string {
  return `*** Begin Patch\n${body}\n*** End Patch`;
}

describe("Baton's own folder in a workspace", () => {
  const CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
    ['write', { path: 'own/hooks.toml', content: 'evil' }],
    ['write', { path: 'link/config.toml', content: 'evil' }],
    ['edit', { path: 'own/config.toml', old_string: 'a', new_string: 'evil' }],
    ['apply_patch', { input: patchOf('*** Add File: own/sub/new\n+evil') }],
    ['apply_patch', { input: patchOf('*** Update File: free.txt\n*** Move to: own/x\n@@\n-a\n+evil') }],
    ['apply_patch', { input: patchOf('*** Delete File: own/config.toml') }],
  ];

  it('is changed by no edit, because it says what runs outside of the sandbox', async () => {
    const made = await ToolBench.open({ files: { 'own/config.toml': 'a\n', 'free.txt': 'a\n' } });
    symlinkSync('own', made.path('link'));
    const opened = await made.reopen({}, made.root, [], made.path('own'));
    for (const path of ['own/config.toml', 'free.txt']) await opened.call('read', { path });
    for (const [tool, args] of CALLS) {
      const called = await opened.call(tool, args);
      assert.match(called.text, /belongs to Baton/, JSON.stringify(args));
    }
    assert.deepEqual(readdirSync(made.path('own')), ['config.toml']);
    assert.equal(readFileSync(made.path('own/config.toml'), 'utf8'), 'a\n');
    const within = await made.reopen({}, made.path('own'), [], made.path('own'));
    assert.match((await within.call('write', { path: 'x', content: '' })).text, /belongs to Baton/);
    for (const one of [made, opened]) one.close();
  });
});
