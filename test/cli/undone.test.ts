// A session of Baton's own in which a turn was taken back: what is told, measured and played of it is what the session stands
// for, which is the very same session without that turn.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LogRecord } from '../../src/protocol/record.ts';
import { createRollout } from '../../src/rollout/rollout.io.ts';
import { eventsOf } from '../support/exec.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { agentSays, toolCall, userSays } from '../support/records.ts';
import { rolloutWorld } from '../support/rollouts.ts';

/** Words that nobody but the turn that is taken back says. */
const UNDONE = /zeppelin|balloon/i;

/** Names that a first turn gives and all later ones use. */
const NAMES = Array.from({ length: 12 }, (_, part) => `hoist_part_${part}`);

/** A turn in which a file is written, tests are run and something is said. */
function turn(number: number, subject: string): readonly LogRecord[] {
  const turnId = `turn-${number}`;
  const path = `src/${subject}${number}.ts`;
  const content = NAMES.map((name) => `export const ${subject}${number}_${name} = ${name};\n`).join('');
  const output = `${`line of ${subject}\n`.repeat(600)}exit 0`;
  const items = [
    userSays(`Always keep ${subject} under 30 lines. Write ${path} for pier ${number}.`),
    ...toolCall(`w${number}`, 'write', { path, content }, 'Written.'),
    ...toolCall(`s${number}`, 'shell', { command: `grep -nE '${NAMES.join('|')}' ${path}` }, output),
    agentSays(`The ${subject} of pier ${number} is done: ${path} exports ${subject}${number}.`),
  ];
  return [
    { type: 'turn_started', turnId },
    ...items.map((item): LogRecord => ({ type: 'item', item })),
    { type: 'turn_complete', turnId },
  ];
}

/** The turn that is taken back, and its undo. */
const TAKEN_BACK: readonly LogRecord[] = [
  { type: 'turn_started', turnId: 'turn-x' },
  { type: 'item', item: userSays('Always paint the zeppelin red. Write src/balloon.ts.') },
  ...turn(0, 'balloon').slice(2),
  { type: 'undo_turn', turnId: 'turn-x' },
];

const BEFORE = [1, 2, 3].flatMap((number) => turn(number, 'crane'));
const AFTER = [4, 5, 6, 7].flatMap((number) => turn(number, 'lighthouse'));

/** A home with the session, under the same name whatever it holds. */
async function homeWith(records: readonly LogRecord[]): Promise<{ home: string; path: string }> {
  const home = temporaryDirectory();
  const rollout = await createRollout(join(home, '.baton'), { cwd: '/home/dev/port' }, rolloutWorld());
  // A record that changes the history is appended alone.
  for (const record of records) await rollout.append([record]);
  await rollout.close();
  return { home, path: rollout.path };
}

const undone = await homeWith([...BEFORE, ...TAKEN_BACK, ...AFTER]);
const twin = await homeWith([...BEFORE, ...AFTER]);

/** What a command prints, without what two files cannot share. */
async function told(
  { home, path }: typeof undone,
  [command = '', ...args]: readonly string[],
): Promise<string> {
  const ran: Ran = await baton(home, [command, path, ...args]);
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout.replaceAll(home, '~').replaceAll(/"(?:line|lines|bytes)": \d+/g, '"at": 0');
}

for (const args of [
  ['compact', '--format', 'markdown', '--target-tokens', '1200'],
  ['eval', '--json', '--no-canaries', '--cuts', '4', '--sizes', '500,1000'],
  ['replay', '--json'],
  ['replay', '--json', '--no-recall'],
]) {
  test(`${args.slice(0, 3).join(' ')} omits what was undone`, async () => {
    const here = await told(undone, args);
    assert.doesNotMatch(here, UNDONE);
    assert.ok(here.length > 1_000, `little is told: ${here}`);
    assert.equal(here, await told(twin, args));
  });
}

test('a rehearsal does not play an undone turn', async () => {
  const { home, path } = undone;
  const ran = await baton(home, ['exec', '--model', `rehearsal/${path}`, '--json'], { cwd: home });
  assert.equal(ran.status, 0, ran.stderr);
  assert.doesNotMatch(ran.stdout, UNDONE);
  assert.equal(ran.stdout.match(/"type":"turn_complete"[^\n]*"type":"user"/g)?.length, 7);
});

test('a rehearsal whose newest turn was undone plays that turn again', async () => {
  const { home, path } = twin;
  const play = async (...args: readonly string[]): Promise<readonly string[]> => {
    const ran = await baton(home, ['exec', '--model', `rehearsal/${path}`, '--json', ...args], { cwd: home });
    assert.equal(ran.status, 0, ran.stderr);
    return eventsOf(ran).flatMap((event) =>
      event.type === 'user_message' && event.author === 'user' ? [event.message] : [],
    );
  };
  const first = await play();
  const taken = await baton(home, ['undo', '--turn', 'last']);
  assert.equal(taken.status, 0, taken.stderr);
  assert.equal(first.length, 7);
  assert.deepEqual(await play('--resume', 'last'), first.slice(-1));
});

test('inspect says that what was reported counted more than is there now', async () => {
  const usage = { source: 'reported', covers: 'response', total: 40_000 } as const;
  const { home, path } = await homeWith([
    ...BEFORE,
    ...TAKEN_BACK.slice(0, -1),
    { type: 'usage', usage },
    ...TAKEN_BACK.slice(-1),
  ]);
  const ran = await baton(home, ['inspect', path]);
  assert.match(ran.stdout.replaceAll(/\s+/g, ' '), /no report covers the present context/);
});
