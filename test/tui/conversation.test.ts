// A conversation in a real terminal: what the user decided stays in the scrollback, and commands do what they say.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { LiveTerminal } from '../support/live-terminal.ts';
import { temporaryDirectory } from '../support/program.ts';
import { startProviderServer } from '../support/provider-server/server.ts';

const server = await startProviderServer({ replies: [{}] });
const terminals: LiveTerminal[] = [];
after(async () => {
  for (const terminal of terminals) terminal.close();
  await server.close();
});
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/** A panel is open and takes keys: it opened by itself longer ago than `ARMING_MS`. */
async function asked(terminal: LiveTerminal, words: RegExp): Promise<void> {
  await terminal.waitFor(words);
  await new Promise((resolve) => setTimeout(resolve, 800));
}

test('answers to requests stay, looks fold, and commands and threads show what they did', async () => {
  server.play({
    key: EXEC_KEY,
    replies: [
      {
        calls: [
          { name: 'read', arguments: { path: 'lamp' } },
          { name: 'grep', arguments: { pattern: 'unlit' } },
        ],
      },
      { calls: [{ name: 'edit', arguments: { path: 'lamp', old_string: 'unlit', new_string: 'lit' } }] },
      {
        calls: [
          {
            name: 'ask_user',
            arguments: { question: 'Which wick?', options: [{ label: 'Left' }, { label: 'Right' }] },
          },
        ],
      },
      { calls: [{ name: 'shell', arguments: { command: 'touch x' } }] },
      { text: 'The lamp is lit.' },
    ],
  });
  const at = new ExecFixture(temporaryDirectory(), server.baseUrl, { lamp: 'one\nunlit\nthree\n' });
  const terminal = new LiveTerminal({ home: at.home, cwd: at.work, env: { LAB_KEY: EXEC_KEY } });
  terminals.push(terminal);
  terminal.run('baton --model lab-responses/gpt-5.1 --approval untrusted');
  await terminal.waitFor(/shows the keys/);
  const say = (text: string): void => {
    terminal.type(text);
    terminal.press('Enter');
  };
  say('Light the lamp.');
  await asked(terminal, /Make this change|Why asked/);
  terminal.press('Enter');
  await asked(terminal, /1 Left/);
  terminal.press('Down', 'Enter');
  await asked(terminal, /touch x[\s\S]*Why asked/);
  terminal.type('n');
  await terminal.waitFor(/What should it do instead/);
  say('not now');
  await terminal.waitFor(/The lamp is lit\.[\s\S]*took/);
  const all = terminal.all();
  assert.match(all, /• Read lamp · Search unlit/);
  assert.match(all, /• Edited lamp \(\+1 -1\) {2}you allowed it/);
  assert.match(all, /• Ask Which wick\?\n {4}Right/);
  assert.match(all, /✗ \$ touch x {2}you refused it: not now\n\nThe lamp/);

  say('/pin Never touch the glass.');
  await terminal.waitFor(/• Pinned: Never touch the glass\./);
  say('/unpin');
  await terminal.waitFor(/• No longer pinned: Never touch the glass\./);
  say('/plan');
  await terminal.waitFor(/plan mode · asks first/);
  terminal.press('Escape');
  await terminal.waitFor(/esc again to go back/);
  terminal.press('Escape');
  await terminal.waitFor(/Back to an earlier prompt[\s\S]*Light the lamp\. {2}\(newest turn\)/);
  terminal.press('Enter');
  await terminal.waitFor(/› Light the lamp\.\n─/);
  terminal.press('C-c');
  say('/fork');
  await terminal.waitForAnywhere(
    /── Fork of the session {2}gpt-5\.1 · [\da-f-]{36} ─[\s\S]*The lamp is lit\./,
  );
  say('/new');
  await terminal.waitFor(/── New session {2}gpt-5\.1 · /);
  say('/resume nowhere');
  await terminal.waitFor(/error: nowhere is neither a file nor/);
});
