// Descriptors that Baton was started with: an editor's terminal hands some on. No command may reach them.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { shellCall } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

/** Dash knows no descriptor of two digits. */
const SKIP = process.platform !== 'linux';

for (const sandbox of ['danger_full_access', 'workspace_write']) {
  test(`a command under ${sandbox} has none of them`, { skip: SKIP }, async () => {
    const at = new ExecFixture(root, server.baseUrl);
    const outside = join(at.home, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'log'), 'kept');
    const command = 'echo taken >&200; echo taken > /proc/self/fd/201/planted; readlink /proc/self/fd/*';
    server.play({ key: EXEC_KEY, replies: [{ calls: [shellCall(command)] }, { text: 'Done.' }] });
    const shell = `exec bash -c 'exec 200>>"$HOME/outside/log" 201<"$HOME/outside"; exec "$@"' sh "$@"`;
    const ended = await at.exec('chat', ['--sandbox', sandbox, 'Go.'], { shell });
    assert.equal(ended.status, 0, ended.stderr);
    assert.deepEqual(readdirSync(outside), ['log']);
    assert.equal(readFileSync(join(outside, 'log'), 'utf8'), 'kept');
    assert.doesNotMatch(server.requests.at(-1)?.text ?? '', /home[^"]*outside/);
  });
}
