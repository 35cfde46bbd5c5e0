// The first moments of the terminal UI, in a real terminal: it appears before the session is open, and loses nothing.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { NOT_BUILT } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { LiveTerminal } from '../support/live-terminal.ts';
import { startProviderServer } from '../support/provider-server/server.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-start-'));
const server = await startProviderServer({ replies: [{}] });
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const skip = NOT_BUILT || (hasTmux ? false : 'tmux is not installed');

before(() => server.play({ key: EXEC_KEY, replies: [{ text: 'The lamp is lit.' }] }));
after(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

function openTerminal(): LiveTerminal {
  const { home, work } = new ExecFixture(root, server.baseUrl);
  return new LiveTerminal({ home, cwd: work, env: { LAB_KEY: EXEC_KEY } });
}

test('what is typed before the session is open becomes its first message', { skip }, async () => {
  const terminal = openTerminal();
  try {
    terminal.run('baton --model lab-responses/gpt-5.1');
    await terminal.waitFor(/────/);
    terminal.type('Light the lamp');
    terminal.press('Enter');
    await terminal.waitFor(/The lamp is lit\./);
  } finally {
    terminal.close();
  }
});

test('a session that does not exist is reported below a terminal as it was', { skip }, async () => {
  const terminal = openTerminal();
  try {
    terminal.run('baton --resume nowhere --model lab-responses/gpt-5.1; stty -a | grep -o "[-]*icanon"');
    const screen = await terminal.waitFor(/^icanon/m);
    assert.match(screen, /baton: .*nowhere/);
    assert.doesNotMatch(screen, /────/);
  } finally {
    terminal.close();
  }
});

test('a user who leaves at once gets the terminal back', { skip }, async () => {
  const terminal = openTerminal();
  try {
    terminal.run('baton --model lab-responses/gpt-5.1; echo status $?; stty -a | grep -o "[-]*icanon"');
    await terminal.waitFor(/────/);
    terminal.press('C-c', 'C-c');
    const screen = await terminal.waitFor(/^icanon/m);
    assert.match(screen, /status 0/);
  } finally {
    terminal.close();
  }
});
