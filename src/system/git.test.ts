// Hostile repositories, read by Baton's own git: nothing that they name may run. Every attack leaves a file where it fires.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasSucceeded, runGit } from './git.io.ts';

const MISSING = '1'.repeat(40);

/** A repository with one commit, and a command that betrays itself. */
class Victim {
  readonly base = mkdtempSync(join(tmpdir(), 'baton-git-'));
  readonly root = join(this.base, 'work');
  readonly fired = join(this.base, 'fired');
  /** A program for settings that name one. */
  readonly program = join(this.base, 'evil');

  constructor() {
    mkdirSync(this.root);
    writeFileSync(this.program, `#!/bin/sh\necho fired >> '${this.fired}'\n`);
    chmodSync(this.program, 0o755);
    this.git('init', '-q', '-b', 'main');
    this.put('a.txt', 'a\n');
    this.git('add', '-A');
    this.git('commit', '-qm', 'one');
  }

  git(...args: readonly string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(cwd: string, ...args: readonly string[]): string {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...identity, '-c', 'protocol.file.allow=always', ...args], {
      cwd,
      encoding: 'utf8',
      timeout: 10_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  put(path: string, content: string, mode = 0o644): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true });
    writeFileSync(join(this.root, path), content, { mode });
  }

  promise(config = '.git/config', url = `ext::${this.program}`): void {
    for (const [key, value] of [
      ['core.repositoryformatversion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.url', url],
      ['remote.origin.promisor', 'true'],
      ['protocol.allow', 'always'],
      ['protocol.ext.allow', 'always'],
      ['protocol.evil.allow', 'always'],
      ['core.sshCommand', this.program],
      ['core.gitProxy', this.program],
    ] as const) {
      this.git('config', '-f', config, key, value);
    }
    writeFileSync(join(this.root, '.git/packed-refs'), `${MISSING} refs/baton/snapshots/t/1\n`);
  }

  /** The same content with another time: git has to look into the file, and asks the drivers. */
  touch(path: string): void {
    this.put(path, 'A\n');
  }
}

/** Everything that Baton asks git for in a repository of the user's. */
const QUESTIONS: readonly (readonly string[])[] = [
  ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'],
  ['config', '-z', '--get-regexp', '^core'],
  ['ls-files', '-z', '--stage'],
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  ['check-ignore', '-q', '--', '.'],
  ['status', '--porcelain=v1', '-z', '--branch', '--untracked-files=normal', '--ignore-submodules=dirty'],
  ['log', '-1', '--format=%H%n%s'],
  ['for-each-ref', '--format=%(refname) %(objectname) %(creatordate:unix)', 'refs/baton/snapshots'],
  ['rev-parse', '--verify', '-q', 'refs/baton/snapshots/t/1^{tree}'],
  ['cat-file', '-p', MISSING],
  ['diff', '--no-color', '--ignore-submodules=dirty'],
  ['update-ref', 'refs/baton/other', 'HEAD'],
  ['update-ref', '-d', 'refs/baton/other'],
];

const HOOKS = ['reference-transaction', 'post-index-change', 'post-checkout', 'pre-auto-gc'];

const ATTACKS: Readonly<Record<string, (victim: Victim) => void>> = {
  'a promised object behind a command (ext::)': (victim) => victim.promise(),
  'a promised object behind ssh': (victim) => victim.promise('.git/config', 'ssh://host/x'),
  'a promised object behind a proxy': (victim) => victim.promise('.git/config', 'git://host/x'),
  'a promised object behind a helper of another name': (victim) => victim.promise('.git/config', 'evil::x'),
  'a promised object behind a file with its own upload-pack': (victim) => {
    victim.promise('.git/config', victim.base);
    victim.git('config', 'remote.origin.uploadpack', victim.program);
  },
  'a promise in an included file': (victim) => {
    victim.git('config', 'include.path', '../settings');
    victim.git('config', 'extensions.partialClone', 'origin');
    victim.git('config', 'core.repositoryformatversion', '1');
    victim.promise('settings');
  },
  'a monitor of the file system': (victim) => victim.git('config', 'core.fsmonitor', victim.program),
  'a monitor in a conditional include': (victim) => {
    victim.git('config', 'includeIf.onbranch:main.path', '../settings');
    victim.git('config', '-f', 'settings', 'core.fsmonitor', victim.program);
  },
  hooks: (victim) => {
    for (const hook of HOOKS)
      victim.put(`.git/hooks/${hook}`, `#!/bin/sh\nexec '${victim.program}'\n`, 0o755);
  },
  'hooks elsewhere': (victim) => {
    for (const hook of HOOKS) victim.put(`hooks/${hook}`, `#!/bin/sh\nexec '${victim.program}'\n`, 0o755);
    victim.git('config', 'core.hooksPath', 'hooks');
  },
  'a filter': (victim) => {
    victim.put('.gitattributes', '* filter=evil\n');
    for (const key of ['clean', 'smudge']) victim.git('config', `filter.evil.${key}`, victim.program);
    victim.git('config', 'filter.evil.required', 'true');
    victim.touch('a.txt');
  },
  'a filter with an odd name, in an included file': (victim) => {
    victim.put('.git/info/attributes', '* filter=a.b=c\n');
    victim.git('config', 'include.path', '../settings');
    victim.put('settings', `[filter "a.b=c"]\n\tprocess = ${victim.program}\n\tclean = ${victim.program}\n`);
    victim.touch('a.txt');
  },
  'a driver of differences': (victim) => {
    victim.put('.gitattributes', '* diff=evil\n');
    victim.git('config', 'diff.evil.textconv', victim.program);
    victim.git('config', 'diff.evil.command', victim.program);
    victim.git('config', 'diff.external', victim.program);
    victim.touch('a.txt');
  },
  'a signature to be checked': (victim) => {
    const tree = victim.git('rev-parse', 'HEAD^{tree}').trim();
    const who = 't <t@example.com> 1 +0000';
    const commit = `tree ${tree}\nauthor ${who}\ncommitter ${who}\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nsigned\n`;
    victim.put('commit', commit);
    victim.git('reset', '-q', victim.git('hash-object', '-w', '-t', 'commit', 'commit').trim());
    victim.git('config', 'log.showSignature', 'true');
    victim.git('config', 'gpg.program', victim.program);
    victim.git('config', 'gpg.openpgp.program', victim.program);
  },
  'a pager, an editor, an alias, helpers': (victim) => {
    for (const key of ['core.pager', 'core.editor', 'core.askPass', 'pager.log', 'pager.status']) {
      victim.git('config', key, victim.program);
    }
    for (const verb of ['log', 'status', 'ls-files'])
      victim.git('config', `alias.${verb}`, `!${victim.program}`);
    victim.git('config', 'credential.helper', `!${victim.program}`);
    victim.git('config', 'core.alternateRefsCommand', victim.program);
  },
  'a submodule with a monitor and a filter': (victim) => {
    victim.gitIn(victim.base, 'clone', '-q', victim.root, 'origin');
    victim.git('submodule', '--quiet', 'add', join(victim.base, 'origin'), 'sub');
    victim.git('commit', '-qm', 'sub');
    const config = join(victim.root, '.git/modules/sub/config');
    victim.git('config', '-f', config, 'core.fsmonitor', victim.program);
    victim.git('config', '-f', config, 'filter.evil.clean', victim.program);
    victim.put('sub/.gitattributes', '* filter=evil\n');
    victim.touch('sub/a.txt');
    victim.git('config', 'submodule.sub.ignore', 'none');
    victim.git('config', 'status.submoduleSummary', 'true');
  },
  'objects of another repository that promises': (victim) => {
    victim.promise();
    victim.put('.git/objects/info/alternates', `${victim.base}/other/objects\n`);
    victim.gitIn(victim.base, 'init', '-q', '--bare', 'other');
  },
  'a workspace that looks like a bare repository': (victim) => {
    victim.git('config', 'core.fsmonitor', victim.program);
    execFileSync('sh', ['-c', 'cp -a .git/. . && rm -rf .git && git config core.bare false'], {
      cwd: victim.root,
    });
    victim.gitIn(victim.root, '--git-dir=.', 'config', 'core.worktree', '.');
  },
};

const NEVER = new AbortController().signal;
const victims: Victim[] = [];
after(() => {
  for (const { base } of victims) rmSync(base, { recursive: true, force: true });
});

function prepare(attack: (victim: Victim) => void = () => undefined): Victim {
  const victim = new Victim();
  victims.push(victim);
  attack(victim);
  // What fired while it was laid does not count.
  rmSync(victim.fired, { force: true });
  return victim;
}

async function askAll(victim: Victim, env: Readonly<Record<string, string>>): Promise<void> {
  for (const question of QUESTIONS) {
    await runGit(question, victim.root, { env, signal: NEVER, timeoutMs: 10_000 });
    assert.equal(existsSync(victim.fired), false, `git ${question.join(' ')}`);
  }
}

const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' };

describe('a repository that names commands', { timeout: 120_000 }, () => {
  for (const [name, attack] of Object.entries(ATTACKS)) {
    it(`runs none: ${name}`, async () => askAll(prepare(attack), ENV));
  }

  it('runs none although git fetches what is missing: the ban of protocols suffices', async () => {
    const victim = prepare((one) => one.promise());
    const args = ['cat-file', '-p', MISSING];
    const terms = { env: ENV, signal: NEVER, variables: { GIT_NO_LAZY_FETCH: '0' } };
    const answer = await runGit(args, victim.root, terms);
    assert.match(answer.errors, /transport 'ext' not allowed/);
    assert.equal(existsSync(victim.fired), false);
  });

  it('is one that fires in a git without protection: these attacks can fail', () => {
    const victim = prepare((one) => one.promise());
    try {
      victim.git('cat-file', '-p', MISSING);
    } catch {
      // It fetches from a program that speaks no protocol.
    }
    assert.equal(existsSync(victim.fired), true);
  });
});

describe("git's environment", () => {
  it('drops what points elsewhere, names commands or writes traces', async () => {
    const victim = prepare((one) => one.touch('a.txt'));
    const trace = join(victim.base, 'trace');
    const env = {
      ...ENV,
      GIT_TRACE: trace,
      GIT_TRACE2_EVENT: trace,
      GIT_EXTERNAL_DIFF: victim.program,
      GIT_SSH_COMMAND: victim.program,
      GIT_ASKPASS: victim.program,
      GIT_DIR: '/nonexistent',
      GIT_ALLOW_PROTOCOL: 'ext',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: victim.program,
    };
    await askAll(victim, env);
    assert.equal(existsSync(trace), false);
  });

  it("keeps the user's own files to ignore", async () => {
    const victim = prepare((one) => one.put('notes.mine', ''));
    writeFileSync(join(victim.base, 'ignore'), '*.mine\n');
    writeFileSync(join(victim.base, 'config'), `[core]\n\texcludesFile = ${victim.base}/ignore\n`);
    const env = { ...ENV, GIT_CONFIG_GLOBAL: join(victim.base, 'config') };
    const answer = await runGit(['ls-files', '--others', '--exclude-standard'], victim.root, {
      env,
      signal: NEVER,
    });
    assert.deepEqual([hasSucceeded(answer), answer.output.toString()], [true, '']);
  });

  it('finds no git in the work tree, by whatever name that is given', async () => {
    const victim = prepare((one) => one.put('bin/git', `#!/bin/sh\nexec '${one.program}'\n`, 0o755));
    execFileSync('ln', ['-s', join(victim.root, 'bin'), join(victim.base, 'link')]);
    const own = [join(victim.root, 'bin'), join(victim.base, 'link'), 'bin', '.', ''];
    await askAll(victim, { ...ENV, PATH: [...own, ENV.PATH].join(':') });
    const answer = await runGit(['--version'], victim.root, { env: { PATH: own.join(':') }, signal: NEVER });
    assert.equal(answer.end.type, 'not_started');
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the output of git', { timeout: 20_000 }, () => {
  it('ends it when it is endless, and takes little memory', async () => {
    const victim = prepare((one) => {
      mkdirSync(join(one.base, 'bin'));
      writeFileSync(
        join(one.base, 'bin/git'),
        `#!/bin/sh\necho $$ > '${one.base}/pid'\nexec cat /dev/zero\n`,
        { mode: 0o755 },
      );
    });
    const env = { PATH: `${victim.base}/bin:${ENV.PATH}` };
    const before = process.memoryUsage().rss;
    const answer = await runGit(['ls-files'], victim.root, { env, signal: NEVER });
    assert.ok(process.memoryUsage().rss - before < 300e6, 'memory');
    assert.deepEqual([hasSucceeded(answer), answer.output.length], [false, 0]);
    assert.match(answer.errors, /more than 64 MB/);
    const pid = readFileSync(join(victim.base, 'pid'), 'utf8').trim();
    while (isAlive(Number(pid))) await sleep(10);
  });
});

describe('a named pipe where git opens a file', { skip: process.platform === 'win32' }, () => {
  for (const name of [
    '.git/HEAD',
    '.git/config',
    '.git/packed-refs',
    '.git/objects/info/alternates',
    '.git/refs/heads',
    '.git/refs/heads/main',
    '.git/refs/stash',
    '.git/refs/baton/snapshots/x/1',
    '.gitignore',
  ]) {
    it(`${name} is named, and git is not started`, async () => {
      const victim = prepare((one) => {
        rmSync(join(one.root, name), { recursive: true, force: true });
        mkdirSync(dirname(join(one.root, name)), { recursive: true });
        execFileSync('mkfifo', [join(one.root, name)]);
      });
      const begun = performance.now();
      const answer = await runGit(['status'], victim.root, { env: ENV, signal: NEVER });
      assert.ok(performance.now() - begun < 5_000);
      assert.equal(hasSucceeded(answer), false);
      assert.match(answer.errors, /^fatal: \/.* is a named pipe$/);
    });
  }
});
