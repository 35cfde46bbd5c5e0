import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCitations, contentRows, excerptRows } from './excerpts.ts';
import type { Excerpting } from './excerpts.ts';

const weights = new Map([
  ['align_mirror', 1],
  ['turn_dome', 0.5],
]);

function excerpt(rows: readonly string[], how: Partial<Excerpting>): string[] {
  const plain = {
    room: 80,
    weights,
    counting: new Set(weights.keys()),
    isRead: false,
    hasFailed: false,
    sought: new Set<string>(),
  };
  return excerptRows(rows.join('\n'), { ...plain, ...how });
}

test('of a file that was read the rows are told that name what counts, not its head', () => {
  const rows = Array.from({ length: 80 }, (_, at) => `import { part_${at} } from './part-${at}.ts';`);
  rows[50] = 'export function align_mirror(angle: number): void {';
  const told = excerpt(rows, { room: 60, isRead: true });
  assert.deepEqual(told, ['export function align_mirror(angle: number): void {']);
});

test('a row that names what another row told gives way to one that tells more', () => {
  const calls = Array.from({ length: 12 }, (_, at) => `call ${at} of align_mirror in the night`);
  const rows = ['turn.log', ...calls, 'call of turn_dome in the night', ...calls];
  const told = excerpt(rows, { room: 170 });
  assert.ok(told.includes('call of turn_dome in the night'), told.join('\n'));
});

test('of a diff the rows that differ are told with their file, not those around them', () => {
  const context = Array.from({ length: 12 }, (_, at) => ` keep(${at});`);
  const diff = [
    'diff --git a/dome.ts b/dome.ts',
    'index 1234567..89abcde 100644',
    '--- a/dome.ts',
    '+++ b/dome.ts',
    '@@ -1,9 +1,9 @@',
    ...context,
    '-turn(1);',
    '+turn(2);',
    ...context,
  ];
  assert.deepEqual(excerpt(diff, { room: 80 }), ['diff dome.ts', '-turn(1);', '+turn(2);']);
});

test('of a failed run the cause is told before what was run', () => {
  const rows = [
    '> npm run survey',
    ...Array.from({ length: 30 }, (_, at) => `looking at star ${at}`),
    'lens.test.ts:12: expected 3 stars, got 2',
    ...Array.from({ length: 30 }, (_, at) => `looking at star ${at}`),
  ];
  const told = (hasFailed: boolean): string[] => excerpt(rows, { room: 60, weights: new Map(), hasFailed });
  assert.ok(told(true).includes('lens.test.ts:12: expected 3 stars, got 2'), told(true).join('\n'));
  assert.equal(told(false)[0], '> npm run survey');
});

test('what was looked for is told before what weighs more', () => {
  const rows = [
    ...Array.from({ length: 20 }, (_, at) => `line ${at} of the night log that says little`),
    'align_mirror is called at noon',
    'turn_dome is called at noon',
    ...Array.from({ length: 20 }, (_, at) => `line ${at} of the day log that says little`),
  ];
  const told = (sought: string[]): string[] =>
    excerpt(rows, { isRead: true, room: 40, sought: new Set(sought) });
  assert.deepEqual(told([]), ['align_mirror is called at noon']);
  assert.deepEqual(told(['turn_dome']), ['turn_dome is called at noon']);
});

test('how many rows are left out is told where some are, but for texts that were read and for failures', () => {
  const rows = [
    'NAME   STATE   SINCE   PART',
    ...Array.from({ length: 6 }, (_, at) => `dome${at}   turns   ${at}h   roof${at}`),
  ];
  const few = excerpt(rows, { room: 50, weights: new Map() });
  assert.equal(few[0], 'NAME  STATE  SINCE  PART');
  const left = rows.length - few.filter((row) => !row.startsWith('…')).length;
  assert.ok(few.includes(`… (${left} more)`), few.join('|'));
  assert.deepEqual(excerpt(rows, { room: 400 }).at(-1), 'dome5  turns  5h  roof5');
  const middle = excerpt(rows, { room: 90, weights: new Map() });
  assert.ok(
    middle.some((row) => /^… \(\d more\)$/.test(row)),
    middle.join('|'),
  );
  assert.ok(!excerpt(rows, { room: 50, isRead: true }).some((row) => row.includes('more)')));
});

test('of JSON whole objects are told', () => {
  const domes = Array.from({ length: 9 }, (_, at) => ({
    id: `dome-${at}`,
    state: 'open',
    title: `Turn part ${at}`,
  }));
  const told = excerpt(JSON.stringify(domes, null, 2).split('\n'), { room: 90, weights: new Map() });
  assert.equal(told[0], 'id: dome-0; state: open; title: Turn part 0');
  assert.match(told.join('\n'), /… \(\d more\)/);
});

test('what came of a call is told: commits, pushes, addresses, versions', () => {
  const noise = Array.from({ length: 30 }, (_, at) => `remote: counting objects of part ${at}`);
  for (const outcome of [
    '[main 6c3f339] Turn the dome slowly',
    'https://example.org/ada/orbit/pull/41',
    '   1a2b3c4..5d6e7f8  main -> main',
    ' * [new branch]      dome -> dome',
    'v4.12.0',
  ]) {
    const told = excerpt([...noise, outcome, ...noise], { weights: new Map() });
    assert.ok(told.includes(outcome.trim()), `${outcome} in ${told.join(' / ')}`);
  }
});

test('what tools and harnesses say when all went well is no row', () => {
  const rows = [
    'The file /home/ada/dome.ts has been updated successfully.',
    'Edit applied successfully.',
    'Success. Updated the following files:',
    'Successfully replaced text in dome.ts. Changed 9 characters to 12 characters.',
    'Shell cwd was reset to /home/ada',
    '<system-reminder>Keep the list short.</system-reminder>',
    '[File: /home/ada/dome.ts (42 lines total)]',
    '(18 more lines above)',
    'The file of the night has 3 stars',
    '(this is the end of the file)',
  ];
  assert.deepEqual(contentRows(rows.join('\n')), ['The file of the night has 3 stars']);
});

test('of a traceback its last line and the place before it are told, not its head', () => {
  const frames = Array.from({ length: 20 }, (_, at) => `  File "lens/part_${at}.py", line ${at}, in turn`);
  const rows = ['Traceback (most recent call last):', ...frames, 'LensMissing: none at night'];
  const told = excerpt(rows, { room: 90, weights: new Map(), hasFailed: true });
  assert.ok(told.includes('LensMissing: none at night'), told.join('\n'));
  assert.ok(told.includes('File "lens/part_19.py", line 19, in turn'), told.join('\n'));
  assert.ok(!told.some((row) => row.startsWith('Traceback')), told.join('\n'));
});

test('what a message says of memories for a program is no part of it', () => {
  const citation =
    '<oai-mem-citation>\n<citation_entries>\nMOON.md:4-9|note=[tides]\n</citation_entries>\n</oai-mem-citation>';
  assert.equal(withoutCitations(`The dome turns.\n${citation}`), 'The dome turns.');
  assert.equal(withoutCitations(`A.\n${citation}\nB.`), 'A.\nB.');
  assert.equal(withoutCitations('The dome turns.'), 'The dome turns.');
});

test('what a harness says of dealing with an agent in the background is no outcome', () => {
  const result = [
    'Agent launched.',
    "agentId: star7 (internal ID - do not mention to user. Use SendMessage with to: 'star7'.)",
    'output_file: /tmp/star7.output',
    'Do NOT Read or Bash tail this file: it is long.',
    'It tells of itself.',
  ];
  assert.deepEqual(contentRows(result.join('\n')), ['Agent launched.', 'agentId: star7', result[4]]);
});

test('imports and listings give way to what says more, and are told by their first rows where they stand', () => {
  const imports = Array.from({ length: 12 }, (_, at) => `import { part_${at} } from './part-${at}.ts';`);
  const rows = [...imports, 'const angle = 3;', 'export function align_mirror() {'];
  assert.deepEqual(excerpt(rows, { room: 260, isRead: true }), [
    ...imports.slice(0, 3),
    '… (9 more)',
    'const angle = 3;',
    'export function align_mirror() {',
  ]);
  const names = Array.from({ length: 60 }, (_, at) => `plate${at}.fits`);
  const told = excerpt([...names, 'turn_dome'], { room: 80, sought: new Set(['plate40.fits']) });
  assert.deepEqual(told, [...names.slice(0, 3), '…', 'plate40.fits', '… (56 more)', 'turn_dome']);
});
