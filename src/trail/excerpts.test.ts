import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellableRows, tellingRows } from './excerpts.ts';

const weights = new Map([
  ['align_mirror', 1],
  ['turn_dome', 0.5],
]);

test('of a file that was read the rows are told that name what counts, not its head', () => {
  const rows = Array.from({ length: 80 }, (_, at) => `import { part_${at} } from './part-${at}.ts';`);
  rows[50] = 'export function align_mirror(angle: number): void {';
  const told = tellingRows(rows.join('\n'), { room: 60, weights, isRead: true, hasFailed: false });
  assert.deepEqual(told, ['export function align_mirror(angle: number): void {']);
});

test('a row that names what another row told gives way to one that tells more', () => {
  const calls = Array.from({ length: 12 }, (_, at) => `call ${at} of align_mirror in the night`);
  const rows = ['turn.log', ...calls, 'call of turn_dome in the night', ...calls];
  const told = tellingRows(rows.join('\n'), { room: 170, weights, isRead: false, hasFailed: false });
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
  assert.deepEqual(tellingRows(diff.join('\n'), { room: 80, weights, isRead: false, hasFailed: false }), [
    'diff dome.ts',
    '-turn(1);',
    '+turn(2);',
  ]);
});

test('of a failed run the cause is told before what was run', () => {
  const rows = [
    '> npm run survey',
    ...Array.from({ length: 30 }, (_, at) => `looking at star ${at}`),
    'lens.test.ts:12: expected 3 stars, got 2',
    ...Array.from({ length: 30 }, (_, at) => `looking at star ${at}`),
  ];
  const told = (hasFailed: boolean): string[] =>
    tellingRows(rows.join('\n'), { room: 60, weights: new Map(), isRead: false, hasFailed });
  assert.ok(told(true).includes('lens.test.ts:12: expected 3 stars, got 2'), told(true).join('\n'));
  assert.equal(told(false)[0], '> npm run survey');
});

test('what tools and harnesses say when all went well is no row', () => {
  const rows = [
    'The file /home/ada/dome.ts has been updated successfully.',
    'Edit applied successfully.',
    'Success. Updated the following files:',
    'Successfully replaced text in dome.ts. Changed 9 characters to 12 characters.',
    'Shell cwd was reset to /home/ada',
    '<system-reminder>Keep the list short.</system-reminder>',
    'The file of the night has 3 stars',
  ];
  assert.deepEqual(tellableRows(rows.join('\n')), ['The file of the night has 3 stars']);
});
