// Stories about git and files: wrappers, loops, several commits in one call, spellings of a path, a way that was abandoned.

import { ClaudeTeller } from '../claude-teller.ts';
import { CodexTeller } from '../codex-teller.ts';
import type { SessionStory } from '../story.ts';

/** Commits in a loop: the subject in the script is a variable. */
const looped: SessionStory = {
  name: 'commits-in-a-loop',
  lines: new CodexTeller()
    .user('Split the locks into three commits, one for each gate. Do not push.')
    .sh('ls gates', 'gate1.ts\ngate2.ts\ngate3.ts')
    .sh(
      'for g in 1 2 3; do git add gates/gate$g.ts; git commit -qm "Move gate $g to its own file"; done; git log -3 --format="%h %s"',
      'c3c3c3c Move gate 3 to its own file\nb2b2b2b Move gate 2 to its own file\na1a1a1a Move gate 1 to its own file',
    )
    .agent('There are three commits, one for each gate; nothing is pushed.').lines,
  key: {
    first: 'Split the locks into three commits',
    rules: ['Do not push.'],
    state: [
      ['c3c3c3c', 'Move gate 3 to its own file'],
      ['nothing is pushed', 'no push'],
    ],
    decisions: [],
    requests: ['Split the locks'],
    git: {
      newest: 'Move gate 3 to its own file',
      subjects: ['Move gate 1 to its own file', 'Move gate 2 to its own file', 'Move gate 3 to its own file'],
    },
  },
};

/** Two commits in one call, their messages from heredocs. */
const heredocs: SessionStory = {
  name: 'two-commits-in-a-call',
  lines: new ClaudeTeller()
    .user('Commit the semaphore and the bell apart from each other.')
    .sh('git status --short', ' M src/bell.ts\n M src/semaphore.ts')
    .sh(
      "git add src/bell.ts && git commit -F - <<'EOF'\nRing the bell once per knot\nEOF\ngit add src/semaphore.ts && git commit -F - <<'EOF'\nRaise the semaphore before the bell\nEOF",
      '[main 1111aaa] Ring the bell once per knot\n 1 file changed\n[main 2222bbb] Raise the semaphore before the bell\n 1 file changed',
    )
    .agent('Both are committed. The bell came first, because the semaphore calls it.').lines,
  key: {
    first: 'Commit the semaphore and the bell',
    rules: [],
    state: [['2222bbb', 'Raise the semaphore before the bell']],
    decisions: [{ what: 'The bell came first', why: 'because the semaphore calls it' }],
    requests: ['Commit the semaphore'],
    git: {
      newest: 'Raise the semaphore before the bell',
      subjects: ['Ring the bell once per knot', 'Raise the semaphore before the bell'],
    },
  },
};

/** A wrapper in front of git, and one of npx. */
const wrapped: SessionStory = {
  name: 'wrapped-git',
  lines: new ClaudeTeller()
    .user('Bump the anchor library to 3 and commit.')
    .sh('rtk npm install anchor@3', 'changed 1 package')
    .sh('time npx --yes tsc --noEmit', 'real 0m3.1s')
    .sh('rtk git commit -am "Use anchor 3"', 'ok 9f9f9f9 Use anchor 3')
    .sh('rtk git status', 'clean')
    .agent('Commit created: 9f9f9f9. I stayed below 4, because 4 drops Node 20.')
    .user('Thanks. What would break with 4?').lines,
  key: {
    first: 'Bump the anchor library to 3',
    rules: [],
    state: [['9f9f9f9', 'Use anchor 3'], ['What would break with 4?']],
    decisions: [{ what: 'I stayed below 4', why: 'because 4 drops Node 20' }],
    requests: ['Bump the anchor library', 'What would break'],
    git: { newest: 'Use anchor 3' },
  },
};

/** One file in three spellings, edited from another directory. */
const spellings: SessionStory = {
  name: 'one-file-three-spellings',
  lines: new CodexTeller()
    .user('Translate the mooring notes. Leave the numbers alone.')
    .sh('cd docs && sed -i s/Poller/Bollard/ mooring.md')
    .sh('cd /tmp && sed -i s/Leine/Line/ /home/dev/ledger/docs/mooring.md')
    .sh("sed -i 's/Tau/Rope/' ./docs/mooring.md")
    .sh('git diff --stat', ' docs/mooring.md | 6 +++---\n 1 file changed, 3 insertions(+), 3 deletions(-)')
    .agent(
      'The three words are translated in `docs/mooring.md`. I kept "Kai", since the harbour uses it as a name.',
    ).lines,
  key: {
    first: 'Translate the mooring notes',
    rules: ['Leave the numbers alone.'],
    state: [['The three words are translated']],
    decisions: [{ what: 'I kept "Kai"', why: 'since the harbour uses it as a name' }],
    requests: ['Translate the mooring notes'],
    changed: ['docs/mooring.md'],
  },
};

/** Work on a branch that was reset while another branch was kept. */
const otherBranch: SessionStory = {
  name: 'reset-on-another-branch',
  lines: new ClaudeTeller()
    .user('Try the new tide formula on a branch of its own. main must stay green.')
    .sh('git switch -c tide-formula', "Switched to a new branch 'tide-formula'")
    .edit('src/tide.ts', 'return old(day);', 'return harmonic(day);')
    .sh(
      'git commit -am "Compute tides by harmonics"',
      '[tide-formula 5e5e5e5] Compute tides by harmonics\n 1 file changed',
    )
    .sh(
      'git switch main && git reset --hard origin/main',
      "Switched to branch 'main'\nHEAD is now at 0d0d0d0 Add the quay",
    )
    .sh('git switch tide-formula', "Switched to branch 'tide-formula'")
    .sh('npm test', '12 passing')
    .agent('The formula stands on `tide-formula` with 12 tests passing; `main` is as on the server.').lines,
  key: {
    first: 'Try the new tide formula on a branch',
    rules: ['main must stay green.'],
    state: [['5e5e5e5', 'Compute tides by harmonics'], ['tide-formula']],
    decisions: [],
    requests: ['new tide formula'],
    runs: [{ command: 'npm test', ended: 'passed' }],
    git: { newest: 'Compute tides by harmonics', branch: 'tide-formula' },
    changed: ['src/tide.ts'],
    untrue: ['put back by git', 'thrown away'],
  },
};

/** A design that was given up for another one, with its rules and its plan. */
const abandoned: SessionStory = {
  name: 'abandoned-approach',
  lines: new CodexTeller()
    .user('Cache the ship positions. Store them in Redis, and every key must start with ship:.')
    .plan('done: Start Redis', 'now: Write the cache client', 'todo: Expire keys after a minute')
    .write('src/redis.ts', "export const PREFIX = 'ship:';")
    .sh('npm test', '3 failing\n  ECONNREFUSED 127.0.0.1:6379', 1)
    .agent('Redis is not reachable from the test machines.')
    .user('Then forget Redis altogether. Keep the positions in a Map in memory, at most 500 of them.')
    .sh('git rm -qf src/redis.ts')
    .write('src/positions.ts', 'const MOST = 500;\nexport const positions = new Map();')
    .sh('npm test', '9 passing')
    .plan('done: Remove the client', 'done: Keep positions in a Map', 'todo: Drop the oldest above 500')
    .agent(
      'The positions are in a Map now. I drop the oldest first, because a ship that moves is written again.',
    ).lines,
  key: {
    first: 'Cache the ship positions',
    rules: ['Keep the positions in a Map in memory, at most 500 of them.'],
    state: [['Drop the oldest above 500'], ['The positions are in a Map now']],
    decisions: [{ what: 'I drop the oldest first', why: 'because a ship that moves is written again' }],
    requests: ['Cache the ship positions', 'forget Redis'],
    runs: [{ command: 'npm test', ended: 'passed' }],
    changed: ['src/positions.ts'],
    replaced: [
      { old: 'every key must start with ship:', by: 'forget Redis' },
      { old: 'Expire keys after a minute', by: 'Drop the oldest above 500' },
    ],
    untrue: ['The agent had answered the current request'],
  },
};

/** The stories about git and files. */
export const TREE_STORIES: readonly SessionStory[] = [
  looped,
  heredocs,
  wrapped,
  spellings,
  otherBranch,
  abandoned,
];
