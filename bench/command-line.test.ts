import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { MADE_STORIES } from '../test/summaries/stories.ts';
import { readCommandLine, SUITE_NAMES } from './command-line.ts';
import type { YardstickReport } from './summaries/report.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** When what is built was made, and what is there. */
function built(): readonly unknown[] {
  return ['', 'dist', 'dist/cli', 'bench', 'bench/dist'].map((name) => {
    const stats = statSync(`${root}/${name}`, { throwIfNoEntry: false });
    return stats === undefined ? undefined : [stats.mtimeMs, readdirSync(`${root}/${name}`)];
  });
}

function run(...args: readonly string[]) {
  // Without a way to npm nothing could be installed either.
  return spawnSync(process.execPath, [`${root}/bench/run.mjs`, ...args], {
    encoding: 'utf8',
    env: { PATH: '' },
  });
}

for (const [args, complaint] of [
  [['BOGUS'], /no suite BOGUS: choose from starting, .*terminal\./i],
  [['reading', 'BOGUS', 'OTHER'], /no suite BOGUS, OTHER: /],
  [['--bogus'], /'--bogus'/],
  [['reading', '--write'], /leave --quick and the names of suites out/],
  [['summaries', '--write'], /BATON_GOLDEN=write writes the golden summaries/],
  [['reading', 'summaries'], /name it alone/],
  [['reading', '--json'], /belong to summaries/],
  [['--ablate'], /belong to summaries/],
] as const) {
  test(`${args.join(' ')} is refused before anything is built`, () => {
    const before = built();
    const { status, stdout, stderr } = run(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, complaint);
    assert.doesNotMatch(stderr, /^ +at /m);
    assert.equal(stdout, '');
    assert.deepEqual(built(), before);
  });
}

test('help is printed before anything is built', () => {
  const before = built();
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  assert.match(stdout, /^Usage: npm run bench/);
  assert.deepEqual(built(), before);
});

test('all suites are meant when none is named', () => {
  const all = readCommandLine(['--quick']);
  assert.ok(all.type === 'run' && all.isQuick);
  assert.deepEqual(all.suites, SUITE_NAMES);
});

test('summaries reports scores as JSON, compares the golden ones, and installs nothing', () => {
  const { status, stdout, stderr } = run('summaries', '--quick', '--json');
  assert.equal(status, 0, stderr);
  const report = JSON.parse(stdout) as YardstickReport;
  assert.deepEqual(report.goldens, []);
  assert.equal(report.stories.length, 3 * (1 + MADE_STORIES.length));
  assert.deepEqual(
    report.recall.map(({ sessions, size }) => [sessions, size]),
    [2_000, 4_000, 8_000].map((size) => ['bundled', size]),
  );
  for (const { all, withoutLists } of report.recall) assert.ok(all >= withoutLists && withoutLists > 0);
  assert.ok(report.code.every(({ lines, patterns }) => lines > 500 && patterns > 20));
  assert.ok(report.speed.share > 0);
});
