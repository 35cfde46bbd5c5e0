// Ctrl-Z gives the terminal to the shell, and `fg` brings Baton and its work back.

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { NOT_BUILT, PROGRAM } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import { onStage, until } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

suite('suspended', { concurrency: 3 }, () => {
  test('while it rests, with a draft', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ text: 'It is on the shelf.' });
      await stage.start();
      terminal.type('Where is the');
      await terminal.waitFor(/Where is the/);
      for (let round = 0; round < 3; round++) {
        terminal.press('C-z');
        await terminal.waitFor(/Stopped[^]*\$ *$/);
        await stage.assertSane();
        terminal.run('clear; fg');
        await terminal.waitFor(/› Where is the\n[^]*gpt-5\.1/);
      }
      terminal.type(' lamp?');
      terminal.press('Enter');
      await terminal.waitFor(/on the shelf/);
      await terminal.waitFor(/took/);
      assert.match(stage.server.requests[0]?.text ?? '', /Where is the lamp\?/);
    }));

  test('while the answer streams, longer than a stream may be idle', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.desk.configure('', { idleTimeoutMs: 2000 });
      stage.play(
        { text: 'The wick is long. '.repeat(100), fault: { type: 'drip', bytes: 400, everyMs: 100 } },
        { text: 'Anew.' },
      );
      await stage.start();
      stage.say('Where is the lamp?');
      await terminal.waitFor(/wick/);
      terminal.press('C-z');
      await terminal.waitFor(/Stopped[^]*\$ *$/);
      terminal.run('sleep 3; fg');
      await terminal.waitFor(/took/);
      assert.equal(stage.server.requests.length, 1, terminal.all());
      stage.play({ text: 'On the shelf.' });
      stage.say('And the shelf?');
      await terminal.waitFor(/On the shelf/);
    }));

  test('while a command runs', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play(
        {
          calls: [
            {
              name: 'shell',
              arguments: { command: 'for i in 1 2 3 4 5 6; do echo step $i; sleep 0.3; done' },
            },
          ],
        },
        { text: 'Six steps.' },
      );
      await stage.start('--approval never');
      stage.say('Take six steps');
      await terminal.waitFor(/step 2/);
      terminal.press('C-z');
      await terminal.waitFor(/Stopped[^]*\$ *$/);
      terminal.run('fg');
      await terminal.waitFor(/Six steps/);
      assert.match(terminal.all(), /step 6/);
    }));

  test('while an approval waits: it waits still', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ calls: [{ name: 'shell', arguments: { command: 'touch lit' } }] }, { text: 'It is lit.' });
      await stage.start('--approval untrusted');
      stage.say('Light it');
      await terminal.waitFor(/touch lit[^]*Esc/);
      terminal.press('C-z');
      await terminal.waitFor(/Stopped[^]*\$ *$/);
      terminal.run('clear; fg');
      await terminal.waitFor(/touch lit[^]*Esc/);
      terminal.press('y');
      await terminal.waitFor(/It is lit/);
    }));

  test('on a page: the shell has its own screen', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ text: 'It is on the shelf.' });
      await stage.start();
      stage.say('Where is the lamp?');
      await terminal.waitFor(/took/);
      terminal.press('C-o');
      await terminal.waitFor(/Transcript with all output/);
      terminal.press('C-z');
      await terminal.waitFor(/Stopped[^]*\$ *$/);
      await stage.assertSane();
      terminal.run('clear; fg');
      await terminal.waitFor(/Transcript with all output/);
      terminal.press('Escape');
      await terminal.waitFor(/Describe a task[^]*gpt-5\.1/);
    }));

  test('without a shell that could continue it, nothing stops', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      // The program of the window itself: no shell controls its job.
      terminal.run(`exec '${process.execPath}' '${PROGRAM}' --model lab-responses/gpt-5.1`);
      await terminal.waitFor(/the\s+keys/);
      terminal.press('C-z');
      terminal.type('still here');
      await terminal.waitFor(/› still here/);
    }));

  test('stopped and continued by another process', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      await stage.start();
      const pid = stage.main();
      process.kill(pid, 'SIGTSTP');
      await terminal.waitFor(/Stopped[^]*\$ *$/);
      terminal.run('stty sane; clear; fg');
      terminal.type('still here');
      await terminal.waitFor(/› still here\n[^]*gpt-5\.1/);
      await until(
        () => stage.processes().includes(pid),
        () => 'it ended',
      );
    }));
});
