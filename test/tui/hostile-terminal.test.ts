// Whatever models, tools, files and pastes contain is shown, and drives no terminal; nothing typed answers a question by accident.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, suite, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import { onStage } from '../support/staged.ts';
import type { Stage } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/** Title, clipboard, second screen, cursor, C1, direction, carriage return, bell. */
const HOSTILE =
  'a\u001B]0;evil title\u0007b\u001B]52;c;ZXZpbA==\u0007c\u001B[?1049hd\u001B[2Je\u009B31mf\u202Eg\rh\u001BcZ\u0007';

/** What the hostile text would do, as bytes. */
const DONE = ['\u001B]0;evil', '\u001B]52', '\u001B[?1049h', '\u001B[2J', '\u009B31m', '\u202E', '\u001Bc'];

function assertHarmless({ terminal }: Stage): void {
  for (const bytes of DONE) assert.ok(!terminal.written.includes(bytes), JSON.stringify(bytes));
  assert.doesNotMatch(terminal.ask('#{pane_title}'), /evil/);
  assert.equal(terminal.ask('#{alternate_on}'), '0');
}

suite('hostile', { concurrency: 3 }, () => {
  test('text of the model, commands, their output, names of files, and titles', () =>
    onStage(root, { files: { [`x${HOSTILE.replaceAll('/', '')}`]: 'wick' } }, async (stage) => {
      const { terminal } = stage;
      stage.play(
        {
          text: `The model says ${HOSTILE}\n\n\`\`\`\n${HOSTILE}\n\`\`\`\n\n| ${HOSTILE} | b |\n|---|---|\n| ${HOSTILE} | c |\n`,
          calls: [{ name: 'shell', arguments: { command: `ls; printf '%s' '${HOSTILE}'` } }],
        },
        { calls: [{ name: 'read', arguments: { path: HOSTILE } }] },
        { text: 'All said.' },
      );
      await stage.start('--approval never');
      stage.say('Say it');
      await terminal.waitFor(/All said/);
      await terminal.waitFor(/took/);
      assert.match(terminal.all(), /\\u001b/);
      assertHarmless(stage);
    }));

  test('30,000 lines and 100,000 characters without a space', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play(
        {
          calls: [
            { name: 'shell', arguments: { command: 'seq 1 30000; head -c 100000 /dev/zero | tr "\\0" x' } },
          ],
        },
        { text: `${'y'.repeat(100_000)}\n\nAll said.` },
      );
      await stage.start('--approval never');
      stage.say('Say it');
      await terminal.waitFor(/All said/);
      await terminal.waitFor(/took/);
      terminal.type('alive');
      await terminal.waitFor(/› alive\n[^]*gpt-5/);
      assert.match(terminal.all(), /y{79}/);
    }));

  test('a paste of 10,000 lines is one chip, and is sent whole with what surrounds it', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ text: 'Read.' });
      await stage.start();
      const pasted = Array.from({ length: 10_000 }, (_, at) => `row ${at} of the paste`).join('\n');
      terminal.type('before ');
      terminal.paste(pasted);
      await terminal.waitFor(/› before \[.*10,?000 lines.*\]/);
      terminal.type(' after');
      await terminal.waitFor(/\] after/);
      terminal.press('Enter');
      const { body } = await stage.server.request(0);
      const sent = JSON.stringify(body);
      assert.ok(sent.includes(JSON.stringify(`before ${pasted} after`).slice(1, -1)), 'it is not whole');
      await terminal.waitFor(/took/);
    }));

  test('a paste with control sequences', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play({ text: 'Read.' });
      await stage.start();
      terminal.paste(`one${HOSTILE}two`);
      await terminal.waitFor(/two/);
      assertHarmless(stage);
      terminal.press('Enter');
      await terminal.waitFor(/took/);
      assertHarmless(stage);
      assert.equal(stage.server.requests.length, 1);
    }));

  test('what was typed ahead does not approve', () =>
    onStage(root, {}, async (stage) => {
      const { terminal } = stage;
      stage.play(
        {
          text: 'Wait.',
          calls: [{ name: 'shell', arguments: { command: 'touch approved' } }],
        },
        { text: 'Over.' },
      );
      await stage.start('--approval untrusted');
      stage.say('Touch it');
      // Faster than a panel takes keys, until it is there and longer.
      let typed = 0;
      while (!/touch approved/.test(terminal.screen())) {
        assert.ok(typed < 500, terminal.screen());
        terminal.type('y');
        typed++;
        await sleep(20);
      }
      terminal.type('yyy');
      await sleep(1500);
      assert.equal(stage.server.requests.length, 1, 'it was approved');
      assert.ok(typed > 0);
    }));
});

suite('simple terminals', { concurrency: 3 }, () => {
  const TEXT =
    '# Head\n\n- 漢字 and 👩‍👩‍👧 in a list\n\n| 名前 | emoji |\n|---|---|\n| 漢字漢字 | 🏮🔥 |\n| a | b |\n\n```ts\nconst wick = 1;\n```\n\nAll said.';
  for (const [name, env] of Object.entries({
    NO_COLOR: { NO_COLOR: '1' },
    'TERM=vt100': { TERM: 'vt100' },
    'LANG=C': { LANG: 'C', LC_ALL: 'C' },
    colour: {},
  })) {
    test(name, () =>
      onStage(root, { env }, async (stage) => {
        const { terminal } = stage;
        stage.play({ text: TEXT });
        await stage.start();
        terminal.type('漢字 👩‍👩‍👧 x');
        terminal.press('Enter');
        await terminal.waitFor(/All said/);
        await terminal.waitFor(/took/);
        const { written } = terminal;
        // oxlint-disable-next-line no-control-regex
        const codes = [...written.matchAll(/\u001B\[([\d;]*)m/g)].flatMap(([, each = '']) =>
          each.split(';').map(Number),
        );
        const own = written.slice(written.indexOf('Baton 0'));
        assert.ok(!codes.some((code) => [38, 48].includes(code)), 'only the palette of the terminal');
        if (name === 'NO_COLOR') assert.ok(!codes.some((code) => code >= 30 && code !== 0), 'no colour');
        if (name === 'colour') assert.ok(codes.some((code) => code >= 30 && code <= 37));
        // oxlint-disable-next-line no-control-regex
        if (name === 'LANG=C') assert.doesNotMatch(own, /[─›•·…░█]/);
        stage.terminal.press('C-d');
        await stage.gone();
        await stage.assertSane();
      }),
    );
  }
});
