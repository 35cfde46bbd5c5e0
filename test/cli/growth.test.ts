// Sessions that are designed to be slow: four times as much of one takes at most four times as long, apart from noise.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { applyPatch } from '../../src/tools/patch/apply.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { parsePatch } from '../../src/tools/patch/parse.ts';
import { findReplacement } from '../../src/tools/files/replacement.ts';
import { createRollout } from '../../src/rollout/rollout.io.ts';
import { IdentifierIndex } from '../../src/text/identifiers/identifiers.ts';
import type { Rollout } from '../../src/rollout/rollout.io.ts';
import type { Model } from '../../src/ports.ts';
import { finished } from '../support/finished.ts';
import { assertLinear, GROWTH_SCALE } from '../support/growth.ts';
import { openThreadIn } from '../support/opened-thread.ts';
import { toolCall, userSays } from '../support/records.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { SLOW_SHAPES } from '../support/slow-shapes.ts';

const home = temporaryDirectory();

/** Lines, entries or parts of the smaller session of each pair. */
const SIZE = 500;

/** Evaluations of the planted facts take the same time for every session. */
const EVAL = ['eval', '--json', '--no-canaries', '--cuts', '2', '--sizes', '2k'];

/** What is done with each session; a longer hunt does more. */
const COMMANDS: readonly (readonly string[])[] = [
  ['inspect', '--json'],
  ['compact', '--preview'],
  ...(GROWTH_SCALE > 1 ? [['replay', '--json'], EVAL, ['compact', '--preview', '--strategy', 'micro']] : []),
];

/** Where more lines are needed until something shows, or the command is too slow for all shapes. */
const CHOSEN: readonly (readonly [shape: string, size: number, command: readonly string[]])[] = [
  // Every rule was looked for in the whole message: 0.7 s for 8,000 lines, 8.2 s for 32,000.
  ['codex: one message of many lines', 6000, ['replay', '--json']],
  ['codex: files, each read and edited', SIZE, EVAL],
  ['claude-code: a chain of parents', SIZE, EVAL],
];

describe('a session that is designed to be slow', () => {
  for (const [name, size, [command = '', ...options]] of CHOSEN) {
    const shape = SLOW_SHAPES.find((each) => each.name === name);
    test(`${name}: ${command}`, () =>
      assertLinear(`${command}, ${name}`, size, {
        prepare: (n) => {
          const path = join(home, `chosen-${command}-${size}-${n}.jsonl`);
          writeFileSync(path, shape?.text(n) ?? '');
          return path;
        },
        run: async (path) => {
          const { status } = await baton(home, [command, path, ...options]);
          assert.equal(status, 0);
        },
      }));
  }

  for (const [index, shape] of SLOW_SHAPES.entries()) {
    for (const [command = '', ...options] of COMMANDS) {
      test(`${shape.name}: ${[command, ...options].join(' ')}`, () =>
        assertLinear(`${command}, ${shape.name}`, SIZE, {
          prepare: (n) => {
            const path = join(home, `shape-${index}-${n}.jsonl`);
            writeFileSync(path, shape.text(n));
            return path;
          },
          run: async (path) => {
            const { stdout } = await baton(home, [command, path, ...options]);
            // What a deadline ends takes no longer, however it grows.
            assert.doesNotMatch(stdout, /summary is plain|No summary covers the older turns/);
          },
        }));
    }
  }
});

// Forgetting each moved all others: 37 ms for 40,000 messages, 5.1 s for 160,000. A command over so many takes seconds.
test('the index of names forgets the oldest of many short messages', () =>
  assertLinear('index of names, short messages', 40_000, {
    prepare: (n) => Array.from({ length: n }, (_, position) => `Say ${position}.`),
    run: (texts) => {
      const index = new IdentifierIndex();
      texts.forEach((text, position) => {
        const quotable = { by: 'user', position, text } as const;
        index.add(text, { by: 'user', position, root: '', quotable });
      });
    },
  }));

// Each took the first of the names that were left, and moved the rest.
test('a line of many items that is rewritten as many lines', () =>
  assertLinear('a history renamed', 50_000, {
    prepare: (n) => Array.from({ length: n }, (_, index) => ['one', `new-${index}`] as const),
    run: (newRefs) => {
      const fold = new HistoryFold(WHOLE_ITEMS);
      const item = userSays('Do it.');
      for (let count = 0; count < newRefs.length; count++) fold.add({ type: 'item', item, ref: 'one' });
      fold.add({ type: 'micro_compacted', id: 'clearing', callIds: [], newRefs });
      assert.equal(fold.entries.at(-1)?.ref, newRefs.at(-1)?.[1]);
    },
  }));

describe('a thread that is resumed', () => {
  const replacement = [userSays('What was done so far.')];

  /** A round of a call whose result is cleared; every second one is compacted, and that is undone, but for every tenth. */
  async function play(rollout: Rollout, round: number): Promise<void> {
    const id = `call-${round}`;
    const called = toolCall(id, 'shell', { command: 'ls' }, 'a b c '.repeat(40));
    await rollout.append([userSays(`Do step ${round}.`), ...called].map((item) => ({ type: 'item', item })));
    await rollout.append([{ type: 'micro_compacted', id: `clearing-${round}`, callIds: [id] }]);
    if (round % 2 > 0) return;
    await rollout.append([
      { type: 'compacted', id: `full-${round}`, replacement, trigger: 'manual', summary: 'Steps.' },
    ]);
    if (round % 10 > 0) await rollout.undo();
  }

  test('after clearings and undos in turn', () =>
    assertLinear('resume, clearings and undos', 100, {
      prepare: async (n) => {
        const place = join(home, `thread-${n}`);
        const ids = { uuid: () => randomUUID() };
        const rollout = await createRollout(
          place,
          { cwd: home, producerVersion: '0.1.0' },
          { clock: Date, ids },
        );
        for (let round = 0; round < n; round++) await play(rollout, round);
        await rollout.close();
        return place;
      },
      run: async (place) => {
        const thread = await openThreadIn({
          home: place,
          work: home,
          model: { provider: 'lab', answer: () => assert.fail('nobody is asked') } as unknown as Model,
          modelName: 'lab-1',
          resume: 'last',
        });
        await thread.close();
      },
    }));
});

function context(line: string, n: number): string {
  return `@@\n${` ${line}\n`.repeat(n)}`;
}

describe('a patch that is designed to be slow', () => {
  const shapes: Readonly<Record<string, (n: number) => readonly [file: string, body: string]>> = {
    'equal lines': (n) => ['x\n'.repeat(10 * n), `${context('x', n)}+y`],
    'equal lines, but for the last': (n) => ['x\n'.repeat(10 * n), `${context('x', n)} z\n+y`],
    'equal lines, but for blanks': (n) => ['  x\n'.repeat(10 * n), `${context('x', n)}+y`],
    'blank lines': (n) => ['\n'.repeat(10 * n), `@@\n${'\n'.repeat(n)}+y`],
    'a part for every tenth line': (n) => [
      Array.from({ length: 10 * n }, (_, line) => `line ${line}\n`).join(''),
      Array.from({ length: n }, (_, part) => `@@\n line ${part * 10}\n+y`).join('\n'),
    ],
    'an anchor for every part': (n) => [
      'x\n'.repeat(10 * n),
      Array.from({ length: n }, () => '@@ x\n x\n+y').join('\n'),
    ],
  };
  for (const [name, shape] of Object.entries(shapes)) {
    test(name, () =>
      assertLinear(`apply_patch, ${name}`, 4000, {
        prepare: shape,
        run: ([file, body]) => {
          const parsed = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
          if (parsed.type === 'patch') finished(applyPatch(parsed.actions, () => file));
        },
      }),
    );
  }

  test('an edit of a text that repeats itself', () =>
    assertLinear('edit, a text that repeats itself', 200_000, {
      prepare: (n) => ['a'.repeat(n), `${'a'.repeat(n / 8)}b${'a'.repeat(n / 8)}`] as const,
      run: ([text, oldText]) => findReplacement(text, { oldText, newText: 'x', replacesAll: false }),
    }));
});
