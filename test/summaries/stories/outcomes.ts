// Stories about how runs end: noise, pipes, other spellings, background jobs, scripts inside of scripts.

import { ClaudeTeller } from '../claude-teller.ts';
import { CodexTeller } from '../codex-teller.ts';
import type { SessionStory } from '../story.ts';

/** Warnings that look like failures, though all tests pass. */
const noise: SessionStory = {
  name: 'noise-is-not-failure',
  lines: new ClaudeTeller()
    .user('Run the browser tests of the chart room and tell me whether they pass.')
    .sh(
      'npx playwright test',
      'ERROR:ssl_client_socket_impl.cc(878)] handshake failed; returned -1, SSL error code 1, net_error -202\n  50 passed (12.4s)',
    )
    .agent(
      'All 50 pass. The handshake error is the browser rejecting our own certificate, so it says nothing about the page.',
    )
    .user('Run them twice more, I want to be sure.')
    .sh(
      'npx playwright test',
      'ERROR:ssl_client_socket_impl.cc(878)] handshake failed; returned -1, SSL error code 1, net_error -202\n  50 passed (11.9s)',
    )
    .sh(
      'npx playwright test',
      'ERROR:ssl_client_socket_impl.cc(878)] handshake failed; returned -1, SSL error code 1, net_error -202\n  50 passed (12.1s)',
    )
    .agent('Three runs of 50 tests, all passed.').lines,
  key: {
    first: 'Run the browser tests of the chart room',
    rules: [],
    state: [['Three runs of 50 tests, all passed', '50 passed']],
    decisions: [
      {
        what: 'The handshake error is the browser rejecting our own certificate',
        why: 'so it says nothing about the page',
      },
    ],
    requests: ['Run the browser tests', 'Run them twice more'],
    runs: [{ command: 'playwright test', ended: 'passed' }],
  },
};

/** A pipe hides that nothing ran. */
const piped: SessionStory = {
  name: 'failure-behind-a-pipe',
  lines: new CodexTeller()
    .user('Check the types of the signal box.')
    .sh('pyright src | tail -5', 'bash: line 1: pyright: command not found')
    .agent('`pyright` is not installed, so the types are not checked yet.')
    .sh('make lint 2>&1 | tail -3; true', 'make: *** No rule to make target `lint`.  Stop.')
    .agent(
      '`make lint` does not exist either. Shall I install pyright in a virtual environment, or use mypy, which is in the lock file?',
    ).lines,
  key: {
    first: 'Check the types of the signal box',
    rules: [],
    state: [['Shall I install pyright in a virtual environment, or use mypy']],
    decisions: [],
    requests: ['Check the types'],
    runs: [
      { command: 'pyright src', ended: 'failed' },
      { command: 'make lint', ended: 'failed' },
    ],
    hasFailure: true,
  },
};

/** The failed test passes as part of the whole suite, by another spelling. */
const respelled: SessionStory = {
  name: 'passed-in-another-spelling',
  lines: new ClaudeTeller()
    .user('The crane simulator drops its load in test/hoist.test.js. Repair it.')
    .sh(
      'npx mocha test/hoist.test.js --grep "keeps the load"',
      '  0 passing\n  1 failing\n  1) keeps the load: expected 5 to equal 4',
      1,
    )
    .edit('src/hoist.js', 'load - 1', 'load')
    .sh('npm run lint && npm test', 'lint ok\n\n  38 passing (2s)')
    .sh(
      'bash -lc \'git commit -am "Keep the load while hoisting"\'',
      '[main 44aa010] Keep the load while hoisting\n 1 file changed',
    )
    .agent('Repaired: the loop subtracted one step too many. All 38 tests pass, and it is committed.').lines,
  key: {
    first: 'The crane simulator drops its load',
    rules: [],
    state: [
      ['All 38 tests pass', '38 passing'],
      ['44aa010', 'Keep the load while hoisting'],
    ],
    decisions: [{ what: 'Repaired', why: 'the loop subtracted one step too many' }],
    requests: ['crane simulator'],
    runs: [
      { command: 'mocha test/hoist.test.js', ended: 'passed' },
      { command: 'npm test', ended: 'passed' },
    ],
    git: { newest: 'Keep the load while hoisting' },
    changed: ['src/hoist.js'],
    untrue: ['No commit by the agent'],
  },
};

/** Jobs in the background: one ended well, one failed. */
const background: SessionStory = {
  name: 'background-jobs',
  lines: new ClaudeTeller()
    .user('Build the station map and run the long soak test meanwhile.')
    .background('npm run build:map', 'b1')
    .background('npm run soak', 'b2')
    .looked('b1', 'map built: 214 stations', 'completed')
    .agent('The map is built with 214 stations; the soak test goes on.')
    .looked('b2', 'soak: round 812 of 1000\nError: heap limit reached at round 813', 'failed', 134)
    .notified('b2', 'Background command "npm run soak" failed with exit code 134')
    .agent(
      'The soak test died at round 813 from lack of memory. I suspect the tile cache, because it is the only thing that grows.',
    ).lines,
  key: {
    first: 'Build the station map',
    rules: [],
    state: [['The soak test died at round 813', 'heap limit reached at round 813'], ['214 stations']],
    decisions: [{ what: 'I suspect the tile cache', why: 'because it is the only thing that grows' }],
    requests: ['Build the station map'],
    runs: [
      { command: 'npm run soak', ended: 'failed' },
      { command: 'npm run build:map', ended: 'passed' },
    ],
    hasFailure: true,
    ended: ['npm run soak', 'npm run build:map'],
  },
};

/** Commands inside of JavaScript, with a failure and an edit. */
const carried: SessionStory = {
  name: 'commands-in-javascript',
  lines: new CodexTeller()
    .user('Rename the flag --quiet of the buoy tool to --silent. Keep --quiet as a hidden alias.')
    .js(
      'const r = await tools.exec_command({cmd: "git switch -c silent-flag && rg -n quiet src"}); text(r.output);',
      "Switched to a new branch 'silent-flag'\nsrc/args.ts:8:  quiet: boolean",
    )
    .js(
      'const p = await tools.apply_patch("*** Begin Patch\\n*** Update File: src/args.ts\\n@@\\n-  quiet: boolean\\n+  silent: boolean\\n*** End Patch"); text(p);',
      'Success. Updated the following files:\nM src/args.ts',
    )
    .js(
      'const t = await tools.exec_command({cmd: "npm test"}); text(t.output + "\\nexit " + t.exit_code);',
      '1 failing\n  hidden alias: expected silent to be true\nexit 1',
    )
    .agent(
      'The rename is in `src/args.ts` on the branch `silent-flag`. The test of the hidden alias fails, because the alias is parsed after the default is set.',
    ).lines,
  key: {
    first: 'Rename the flag --quiet of the buoy tool',
    rules: ['Keep --quiet as a hidden alias.'],
    state: [['The test of the hidden alias fails'], ['silent-flag']],
    decisions: [
      {
        what: 'The test of the hidden alias fails',
        why: 'because the alias is parsed after the default is set',
      },
    ],
    requests: ['Rename the flag'],
    runs: [{ command: 'npm test', ended: 'failed' }],
    hasFailure: true,
    git: { branch: 'silent-flag' },
    changed: ['src/args.ts'],
    untrue: ['The agent had answered the current request'],
  },
};

/** A test that fails, is repaired, and fails for another cause at the end. */
const repaired: SessionStory = {
  name: 'failed-and-repaired',
  lines: new CodexTeller()
    .user('Make the weather parser accept gusts. Tests first.')
    .write('test/gust.test.ts', "test('gusts', () => assert.equal(parse('G30').gust, 30));")
    .sh('node --test test/gust.test.ts', '✖ gusts\n  TypeError: cannot read gust of undefined\n# fail 1', 1)
    .edit('src/parse.ts', 'return { wind };', 'return { wind, gust };')
    .sh('env TZ=UTC node --test test/gust.test.ts', '✔ gusts\n# pass 1\n# fail 0')
    .sh('node --test', '# pass 21\n# fail 0')
    .agent('Gusts are parsed. I return `undefined` instead of 0 without a gust, because 0 would mean calm.')
    .user('Now squalls, marked SQ.')
    .write('test/squall.test.ts', "test('squalls', () => assert.equal(parse('SQ40').squall, 40));")
    .sh('node --test test/squall.test.ts', '✖ squalls\n# fail 1', 1)
    .agent('The test of the squalls fails as it should; the parser comes next.').lines,
  key: {
    first: 'Make the weather parser accept gusts',
    rules: ['Tests first.'],
    state: [['Now squalls, marked SQ'], ['The test of the squalls fails as it should']],
    decisions: [{ what: 'I return `undefined` instead of 0', why: 'because 0 would mean calm' }],
    requests: ['weather parser', 'Now squalls'],
    runs: [
      { command: 'test/gust.test.ts', ended: 'passed' },
      { command: 'test/squall.test.ts', ended: 'failed' },
    ],
    hasFailure: true,
    changed: ['test/gust.test.ts', 'src/parse.ts', 'test/squall.test.ts'],
    untrue: ['The agent had answered the current request'],
  },
};

/** The stories about runs. */
export const OUTCOME_STORIES: readonly SessionStory[] = [
  noise,
  piped,
  respelled,
  background,
  carried,
  repaired,
];
