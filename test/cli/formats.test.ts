// The formats on the command line: inspected, compacted into what an API accepts, refused with a cure.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Receipt } from '../../src/protocol/receipt.ts';
import { FORMAT_NAMES } from '../../src/vocabulary.ts';
import { LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const home = temporaryDirectory();

function saved(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
}

/** A pi session long enough to be worth a compaction. */
function longSession(): string {
  const timestamp = '2026-01-05T08:00:00.000Z';
  const said = (message: object): string => `${JSON.stringify({ type: 'message', timestamp, message })}\n`;
  let text = `${JSON.stringify({ type: 'session', id: 's', timestamp, cwd: '/home/dev/seeds' })}\n`;
  for (let turn = 0; turn < 40; turn++) {
    text += said({ role: 'user', content: `Please sort drawer ${turn}; never touch the labels.` });
    const call = {
      type: 'toolCall',
      id: `c${turn}`,
      name: 'read',
      arguments: { path: `drawers/${turn}.txt` },
    };
    text += said({ role: 'assistant', content: [{ type: 'text', text: `I sort drawer ${turn}.` }, call] });
    const output = `drawer ${turn} holds ${turn * 7} beans\n`.repeat(60);
    text += said({
      role: 'toolResult',
      toolCallId: `c${turn}`,
      toolName: 'read',
      content: output,
      isError: false,
    });
  }
  return text;
}

const session = saved('long.jsonl', longSession());

test('every format is inspected under its name', async () => {
  for (const { name, format, text } of LOOK_ALIKE_FILES) {
    const { status, stdout, stderr } = await baton(home, ['inspect', saved('inspected', text)]);
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.ok(stdout.includes(FORMAT_NAMES[format]), name);
  }
});

test('a file in UTF-16 without a mark is refused; converted to UTF-8 as the cure says, it is compacted', async () => {
  const rollout = asFile(workLines('codex')).toString();
  const wide = join(home, 'wide.jsonl');
  writeFileSync(wide, rollout, 'utf16le');
  const out = join(home, 'wide.out.jsonl');
  const refused = await baton(home, ['compact', wide, '--out', out]);
  assert.equal(refused.status, 1);
  assert.equal(refused.error?.['code'], 'format_unknown');
  assert.match(String(refused.error?.['cure']), /iconv -f UTF-16LE -t UTF-8/);
  assert.ok(!existsSync(out));
  writeFileSync(wide, readFileSync(wide, 'utf16le'));
  assert.equal((await baton(home, ['compact', wide, '--out', out])).status, 0);
});

for (const format of ['responses', 'anthropic', 'chat'] as const) {
  test(`--format ${format} writes the context as an array that reads as that format`, async () => {
    const out = join(home, `${format}.json`);
    const ran = await baton(home, [
      'compact',
      session,
      '--format',
      format,
      '--target-tokens',
      '4000',
      '--out',
      out,
    ]);
    assert.equal(ran.status, 0, ran.stderr);
    assert.ok(!ran.stderr.includes('Undo it'), 'an array cannot be taken back');
    assert.ok(Array.isArray(JSON.parse(readFileSync(out, 'utf8'))));
    const inspected = await baton(home, ['inspect', out, '--json']);
    const document = JSON.parse(inspected.stdout) as { format: string; categories: { summary?: number } };
    // Without calls, Anthropic's messages and those of chat are the same.
    assert.equal(document.format, format === 'anthropic' ? 'chat' : format);
    assert.ok((document.categories.summary ?? 0) > 0, 'the summary is known again');
    const same = await baton(home, ['compact', out, '--target-tokens', '1500']);
    assert.equal(same.status, 0, same.stderr);
    assert.ok(Array.isArray(JSON.parse(same.stdout)), 'same is the same form');
  });
}

for (const [own, format] of [
  ['codex', 'codex'],
  ['claude', 'claude-code'],
] as const) {
  test(`a session of ${own} is appended to in its own format, also by name`, async () => {
    const original = asFile(workLines(format)).toString('utf8');
    const named = await baton(home, ['compact', saved('own.jsonl', original), '--format', own]);
    const same = await baton(home, ['compact', join(home, 'own.jsonl')]);
    assert.equal(named.status, 0, named.explanation);
    assert.ok(named.stdout.startsWith(original) && named.stdout.length > original.length);
    assert.equal(named.stdout, same.stdout);
  });
}

test('--format markdown writes a page to read', async () => {
  const ran = await baton(home, ['compact', session, '--format', 'markdown', '--target-tokens', '4000']);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /^# A session after its compaction\n\n- Read from: pi session\n/);
  assert.ok(ran.stdout.includes('\n## Summary\n'));
});

test('a session in a read-only format can be written for Codex and Claude Code', async () => {
  for (const format of ['codex', 'claude']) {
    const out = join(home, `${format}.jsonl`);
    const ran = await baton(home, [
      'compact',
      session,
      '--format',
      format,
      '--target-tokens',
      '4000',
      '--out',
      out,
    ]);
    assert.equal(ran.status, 0, ran.stderr);
    const inspected = JSON.parse((await baton(home, ['inspect', out, '--json'])).stdout) as {
      format: string;
    };
    assert.equal(inspected.format, format === 'claude' ? 'claude-code' : 'codex');
  }
});

const refused: readonly (readonly [args: readonly string[], code: string, cure: RegExp])[] = [
  [['compact', session], 'cannot_append', /--format codex, claude, responses, anthropic, chat or markdown/],
  [['compact', session, '--format', 'chat', '--install'], 'usage', /--format codex or --format claude/],
  [
    [
      'undo',
      saved('undone.jsonl', LOOK_ALIKE_FILES.find(({ name }) => name.startsWith('pi before'))?.text ?? ''),
    ],
    'cannot_append',
    /in the agent that wrote the file/,
  ],
];

for (const [args, code, cure] of refused) {
  test(`refused with a cure: ${[args[0], ...args.slice(2)].join(' ')}`, async () => {
    const { status, stdout, error } = await baton(home, args);
    assert.notEqual(status, 0);
    assert.equal(stdout, '');
    assert.equal(error?.['code'], code);
    assert.match(String(error?.['cure']), cure);
  });
}

test('a preview works for formats that Baton cannot write', async () => {
  const ran = await baton(home, ['compact', session, '--preview', '--target-tokens', '4000']);
  assert.equal(ran.status, 0, ran.stderr);
});

for (const format of ['swe-agent', 'mini-swe-agent'] as const) {
  test(`the summary includes the output of ${format} commands, like results of tools`, async () => {
    const messages = [
      { role: 'system', content: 'You are a gardener.' },
      { role: 'user', content: 'The gate is broken.' },
      ...Array.from({ length: 40 }, (_, step) => [
        { role: 'assistant', content: `I look.\n\`\`\`bash\ncat gate-${step}.txt\n\`\`\`` },
        { role: 'user', content: `<returncode>0</returncode>${`hinge ${step} is loose\n`.repeat(60)}` },
      ]).flat(),
    ];
    const whole =
      format === 'swe-agent'
        ? { trajectory: [], history: messages }
        : { messages, info: { mini_version: '1.15.0' }, trajectory_format: 'mini-swe-agent-1' };
    const path = saved(`${format}.traj`, JSON.stringify(whole));
    const preview = ['compact', path, '--target-tokens', '3k', '--preview'];
    const { status, stdout, stderr } = await baton(home, [...preview, '--json']);
    assert.equal(status, 0, stderr);
    const { summarised, dropped } = JSON.parse(stdout) as Receipt;
    assert.equal(summarised.count, 80);
    assert.ok((summarised.byCategory.tool_results ?? 0) > 10_000);
    assert.ok(dropped.count <= 1);
    assert.match((await baton(home, preview)).stdout, /Goes[^]*results of commands \(40\)[^]*Stays/);
    assert.match((await baton(home, ['inspect', path])).stdout, /tool results[^]*0 tool calls, 40 results/);
  });
}

test('undo only advises what it can do', async () => {
  const help = (await baton(home, ['undo', '--help'])).stdout;
  const formats = new Set<string>();
  for (const { name, format, text } of LOOK_ALIKE_FILES) {
    const { error } = await baton(home, ['undo', saved('compacted', text), '--out', join(home, 'undone')]);
    if (error?.['code'] !== 'cannot_append') continue;
    formats.add(format);
    for (const [option] of String(error['cure']).matchAll(/--[a-z-]+/g)) {
      assert.ok(help.includes(`${option} `), `${name}: ${option}`);
    }
  }
  assert.ok(formats.has('pi'), [...formats].join());
});
