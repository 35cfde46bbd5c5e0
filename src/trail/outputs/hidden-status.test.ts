import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { commandLines } from '../../summary/sections/concept-lines.ts';
import { checkLines, doneSince } from '../../summary/sections/check-lines.ts';
import { runLines } from '../../summary/sections/work-lines.ts';
import type { CommandRun } from '../trail.ts';

const home = '/home/ada/orbit';
const start = () => Story.in(home).user('Build the dome.');

/** How the run of a script that ended with 0 is known to have gone. */
function went(script: string, output: string): 'failed' | 'unknown' | 'well' {
  const [run] = trailOf(start().sh(script, output)).commands;
  return run === undefined ? 'well' : wayOf(run);
}

function wayOf({ failed, isHidden }: CommandRun): 'failed' | 'unknown' | 'well' {
  return failed ? 'failed' : isHidden ? 'unknown' : 'well';
}

const actionsOf = (story: Story): string[] => trailOf(story).current.actions.map(({ text }) => text);

test('through a filter, or before another command, nobody sees how a check ended', () => {
  for (const script of [
    'npm test 2>&1 | grep -i error | wc -l',
    'pytest | tail -3',
    'npm test; ls dist',
    'npm test\ngit diff --stat',
    'pytest || true',
    'pytest || echo "it fell"',
    'npm test | head -40 && echo "done"',
    'go vet ./... | tail -5',
  ])
    assert.equal(went(script, '11'), 'unknown', script);
  for (const script of [
    'npm test',
    'cd web && npm test',
    'cd web; npm test',
    'npm test && git push',
    'set -o pipefail\nnpm test | tail -3',
    'set -e; npm test; ls dist',
    'npm test && ls | head -3',
    'if npm test; then ls; fi',
  ])
    assert.equal(went(script, '11'), 'well', script);
});

test('an output that says so tells that a check went well, whatever its status', () => {
  for (const output of [
    '4 passed in 0.2s',
    'ok  \torbit/dome\t0.2s',
    'ok  \torbit/dome\t(cached)',
    '[lint] $ lint ./...\n0 issues.',
    'All checks passed!',
    'test result: ok. 4 passed; 0 failed',
    'PASS',
  ])
    assert.equal(went('./bin/test | tail -3', output), 'well', output);
  for (const output of ['dome.ts', '10 issues', 'OK so far, waiting for the roof'])
    assert.equal(went('./bin/test | tail -3', output), 'unknown', output);
  assert.equal(went('./bin/test | tail -3', '4 passed, 1 failed'), 'failed');
});

test('a check that finds nothing prints nothing, unless its output was picked or sent away', () => {
  assert.equal(went('go build ./... 2>&1 | head -30', ''), 'well');
  assert.equal(went('npx tsc --noEmit | tail -3', '(no output)'), 'well');
  assert.equal(went('npx tsc --noEmit | grep dome', ''), 'unknown');
  assert.equal(went('npx tsc --noEmit 2>/dev/null | tail -3', ''), 'unknown');
});

test('what complains last would have complained in the end that was shown', () => {
  assert.equal(went('npm run build 2>&1 | tail -3', '> cp roof dist/roof'), 'well');
  assert.equal(went('npm run build 2>&1 | head -3', '> cp roof dist/roof'), 'unknown');
  assert.equal(went('pnpm build 2>&1 | tail -3', ' ELIFECYCLE  Command failed with exit code 2.'), 'failed');
});

test('a status that a script prints is that of its work', () => {
  assert.equal(went('./dome open; echo "exit: $?"', 'creak\nexit: 3'), 'failed');
  assert.equal(went('./dome open; echo "exit: $?"', 'creak\nexit: 0'), 'well');
  assert.equal(went('npm test | tail -1; echo "EXIT=${PIPESTATUS[0]}"', 'dome\nEXIT=0'), 'well');
  assert.equal(went('npm test | tail -1; echo "EXIT=${PIPESTATUS[0]}"', 'dome\nEXIT=1'), 'failed');
  assert.equal(went('npm test | grep dome; echo "EXIT=$?"', 'EXIT=1'), 'unknown', 'that of the filter');
});

test('of a check that may have failed nothing says that it went well', () => {
  const failed = () => start().sh('npm test', 'Error: it leaks', 1);
  const filtered = failed().sh('npm test 2>&1 | grep leak', 'leak');
  assert.equal(trailOf(filtered).failures[0]?.outcome, 'open');
  assert.equal(trailOf(filtered.sh('npm test', '')).failures[0]?.outcome, 'passed');
  assert.deepEqual(actionsOf(start().sh('npm test | grep leak', 'leak')), [
    'ran `npm test` → outcome not known',
  ]);
  assert.deepEqual(actionsOf(start().sh('npm test | grep leak', '2 warnings')), [
    'ran `npm test` → said 2 warnings',
  ]);
  const twice = start().sh('npm test').sh('npm test | grep leak', 'leak');
  assert.match(commandLines(trailOf(twice))[0]?.text ?? '', /`npm test` \(2×\)/);
  const edited = start().edit(`${home}/dome.ts`, 'x', 'y').sh('npm test | grep leak', 'leak');
  assert.match(
    checkLines(trailOf(edited), 4_000)[0]?.text ?? '',
    /`npm test` ran through a filter, with what status nobody was told\.$/,
  );
  assert.equal(doneSince(trailOf(edited), 0), 'edited dome.ts');
});

test('a report is told by what it says of failures, and not as ok where nobody saw its status', () => {
  const report = (output: string): string | undefined => {
    const story = start().sh('gh pr checks 7 | head -9', output);
    for (let part = 0; part < 24; part++) story.sh(`make part${part}`);
    const lines = runLines(trailOf(story)).map(({ text }) => text);
    return lines.find((text) => text.includes('gh pr'));
  };
  const rows = 'roof\tpass\t9s\thttps://ci/1\t\nlint\tfail\t16s\thttps://ci/2\t';
  assert.equal(report('roof\tpending\t0\thttps://ci/1'), '- `gh pr checks 7` (message 1)');
  assert.equal(report(rows), '- `gh pr checks 7` (message 1) → said: lint | fail | 16s | https://ci/2');
  assert.deepEqual(actionsOf(start().sh('gh pr checks 7 | head -9', rows)), [
    'ran `gh pr checks 7` → said lint | fail | 16s | https://ci/2',
  ]);
});
