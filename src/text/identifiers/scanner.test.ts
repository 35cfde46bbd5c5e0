import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { scanRuns } from './scanner.ts';

const JOINERS = '_./-@#~+';

/** The rules once more, one run at a time and slowly. */
function runsOf(text: string): string[] {
  const found: string[] = [];
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9_./\-@#~+]+/g)) {
    if (run.length < 3 || run.length > 120 || !/[A-Za-z0-9]/.test(run)) continue;
    const isQuoted = text[index - 1] === '`' && text[index + run.length] === '`';
    if (!isQuoted && isPlain(run)) continue;
    const isEscape = text[index - 1] === '\\' && /^[nrt]/.test(run);
    found.push(`${isQuoted ? '`' : ''}${isEscape ? run.slice(1) : run}`);
  }
  return found;
}

function isPlain(run: string): boolean {
  const body = run.replace(/[_./\-@#~+]+$/, '');
  if (/^[A-Za-z]+$/.test(body)) return !/[a-z][A-Z]/.test(body);
  return /^\d+$/.test(body) && run.length < 5;
}

function scanned(text: string): string[] {
  const found: string[] = [];
  scanRuns(text, ({ from, to, isQuoted }) => found.push(`${isQuoted ? '`' : ''}${text.slice(from, to)}`));
  return found;
}

test('the automaton finds what the rules find', () => {
  const unit = fc.constantFrom(...`aanbBtr019${JOINERS}\`\`\\ "é\n`);
  const text = fc.string({ unit, maxLength: 60 });
  fc.assert(
    fc.property(text, (made) => {
      assert.deepEqual(scanned(made), runsOf(made), JSON.stringify(made));
    }),
    { seed: 11, numRuns: 20_000 },
  );
});

test('a run may touch both ends of its text and may have any length up to the longest', () => {
  for (let length = 1; length < 125; length++) {
    const run = `a_${'b'.repeat(length)}`;
    assert.deepEqual(scanned(run), run.length > 120 ? [] : [run], `${run.length}`);
    assert.deepEqual(scanned(`\`${'b'.repeat(length)}\``).length, length > 2 && length <= 120 ? 1 : 0);
  }
});

test('a run begins behind the letter of an escape, and its hash is that of the run alone', () => {
  const text = String.raw`x\nfoundIt foundIt`;
  const found: { run: string; hash: number }[] = [];
  scanRuns(text, ({ from, to, isQuoted, hash }) => {
    assert.equal(isQuoted, false);
    found.push({ run: text.slice(from, to), hash });
  });
  assert.deepEqual(scanned(text), ['foundIt', 'foundIt']);
  assert.equal(found[0]?.hash, found[1]?.hash);
  const hashes = new Set<number>();
  scanRuns('foundIt foundIs fo_undIt tIdnuof', ({ hash }) => hashes.add(hash));
  assert.equal(hashes.size, 4, 'other runs have other hashes');
});

test('texts that are scanned in between, or are longer than the buffer, change nothing', () => {
  const outer: string[] = [];
  const long = `first_name ${'x '.repeat(40_000)}last_name é`;
  scanRuns(long, ({ from, to }) => {
    outer.push(long.slice(from, to));
    assert.deepEqual(scanned('inner_name other_name'), ['inner_name', 'other_name']);
  });
  assert.deepEqual(outer, ['first_name', 'last_name']);
  const short = 'first_name and second_name stand in a text of more than a few characters';
  const found: string[] = [];
  scanRuns(short, ({ from, to }) => {
    found.push(short.slice(from, to));
    scanned('clobbered_by_a_nested_scan clobbered_by_a_nested_scan clobbered_by_a_nested_scan');
  });
  assert.deepEqual(found, ['first_name', 'second_name']);
});
