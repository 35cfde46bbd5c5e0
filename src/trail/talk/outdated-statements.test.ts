import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../collect.ts';
import { outdatedIn } from './outdated-statements.ts';
import { writeSummary } from '../../summary/write.ts';

const commit = '[main 1a2b3c4] dome\n 1 file changed';

/** Whether a sentence of the agent is overtaken by what is done behind it on the same request. */
function isOvertaken(text: string, after: (story: Story) => Story): boolean {
  const collector = new TrailCollector();
  const story = Story.in('/w').user('Build the dome.').agent(text);
  for (const record of after(story.sh('make look', 'fine')).records) collector.add(record);
  return outdatedIn(collector.trail())({ turn: 1, position: 2, text });
}

const table: readonly (readonly [text: string, after: (story: Story) => Story, isOvertaken: boolean])[] = [
  ['The work tree of the dome has no `node_modules`.', (story) => story.sh('bun install', 'done'), true],
  ['The work tree of the dome has no `node_modules`.', (story) => story.sh('bun install', 'error', 1), false],
  ['The work tree of the dome has no `node_modules`.', (story) => story.sh('bun test', '1 pass'), false],
  ['This tree doesn’t have the dev dependencies installed.', (story) => story.sh('npm ci', 'done'), true],
  ['The lens is one untracked file.', (story) => story.sh('git commit -am dome', commit), true],
  [
    '`src/dome.ts:12` opens the dome twice.',
    (story) => story.user('Mend it.').edit('/w/src/dome.ts', 'x', 'y').user('Go on.'),
    true,
  ],
  [
    'Opened the dome twice in `src/dome.ts:12`.',
    (story) => story.user('Mend it.').edit('/w/src/dome.ts', 'x', 'y').user('Go on.'),
    false,
  ],
  ['`src/dome.ts:12` opens the dome twice.', (story) => story.edit('/w/src/dome.ts', 'x', 'y'), false],
  [
    '`src/dome.ts:12` opens the dome twice.',
    (story) => story.user('Mend it.').edit('/w/src/roof.ts', 'x', 'y').user('Go on.'),
    false,
  ],
  ['The pending diff includes the lens.', (story) => story.sh('git commit -am dome', commit), true],
  ['The pending diff includes the lens.', (story) => story.sh('git diff --stat', ''), false],
  [
    'Comment 7100234 is still unfixed.',
    (story) => story.sh('gh api repos/a/b/pulls/4/comments/7100234/replies -f body=Fixed', '{}'),
    true,
  ],
  [
    'Comment 7100234 is still unfixed.',
    (story) => story.sh('gh api repos/a/b/pulls/4/comments/7100235/replies -f body=Fixed', '{}'),
    false,
  ],
  ['The night crew is still painting the dome.', (story) => story.agent('One.').agent('Two.'), true],
  ['The night crew is still painting the dome.', (story) => story.agent('One.'), false],
  ['The brake of the dome is still missing.', (story) => story.agent('One.').agent('Two.'), false],
];

for (const [text, after, expected] of table) {
  test(`${expected ? 'overtaken' : 'stands'}: ${text}`, () => {
    assert.equal(isOvertaken(text, after), expected);
  });
}

test('a summary tells nothing that was overtaken, on the current request, an earlier one or as what came of it', () => {
  const pending =
    'The pending diff includes the lens of `northDome` and the brake of `southDome`, which nobody asked for.';
  const story = Story.in('/w')
    .user('Build the dome.')
    .edit('/w/dome.ts', 'x', 'y')
    .agent(pending)
    .user('Commit it.')
    .sh('git commit -am dome', commit)
    .agent('That is done.')
    .user('Now test it.')
    .agent('The tree of `northDome` has no `node_modules`, so that `npm test` cannot run.')
    .sh('npm ci', 'done')
    .agent('All is installed, so the tests of `northDome` come next.')
    .sh('npm test', '1 passed');
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 4_000, count: approximateTokens });
  assert.doesNotMatch(text, /pending diff|has no/);
});
