// The user leaves by the keyboard, or Baton fails: the terminal is as it was, and the reason is on it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import { onStage } from '../support/staged.ts';
import type { Stage } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/** A conversation that can be resumed. */
async function talk(stage: Stage, args = ''): Promise<void> {
  stage.play({ text: 'It is on the shelf.' });
  await stage.start(args);
  stage.say('Where is the lamp?');
  await stage.terminal.waitFor(/took/);
}

async function assertResumable(stage: Stage): Promise<void> {
  await stage.start('--resume last');
  await stage.terminal.waitForAnywhere(/Where is the lamp[^]*the\s+keys[^]*on the shelf\.(?![^]*the\s+keys)/);
}

suite('left', { concurrency: 3 }, () => {
  for (const [how, leave] of Object.entries({
    'ctrl+c twice': ({ terminal }: Stage) => terminal.press('C-c', 'C-c'),
    'ctrl+d': ({ terminal }: Stage) => terminal.press('C-d'),
    '/quit': (stage: Stage) => stage.say('/quit'),
  })) {
    test(`by ${how} while Baton rests`, () =>
      onStage(root, {}, async (stage) => {
        await talk(stage);
        leave(stage);
        await stage.gone();
        await stage.assertSane();
        assert.match(stage.terminal.all(), /To resume this session: baton --resume \S+/);
        await assertResumable(stage);
      }));

    test(`by ${how} while the answer streams`, () =>
      onStage(root, {}, async (stage) => {
        await talk(stage);
        stage.play({ text: 'The wick is long.\n\n'.repeat(40), fault: { type: 'stall', afterEvents: 12 } });
        stage.say('Light the lamp');
        await stage.terminal.waitFor(/wick/);
        if (how === 'ctrl+c twice') {
          stage.terminal.press('C-c');
          await stage.terminal.waitFor(/Interrupted/);
        }
        leave(stage);
        await stage.gone();
        await stage.assertSane();
        await assertResumable(stage);
        await stage.terminal.waitFor(/Light the lamp/);
      }));
  }

  test('killed while a page covers the screen', () =>
    onStage(root, {}, async (stage) => {
      await talk(stage);
      stage.terminal.press('C-o');
      await stage.terminal.waitFor(/Transcript with all output/);
      assert.equal(stage.terminal.ask('#{alternate_on}'), '1');
      process.kill(stage.main(), 'SIGKILL');
      await stage.gone();
      await stage.assertSane();
    }));

  test('a shell whose program was killed reads its line as before', () =>
    onStage(root, {}, async (stage) => {
      await talk(stage);
      process.kill(stage.main(), 'SIGKILL');
      await stage.gone();
      stage.terminal.type('echo twice?');
      const screen = await stage.terminal.waitFor(/\$ echo twice\?$/m);
      assert.doesNotMatch(
        screen.slice(screen.lastIndexOf('$ echo')),
        /gpt-5/,
        'nothing stays below the prompt',
      );
      stage.terminal.press('C-u');
      await stage.terminal.waitFor(/\$\s*$/);
      await stage.assertSane();
    }));

  test('a fault of the terminal UI', () =>
    onStage(root, { env: { NODE_OPTIONS: '--require=./fault.cjs' } }, async (stage) => {
      // What Node offers for instrumentation makes the fault, in the thread of the terminal and nowhere else.
      writeFileSync(
        join(stage.desk.work, 'fault.cjs'),
        `const { isMainThread } = require('node:worker_threads');
         if (isMainThread && process.argv.includes('--sandbox')) process.on('SIGUSR2', () => { throw new Error('the lamp broke'); });`,
      );
      await talk(stage);
      process.kill(stage.main(), 'SIGUSR2');
      await stage.gone();
      const screen = await stage.terminal.waitFor(/the lamp broke/);
      assert.equal(screen.match(/Error: the lamp broke/g)?.length, 1);
      stage.terminal.run('echo "status $?"');
      await stage.terminal.waitFor(/status 1$/m);
      await stage.assertSane();
      await assertResumable(stage);
    }));

  test('out of memory', () =>
    onStage(root, {}, async (stage) => {
      stage.play({ text: 'The wick is long. '.repeat(500_000) });
      await stage.desk.exec('responses', ['Tell everything']);
      stage.terminal.run(
        'NODE_OPTIONS=--max-old-space-size=24 baton --model lab-responses/gpt-5.1 --resume last',
      );
      await stage.terminal.waitFor(/out of memory/);
      await stage.gone();
      stage.terminal.run('echo "status $?"');
      await stage.terminal.waitFor(/status [1-9]\d*$/m);
      await stage.assertSane();
    }));

  test('a session that cannot be read', () =>
    onStage(root, {}, async (stage) => {
      await talk(stage);
      stage.say('/quit');
      await stage.gone();
      const [path = ''] = stage.desk.rollouts();
      writeFileSync(path, 'nothing of a session\n');
      stage.terminal.run(`baton --model lab-responses/gpt-5.1 --resume ${path}`);
      await stage.terminal.waitFor(/^baton:.*\[\w+\]$/ms);
      stage.terminal.run('echo "status $?"');
      await stage.terminal.waitFor(/status [1-9]\d*$/m);
      await stage.gone();
      await stage.assertSane();
    }));
});
