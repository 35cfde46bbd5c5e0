import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { trailOf } from '../../test/support/trail.ts';
import type { LogRecord } from '../protocol/record.ts';
import { TrailCollector } from './collect.ts';

const home = '/home/ada/orbit';

test('requests are the words of the user, in order, with what was done about each', () => {
  const trail = trailOf(
    Story.in(home)
      .harness('# AGENTS.md instructions for everyone: never sleep')
      .user('<environment_context>\n<cwd>/x</cwd>\n</environment_context>')
      .user('Add a moon to the map.')
      .edit(`${home}/src/map.ts`, 'a', 'addMoon()')
      .sh('npm test', '12 passed')
      .agent('The moon is on the map now.')
      .user('<command-name>/compact</command-name>')
      .user('Now a second one.<system-reminder>always be kind</system-reminder>'),
  );
  assert.deepEqual(
    trail.requests.map(({ turn, text }) => [turn, text]),
    [
      [1, 'Add a moon to the map.'],
      [2, 'Now a second one.'],
    ],
  );
  assert.deepEqual(trail.requests[0]?.actions, {
    edited: ['src/map.ts'],
    commands: 1,
    failedCommands: 0,
    outcome: 'The moon is on the map now.',
  });
  assert.deepEqual(trail.constraints, []);
});

test('a command that the harness spells out is a request, with what it stands for', () => {
  const command = '<command-message>dock</command-message>\n<command-name>/dock</command-name>';
  const spelled =
    'Base directory for this skill: /skills/dock\n\n# Docking\n\n```sh\n# look\n```\n## 1. Slow down\nNever hurry.';
  const { requests, constraints } = trailOf(
    Story.in(home)
      .user(command)
      .harness(spelled)
      .agent('Slowing down.')
      .user(`${command}<command-args>port 3</command-args>`)
      .harness('Dock gently\nat the port named.')
      .user('Now undock.')
      .harness('# No command came before this.'),
  );
  assert.deepEqual(
    requests.map(({ text, instructions }) => [text, instructions]),
    [
      ['/dock', 'the instructions in /skills/dock: Docking; Slow down'],
      ['/dock port 3', 'these instructions: Dock gently at the port named.'],
      ['Now undock.', undefined],
    ],
  );
  assert.deepEqual(constraints, [], 'rules of the harness are not the user’s');
  assert.deepEqual(
    requests.map(({ orders }) => orders),
    [['Never hurry.'], [], []],
  );
});

test('rules keep the turn they were first said in, also when they are said again', () => {
  const { constraints } = trailOf(
    Story.in(home)
      .user('Never use globals. Go.')
      .user('Do more.')
      .user('never use globals. Use pnpm, not npm.'),
  );
  assert.deepEqual(constraints, [
    { turn: 1, text: 'never use globals.', isPasted: false },
    { turn: 3, text: 'Use pnpm, not npm.', isPasted: false },
  ]);
});

test('a question of the agent and the answer of the user belong together', () => {
  const { answers } = trailOf(
    Story.in(home)
      .user('Start.')
      .agent('I looked around. Shall I keep the old loader?')
      .user('yes, keep it')
      .call(
        'AskUserQuestion',
        { questions: [{ question: 'Which port?' }] },
        'User has answered: port 8080 only.',
      ),
  );
  assert.deepEqual(
    answers.map(({ question, answer }) => [question, answer]),
    [
      ['Shall I keep the old loader?', 'yes, keep it'],
      ['Which port?', 'User has answered: port 8080 only.'],
    ],
  );
});

test('a renamed file goes by its new name, a deleted one is gone, a failed edit changed nothing', () => {
  const { files } = trailOf(
    Story.in(home)
      .user('Tidy up.')
      .edit(`${home}/src/old.ts`, 'x', 'const orbitSpeed = 3;')
      .sh('git mv src/old.ts src/new.ts && rm src/waste.ts')
      .call('Edit', { file_path: `${home}/src/other.ts`, new_string: 'y' }, '<tool_use_error>no match', false)
      .sh(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: src/fresh.ts\n+export class Comet {}\n*** End Patch\nEOF",
      ),
  );
  const seen = Object.fromEntries(files.map((file) => [file.path, file]));
  assert.deepEqual(files.map(({ path }) => path).toSorted(), ['src/fresh.ts', 'src/new.ts', 'src/waste.ts']);
  assert.equal(seen['src/new.ts']?.state, 'edited');
  assert.deepEqual(seen['src/new.ts']?.renamedFrom, ['src/old.ts']);
  assert.deepEqual(seen['src/new.ts']?.snippets, ['const orbitSpeed = 3;']);
  assert.equal(seen['src/waste.ts']?.state, 'deleted');
  assert.equal(seen['src/fresh.ts']?.state, 'created');
  assert.ok(seen['src/fresh.ts']?.symbols.includes('Comet') === false, 'one plain word is no identifier');
});

const moons = '  7→export function phaseOf(day: number) {\n  8→  return cycleOf(day).moonPhase;\n  9→}';

/** What is told of one file. */
function fileRendered(path: string, story: Story) {
  const found = trailOf(story).files.find((one) => one.path === path);
  assert.ok(found, `nothing is told of ${path}`);
  return { ...found, rows: found.rows().map(({ text }) => text) };
}

const moon = (story: Story) => fileRendered('src/moon.ts', story);
const read = () => Story.in(home).user('Mend the moon.').read(`${home}/src/moon.ts`, moons);

test('what a later edit took out of a file is not told as what stands in it', () => {
  assert.deepEqual(moon(read()).rows, ['8: return cycleOf(day).moonPhase;']);
  const edited = moon(
    read().edit(`${home}/src/moon.ts`, '  return cycleOf(day).moonPhase;', '  return phases.nth(day);'),
  );
  assert.ok(!edited.symbols.includes('cycleOf'), 'its only line is gone');
  assert.deepEqual(edited.rows, [], 'and the new one is told as part of the edit');
  const patch =
    '*** Begin Patch\n*** Update File: src/moon.ts\n@@\n-export function phaseOf(day: number) {\n-  return cycleOf(day).moonPhase;\n-}\n*** End Patch';
  const patched = moon(read().call('apply_patch', { input: patch }, 'Done'));
  assert.deepEqual([patched.rows, patched.symbols, [...patched.definitions]], [[], [], []]);
  const many = {
    file_path: `${home}/src/moon.ts`,
    edits: [{ old_string: 'cycleOf(day)', new_string: 'cycleAt(day)' }],
  };
  const multi = moon(read().call('MultiEdit', many, 'updated'));
  assert.deepEqual(multi.rows, ['return cycleAt(day).moonPhase;'], 'without a number: lines may have moved');
});

test('a name that another text of the file still holds is told from there', () => {
  const story = read().read(`${home}/src/moon.ts`, '  8→  return cycleOf(day).moonPhase;');
  const { rows } = moon(
    story.edit(
      `${home}/src/moon.ts`,
      'export function phaseOf(day: number) {\n',
      'export function phaseAt(day: number) {\n',
    ),
  );
  assert.deepEqual(
    rows.filter((row) => row.includes('cycleOf')),
    ['return cycleOf(day).moonPhase;'],
  );
});

test('a line that was taken out and read again stands there', () => {
  const story = read().edit(`${home}/src/moon.ts`, '  return cycleOf(day).moonPhase;', '  return 1;');
  assert.deepEqual(moon(story.read(`${home}/src/moon.ts`, moons)).rows, [
    '8: return cycleOf(day).moonPhase;',
  ]);
});

test('the newest small edit is not told once a later one rewrote it', () => {
  const first = read().edit(`${home}/src/moon.ts`, 'a()', 'const brightest = findBrightest(moons);');
  assert.equal(moon(first).snippets.length, 1);
  const second = first.edit(
    `${home}/src/moon.ts`,
    'const brightest = findBrightest(moons);',
    'x'.repeat(900),
  );
  assert.deepEqual(moon(second).snippets, []);
});

test('a whole write, or the end of a file, leaves nothing of what stood in it', () => {
  const written = { file_path: `${home}/src/moon.ts`, content: 'export const moonCount = countMoons();' };
  assert.deepEqual(moon(read().call('Write', written, 'written')).rows, [
    'export const moonCount = countMoons();',
  ]);
  for (const script of [
    'make moon > src/moon.ts',
    'make moon | tee src/moon.ts',
    'rm src/moon.ts',
    'rm -rf src',
  ]) {
    const { rows, symbols } = moon(read().sh(script));
    assert.deepEqual([rows, symbols], [[], []], script);
  }
  assert.equal(moon(read().sh('make moon | tee -a src/moon.ts')).rows.length, 1);
});

test('what git put back is not what was edited, and nothing of the edit is told', () => {
  const edit = () =>
    Story.in(home).user('Go.').edit(`${home}/src/moon.ts`, 'a()', 'const brightest = findBrightest(moons);');
  assert.equal(moon(edit()).isRestored, false);
  for (const script of [
    'git checkout src/moon.ts',
    'git checkout -- src/moon.ts',
    'git checkout HEAD~1 src/moon.ts',
    'git checkout -- src',
    'cd src && git restore moon.ts',
    'git restore --staged --worktree src/moon.ts',
    'git restore .',
    'git reset --hard',
    'git stash push -m later -- src/moon.ts',
    `git -C ${home} checkout -- src/moon.ts`,
  ]) {
    const { isRestored, rows, snippets } = moon(edit().sh(script));
    assert.deepEqual([isRestored, rows, snippets], [true, [], []], script);
  }
  for (const script of [
    'git checkout main',
    'git checkout -b src/moon.ts',
    'git restore --staged src/moon.ts',
    'git restore src/star.ts',
    'git reset --soft HEAD~1',
  ]) {
    assert.equal(moon(edit().sh(script)).isRestored, false, script);
  }
  assert.equal(
    moon(edit().sh('git restore src/moon.ts', 'error: pathspec', 1)).isRestored,
    false,
    'git refused',
  );
  assert.equal(moon(edit().sh('git restore .').edit(`${home}/src/moon.ts`, 'b()', 'c()')).isRestored, false);
});

test('what git put back before a commit counts for nothing, what a commit holds stays edited', () => {
  const edit = () => Story.in(home).user('Go.').edit(`${home}/src/moon.ts`, 'a()', 'b()');
  const again = edit().sh('git checkout src/moon.ts').edit(`${home}/src/moon.ts`, 'a()', 'c()');
  assert.equal(moon(again).edits, 1);
  assert.deepEqual(trailOf(edit().sh('git restore .')).requests[0]?.actions.edited, []);
  const commit = '[main 1a2b3c4] moon\n 1 file changed';
  const committed = () => edit().sh('git commit -am moon', commit);
  for (const script of ['git checkout --theirs src/moon.ts', 'git checkout -- src/moon.ts']) {
    const { isRestored, edits } = moon(committed().sh(script));
    assert.deepEqual([isRestored, edits], [false, 1], script);
  }
  assert.deepEqual(trailOf(committed().sh('git checkout --theirs src/moon.ts')).requests[0]?.actions.edited, [
    'src/moon.ts',
  ]);
  assert.equal(moon(committed().sh('git checkout HEAD~1 -- src/moon.ts')).isRestored, true);
  const later = committed().edit(`${home}/src/moon.ts`, 'b()', 'd()').sh('git checkout src/moon.ts');
  assert.equal(moon(later).isRestored, true);
});

test('a step whose change git threw away is not told, nor is the change', () => {
  const story = Story.in(home)
    .user('Go.')
    .edit(`${home}/src/moon.ts`, 'a()', 'b()')
    .edit(`${home}/src/star.ts`, 'a()', 'b()')
    .sh('git checkout src/moon.ts');
  const { tail, actions } = trailOf(story).current;
  assert.deepEqual(
    tail.map(({ isStale }) => isStale),
    [true, false, false],
  );
  assert.deepEqual(
    actions.map(({ text }) => text),
    ['edited src/star.ts', 'had git put back src/moon.ts'],
  );
});

test('a failure is open until the same command passes, and tells what was edited in between', () => {
  const story = Story.in(home)
    .user('Make it pass.')
    .sh(
      'cd pkg && npm test -- --watch=false | tail -20',
      'FAIL src/moon.test.ts\n  TypeError: phase is not a function',
      1,
    );
  assert.deepEqual(
    trailOf(story).failures.map(({ outcome, times }) => [outcome, times]),
    [['open', 1]],
  );
  const [failure] = trailOf(
    story.edit(`${home}/src/moon.ts`, 'a', 'b').sh('npm test --silent', '8 passed'),
  ).failures;
  assert.equal(failure?.outcome, 'passed');
  assert.deepEqual(failure?.editedBetween, ['src/moon.ts']);
  assert.ok(failure?.outcomeLines.some((line) => line.includes('phase is not a function')));
});

test('a command that runs on gets the status that a later write saw', () => {
  const { failures } = trailOf(
    Story.in(home)
      .user('Build.')
      .call('exec_command', { cmd: 'make all' }, 'Process running with session ID 41\nOutput:\nstarting')
      .call(
        'write_stdin',
        { session_id: 41, chars: '' },
        'Process exited with code 2\nOutput:\nmake: error: no rule',
      ),
  );
  assert.deepEqual(
    failures.map(({ command, outcomeLines: telling }) => [command, telling]),
    [['make all', ['make: error: no rule']]],
  );
});

test('what a script of several rows printed is told as that of all its rows', () => {
  const quoteOf = (script: string) =>
    trailOf(Story.in(home).user('Polish all.').sh(script, 'Polished the lens.')).identifiers.find(
      ({ text }) => text === 'comet_mirror',
    )?.quote;
  assert.equal(quoteOf('polish comet_mirror')?.isRowOfMany, undefined);
  const { text, isRowOfMany } = quoteOf('polish nebula_lens\npolish comet_mirror') ?? {};
  assert.deepEqual([text, isRowOfMany], ['polish comet_mirror', true]);
});

test('what a command that runs on came to is what it printed in the end, and until then nobody knows', () => {
  const started = (): Story =>
    Story.in(home)
      .user('Set up the dome.')
      .call(
        'exec_command',
        { cmd: 'dome create --kind full_orbit' },
        'Process running with session ID 41\nOutput:\n',
      );
  const cameTo = (story: Story) =>
    trailOf(story).identifiers.find(({ text }) => text === 'full_orbit')?.quote?.outcome;
  assert.equal(cameTo(started()), '(still running)');
  const asked = { session_id: 41, chars: '' };
  const polled = started().call('write_stdin', asked, 'Process running with session ID 41\nOutput:\n');
  assert.equal(cameTo(polled), '(still running)');
  assert.equal(
    cameTo(polled.call('write_stdin', asked, 'Process exited with code 0\nOutput:\nCreated dome 7\n')),
    'Created dome 7',
  );
});

test('what the user refused is no failure, and why is the word of the user', () => {
  const refusal =
    "The user doesn't want to proceed with this tool use. To tell you how, the user said:\nNever push to main.";
  const { failures, answers, constraints } = trailOf(
    Story.in(home).user('Ship it.').call('Bash', { command: 'git push origin main' }, refusal, false),
  );
  assert.deepEqual(failures, []);
  assert.match(answers[0]?.answer ?? '', /Never push to main/);
  assert.deepEqual(
    constraints.map(({ text }) => text),
    ['Never push to main.'],
  );
});

test('commits are kept with hash and subject; an amended one replaces the last', () => {
  const { commits } = trailOf(
    Story.in(home)
      .user('Commit.')
      .sh('git commit -m "Add moon"', '[main 1a2b3c4] Add moon\n 1 file changed')
      .sh('git commit --amend -m "Add a moon"', '[main 5d6e7f8] Add a moon')
      .sh('git commit -qm "Add a sun"')
      .sh('git commit -q -m "Add a star"'),
  );
  assert.deepEqual(
    commits.map(({ hash, subject }) => [hash, subject]),
    [
      ['5d6e7f8', 'Add a moon'],
      [undefined, 'Add a sun'],
      [undefined, 'Add a star'],
    ],
  );
});

test('an edit that an editor rejects is a failure of it, whatever tool sent it, until one goes through', () => {
  const edit = { code: "edit_file_by_replace('/w/lens.ts', to_replace='dim', new_content='bright(')" };
  const rejection = '[Your proposed edit has introduced new syntax error(s).]\n/w/lens.ts:3';
  const told = Story.in('/w')
    .user('Go.')
    .call('run_ipython', edit, rejection)
    .call('run_ipython', edit, rejection);
  const [failure] = trailOf(told).failures;
  assert.equal(failure?.command, 'edit lens.ts');
  assert.deepEqual(trailOf(told).files, []);
  assert.deepEqual(
    trailOf(told).current.tail.map(({ changed }) => changed),
    [undefined, undefined],
  );
  const done = trailOf(told.call('run_ipython', edit, '[File: /w/lens.ts (9 lines total after edit)]'));
  assert.deepEqual(
    done.files.map(({ path, state }) => [path, state]),
    [['lens.ts', 'edited']],
  );
  assert.deepEqual(done.failures, []);
});

test('an edit that its tool could not make is a failure of it, in whatever words, and changed nothing', () => {
  const asked = { file_path: '/w/lens.ts', old_string: 'dim', new_string: 'bright' };
  const patch = '*** Begin Patch\n*** Update File: /w/lens.ts\n@@\n-dim\n+bright\n*** End Patch';
  const story = () => Story.in('/w').user('Go.');
  const unmade: readonly (readonly [Story, string])[] = [
    [
      story().call(
        'Edit',
        asked,
        '<tool_use_error>String to replace not found in file.\nString: dim</tool_use_error>',
        false,
      ),
      'String to replace not found in file',
    ],
    [
      story().call(
        'Write',
        { file_path: '/w/lens.ts', content: 'bright' },
        '<tool_use_error>File has not been read yet.</tool_use_error>',
        false,
      ),
      'File has not been read yet',
    ],
    [
      story().call(
        'apply_patch',
        { input: patch },
        'apply_patch verification failed: Failed to find expected lines in /w/lens.ts:\ndim',
      ),
      'Failed to find expected lines',
    ],
  ];
  for (const [told, why] of unmade) {
    const { failures, files } = trailOf(told);
    assert.deepEqual(
      failures.map(({ command, outcomeLines: telling }) => [command, telling[0]]),
      [['edit lens.ts', why]],
    );
    assert.deepEqual(files, []);
    assert.deepEqual(trailOf(told.edit('/w/lens.ts', 'dim;', 'bright;')).failures, []);
  }
});

test('results of the newest steps name files from the working directory', () => {
  const { tail, unread } = trailOf(
    Story.in(home).user('Go.').sh('rg lens', `${home}/src/lens.ts:3: lens`),
  ).current;
  assert.deepEqual(
    [...tail, ...unread].map(({ result }) => result),
    Array(2).fill('src/lens.ts:3: lens'),
  );
});

test('a plan names what its steps name, not the words of its tool', () => {
  const todos = [{ content: 'Turn the big_lens', status: 'in_progress', activeForm: 'Turning the big_lens' }];
  const { identifiers } = trailOf(
    Story.in(home)
      .user('Go.')
      .call('TodoWrite', { todos }, 'ok')
      .call('TaskUpdate', { taskId: '1', status: 'in_progress', subject: 'Oil the big_lens' }, 'ok'),
  );
  assert.deepEqual(
    identifiers.map(({ text }) => text),
    ['big_lens'],
  );
});

test('the newest plan holds; tasks that are set one by one add up to one', () => {
  const lists = trailOf(
    Story.in(home)
      .user('Go.')
      .plan('now: read', 'todo: write')
      .plan('done: read', 'now: write')
      .plan('now: sing'),
  );
  assert.deepEqual(lists.plan?.steps, [{ text: 'sing', status: 'in_progress' }]);
  assert.equal(lists.plan.revisions, 1);
  const tasks = trailOf(
    Story.in(home)
      .user('Go.')
      .call('TaskCreate', { subject: 'Read' }, 'ok')
      .call('TaskCreate', { subject: 'Write' }, 'ok')
      .call('TaskUpdate', { taskId: '1', status: 'completed' }, 'ok'),
  );
  assert.deepEqual(
    tasks.plan?.steps.map(({ text, status }) => `${text} ${status}`),
    ['Read completed', 'Write pending'],
  );
});

test('a summary is no evidence where its past is in the log', () => {
  const trail = trailOf(
    Story.in(home).user('Paint it blue.').compacted('The user wants it red.').user('Go on.'),
  );
  assert.equal(trail.carriedOver, undefined);
  assert.deepEqual(
    trail.requests.map(({ text }) => text),
    ['Paint it blue.', 'Go on.'],
  );
});

test('a summary that stands among the items is no evidence either', () => {
  const summary: LogRecord = {
    type: 'item',
    item: {
      type: 'message',
      role: 'user',
      isCompactSummary: true,
      content: [{ type: 'input_text', text: 'The user wants it red. Never use blue.' }],
    },
  };
  const after = trailOf(Story.in(home).user('Paint it blue.').record(summary));
  assert.deepEqual([after.carriedOver, after.constraints, after.turns], [undefined, [], 1]);
  const before = trailOf(Story.in(home).record(summary).user('Go on.'));
  assert.equal(before.carriedOver, 'The user wants it red. Never use blue.');
});

test('a summary is carried over where the file starts with it', () => {
  const trail = trailOf(
    Story.in(home).compacted('The user wants it red.').user('Go on.').compacted('Second.'),
  );
  assert.equal(trail.carriedOver, 'The user wants it red.');
  assert.equal(trail.compactions, 2);
});

test('undo, cleared results and side traffic change nothing', () => {
  const plain = Story.in(home).user('Paint it blue.').edit(`${home}/a.ts`, 'x', 'y');
  const side = Story.in(home)
    .user('Paint it blue.')
    .record({ type: 'undo_compaction', compactionId: 'x' })
    .record({ type: 'micro_compacted', id: 'm', callIds: ['call-1'] })
    .record({
      type: 'side_item',
      why: 'subagent',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Never mind.' }] },
    })
    .edit(`${home}/a.ts`, 'x', 'y');
  const told = (story: Story) => {
    const trail = trailOf(story);
    return { ...trail, files: trail.files.map((file) => ({ ...file, rows: file.rows() })) };
  };
  assert.deepEqual(told(side), told(plain));
});

test('a trail that was asked for stays as it was while the session goes on', () => {
  const story = read();
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const [before, length] = [collector.trail(), story.records.length];
  story.edit(`${home}/src/moon.ts`, '  return cycleOf(day).moonPhase;', '  return 1;');
  for (const record of story.records.slice(length)) collector.add(record);
  assert.deepEqual(collector.trail().files[0]?.rows(), []);
  const rows = before.files.flatMap((file) => file.rows().map(({ text }) => text));
  assert.deepEqual(rows, ['8: return cycleOf(day).moonPhase;']);
});

test('the trail of a very long session is no larger than that of a long one', () => {
  const size = (turns: number): number => {
    const collector = new TrailCollector();
    for (let turn = 0; turn < turns; turn++) {
      const story = Story.in(home)
        .user(`Do part ${turn}. Never break unit_${turn}.`)
        .agent(`I chose plan_${turn} because step_${turn} needs file_${turn}.ts. ${'x y '.repeat(200)}`)
        .edit(`${home}/src/file_${turn}.ts`, 'a', `const value_${turn} = ${turn};`)
        .sh(`npm run check_${turn}`, `error in part_${turn}\n${'noise '.repeat(3_000)}`, 1);
      for (const record of story.records) collector.add(record);
    }
    return JSON.stringify(collector.trail()).length;
  };
  assert.ok(size(4_000) < 1.3 * size(2_000));
});

const handedBack =
  '[baton:handoff sequence=s1]\nHere is your packet back:\n\nThe goal is a tax table.\n\nContinue from here.';

test('what Baton said is neither a request nor a statement of the agent', () => {
  const story = Story.in('/w').user('Write the tax table').agent('I decided on CSV because it diffs well.');
  for (const role of ['user', 'assistant'] as const) {
    const type = role === 'user' ? 'input_text' : 'output_text';
    story.record({
      type: 'item',
      item: {
        type: 'message',
        role,
        content: [{ type, text: handedBack }],
        origin: { author: 'synthetic', step: role === 'user' ? 'handoff' : 'packet', sequenceId: 's1' },
      },
    });
  }
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const trail = collector.trail();
  assert.deepEqual(
    trail.requests.map(({ text }) => text),
    ['Write the tax table'],
  );
  assert.doesNotMatch(JSON.stringify(trail.statements), /tax table/);
  assert.equal(trail.carriedOver, undefined, 'its past is in the log');
});

test('a handoff whose past is not in the log is carried over', () => {
  const collector = new TrailCollector();
  collector.add({
    type: 'item',
    item: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: handedBack }],
      origin: { author: 'synthetic', step: 'handoff', sequenceId: 's1' },
    },
  });
  assert.match(collector.trail().carriedOver ?? '', /^Here is your packet back:\n\nThe goal is a tax table/);
});

test('of a script its commands are quoted, not the texts that they are given', () => {
  const { identifiers } = trailOf(
    Story.in(home)
      .user('Mend the moon.')
      .agent('I commit it.')
      .sh(
        'git commit -F - <<END\nTurn `lunarPhase` around\n\nSigned-off-by: Ada_Byron\nEND\nnpx moonCheck --full_orbit',
        'ok',
      ),
  );
  const quoteOf = (name: string) => identifiers.find(({ text }) => text === name)?.quote?.text;
  assert.equal(quoteOf('moonCheck'), 'npx moonCheck --full_orbit');
  assert.ok(
    identifiers.some(({ text }) => text === 'lunarPhase'),
    'the name is known all the same',
  );
  assert.equal(quoteOf('lunarPhase'), undefined);
  assert.equal(quoteOf('Ada_Byron'), undefined);
});

function open(callId: string, cmd: string): LogRecord {
  const args = JSON.stringify({ cmd });
  return {
    type: 'item',
    item: { type: 'function_call', name: 'exec_command', arguments: args, call_id: callId },
  };
}

test('calls without a result at the end of the log were started; those before a message were broken off', () => {
  const story = Story.in(home).user('Go.').agent('I start.').record(open('a', 'npm run orbit'));
  story.record(open('b', 'npm run land'));
  assert.deepEqual(
    trailOf(story).current.started.map(({ text }) => text),
    ['npm run orbit', 'npm run land'],
  );
  assert.deepEqual(trailOf(story.user('Stop.')).current.started, []);
});

test('a refusal is the word of the user in every agent, and no failure', () => {
  for (const said of [
    '[Operation Cancelled] Reason: User denied execution.',
    'exec command rejected by user',
  ]) {
    const trail = trailOf(
      Story.in(home)
        .user('Go.')
        .agent('I commit.')
        .call('run_shell_command', { command: 'git push' }, said, false),
    );
    assert.deepEqual(trail.failures, [], said);
    assert.deepEqual(
      trail.answers.map(({ answer }) => answer),
      ['no (refused without a word)'],
    );
  }
});

test('commands of a client are no requests', () => {
  const { requests } = trailOf(
    Story.in(home)
      .user('Go.')
      .user('/mode')
      .user('/')
      .user('/model fast')
      .user('/orbit the moon')
      .user('/land'),
  );
  assert.deepEqual(
    requests.map(({ text }) => text),
    ['Go.', '/orbit the moon', '/land'],
  );
});

test('what git said of the work tree is forgotten once a file changed or a commit was made', () => {
  const looked = () => Story.in(home).user('Go.').sh('git status', 'On branch main\nworking tree clean');
  const collected = (story: Story) => JSON.stringify(trailOf(story).current);
  assert.match(collected(looked()), /working tree clean/);
  assert.match(collected(looked().read(`${home}/src/moon.ts`, moons)), /working tree clean/);
  assert.doesNotMatch(collected(looked().edit(`${home}/src/moon.ts`, 'a()', 'b()')), /working tree clean/);
  assert.doesNotMatch(collected(looked().sh('git commit -m x', '[main 1a2b3c4] x')), /working tree clean/);
  const compared = Story.in(home)
    .user('Go.')
    .sh('git diff', '+ openDome();')
    .edit(`${home}/a.ts`, 'a()', 'b()');
  assert.match(
    JSON.stringify(trailOf(compared).current.tail),
    /openDome/,
    'lines that differed are a step of the work',
  );
  assert.doesNotMatch(JSON.stringify(trailOf(compared).current.unread), /openDome/, 'but no newest result');
  const tested = Story.in(home).user('Go.').sh('npm test; git status', '3 passed\nworking tree clean');
  assert.match(
    collected(tested.edit(`${home}/src/moon.ts`, 'a()', 'b()')),
    /3 passed/,
    'a run of tests is told',
  );
});

test('the newest commit is known where git was quiet, in another directory, or a script failed behind it', () => {
  const newest = (script: string, output = '', code = 0) =>
    trailOf(Story.in(home).user('Go.').sh(script, output, code)).tree.newest?.hash ?? 'none';
  assert.equal(newest('git -C ../atlas commit -m x', '[main 1a2b3c4] x'), '1a2b3c4');
  assert.equal(newest('git commit -m x && git push', '[main 1a2b3c4] x\nfatal: no remote', 128), '1a2b3c4');
  assert.equal(newest('git commit -m x', 'fatal: nothing', 1), 'none');
  const quiet = trailOf(Story.in(home).user('Go.').sh('git commit -q -F message.txt'));
  assert.equal(quiet.tree.hasCommits, true, 'though nothing tells its subject');
});

test('what an edit only quotes to find its place is no line that it added, unless an earlier edit wrote it', () => {
  const path = `${home}/src/dome.ts`;
  const before = 'export function turnDome(angle: number) {\n  return slowMotor(angle, domeSpeed);\n}';
  const after = before.replace('  return', '  checkShutter(angle, openShutters);\n  return');
  const again = after.replace('  return', '  logAngle(angle, nightJournal, true);\n  return');
  const written = (story: Story): string[] =>
    (trailOf(story).files[0]?.rows() ?? []).filter((row) => row.isWritten).map(({ text }) => text);
  const story = Story.in(home).user('Mend the dome.').edit(path, before, after);
  assert.deepEqual(written(story), ['checkShutter(angle, openShutters);']);
  assert.deepEqual(written(story.edit(path, after, again)).toSorted(), [
    'checkShutter(angle, openShutters);',
    'logAngle(angle, nightJournal, true);',
  ]);
});

test('what stands behind `||` is told as run where the output shows it', () => {
  const trail = trailOf(
    Story.in(home)
      .user('Set the dome up.')
      .sh('rg -q dome orbit.toml || orbitctl init', 'ready')
      .sh('npm test || true', '3 passed')
      .sh('git diff --cached --quiet || git commit -m "Turn the dome"', '[main 6c3f339] Turn the dome')
      .sh('cat src/dome.ts || cat src/old.ts', 'export const slowMotor = turnDome(angle, 3);'),
  );
  assert.deepEqual(
    trail.commands.map(({ command }) => command),
    ['npm test'],
  );
  assert.deepEqual(
    trail.commits.map(({ hash }) => hash),
    ['6c3f339'],
  );
  assert.deepEqual(
    trail.files.map(({ path, symbols }) => [path, symbols]),
    [['src/dome.ts', []]],
  );
});

test('what a reader and a harness say around a text is no line of the file', () => {
  const notices = [
    "IMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-9 of 90 total lines.\nAction: use the 'start_line' and 'end_line' parameters in a subsequent 'read_file' call.\n\n--- FILE CONTENT (truncated) ---\n",
    '[File: /home/ada/orbit/src/night_dome.py (42 lines total)]\n(this is the beginning of the file)\n',
    '(18 more lines above)\n',
    '<system-reminder>Whether it is a night_dome, consider turn_angle.</system-reminder>',
  ];
  for (const notice of notices) {
    const told = fileRendered(
      'src/dome.ts',
      Story.in(home)
        .user('Mend the dome.')
        .read(
          `${home}/src/dome.ts`,
          `${notice}  return slowMotor(angle, domeSpeed);\n(this is the end of the file)`,
        ),
    );
    assert.deepEqual(told.rows, ['return slowMotor(angle, domeSpeed);']);
    assert.deepEqual(told.symbols.toSorted(), ['domeSpeed', 'slowMotor']);
  }
});

test('a move writes nothing, and git undoes nothing that was committed', () => {
  const files = (story: Story) =>
    trailOf(story).files.map(({ path, edits, state, isRestored }) => [path, edits, state, isRestored]);
  const start = () => Story.in('/w').user('Turn the dome.').read('/w/dome.py', 'turn(1)');
  const replaced = start()
    .edit('/w/dome.py', 'turn(1)', 'turn(2)')
    .sh('python3 up.py < dome.py > dome.tmp && mv dome.tmp dome.py');
  assert.deepEqual(files(replaced), [['dome.py', 2, 'edited', false]]);
  const moved = start().call('Write', { file_path: '/w/a.md', content: 'a' }, 'ok').sh('mv a.md b.md');
  assert.deepEqual(files(moved)[0], ['b.md', 1, 'created', false]);
  assert.deepEqual(files(start().sh('git mv dome.py roof.py'))[0], ['roof.py', 0, 'edited', false]);
  const committed = () =>
    start()
      .edit('/w/dome.py', 'turn(1)', 'turn(2)')
      .sh('git add dome.py && git commit -m turn', '[main 1a2b3c4] turn\n 1 file changed');
  assert.equal(files(committed().sh('git checkout --theirs dome.py'))[0]?.[3], false, 'it is committed');
  const again = committed().edit('/w/dome.py', 'turn(2)', 'turn(3)').sh('git checkout dome.py');
  assert.equal(files(again)[0]?.[3], true, 'what came after the commit is undone');
});

test('a fallback that says that a file is not there says so of the working directory only', () => {
  const missing = (path: string) =>
    trailOf(Story.in('/w').user('Look.').sh(`cat ${path} 2>/dev/null || echo "no settings"`, 'no settings'))
      .missing;
  assert.deepEqual(missing('dome/settings.json'), ['dome/settings.json']);
  assert.deepEqual(missing('/elsewhere/dome/settings.json'), [], 'all of it may be gone');
});

test('what came of a request is the newest word on it, also where that is printed bold below lists', () => {
  const report = `## All looks\n\n**Verdict: fine**\n\n${'- the dome is tight and the roof is old\n'.repeat(60)}\n**Overall: The dome may open after the roof is mended**`;
  const story = Story.in(home)
    .user('Look at the dome.')
    .agent('The first look says that the dome is fine.')
    .sh('make look', 'fine')
    .agent(report)
    .user('Go on.');
  assert.equal(
    trailOf(story).requests[0]?.actions.outcome,
    'Overall: The dome may open after the roof is mended',
  );
});

test('what an agent announces is no outcome, nor is a line that only leads to others', () => {
  const outcome = (...said: readonly string[]) => {
    const story = Story.in(home).user('Look at the dome.');
    for (const text of said) story.agent(text).sh('make look', 'fine');
    return trailOf(story.user('Go on.')).requests[0]?.actions.outcome;
  };
  assert.equal(outcome('Let me think through the dome deeply.'), undefined);
  assert.equal(
    outcome('The hinge of the dome is dry.', 'Waiting for the remaining two lenses.'),
    'The hinge of the dome is dry.',
  );
  assert.equal(
    outcome(
      'The hinge of the dome is dry.',
      'Let me think.\n\n**That is a silent way to fail:**\n\n1. The hinge creaks',
    ),
    'The hinge of the dome is dry.',
  );
});

test('what a program prints into a place for temporary files is no work, what is written there is', () => {
  const changed = (...scripts: readonly string[]) => {
    const story = Story.in(home).user('Mend the dome.');
    for (const script of scripts) story.sh(script, '');
    const { files, requests } = trailOf(story);
    return [
      files.filter(({ state }) => state !== 'read').map(({ path }) => path),
      requests[0]?.actions.edited,
    ];
  };
  const nothing = [[], []];
  assert.deepEqual(changed('make dome > /tmp/dome.out 2>&1', 'cat /tmp/dome.out'), nothing);
  assert.deepEqual(changed('make dome 2> /private/tmp/dome.err', 'rm -f /private/tmp/dome.err'), nothing);
  assert.deepEqual(changed('make dome | tee /var/tmp/dome.log'), nothing);
  assert.deepEqual(changed('make dome > dome.out'), [['dome.out'], ['dome.out']]);
  assert.deepEqual(changed('make dome > /tmp/dome.ts', 'mv /tmp/dome.ts dome.ts'), [
    ['dome.ts'],
    ['dome.ts'],
  ]);
  const script = "cat > /tmp/dome.py <<'EOF'\nturn(1)\nEOF";
  assert.deepEqual(changed(script), [['/tmp/dome.py'], ['/tmp/dome.py']]);
  assert.deepEqual(changed(script, "sed -i 's/1/2/' /tmp/dome.py")[0], ['/tmp/dome.py']);
});

test('what printed something and still runs says so, with what it is polled by', () => {
  const output = 'Chunk ID: 1\nProcess running with session ID 42\nOutput:\nroof: checked';
  const story = Story.in(home).user('Check.').call('exec_command', { cmd: 'make check' }, output);
  const [step] = trailOf(story).current.unread;
  assert.equal(step?.call, 'make check (still running, session 42)');
  assert.equal(step.result, 'roof: checked');
});
