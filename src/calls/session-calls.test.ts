// The calls over session files, as a program uses them, held against the commands.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { goodSummary } from '../../test/support/summaries.ts';
import { LOOK_ALIKE_FILES } from '../../test/support/format-lines.ts';
import { baton, temporaryDirectory } from '../../test/support/program.ts';
import { asFile, workLines } from '../../test/support/work-sessions.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { loadConfig } from '../config/load.io.ts';
import type { Receipt } from '../protocol/receipt.ts';
import { compactSession } from './compact-session.ts';
import { inspectSession } from './inspect-session.ts';

const home = temporaryDirectory();

function saved(name: string, content: string | Buffer): string {
  const path = join(home, name);
  writeFileSync(path, content);
  return path;
}

const session = saved('work.jsonl', asFile(workLines('codex')));
const original = readFileSync(session, 'utf8');

/** The parts of a document of `inspect --json` that the call has, too. */
interface Document {
  readonly format: string;
  readonly model: string | null;
  readonly gauge: {
    readonly used: number;
    readonly percent_remaining: number;
    readonly agent_compacts_from: number | null;
    readonly auto_compact_threshold: number;
  };
  readonly window: { readonly raw: number; readonly usable: number };
  readonly compactions: readonly { readonly id: string }[];
  readonly top: { readonly results: readonly object[] };
}

test('inspectSession says of every format what baton inspect says, and its parts add up', async () => {
  for (const { name, format, text } of [
    { name: 'work', format: 'codex', text: original },
    { name: 'Claude Code', format: 'claude-code', text: asFile(workLines('claude-code')).toString('utf8') },
    ...LOOK_ALIKE_FILES,
  ]) {
    const path = saved('inspected', text);
    const inspection = await inspectSession(path, { top: 3 });
    const ran = await baton(home, ['inspect', path, '--json', '--top', '3']);
    const document = JSON.parse(ran.stdout) as Document;
    assert.equal(inspection.format, format, name);
    const { usedTokens, percentRemaining, parts, window, compactsFrom } = inspection;
    assert.deepEqual(
      {
        used: usedTokens,
        left: percentRemaining,
        raw: window.raw,
        usable: window.usable,
        from: compactsFrom,
        model: inspection.model ?? null,
        results: inspection.top.results.map(({ line, ...rest }) => ({ ...rest, line: line ?? null })),
        compactions: inspection.compactions.map(({ id }) => id),
      },
      {
        used: document.gauge.used,
        left: document.gauge.percent_remaining,
        raw: document.window.raw,
        usable: document.window.usable,
        from: document.gauge.agent_compacts_from ?? document.gauge.auto_compact_threshold,
        model: document.model,
        results: document.top.results,
        compactions: document.compactions.map(({ id }) => id),
      },
      name,
    );
    assert.equal(
      parts.reduce((sum, { tokens }) => sum + tokens, 0),
      usedTokens,
      name,
    );
  }
});

test('inspectSession names the next tier of pressure, and none beyond the last', async () => {
  const { usedTokens, nextTier } = await inspectSession(session, {
    config: { ...DEFAULT_CONFIG, modelContextWindow: 1_000_000 },
  });
  // 65 % of the 950,000 usable tokens remain with 332,500 used.
  assert.deepEqual([usedTokens < 300_000, nextTier], [true, { tier: 'early', fromTokens: 332_501 }]);
  const { rawrAutoCompaction } = DEFAULT_CONFIG;
  const { policy } = rawrAutoCompaction;
  const emergency = { ...policy.emergency, usedTokensGe: usedTokens + 1 };
  const counted = await inspectSession(session, {
    config: {
      ...DEFAULT_CONFIG,
      modelContextWindow: 1_000_000,
      rawrAutoCompaction: { ...rawrAutoCompaction, policy: { ...policy, emergency } },
    },
  });
  assert.deepEqual(counted.nextTier, { tier: 'emergency', fromTokens: usedTokens + 1 });
  const full = await inspectSession(session, {
    config: { ...DEFAULT_CONFIG, modelContextWindow: usedTokens },
  });
  assert.equal(full.nextTier, undefined);
});

test('compactSession returns the session that baton compact writes, and leaves the file alone', async () => {
  const compaction = await compactSession(session, { targetTokens: 2000 });
  assert.ok(compaction.isCompacted);
  const out = join(home, 'command.jsonl');
  const ran = await baton(home, ['compact', session, '--target-tokens', '2000', '--out', out, '--json']);
  const { id, at, durationMs, ...receipt } = JSON.parse(ran.stdout) as Receipt & { loss?: object };
  const { id: _, at: __, durationMs: ___, ...own } = compaction.receipt;
  assert.ok(id !== '' && at !== '' && durationMs !== undefined);
  delete receipt.loss;
  assert.deepEqual(JSON.parse(JSON.stringify(own)), receipt);
  const { text = '', kept, removed, fixedTokens, tokensBefore, tokensAfter } = compaction;
  assert.ok(text.startsWith(original) && text.includes(JSON.stringify(compaction.summary).slice(1, 200)));
  assert.deepEqual([tokensBefore, tokensAfter], [receipt.preTokens, receipt.postTokens]);
  assert.equal(fixedTokens, receipt.beside?.fixed);
  assert.equal(kept.tokens + removed.tokens + (receipt.beside?.before ?? 0), tokensBefore);
  assert.deepEqual([compaction.format, compaction.writtenFormat], ['codex', 'codex']);
  assert.equal(readFileSync(session, 'utf8'), original);
});

test('compactSession writes where it is asked to, and what it wrote can be undone', async () => {
  const out = join(home, 'out.jsonl');
  const compaction = await compactSession(session, { out });
  assert.ok(compaction.isCompacted && compaction.text === undefined);
  const undone = await baton(home, ['undo', out, '--json', '--out', join(home, 'undone.jsonl')]);
  assert.equal(undone.status, 0, undone.explanation);
  const { compactions, usedTokens } = await inspectSession(out);
  assert.deepEqual([compactions.at(-1)?.id, usedTokens], [compaction.receipt.id, compaction.tokensAfter]);
  await assert.rejects(compactSession(session, { out }), { code: 'output_exists' });
  await assert.rejects(compactSession(session, { out: session, overwrites: true }), {
    code: 'output_exists',
  });
  assert.ok((await compactSession(session, { out, overwrites: true, targetTokens: 2000 })).isCompacted);
});

test('compactSession returns a refusal where a compaction is not worth it', async () => {
  const once = await compactSession(session);
  assert.ok(once.isCompacted);
  const path = saved('once.jsonl', once.text ?? '');
  const out = join(home, 'twice.jsonl');
  const twice = await compactSession(path, { out });
  assert.ok(!twice.isCompacted && !existsSync(out));
  assert.match(twice.why, /^Nothing has happened since the last compaction/);
  assert.deepEqual([twice.tokensBefore, twice.tokensAfter], [once.tokensAfter, once.tokensAfter]);
});

test('compactSession takes a session of a format that Baton only reads, and tells what is damaged', async () => {
  const timestamp = '2026-01-05T08:00:00.000Z';
  const said = (role: string, content: string): string =>
    `${JSON.stringify({ type: 'message', timestamp, message: { role, content } })}\n`;
  const pi = Array.from(
    { length: 40 },
    (_, drawer) => said('user', `Sort drawer ${drawer}.`) + said('assistant', 'One bean more. '.repeat(99)),
  );
  const path = saved(
    'pi.jsonl',
    `{"type":"session","id":"s","timestamp":"${timestamp}","cwd":"/home/dev"}\n${pi.join('')}`,
  );
  const compaction = await compactSession(path, { targetTokens: 2000 });
  assert.ok(compaction.isCompacted && compaction.tokensAfter <= 2000);
  assert.deepEqual([compaction.format, compaction.writtenFormat], ['pi', 'chat']);
  const damaged = await compactSession(saved('damaged.jsonl', `${original}{"torn":`), { format: 'chat' });
  assert.deepEqual(
    damaged.damage.map(({ kind }) => kind),
    ['torn_last_line'],
  );
  assert.ok(damaged.isCompacted && damaged.writtenFormat === 'chat');
  assert.ok(Array.isArray(JSON.parse(damaged.text ?? '')));
});

test('both calls fail as they say', async () => {
  for (const call of [inspectSession, compactSession]) {
    await assert.rejects(call(join(home, 'nowhere')), { code: 'file_not_found' });
    await assert.rejects(call(home), { code: 'not_a_file' });
    await assert.rejects(call(saved('empty', '')), { code: 'file_empty' });
    await assert.rejects(call(saved('prose', 'Not a session.\n')), { code: 'format_unknown' });
    await assert.rejects(call(session, { signal: AbortSignal.abort() }), { code: 'interrupted' });
  }
  await assert.rejects(inspectSession(session, { top: -1 }), RangeError);
  await assert.rejects(compactSession(session, { targetTokens: 0.5 }), RangeError);
  await assert.rejects(compactSession(session, { targetTokens: 1 }), {
    code: 'cannot_fit',
    cure: /^Ask for targetTokens \d+ or more\.$/,
  });
  await assert.rejects(compactSession(session, { out: join(home, 'no', 'folder') }), {
    code: 'output_failed',
  });
  await assert.rejects(compactSession(session, { model: 'nobody/nothing' }), { code: 'config_invalid' });
});

test('compactSession has the model that it names write the summary', async () => {
  const server = await startProviderServer({ replies: [{ text: goodSummary() }] });
  try {
    const overrides = [`model_providers.own={base_url="${server.baseUrl}",wire_api="chat"}`];
    const { config } = await loadConfig({ overrides }, { cwd: home, homeDirectory: home, env: {} });
    const compaction = await compactSession(session, { model: 'own/writer', config });
    assert.ok(compaction.isCompacted);
    assert.equal(compaction.receipt.model, 'own/writer');
    assert.match(compaction.warnings.join(), /^The context window of own\/writer is unknown/);
  } finally {
    await server.close();
  }
});
