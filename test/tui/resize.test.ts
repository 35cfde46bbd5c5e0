// The terminal changes its size: what is on the screen is drawn anew, nothing is drawn twice on it, and no line is lost.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, suite, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import { onStage } from '../support/staged.ts';
import type { Stage } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

const SIZES = [
  [200, 60],
  [50, 15],
  [80, 24],
] as const;

/** One composer and one status line, and the rule twice. */
async function assertOneFrame({ terminal }: Stage): Promise<void> {
  await terminal.waitFor(/› my draft[^]*gpt-5\.1/);
  // The last frame of a resize may still be on its way.
  await sleep(500);
  const screen = terminal.screen();
  assert.equal(screen.match(/› my draft/g)?.length, 1, screen);
  assert.equal(screen.match(/· gpt-5\.1/g)?.length, 1, screen);
  assert.equal(screen.match(/^─{10,}/gm)?.length, 2, screen);
}

suite('resized', { concurrency: 3 }, () => {
  test('while it rests: one frame, and the draft', () =>
    onStage(root, { columns: 200, rows: 60 }, async (stage) => {
      await stage.start();
      stage.terminal.type('my draft');
      await assertOneFrame(stage);
      for (const [columns, rows] of [...SIZES.slice(1), ...SIZES]) {
        stage.terminal.resize(columns, rows);
        await assertOneFrame(stage);
      }
    }));

  test('after a long talk: one frame, and every line', () =>
    onStage(root, { columns: 200, rows: 60 }, async (stage) => {
      stage.play({ text: lines(70, 150) });
      await stage.start();
      stage.say('Tell everything');
      await stage.terminal.waitFor(/took/);
      stage.terminal.type('my draft');
      await assertOneFrame(stage);
      for (const [columns, rows] of [...SIZES.slice(1), ...SIZES]) {
        stage.terminal.resize(columns, rows);
        await assertOneFrame(stage);
        assertLines(stage, 70);
      }
    }));

  test('while the answer streams, ten times quickly', () =>
    onStage(root, { columns: 200, rows: 60 }, async (stage) => {
      stage.play({ text: lines(150, 90), fault: { type: 'drip', bytes: 3000, everyMs: 30 } });
      await stage.start();
      stage.say('Tell everything');
      await stage.terminal.waitFor(/line 3 /);
      stage.terminal.type('my draft');
      for (let round = 0; round < 10; round++) {
        const [columns, rows] = SIZES[round % SIZES.length] ?? [80, 24];
        stage.terminal.resize(columns, rows);
        await sleep(40);
      }
      await stage.terminal.waitForAnywhere(/took/);
      await assertOneFrame(stage);
      assertLines(stage, 150);
      assert.match(stage.terminal.all(), /Baton 0/);
    }));

  test('20 columns and 8 rows, one row, and no size at all', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ text: lines(5, 60) });
      await stage.start();
      stage.say('Tell');
      await terminal.waitFor(/took/);
      terminal.type('my draft');
      terminal.resize(20, 8);
      await terminal.waitFor(/› my draft/);
      terminal.resize(2, 1);
      await sleep(300);
      terminal.resize(80, 24);
      await assertOneFrame(stage);
      terminal.press('C-c', 'C-c', 'C-c');
      await stage.gone();
      await stage.assertSane();
      terminal.run('clear; stty rows 0 cols 0');
      await stage.start('--resume last');
      await terminal.waitFor(/line 4[^]*gpt-5\.1/);
    }));
});

/** Paragraphs that say their number, of many words. */
function lines(count: number, length: number): string {
  return Array.from(
    { length: count },
    (_, at) => `line ${at} ${'wick '.repeat(length / 5)}end ${at}.\n\n`,
  ).join('');
}

function assertLines({ terminal }: Stage, count: number): void {
  // A narrower terminal breaks older rows anywhere.
  const all = terminal.all().replaceAll(/\s/g, '');
  for (let at = 0; at < count; at++) {
    assert.ok(all.includes(`line${at}wick`), `line ${at} is lost`);
    assert.ok(all.includes(`end${at}.`), `the end of line ${at} is lost`);
  }
}
