import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { BatonError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { openSource, tailOf } from './source.io.ts';
import type { ByteSource } from './source.io.ts';
import { NO_PERMISSIONS, withoutPrivileges } from '../../test/support/unprivileged.ts';

const MEGABYTE = 1024 * 1024;

const root = mkdtempSync(join(tmpdir(), 'source-test-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Where standard input is spooled to: `os.tmpdir` looks here. */
const spoolFolder = join(root, 'spool');
mkdirSync(spoolFolder);
process.env['TMPDIR'] = spoolFolder;

let path = '';
let made = 0;
beforeEach(() => (path = join(root, `session-${made++}.jsonl`)));

async function* noInput(): AsyncGenerator<Buffer> {}

async function* input(...chunks: readonly (string | Error)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    if (typeof chunk !== 'string') throw chunk;
    yield Buffer.from(chunk);
  }
}

async function readAll(source: ByteSource, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.chunks(signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function isFailure(code: ErrorCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof BatonError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    if (code !== 'interrupted') assert.notEqual(error.cure, '');
    return true;
  };
}

test('a file gives its bytes, as often as asked for', async () => {
  const text = 'x'.repeat(MEGABYTE) + 'y'.repeat(10);
  writeFileSync(path, text);
  const source = await openSource(path, noInput());
  assert.deepEqual([source.name, source.size], [path, text.length]);
  assert.equal(await readAll(source), text);
  assert.equal(await readAll(source), text);
  assert.equal(await source.hasGrown(), false);
  await source.close();
});

test('what is no session file is refused with its name and a cure', async () => {
  await assert.rejects(
    openSource(join(root, 'nowhere'), noInput()),
    isFailure('file_not_found', /nowhere does not exist$/),
  );
  writeFileSync(path, '');
  await assert.rejects(openSource(path, noInput()), isFailure('file_empty', /is empty$/));
  await assert.rejects(
    openSource(join(path, 'below'), noInput()),
    isFailure('file_not_found', /does not exist$/),
  );
  await assert.rejects(openSource(root, noInput()), isFailure('not_a_file', /is a directory$/));
});

test(
  'a named pipe without a writer is refused at once',
  { skip: process.platform === 'win32' && 'no named pipes' },
  async () => {
    execFileSync('mkfifo', [path]);
    await assert.rejects(openSource(path, noInput()), isFailure('not_a_file', /is a named pipe$/));
  },
);

test('a file without permission is refused', { skip: NO_PERMISSIONS }, async () => {
  writeFileSync(path, 'x');
  chmodSync(path, 0o000);
  await withoutPrivileges(root, () =>
    assert.rejects(openSource(path, noInput()), isFailure('file_unreadable', /cannot be read \(EACCES\)$/)),
  );
});

test('a file that cannot be opened for another reason is refused with the reason', async () => {
  await assert.rejects(
    openSource(join(root, 'n'.repeat(300)), noInput()),
    isFailure('file_unreadable', /ENAMETOOLONG/),
  );
});

test('a writer that appends meanwhile changes nothing of what is read, in any pass', async () => {
  const text = 'a'.repeat(3 * MEGABYTE);
  writeFileSync(path, text);
  const source = await openSource(path, noInput());
  let first = '';
  for await (const chunk of source.chunks()) {
    first += chunk.toString();
    appendFileSync(path, 'appended');
  }
  assert.ok(first === text);
  assert.ok((await readAll(source)) === text);
  assert.equal(await source.hasGrown(), true);
  await source.close();
});

test('a file that gets shorter meanwhile is reported, between two chunks and between two passes', async () => {
  writeFileSync(path, 'a'.repeat(3 * MEGABYTE));
  const source = await openSource(path, noInput());
  const changed = isFailure('file_changed', /became shorter while Baton was reading it$/);
  const truncating = async () => {
    for await (const _ of source.chunks()) truncateSync(path, MEGABYTE + 1);
  };
  await assert.rejects(truncating(), changed);
  await assert.rejects(readAll(source), changed);
  await source.close();
});

test('a signal ends reading before the next chunk', async () => {
  writeFileSync(path, 'a'.repeat(3 * MEGABYTE));
  const source = await openSource(path, noInput());
  const controller = new AbortController();
  let chunks = 0;
  const reading = async () => {
    for await (const _ of source.chunks(controller.signal)) {
      chunks++;
      controller.abort();
    }
  };
  await assert.rejects(reading(), isFailure('interrupted', /^Interrupted$/));
  assert.equal(chunks, 1);
  await source.close();
});

test('standard input is read through a private file that goes when the source is closed', async () => {
  const source = await openSource('-', input('one\n', 'x'.repeat(MEGABYTE), '\ntwo'));
  assert.equal(source.name, 'standard input');
  assert.equal(source.size, MEGABYTE + 8);
  assert.equal(readdirSync(spoolFolder).length, 1);
  assert.equal((await readAll(source)).slice(-5), 'x\ntwo');
  assert.equal((await readAll(source)).slice(0, 5), 'one\nx');
  await source.close();
  assert.deepEqual(readdirSync(spoolFolder), []);
});

test('standard input that is empty or fails leaves nothing behind', async () => {
  await assert.rejects(openSource('-', noInput()), isFailure('file_empty', /^standard input is empty$/));
  assert.deepEqual(readdirSync(spoolFolder), []);
  await assert.rejects(openSource('-', input('one', new Error('broken pipe'))), /broken pipe/);
  assert.deepEqual(readdirSync(spoolFolder), []);
});

test('the tail of a source begins with its first whole line', async () => {
  const lines = Array.from({ length: 300_000 }, (_, index) => `${index}\n`);
  writeFileSync(path, lines.join(''));
  const source = await openSource(path, noInput());
  for (const bytes of [1, 8, 100, MEGABYTE + 3]) {
    const whole = lines.join('').slice(-bytes);
    assert.ok(
      (await readAll(tailOf(source, bytes))) === whole.slice(whole.indexOf('\n') + 1),
      `${bytes} bytes`,
    );
  }
  assert.equal(tailOf(source, source.size), source);
  await source.close();
});

test('a stream that never ends is given up at its limit', async () => {
  const endless = (async function* () {
    for (;;) yield Buffer.alloc(1024);
  })();
  await assert.rejects(
    openSource('-', endless, undefined, 5000),
    isFailure('file_unreadable', /^standard input contains more than 5000 bytes$/),
  );
  assert.deepEqual(readdirSync(spoolFolder), []);
});
