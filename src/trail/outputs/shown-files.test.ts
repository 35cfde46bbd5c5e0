import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { shellMeaning } from '../calls/calls.ts';
import { shownFiles } from './shown-files.ts';

/** Read files, shown texts and missing paths of a script with its output. */
function shown(script: string, output: string, directory?: string): readonly (readonly string[])[] {
  const meaning = shellMeaning(script, directory === undefined ? {} : { workdir: directory });
  const { actions, texts, missing } = shownFiles(meaning, output, false);
  return [
    actions.map(({ action, path }) => `${action} ${path}`),
    texts.map(({ path, text }) => `${path}: ${text.replaceAll('\n', '|').replaceAll('\t', ' ')}`),
    missing,
  ];
}

const table: readonly (readonly [
  script: string,
  output: string,
  actions: readonly string[],
  texts: readonly string[],
  missing?: readonly string[],
])[] = [
  // Hits belong to the file that their row names.
  ['rg -n dome a.ts b.ts', 'b.ts:4:turn(dome)\nb.ts-5-halt()', [], ['b.ts: 4 turn(dome)|5 halt()']],
  ['rg -n dome a.ts src', 'src/c.ts:4:dome\n--\nsrc/c.ts:9:dome', [], ['src/c.ts: 4 dome|9 dome']],
  ['grep -rn dome .', './src/c.ts:4:dome', [], ['src/c.ts: 4 dome']],
  ['grep dome a.ts b.ts', 'a.ts:the dome\nb.ts:a dome', [], ['a.ts: the dome', 'b.ts: a dome']],
  ['rg -n dome src/*.ts | head -3', 'src/c.ts:4:dome', [], ['src/c.ts: 4 dome']],
  ['cd lib && rg -n dome src', 'src/c.ts:4:dome', [], ['lib/src/c.ts: 4 dome']],
  [
    'rg --heading -n dome src',
    'src/c.ts\n4:dome\n\nsrc/d.ts\n5:dome',
    [],
    ['src/c.ts: 4 dome', 'src/d.ts: 5 dome'],
  ],
  // Without a name they are of the one file that was searched.
  ['grep -n dome a.ts', '4:turn(dome)\n5-halt()', [], ['a.ts: 4 turn(dome)|5 halt()']],
  ['grep dome build.log', 'src/c.ts:4: no dome', [], ['build.log: src/c.ts:4: no dome']],
  ['grep -n dome a.ts; git log', '4:turn(dome)', [], []],
  ['rg dome a.ts b.ts', 'error: dome?', [], []],
  ['cat build.log | rg dome', 'src/c.ts:4: no dome', ['read build.log'], ['build.log: src/c.ts:4: no dome']],
  // What is not there was not read.
  ['cat a.ts b.ts', 'hi\ncat: b.ts: No such file or directory', ['read a.ts'], [], ['b.ts']],
  ["sed -n '1,9p' a.ts", "sed: can't read a.ts: No such file or directory", [], [], ['a.ts']],
  ['head a.ts', "head: cannot open 'a.ts' for reading: No such file or directory", [], [], ['a.ts']],
  ['rg dome a.ts src', 'rg: a.ts: No such file or directory (os error 2)', [], [], ['a.ts']],
  ['cat a.ts 2>/dev/null || echo "not found"', 'not found', [], [], ['a.ts']],
  ['jq . a.json || echo "broken"', 'broken', [], []],
  ['cat a.ts 2>/dev/null; echo "status: $?"', 'status: 1', [], []],
  ['cat a.ts 2>/dev/null', '', [], []],
  ['echo A && cat a.ts', 'A\nhi', ['read a.ts'], ['a.ts: hi']],
  ['cat a.ts 2>/dev/null; echo "--"; ls', '--\nb.ts', [], []],
  ['ls lib; echo "--"; cat a.ts 2>/dev/null | head -5', 'b.ts\n--', [], []],
  ['cat a.ts; echo "--"; cat b.ts', 'hi\n--\n', ['read a.ts'], []],
  ['for f in 1 2; do echo "--"; cat a.ts; done', '--\n--\nhi', ['read a.ts'], ['a.ts: hi']],
  // What could not be written was not.
  ["sed -i 's/a/b/' a.ts", 'sed: a.ts: No such file or directory', [], []],
  [
    "sed -i '' 's/a/b/' 'a b.ts' c.ts",
    "sed: can't read a b.ts: No such file or directory",
    ['edit c.ts'],
    [],
  ],
  ["sed -i 's/a/b' a.ts", "sed: -e expression #1, char 5: unterminated `s' command", [], []],
  ['cat a.ts; echo hi > a.ts', 'cat: a.ts: No such file or directory', ['create a.ts'], [], ['a.ts']],
  ['echo hi > lib/a.ts', 'bash: line 1: lib/a.ts: No such file or directory', [], []],
  ['cp a.ts b.ts', "cp: cannot stat 'a.ts': No such file or directory", [], []],
  ['cd lib && cp a.ts b.ts', 'cp: b.ts: Permission denied', [], []],
  ['cp a.ts b.ts', "cp: cannot stat 'ca.ts': No such file or directory", ['create b.ts'], []],
  // The output of two commands is of neither file.
  ['git diff b.ts; cat a.ts', '+x\nhi', ['read a.ts'], []],
  ['cat a.ts; git diff b.ts', 'hi\n+x', ['read a.ts'], []],
  ['git status; cat a.ts || cat b.ts', 'hi', ['read a.ts'], []],
  ["sed -i 's/a/b/' a.ts && cat a.ts", 'b', ['edit a.ts', 'read a.ts'], ['a.ts: b']],
];

for (const [script, output, actions, texts, missing = []] of table) {
  test(`shown by: ${script} → ${output.replaceAll('\n', '|')}`, () => {
    assert.deepEqual(shown(script, output), [actions, texts, missing]);
  });
}

test('paths are told from where the script ran', () => {
  assert.deepEqual(
    shown('rg -n dome a.ts src', 'src/c.ts:4:dome\nrg: a.ts: No such file or directory', '/w'),
    [[], ['/w/src/c.ts: 4 dome'], ['/w/a.ts']],
  );
});

test('a file that does not exist is told as such until something touches it, and a file named twice was read once', () => {
  const looked = (): Story =>
    Story.in('/w')
      .user('Go.')
      .sh('cat plan.md; cat moon.md', 'cat: plan.md: No such file or directory\nThe moon.')
      .sh('head -3 moon.md; tail -3 moon.md', 'The moon.\nIt is full.')
      .call(
        'Read',
        { file_path: '/w/tide.md' },
        '<tool_use_error>File does not exist.</tool_use_error>',
        false,
      );
  const { missing, files } = trailOf(looked());
  assert.deepEqual(missing, ['tide.md', 'plan.md']);
  assert.deepEqual(
    files.map(({ path, reads }) => [path, reads]),
    [['moon.md', 2]],
  );
  const made = looked().call(
    'Write',
    { file_path: '/w/plan.md', content: 'One.' },
    'File created successfully at: /w/plan.md',
  );
  assert.deepEqual(trailOf(made).missing, ['tide.md']);
});

/** The files of a session by what happened to them. */
function statesOf(story: Story): readonly string[] {
  return trailOf(story)
    .files.map(({ path, state }) => `${state} ${path}`)
    .toSorted();
}

/** A script that applies a patch. */
function patch(...rows: string[]): string {
  return `apply_patch <<'EOF'\n*** Begin Patch\n${rows.join('\n')}\n*** End Patch\nEOF`;
}

test('what takes the place of a file that was there is its new text', () => {
  const rewritten = (story: Story): readonly string[] =>
    trailOf(story.sh('python3 turn.py < moon.md > moon.md.tmp && mv moon.md.tmp moon.md')).files.map(
      ({ path, state, renamedFrom }) => `${state} ${path} (${renamedFrom.join()})`,
    );
  const begun = (): Story => Story.in('/w').user('Go.');
  assert.deepEqual(rewritten(begun().sh('cat moon.md', 'Full.')), ['edited moon.md ()']);
  assert.deepEqual(rewritten(begun()), ['created moon.md (moon.md.tmp)']);
});

test('what a shell says of a pattern without a match is no row of a file', () => {
  const looked = (output: string) =>
    trailOf(Story.in('/w').user('Go.').sh('cat moon.md 2>/dev/null || echo "not found"; ls *.star', output));
  const none = looked('not found\n(eval):1: no matches found: *.star');
  assert.deepEqual([none.files, none.missing], [[], ['moon.md']]);
  assert.deepEqual(
    looked('Full.\n(eval):1: no matches found: *.star').files.map(({ path }) => path),
    ['moon.md'],
  );
});

test('a file is created where nothing says that it was there before', () => {
  const begun = (): Story => Story.in('/w').user('Go.');
  assert.deepEqual(
    statesOf(
      begun().sh('cp dome.md moon.md && cp dome.md star.md && git status --short', ' M moon.md\n?? star.md'),
    ),
    ['created star.md', 'edited moon.md'],
    'git has an older text',
  );
  assert.deepEqual(
    statesOf(
      begun()
        .sh('cp dome.md moon.md')
        .sh('git add moon.md && git commit -m "Add moon"', '[main 1a2b3c4] Add moon\n 1 file changed')
        .sh('cp star.md moon.md && git status --short', ' M moon.md'),
    ),
    ['created moon.md'],
    'the session committed it',
  );
  assert.deepEqual(
    statesOf(
      begun()
        .sh(patch('*** Update File: moon.md', '@@', '-a', '+b'), 'Success.')
        .sh(patch('*** Delete File: moon.md'), 'Success.')
        .sh(patch('*** Add File: moon.md', '+c'), 'Success.'),
    ),
    ['edited moon.md'],
    'written anew',
  );
  const write = (path: string, said: string): Story =>
    begun().call('Write', { file_path: `/w/${path}`, content: 'One.' }, said);
  assert.deepEqual(statesOf(write('a.md', 'File created successfully at: /w/a.md')), ['created a.md']);
  assert.deepEqual(statesOf(write('a.md', 'The file /w/a.md has been updated. Here it is:')), [
    'edited a.md',
  ]);
});

test('who read all of a file has read every part of it, until it is edited', () => {
  const rangesAfter = (...scripts: string[]): readonly unknown[] => {
    const story = Story.in('/w').user('Go.');
    for (const script of scripts) story.sh(script, 'The moon.');
    return trailOf(story).files[0]?.ranges ?? [];
  };
  assert.deepEqual(rangesAfter('cat moon.md', "sed -n '3,9p' moon.md"), []);
  assert.deepEqual(rangesAfter('cat moon.md | head -2', "sed -n '3,9p' moon.md"), [{ from: 3, to: 9 }]);
  assert.deepEqual(rangesAfter('cat moon.md', 'echo hi >> moon.md', "sed -n '3,9p' moon.md"), [
    { from: 3, to: 9 },
  ]);
});

const rows = (count: number): string => Array.from({ length: count }, (_, at) => `row ${at}`).join('\n');

test('a reader that showed fewer lines than it was asked for came to the end of the file', () => {
  const file = (story: Story) => {
    const [only] = trailOf(story).files;
    return only === undefined ? undefined : only.ranges.map(({ from, to }) => `${from}-${to ?? 'end'}`);
  };
  const sed = (script: string, output: string) => file(Story.in('/w').user('Go.').sh(script, output));
  assert.deepEqual(sed("sed -n '1,200p' a.ts", rows(80)), []);
  assert.deepEqual(sed("sed -n '101,200p' a.ts", rows(80)), ['101-end']);
  assert.deepEqual(sed("sed -n '1,80p' a.ts", rows(80)), ['1-80']);
  assert.deepEqual(sed("sed -n '1,80p' a.ts", rows(78)), ['1-80'], 'blank rows at an end may be cut off');
  assert.deepEqual(sed("sed -n '1,200p' a.ts | grep row", rows(80)), ['1-200']);
  assert.deepEqual(sed("sed -n '1,200p' a.ts; sed -n '1,9p' b.ts", rows(80)), ['1-200']);
  assert.deepEqual(sed("sed -n '1,200p' a.ts", `${rows(9)}\n…900 tokens truncated…\n${rows(9)}`), ['1-200']);
  assert.deepEqual(sed("sed -n '1,9000p' a.ts", rows(8_000)), ['1-9000'], 'an output as long was cut');
  const read = (output: string) =>
    file(Story.in('/w').user('Go.').call('Read', { file_path: '/w/a.ts', offset: 41, limit: 200 }, output));
  assert.deepEqual(read(rows(80)), ['41-end']);
  assert.deepEqual(read('File unchanged since last read.'), ['41-240']);
});
