// What `baton compact` says when it does not compact: the reason is true, and the cure works.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
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

/** A session that begins with instructions of so many lines, which Codex gives again when it resumes. */
function instructedSession(lines: number, listings: number): string {
  const path = sessionOf(listings);
  const [head = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const rules = Array.from(
    { length: lines },
    (_, nth) => `Rule ${nth}: a tide of harbour ${nth} is never rounded.`,
  );
  const text = `# AGENTS.md instructions for /home/dev/tides\n\n<INSTRUCTIONS>\n${rules.join('\n')}\n</INSTRUCTIONS>`;
  const item = JSON.stringify({ type: 'response_item', payload: message('user', text) });
  const instructed = join(home, `instructed-${lines}-${listings}.jsonl`);
  writeFileSync(instructed, [head, item, ...rest].join('\n'));
  return instructed;
}

function compact(path: string, ...args: readonly string[]): Promise<Ran> {
  return baton(home, [...settings(args), 'compact', path, '--preview', ...options(args)]);
}

function settings(args: readonly string[]): readonly string[] {
  return args.filter((arg) => arg.startsWith('compact.')).flatMap((arg) => ['-c', arg]);
}

function options(args: readonly string[]): readonly string[] {
  return args.filter((arg) => !arg.startsWith('compact.'));
}

const MICRO = ['--strategy', 'micro'] as const;

describe('micro-compaction', () => {
  for (const tool of ['shell_command', 'shell', 'container.exec', 'local_shell']) {
    test(`clears results of ${tool}, as a version of Codex called its shell`, async () => {
      const path = sessionOf(60);
      const renamed = join(home, `${tool}.jsonl`);
      writeFileSync(renamed, readFileSync(path, 'utf8').replaceAll('"exec_command"', JSON.stringify(tool)));
      const { status, stdout, explanation } = await compact(renamed, ...MICRO);
      assert.equal(status, 0, explanation);
      assert.match(stdout, /57 old tool results would be cleared/);
    });
  }

  test('that saves too little: the advised setting is enough', async () => {
    const path = sessionOf(12);
    const { explanation } = await compact(path, ...MICRO);
    const told = /would save ([\d,]+) tokens, .* 20,000\. Set (\S+) = (\d+), or use --strategy full\./.exec(
      explanation,
    );
    assert.equal(told?.[1]?.replaceAll(',', ''), told?.[3], explanation);
    assert.equal((await compact(path, ...MICRO, `${told?.[2]}=${told?.[3]}`)).status, 0);
    assert.equal((await compact(path)).status, 0);
  });

  test('of already cleared results: no setting is advised', async () => {
    const path = sessionOf(60);
    const cleared = join(home, 'cleared.jsonl');
    assert.equal((await baton(home, ['compact', path, ...MICRO, '--out', cleared])).status, 0);
    const { explanation } = await compact(cleared, ...MICRO);
    assert.match(explanation, /among the newest 3, which are kept\. Use --strategy full\. /);
    assert.equal((await compact(cleared)).status, 0);
  });

  test('with only the newest results, which are kept: keeping fewer is advised if that is worthwhile', async () => {
    const path = sessionOf(60);
    const { explanation } = await compact(path, ...MICRO, 'compact.micro_compact_keep_last_n_tools=60');
    assert.match(
      explanation,
      /among the newest 60, which are kept\. Lower compact\.micro_compact_keep_last_n_tools, or /,
    );
    assert.equal((await compact(path, ...MICRO)).status, 0);
  });

  test('of nothing at all: nothing is advised', async () => {
    const { explanation } = await compact(sessionOf(0), ...MICRO);
    assert.match(explanation, /^baton: There is no tool result left to clear\. Nothing needs to be done\. /);
    assert.match((await compact(sessionOf(0))).explanation, / Nothing needs to be done\. /);
  });

  test('to a size that it does not reach: the advised one is reached', async () => {
    const path = sessionOf(60);
    const { explanation } = await compact(path, ...MICRO, '--target-tokens', '100');
    const [, least = ''] =
      /Clearing .* leaves .* more than the target of 100\b.* --target-tokens (\d+) or more/.exec(
        explanation,
      ) ?? [];
    assert.equal((await compact(path, ...MICRO, '--target-tokens', least)).status, 0, explanation);
  });
});

interface Sizes {
  readonly beside?: { readonly after: number };
  readonly preTokens: number;
  readonly postTokens: number;
  readonly notes: readonly string[];
}

async function sizesOf(path: string, ...args: readonly string[]): Promise<Sizes> {
  const ran = await compact(path, ...args, '--json');
  assert.equal(ran.status, 0, ran.explanation);
  return JSON.parse(ran.stdout) as Sizes;
}

describe('initial context that the agent adds again', () => {
  for (const format of ['same', 'chat', 'markdown']) {
    test(`is not a saving, written as ${format}`, async () => {
      const ran = await compact(instructedSession(400, 1), '--format', format, '--target-tokens', '1k');
      assert.match(ran.explanation, /would not free a quarter of them.* \[nothing_to_compact\]$/m);
    });
  }

  for (const format of ['same', 'claude', 'responses', 'anthropic', 'chat', 'markdown']) {
    test(`is excluded from the target, and its size is reported, as ${format}`, async () => {
      const path = instructedSession(60, 30);
      const { preTokens, postTokens, notes, beside } = await sizesOf(
        path,
        '--target-tokens',
        '500',
        '--format',
        format,
      );
      const given = /initial context \(([\d,]+) tokens\) is omitted/.exec(notes.join('\n'))?.[1];
      const tokens = Number(given?.replaceAll(',', ''));
      assert.ok(tokens > 600 && tokens < 3000, String(given));
      assert.ok(postTokens - (beside?.after ?? 0) <= 500);
      assert.ok(postTokens + tokens <= preTokens * 0.75);
      const written = await baton(home, [
        'compact',
        path,
        '--prune',
        '--target-tokens',
        '500',
        '--format',
        format,
      ]);
      assert.equal(written.status, 0, written.explanation);
      assert.ok(!written.stdout.includes('is never rounded'), 'it is not written');
    });
  }

  test('is what an array has from nobody else, where the session is one', async () => {
    const messages = (await baton(home, ['compact', sessionOf(60), '--format', 'chat'])).stdout;
    const system = { role: 'system', content: 'Never round a tide. '.repeat(60) };
    const path = join(home, 'own-system.json');
    const talk = Array.from({ length: 60 }, (_, nth) => [
      { role: 'user', content: `Look at harbour ${nth}.` },
      { role: 'assistant', content: LISTING },
    ]);
    writeFileSync(path, JSON.stringify([system, ...(JSON.parse(messages) as unknown[]), ...talk.flat()]));
    const same = await baton(home, ['compact', path, '--target-tokens', '3k']);
    assert.ok(same.stdout.includes('Never round a tide.'), same.explanation);
  });
});

test('a target that is already met is compacted to anyway, and a note says that it was met', async () => {
  const path = sessionOf(60);
  for (const args of [[], MICRO]) {
    const out = join(home, `met-${args.length}.jsonl`);
    const ran = await baton(home, ['compact', path, '--target-tokens', '1m', ...args, '--out', out]);
    assert.equal(ran.status, 0, ran.explanation);
    assert.match(
      ran.stderr,
      /^What a compaction can change held [\d,]+ tokens, already within the target of 1,000,000\. /m,
    );
    const less = await baton(home, ['compact', path, '--target-tokens', '5k', '--preview']);
    assert.doesNotMatch(`${less.stdout}${less.stderr}`, /already within the target/);
  }
  assert.match((await compact(path, '--target-tokens', '1m')).stdout, /already within the target/);
});
