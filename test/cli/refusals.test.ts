// What `baton compact` says when it does not compact: the reason is the true one, and who follows the cure is helped.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { call, message, output, SESSION_ID } from '../support/codex-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';

const home = temporaryDirectory();
const LISTING = Array.from({ length: 100 }, (_, hour) => `harbour-${hour}.dat high ${hour * 7} cm`).join(
  '\n',
);

/** A session in which the agent looked at so many listings. */
function sessionOf(listings: number): string {
  const path = join(home, `listings-${listings}.jsonl`);
  const steps = Array.from({ length: listings }, (_, nth) => [
    call(`c${nth}`, `ls data/${nth}`),
    output(`c${nth}`, LISTING),
  ]);
  const items = [
    message('user', 'Sort the tides.'),
    ...steps.flat(),
    message('assistant', 'They are sorted.'),
  ];
  const head = { type: 'session_meta', payload: { id: SESSION_ID, cwd: '/home/dev/tides' } };
  const lines = [head, ...items.map((payload) => ({ type: 'response_item', payload }))];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

function compact(path: string, ...args: readonly string[]): Promise<Ran> {
  return baton(home, [...settings(args), 'compact', path, '--preview', ...rest(args)]);
}

function settings(args: readonly string[]): readonly string[] {
  return args.filter((arg) => arg.startsWith('compact.')).flatMap((arg) => ['-c', arg]);
}

function rest(args: readonly string[]): readonly string[] {
  return args.filter((arg) => !arg.startsWith('compact.'));
}

const MICRO = ['--strategy', 'micro'] as const;

describe('micro-compaction', () => {
  test('that saves too little: the setting that is advised is enough', async () => {
    const path = sessionOf(12);
    const { explanation } = await compact(path, ...MICRO);
    const told =
      /would save ([\d,]+) tokens, .* 20,000 .*\. Set (\S+) = (\d+), or use --strategy full\./.exec(
        explanation,
      );
    assert.equal(told?.[1]?.replaceAll(',', ''), told?.[3], explanation);
    assert.equal((await compact(path, ...MICRO, `${told?.[2]}=${told?.[3]}`)).status, 0);
    assert.equal((await compact(path)).status, 0);
  });

  test('of what was cleared already: no setting is advised', async () => {
    const path = sessionOf(60);
    const cleared = join(home, 'cleared.jsonl');
    assert.equal((await baton(home, ['compact', path, ...MICRO, '--out', cleared])).status, 0);
    const { explanation } = await compact(cleared, ...MICRO);
    assert.match(explanation, /among the newest 3, which stay\. Use --strategy full\. /);
    assert.equal((await compact(cleared)).status, 0);
  });

  test('where the newest that stay are all there are: keeping fewer is advised where that is worth it', async () => {
    const path = sessionOf(60);
    const { explanation } = await compact(path, ...MICRO, 'compact.micro_compact_keep_last_n_tools=60');
    assert.match(
      explanation,
      /among the newest 60, which stay\. Lower compact\.micro_compact_keep_last_n_tools, or /,
    );
    assert.equal((await compact(path, ...MICRO)).status, 0);
  });

  test('of nothing at all: nothing is advised', async () => {
    const { explanation } = await compact(sessionOf(0), ...MICRO);
    assert.match(explanation, /^baton: No tool result is left here .* cleared\. Nothing needs to be done\. /);
    assert.match((await compact(sessionOf(0))).explanation, / Nothing needs to be done\. /);
  });

  test('to a size that it does not reach: the advised one is reached', async () => {
    const path = sessionOf(60);
    const { explanation } = await compact(path, ...MICRO, '--target-tokens', '100');
    const [, least = ''] =
      /Clearing .* leaves .* more than the 100 .* --target-tokens (\d+) or more/.exec(explanation) ?? [];
    assert.equal((await compact(path, ...MICRO, '--target-tokens', least)).status, 0, explanation);
  });
});
