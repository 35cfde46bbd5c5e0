import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectRows } from './json-rows.ts';

const domes = [
  {
    id: 'dome-4',
    about: 'wind '.repeat(40),
    status: 'open',
    made: '2026-01-02T03:04:05Z',
    title: 'Turn it',
    by: null,
  },
  {
    id: 'dome-5',
    status: 'closed',
    title: 'Park it',
    parts: [{ id: 'roof-1', status: 'open' }],
    tags: ['a', 'b'],
  },
];

test('JSON is told object by object, never a field of one beside a field of another', () => {
  const rows = [
    /^id: dome-4; status: open; title: Turn it; about: wind .* …$/,
    /^id: dome-5; status: closed; title: Park it; tags: a, b$/,
    /^parts: id: roof-1; status: open$/,
  ];
  for (const text of [
    JSON.stringify(domes, null, 2),
    JSON.stringify(domes),
    domes.map((one) => JSON.stringify(one)).join('\n'),
  ]) {
    const told = objectRows(text) ?? [];
    assert.equal(told.length, rows.length, text);
    for (const [at, row] of rows.entries()) assert.match(told[at] ?? '', row);
  }
  assert.deepEqual(objectRows('{"state":"MERGED","base":"roof"}'), ['state: MERGED; base: roof']);
  assert.deepEqual(objectRows('{"url":"https://a.example/4","number":4}'), [
    'number: 4; url: https://a.example/4',
  ]);
});

test('of a list that was cut off the whole objects are told, and what is no JSON stays as it is', () => {
  const cut = JSON.stringify(domes, null, 2).slice(0, -60);
  assert.equal(objectRows(cut)?.length, 1);
  for (const text of ['', '[]', '{', '[INFO] {turn}', '{"a": 1', 'a: 1\n{"b":2}', '[1, 2]', '{}'])
    assert.equal(objectRows(text), undefined, text);
});
