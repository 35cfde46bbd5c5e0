// Whatever ends Baton from outside, the terminal is as it was, nothing runs on, and the session can be resumed.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { NOT_BUILT } from '../support/built.ts';
import { PROGRAM } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { onStage } from '../support/staged.ts';

const root = temporaryDirectory();
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

interface Moment {
  readonly reply: Reply;
  readonly say: string;
  readonly shows: RegExp;
  readonly args?: string;
}

/** Moments at which Baton is ended. */
const MOMENTS: Readonly<Record<string, Moment>> = {
  'while the answer streams': {
    reply: { text: 'The wick is long.\n\n'.repeat(40), fault: { type: 'stall', afterEvents: 12 } },
    say: 'Light the lamp',
    shows: /wick/,
  },
  'while a command runs': {
    reply: { calls: [{ name: 'shell', arguments: { command: 'echo beg""un; sleep 300' } }] },
    say: 'Light the lamp',
    shows: /begun/,
    args: '--approval never',
  },
  'while an approval waits': {
    reply: { calls: [{ name: 'shell', arguments: { command: 'rm -f lamp' } }] },
    say: 'Light the lamp',
    shows: /Esc/,
    args: '--approval untrusted',
  },
  'while it compacts': {
    reply: { text: 'x', fault: { type: 'stall', afterEvents: 2 } },
    say: '/compact',
    shows: /esc to interrupt/,
  },
};

suite('ended', { concurrency: 3 }, () => {
  for (const [name, moment] of Object.entries(MOMENTS)) {
    for (const how of ['SIGTERM', 'SIGHUP', 'SIGKILL', 'closed terminal'] as const) {
      test(`${how} ${name}`, () => end(how, moment));
    }
  }
});

test('after a kill in a script, whose shell restores no modes, the guard does', () =>
  onStage(root, {}, async (stage) => {
    const { terminal, desk } = stage;
    const script = [
      `'${process.execPath}' '${PROGRAM}' --model lab-responses/gpt-5.1`,
      'sleep 2',
      'stty -a | tr -s " ;" "\\n\\n" | grep -xE -- "-?(echo|icanon)" | sort',
      'echo done',
    ];
    writeFileSync(join(desk.home, 'script'), script.join('\n'));
    terminal.run('sh ../script');
    await terminal.waitFor(/shows\s+the\s+keys/);
    process.kill(stage.main(), 'SIGKILL');
    assert.match(await terminal.waitFor(/^\s*done$/m), /^\s*echo\n\s*icanon\n\s*done$/m);
  }));

function end(
  how: 'SIGTERM' | 'SIGHUP' | 'SIGKILL' | 'closed terminal',
  { reply, say, shows, args = '' }: Moment,
): Promise<void> {
  return onStage(root, {}, async (stage) => {
    const { terminal } = stage;
    // Hidden reasoning that a compaction can free.
    stage.play({ text: 'It is on the shelf.', fills: 30_000 });
    await stage.start(args);
    stage.say('Where is the lamp?');
    await terminal.waitFor(/took/);
    stage.play(reply);
    stage.say(say);
    await stage.server.request(1);
    await terminal.waitFor(shows);
    if (how === 'closed terminal') {
      terminal.replaceWindow();
      await stage.gone();
    } else {
      process.kill(stage.main(), how);
      await stage.gone();
      await stage.assertSane();
    }
    await stage.start('--resume last');
    const all = await terminal.waitForAnywhere(/the\s+keys[^]*on the shelf\.(?![^]*the\s+keys)/);
    const resumed = all.slice(all.lastIndexOf('Baton 0'));
    assert.match(resumed, /Where is the lamp\?/);
    if (!say.startsWith('/')) assert.match(resumed, /Light the lamp/);
  });
}
