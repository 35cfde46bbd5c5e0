import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NameTable, OWN, ROW } from './name-table.ts';
import { scanRuns } from './scanner.ts';

/** Texts of one hash, each made of parts that hash alike. */
function alike(parts: number): string[] {
  let texts = [''];
  for (let part = 0; part < parts; part++) texts = texts.flatMap((text) => [`${text}Aa`, `${text}BB`]);
  return texts;
}

function rowsOf(table: NameTable): number[] {
  return Array.from({ length: table.size }, (_, at) => ROW * (at + 1));
}

test('a text has one row, whatever came in between, and a row has its text', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abAB_1'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 3_000 }), (names) => {
      const table = new NameTable();
      const rows = new Map<string, number>();
      for (const text of names) {
        assert.equal(table.rowOf(text), rows.get(text) ?? 0, text);
        const row = table.take(text);
        assert.equal(row, rows.get(text) ?? row, text);
        rows.set(text, row);
      }
      assert.equal(table.size, rows.size);
      assert.deepEqual(rowsOf(table), [...rows.values()]);
      for (const [text, row] of rows) assert.equal(table.text(row), text);
    }),
    { seed: 5, numRuns: 60 },
  );
});

test('texts that share a hash are told apart, and looking for one of them takes no longer', () => {
  const table = new NameTable();
  const texts = alike(13);
  for (const text of texts) table.take(text);
  assert.equal(table.size, texts.length);
  for (const [at, text] of texts.entries()) assert.equal(table.text(table.rowOf(text)), text, `${at}`);
  assert.equal(table.rowOf(`${texts[0] ?? ''}Aa`), 0);
});

test('a run is found by where it stands, and numbers of a row outlive growth and choice', () => {
  const table = new NameTable();
  const text = Array.from({ length: 5_000 }, (_, at) => `name_${at}`).join(' ');
  scanRuns(text, (run) => {
    assert.equal(table.find(run), 0);
    const row = table.add(run);
    table.fields[row + OWN] = table.size;
  });
  scanRuns(`${text} name_0`, (run) => assert.notEqual(table.find(run), 0));
  const kept = table.only(rowsOf(table).filter((_, at) => at % 7 === 0));
  assert.equal(kept.size, Math.ceil(5_000 / 7));
  assert.equal(kept.fields[kept.rowOf('name_7') + OWN], 8);
  assert.equal(kept.rowOf('name_8'), 0);
});

test('what is longer than any run, or is no ASCII, has no row', () => {
  const table = new NameTable();
  table.take('a'.repeat(120));
  assert.equal(table.rowOf('a'.repeat(121)), 0);
  assert.equal(table.rowOf('š'), 0);
  assert.equal(table.rowOf(''), 0);
});
