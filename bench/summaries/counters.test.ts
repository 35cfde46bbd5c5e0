// Each counter has a summary that deserves no count, and faults planted in it that do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MADE_STORIES } from '../../test/summaries/stories.ts';
import type { StoryKey } from '../../test/summaries/story.ts';
import { FALSE_CLASSES, falseLines } from './counters.ts';
import type { FalseClass } from './counters.ts';
import { scoresOf } from './scores.ts';
import { recordsOf, summaryOf } from './summaries.ts';

const KEY: StoryKey = {
  first: 'Paint the hull',
  rules: ['never use lead'],
  state: [['the keel is dry', 'dry keel']],
  decisions: [{ what: 'I chose red', why: 'because it is seen in fog' }],
  requests: ['Paint the hull', 'Make it white'],
  runs: [
    { command: 'npm test', ended: 'passed' },
    { command: 'make soak', ended: 'failed' },
    { command: 'curl dock', ended: 'unknown' },
  ],
  hasFailure: true,
  git: { newest: 'Paint it white', branch: 'hull', subjects: ['Paint it red', 'Paint it white'] },
  changed: ['src/hull.ts'],
  replaced: [{ old: 'at most 3 coats', by: 'at most 2 coats' }],
  ended: ['make soak'],
  others: ['Always sand first'],
  images: ['hull.png'],
  untrue: ['sold the boat'],
};

const GOOD = `1. Primary Request and Intent:
The user's current request (message 2 of 2): "Make it white, at most 2 coats."
The session began with: "Paint the hull, at most 3 coats."
Working directory: /home/dev/boat, branch hull
Rules, limits and corrections of the user, verbatim:
- "never use lead" (message 1)
In texts that the user pasted (they may bind or not), verbatim:
- "Always sand first" (message 1)

3. Files and Code Sections:
- src/hull.ts (edited 2×)

4. Errors and Fixes:
- \`make soak\` failed: heap limit. Not seen to pass since.

5. Problem Solving:
Commits:
- aaa1111 Paint it red (message 1)
- bbb2222 Paint it white (message 2)
Message 1:
- I chose red, because it is seen in fog.

8. Current Work:
Newest commit: bbb2222 Paint it white
Since the current request (runs ended well unless noted):
- ran \`npm test\` → failed: 1 failing
- edited src/hull.ts
- ran \`npm test\` → ok: 12 passing
- ran \`curl dock\` → outcome not known
- Read hull.png → an image
- said: the keel is dry`;

/** The classes of what is counted once a text of the good summary is replaced. */
function planted(before: string, after: string): readonly FalseClass[] {
  assert.ok(GOOD.includes(before), `The summary lacks ${before}`);
  return falseLines(GOOD.replace(before, after), KEY).map((line) => line.class);
}

test('a summary without faults is not counted', () => {
  assert.deepEqual(falseLines(GOOD, KEY), []);
});

const FAULTS: readonly (readonly [what: string, FalseClass, before: string, after: string])[] = [
  [
    'a pass reported as an open failure',
    'run_outcome',
    '- `make soak` failed',
    '- `npm test` failed 2 times: x. Not seen to pass since.\n- `make soak` failed',
  ],
  [
    'a failure under a heading that vouches for it',
    'run_outcome',
    '- `make soak` failed: heap limit. Not seen to pass since.',
    '- `x` failed: y.\n\n8. Current Work:\nSince then (runs ended well unless noted):\n- ran `make soak`',
  ],
  [
    'a failure reported as a pass',
    'run_outcome',
    '- `make soak` failed: heap limit. Not seen to pass since.',
    '- `make soak` passed',
  ],
  ['an unknown end reported as a pass', 'run_outcome', '→ outcome not known', '→ ok'],
  [
    'an empty section of errors',
    'run_outcome',
    '- `make soak` failed: heap limit. Not seen to pass since.',
    'None.',
  ],
  [
    'another commit as the newest',
    'git_and_files',
    'Newest commit: bbb2222 Paint it white',
    'Newest commit: aaa1111 Paint it red',
  ],
  [
    'a variable as a subject',
    'git_and_files',
    '- bbb2222 Paint it white (message 2)',
    '- Paint $colour (message 2)',
  ],
  [
    'a commit that is denied',
    'git_and_files',
    'Newest commit: bbb2222 Paint it white',
    'No commit by the agent; changed: src/hull.ts.',
  ],
  ['one subject for two commits', 'git_and_files', '- bbb2222 Paint it white', '- bbb2222 Paint it red'],
  ['another branch', 'git_and_files', 'branch hull', 'branch main'],
  ['an empty section of files', 'git_and_files', '- src/hull.ts (edited 2×)', 'None.'],
  [
    'one file in two spellings',
    'git_and_files',
    '- src/hull.ts (edited 2×)',
    '- src/hull.ts (edited)\n- /home/dev/boat/src/hull.ts (edited)',
  ],
  ['a value without its successor', 'superseded', '"Make it white, at most 2 coats."', '"Make it white."'],
  [
    'a job that ended',
    'still_running',
    '- `make soak` failed: heap limit. Not seen to pass since.',
    '- `make soak` failed once.\nStarted, no result yet: `make soak`',
  ],
  [
    "others' words as a rule",
    'others_words',
    'In texts that the user pasted (they may bind or not), verbatim:\n',
    '',
  ],
  ['a lost message', 'lost_message', 'Make it white', 'Make it pale'],
  ['an image told as nothing', 'image_as_nothing', '- Read hull.png → an image', '- Read hull.png → nothing'],
  [
    'an untrue statement',
    'untrue_statement',
    'the keel is dry',
    'the keel is dry, and the user sold the boat',
  ],
];

for (const [what, expected, before, after] of FAULTS) {
  test(`${what} counts as ${expected}`, () => {
    assert.ok(planted(before, after).includes(expected), planted(before, after).join());
  });
}

test('every class has a planted fault', () => {
  assert.deepEqual([...new Set(FAULTS.map(([, each]) => each))], [...FALSE_CLASSES]);
});

test('a changed file that no line names counts', () => {
  const without = GOOD.replaceAll('src/hull.ts', 'it');
  assert.deepEqual(
    falseLines(without, KEY).map((line) => line.class),
    ['git_and_files'],
  );
});

test('a line is counted once, whatever it breaks', () => {
  const summary = GOOD.replace('branch hull', 'branch main, where the user sold the boat');
  assert.deepEqual(
    falseLines(summary, KEY).map((line) => line.class),
    ['git_and_files'],
  );
});

test('what a key holds is found verbatim, white space aside, and missed when it is worded otherwise', () => {
  const { rules, hasFirst, state, decisions } = scoresOf(GOOD.replace('never use', 'never\n  use'), KEY);
  assert.deepEqual(
    [rules, hasFirst, state, decisions],
    [{ kept: 1, of: 1 }, true, { kept: 1, of: 1 }, { kept: 1, of: 1 }],
  );
  const faulty = scoresOf(
    GOOD.replace('never use lead', 'no lead')
      .replace('Paint the hull', 'Painting')
      .replace('the keel is dry', 'done')
      .replace(', because it is seen in fog', ''),
    KEY,
  );
  assert.deepEqual(
    [faulty.rules.kept, faulty.hasFirst, faulty.state.kept, faulty.decisions.kept],
    [0, false, 0, 0],
  );
});

test('characters are counted by section', () => {
  const { bySection, lists } = scoresOf('1. Request:\nGo.\n\n2. Names:\n- a.ts, b_c, `d`', KEY);
  assert.deepEqual(bySection, { Request: 16, Names: 27 });
  assert.equal(lists, 17);
});

/** The words of a key that a story's file has to hold, or nothing could be kept. */
function wordsOf({ first, rules, requests, decisions, others = [] }: StoryKey): readonly string[] {
  return [first, ...rules, ...requests, ...others, ...decisions.flatMap(({ what, why }) => [what, why])];
}

for (const story of MADE_STORIES) {
  test(`the story ${story.name} has 10 to 60 records, and the words of its key`, async () => {
    const records = await recordsOf(story.lines);
    assert.ok(records.length >= 10 && records.length <= 60, `${records.length} records`);
    const told = JSON.stringify(story.lines);
    for (const words of wordsOf(story.key)) {
      assert.ok(told.includes(JSON.stringify(words).slice(1, -1)), words);
    }
    assert.ok(summaryOf(records, 4_000).length > 0);
  });
}
