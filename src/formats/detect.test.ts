import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../protocol/item.ts';
import type { Format } from '../vocabulary.ts';
import { detectFormat } from './detect.ts';
import type { Likeness, LookAlike } from './detect.ts';

/** Made-up formats: a line is as alike as it says. */
const LIKENESS: Readonly<Partial<Record<Format, Likeness>>> = {
  codex: (value) => Number(value['codex'] ?? 0),
  'claude-code': (value) => Number(value['claude'] ?? 0),
};

const OTHER_TOOL: LookAlike = {
  name: 'a session of another tool',
  matches: (value) => value['other'] === true,
};

const sure: JsonObject = { codex: 1 };
const odd: JsonObject = {};
const other: JsonObject = { other: true, codex: 1 };

const cases: readonly (readonly [
  name: string,
  values: readonly JsonObject[],
  expected: string | undefined,
])[] = [
  ['nothing', [], undefined],
  ['lines of one format', [sure, sure], 'codex'],
  ['as many lines of unknown kinds', [sure, odd], 'codex'],
  ['more lines of unknown kinds', [sure, odd, odd], undefined],
  ['the better of two', [{ codex: 0.6, claude: 0.9 }], 'claude-code'],
  ['the first of two equals', [{ codex: 0.8, claude: 0.8 }], 'codex'],
  ['fits too weak', [{ codex: 0.4, claude: 0.4 }], undefined],
  ['mostly a look-alike, though it fits', [other, other, sure], OTHER_TOOL.name],
  ['half a look-alike', [other, sure], 'codex'],
];

for (const [name, values, expected] of cases) {
  test(`detectFormat: ${name}`, () => {
    const detection = detectFormat(values, LIKENESS, [OTHER_TOOL]);
    assert.equal(detection.format ?? detection.looksLike, expected);
    assert.equal(detection.format === undefined, expected === undefined || expected === OTHER_TOOL.name);
  });
}
