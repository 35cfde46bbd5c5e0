import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { reachedCheckpoints } from './checkpoints.ts';
import type { CheckpointSettings } from './checkpoints.ts';
import { commandFates } from './fates.ts';
import type { CommandOutcome } from './fates.ts';

const SETTINGS: CheckpointSettings = { commitVerbs: ['commit', 'ci'], pushIsPrCheckpoint: true };

interface Ending {
  readonly exit?: CommandOutcome;
  readonly output?: string;
  readonly isExitExact?: boolean;
  readonly settings?: CheckpointSettings;
}

/** `commit abc1234` for one that git reported, `pr` for a checkpoint of a pull request. */
function reached(script: string, ending: Ending = {}): string {
  const { exit = 'succeeded', output = '', isExitExact = true, settings = SETTINGS } = ending;
  const fates = commandFates(script, exit);
  return reachedCheckpoints({ fates, exit, isExitExact, output }, settings)
    .map(({ checkpoint, hash }) =>
      [checkpoint === 'commit' ? 'commit' : 'pr', ...(hash === undefined ? [] : [hash])].join(' '),
    )
    .join(', ');
}

const REPORT = '[main abc1234] Add the parser\n 1 file changed, 2 insertions(+)\n';

const succeeding: readonly (readonly [script: string, told: string])[] = [
  ['git commit -m x', 'commit'],
  ['git commit --amend --no-edit', 'commit'],
  ['git ci -am x', 'commit'],
  ['git commit -n -m x', 'commit'],
  ['git add -A && npm test && git commit -m x', 'commit'],
  ['git commit -m x && git push', 'commit, pr'],
  ['cd pkg; sudo -u me env A=1 git -C sub -c user.name=x --no-pager commit -m x', 'commit'],
  ['/usr/bin/git commit -m x', 'commit'],
  ['/opt/git/bin/git commit -m x', 'commit'],
  ['git.exe commit -m x', 'commit'],
  ['bash -lc "git add . && git commit -m x"', 'commit'],
  ['eval "git commit -m x"', 'commit'],
  ['save() { git commit -m "$1"; }; save x', 'commit'],
  ['(cd pkg && git commit -m x)', 'commit'],
  ['set -e\nnpm test\ngit commit -m x\necho ok', 'commit'],
  ['git commit -m "$(cat <<\'EOF\'\nAdd it\n\n`git push` is next; --dry-run is "not"\nEOF\n)"', 'commit'],
  ['git commit -m --dry-run', 'commit'],
  ['git commit -m x -- --dry-run', 'commit'],
  ['time git commit -m x', 'commit'],
  ['! false && git commit -m x', 'commit'],
  ['git commit -qm a && git commit -qm b', 'commit, commit'],
  // The fork took any text that holds the words (rawr-behaviour §13, 15).
  ['echo "git commit"', ''],
  ['echo git commit -m x', ''],
  ["grep -rn 'git commit' docs", ''],
  ['# git commit -m x', ''],
  ['ls # git commit -m x', ''],
  ["cat > hook.sh <<'EOF'\ngit commit -m x\nEOF", ''],
  ['git commit --dry-run', ''],
  ['git commit --dry -m x', ''],
  ['git commit --porcelain', ''],
  ['git commit --short', ''],
  ['git commit --help', ''],
  ['git --help commit', ''],
  ['git help commit', ''],
  ['git log --grep commit', ''],
  ['git commit-graph write', ''],
  ['git commit-tree HEAD^{tree} -m x', ''],
  ['git show commit', ''],
  ['npm run commit', ''],
  ['digit commit', ''],
  ['save() { git commit -m x; }', ''],
  ['exit 0; git commit -m x', ''],
  ['! git commit -m x', ''],
  // The status of the whole script does not tell that these ran.
  ['npm test || git commit -m x', ''],
  ['if npm test; then git commit -m x; fi', ''],
  ['for f in a b; do git commit -m $f; done', ''],
  // Checkpoints of pull requests.
  ['git push', 'pr'],
  ['git push -u origin HEAD --force-with-lease', 'pr'],
  ['git push -o ci.skip origin main', 'pr'],
  ['git push --dry-run', ''],
  ['git push -n', ''],
  ['git push origin --delete old', ''],
  ['git stash push -m x', ''],
  ['echo git push', ''],
  ['gh pr create --title x --body "closes #1"', 'pr'],
  ['gh pr create -t --dry-run', 'pr'],
  ['gh -R a/b pr merge 12 --squash', 'pr'],
  ['gh pr close 1; gh pr reopen 1', 'pr, pr'],
  ['gh pr review 3 --approve', 'pr'],
  ['gh pr create --dry-run', ''],
  ['gh pr view 3', ''],
  ['gh pr list | grep create', ''],
  ['gh issue create --title "pr create"', ''],
  ['gt submit --no-interactive', 'pr'],
  ['gt ss', 'pr'],
  ['gt create -m x', 'pr'],
  ['gt review', 'pr'],
  ['gt land', 'pr'],
  ['gt log', ''],
  ['gt submit --dry-run', ''],
];

for (const [script, told] of succeeding) {
  test(`succeeded: ${script}`, () => assert.equal(reached(script), told));
}

const ended: readonly (readonly [script: string, ending: Ending, told: string])[] = [
  ['git commit -m x', { exit: 'failed' }, ''],
  ['npm test && git commit -m x', { exit: 'failed' }, ''],
  ['npm test && git commit -m x', { exit: 'failed', output: '1 failing\n' }, ''],
  [
    'git commit -m x && git push',
    { exit: 'failed', output: `${REPORT} ! [rejected] main -> main\n` },
    'commit abc1234',
  ],
  ['git commit -m x && npm test', { exit: 'failed', output: `${REPORT}1 failing\n` }, 'commit abc1234'],
  ['git push && gh pr create', { exit: 'failed', output: '   1a2b3c4..5d6e7f8  main -> main\n' }, 'pr'],
  ['git push && gh pr create', { exit: 'failed', output: 'fatal: no remote\n' }, ''],
  // The last command hides how those before it went; git itself tells.
  ['git commit -m x; git status', { output: `${REPORT}On branch main\n` }, 'commit abc1234'],
  ['git commit -m x; git status', { output: 'On branch main\nnothing to commit, working tree clean\n' }, ''],
  ['git commit -m x | tail -1', { output: ' 1 file changed, 2 insertions(+)\n' }, 'commit'],
  ['git commit -m x 2>&1 | tail -3', { output: REPORT }, 'commit abc1234'],
  ['git commit -m x 2>&1 | tail -1', { output: 'nothing to commit, working tree clean\n' }, ''],
  ['git commit -m x > /dev/null; git log -1', { output: 'abc1234 x\n' }, 'commit'],
  ['git commit -qm x; git log -1', { output: 'abc1234 x\n' }, 'commit'],
  ['git commit -qm x; git log -1', { output: 'nothing to commit, working tree clean\n' }, ''],
  ['git push 2>&1 | tail -5', { output: ' ! [rejected]        main -> main (fetch first)\n' }, ''],
  ['git push 2>&1 | tail -5', { output: 'To example.com:x\n   1a2b3c4..5d6e7f8  main -> main\n' }, 'pr'],
  ['set -o pipefail; git commit -m x | tail -1', { output: 'error: what a hook says\n' }, 'commit'],
  ['git commit -m x | tail -1', { output: 'error: what a hook says\n' }, ''],
  ['test -f a && git commit -m a; git commit -m b', { output: REPORT }, 'commit abc1234'],
  ['npm test || git commit -m x', { output: REPORT }, 'commit abc1234'],
  ['set -e; npm test; git commit -m x', { exit: 'failed' }, ''],
  ['set -e; git commit -m x; npm test', { exit: 'failed', output: REPORT }, 'commit abc1234'],
  // No status at all: only git's own words count.
  ['git commit -m x', { exit: 'unknown', output: REPORT }, 'commit abc1234'],
  [
    'git commit -m x',
    { exit: 'unknown', output: '\u001b[32m[main (root-commit) abc1234] x\u001b[0m\n' },
    'commit abc1234',
  ],
  ['git commit -m x', { exit: 'unknown' }, ''],
  ['git commit -m x &', {}, ''],
  // A tool's word that nothing went wrong is not an exit status.
  ['git commit -m x', { isExitExact: false, output: 'nothing to commit, working tree clean\n' }, ''],
  ['git commit -m x', { isExitExact: false, output: REPORT }, 'commit abc1234'],
  ['git save -m x', { settings: { ...SETTINGS, commitVerbs: ['save'] } }, 'commit'],
  ['git commit -m x', { settings: { ...SETTINGS, commitVerbs: ['save'] } }, ''],
  // Somebody's own alias is a commit where git says so, and nothing else is.
  ['git save "Add the parser"', { output: REPORT }, 'commit abc1234'],
  ['git -C sub acp -m x && npm test', { output: REPORT }, 'commit abc1234'],
  ['git save -m x', { exit: 'unknown', output: REPORT }, 'commit abc1234'],
  ['git save -m x', { exit: 'failed', output: '' }, ''],
  ['git save -m x', {}, ''],
  ['git save -m x > log.txt', {}, ''],
  ['git save -m a; git commit -m b', { output: REPORT }, 'commit abc1234'],
  ["git log --format='[main %h] %s'", { output: REPORT }, ''],
  ['git cherry-pick abc1234', { output: REPORT }, ''],
  ['git push', { settings: { ...SETTINGS, pushIsPrCheckpoint: false } }, ''],
  ['gh pr create', { settings: { ...SETTINGS, pushIsPrCheckpoint: false } }, 'pr'],
];

for (const [script, ending, told] of ended) {
  test(`${ending.exit ?? 'succeeded'}, ${JSON.stringify(ending.output ?? '')}: ${script}`, () =>
    assert.equal(reached(script, ending), told));
}

const checkpointScript = fc.constantFrom(
  ...succeeding.filter(([script, told]) => told !== '' && !script.includes("'")).map(([script]) => script),
);

test('a script in quotes, in a comment or behind echo reaches nothing', () => {
  fc.assert(
    fc.property(checkpointScript, (script) => {
      assert.equal(reached(`echo '${script}'`), '');
      assert.equal(reached(`printf %s '${script}' > notes.txt`), '');
      assert.equal(reached(`true '${script}'`), '');
      assert.equal(reached(`: # ${script.replaceAll('\n', ' ')}`), '');
      assert.equal(reached(`cat <<'END'\n${script}\nEND`), '');
    }),
    { seed: 3, numRuns: 200 },
  );
});

test('what certainly succeeded before it changes nothing', () => {
  fc.assert(
    fc.property(checkpointScript, (script) => {
      assert.equal(reached(`npm test && { ${script}\n}`), reached(script));
      assert.equal(reached(`(${script}\n)`), reached(script));
      assert.equal(reached(`npm test && { ${script}\n}`, { exit: 'failed' }), '');
    }),
    { seed: 3, numRuns: 200 },
  );
});

function callsOf(name: string): string {
  return `${name};`.repeat(400);
}

test('any script and any output never throw and never stall', () => {
  const piece = fc.constantFrom(
    'git',
    ' commit',
    ' push',
    ' -m',
    '"',
    "'",
    '$(',
    ')',
    '&&',
    '||',
    '|',
    ';',
    '\n',
    '{',
    '}',
    'f()',
    ' f',
    '🎉',
    '提交',
    'İ',
    '<<E',
    'if ',
    'then ',
    'fi',
  );
  fc.assert(
    fc.property(
      fc.array(piece),
      fc.string({ unit: 'binary' }),
      fc.constantFrom<CommandOutcome>('succeeded', 'failed', 'unknown'),
      (pieces, output, exit) => void reached(pieces.join(''), { output, exit }),
    ),
    { seed: 3, numRuns: 1_000 },
  );
  const storm = `a() { git commit; }; b() { ${callsOf('a')} }; c() { ${callsOf('b')} }; d() { ${callsOf('c')} }; ${callsOf('d')}`;
  assert.ok(commandFates(storm, 'succeeded').length <= 5_000);
  assert.deepEqual(commandFates('f() { f; f; }; f', 'succeeded'), []);
});
