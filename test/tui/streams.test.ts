// Terminals that do not take output, are none, or can do too little.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, suite, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import { onStage, until } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

const MODEL = '--model lab-responses/gpt-5.1 --sandbox danger_full_access';

/** Asks the system: tmux is stopped. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

suite('streams', { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    test(`a terminal that takes no output: ${signal} ends Baton`, () =>
      onStage(root, {}, async (stage) => {
        const { terminal } = stage;
        await stage.start('--approval never');
        stage.play(
          { calls: [{ name: 'shell', arguments: { command: 'sleep 1; seq 1 20000; sleep 1' } }] },
          { text: 'The wick is long.\n\n'.repeat(30_000) },
        );
        stage.say('Count');
        await terminal.waitFor(/seq 1 20000/);
        const pid = stage.main();
        const server = Number(terminal.ask('#{pid}'));
        process.kill(server, 'SIGSTOP');
        try {
          // The answer is there, and the terminal has room for a part of it only.
          await stage.server.request(1);
          await until(
            () => stage.server.requests[1]?.status === 200,
            () => 'the answer was not sent',
          );
          await new Promise((resolve) => setTimeout(resolve, 1500));
          process.kill(pid, signal);
          await until(
            () => !isRunning(pid),
            () => `${signal} did not end Baton`,
          );
        } finally {
          process.kill(server, 'SIGCONT');
        }
        await stage.gone();
        await stage.assertSane();
      }));
  }

  test('a terminal that takes output again shows all of it', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      await stage.start('--approval never');
      stage.play({ text: Array.from({ length: 1500 }, (_, at) => `- item ${at} of the list\n`).join('') });
      const server = Number(terminal.ask('#{pid}'));
      stage.say('Count');
      await stage.server.request(0);
      process.kill(server, 'SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      process.kill(server, 'SIGCONT');
      await terminal.waitFor(/took/);
      const all = terminal.all();
      for (let at = 0; at < 1500; at++) assert.ok(all.includes(`item ${at} of`), `item ${at}`);
    }));

  test('TERM=dumb: an error with a cure', () =>
    onStage(root, { env: { TERM: 'dumb' } }, async (stage) => {
      for (const args of ['', MODEL, `${MODEL} "Light the lamp"`, '--resume last']) {
        stage.terminal.run(`clear; baton ${args}; echo "status $?"`);
        const screen = await stage.terminal.waitFor(/status \d+$/m);
        assert.match(screen.replaceAll('\n', ' '), /baton: .*TERM.*dumb.*baton exec/, args);
        assert.match(screen, /status 2$/m, args);
      }
    }));

  test('standard input is not a terminal: an error with a cure', () =>
    onStage(root, {}, async (stage) => {
      for (const args of ['', MODEL, `${MODEL} "Light the lamp"`]) {
        stage.terminal.run(`clear; echo hello | baton ${args}; echo "status $?"`);
        const screen = await stage.terminal.waitFor(/status \d+$/m);
        assert.match(screen.replaceAll('\n', ' '), /baton: .*[Ss]tandard input.*baton exec/, args);
        assert.match(screen, /status 2$/m, args);
      }
    }));

  test('standard output is not a terminal: an error with a cure', () =>
    onStage(root, {}, async (stage) => {
      for (const args of ['', MODEL, `${MODEL} "Light the lamp"`]) {
        stage.terminal.run(`clear; baton ${args} | cat; echo "status \${PIPESTATUS[0]}"`);
        const screen = await stage.terminal.waitFor(/status \d+$/m);
        assert.match(screen.replaceAll('\n', ' '), /baton: .*[Ss]tandard output.*baton exec/, args);
        assert.match(screen, /status 2$/m, args);
      }
    }));

  test('standard output is closed, or a reader that has gone', () =>
    onStage(root, {}, async (stage) => {
      stage.terminal.run(`clear; baton ${MODEL} hello >&-; echo "status $?"`);
      await stage.terminal.waitFor(/status [1-9]\d*$/m);
      stage.terminal.run(`clear; baton ${MODEL} hello | true; echo "status \${PIPESTATUS[0]}"`);
      await stage.terminal.waitFor(/status [1-9]\d*$/m);
      await stage.gone();
    }));
});
