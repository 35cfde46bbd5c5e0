import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openToRead, readSmallFile, readWhole } from './planted.io.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-files-')));
after(() => rmSync(root, { recursive: true }));
const inside = join(root, 'project');
mkdirSync(inside);
const at = (name: string) => join(inside, name);
const POSIX = process.platform === 'win32' && 'no named pipes';

writeFileSync(join(root, 'secret'), 'the secret');
writeFileSync(at('plain'), 'text');
writeFileSync(at('sparse'), '');
truncateSync(at('sparse'), 1024 ** 3);

const follow = { maxBytes: 8, links: 'follow' } as const;

test('a regular file is read up to its limit, and one byte more is refused', () => {
  assert.deepEqual(readSmallFile(at('plain'), follow), { kind: 'bytes', bytes: Buffer.from('text') });
  assert.equal(readSmallFile(at('plain'), { maxBytes: 4, links: 'refuse' }).kind, 'bytes');
  assert.deepEqual(readSmallFile(at('plain'), { maxBytes: 3, links: 'refuse' }), {
    kind: 'refused',
    problem: 'is larger than 3 bytes',
  });
  assert.deepEqual(readSmallFile(at('gone'), follow), { kind: 'missing' });
  assert.deepEqual(readSmallFile(at('plain/below'), follow), { kind: 'missing' });
});

test('what is not a regular file is refused at once, through a link as well', { skip: POSIX }, async () => {
  execFileSync('mkfifo', [at('pipe')]);
  const server = createServer().listen(at('socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  const traps = [
    ['pipe', 'is a named pipe'],
    ['socket', 'is a socket'],
    ['/dev/zero', 'is a device'],
    ['/dev/tty', 'is a device'],
    ['.', 'is a directory'],
    ['sparse', 'is larger than 1 MiB'],
  ] as const;
  for (const [name, problem] of traps) {
    const path = name.startsWith('/') ? name : at(name);
    const link = at(`link-${name.replaceAll('/', '-')}`);
    symlinkSync(path, link);
    const begun = performance.now();
    for (const each of [path, link]) {
      const read = readSmallFile(each, { maxBytes: 1024 ** 2, links: 'follow' });
      assert.deepEqual(read, { kind: 'refused', problem }, each);
    }
    assert.equal(readSmallFile(link, { maxBytes: 8, links: 'refuse' }).kind, 'refused');
    assert.ok(performance.now() - begun < 1000, name);
  }
  server.close();
});

test(
  'a size is not believed: files of /proc claim to hold nothing',
  { skip: process.platform !== 'linux' },
  async () => {
    assert.equal(readSmallFile('/proc/self/status', { maxBytes: 1024 ** 2, links: 'follow' }).kind, 'bytes');
    const read = readSmallFile('/proc/self/status', { maxBytes: 10, links: 'follow' });
    assert.deepEqual(read, { kind: 'refused', problem: 'is larger than 10 bytes' });
    const handle = await openToRead('/proc/self/status', 'follow');
    assert.equal(await readWhole(handle, 10), undefined);
    assert.ok(((await readWhole(handle, 1024 ** 2))?.length ?? 0) > 10);
    await handle.close();
  },
);

test('links: followed, refused, or kept within a directory', () => {
  symlinkSync('plain', at('near'));
  symlinkSync(join(root, 'secret'), at('far'));
  symlinkSync('turn', at('turn'));
  symlinkSync(root, at('up'));
  const within = { maxBytes: 1024, links: { within: inside } } as const;
  assert.equal(readSmallFile(at('near'), within).kind, 'bytes');
  assert.equal(readSmallFile(at('far'), { ...follow, maxBytes: 1024 }).kind, 'bytes');
  for (const path of [at('far'), at('up/secret')]) {
    assert.deepEqual(readSmallFile(path, within), {
      kind: 'refused',
      problem: 'is a symbolic link that leads out of the project',
    });
  }
  assert.deepEqual(readSmallFile(at('near'), { maxBytes: 9, links: 'refuse' }), {
    kind: 'refused',
    problem: 'is a symbolic link, which Baton does not follow',
  });
  const turning = readSmallFile(at('turn'), follow);
  assert.match(turning.kind === 'refused' ? turning.problem : '', /^is a symbolic link to itself$/);
  linkSync(at('plain'), at('hard'));
  assert.equal(readSmallFile(at('hard'), within).kind, 'bytes');
});
