// Repositories in the sandbox: what an agent may do there, and what it cannot plant for a git that runs outside later.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { git, need, ToolBench } from '../../../test/support/tool-world.ts';
import type { Called } from '../../../test/support/tool-world.ts';

const HANGS = { timeout: 60_000 };
const bubblewrap = await need('bwrap');
const benches: ToolBench[] = [];
after(() => benches.forEach((bench) => bench.close()));

/** A workspace with one commit. */
async function openBench(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }): Promise<ToolBench> {
  const bench = await ToolBench.open({ files, isRepository: true, env: bubblewrap.env });
  benches.push(bench);
  git(bench.root, 'config', 'user.name', 'test');
  git(bench.root, 'config', 'user.email', 'test@example.com');
  git(bench.root, 'config', 'commit.gpgsign', 'false');
  git(bench.root, 'add', '-A');
  git(bench.root, 'commit', '-qm', 'one');
  return bench;
}

async function openPlain(): Promise<ToolBench> {
  const bench = await ToolBench.open({ files: { 'a.txt': 'a\n' }, env: bubblewrap.env });
  benches.push(bench);
  return bench;
}

async function openAt(bench: ToolBench, root: string): Promise<ToolBench> {
  const opened = await bench.reopen(bubblewrap.env, root);
  benches.push(opened);
  return opened;
}

function run(bench: ToolBench, command: string): Promise<Called> {
  return bench.call('shell', { command }, { sandbox: 'workspace_write' });
}

/** All that names commands in a repository, as one text. */
function commandsOf(directory: string): string {
  const config = readFileSync(join(directory, 'config'), 'utf8');
  return [config, ...readdirSync(directory).toSorted(), ...readdirSync(join(directory, 'hooks'))].join('\n');
}

/** How `.git` is taken over: first what the finding names, then what is like it. */
const TAKE_OVER = [
  'mv .git .git2; mkdir .git; cp -a .git2/. .git/; echo "[core]\n\tpager = evil" >> .git/config',
  'rm -rf .git; git init -q; git config core.pager evil',
  'echo "[core]\n\tpager = evil" >> .git/config',
  'git config core.pager evil',
  'echo evil > .git/hooks/post-commit',
  'mv .git/hooks .git/old',
  'echo ../evil > .git/commondir',
  'mkdir -p .git/modules/x .git/worktrees/x',
  'ln -sfn /tmp/evil .git/hooks; ln -sf /etc/passwd .git/COMMIT_EDITMSG',
  'mount --bind evil .git; umount .git; unshare -Ur umount .git',
  'git commit --allow-empty -m x; true',
];

describe('a script that is not git alone', { ...HANGS, skip: bubblewrap.skip }, () => {
  it('changes nothing in .git', async () => {
    const bench = await openBench();
    const before = commandsOf(bench.path('.git'));
    for (const command of TAKE_OVER) {
      await run(bench, `mkdir -p evil; ${command}`);
      assert.equal(commandsOf(bench.path('.git')), before, command);
      assert.equal(existsSync(bench.path('.git2')) && existsSync(bench.path('.git2/HEAD')), false, command);
    }
    assert.match(git(bench.root, 'log', '--oneline'), /^\w+ one\n$/);
  });

  it('is told how to commit', async () => {
    const bench = await openBench();
    const called = await run(bench, 'echo b > b.txt && git add -A && git commit -qm two');
    assert.equal(called.success, false);
    assert.match(called.text, /Read-only file system[^]*git add, git commit and the like in a separate call/);
    assert.equal((await run(bench, 'git add -A && git commit -qm two')).success, true);
  });

  it('reads the repository', async () => {
    const bench = await openBench();
    const called = await run(bench, 'test -d .git; git status --short | wc -l; git log --oneline | grep one');
    assert.equal(called.success, true, called.text);
  });

  it('makes no repository of the workspace, and leaves nothing where there is none', async () => {
    const bench = await openPlain();
    for (const command of [
      'mkdir .git',
      'echo x > .git/config',
      'rmdir .git; mkdir .git/hooks',
      'mv .git x',
    ]) {
      assert.equal((await run(bench, `true | ${command}`)).success, false, command);
      assert.equal(existsSync(bench.path('.git')), false, command);
    }
    mkdirSync(bench.path('.git'));
    await run(bench, 'ls');
    assert.equal(existsSync(bench.path('.git')), false, 'what a killed process left');
  });

  it('leaves other scripts at the same time what they need', async () => {
    const bench = await openPlain();
    const long = run(bench, 'sleep 1 | cat; mkdir .git; mkdir .git/x');
    await run(bench, 'ls');
    assert.equal((await long).success, false);
    assert.equal(existsSync(bench.path('.git')), false);
  });

  it('does not change a repository that lies beside its work tree', async () => {
    const bench = await openBench();
    const bare = bench.path('deep/bare');
    mkdirSync(bench.path('deep'));
    execFileSync('mv', [bench.path('.git'), bare]);
    writeFileSync(bench.path('.git'), 'gitdir: deep/bare\n');
    const before = commandsOf(bare);
    for (const command of [
      'echo x >> deep/bare/config',
      'mv deep old; cp -a old deep; echo x >> deep/bare/config',
      'echo "gitdir: evil" > .git',
      'rm .git; mkdir .git',
    ]) {
      await run(bench, `true | ${command}`);
      assert.equal(commandsOf(bare), before, command);
      assert.equal(readFileSync(bench.path('.git'), 'utf8'), 'gitdir: deep/bare\n', command);
    }
    const called = await run(bench, 'git commit --allow-empty -qm two');
    assert.equal(called.success, true, called.text);
    assert.equal(commandsOf(bare).replace('COMMIT_EDITMSG\n', ''), before.replace('COMMIT_EDITMSG\n', ''));
  });

  it('is not run where .git is a link', async () => {
    const bench = await openBench();
    execFileSync('mv', [bench.path('.git'), bench.path('real')]);
    symlinkSync('real', bench.path('.git'));
    const called = await run(bench, 'ls');
    assert.match(called.text, /^The command was not run: .*\.git is a symbolic link/);
  });
});

/** What a hook of the workspace tries, as an agent could write it. */
const HOOK = `#!/bin/sh
exec > hook.log 2>&1
echo "[core]\\n\\tfsmonitor = evil" >> .git/config
mv .git .git2; mkdir .git
mv .git/config x; mv .git/hooks y; echo evil > .git/hooks/post-commit
echo /evil > .git/commondir; rm -f .git/commondir; mv evil .git/commondir
echo "[core]" > .git/config.worktree; rm -f .git/config.worktree
mkdir -p .git/modules/x; mv .git/modules z; mkdir -p .git/worktrees/x; mv .git/worktrees w
mkdir -p .git/rebase-merge; printf 'pick 1\\nexec ./evil\\nx ./evil\\n' > .git/rebase-merge/git-rebase-todo
ln -sf "$PWD/../victim" .git/ORIG_HEAD; rm -rf .git/logs/refs/heads; mkdir -p .git/logs/refs; ln -s /etc .git/logs/refs/heads
ln -s "$PWD" .git/objects/zz; ln -sf refs/heads/main .git/inner
echo done > hook.done
`;

describe('a script of git alone', { ...HANGS, skip: bubblewrap.skip }, () => {
  for (const [name, place] of [
    ['the workspace', '.'],
    ['a directory below the top', 'sub'],
  ] as const) {
    it(`commits in ${name}`, async () => {
      const bench = await openBench({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
      const opened = await openAt(bench, bench.path(place));
      writeFileSync(join(opened.root, 'new.txt'), 'new\n');
      const called = await run(
        opened,
        'git add -A && git commit -q -m "$(cat <<\'EOF\'\ntwo\n\nwith a body\nEOF\n)" && git status --short',
      );
      assert.equal(called.success, true, called.text);
      assert.match(git(bench.root, 'log', '-1', '--format=%s|%b'), /^two\|with a body/);
      assert.match(git(bench.root, 'show', '--stat'), /new\.txt/);
    });
  }

  it('commits in a repository without hooks, and leaves nothing behind', async () => {
    const bench = await openBench();
    rmSync(bench.path('.git/hooks'), { recursive: true });
    const before = readdirSync(bench.path('.git')).toSorted();
    const called = await run(bench, 'git commit --allow-empty -qm two');
    assert.equal(called.success, true, called.text);
    assert.deepEqual(readdirSync(bench.path('.git')).toSorted(), before);
  });

  for (const [script, resume] of [
    ['git rebase -s x/../evil side', 'rebase'],
    ['git cherry-pick --strategy=x/../evil side~1 side', 'cherry-pick'],
  ] as const) {
    it(`leaves no program of the workspace that a ${resume} would run as its way to merge`, async () => {
      const bench = await openBench();
      const commit = (branch: string): void => {
        for (const text of [`${branch} 1\n`, `${branch} 2\n`]) {
          writeFileSync(bench.path('a.txt'), text);
          git(bench.root, 'commit', '-qam', text);
        }
      };
      git(bench.root, 'branch', 'side');
      commit('main');
      git(bench.root, 'switch', '-q', 'side');
      commit('side');
      git(bench.root, 'switch', '-q', 'main');
      const trace = `${bench.root}-ran`;
      mkdirSync(bench.path('git-merge-x'));
      writeFileSync(bench.path('evil'), `#!/bin/sh\ntouch '${trace}'\nexit 1\n`, { mode: 0o755 });
      const called = await run(bench, script);
      assert.equal(called.success, false, called.text);
      assert.match(called.text, /Removed from the repository.*(?:strategy|opts)/);
      writeFileSync(bench.path('a.txt'), 'resolved\n');
      git(bench.root, 'add', 'a.txt');
      try {
        git(bench.root, '-c', 'core.editor=true', resume, '--continue');
      } catch {
        // The next commit conflicts as well.
      }
      const hasRun = existsSync(trace);
      rmSync(trace, { force: true });
      assert.equal(hasRun, false);
    });
  }

  it('works with branches, stashes, merges, rebases and resets', async () => {
    const bench = await openBench();
    for (const command of [
      'git switch -qc side && git commit --allow-empty -qm side && git switch -q main',
      'git commit --allow-empty -qm main && git merge -q --no-edit side && git tag v1',
      'git rm -q a.txt && git stash -q && git stash pop -q && git restore --staged a.txt && git checkout -- a.txt',
      'git mv a.txt b.txt && git commit -qm moved && git revert --no-edit HEAD && git reset -q --hard HEAD~1',
      'git branch -d side && git rebase -q HEAD~1 && git cherry-pick --keep-redundant-commits HEAD',
      'git -c user.name=Other commit --amend --no-edit --allow-empty -q && git status',
    ]) {
      const called = await run(bench, command);
      assert.equal(called.success, true, `${command}\n${called.text}`);
    }
    git(bench.root, 'fsck', '--strict');
  });

  it('commits in a work tree whose repository is elsewhere, and touches no other', async () => {
    const bench = await openBench();
    const tree = `${bench.root}-tree`;
    git(bench.root, 'worktree', 'add', '-q', '-b', 'other', tree);
    git(bench.root, 'worktree', 'add', '-q', '-b', 'third', `${bench.root}-third`);
    const opened = await openAt(bench, tree);
    benches.push(await openAt(bench, `${bench.root}-third`));
    writeFileSync(join(tree, 'new.txt'), 'new\n');
    const called = await run(opened, 'git add -A && git commit -qm work');
    assert.equal(called.success, true, called.text);
    assert.match(git(bench.root, 'log', '--oneline', 'other'), /work/);
    assert.match(git(tree, 'log', '--oneline'), /work/);
    assert.equal((await run(opened, 'git commit --allow-empty -qm again')).success, true);
    const own = bench.path('.git/worktrees', readdirSync(bench.path('.git/worktrees'))[0] ?? '');
    for (const place of [bench.path('.git'), own]) {
      assert.equal((await run(opened, `true | tee ${place}/commondir`)).success, false, place);
    }
  });

  it('runs the hooks of a workspace, which plant nothing', async () => {
    const bench = await openBench({ '.husky/pre-commit': HOOK, evil: '/evil\n' });
    chmodSync(bench.path('.husky/pre-commit'), 0o755);
    git(bench.root, 'config', 'core.hooksPath', '.husky');
    const config = readFileSync(bench.path('.git/config'), 'utf8');
    const hooks = readdirSync(bench.path('.git/hooks'));
    const called = await run(bench, 'git commit --allow-empty -qm two');
    assert.ok(existsSync(bench.path('hook.done')), called.text);
    assert.equal(readFileSync(bench.path('.git/config'), 'utf8'), config);
    assert.deepEqual(readdirSync(bench.path('.git/hooks')), hooks);
    for (const path of ['commondir', 'config.worktree', 'modules', 'worktrees', 'ORIG_HEAD', 'objects/zz']) {
      assert.equal(lstatSync(bench.path('.git', path), { throwIfNoEntry: false }), undefined, path);
    }
    assert.equal(lstatSync(bench.path('.git/logs/refs/heads'), { throwIfNoEntry: false }), undefined);
    assert.ok(lstatSync(bench.path('.git/inner')).isSymbolicLink(), 'a link inside of the repository stays');
    assert.equal(readFileSync(bench.path('.git/rebase-merge/git-rebase-todo'), 'utf8'), 'pick 1\n');
    assert.match(called.text, /Removed from the repository/);
  });

  it('does not write in a repository that does not name the work tree as its own', async () => {
    const other = await openBench();
    const bench = await openPlain();
    writeFileSync(bench.path('.git'), `gitdir: ${other.path('.git')}\n`);
    const called = await run(bench, 'git commit --allow-empty -qm stolen');
    assert.equal(called.success, false);
    assert.match(called.text, /does not name .* as one of its work trees\. So \.git stays read-only/);
    assert.match(git(other.root, 'log', '--oneline'), /^\w+ one\n$/);
  });

  it('makes a repository where there is none', async () => {
    const bench = await openPlain();
    const both = await run(bench, 'git init -q && git add -A && git commit -qm one');
    assert.match(both.text, /git init alone/);
    assert.equal(existsSync(bench.path('.git')), false);
    assert.equal((await run(bench, 'git init -q -b main')).success, true);
    const called = await run(bench, 'git add -A && git -c user.name=t -c user.email=t@x.y commit -qm one');
    assert.equal(called.success, true, called.text);
  });

  it('finds its programs outside of the workspace', async () => {
    const bench = await openBench({ 'bin/git': '#!/bin/sh\necho x > taken\n' });
    chmodSync(bench.path('bin/git'), 0o755);
    const path = `${bench.path('bin')}:${bubblewrap.env['PATH'] ?? process.env['PATH'] ?? ''}`;
    const opened = await bench.reopen({ PATH: path });
    assert.equal((await run(opened, 'git commit --allow-empty -qm two')).success, true);
    assert.equal(existsSync(bench.path('taken')), false);
  });
});
