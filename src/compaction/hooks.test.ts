// Hooks around a compaction: real processes, a real provider on the loopback.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { compactionWorld, MemoryThread, summarizersOf } from '../../test/support/compactable.ts';
import { client } from '../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { thread } from '../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { createHooks } from '../hooks/hooks.io.ts';
import type { Hooks } from '../ports.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import { Compactor } from './compactor.io.ts';
import type { CompactionAsk } from './compactor.io.ts';

const LIVE = new AbortController().signal;
const WINDOW = 20_000;
const SUMMARY = SUMMARY_SECTIONS.map(
  (section) => `## ${section}\n\nThe lamp is lit, and the horn is sounding.`,
).join('\n\n');

const server = await startProviderServer({ replies: [{ text: SUMMARY }] });
after(() => server.close());
let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-hooks-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A hook that notes that it ran and what it was told, then does as the line says. */
function script(name: string, line: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\necho ${name} >> ${join(folder, 'order')}\ncat > ${file}.json\n${line}\n`);
  chmodSync(file, 0o700);
  return file;
}

function hooksOf(lines: { readonly pre?: string; readonly start?: string; readonly post?: string }): Hooks {
  const of = (name: string, line: string | undefined) =>
    line === undefined ? [] : [{ command: [script(name, line)], timeoutSeconds: 10 }];
  rmSync(join(folder, 'order'), { force: true });
  return createHooks(
    {
      preCompact: of('pre', lines.pre),
      sessionStart: of('start', lines.start),
      postCompact: of('post', lines.post),
    },
    { env: process.env, keyVariables: [], cwd: folder, platform: process.platform },
  );
}

async function compactWith(hooks: Hooks, ask: CompactionAsk, hasModel = true) {
  const memory = new MemoryThread(WINDOW, thread('u:10 a:9k u:10 a:9k'));
  const was = memory.items;
  const asked = server.requests.length;
  const world = compactionWorld({
    hooks,
    ...(hasModel
      ? { summarizers: summarizersOf([{ model: client('chat', server.baseUrl), window: WINDOW }]) }
      : {}),
  });
  let orderAtCommit = '';
  memory.beforeCommit = () => {
    orderAtCommit = readFileSync(join(folder, 'order'), 'utf8');
    return Promise.resolve();
  };
  const outcome = await new Compactor(memory, DEFAULT_CONFIG, world).request(ask, LIVE);
  const receipt = outcome.type === 'compacted' ? outcome.compaction.record.receipt : undefined;
  const requests = server.requests.slice(asked);
  return { memory, was, world, outcome, receipt, requests, orderAtCommit };
}

const BUILT_IN: CompactionAsk = { from: 'built_in' };

test('they run in the order of the phases; instructions reach the model, context the history, all of it the receipt', async () => {
  const hooks = hooksOf({
    pre: `echo '{"instructions":"Dwell on the lamp."}'`,
    start: `echo '{"context":"The tide table is in docs/tide.md."}'`,
    post: ':',
  });
  const { memory, receipt, requests, orderAtCommit, world } = await compactWith(hooks, BUILT_IN);
  assert.equal(orderAtCommit, 'pre\nstart\n');
  assert.equal(readFileSync(join(folder, 'order'), 'utf8'), 'pre\nstart\npost\n');
  assert.match(requests[0]?.text ?? '', /Dwell on the lamp\./);
  const added = memory.items.find((item) => item.type === 'attachment');
  assert.ok(added !== undefined, 'the context is there');
  assert.match(added.text, /The tide table is in docs\/tide\.md\.$/);
  const summary = memory.items.findIndex((item) => item.type === 'message' && item.isCompactSummary === true);
  assert.equal(memory.items.indexOf(added), summary + 1);
  assert.deepEqual(
    receipt?.hooks?.map(({ event, outcome }) => [event, outcome]),
    [
      ['pre_compact', 'done'],
      ['session_start', 'done'],
    ],
  );
  const told = JSON.parse(readFileSync(join(folder, 'post.json'), 'utf8')) as Record<string, unknown>;
  assert.equal(told['compact_summary'], SUMMARY);
  assert.ok(
    world.events.every(({ type }) => type !== 'warning'),
    'nothing to complain about',
  );
});

test('a veto leaves the history, asks no model, tells why, and counts as no failure', async () => {
  const hooks = hooksOf({ pre: 'echo tests are red >&2; exit 2', start: ':', post: ':' });
  const { memory, was, outcome, requests, world } = await compactWith(hooks, BUILT_IN);
  assert.deepEqual(memory.items, was);
  assert.equal(requests.length, 0);
  assert.equal(outcome.type === 'failed' && outcome.error.code, 'compaction_vetoed');
  const failed = world.events.at(-1);
  assert.deepEqual(failed?.type === 'compact_failed' && failed.reason, 'vetoed');
  assert.match(failed?.type === 'compact_failed' ? failed.error_message : '', /tests are red/);
  assert.equal(readFileSync(join(folder, 'order'), 'utf8'), 'pre\n');
});

test('an emergency is not vetoed', async () => {
  const hooks = hooksOf({ pre: 'echo tests are red >&2; exit 2' });
  const { outcome, receipt, world } = await compactWith(hooks, {
    from: 'watcher',
    why: 'Little is left.',
    isEmergency: true,
  });
  assert.equal(outcome.type, 'compacted');
  assert.deepEqual(
    receipt?.hooks?.map((run) => run.outcome),
    ['overruled'],
  );
  assert.ok(
    world.events.some((event) => event.type === 'warning' && event.message.includes('tests are red')),
    'the veto is told',
  );
});

test('instructions for a summary that no model writes are told, not lost in silence', async () => {
  const hooks = hooksOf({ pre: `echo '{"instructions":"Dwell on the lamp."}'` });
  const { outcome, world } = await compactWith(hooks, BUILT_IN, false);
  assert.equal(outcome.type, 'compacted');
  assert.ok(
    world.events.some((event) => event.type === 'warning' && event.message.includes('no model')),
    'told',
  );
});

test('what hooks add is bounded, and a hook that fails makes no compaction fail', async () => {
  const long = 'x'.repeat(60).concat(' ').repeat(150);
  const hooks = hooksOf({ pre: 'exit 3', start: `echo '{"context":"${long}"}'`, post: 'exit 1' });
  const { memory, receipt } = await compactWith(hooks, {
    from: 'manual',
    strategy: 'full',
    targetTokens: 2_000,
  });
  assert.ok(receipt !== undefined && receipt.postTokens <= 2_000, `${receipt?.postTokens} tokens`);
  const added = memory.items.find((item) => item.type === 'attachment');
  assert.match(added?.text ?? '', /tokens truncated/);
});
