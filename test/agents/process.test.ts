import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startLoopback, type Loopback } from './loopback.ts';
import { isIsolated, runAgainst, type AgentRun } from './process.ts';

describe('runAgainst', () => {
  let folder: string;
  let loopback: Loopback;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-process-'));
    loopback = await startLoopback('Understood.');
  });
  after(async () => {
    await loopback.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(name: string, source: string, deadlineMs = 60_000): Promise<AgentRun> {
    const script = join(folder, `${name}.mjs`);
    await writeFile(script, source);
    return runAgainst(loopback, { line: [process.execPath, script], cwd: folder, env: {}, deadlineMs });
  }

  it('returns what a process printed and requested', async () => {
    const source = `
      const response = await fetch('${loopback.origin}/v1/messages?beta=true', { method: 'POST', body: '{"n":1}' });
      process.stdout.write(await response.text());
      const missing = await fetch('${loopback.origin}/elsewhere');
      process.stderr.write(String(missing.status));
      process.exitCode = 3;`;
    const done = await run('ask', source);
    assert.equal(done.exitCode, 3, done.stderr);
    assert.match(done.stdout, /event: content_block_delta\ndata: .*Understood\./);
    assert.equal(done.stderr, '404');
    assert.deepEqual(done.requests, [
      { method: 'POST', path: '/v1/messages?beta=true', body: { n: 1 } },
      { method: 'GET', path: '/elsewhere', body: {} },
    ]);
  });

  // What survived would hold the inherited output open, and the run would never end.
  it('kills a process at its deadline together with what it has started', { timeout: 60_000 }, async () => {
    const source = `
      import { spawn } from 'node:child_process';
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      setInterval(() => {}, 1000);`;
    const killed = await run('hang', source, 1_500);
    assert.equal(killed.timedOut, true);
    assert.equal(killed.exitCode, null);
  });

  it('kills what a process left running', { timeout: 60_000 }, async () => {
    const source = `
      import { spawn } from 'node:child_process';
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).unref();`;
    const ended = await run('leave', source);
    assert.equal(ended.timedOut, false);
    assert.equal(ended.exitCode, 0);
  });

  it('inherits no environment but the path', async () => {
    const source = `process.stdout.write(Object.keys(process.env).filter((key) => /KEY|TOKEN|HOME/.test(key)).join());`;
    assert.equal((await run('env', source)).stdout, '');
  });

  it(
    'lets a process reach nothing but the provider',
    {
      skip: isIsolated()
        ? false
        : 'no network namespaces here: the tools are kept offline by their own switches',
    },
    async () => {
      const elsewhere = createServer();
      await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
      try {
        const address = elsewhere.address();
        const port = typeof address === 'object' ? address?.port : undefined;
        const source = `
          import { connect } from 'node:net';
          connect(${port}, '127.0.0.1')
            .on('connect', () => { process.stdout.write('connected'); process.exit(); })
            .on('error', (error) => process.stdout.write(error.code));`;
        assert.equal((await run('escape', source)).stdout, 'ECONNREFUSED');
      } finally {
        elsewhere.close();
      }
    },
  );
});
