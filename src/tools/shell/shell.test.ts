// Commands as real processes: what they write, how they end, and that nothing of them stays.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { git, need, ToolBench } from '../../../test/support/tool-world.ts';
import type { Called } from '../../../test/support/tool-world.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { RESULT_TOKENS } from '../cap.ts';
import { MAX_DELTA_CHARACTERS } from './shell.io.ts';

/** Ends a test that waits for what never comes; far above what anything here takes. */
const HANGS = { timeout: 30_000 };

/** Longer than any test may take, and not so long that a red one leaves it behind for good. */
const LONG = 'sleep 50';

let bench: ToolBench;
before(async () => {
  const secrets = ['MY_API_KEY', 'GITHUB_TOKEN', 'LAB_KEY', 'UNKNOWN', 'SSH_AUTH_SOCK', 'NPM_CONFIG__AUTH'];
  const env = Object.fromEntries(secrets.map((name) => [name, 'secret']));
  bench = await ToolBench.open({ env: { ...env, MY_HARMLESS: 'yes', GOFLAGS: '-mod=mod' } });
});
after(() => bench.close());

function shell(command: string, more: object = {}, signal?: AbortSignal): Promise<Called> {
  return bench.call('shell', { command, ...more }, signal === undefined ? {} : { signal });
}

function outputOf({ text }: Called): string {
  return text.slice(text.indexOf('\nOutput:\n') + '\nOutput:\n'.length);
}

/** Waits until a process whose id is in a file of the workspace is gone. */
async function isGone(file: string): Promise<true> {
  const pid = readFileSync(bench.path(file), 'utf8').trim();
  for (;;) {
    const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    if (state === '' || /\) Z /.test(state)) return true;
    await sleep(10);
  }
}

describe('a command', HANGS, () => {
  it('gives its status, its time, and both streams in the order of writing', async () => {
    const called = await shell('for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7');
    assert.match(called.text, /^Exit code: 7\nWall time: \d+\.\d seconds\nOutput:\n/);
    assert.equal(outputOf(called), 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n');
    assert.deepEqual([called.success, called.exitCode], [false, 7]);
  });

  it('tells begin, output and end', async () => {
    const { events, success } = await shell('echo one');
    assert.equal(success, true);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['exec_command_begin', 'exec_command_output_delta', 'exec_command_end'],
    );
    const [begin, delta, end] = events;
    assert.ok(begin?.type === 'exec_command_begin' && begin.cwd === bench.root, 'where');
    assert.ok(delta?.type === 'exec_command_output_delta' && delta.delta === 'one\n', 'what');
    assert.ok(end?.type === 'exec_command_end' && end.exit_code === 0 && end.outcome === 'exited', 'how');
  });

  it('has an empty standard input and no terminal', async () => {
    const called = await shell('cat; read x; echo "read $?"; if : </dev/tty; then echo tty; fi 2>/dev/null');
    assert.equal(outputOf(called), 'read 1\n');
  });

  it('sees no secrets', async () => {
    const called = await shell('env');
    assert.doesNotMatch(called.text, /secret/);
    assert.match(called.text, /^MY_HARMLESS=yes$/m);
    assert.match(called.text, /^GOFLAGS=-mod=mod$/m);
  });

  it('runs where it is told to, inside of the workspace', async () => {
    mkdirSync(bench.path('sub'), { recursive: true });
    assert.equal(outputOf(await shell('pwd', { workdir: 'sub' })), `${bench.path('sub')}\n`);
    for (const workdir of ['..', '/', 'nowhere', '/etc']) {
      const called = await shell('touch ran', { workdir });
      assert.match(called.text, /^The command was not run: workdir/);
    }
    assert.equal(existsSync(bench.path('ran')), false);
  });

  it('that nothing is written by says so', async () => {
    assert.equal(outputOf(await shell(':')), '(none)');
  });

  it('that is killed says by what', async () => {
    const called = await shell('kill -9 $$');
    assert.match(called.text, /^The command was ended by SIGKILL\./);
    assert.deepEqual([called.success, called.exitCode], [false, undefined]);
  });

  it('that cannot be one is a result', async () => {
    assert.match((await shell('echo \0')).text, /zero byte/);
    assert.match((await shell('x'.repeat(100_001))).text, /cannot be used/);
    assert.equal((await shell(`: ${'x'.repeat(90_000)}`)).success, true);
  });
});

/** Milliseconds in which also a busy machine has started a shell and run a few commands of its own. */
const UNTIL_BEGUN_MS = 1_500;

describe('the time of a command', HANGS, () => {
  it('is up with all that the command started', async () => {
    const called = await shell(`${LONG} & echo $! > child; echo begun; wait`, {
      timeout_ms: UNTIL_BEGUN_MS,
    });
    const told = /^The command timed out after ([\d.]+) seconds/.exec(called.text);
    assert.ok(Number(told?.[1]) >= UNTIL_BEGUN_MS / 1000, called.text);
    assert.equal(outputOf(called), 'begun\n');
    assert.ok(await isGone('child'), 'gone');
  });

  it('leaves it a moment to tidy up', async () => {
    await shell(`trap 'echo tidy > tidied; exit' TERM; echo $$ > own; ${LONG} & wait`, {
      timeout_ms: UNTIL_BEGUN_MS,
    });
    assert.equal(readFileSync(bench.path('tidied'), 'utf8'), 'tidy\n');
  });

  it('is up although it catches every signal that can be caught', async () => {
    const called = await shell(`trap '' TERM INT HUP; echo $$ > stubborn; while :; do sleep 1; done`, {
      timeout_ms: UNTIL_BEGUN_MS,
    });
    assert.match(called.text, /timed out/);
    assert.ok(await isGone('stubborn'), 'gone');
  });
});

describe('what a command leaves behind', HANGS, () => {
  it('is ended with it, whether it holds the output or not', async () => {
    const called = await shell(
      `${LONG} & echo $! > holds; ${LONG} >/dev/null 2>&1 & echo $! > silent; nohup ${LONG} >/dev/null 2>&1 & echo $! > nohup; echo done`,
    );
    assert.equal(outputOf(called), 'done\n');
    for (const file of ['holds', 'silent', 'nohup']) assert.ok(await isGone(file), file);
  });

  it('is not waited for, even when it left the group and holds the output', async () => {
    const called = await shell(`setsid ${LONG} & echo done`);
    assert.equal(outputOf(called), 'done\n');
    assert.equal(called.exitCode, 0);
  });
});

describe('a Baton that is killed', HANGS, () => {
  it('takes an unconfined command with it, with all that it started', async () => {
    const program = `
      import { runProcess } from '${new URL('../../system/processes.io.ts', import.meta.url).href}';
      await runProcess(
        {
          command: ['/bin/bash', '-c', '${LONG} & echo $! > below; echo $$ > above.new; mv above.new above; wait'],
          cwd: ${JSON.stringify(bench.root)}, env: process.env, timeoutMs: 60_000, graceMs: 0, leftovers: 'kill', endsWithBaton: true,
        },
        () => undefined,
        new AbortController().signal,
      );`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    while (!existsSync(bench.path('above'))) await sleep(10);
    child.kill('SIGKILL');
    for (const file of ['above', 'below']) assert.ok(await isGone(file), file);
  });
});

describe("the user's interruption", HANGS, () => {
  it('ends a command in the middle and keeps what it wrote', async () => {
    const stop = new AbortController();
    const tool = bench.call(
      'shell',
      { command: `echo begun; echo $$ > own; mv own running; ${LONG}` },
      { signal: stop.signal },
    );
    while (!existsSync(bench.path('running'))) await sleep(5);
    stop.abort();
    const called = await tool;
    assert.match(called.text, /^The user stopped the command/);
    assert.equal(outputOf(called), 'begun\n');
    assert.equal(called.events.at(-1)?.type, 'exec_command_end');
    assert.ok(await isGone('running'), 'gone');
  });

  it('before the start starts nothing', async () => {
    const called = await shell('touch started', {}, AbortSignal.abort());
    assert.match(called.text, /stopped the work before/);
    assert.equal(existsSync(bench.path('started')), false);
  });
});

describe('the output of a command', HANGS, () => {
  it('of 100 MB keeps head and tail and little memory', async () => {
    const bytesBefore = process.memoryUsage().rss;
    const called = await shell(`echo FIRST; yes 'a line of the middle' | head -c 100000000; echo; echo LAST`);
    const grown = process.memoryUsage().rss - bytesBefore;
    assert.ok(grown < 150e6, `${grown} bytes`);
    assert.ok(approximateTokens(called.text) <= RESULT_TOKENS, `${approximateTokens(called.text)} tokens`);
    const output = outputOf(called);
    assert.ok(output.startsWith('FIRST\na line'), 'head');
    assert.ok(output.endsWith('\nLAST\n'), 'tail');
    assert.match(output, /\[… \d{7} lines, 9\d{7} bytes omitted here\. To see it, run/);
    const told = called.events.reduce(
      (sum, event) => sum + (event.type === 'exec_command_output_delta' ? event.delta.length : 0),
      0,
    );
    assert.equal(told, MAX_DELTA_CHARACTERS);
  });

  it('that is binary is counted, with the text around it', async () => {
    const called = await shell(`echo before; sleep 0.1; head -c 5000 /dev/urandom; sleep 0.1; echo after`);
    assert.equal(outputOf(called), 'before\n[5000 bytes of binary output]\nafter\n');
  });

  it('has no colours, and of progress bars the end', async () => {
    const called = await shell(String.raw`printf '\033[31mred\033[0m\n10%%\r100%%\nü\0x\n'`);
    assert.equal(outputOf(called), 'red\n100%\nü\u2400x\n');
  });
});

describe('without bubblewrap', HANGS, () => {
  it('one that starts commands and does not confine them is not believed', async () => {
    const script = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';
    const bin = await ToolBench.open({ files: { bwrap: script } });
    chmodSync(bin.path('bwrap'), 0o755);
    const other = await ToolBench.open({ env: { PATH: `${bin.root}:/usr/bin:/bin` } });
    assert.ok(other.toolbox.confinement.type === 'none', 'none');
    assert.match(other.toolbox.confinement.why, /capabilities stay|the disk stays writable/);
    for (const one of [bin, other]) one.close();
  });

  it('a confined command is not run, and the reason is said', async () => {
    const plain = await ToolBench.open({ without: ['bwrap'] });
    assert.equal(plain.toolbox.confinement.type, 'none');
    for (const sandbox of ['read_only', 'workspace_write'] as const) {
      const called = await plain.call('shell', { command: 'touch ran' }, { sandbox });
      assert.match(called.text, /^The command was not run: Bubblewrap .*is not installed/);
      assert.equal(called.success, false);
    }
    assert.equal(existsSync(plain.path('ran')), false);
    plain.close();
  });

  it('that only pretends to be there is not believed', async () => {
    const fake = await ToolBench.open({ without: ['bwrap'] });
    const bin = await ToolBench.open({ files: { bwrap: '#!/bin/sh\necho no namespaces >&2\nexit 1\n' } });
    await bin.call('shell', { command: 'chmod +x bwrap' });
    const other = await ToolBench.open({ env: { PATH: `${bin.root}:/usr/bin:/bin` } });
    assert.ok(other.toolbox.confinement.type === 'none', 'none');
    assert.match(other.toolbox.confinement.why, /does not work here \(no namespaces\)/);
    for (const one of [fake, bin, other]) one.close();
  });

  it('a program of the workspace is never taken for one of the system', async () => {
    const files = { 'bin/bwrap': '#!/bin/sh\ntouch taken\n', 'bin/rg': '#!/bin/sh\ntouch taken\n' };
    const made = await ToolBench.open({ files });
    await made.call('shell', { command: 'chmod +x bin/*' });
    const opened = await made.reopen({ PATH: `${made.path('bin')}:/usr/bin:/bin` });
    await opened.call('grep', { pattern: 'x' });
    assert.equal(existsSync(made.path('taken')), false);
    made.close();
  });
});

const bubblewrap = await need('bwrap');

describe('a confined command', { ...HANGS, skip: bubblewrap.skip }, () => {
  let confined: ToolBench;
  before(async () => {
    process.env['LAB_OUTER'] = 'secret';
    const files = { 'a.txt': 'a\n', '.gitignore': '' };
    confined = await ToolBench.open({ files, isRepository: true, env: bubblewrap.env });
    git(confined.root, 'config', 'user.name', 'test');
    git(confined.root, 'config', 'user.email', 'test@example.com');
  });
  after(() => {
    delete process.env['LAB_OUTER'];
    confined.close();
  });

  const run = (command: string, sandbox: 'read_only' | 'workspace_write' = 'workspace_write') =>
    confined.call('shell', { command }, { sandbox });

  it('by an old bubblewrap, which cannot limit memory, is confined without a limit', async () => {
    const { confinement } = confined.toolbox;
    assert.ok(confinement.type === 'bubblewrap', 'confined');
    const refuse = `case " $* " in *' --size '*) echo 'bwrap: Unknown option --size' >&2; exit 1;; esac`;
    const script = `#!/bin/sh\n${refuse}\nexec ${confinement.path} "$@"\n`;
    const bin = await ToolBench.open({ files: { bwrap: script } });
    chmodSync(bin.path('bwrap'), 0o755);
    const old = await ToolBench.open({ env: { PATH: `${bin.root}:/usr/bin:/bin` } });
    assert.ok(old.toolbox.confinement.type === 'bubblewrap', 'confined');
    assert.equal(old.toolbox.confinement.scratchBytes, undefined);
    const called = await old.call('shell', { command: 'echo x > /tmp/x && cat /tmp/x' });
    assert.equal(outputOf(called), 'x\n');
    for (const one of [bin, old]) one.close();
  });

  it('cannot fill the memory with files', async () => {
    const room = "stat -f -c '%b %S' /tmp /dev/shm /run | while read b s; do echo $((b * s)); done";
    const [tmp = 0, shared = 0, running = 0] = outputOf(await run(room))
      .split('\n')
      .map(Number);
    assert.ok(tmp > 0 && tmp <= 2 * 1024 ** 3 && tmp + shared <= totalmem() / 2, `${tmp} and ${shared}`);
    assert.equal(running, 16 * 1024 ** 2);
    const fill = await run('head -c 20000000 /dev/zero > /run/full; echo x > /dev/full-of-it');
    assert.match(fill.text, /No space left on device/);
    assert.match(fill.text, /full-of-it: Read-only file system/);
  });

  it('writes in the workspace and nowhere else', async () => {
    const outside = await ToolBench.open();
    const called = await run(
      `echo b > b.txt; echo x > ${outside.root}/x; echo x > /etc/x; echo x > ~/x; cat b.txt`,
    );
    assert.match(outputOf(called), /b\n$/);
    for (const path of [outside.path('x'), '/etc/x']) assert.equal(existsSync(path), false, path);
    outside.close();
  });

  it('writes nothing where it may only read', async () => {
    const called = await run('cat a.txt; touch c.txt', 'read_only');
    assert.match(outputOf(called), /^a\n.*Read-only file system/);
    assert.equal(existsSync(confined.path('c.txt')), false);
  });

  it("sees no process of Baton's, whose environment holds its keys", async () => {
    const called = await run(
      'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -c LAB_OUTER; ls -d /proc/[0-9]* | wc -l; cat /proc/$PPID/environ | wc -c',
    );
    const [keys = '', processes = ''] = outputOf(called).split('\n');
    assert.equal(keys, '0', called.text);
    assert.ok(Number(processes) > 1 && Number(processes) < 8, called.text);
  });

  it('has a temporary directory of its own, and no network', async () => {
    assert.equal((await run('echo x > /tmp/mine && cat /tmp/mine')).success, true);
    assert.equal(existsSync('/tmp/mine'), false);
    assert.match(outputOf(await run('cat /proc/net/dev | tail -n +3')), /^\s*lo:[^\n]*\n$/);
  });

  it('reaches no program that listens on a socket, in the workspace or beside it', async (context) => {
    mkdirSync(confined.path('below'));
    const below = await confined.reopen(bubblewrap.env, confined.path('below'));
    const paths = [confined.path('a b.sock'), confined.path('below/c.sock')];
    const servers = paths.map((path) => createServer((socket) => socket.end()).listen(path));
    context.after(() => {
      for (const server of servers) server.close();
      rmSync(confined.path('below'), { recursive: true });
    });
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const connect = `for (const path of process.argv.slice(1)) require("net").connect(path).on("error", () => {}).on("connect", () => console.log("reached"))`;
    const command = `node -e '${connect}' '${paths.join("' '")}'`;
    for (const sandbox of ['danger_full_access', 'read_only', 'workspace_write'] as const) {
      const called = await below.call('shell', { command }, { sandbox });
      assert.equal(
        outputOf(called),
        sandbox === 'danger_full_access' ? 'reached\nreached\n' : '(none)',
        sandbox,
      );
    }
  });

  it('commits, but changes nothing that git runs later outside', async () => {
    const called = await run('git add -A && git commit -qm one && git log --oneline');
    assert.equal(called.success, true, called.text);
    writeFileSync(confined.path('.git/hooks/post-commit'), '#!/bin/sh\n');
    for (const command of [
      'echo evil > .git/hooks/post-commit',
      'echo evil > .git/hooks/pre-push',
      'mv .git/hooks .git/old',
      'echo evil >> .git/config',
      'git config core.hooksPath /tmp/evil',
    ]) {
      assert.equal((await run(command)).success, false, command);
    }
    assert.equal(readFileSync(confined.path('.git/hooks/post-commit'), 'utf8'), '#!/bin/sh\n');
  });

  it('commits in a work tree whose repository is elsewhere', async () => {
    await confined.call('shell', {
      command: 'git add -A; git -c commit.gpgsign=false commit -qm x --allow-empty',
    });
    const tree = `${confined.root}-tree`;
    git(confined.root, 'worktree', 'add', '-q', '-b', 'other', tree);
    writeFileSync(`${tree}/w.txt`, 'w\n');
    const opened = await confined.reopen(bubblewrap.env, tree);
    const called = await opened.call(
      'shell',
      {
        command: 'git add -A && git commit -qm work',
      },
      { sandbox: 'workspace_write' },
    );
    assert.equal(called.success, true, called.text);
    const hook = confined.path('.git/hooks/x');
    const planted = await opened.call(
      'shell',
      { command: `echo evil > ${hook}` },
      { sandbox: 'workspace_write' },
    );
    assert.equal(planted.success, false, planted.text);
    assert.equal(existsSync(hook), false);
    assert.match(git(confined.root, 'log', '--oneline', 'other'), /work/);
    opened.close();
  });

  it('has no capability, and cannot mount the disk anew', async (t) => {
    const held = openSync(confined.path('baton-held-open'), 'w');
    t.after(() => {
      closeSync(held);
      for (const path of ['/usr/baton-was-here', '/var/tmp/baton-was-here']) rmSync(path, { force: true });
    });
    for (const sandbox of ['read_only', 'workspace_write'] as const) {
      const called = await run(
        'mount -o remount,rw,bind / ; umount /tmp; grep Cap /proc/self/status; readlink /proc/self/fd/*; touch /usr/baton-was-here /var/tmp/baton-was-here',
        sandbox,
      );
      const lines = outputOf(called).match(/^Cap\w+:\s+(\w+)$/gm) ?? [];
      assert.equal(lines.length, 5);
      for (const line of lines) assert.match(line, /:\s+0+$/);
      assert.doesNotMatch(outputOf(called), /baton-held-open/, "Baton's own files");
      for (const path of ['/usr/baton-was-here', '/var/tmp/baton-was-here'])
        assert.equal(existsSync(path), false, path);
    }
  });

  it('does not write where Baton keeps its sessions', async () => {
    const made = await ToolBench.open({ files: { 'own/baton/config.toml': '' }, env: bubblewrap.env });
    const opened = await made.reopen(bubblewrap.env, made.root, [], made.path('own/baton'));
    const called = await opened.call(
      'shell',
      {
        command: 'echo evil > own/baton/config.toml; mv own other; mv own/baton x; rm -r own; echo x > own/y',
      },
      { sandbox: 'workspace_write' },
    );
    assert.equal(called.success, true, called.text);
    assert.equal(readFileSync(made.path('own/baton/config.toml'), 'utf8'), '');
    for (const one of [made, opened]) one.close();
  });

  it('is not run where a link leads to that place, because it could replace the link', async () => {
    const made = await ToolBench.open({ files: { 'own/config.toml': '' }, env: bubblewrap.env });
    symlinkSync('own', made.path('.baton'));
    const opened = await made.reopen(bubblewrap.env, made.root, [], made.path('.baton'));
    const called = await opened.call('shell', { command: 'rm .baton' }, { sandbox: 'workspace_write' });
    assert.match(called.text, /\.baton is a symbolic link .* cannot protect/);
    assert.equal(existsSync(made.path('.baton')), true);
    const read = await opened.call('shell', { command: 'ls .baton' }, { sandbox: 'read_only' });
    assert.equal(outputOf(read), 'config.toml\n');
    for (const one of [made, opened]) one.close();
  });

  it('takes with it even what left its group', async () => {
    const called = await run(
      `setsid sh -c 'echo 1 > alive; sleep 3; echo 2 > survived' & until [ -s alive ]; do sleep 0.05; done; cat alive`,
    );
    assert.equal(outputOf(called), '1\n');
    await sleep(3500);
    assert.equal(existsSync(confined.path('survived')), false);
  });

  it('passes its status on, and ends in time', async () => {
    assert.equal((await run('exit 9')).exitCode, 9);
    const called = await confined.call(
      'shell',
      { command: LONG, timeout_ms: 300 },
      { sandbox: 'workspace_write' },
    );
    assert.match(called.text, /timed out/);
  });
});
