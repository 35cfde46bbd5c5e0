import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gitScriptOf } from './git-script.ts';

const ROOT = '/work/tree';

describe('a script of git alone', () => {
  for (const script of [
    'git status',
    'git add -A && git commit -m "two words"',
    "git add src/*.ts; git commit -qm 'it''s $HOME'",
    'cd /work/tree/sub && git add . && git commit -m x',
    'cd sub; git log --oneline -5',
    'git -C sub -c user.name=A -c user.email=a@b.c commit -m x',
    'git add -A\ngit commit -m x\ngit status',
    'git add -A # all of it\ngit commit -m x',
    'git commit -m "$(cat <<\'EOF\'\none $(rm -rf /) `x`\n\ntwo\nEOF\n)"',
    'git commit -m "$(cat <<EOF\nplain\nEOF\n)"',
    "git commit -F - <<'EOF'\none\n\n$two\nEOF",
    'git commit -m "one\ntwo" 2>&1 | tail -3',
    'git diff --quiet || git commit -am x && echo done',
    'git stash > /dev/null 2>&1',
    'git rebase main',
    'git rebase --continue',
    'git checkout -b new -- && git --no-pager diff',
    String.raw`git commit -m $'one\ntwo'`,
  ]) {
    it(JSON.stringify(script), () => assert.equal(gitScriptOf(script, ROOT), 'git'));
  }
});

describe('a script that makes a repository', () => {
  it('does nothing else', () => {
    assert.equal(gitScriptOf('git init -b main', ROOT), 'init');
    assert.equal(gitScriptOf('cd . && git init', ROOT), 'init');
    assert.equal(gitScriptOf('git init && git commit -m x', ROOT), 'other');
  });
});

describe('any other script', () => {
  for (const script of [
    '',
    'ls',
    'echo x',
    'npm test && git commit -am x',
    'git commit -am x; ./evil',
    'git commit -m "$(./evil)"',
    'git commit -m `./evil`',
    'git commit -m "$HOME"',
    'git commit -m "$(cat <<EOF\n$(./evil)\nEOF\n)"',
    'git commit -m "$(cat <<\'EOF\'\nx\nEOF\n./evil)"',
    'git commit -m "$(cat x <<\'EOF\'\nx\nEOF\n)"',
    'git commit -F - <<EOF\n$(./evil)\nEOF',
    'git commit -F <(./evil)',
    'git add {--exec,x}',
    'git add *',
    'git add ""*',
    'git rebase -*',
    'git rebase \\-*',
    'git add $FILES',
    'git -c core.pager=./evil log',
    'git -c core.fsmonitor=./evil status',
    'git --exec-path=. status',
    'git --git-dir=/x status',
    'git --work-tree=/ status',
    'git --config-env=core.pager=X log',
    'git -C /etc status',
    'git -C .. status',
    'cd / && git status',
    'cd .. && git status',
    'cd && git status',
    'cd - && git status',
    'cd /work/tree/../other && git status',
    'GIT_DIR=x git status',
    'env git status',
    './git status',
    '"git" status',
    'git config core.pager x',
    'git clone x',
    'git fetch',
    'git push',
    'git submodule update',
    'git worktree add x',
    'git bisect run ./evil',
    'git filter-branch x',
    'git evil',
    'git rebase -i main',
    'git rebase -x ./evil main',
    'git rebase --exec ./evil main',
    'git rebase --exe=./evil main',
    'git rebase -qx ./evil main',
    'git add -p --inter',
    'git diff --output=.git/commondir',
    'git diff --ext-diff',
    'git log --textconv',
    'git init --template=x',
    'git init --separate-git-dir=x',
    'git log | ./evil',
    'git log | sh',
    'git log | tail x',
    'git log > x',
    'git log > .git/config',
    'git status < x',
    'git status &',
    '(git status)',
    '{ git status; }',
    'if git status; then git add .; fi',
    'git() { ./evil; }; git status',
    'alias git=./evil\ngit status',
    'git status |& sh',
    'git status; exec sh',
    'git commit -m "x" "',
  ]) {
    it(JSON.stringify(script), () => assert.equal(gitScriptOf(script, ROOT), 'other'));
  }
});
