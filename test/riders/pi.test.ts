// Baton inside the real pi, on the wire: what the model is sent before and after each compaction, and who wrote the summary.

import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../scripts/generate.ts';
import { bundlePi } from '../../scripts/rider-bundle.mjs';
import { skipReason } from '../agents/tools.ts';
import type { ChatAnswer, ChatModel } from '../agents/loopback.ts';
import type { JsonObject } from '../../src/protocol/item.ts';
import { createPiHome, playPi, sessionOf } from './pi.ts';
import type { PiHome, PiRun } from './pi.ts';

const skip = await skipReason(new URL('.', import.meta.url));

const RULE = 'Mend a.txt and commit it. Never touch b.txt.';
const COMMIT = 'echo mended > a.txt && git add a.txt && git commit -qm "Mend a" && echo committed';
/** pi keeps the newest 20,000 tokens, 4 characters each, and finds nothing to compact in less. */
const TIDE = 'Mind the tide. '.repeat(6000);
const WIND = 'Mind the wind. '.repeat(6000);

const prompt = (message: string): JsonObject => ({ type: 'prompt', message });
const bash = (command: string, used: number): ChatAnswer => ({
  calls: [{ name: 'bash', args: { command } }],
  used,
});
const say = (text: string, used: number): ChatAnswer => ({ text, used });

/** Answers in turn; a request without tools is one for a summary. */
function scripted(...answers: readonly ChatAnswer[]): ChatModel {
  let at = 0;
  return (body) =>
    Array.isArray(body['tools'])
      ? (answers[at++] ?? say('Nothing more.', 5000))
      : say("PI'S OWN SUMMARY", 500);
}

async function withBaton(use: (home: PiHome) => Promise<void>, entry?: string): Promise<void> {
  const home = await createPiHome();
  try {
    const folder = join(home.agent, 'extensions', 'baton');
    await mkdir(folder, { recursive: true });
    await bundlePi(join(folder, 'index.js'), entry, ROOT);
    await writeFile(join(home.path, '.gitconfig'), '[user]\n\tname = A\n\temail = a@example.com\n');
    await use(home);
  } finally {
    await home.remove();
  }
}

const start = 'git init -q && echo torn > a.txt';

function shapes(run: PiRun): readonly string[] {
  return run.requests.map((messages) =>
    messages.map(({ role, calls }) => (calls > 0 ? 'call' : role === 'tool' ? 'result' : role)).join(' '),
  );
}

function textOf(run: PiRun, nth: number): string {
  return (run.requests.at(nth) ?? []).map(({ text }) => text).join('\n');
}

/** Whether each /compact succeeded. */
function compactions(run: PiRun): readonly unknown[] {
  return run.events
    .filter(({ type, command }) => type === 'response' && command === 'compact')
    .map(({ success }) => success);
}

test(
  'a commit in mid-turn hands over within the turn, once, and without a request for a summary',
  { skip },
  async () => {
    await withBaton(async (home) => {
      const model = scripted(
        bash(start, 40_000),
        bash(COMMIT, 82_000),
        bash('echo after', 9000),
        say('Done.', 9500),
        say('Still done.', 9900),
      );
      const run = await playPi({ home, model, commands: [prompt(RULE), prompt('And now?')] });
      assert.deepEqual(shapes(run), [
        'user',
        'user call result',
        'user user',
        'user user call result',
        'user user call result assistant user',
      ]);
      assert.equal(run.summaries, 0);
      const [summary, packet] = run.requests[2] ?? [];
      assert.match(summary?.text ?? '', /Never touch b\.txt/);
      assert.match(summary?.text ?? '', /Mend a/);
      assert.match(packet?.text ?? '', /^\[baton:handoff /);

      // What the session file holds is what is sent after a restart.
      const again = await playPi({
        home,
        model: scripted(say('Yes.', 9950)),
        commands: [prompt('Still there?')],
        isResumed: true,
      });
      const before = run.requests.at(-1) ?? [];
      assert.deepEqual(again.requests[0]?.slice(0, before.length), before);
    });
  },
);

test(
  'a turn that ends nearly full is compacted at once, and the next message finds the handover',
  { skip },
  async () => {
    await withBaton(async (home) => {
      const model = scripted(
        bash(start, 40_000),
        bash(COMMIT, 50_000),
        say('Committed.', 82_000),
        say('It is.', 9000),
      );
      const run = await playPi({ home, model, commands: [prompt(RULE), prompt('Is it done?')] });
      assert.equal(run.summaries, 0);
      // The work is done, so the agent is not made to continue.
      assert.deepEqual(shapes(run), [
        'user',
        'user call result',
        'user call result call result',
        'user user user',
      ]);
      assert.match(textOf(run, 3), /Never touch b\.txt[^]*\[baton:handoff [^]*Is it done\?$/);
    });
  },
);

test('/compact sends the summary of Baton, and a second one keeps what the user said', { skip }, async () => {
  await withBaton(async (home) => {
    const read = [say('Read.', 30_000), say('Read too.', 60_000)];
    const commands = [prompt(`${RULE} ${TIDE}`), prompt(TIDE), { type: 'compact' }, prompt('Where are we?')];
    const first = await playPi({ home, model: scripted(...read, say('Here.', 5000)), commands });
    assert.deepEqual(compactions(first), [true]);
    assert.equal(first.summaries, 0);
    assert.deepEqual(shapes(first).slice(2), ['user user']);
    assert.match(textOf(first, 2), /Mend a\.txt and commit it[^]*Where are we\?$/);

    const more = [prompt(`Mind c.txt. ${WIND}`), prompt(WIND), { type: 'compact' }, prompt('And now?')];
    const again = await playPi({
      home,
      model: scripted(...read, say('Here.', 6000)),
      commands: more,
      isResumed: true,
    });
    assert.deepEqual(compactions(again), [true]);
    assert.equal(again.summaries, 0);
    assert.deepEqual(shapes(again).slice(2), ['user user']);
    assert.match(textOf(again, 2), /Mend a\.txt and commit it[^]*Mind c\.txt[^]*And now\?$/);
    const { lines } = await sessionOf(home);
    assert.equal(lines.filter(({ type, fromHook }) => type === 'compaction' && fromHook === true).length, 2);
  });
});

/** @param thrown what the engine does */
const broken = (does: string): string => `
import { ridePi } from './src/riders/pi/extension.io.ts';
const entries: never[] = [];
const fail = (): Promise<never> => { ${does} };
export default (pi: never) => ridePi(pi, {
  deadlineMs: 500,
  open: () => ({
    entries, isHandedOver: false, usage: () => ({ used: 0, rawWindow: 1 }), takeChanges: () => [],
    add: () => undefined, follow: fail, compact: fail, close: () => Promise.resolve(),
  }),
});`;

for (const [how, does] of [
  ['throws', "throw new Error('planted');"],
  ['hangs', 'return new Promise(() => undefined);'],
] as const) {
  test(`an engine that ${how} stops nothing: pi compacts by itself and says so`, { skip }, async () => {
    await withBaton(async (home) => {
      const model = scripted(say('Read.', 30_000), say('Read too.', 60_000), say('Here.', 5000));
      const commands = [
        prompt(`${RULE} ${TIDE}`),
        prompt(TIDE),
        { type: 'compact' },
        prompt('Where are we?'),
      ];
      const run = await playPi({ home, model, commands });
      assert.deepEqual(compactions(run), [true]);
      assert.ok(run.summaries > 0, 'pi asked for no summary');
      assert.match(textOf(run, -1), /PI'S OWN SUMMARY/);
      const said = run.events
        .filter(({ method }) => method === 'notify')
        .map(({ message }) => String(message));
      assert.match(said[0] ?? '', /^Baton failed, and the agent continues without it: /);
    }, broken(does));
  });
}

test(
  "without the extension's folder nothing of Baton is sent, and the session continues",
  { skip },
  async () => {
    await withBaton(async (home) => {
      const model = scripted(bash(start, 40_000), bash(COMMIT, 82_000), say('Done.', 9500));
      const run = await playPi({ home, model, commands: [prompt(RULE)] });
      await rm(join(home.agent, 'extensions'), { recursive: true });
      const after = await playPi({
        home,
        model: scripted(say('Yes.', 9950)),
        commands: [prompt('Still there?')],
        isResumed: true,
      });
      assert.match(textOf(after, 0), /Never touch b\.txt[^]*Still there\?$/);
      assert.equal(after.requests[0]?.length, (run.requests.at(-1)?.length ?? 0) + 2);
      assert.ok(!after.events.some(({ statusKey }) => statusKey === 'baton'));
    });
  },
);
