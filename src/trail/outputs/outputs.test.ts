import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  linksIn,
  looksFailed,
  outcomeOf,
  readsFailed,
  refusalIn,
  saysFailed,
  stripAnsi,
  outcomeLinesOf,
} from './outputs.ts';
import { beginningOf } from '../phrases.ts';

const wrapped: readonly (readonly [
  why: string,
  result: string,
  text: string,
  exitCode: number | undefined,
])[] = [
  [
    'Codex today',
    'Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom\n',
    'boom\n',
    2,
  ],
  ['a patch tool of Codex', 'Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.', 'Success.', 0],
  ['Codex of 2025', JSON.stringify({ output: 'hi\n', metadata: { exit_code: 1 } }), 'hi\n', 1],
  [
    'Claude Code, failed',
    'Exit code 127\nfoo: command not found',
    'Exit code 127\nfoo: command not found',
    127,
  ],
  ['plain output', 'just text', 'just text', undefined],
  ['torn JSON', '{"output":"hi', '{"output":"hi', undefined],
  [
    'Codex of 2025, its sandbox',
    'failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: ran 3\nlens.test, stderr: bash: lens: not found',
    'ran 3\nlens.test\nbash: lens: not found',
    2,
  ],
  ['Copilot CLI', 'hi\n<shellId: 3 completed with exit code 2>', 'hi', 2],
  ['no output at all', 'Process exited with code 0\nOutput:\n', '', 0],
];

for (const [why, result, text, exitCode] of wrapped) {
  test(`a result is taken apart: ${why}`, () => {
    const outcome = outcomeOf(result);
    assert.deepEqual([outcome.text, outcome.exitCode], [text, exitCode]);
  });
}

test('a command that runs on names its process', () => {
  assert.equal(outcomeOf('Process running with session ID 41\nOutput:\n').processId, '41');
});

test('a failure is told by its problems and one count, a success by its counts', () => {
  const output = [
    'building 14 modules',
    "src/moon.ts(3,7): error TS2322: Type 'string' is not assignable",
    'noise',
    'TypeError: phase is not a function',
    '0 errors in other.ts',
    'Tests: 2 failed, 9 passed',
  ].join('\n');
  assert.deepEqual(outcomeLinesOf(output, true), [
    "src/moon.ts(3,7): error TS2322: Type 'string' is not assignable",
    'TypeError: phase is not a function',
    '0 errors in other.ts',
    'Tests: 2 failed, 9 passed',
  ]);
  assert.deepEqual(outcomeLinesOf('compiling\n\u001b[32m12 passed\u001b[0m', false), ['12 passed']);
  assert.deepEqual(outcomeLinesOf('one\ntwo\nthree', true), ['two', 'three']);
  assert.deepEqual(outcomeLinesOf('one\ntwo\nthree', false), []);
});

test('of a line that was written over the last state is told, without colours', () => {
  const shown = 'Turning (1/3)\rTurning (3/3)\r\u001b[K\u001b[32mTurned.\u001b[0m\nnext\r\n';
  assert.equal(stripAnsi(shown), 'Turned.\nnext\r\n');
});

test('links and refusals are read off what tools say', () => {
  assert.deepEqual(
    linksIn('see https://example.org/ada/orbit/pull/7, twice https://example.org/ada/orbit/pull/7'),
    ['https://example.org/ada/orbit/pull/7'],
  );
  assert.equal(refusalIn("The user doesn't want to proceed with this tool use."), '');
  assert.equal(refusalIn('fine'), undefined);
  assert.equal(refusalIn('[Operation Cancelled] Reason: User denied execution.'), '');
  assert.equal(refusalIn('[Operation Cancelled] Reason: Operation cancelled'), '');
  assert.equal(refusalIn('exec command rejected by user'), '');
  assert.equal(refusalIn('patch rejected by user'), '');
  assert.equal(refusalIn('The user rejected permission to use this specific tool call.'), '');
  assert.equal(
    refusalIn(
      'The user rejected permission to use this specific tool call with the following feedback: use the small gate',
    ),
    'use the small gate',
  );
  assert.equal(refusalIn('The user rejected this tool call. User feedback: not today'), 'not today');
  assert.equal(refusalIn('User cancelled - the form says so'), undefined);
  assert.equal(refusalIn('12: the user rejected this tool call'), undefined);
  assert.ok(looksFailed('<tool_use_error>no</tool_use_error>') && !looksFailed('an error-free day'));
});

test('a line tells of a failure though its command ended well', () => {
  for (const line of ['FAIL example.org/lens 5.3s', '--- FAIL: TestLens', '2 failed, 3 passed', '1 error']) {
    assert.equal(readsFailed(line), true, line);
  }
  for (const line of ['ok example.org/lens', '0 failed, 3 passed', '10 passed']) {
    assert.equal(readsFailed(line), false, line);
  }
});

test('frames are taken off a telling line, and what is wrong comes first', () => {
  const text =
    '===== ERRORS =====\nsrc/lens.py:3: in assertion\nE   SyntaxError: bad lens\n!!!! Interrupted: 2 errors !!!!';
  assert.deepEqual(outcomeLinesOf(text, true), [
    'E SyntaxError: bad lens',
    'src/lens.py:3: in assertion',
    'Interrupted: 2 errors',
  ]);
});

test('an output says that something failed, whatever the status; the name of a passing test says nothing', () => {
  const failed = [
    '(fail) turns the dome [2.1ms]',
    '--- FAIL: TestDome (0.01s)',
    'FAIL\tobservatory/dome\t0.01s',
    'Tests: 2 failed, 40 passed',
    '# fail 3',
    'src/dome.ts(4,2): error TS2345: no',
    'make: *** [dome] Error 2',
    '1/1 dome | 0%\nRESULT: FAIL  (0/1 scored)',
    ' 40 pass\n 2 fail',
  ];
  const passed = [
    '(pass) reports an error when 2 failed',
    '✓ tells FAIL from PASS (3 failed inputs)',
    'ok 4 - 2 failed lenses are replaced',
    '--- PASS: TestFailed (0.00s)',
    ' 40 pass\n 0 fail',
    '# fail 0',
    'retries what failed to load',
  ];
  assert.deepEqual(
    failed.filter((text) => !saysFailed(text)),
    [],
  );
  assert.deepEqual(
    passed.filter((text) => saysFailed(text)),
    [],
  );
});

test('a failure is told by the failing test and what was expected, not by the tests that passed', () => {
  const output = [
    '(pass) handles an error in the lens',
    '(pass) expected failures are counted',
    '(fail) turns the dome',
    'error: expect(received).toBe(expected)',
    'Expected: 90',
    'Received: 45',
    ' 12 pass',
    ' 1 fail',
  ].join('\n');
  const lines = outcomeLinesOf(output, true, 6);
  assert.equal(lines[0], '(fail) turns the dome');
  assert.ok(lines.includes('Expected: 90') && lines.includes('Received: 45'), lines.join('\n'));
  assert.ok(!lines.some((line) => line.startsWith('(pass)')), lines.join('\n'));
});

test('every form of a failure is known where it stands alone, and so is every form of a count', () => {
  const failures = [
    '(fail) adds two',
    '--- FAIL: TestAdd',
    'FAIL example.com/add',
    'FAILED tests/test_add.py',
    'not ok 3 - adds',
    'npm ERR! code 1',
    'make[1]: *** [all] Error 2',
    'Traceback (most recent call last):',
    'panic: index out of range',
    'error[E0308]: mismatched types',
    'src/add.ts(1,2): error TS2304: no such name',
    '3 tests failed',
    '# fail 2',
  ];
  for (const line of failures) assert.equal(saysFailed(`before\n${line}\nafter`), true, line);
  const counts = [
    '12 passed in 0.1 s',
    '3 failing in all',
    '2 errors in all',
    '4 warnings in all',
    '1 skipped of all',
    '5 todo of all',
    '2 problems in all',
    '7 examples in all',
    'ok example.com/add 0.1s',
    '# tests 3',
    '# pass 3',
    'Tests: 3 in all',
    'Test 3 of all',
  ];
  for (const line of counts) assert.deepEqual(outcomeLinesOf(`before\n${line}\nafter`, false), [line], line);
});

test('counts that stand in neighbouring lines are all told, each once', () => {
  const output = 'x\n3 passed, 3 passed\n2 failed of all\nnothing\n1 skipped of all';
  assert.deepEqual(outcomeLinesOf(output, false), ['2 failed of all', '1 skipped of all']);
  assert.deepEqual(outcomeLinesOf('3 passed, 3 passed\n2 failed of all', false), [
    '3 passed, 3 passed',
    '2 failed of all',
  ]);
});

test('a traceback is told by its last line and the last place of the project in it', () => {
  const trace = [
    'Traceback (most recent call last):',
    '  File "run.py", line 3, in <module>',
    '    import lens.error',
    '  File "lens/error.py", line 588',
    '    expected = turn(',
    '  File "/usr/lib/python3.13/ast.py", line 9, in parse',
    'IndentationError: unexpected indent',
  ].join('\n');
  assert.deepEqual(outcomeLinesOf(trace, true, 1), [
    'IndentationError: unexpected indent (File "lens/error.py", line 588)',
  ]);
  const node =
    'throw new Error();\n    at failed (/home/ada/error.js:3:7)\nError: no such lens\n    at Error.found (/home/ada/b.js:1:2)';
  assert.deepEqual(outcomeLinesOf(node, true), ['Error: no such lens']);
  assert.equal(readsFailed('Traceback (most recent call last):'), false);
  assert.match(beginningOf(trace), /^IndentationError: unexpected indent/);
  assert.ok(saysFailed(trace), 'it still says that the run failed');
});

test('of a failed run what decides is told before what was printed on the way, and never advice, banners or data', () => {
  const first = (output: string): string => outcomeLinesOf(output, true)[0] ?? '';
  const pushed = [
    '[orbit] Pushing logs to origin... done.',
    'To https://example.org/EveryProject/orbit.git',
    ' ! [rejected]        main -> main (fetch first)',
    "error: failed to push some refs to 'https://example.org/orbit.git'",
    'hint: an error like this is common',
  ];
  assert.match(first(pushed.join('\n')), /^! \[rejected\] {0,8}main -> main \(fetch first\)$/);
  const doctored = '  Session: 7\n  Branch: not found\n  Files: 3\nfailed to ask: could not open /dev/tty';
  assert.equal(first(doctored), 'failed to ask: could not open /dev/tty');
  assert.equal(first('Error: no such lens\n  Branch: main'), 'Error: no such lens');
  const linted =
    '[lint] $ lint run\n[lint] ERROR task failed\nsrc/a.go:9:4: missing cases in switch (exhaustive)';
  assert.equal(first(linted), 'src/a.go:9:4: missing cases in switch (exhaustive)');
  const tested = [
    '=== RUN   TestLens_error',
    'Failed to fetch: no remote',
    '    lens_test.go:50: look() returned error: dark',
    '--- FAIL: TestLens_error (0.02s)',
  ];
  assert.deepEqual(outcomeLinesOf(tested.join('\n'), true).slice(0, 2), [
    'FAIL: TestLens_error (0.02s)',
    'lens_test.go:50: look() returned error: dark',
  ]);
  const framed =
    '12 | export const getError = () => {\n(fail) dome > opens\n ^ this test timed out after 5000ms.';
  assert.deepEqual(outcomeLinesOf(framed, true), [
    '(fail) dome > opens',
    '^ this test timed out after 5000ms.',
  ]);
  assert.equal(
    first('npm error code 1\nnpm error command sh -c tsc'),
    'npm error command sh -c tsc',
    'all there is',
  );
  const coded = 'every export exists\nlens abc123 moved\nError: dark';
  assert.deepEqual(outcomeLinesOf(coded, true), ['Error: dark'], 'no codes');
});

test('what a linter found is told with its place and rule', () => {
  const output =
    'src/a.tsx:9:5 lint/style/useSorted  FIXABLE  ━━━━━━\n\n  × The attributes are not sorted.\n\n× Some errors were emitted.';
  assert.deepEqual(outcomeLinesOf(output, true), [
    '× The attributes are not sorted. (src/a.tsx:9:5 lint/style/useSorted)',
  ]);
});

test('an error that a pipe cut to its last lines is one all the same', () => {
  for (const line of [
    'npm error command failed',
    'Found 4 errors.',
    '✖ 3 problems (2 errors, 1 warning)',
    '[test] ERROR task failed',
  ])
    assert.equal(saysFailed(`3 done\n${line}`), true, line);
  for (const line of ['Found 0 errors.', '✖ 3 problems (0 errors, 3 warnings)', 'no npm error'])
    assert.equal(saysFailed(line), false, line);
});

test('below the name of a failing test stands its error, whatever errors were printed before', () => {
  const output =
    'Could not save: Error: ENOENT\n FAIL  src/dome.test.ts > opens\nAssertionError: expected 3 to be 4\n';
  assert.deepEqual(outcomeLinesOf(output, true).slice(0, 2), [
    'FAIL src/dome.test.ts > opens',
    'AssertionError: expected 3 to be 4',
  ]);
});

test('of a short output the rows are told that fit, with how many there are more', () => {
  assert.equal(beginningOf('?? a.md\n?? lens/\n M dome.ts\n'), '?? a.md | ?? lens/ | M dome.ts');
  const rows = Array.from({ length: 9 }, (_, at) => `?? dome/part-of-the-roof-${at}.ts`);
  assert.equal(beginningOf(rows.join('\n')), `${rows.slice(0, 2).join(' | ')} … (7 more)`);
  assert.equal(beginningOf(rows.join('\n'), true), rows[0], 'the text of a file');
  assert.equal(beginningOf(rows.join('\n').repeat(9)), rows[0], 'a long output');
  assert.equal(
    beginningOf('[{"id":"dome-4","state":"open"},{"id":"dome-5"}]'),
    'id: dome-4; state: open | id: dome-5',
  );
});
