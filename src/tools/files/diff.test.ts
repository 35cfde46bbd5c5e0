import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { differenceOf, unifiedDiff } from './diff.ts';

const names = { before: 'shipped', after: 'mine' };

test('equal texts have none', () => {
  assert.equal(unifiedDiff('a\nb\n', 'a\nb\n', names), '');
  assert.equal(unifiedDiff('', '', names), '');
});

test('a change in the middle, with three lines around it', () => {
  const text = 'abcdefghij'.split('').join('\n');
  assert.equal(
    unifiedDiff(text, text.replace('e', 'E'), names),
    '--- shipped\n+++ mine\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n',
  );
});

test('changes far from each other are two hunks', () => {
  const text = 'abcdefghijklmno'.split('').join('\n') + '\n';
  const diff = unifiedDiff(text, text.replace('a', 'A').replace('o', 'O'), names);
  assert.deepEqual(diff.match(/^@@.*/gm), ['@@ -1,4 +1,4 @@', '@@ -12,4 +12,4 @@']);
});

test('a missing line feed at the end is a difference that is named', () => {
  assert.equal(
    unifiedDiff('a\n', 'a', names),
    '--- shipped\n+++ mine\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n',
  );
});

test('an empty side names the line before it', () => {
  assert.equal(unifiedDiff('', 'a\n', names), '--- shipped\n+++ mine\n@@ -0,0 +1,1 @@\n+a\n');
});

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '', '-a', '+b', 'a\r'), { maxLength: 24 })
  .chain((lines) => fc.constantFrom(lines.join('\n'), lines.map((line) => `${line}\n`).join('')));

/** Reads the hunks as `patch` does, and gives what they make of a text. */
function applied(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const made: string[] = [];
  let next = 0;
  const rows = diff.split('\n').slice(2, -1);
  rows.forEach((row, index) => {
    const head = /^@@ -(\d+),(\d+) /.exec(row);
    if (head !== null) {
      const from = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      made.push(...lines.slice(next, from));
      next = from;
      return;
    }
    if (row.startsWith('\\')) return;
    const line = `${row.slice(1)}${rows[index + 1]?.startsWith('\\') === true ? '' : '\n'}`;
    if (row.startsWith('+')) {
      made.push(line);
      return;
    }
    assert.equal(lines[next], line, diff);
    if (row.startsWith(' ')) made.push(line);
    next++;
  });
  return [...made, ...lines.slice(next)].join('');
}

test('what it says makes one text into the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = unifiedDiff(before, after, names);
      assert.equal(diff === '' ? before : applied(before, diff), after);
    }),
    { seed: 31, numRuns: 400 },
  );
});

test('git applies it', (t) => {
  if (spawnSync('git', ['--version']).status !== 0) return t.skip('git is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'baton-diff-'));
  try {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n';
    const after = 'z\nb\nc\nd\ne\nf\ng\nh\nx\ny\nj';
    writeFileSync(join(folder, 'mine'), before);
    const { status, stderr } = spawnSync('git', ['apply', '-p0', '-'], {
      cwd: folder,
      input: unifiedDiff(before, after, { before: 'mine', after: 'mine' }),
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.equal(readFileSync(join(folder, 'mine'), 'utf8'), after);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function manyLines(count: number, word: string): string {
  return Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');
}

test('lines that both texts have are not searched, and a cut one says so', () => {
  const shared = manyLines(200_000, 'same');
  const started = performance.now();
  assert.equal(
    differenceOf(`${shared}old\n${shared}`, `${shared}new\n${shared}`).hunks,
    '@@ -199998,7 +199998,7 @@\n same 199997\n same 199998\n same 199999\n-old\n+new\n same 0\n same 1\n same 2\n',
  );
  const { hunks, added, removed, isCut } = differenceOf(
    manyLines(5_000, 'old'),
    manyLines(7_000, 'new'),
    200,
  );
  assert.deepEqual([added, removed, isCut], [7_000, 5_000, true]);
  assert.ok(hunks.length <= 200 && hunks.startsWith('@@ -1,5000 +1,7000 @@\n-old 0\n'), hunks);
  assert.ok(hunks.endsWith('\n'), 'whole lines');
  assert.ok(performance.now() - started < 2_000, 'linear');
});

test('more lines than are compared are removed and added as a whole', () => {
  const before = `top\n${manyLines(3_000, 'old')}end`;
  const after = `top\n${manyLines(2_000, 'new')}end`;
  const diff = unifiedDiff(before, after, names);
  assert.equal(applied(before, diff), after);
});
