// A workspace on a real disk: what is in it, and every way out of it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BatonError } from '../errors.ts';
import { locate, openWorkspace, resolveRoot } from './workspace.io.ts';

const HANGS = { timeout: 15_000 };

let parent = '';
let root = '';
before(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), 'baton-workspace-')));
  root = join(parent, 'root');
  mkdirSync(join(root, 'dir'), { recursive: true });
  mkdirSync(join(parent, 'rooted'));
  writeFileSync(join(parent, 'rooted/secret'), 'x');
  writeFileSync(join(root, 'file'), 'text');
  writeFileSync(join(root, '..hidden'), 'text');
  symlinkSync('file', join(root, 'alias'));
  symlinkSync('../rooted', join(root, 'escape'));
  symlinkSync('../nothing', join(root, 'dangling'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('dir', join(root, 'dir-alias'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});
after(() => rmSync(parent, { recursive: true, force: true }));

describe('a path', HANGS, () => {
  const rows: readonly (readonly [path: string, expected: string])[] = [
    ['file', 'file file'],
    ['./dir/../file', 'file file'],
    ['alias', 'file file'],
    ['..hidden', 'file ..hidden'],
    ['.', 'directory '],
    ['dir-alias', 'directory dir'],
    ['new', 'free new'],
    ['new/deep/er', 'free new/deep/er'],
    ['dir-alias/new', 'free dir/new'],
    ['', 'directory '],
    ['d/'.repeat(50_000), 'refused'],
    ['..', 'refused'],
    ['../rooted/secret', 'refused'],
    ['escape', 'refused'],
    ['escape/secret', 'refused'],
    ['escape/new', 'refused'],
    ['dangling', 'refused'],
    ['dangling/new', 'refused'],
    ['loop', 'refused'],
    ['pipe', 'refused'],
    ['file/below', 'refused'],
    ['a\0b', 'refused'],
    ['x'.repeat(5000), 'refused'],
    ['/', 'refused'],
    ['/dev/null', 'refused'],
  ];
  for (const [path, expected] of rows) {
    it(`${JSON.stringify(path.slice(0, 40))} is ${expected}`, async () => {
      const place = await locate(path, root);
      const where = 'path' in place ? ` ${place.path.slice(root.length + 1)}` : '';
      assert.equal(`${place.kind}${where}`, expected);
    });
  }

  it('may be given whole, and as it was on another machine', async () => {
    assert.equal((await locate(join(root, 'file'), root)).kind, 'file');
    assert.equal(
      (await locate(join(parent, 'rooted/secret'), root)).kind,
      'refused',
      'a name that begins the same',
    );
    const files = await openWorkspace(root, '/home/somebody/project');
    assert.deepEqual(await files.read('/home/somebody/project/file'), { kind: 'text', text: 'text' });
    assert.equal((await files.read('/home/somebody/other/file')).kind, 'refused');
  });
});

describe('a file that is restored', HANGS, () => {
  it('is never a pipe, which would hold everything up', async () => {
    const files = await openWorkspace(root, undefined);
    assert.equal((await files.read('pipe')).kind, 'refused');
    assert.equal((await files.read('missing')).kind, 'gone');
    assert.equal((await files.read('dir')).kind, 'refused');
  });
});

it('a workspace that does not exist is a failure with a cure', async () => {
  await assert.rejects(resolveRoot(join(parent, 'nowhere')), (error) => {
    assert.ok(error instanceof BatonError, 'ours');
    assert.equal(error.code, 'file_not_found');
    assert.notEqual(error.cure, '');
    return true;
  });
});
