import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { beginningOf } from '../phrases.ts';
import { actionLines } from '../../summary/sections/work-lines.ts';
import { failureLines } from '../../summary/sections/outcome-lines.ts';
import { isPartOf } from './reruns.ts';
import { includesCheck } from '../../shell/runners.ts';

const home = '/home/ada/orbit';
const start = () => Story.in(home).user('Build the dome.');

function told(story: Story, budget = 4_000): string[] {
  return failureLines(trailOf(story), budget).map(({ text }) => text);
}

test('the same command in other words has not passed: the words are told in which it went well', () => {
  const failed = () => start().sh('go run ./dome list', 'Error: no terminal', 1);
  const line = '- `go run ./dome list` failed: Error: no terminal.';
  assert.deepEqual(told(failed().sh('go run ./dome list --json', '[]')), [
    `${line} With \`--json\` it ran well later.`,
  ]);
  assert.deepEqual(told(failed().sh('go run ./dome list | head -5', 'a')), [`${line} Passed later.`]);
  const quiet = start().sh('pytest tests -q -x', 'E Error: no lens', 1).sh('pytest tests', '4 passed');
  assert.deepEqual(told(quiet), ['- `pytest tests -q -x` failed: E Error: no lens. Passed later.']);
  const longer = start()
    .sh('dome set --size=3 roof', 'Error: no roof', 1)
    .sh('dome set --size=4 roof', 'set');
  assert.match(told(longer)[0] ?? '', /Run later as `dome set --size=4 roof`: ok\.$/);
});

test('a command that ran well as part of a longer script has passed', () => {
  const story = start().sh('npm run lint', 'Error: no lens', 1).sh('npm run form && npm run lint', 'ok');
  assert.deepEqual(told(story), ['- `npm run lint` failed: Error: no lens. Passed later.']);
});

test('packages of Go that a task passed have passed, whatever called it', () => {
  const failed = (...options: string[]) =>
    start().sh(['go test ./cmd/dome/roof/...', ...options].join(' '), '--- FAIL: TestLatch (0.1s)\nFAIL', 1);
  const others = '?   \torbit.dev/cmd\t[no test files]\nok  \torbit.dev/cmd/dome\t0.3s';
  const passed = `${others}\nok  \torbit.dev/cmd/dome/roof\t5.520s`;
  for (const story of [failed(), failed('-v'), failed('-run TestLatch')])
    assert.match(told(story.sh('mise run test', passed))[0] ?? '', / Passed later\.$/);
  const empty = `${others}\nok  \torbit.dev/cmd/dome/roof\t0.5s [no tests to run]`;
  for (const story of [failed().sh('mise run test', empty), failed('-race').sh('mise run test', passed)])
    assert.doesNotMatch(told(story)[0] ?? '', /Passed later/);
});

/** How pytest ends where one of many tests failed. */
function summary(failed: string): string {
  return `FAILED ${failed} - AssertionError\n1 failed, 70 passed in 3.1s`;
}

test('a test that a run of more tests does not name among its failures has passed there', () => {
  const failed = () => start().sh('pytest tests/test_roof.py::test_latch', 'E assert 0', 1);
  const last = (command: string, output: string) => told(failed().sh(command, output, 1))[0] ?? '';
  assert.match(
    last('pytest tests/test_roof.py', summary('tests/test_roof.py::test_hinge')),
    /Passed later\.$/,
  );
  assert.match(last('pytest', summary('tests/test_roof.py::test_latch_twice')), /Passed later\.$/);
  for (const [command, output] of [
    ['pytest tests/test_roof.py', summary('tests/test_roof.py::test_latch[a-b]')],
    ['pytest tests/test_dome.py', summary('tests/test_dome.py::test_turn')],
    ['pytest -x tests/test_roof.py', summary('tests/test_roof.py::test_hinge')],
    ['pytest tests/test_roof.py', '1 failed, 70 passed in 3.1s'],
  ] as const)
    assert.doesNotMatch(last(command, output), /Passed later/);
});

test('what is set for a command is a part of it, but for how its output looks and for secrets', () => {
  const bare = start().sh('pytest', "E ModuleNotFoundError: No module named 'dome'", 1);
  assert.deepEqual(told(bare.sh('PYTHONPATH=. pytest', '4 passed')), [
    "- `pytest` failed: E ModuleNotFoundError: No module named 'dome'. With `PYTHONPATH=.` it ran well later.",
  ]);
  const commands = (script: string) => trailOf(start().sh(script)).commands.map(({ command }) => command);
  assert.deepEqual(commands('cd web && NO_COLOR=1 npm test'), ['npm test']);
  assert.deepEqual(commands('env CI=1 npm test'), ['CI=1 npm test']);
  assert.deepEqual(commands('DOME_TOKEN=abc123 npm test'), ['DOME_TOKEN=… npm test']);
});

test('a conflict of git ends with what goes on from it or gives it up, in its own tree', () => {
  const stopped = (script = 'git merge roof') =>
    start().sh(script, 'CONFLICT (content): Merge conflict in dome.ts\nAutomatic merge failed', 1);
  const end = (story: Story) => /\. ((?:The|Passed) .*)\.$/.exec(told(story, 2_000)[0] ?? '')?.[1];
  assert.equal(end(stopped()), undefined);
  const resolved = stopped().sh('git add dome.ts && git commit --no-edit', '[main 1a2b3c4] Merge');
  assert.equal(end(resolved), 'The conflict was resolved: `git add dome.ts && git commit --no-edit`');
  assert.equal(
    end(resolved.sh('git commit -am moon', '[main 2b3c4d5] moon')),
    'The conflict was resolved: `git add dome.ts && git commit --no-edit`',
  );
  assert.equal(
    end(stopped('git rebase main').sh('git rebase --continue', 'Successfully rebased')),
    'The conflict was resolved: `git rebase --continue`',
  );
  const aborted = stopped().sh('git merge --abort');
  assert.equal(end(aborted), 'The conflict was given up: `git merge --abort`');
  assert.equal(end(aborted.sh('git merge roof', 'Merge made by')), 'Passed later');
  assert.equal(end(stopped('cd /w/a && git merge roof').sh('cd /w/b && git commit -am moon')), undefined);
  const other = start().sh('git push', 'fatal: no upstream', 1).sh('git commit -am moon');
  assert.equal(end(other), undefined);
});

test('what of git only lists is no run', () => {
  const acts = (script: string) => trailOf(start().sh(script, 'dome')).current.actions.length;
  const looks = [
    'git branch',
    'git branch --contains 1a2b3c4',
    'git rev-parse @{u}; git ls-remote origin dome',
    'git -C web branch -vv',
    'git stash list',
    'git tag -l v1',
  ];
  for (const script of [...looks, 'git worktree list', 'git config --get user.name'])
    assert.equal(acts(script), 0, script);
  for (const script of [
    'git branch dome',
    'git branch -D dome',
    'git stash',
    'git tag v1',
    'git worktree add ../a',
    'git config user.name Ada',
  ])
    assert.equal(acts(script), 1, script);
});

test('a program that was picked by its place is told with it', () => {
  const commands = (script: string) => trailOf(start().sh(script)).commands.map(({ command }) => command);
  assert.deepEqual(commands('/usr/bin/python3 -m pytest'), ['/usr/bin/python3 -m pytest']);
  assert.deepEqual(commands('timeout 9 /usr/local/bin/node dome.js'), ['/usr/local/bin/node dome.js']);
  assert.deepEqual(commands('/usr/bin/git push'), ['git push'], 'of which there is one');
  const story = start().sh('/usr/bin/python3 -m pytest', 'No module named pytest', 1);
  assert.deepEqual(ends(story.sh('python3 -m pytest', '3 passed')), ['Not seen to pass since.']);
});

test('each cause is a failure of its own; those of one command that ended alike are told together', () => {
  const story = start()
    .sh('npm test', 'TypeError: lens is not a function at 12', 1)
    .sh('npm test', 'TypeError: lens is not a function at 14', 1)
    .sh('npm test', 'RangeError: the roof is too high', 1);
  assert.deepEqual(
    trailOf(story).failures.map(({ outcomeLines: telling, times }) => [telling[0], times]),
    [
      ['TypeError: lens is not a function at 14', 2],
      ['RangeError: the roof is too high', 1],
    ],
  );
  const line = '- `npm test` failed 3 times: RangeError: the roof is too high';
  assert.deepEqual(told(story), [
    `${line}; before: TypeError: lens is not a function at 14. Not seen to pass since.`,
  ]);
  assert.deepEqual(told(story, 2_000), [`${line}; 1 other cause. Not seen to pass since.`]);
  assert.deepEqual(told(story.sh('npm test', '4 passed')), [`${line}; 1 other cause. Passed later.`]);
});

test('a wider check that passed after an edit of the file that a failure names is told', () => {
  const failed = () =>
    start().sh('npx tsc --noEmit', "src/dome.ts(3,1): error TS2304: Cannot find name 'x'.", 1);
  const edited = () => failed().edit(`${home}/src/dome.ts`, 'x', 'y');
  const last = (story: Story) => /(?:Later|Not seen).*$/.exec(told(story)[0] ?? '')?.[0];
  assert.equal(last(edited().sh('npm run check', 'ok')), 'Later `npm run check` passed.');
  assert.equal(last(failed().sh('npm run check', 'ok')), 'Not seen to pass since.', 'nothing was edited');
  assert.equal(last(edited().sh('npm run lint', 'ok')), 'Not seen to pass since.', 'a linter sees no types');
  const other = failed().edit(`${home}/src/roof.ts`, 'x', 'y');
  assert.equal(last(other.sh('npm run check', 'ok')), 'Not seen to pass since.', 'another file');
});

test('a check includes another one by what it looks at, where it looks at all', () => {
  const pairs: [string, string, boolean][] = [
    ['npm test', 'npx vitest run src/a.test.ts', true],
    ['npm test src/a.test.ts', 'npx vitest run src/a.test.ts', false],
    ['go test ./...', 'go build ./dome', true],
    ['npm run build', 'npm test', false],
    ['npm run check', 'npx eslint src', true],
    ['npm run check', 'npm test', false],
    ['npm install', 'npm run build', false],
  ];
  for (const [well, failed, is] of pairs) assert.equal(includesCheck(well, failed), is, `${well}: ${failed}`);
});

test('what was spelled wrong is told with the right spelling, the common tools aside', () => {
  const story = start()
    .sh('dome send mars -m "go up"', "error: unexpected argument '-m' found", 2)
    .sh('dome send mars "go up"', 'sent');
  assert.match(told(story)[0] ?? '', /Run later as `dome send mars "go up"`: ok\.$/);
  const git = start().sh('gh pr list --jsn', 'unknown flag: --jsn', 1).sh('gh pr list --json url', '[]');
  assert.deepEqual(told(git), []);
  const absent = start().sh('dome send mars -m', 'Error: no such planet', 1).sh('dome send venus', 'sent');
  assert.match(told(absent)[0] ?? '', /Not seen to pass since\.$/);
});

/** What is told of how a failure ended. */
const ends = (story: Story) =>
  told(story).map((text) => /(?:Only|Another|Not|Passed|Run) .*$/.exec(text)?.[0]);

test('of a check that ran well on a part only that part has passed', () => {
  const failed = () => start().sh('npm test', 'FAIL src/roof.test.ts > it is open', 1);
  assert.deepEqual(ends(failed().sh('npm test -- src/roof.test.ts', '4 passed')), [
    'Only a part passed since: `npm test -- src/roof.test.ts`.',
  ]);
  assert.deepEqual(ends(failed().sh('npm test --grep=roof', '1 passed')), [
    'Only a part passed since: `npm test --grep=roof`.',
  ]);
  const pairs: [string, string, boolean][] = [
    ['pytest tests/a.py::test_roof', 'pytest tests/a.py', true],
    ['go test -run Roof ./dome/...', 'go test ./...', true],
    ['go test ./mast', 'go test ./dome/...', false],
    ['go build -o dome ./dome', 'go build ./dome', false],
    ['npm run lint', 'npm run build', false],
    ['node roof.js wide', 'node roof.js', false],
  ];
  for (const [part, whole, is] of pairs) assert.equal(isPartOf(part, whole), is, `${part}: ${whole}`);
});

test('what was spelled wrong and ran well as another act is not told as that act', () => {
  const wrong = () =>
    start().sh('dome run --at mars --as probe', "error: unexpected argument '--at' found", 2);
  assert.deepEqual(ends(wrong().sh('dome run -b roof', 'ok')), ['Another `dome run` ran well later.']);
  assert.deepEqual(ends(wrong().sh('dome add mars', 'ok')), ['Not seen to pass since.']);
});

test('what was spelled wrong, and failed in the right words, is told by that failure', () => {
  const story = start()
    .sh('npm run check -- --unsafe', "error: unknown option '--unsafe'", 1)
    .sh('npm run check', 'the attributes are not sorted: error', 1)
    .sh('npx biome check --write src', 'Fixed 1 file.')
    .sh('npm run check', 'ok');
  assert.deepEqual(told(story), [
    "- `npm run check -- --unsafe` failed: error: unknown option '--unsafe'.",
    '- `npm run check` failed: the attributes are not sorted: error. Passed later after `npx biome check --write src`.',
  ]);
});

const helpIn = (directory: string) => (story: Story, output: string, code: number) =>
  story.call(
    'exec_command',
    { cmd: 'dome --help', workdir: directory },
    `Process exited with code ${code}\nOutput:\n${output}`,
  );

test('what ran well in another directory says nothing, and where it failed is told where that is elsewhere', () => {
  const [main, tree] = ['/home/ada/orbit', '/home/ada/orbit.trees/dome'];
  const [here, there] = [helpIn(main), helpIn(tree)];
  const failed = () => here(start(), 'Error: no build', 1);
  assert.deepEqual(told(there(failed(), 'usage', 0)), [
    '- `dome --help` failed in /home/ada/orbit: Error: no build.',
  ]);
  assert.deepEqual(ends(here(failed(), 'usage', 0)), ['Passed later.']);
});

test('a command has passed where a task ran well that said it runs it, in the same package', () => {
  const build = '> @orbit/dome@1.0.0 build\n> tsc -p build.json && npm run copy\n\ndone';
  const failed = () =>
    start().sh('cd packages/dome && npx tsc -p build.json', 'src/a.ts(1,2): error TS1: no', 1);
  assert.deepEqual(ends(failed().sh('npm run build', build)), ['Passed later.']);
  const known = start().sh('cd packages/dome && npm run build', build);
  known.sh('cd packages/dome && npx tsc -p build.json', 'src/a.ts(1,2): error TS1: no', 1);
  assert.deepEqual(ends(known.sh('cd packages/dome && npm run build | tail -1', 'done')), ['Passed later.']);
  assert.deepEqual(ends(failed().sh('npm run build', build.replace('orbit/dome', 'orbit/mast'))), [
    'Not seen to pass since.',
  ]);
});

test('what made a command pass is told: other permissions, or what was installed, built or written anew', () => {
  const failed = (said: string) => start().sh('npm run lint', said, 1);
  assert.deepEqual(
    ends(
      failed('sh: biome: command not found')
        .sh('npm install', 'added 3')
        .sh('npm run build')
        .sh('npm run lint'),
    ),
    ['Passed later after `npm install`.'],
  );
  assert.deepEqual(ends(failed('Error: no dist').sh('npm run build', 'ok').sh('npm run lint')), [
    'Passed later after `npm run build`.',
  ]);
  const asked = { cmd: 'git add roof.ts', sandbox_permissions: 'require_escalated' };
  const story = start().sh('git add roof.ts', 'fatal: Operation not permitted', 1);
  assert.deepEqual(ends(story.call('exec_command', asked, 'Process exited with code 0\nOutput:\n')), [
    'Passed later with escalated permissions.',
  ]);
});

test('what another program passed of the same files is told, and of an edit that was refused nothing once its file was changed', () => {
  const failed = () => start().sh('python -m pytest tests/test_dome.py', 'No module named pytest', 1);
  const other = (script: string, said = '16 passed, in 0.04 seconds') => ends(failed().sh(script, said));
  const open = ['Not seen to pass since.'];
  assert.deepEqual(other('bin/try tests/test_dome.py'), ['Run later as `bin/try tests/test_dome.py`: ok.']);
  assert.deepEqual(other('bin/try tests'), ['Run later as `bin/try tests`: ok.']);
  assert.deepEqual(other('bin/try tests/test_roof.py'), open, 'another file');
  assert.deepEqual(other('cat tests/test_dome.py', 'def test'), open, 'what only looked');
  assert.deepEqual(other('bin/try tests/test_dome.py', 'done'), open, 'what tells of no test');
  const refused = () =>
    start().call(
      'Edit',
      { file_path: `${home}/a.json`, old_string: 'x', new_string: 'y' },
      'Error: no x',
      false,
    );
  assert.equal(told(refused()).length, 1);
  assert.deepEqual(told(refused().sh("cat > a.json <<'EOF'\n{}\nEOF")), []);
  assert.deepEqual(told(refused().call('Write', { file_path: `${home}/a.json`, content: '{}' }, 'ok')), []);
  assert.equal(told(refused().sh('cat a.json', '{}')).length, 1, 'a look changes nothing');
});

test('causes of one check stand together, whatever ran before it', () => {
  const story = start()
    .sh('npm run format && npm run lint', 'a.ts:9:4: missing cases (exhaustive)', 1)
    .sh('npm run lint', 'a.ts:33:19: index out of range (gosec)', 1);
  assert.deepEqual(told(story), [
    '- `npm run lint` failed 2 times: a.ts:33:19: index out of range (gosec); before: a.ts:9:4: missing cases (exhaustive). Not seen to pass since.',
  ]);
});

test('a script is told with what stands between its parts, and as written where it depends on conditions', () => {
  const commands = (script: string) => trailOf(start().sh(script)).commands.map(({ command }) => command);
  assert.deepEqual(commands('cd web; npm ci && npm test | tail -3'), ['npm ci && npm test']);
  assert.deepEqual(commands('npm ci; npm test'), ['npm ci; npm test']);
  assert.deepEqual(commands('dome list --json | python3 count.py'), ['dome list --json | python3 count.py']);
  assert.deepEqual(commands('npm ci\nls\nnpm test'), ['npm ci; npm test']);
  assert.deepEqual(
    commands('# first\ncd web && sh -c "if ! dome; then A_TOKEN=b exit 0; fi; exec dome run"'),
    ['sh -c "if ! dome; then A_TOKEN=… exit 0; fi; exec dome run"'],
  );
});

test('what runs on, was stopped or only printed its help did not run well', () => {
  const acted = (script: string, output: string) => {
    const story = start().sh('npm test', 'Error: no lens', 1).call('bash', { command: script }, output, true);
    const { current, failures } = trailOf(story);
    return [current.actions.at(-1)?.text, failures[0]?.outcome];
  };
  const running = '<command with shellId: 3 is still running after 30 seconds. Use read_bash.>';
  assert.deepEqual(acted('npm test', running), ['ran `npm test` → still running', 'open']);
  assert.deepEqual(acted('npm test', '<command with id: 3 stopped>'), ['ran `npm test` → stopped', 'open']);
  const aborted = start().call(
    'bash',
    { command: 'npm test' },
    'Error in the debugger\nCommand aborted',
    false,
  );
  assert.deepEqual(trailOf(aborted).failures, []);
  assert.equal(trailOf(aborted).current.actions.at(-1)?.text, 'ran `npm test` → stopped');
  assert.equal(
    beginningOf(running),
    'command with shellId: 3 is still running after 30 seconds. Use read_bash.',
  );
  const help = 'Shows domes.\n\nUsage:\n  dome show [flags]\n\nFlags:\n  -h, --help  help';
  assert.deepEqual(acted('dome show 7', help), ['ran `dome show 7` → printed its help only', 'open']);
  assert.deepEqual(acted('dome show --help', help), ['ran `dome show --help`', 'open']);
  assert.deepEqual(acted('npm test', 'Usage: 3 lenses'), ['ran `npm test`', 'passed']);
});

test('runs that ended alike are one line with their number', () => {
  const story = start();
  for (let run = 0; run < 3; run++) story.sh('dome poll', '').edit(`${home}/src/dome.ts`, 'x', `y${run}`);
  assert.ok(
    actionLines(trailOf(story)).some(({ text }) => text === '- ran `dome poll` (3×)'),
    'the number of runs',
  );
});
