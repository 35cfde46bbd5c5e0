import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ablate, isFree } from './ablation.ts';
import type { Total } from './ablation.ts';
import { countPatterns } from './code.ts';
import { goldenFault, goldenPath, writeGolden } from './golden.ts';
import { KIND_NAMES, kindOf } from './kinds.ts';
import { placesOf, recallAt } from './recall.ts';
import { recordsOf, SIZES, summaryOf } from './summaries.ts';
import { blocksIn, isNameList, placedRows, withoutRows } from './summary-text.ts';
import { bundledStory, MADE_STORIES } from '../../test/summaries/stories.ts';
import { ROOT } from '../../scripts/generate.ts';

// Before any test is declared: a test may start while the file still waits.
const summaries: { path: string; summary: string }[] = [];
for (const { name, lines } of [bundledStory(ROOT), ...MADE_STORIES]) {
  const records = await recordsOf(lines);
  for (const size of SIZES) {
    summaries.push({ path: goldenPath(name, size), summary: summaryOf(records, size) });
  }
}

const SUMMARY = `1. Request:
First.

2. Work:
Since then:
- ran it
    printed
- wrote a.ts
Older:
- read b.ts`;

test('rows that are indented belong to the row above them', () => {
  assert.deepEqual(blocksIn(SUMMARY), [
    { section: 'Request', group: '', text: 'First.' },
    { section: 'Work', group: 'Since then', text: '- ran it\n    printed' },
    { section: 'Work', group: 'Since then', text: '- wrote a.ts' },
    { section: 'Work', group: 'Older', text: '- read b.ts' },
  ]);
});

test('a heading goes with the last row below it', () => {
  const withoutReads = withoutRows(SUMMARY, ({ row }) => row.includes('read'));
  assert.equal(
    withoutReads,
    '1. Request:\nFirst.\n2. Work:\nSince then:\n- ran it\n    printed\n- wrote a.ts',
  );
  assert.equal(
    withoutRows(SUMMARY, ({ section }) => section === 'Work'),
    '1. Request:\nFirst.',
  );
  assert.equal(
    withoutRows(SUMMARY, () => true),
    '',
  );
});

for (const [row, expected] of [
  ['  names: time.js, entries.push, DATE.test', true],
  ['- src/csv.js names: row.map, text.replaceAll, formatField', true],
  ['- Options in use: --stat, --oneline, --format', true],
  ['- Commands in use: `npm test` (2×), `make`, `npm run lint` (last failed)', true],
  ['- src/a.ts (edited 2×): function readIt, writeIt, closeIt', false],
  ['Not committed: src/a.ts, src/b.ts, src/c.ts', false],
  ['- The parser checks field by field, stays small, and has no dependency.', false],
  ['- a.ts, b.ts', false],
] as const) {
  test(`${row.trim()} ${expected ? 'only lists names' : 'says something'}`, () => {
    assert.equal(isNameList(row), expected);
  });
}

test('regular expressions are counted as literals and as calls', () => {
  assert.equal(countPatterns("const a = /x/; const b = new RegExp('y'); const c = 'RegExp(/z/)'; // /w/"), 2);
});

test('every line of a golden summary is of a known kind', () => {
  assert.equal(summaries.length, SIZES.length * (1 + MADE_STORIES.length));
  const unknown = new Set<string>();
  const kinds = new Set<string>();
  for (const { summary } of summaries) {
    for (const row of placedRows(summary)) {
      const kind = kindOf(row);
      if (kind !== undefined) kinds.add(kind);
      else if (row.level === 0 && row.row !== 'None.') unknown.add(row.row);
    }
  }
  assert.deepEqual([...unknown], []);
  assert.ok(kinds.size > KIND_NAMES.length / 2, [...kinds].join());
});

test('the golden summaries are those of today; BATON_GOLDEN=write npm run bench -- summaries writes them', () => {
  const faults = summaries.flatMap(({ path, summary }) => goldenFault(ROOT, path, summary) ?? []);
  assert.deepEqual(faults, []);
});

test('a golden summary that differs is reported with the first line that does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-golden-'));
  try {
    const path = goldenPath('boat', 2_000);
    assert.match(goldenFault(folder, path, 'a') ?? '', /boat.2k\.txt is missing$/);
    writeGolden(folder, path, 'a\nb');
    assert.equal(goldenFault(folder, path, 'a\nb'), undefined);
    assert.match(goldenFault(folder, path, 'a\nc') ?? '', /2k\.txt:2 differs: "b" is now "c"$/);
    assert.match(goldenFault(folder, path, 'a\nb\nc') ?? '', /2k\.txt:3 differs: "" is now "c"$/);
    assert.match(goldenFault(folder, path, 'a') ?? '', /2k\.txt:2 differs: "b" is now ""$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('recall without lists misses what only a list names', async () => {
  const [place] = placesOf(await recordsOf(bundledStory(ROOT).lines), 2);
  assert.ok(place !== undefined && place.uses.length >= 10);
  const names = place.uses.map(({ identifier }) => identifier);
  assert.equal(new Set(names).size, names.length);
  const lines = [...new Set(place.log.steps.flatMap(({ lines: all }) => all))];
  const prose = recallAt(place, lines.filter((line) => !isNameList(line)).join('\n'));
  assert.equal(prose.all, prose.withoutLists);
  assert.ok(prose.all > 0.9, String(prose.all));
  const listed = recallAt(place, '- Names in use: readSheet, parseLine, roundMinutes, sumBy, src/parse.js');
  assert.equal(listed.withoutLists, 0);
  assert.ok(listed.all > 0);
});

const TOTAL: Total = {
  rules: 3,
  first: 1,
  state: 2,
  decisions: 1,
  falseLines: 4,
  characters: 100,
  recall: { all: 0.5, withoutLists: 0.4 },
  refilled: { all: 0.5, withoutLists: 0.4 },
};

test('a kind of line is free if nothing of a key, no truth and no recall goes with it', () => {
  assert.ok(isFree({ ...TOTAL, falseLines: 3 }, TOTAL));
  assert.ok(isFree({ ...TOTAL, recall: { all: 0.1, withoutLists: 0.1 } }, TOTAL));
  for (const loss of [
    { rules: 2 },
    { first: 0 },
    { state: 1 },
    { decisions: 0 },
    { falseLines: 5 },
    { refilled: { all: 0.5, withoutLists: 0.39 } },
  ]) {
    assert.ok(!isFree({ ...TOTAL, ...loss }, TOTAL), JSON.stringify(loss));
  }
});

test('an ablation shows what goes with a kind of line, and drops together only what nothing replaces', async () => {
  const story = MADE_STORIES.find(({ name }) => name === 'german');
  assert.ok(story !== undefined);
  const heard: string[] = [];
  const records = await recordsOf(story.lines);
  const results = ablate([{ ...story, records }], [], (name) => heard.push(name));
  assert.deepEqual(
    heard,
    results.map(({ without }) => without),
  );
  const totals = new Map(results.map(({ without, total }) => [without, total]));
  const whole = totals.get('nothing');
  assert.ok(whole !== undefined);
  assert.equal(totals.get('pushes and links')?.characters, whole.characters);
  assert.ok((totals.get('message before the request')?.characters ?? 0) < whole.characters);
  assert.ok((totals.get('failures')?.falseLines ?? 0) < whole.falseLines);
  const together = results.at(-1);
  assert.match(together?.without ?? '', /^\d+ kinds together$/);
  const { rules, state, decisions, characters } = together?.total ?? whole;
  assert.deepEqual([rules, state, decisions], [whole.rules, whole.state, whole.decisions]);
  assert.ok(characters < whole.characters);
});
