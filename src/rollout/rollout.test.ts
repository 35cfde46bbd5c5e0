import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { loadSession } from '../formats/session-file.io.ts';
import { openSource } from '../formats/source.io.ts';
import type { LogRecord } from '../protocol/record.ts';
import { head as codexHead } from '../../test/support/codex-lines.ts';
import { agentSays, toolCall, userSays } from '../../test/support/records.ts';
import { interceptedFiles, rolloutWorld, systemError, temporaryHome } from '../../test/support/rollouts.ts';
import type { Call } from '../../test/support/rollouts.ts';
import { createRollout, forkRollout, openRollout } from './rollout.io.ts';
import type { Rollout } from './rollout.io.ts';
import { findRollouts } from './read.io.ts';

const HEAD = { cwd: '/home/dev/gate', producerVersion: '0.1.0', instructions: 'Be useful.' };
const FIRST = '01a00000-0000-7000-8000-000000000001';
const SECOND = '01a00000-0000-7000-8000-000000000002';

function says(text: string): LogRecord {
  return { type: 'item', item: userSays(text) };
}

function compacted(id: string, text: string): LogRecord {
  return { type: 'compacted', id, replacement: [userSays(text)], trigger: 'manual', summary: text };
}

/** Texts of a history, one word for each item. */
function texts(rollout: Rollout): string[] {
  return rollout.history.map(({ value }) => {
    if (value.type === 'message')
      return value.content.map((part) => ('text' in part ? part.text : '')).join();
    return 'output' in value ? `${value.call_id}:${String(value.output)}` : value.type;
  });
}

/** A thread with a compaction, a clearing, and an undo that was followed by more. */
async function story(rollout: Rollout): Promise<void> {
  await rollout.append([{ type: 'settings', model: 'm', usableWindow: 1000 }, says('one')]);
  await rollout.append(
    toolCall('c1', 'shell', { cmd: 'ls' }, 'hinge').map((item): LogRecord => ({ type: 'item', item })),
  );
  await rollout.append([compacted('w1', 'summary 1'), says('two')]);
  await rollout.append([compacted('w2', 'summary 2')]);
  await rollout.append([says('three')]);
  await rollout.undo();
  await rollout.append([{ type: 'turn_complete', turnId: 't1' }]);
}

async function lockFiles(home: string): Promise<string[]> {
  return (await readdir(home, { recursive: true })).filter((name) => name.includes('.lock'));
}

test('a thread lies where Codex would put it, for its owner alone, once something is recorded', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  assert.equal(rollout.path, join(home, `sessions/2026/01/02/rollout-2026-01-02T03-04-05-${FIRST}.jsonl`));
  assert.equal(rollout.threadId, FIRST);
  await assert.rejects(stat(rollout.path), { code: 'ENOENT' });
  assert.equal(await rollout.append([says('one')]), 2);
  assert.equal((await stat(rollout.path)).mode & 0o777, 0o600);
  assert.equal((await stat(dirname(rollout.path))).mode & 0o777, 0o700);
  assert.equal((await stat(join(home, 'sessions'))).mode & 0o777, 0o700);
  await rollout.close();
  assert.deepEqual(await lockFiles(home), []);
  await assert.rejects(rollout.append([says('two')]), RangeError);
});

test('a thread of which nothing is recorded leaves nothing', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await rollout.append([]);
  await rollout.close();
  await rollout.close();
  assert.deepEqual(
    (await readdir(home, { recursive: true })).filter((name) => name.includes('rollout')),
    [],
  );
});

test('a thread that is opened again is what it was', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  const first = await createRollout(home, HEAD, world);
  await story(first);
  const before = { history: first.history, compactions: first.compactions };
  await first.close();

  const seen: string[] = [];
  const opened = await openRollout(home, FIRST, world, ({ type }) => seen.push(type));
  t.after(() => opened.rollout.close());
  assert.deepEqual(opened.damage, []);
  assert.deepEqual(opened.rollout.history, before.history);
  assert.deepEqual(opened.rollout.compactions, before.compactions);
  assert.deepEqual(texts(opened.rollout), ['summary 1', 'two', 'three']);
  assert.deepEqual(
    seen.filter((type) => type !== 'opaque').join(' '),
    'session_meta settings item item item compacted item compacted item undo_compaction turn_complete',
  );
  // The past of the first compaction was dropped from memory when the second came.
  assert.equal(await opened.rollout.undo(), 'w1');
  assert.deepEqual(texts(opened.rollout), ['one', 'function_call', 'c1:hinge', 'two', 'three']);
  await assert.rejects(opened.rollout.undo(), { code: 'nothing_to_undo' });
});

test('several compactions are taken back one after the other, live as after a restart', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  let rollout = await createRollout(home, HEAD, world);
  for (let n = 1; n <= 7; n++) await rollout.append([says(`word ${n}`), compacted(`w${n}`, `summary ${n}`)]);
  for (let n = 7; n >= 1; n--) {
    assert.equal(await rollout.undo(), `w${n}`);
    const expected = n === 1 ? ['word 1'] : [`summary ${n - 1}`, `word ${n}`];
    const later = Array.from({ length: 7 - n }, (_, more) => `word ${n + more + 1}`);
    assert.deepEqual(texts(rollout).slice(0, 2), expected.concat(later).slice(0, 2));
    const { history } = rollout;
    if (n % 3 === 0) {
      await rollout.close();
      rollout = (await openRollout(home, 'last', world)).rollout;
      assert.deepEqual(rollout.history, history);
    }
  }
  await rollout.close();
});

test('a clearing is a record, and what Codex would read has it as well', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await rollout.append([
    says('one'),
    ...toolCall('c1', 'shell', {}, 'a long text').map((item): LogRecord => ({ type: 'item', item })),
  ]);
  const micro: LogRecord = { type: 'micro_compacted', id: 'm1', callIds: ['c1'] };
  await assert.rejects(rollout.append([micro, says('two')]), RangeError);
  await rollout.append([micro]);
  assert.deepEqual(texts(rollout), ['one', 'function_call', 'c1:[Old tool result content cleared]']);
  await rollout.close();
  const lines = (await readFile(rollout.path, 'utf8')).trimEnd().split('\n');
  assert.equal(lines.filter((line) => line.includes('a long text')).length, 1);
  assert.match(lines.at(-2) ?? '', /"replacement_history":.*\[Old tool result content cleared\]/);
});

test('what is appended together is written together, in order', async (t) => {
  const home = await temporaryHome(t);
  const writes: number[] = [];
  const files = interceptedFiles((call, perform) => {
    if (call.name === 'write' && call.path.endsWith('.jsonl')) writes.push(call.bytes?.length ?? 0);
    return perform();
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  const names = Array.from({ length: 20 }, (_, index) => `word ${index}`);
  const lines = await Promise.all(names.map((name) => rollout.append([says(name)])));
  assert.equal(writes.length, 1);
  assert.deepEqual(
    lines,
    names.map((_, index) => index + 2),
  );
  assert.deepEqual(texts(rollout), names);
  // Each has to know what the one before left.
  await Promise.all([rollout.append([compacted('w', 's')]), rollout.append([says('x')]), rollout.undo()]);
  assert.deepEqual(texts(rollout), [...names, 'x']);
  await rollout.close();
  await assertReadsAs(home, [...names, 'x']);
});

async function assertReadsAs(home: string, expected: readonly string[]): Promise<void> {
  const { rollout, damage } = await openRollout(home, FIRST, rolloutWorld());
  await rollout.close();
  assert.deepEqual(damage, []);
  assert.deepEqual(texts(rollout), expected);
}

test('only the ends of turns and compactions wait for the disk', async (t) => {
  const home = await temporaryHome(t);
  const calls: Call[] = [];
  const files = interceptedFiles((call, perform) => {
    calls.push(call);
    return perform();
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  const synced = async (record: LogRecord): Promise<string[]> => {
    calls.length = 0;
    await rollout.append([record]);
    return calls
      .filter(({ name }) => name.endsWith('sync'))
      .map(({ name, path }) => `${name} ${path.slice(home.length)}`);
  };
  assert.deepEqual(await synced(says('one')), []);
  const file = rollout.path.slice(home.length);
  const folders = ['/sessions/2026/01/02', '/sessions/2026/01', '/sessions/2026', '/sessions', ''];
  // The file and its folders are synced at once, in any order.
  const first = [`datasync ${file}`, ...folders.map((folder) => `sync ${folder}`)];
  assert.deepEqual((await synced({ type: 'turn_complete' })).toSorted(), first.toSorted());
  assert.deepEqual(await synced({ type: 'note', kind: 'queue', value: {} }), []);
  assert.deepEqual(await synced(compacted('w', 's')), [`datasync ${file}`]);
  assert.deepEqual(await synced({ type: 'turn_aborted' }), [`datasync ${file}`]);
  await rollout.close();
});

test('short writes are gone on with', async (t) => {
  const home = await temporaryHome(t);
  const files = interceptedFiles((call, perform) =>
    call.name === 'write' && call.path.endsWith('.jsonl') ? perform(call.bytes?.subarray(0, 7)) : perform(),
  );
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  await Promise.all([rollout.append([says('one')]), rollout.append([says('zwölf')])]);
  await rollout.close();
  await assertReadsAs(home, ['one', 'zwölf']);
});

test('a full disk is told, nothing of the batch is kept, and the thread goes on when there is room', async (t) => {
  const home = await temporaryHome(t);
  let room = Infinity;
  const files = interceptedFiles(async (call, perform) => {
    if (call.name !== 'write' || !call.path.endsWith('.jsonl')) return perform();
    const length = call.bytes?.length ?? 0;
    if (room === 0) throw systemError('ENOSPC');
    const part = Math.min(room, length);
    room -= part;
    return perform(call.bytes?.subarray(0, part));
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  await rollout.append([says('one')]);
  const whole = await readFile(rollout.path);
  for (const left of [0, 1, 150, 300]) {
    room = left;
    const [first, second] = await Promise.allSettled([
      rollout.append([says('lost')]),
      rollout.append([compacted('w', 'lost')]),
    ]);
    for (const outcome of [first, second]) {
      assert.equal(outcome.status, 'rejected');
      const { code, message, data } = outcome.reason as { code: string; message: string; data: object };
      assert.equal(code, 'output_failed');
      assert.match(message, /the disk is full/);
      assert.deepEqual(data, { isBroken: false, code: 'ENOSPC' });
    }
    assert.deepEqual(await readFile(rollout.path), whole);
    assert.deepEqual(texts(rollout), ['one']);
  }
  room = Infinity;
  await rollout.append([says('two')]);
  await rollout.close();
  await assertReadsAs(home, ['one', 'two']);
});

test('a thread whose first write fails leaves nothing', async (t) => {
  const home = await temporaryHome(t);
  const files = interceptedFiles(async (call, perform) => {
    if (call.name === 'write' && call.path.endsWith('.jsonl')) throw systemError('ENOSPC');
    return perform();
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  await assert.rejects(rollout.append([says('one')]), { code: 'output_failed' });
  await rollout.close();
  assert.deepEqual(await findRollouts(home), []);
  await assert.rejects(stat(rollout.path), { code: 'ENOENT' });
});

test('where a write can neither be finished nor taken back, nothing more is written', async (t) => {
  const home = await temporaryHome(t);
  let fails = false;
  const files = interceptedFiles(async (call, perform) => {
    if (!fails) return perform();
    if (call.name === 'write') {
      fails = call.bytes?.length === 0;
      await perform(call.bytes?.subarray(0, 40));
      fails = true;
      throw systemError('EIO');
    }
    if (call.name === 'truncate') throw systemError('EIO');
    return perform();
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  await rollout.append([says('one')]);
  fails = true;
  const broken = { code: 'output_failed', data: { isBroken: true, code: 'EIO' } };
  await assert.rejects(rollout.append([says('two')]), broken);
  fails = false;
  await assert.rejects(rollout.append([says('three')]), broken);
  assert.deepEqual(texts(rollout), ['one']);
  await rollout.close();
  const again = await openRollout(home, FIRST, rolloutWorld());
  assert.deepEqual(
    again.damage.map(({ kind, lost }) => ({ kind, lost })),
    [{ kind: 'torn_last_line', lost: true }],
  );
  await again.rollout.append([says('two')]);
  await again.rollout.close();
  await assertReadsAs(home, ['one', 'two']);
});

test('a disk that loses what it was given is not trusted again', async (t) => {
  const home = await temporaryHome(t);
  let fails = true;
  const files = interceptedFiles(async (call, perform) => {
    if (call.name === 'datasync' && call.path.endsWith('.jsonl') && fails) throw systemError('EIO');
    return perform();
  });
  const rollout = await createRollout(home, HEAD, rolloutWorld({ files }));
  await rollout.append([says('one')]);
  await assert.rejects(rollout.append([compacted('w', 'summary')]), {
    data: { isBroken: true, code: 'EIO' },
  });
  fails = false;
  await assert.rejects(rollout.append([says('two')]), { code: 'output_failed' });
  await rollout.close();
  await assertReadsAs(home, ['one']);
});

test('a file that somebody else changes or removes is told, and not written to', async (t) => {
  for (const change of ['append', 'remove'] as const) {
    const home = await temporaryHome(t);
    const rollout = await createRollout(home, HEAD, rolloutWorld());
    await rollout.append([says('one')]);
    if (change === 'append') await appendFile(rollout.path, '{"not":"ours"}\n');
    else await rm(rollout.path);
    await assert.rejects(rollout.append([says('two')]), { code: 'file_changed' });
    await assert.rejects(rollout.append([says('three')]), { code: 'file_changed' });
    if (change === 'append') assert.match(await readFile(rollout.path, 'utf8'), /\{"not":"ours"\}\n$/);
    await rollout.close();
  }
});

test('a record that could never be read again is refused alone', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  let deep: object = {};
  for (let level = 0; level < 600; level++) deep = { deep };
  const results = await Promise.allSettled([
    rollout.append([says('one')]),
    rollout.append([says('x'), { type: 'note', kind: 'deep', value: deep as Record<string, string> }]),
    rollout.append([{ type: 'undo_compaction', compactionId: 'unknown' }]),
    rollout.append([says('two')]),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  await rollout.close();
  await assertReadsAs(home, ['one', 'two']);
});

/** What may stand behind the last line, and what becomes of it. */
const TAILS: readonly (readonly [name: string, tail: string | Buffer, texts: readonly string[]])[] = [
  ['nothing', '', ['one']],
  ['a part of a line', '{"timestamp":"2026', ['one']],
  ['a part that ends within a character', Buffer.from('{"timestamp":"ü').subarray(0, -1), ['one']],
  ['a line without its end', LINE('two'), ['one', 'two']],
  ['a line with half of a CRLF', `${LINE('two')}\r`, ['one', 'two']],
  ['zeros', '\0'.repeat(5000), ['one']],
  ['a line, then zeros', `${LINE('two')}\0\0\0`, ['one', 'two']],
  ['a part, then zeros', '{"timesta\0\0\0\0', ['one']],
  ['a long part', `{"timestamp":"${'x'.repeat(300_000)}`, ['one']],
  ['blanks', '  \t', ['one']],
];

function LINE(text: string): string {
  return JSON.stringify({
    timestamp: '2026-01-02T03:04:05.000Z',
    type: 'response_item',
    payload: userSays(text),
  });
}

for (const [name, tail, expected] of TAILS) {
  test(`the end of a file is made whole: ${name}`, async (t) => {
    const home = await temporaryHome(t);
    const rollout = await createRollout(home, HEAD, rolloutWorld());
    await rollout.append([says('one')]);
    await rollout.close();
    const before = await readFile(rollout.path);
    await appendFile(rollout.path, tail);
    const opened = await openRollout(home, FIRST, rolloutWorld());
    assert.deepEqual(texts(opened.rollout), expected);
    assert.equal(opened.damage.length, tail.length === 0 ? 0 : 1);
    await opened.rollout.append([says('more')]);
    await opened.rollout.close();
    await assertReadsAs(home, [...expected, 'more']);
    assert.ok(
      (await readFile(rollout.path)).subarray(0, before.length).equals(before),
      'whole lines changed',
    );
  });
}

test('lines that an editor gave other ends, and zeros between lines, are read past', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await rollout.append([says('one'), says('two')]);
  await rollout.close();
  const text = await readFile(rollout.path, 'utf8');
  await writeFile(rollout.path, `${text.replaceAll('\n', '\r\n')}\0\0\0\0${LINE('three')}\r\nno JSON\r\n`);
  const opened = await openRollout(home, FIRST, rolloutWorld());
  assert.deepEqual(texts(opened.rollout), ['one', 'two', 'three']);
  assert.deepEqual(
    opened.damage.map(({ kind, line }) => ({ kind, line })),
    [
      { kind: 'nul_bytes', line: 4 },
      { kind: 'malformed_json', line: 5 },
    ],
  );
  await opened.rollout.append([says('four')]);
  assert.deepEqual(texts(opened.rollout), ['one', 'two', 'three', 'four']);
  await opened.rollout.close();
});

test('a clock that jumps changes no order and loses no thread', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  const rollout = await createRollout(home, HEAD, world);
  for (const [index, jump] of [0, 86_400_000, -2 * 86_400_000, -40 * 365 * 86_400_000].entries()) {
    world.clock.nowMs += jump;
    await rollout.append([says(`word ${index}`)]);
  }
  await rollout.close();
  await assertReadsAs(home, ['word 0', 'word 1', 'word 2', 'word 3']);
  const second = await createRollout(home, HEAD, world);
  await second.append([says('later by file, earlier by clock')]);
  await second.close();
  const [first] = await findRollouts(home);
  assert.equal(first?.threadId, SECOND);
});

test('a thread is found by its id, by its path, or as the last one', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  for (const word of ['one', 'two']) {
    const rollout = await createRollout(home, HEAD, world);
    await rollout.append([says(word)]);
    await rollout.close();
    await utimes(
      rollout.path,
      word === 'one' ? 2_000_000 : 1_000_000,
      word === 'one' ? 2_000_000 : 1_000_000,
    );
  }
  const open = async (which: string): Promise<string[]> => {
    const { rollout } = await openRollout(home, which, world);
    await rollout.close();
    return texts(rollout);
  };
  assert.deepEqual(await open('last'), ['one']);
  assert.deepEqual(await open(SECOND), ['two']);
  const [, older] = await findRollouts(home);
  assert.deepEqual(await open(older?.path ?? ''), ['two']);
  // A thread that died before its first line never began.
  await writeFile(
    join(dirname(older?.path ?? ''), `rollout-x-${FIRST.replace(/1$/, '9')}.jsonl`),
    '{"timest',
  );
  assert.deepEqual(await open('last'), ['one']);
  await assert.rejects(openRollout(home, FIRST.replace(/1$/, '7'), world), { code: 'file_not_found' });
  await assert.rejects(openRollout(home, join(home, 'none.jsonl'), world), { code: 'file_not_found' });
  await assert.rejects(openRollout(join(home, 'none'), 'last', world), { code: 'file_not_found' });
});

test('a pipe that was put in the place of a thread is not waited for', { timeout: 20_000 }, async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await rollout.append([says('one')]);
  await rollout.close();
  const files = interceptedFiles(async ({ name, path }, perform) => {
    if (name === 'open' && path === rollout.path) {
      await rm(path);
      execFileSync('mkfifo', [path]);
    }
    return perform();
  });
  await assert.rejects(openRollout(home, rollout.threadId, { ...rolloutWorld(), files }), {
    code: 'output_failed',
    message: /is a named pipe/,
  });
  assert.deepEqual(
    (await readdir(dirname(rollout.path))).filter((name) => name.includes('.lock')),
    [],
  );
});

test('a file that is no thread of this Baton is left as it is', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await rollout.append([says('one')]);
  await rollout.close();
  const own = await readFile(rollout.path, 'utf8');
  const contents = [
    `${JSON.stringify(codexHead('0.169').lines[0])}\n`,
    own.replace('"version":1', '"version":2'),
    'no JSON\n',
    '',
  ];
  for (const content of contents) {
    const path = join(home, 'other.jsonl');
    await writeFile(path, content);
    await assert.rejects(openRollout(home, path, rolloutWorld()), /BatonError/);
    assert.equal(await readFile(path, 'utf8'), content);
    assert.deepEqual(await lockFiles(home), []);
  }
});

test('a fork goes on from its place, whatever becomes of the thread that it continues', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  const parent = await createRollout(home, HEAD, world);
  await parent.append([says('one')]);
  const line = await parent.append([compacted('w1', 'summary 1'), says('two')]);
  await parent.append([says('three')]);

  // The parent is open all the while.
  const inherited: string[] = [];
  const early = await forkRollout(
    home,
    FIRST,
    { behindLine: line, head: { cwd: '/elsewhere' }, emit: ({ type }) => inherited.push(type) },
    world,
  );
  const late = await forkRollout(home, FIRST, {}, world);
  await parent.append([says('parent')]);
  await early.rollout.append([says('early')]);
  await late.rollout.append([says('late')]);
  assert.deepEqual(texts(parent), ['summary 1', 'two', 'three', 'parent']);
  assert.deepEqual(texts(early.rollout), ['summary 1', 'two', 'early']);
  assert.deepEqual(texts(late.rollout), ['summary 1', 'two', 'three', 'late']);
  assert.deepEqual(
    inherited.filter((type) => type !== 'opaque'),
    ['session_meta', 'item', 'compacted', 'item'],
  );
  await parent.close();

  // A fork of a fork, and an undo of what was compacted before the first of them.
  const again = await forkRollout(home, early.rollout.threadId, {}, world);
  await again.rollout.append([says('again')]);
  assert.equal(await again.rollout.undo(), 'w1');
  assert.deepEqual(texts(again.rollout), ['one', 'two', 'early', 'again']);
  const within = await forkRollout(home, again.rollout.threadId, { behindLine: 4 }, world);
  assert.deepEqual(texts(within.rollout), ['one']);
  for (const { rollout } of [early, late, again, within]) {
    const { history, compactions, threadId } = rollout;
    await rollout.append([{ type: 'turn_complete' }]);
    await rollout.close();
    const seen: LogRecord[] = [];
    const opened = await openRollout(home, threadId, world, (record) => seen.push(record));
    await opened.rollout.close();
    assert.deepEqual(opened.rollout.history, history);
    assert.deepEqual(opened.rollout.compactions, compactions);
    assert.deepEqual(opened.damage, []);
    const heads = seen.flatMap((record) => (record.type === 'session_meta' ? [record] : []));
    assert.deepEqual(
      heads.map(({ sessionId, instructions }) => ({ sessionId, instructions })),
      [{ sessionId: threadId, instructions: 'Be useful.' }],
    );
  }
  await assert.rejects(forkRollout(home, FIRST, { behindLine: 99 }, world), RangeError);
  // Behind the head of a fork alone there is no place: all that it inherits comes next.
  const head = forkRollout(home, again.rollout.threadId, { behindLine: 1 }, world);
  await assert.rejects(head, RangeError);
});

test('a fork that cannot be read is explained', async (t) => {
  const home = await temporaryHome(t);
  const world = rolloutWorld();
  const parent = await createRollout(home, HEAD, world);
  await parent.append([says('one'), says('two')]);
  await parent.close();
  const { rollout: fork } = await forkRollout(home, FIRST, {}, world);
  await fork.append([says('three')]);
  await fork.close();
  const whole = await readFile(parent.path);
  const explained = async (pattern: RegExp): Promise<void> => {
    await assert.rejects(openRollout(home, fork.threadId, world), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'parent_missing');
      assert.match(error.message, pattern);
      return true;
    });
    assert.deepEqual(await lockFiles(home), []);
  };

  await truncate(parent.path, whole.length - 3);
  await explained(/has changed since it was forked/);
  await writeFile(parent.path, Buffer.concat([whole.subarray(0, -1), Buffer.from('xx\n')]));
  await explained(/has changed since it was forked/);
  await rm(parent.path);
  await explained(/whose file is neither beside it nor below/);
  const loop = (await readFile(fork.path, 'utf8'))
    .replaceAll(fork.threadId, 'X')
    .replaceAll(FIRST, fork.threadId)
    .replaceAll('X', FIRST);
  await writeFile(parent.path, `${loop}${' '.repeat(whole.length)}\n${'\n'.repeat(whole.length)}`);
  const looping = (await readFile(fork.path, 'utf8')).replace(
    /"end_byte_offset":\d+/,
    '"end_byte_offset":9999',
  );
  await writeFile(fork.path, looping);
  await writeFile(
    parent.path,
    loop.replace(/"end_byte_offset":\d+/, '"end_byte_offset":9999') + '\n'.repeat(12_000),
  );
  await appendFile(fork.path, '\n'.repeat(12_000));
  await explained(/continues itself/);

  // Beside the fork it is found as well, should both have been moved.
  await writeFile(fork.path, looping.replace('9999', String(whole.length)));
  const folder = join(home, 'moved');
  await mkdir(folder);
  await writeFile(join(folder, parent.path.split('/').at(-1) ?? ''), whole);
  const moved = join(folder, fork.path.split('/').at(-1) ?? '');
  await copyFile(fork.path, moved);
  const opened = await openRollout(join(home, 'empty'), moved, world);
  assert.deepEqual(texts(opened.rollout), ['one', 'two', 'three']);
  await opened.rollout.close();
});

test('other readers of sessions see the same history', async (t) => {
  const home = await temporaryHome(t);
  const rollout = await createRollout(home, HEAD, rolloutWorld());
  await story(rollout);
  await rollout.append([says('four'), { type: 'item', item: agentSays('five') }]);
  await rollout.close();
  const source = await openSource(rollout.path, (async function* () {})());
  t.after(() => source.close());
  const records: LogRecord[] = [];
  const report = await loadSession(source, (record) => records.push(record));
  assert.equal(report.format, 'codex');
  assert.deepEqual(report.damage, []);
  assert.equal(records.at(-1)?.type, 'item');
});
