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
  scanRuns(text, (from, to, isQuoted) => found.push(`${isQuoted ? '`' : ''}${text.slice(from, to)}`));
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

test('a run begins behind the letter of an escape and says where it stood', () => {
  const text = String.raw`x\nfoundIt`;
  scanRuns(text, (from, to, isQuoted, start) => {
    assert.deepEqual([text.slice(from, to), text.slice(start, to), isQuoted], ['foundIt', 'nfoundIt', false]);
  });
  assert.deepEqual(scanned(text), ['foundIt']);
});
