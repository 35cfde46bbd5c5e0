// What strangers say must not drive the terminal: hostile answers, calls, errors, files and sessions in a real one.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { NO_TERMINAL, showIn } from '../support/terminal.ts';
import { asFile, workLines } from '../support/work-sessions.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();
if (NO_TERMINAL !== false) console.error(`SKIPPED: ${NO_TERMINAL}`);

/** Writes the clipboard, sets the title, clears the screen in C0 and C1, turns text round, and hides a line. */
const EVIL =
  'X\u001B]52;c;ZXZpbA==\u0007\u001B]0;owned\u0007\u001B[2J\u009B2J\u009D0;x\u009C\u202Ecod.exe\u2066\u200F\rY\u001B[31mZ\b\u007F';

/** The bytes of styles and of progress lines of Baton's own. */
// oxlint-disable-next-line no-control-regex
const OWN = /\u001B\[(?:1|22|90|39|32|33|31|36)m|\u001B\[1G|\u001B\[K/g;

/** @param least how often the text must have been shown, so that the test has seen it */
function assertHarmless(written: string, least: number): void {
  const rest = written.replaceAll(OWN, '').replaceAll('\r\n', '\n');
  // oxlint-disable-next-line no-control-regex
  const harmful = /(?!\n|\t)[\u0000-\u001F\u007F-\u009F\p{Bidi_Control}\u2028\u2029]/u.exec(rest);
  assert.equal(
    harmful,
    null,
    JSON.stringify(rest.slice(Math.max(0, (harmful?.index ?? 0) - 200), (harmful?.index ?? 0) + 20)),
  );
  assert.ok(rest.split('\\u009b2J').length > least, rest);
  // Colours of others are shown, not worn.
  assert.doesNotMatch(written, /Y\u001B\[31m/); // oxlint-disable-line no-control-regex
}

function shell(wire: string): string {
  return `cd work && baton exec --model lab-${wire}/m -c model_context_window=100000 --sandbox danger_full_access`;
}

async function play(replies: readonly Reply[], script: string, files: Readonly<Record<string, string>> = {}) {
  server.play({ key: EXEC_KEY, replies });
  const fixture = new ExecFixture(root, server.baseUrl, files);
  const env = { LAB_KEY: EXEC_KEY };
  return { fixture, ...(await showIn({ home: fixture.home, columns: 200, rows: 50, env }, script)) };
}

test('answers, calls and tool output of a model', { skip: NO_TERMINAL }, async () => {
  const replies: readonly Reply[] = [
    {
      text: `Look: ${EVIL}`,
      calls: [
        { name: 'shell', arguments: { command: `echo '${EVIL}'; printf '\\033]0;x\\007'` } },
        { name: 'write', arguments: { path: `f${EVIL}.txt`, content: EVIL } },
        { name: EVIL.slice(0, 8), arguments: {} },
        { name: 'update_plan', arguments: { plan: [{ step: `Do ${EVIL}`, status: 'in_progress' }] } },
      ],
    },
    { text: `Done. ${EVIL}` },
  ];
  const { written, fixture } = await play(
    replies,
    `${shell('chat')} --output-last-message ../last.txt 'Go ${EVIL.slice(0, 3)}'`,
  );
  assertHarmless(written, 3);
  assert.equal(
    readFileSync(join(fixture.home, 'last.txt'), 'utf8'),
    `Done. ${EVIL}`,
    'the file holds what was said',
  );
});

test("a provider's errors, and the answer as JSON", { skip: NO_TERMINAL }, async () => {
  const replies: readonly Reply[] = [
    { fault: { type: 'status', status: 400, message: EVIL } },
    { fault: { type: 'status', status: 400, message: EVIL } },
  ];
  const { written } = await play(
    replies,
    `${shell('chat')} hi; ${shell('chat').slice('cd work && '.length)} --json hi`,
  );
  assertHarmless(written, 1);
});

test(
  'names, titles and texts of session files; configs, arguments, prompts',
  { skip: NO_TERMINAL },
  async () => {
    const fixture = new ExecFixture(root, server.baseUrl);
    const name = `s${EVIL.replaceAll('/', '')}.jsonl`;
    const lines = asFile(workLines('codex'))
      .toString()
      .replaceAll('/work', `/w${JSON.stringify(EVIL).slice(1, -1)}`);
    const hostile = lines.replaceAll(/"text":"/g, `"text":"${JSON.stringify(EVIL).slice(1, -1)}`);
    writeFileSync(join(fixture.home, name), hostile);
    const sessions = join(fixture.home, '.codex/sessions');
    mkdirSync(sessions, { recursive: true });
    writeFileSync(join(sessions, name), hostile);
    mkdirSync(join(fixture.home, '.baton/prompts'), { recursive: true });
    for (const prompt of ['system.md', 'summarize.md'])
      writeFileSync(join(fixture.home, '.baton/prompts', prompt), EVIL);
    writeFileSync(
      join(fixture.home, 'bad.toml'),
      `[compact]\n"${JSON.stringify(EVIL).slice(1, -1).replaceAll('\\', '\\\\')}" = 1\n`,
    );
    const bin = join(fixture.home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'codex'), `#!/bin/sh\necho 'codex ${EVIL}'\n`, { mode: 0o755 });
    const script = [
      ...[
        'inspect',
        'inspect --json',
        'compact --preview',
        'compact --format markdown --out -',
        'replay',
        'eval',
      ].map((command) => `baton ${command} s*.jsonl`),
      'baton sessions',
      'baton sessions --json',
      `baton inspect '${EVIL}'`,
      `baton config '${EVIL}'`,
      `baton inspect --no-such='${EVIL}'`,
      `baton exec --sandbox '${EVIL}' x`,
      `baton -c 'compact.${EVIL}=1' config show`,
      `baton -c 'compact_prompt="a\\u001b]0;x\\u0007\\u009b2J\\u202e"' config show`,
      'baton --config bad.toml config check',
      'baton prompts show system.md',
      'baton prompts diff',
      `PATH="$HOME/bin:$PATH" baton doctor`,
    ].join('\n');
    const { written } = await showIn({ home: fixture.home, columns: 200, rows: 50 }, script);
    assertHarmless(written, 10);
    assert.ok(readdirSync(fixture.home).includes(name));
  },
);
