// Somebody without a key opens Baton in a real terminal, is offered a recorded session, and sees it compacted.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { LiveTerminal } from '../support/live-terminal.ts';
import { temporaryDirectory } from '../support/program.ts';

/** Longest that the golden path may take to begin, in milliseconds: the offer promises it within a minute. */
const WITHIN_MS = 60_000;

const terminals: LiveTerminal[] = [];
after(() => {
  for (const terminal of terminals) terminal.close();
});
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

function opened(): LiveTerminal {
  const terminal = new LiveTerminal({ home: temporaryDirectory() });
  terminals.push(terminal);
  terminal.run('baton');
  return terminal;
}

test('the offer keeps what was typed, plays on Enter, and shows the golden path within a minute', async () => {
  const terminal = opened();
  const screen = await terminal.waitFor(/No model\. Enter: watch a recorded session/);
  assert.match(screen, /warning: No key of a provider is set[^.]*\. Set\s+OPENAI_API_KEY/);
  terminal.type('Light the lamp.');
  terminal.press('Enter');
  await terminal.waitFor(/› Light the lamp\.[\s\S]*No model: your text stays here/);
  terminal.press('C-c');
  await terminal.waitFor(/No model\. Enter/);
  terminal.press('Enter');
  await terminal.waitForAnywhere(/This is a rehearsal/);
  terminal.type('What was that?');
  await terminal.waitForAnywhere(/Context compacted\. \S+ → \S+ at .* · \/why · \/undo/, WITHIN_MS);
  const all = terminal.all();
  assert.match(all, /› auto {2}heads up, scratch, packet request/);
  assert.match(all, /• Packet {2}by the agent[\s\S]* more lines \(ctrl\+o\)/);
  assert.match(terminal.screen(), /› What was that\?/);
});

test('without an answer to the offer, ctrl+d gives the terminal back', async () => {
  const terminal = opened();
  await terminal.waitFor(/No model\. Enter/);
  terminal.press('C-d');
  await terminal.waitFor(/\n\$$/);
  terminal.run('stty -a');
  await terminal.waitFor(/ icanon/);
});
