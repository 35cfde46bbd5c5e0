// Every real session: compacted to 8,000 tokens, compared with readers that do not share code with Baton, and undone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { initialContextRange } from '../../src/history/filter.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { Receipt, TokensByCategory } from '../../src/protocol/receipt.ts';
import { sumTokens } from '../../src/tokens/estimate.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { REAL_SESSIONS_SKIP, realSessions } from '../support/real-sessions.ts';

const TARGET = 8000;
const home = temporaryDirectory();

interface JsonLine {
  readonly [key: string]: unknown;
}

for (const path of realSessions('codex', 'codex-0.169', 'claude-code', 'claude-code-2.1.329')) {
  test(`${basename(path)} is compacted to ${TARGET} tokens and undone`, async (t) => {
    const compacted = join(home, `${basename(path)}.compacted.jsonl`);
    const before = await contextOf(path);
    const ran = await baton(home, [
      'compact',
      path,
      '--target-tokens',
      String(TARGET),
      '--out',
      compacted,
      '--json',
    ]);
    if (ran.status !== 0) {
      // Sessions of a few messages cannot become smaller; that is said, and nothing is written.
      assert.equal(ran.error?.['code'], 'nothing_to_compact', ran.stderr);
      const { from, to } = initialContextRange(before);
      const work = textTokens(before.toSpliced(from, to - from));
      // Where instructions and tools fill the window, a compaction frees too little of it.
      const [, beside = '0'] = /; ([\d,]+) are instructions and tools/.exec(ran.explanation) ?? [];
      const most = Math.max(1500, Number(beside.replaceAll(',', '')) / 4);
      assert.ok(work < most, `${work} tokens, without what the agent gives again, should have become less`);
      assert.throws(() => readFileSync(compacted));
      t.diagnostic(`nothing to compact: ${textTokens(before)} tokens`);
      return;
    }
    assertAddsUp(receiptIn(ran.stdout));
    const original = readFileSync(path);
    const written = readFileSync(compacted);
    assert.ok(written.subarray(0, original.length).equals(original), 'the original bytes are kept');
    const added = jsonLines(written.subarray(original.length).toString('utf8'));
    assert.ok(added.length > 0);

    const after = await contextOf(compacted);
    const tokens = textTokens(after);
    assert.ok(tokens <= TARGET, `${tokens} tokens`);
    assert.ok(tokens < textTokens(before), 'smaller than before');
    assertPaired(path.includes('codex') ? codexHistory(added) : claudeHistory(added));

    const undone = join(home, `${basename(path)}.undone.jsonl`);
    const undo = await baton(home, ['undo', compacted, '--out', undone]);
    assert.equal(undo.status, 0, undo.stderr);
    assert.ok(readFileSync(undone).subarray(0, written.length).equals(written));
    assert.deepEqual((await contextOf(undone)).map(essence), before.map(essence));
    t.diagnostic(`${textTokens(before)} -> ${tokens} tokens`);
  });
}

const OTHER_FORMATS = [
  'opencode',
  'pi',
  'gemini-cli',
  'copilot-cli',
  'openhands',
  'swe-agent',
  'mini-swe-agent',
  'chat',
];
const AGENTS = ['codex', 'codex-0.169', 'claude-code', 'claude-code-2.1.329'];

for (const path of realSessions(...OTHER_FORMATS)) {
  test(`the preview of ${basename(path)} adds up`, async () => {
    const ran = await baton(home, ['compact', path, '--preview', '--json']);
    if (ran.status === 0) assertAddsUp(receiptIn(ran.stdout));
    else assert.equal(ran.error?.['code'], 'nothing_to_compact', ran.stderr);
  });
}

for (const path of realSessions(...AGENTS, ...OTHER_FORMATS)) {
  test(`what fills ${basename(path)} adds up to its gauge`, async () => {
    const ran = await baton(home, ['inspect', path, '--json']);
    assert.equal(ran.status, 0, ran.stderr);
    const { gauge, categories, beside_items: beside } = JSON.parse(ran.stdout) as Inspected;
    const others = Object.values(beside).reduce((sum, tokens) => sum + tokens, 0);
    assert.equal(sumTokens(categories) + others, gauge.used);
    assert.ok(beside.fixed >= 0, 'what is in every request cannot be negative');
  });
}

test('real sessions are there', { skip: REAL_SESSIONS_SKIP }, () => {
  assert.equal(realSessions('codex', 'codex-0.169', 'claude-code', 'claude-code-2.1.329').length, 28);
});

async function contextOf(path: string): Promise<readonly Item[]> {
  const source = await openSource(path, (async function* (): AsyncGenerator<Buffer> {})());
  try {
    const fold = new HistoryFold(WHOLE_ITEMS);
    await loadSession(source, (record) => void fold.add(record));
    return fold.entries.map(({ value }) => value);
  } finally {
    await source.close();
  }
}

/** What a model reads of an item, whoever wrote it down. */
function essence(item: Item): unknown {
  const { id: _, ...rest } = item as Item & { id?: string };
  return rest;
}

/** All strings of a value that a model reads, counted by the tokenizer itself. */
function textTokens(items: readonly Item[]): number {
  let tokens = 0;
  for (const item of items) {
    for (const text of texts(item)) tokens += countTokens(text, { disallowedSpecial: new Set() });
  }
  return tokens;
}

function texts(item: Item): string[] {
  switch (item.type) {
    case 'message':
      return item.content.map((part) => ('text' in part ? part.text : ''));
    case 'attachment':
      return [item.text];
    case 'function_call':
      return [item.name, item.arguments];
    case 'custom_tool_call':
      return [item.name, item.input];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [typeof item.output === 'string' ? item.output : JSON.stringify(item.output)];
    default:
      return [];
  }
}

function jsonLines(text: string): readonly JsonLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonLine);
}

/** The history that Codex takes up: of the last compacted line. */
function codexHistory(lines: readonly JsonLine[]): readonly JsonLine[] {
  const compacted = lines.findLast(({ type }) => type === 'compacted');
  const payload = compacted?.['payload'] as JsonLine | undefined;
  assert.equal(typeof payload?.['message'], 'string');
  return payload?.['replacement_history'] as readonly JsonLine[];
}

/** The blocks that Claude Code takes up: what was appended. */
function claudeHistory(lines: readonly JsonLine[]): readonly JsonLine[] {
  assert.equal(lines[0]?.['subtype'], 'compact_boundary');
  return lines.flatMap((line) => {
    const content = (line['message'] as JsonLine | undefined)?.['content'];
    return Array.isArray(content) ? (content as readonly JsonLine[]) : [];
  });
}

function assertPaired(parts: readonly JsonLine[]): void {
  const calls = new Set<unknown>();
  for (const part of parts) {
    const { type } = part;
    if (type === 'tool_use') calls.add(part['id']);
    else if (type === 'tool_result') assert.ok(calls.delete(part['tool_use_id']), 'a result without call');
    else if (typeof type === 'string' && type.endsWith('_call')) calls.add(part['call_id']);
    else if (typeof type === 'string' && type.endsWith('_output')) {
      assert.ok(calls.delete(part['call_id']), 'a result without call');
    }
  }
  assert.equal(calls.size, 0, 'a call without result');
}

interface Inspected {
  readonly gauge: { readonly used: number };
  readonly categories: TokensByCategory;
  readonly beside_items: Readonly<
    Record<'fixed' | 'counting' | 'restored' | 'margin' | 'unexplained', number>
  >;
}

function receiptIn(text: string): Receipt {
  return JSON.parse(text) as Receipt;
}

/** What came in is kept, cut, summarised or dropped, and what is there afterwards is named: to the token. */
function assertAddsUp(receipt: Receipt): void {
  const { kept, cut, summarised, dropped, after, beside, preTokens, postTokens } = receipt;
  assert.ok(cut !== undefined && after !== undefined && beside !== undefined);
  for (const part of [kept, cut, summarised, dropped]) assert.equal(part.tokens, sumTokens(part.byCategory));
  assert.equal(kept.tokens + cut.tokens + summarised.tokens + dropped.tokens + beside.before, preTokens);
  assert.equal(after.kept, kept.tokens);
  assert.equal(
    after.kept + after.summary + after.files + after.state + after.hooks + beside.after,
    postTokens,
  );
}
