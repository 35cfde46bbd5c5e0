// Every document that `--json` prints satisfies its published schema, for generated and for real sessions.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import * as z from 'zod';
import { MicroDocument, CompactDocument, UndoDocument } from '../../src/cli/documents/compaction.ts';
import { ErrorDocument } from '../../src/cli/documents/failure.ts';
import { ReplayDocument } from '../../src/cli/documents/replay.ts';
import { InspectDocument, InspectManyDocument, SessionsDocument } from '../../src/cli/documents/session.ts';
import {
  ConfigCheckDocument,
  ConfigInitDocument,
  ConfigShowDocument,
  DoctorDocument,
  PromptsDiffDocument,
  PromptsListDocument,
  PromptsResetDocument,
  PromptsShowDocument,
} from '../../src/cli/documents/setup.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { realSessions } from '../support/real-sessions.ts';
import { sabotagesFor } from '../support/sabotage.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

/** `baton demo --json` holds documents of others. */
const DemoDocument = z.strictObject({
  inspect: InspectDocument,
  replay: ReplayDocument,
  compact: CompactDocument,
  undo: UndoDocument,
});

const home = temporaryDirectory();

async function document(args: readonly string[]): Promise<unknown> {
  const { stdout, stderr, status } = await baton(home, [...args, '--json']);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Asserts the schema, and says where a document breaks it. */
function assertFits(schema: z.ZodType, value: unknown): void {
  const parsed = schema.safeParse(value);
  assert.ok(parsed.success, parsed.success ? '' : z.prettifyError(parsed.error));
}

for (const format of AGENT_FORMATS) {
  test(`${format}: inspect, compact and undo of a generated session and of every damaged one`, async () => {
    const whole = asFile(workLines(format));
    const session = join(home, `${format}.jsonl`);
    const out = join(home, 'out.jsonl');
    for (const { apply } of [{ apply: (file: Buffer) => file }, ...sabotagesFor(format)]) {
      writeFileSync(session, apply(whole));
      const inspected = await baton(home, ['inspect', session, '--json']);
      if (inspected.status !== 0) continue;
      assertFits(InspectDocument, JSON.parse(inspected.stdout));
      const compacted = await baton(home, ['compact', session, '--out', out, '--json']);
      if (compacted.status !== 0) continue;
      assertFits(CompactDocument, JSON.parse(compacted.stdout));
      // What a receipt says survives the file: it is read back and shown by `inspect`.
      assertFits(InspectDocument, await document(['inspect', out]));
      rmSync(out);
    }
    writeFileSync(session, whole);
    assertFits(CompactDocument, await document(['compact', session, '--preview']));
    assertFits(InspectDocument, await document(['inspect', session, '--precise']));
  });
}

test('undo and micro-compaction', async () => {
  const session = join(home, 'codex.jsonl');
  const compacted = join(home, 'compacted.jsonl');
  writeFileSync(session, asFile(workLines('codex')));
  await document(['compact', session, '--out', compacted]);
  assertFits(UndoDocument, await document(['undo', compacted, '--out', join(home, 'undone.jsonl')]));
  const eager = [
    '-c',
    'compact.micro_compact_min_tokens_to_save=1',
    '-c',
    'compact.micro_compact_keep_last_n_tools=1',
  ];
  assertFits(
    MicroDocument,
    await document([...eager, 'compact', session, '--strategy', 'micro', '--preview']),
  );
});

test('several files, one of them missing', async () => {
  const { stdout, status } = await baton(home, ['inspect', '--json', join(home, 'codex.jsonl'), 'missing']);
  assert.equal(status, 1);
  assertFits(InspectManyDocument, JSON.parse(stdout));
});

test('sessions of all three agents, readable and not', async () => {
  const made = temporaryDirectory();
  const places = [
    '.codex/sessions/2026/01/02/rollout-a.jsonl',
    '.codex/archived_sessions/rollout-b.jsonl',
    '.claude/projects/-home-dev/c.jsonl',
    '.baton/sessions/2026/01/02/rollout-d.jsonl',
  ];
  for (const [index, place] of places.entries()) {
    const path = join(made, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, asFile(workLines(place.startsWith('.claude') ? 'claude-code' : 'codex')));
    utimesSync(path, 1_700_000_000 + index, 1_700_000_000 + index);
    writeFileSync(path.replace(/\w\.jsonl$/, `empty.jsonl`), '');
    writeFileSync(path.replace(/\w\.jsonl$/, `rubbish.jsonl`), 'no session\u0007\n');
  }
  const { stdout, status, stderr } = await baton(made, ['sessions', '--json']);
  assert.equal(status, 0, stderr);
  const parsed = SessionsDocument.parse(JSON.parse(stdout));
  assert.equal(parsed.total, 12);
  const read = parsed.sessions.filter(({ cwd }) => cwd !== null);
  assert.deepEqual(read.map(({ agent }) => agent).toSorted(), ['baton', 'claude', 'codex', 'codex']);
  const text = await baton(made, ['sessions', '--limit', '5']);
  assert.match(text.stdout, /7 more sessions/);
  assertFits(
    SessionsDocument,
    JSON.parse((await baton(temporaryDirectory(), ['sessions', '--json'])).stdout),
  );
});

test('config, doctor and failures', async () => {
  const clean = temporaryDirectory();
  const of = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await baton(clean, [...args, '--json'])).stdout);
  assertFits(ConfigShowDocument, await of('config', 'show'));
  assertFits(ConfigCheckDocument, await of('config', 'check'));
  assertFits(ConfigInitDocument, await of('config', 'init'));
  assertFits(DoctorDocument, await of('doctor'));
  assertFits(DemoDocument, await of('demo'));
  const failed = await baton(clean, ['inspect', 'missing', '--json']);
  assertFits(ErrorDocument, { error: failed.error });
});

test('prompts, shipped, changed, missing and unreadable', async () => {
  const clean = temporaryDirectory();
  const of = async (...args: readonly string[]): Promise<unknown> => {
    const { stdout, stderr, status } = await baton(clean, ['prompts', ...args, '--json']);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };
  assertFits(PromptsDiffDocument, await of('diff'));
  assertFits(PromptsListDocument, await of('list'));
  mkdirSync(join(clean, '.baton/auto-compact'), { recursive: true });
  writeFileSync(join(clean, '.baton/auto-compact/handoff.md'), 'Mine: {packet}');
  writeFileSync(join(clean, '.baton/auto-compact/heads-up.md'), '');
  assertFits(PromptsDiffDocument, await of('diff'));
  for (const name of ['handoff', 'heads-up', 'judgment']) {
    assertFits(PromptsShowDocument, await of('show', name));
    assertFits(PromptsShowDocument, await of('show', name, '--shipped'));
    assertFits(PromptsDiffDocument, await of('diff', name));
  }
  assertFits(PromptsListDocument, await of('list'));
  for (const name of ['handoff', 'heads-up', 'judgment']) {
    assertFits(PromptsResetDocument, await of('reset', name));
  }
});

for (const path of realSessions('codex', 'codex-0.169', 'claude-code', 'claude-code-2.1.329')) {
  test(`inspect and preview of ${basename(path)}`, async () => {
    const session = join(home, 'real.jsonl');
    copyFileSync(path, session);
    assertFits(InspectDocument, await document(['inspect', session]));
    const preview = await baton(home, ['compact', session, '--preview', '--json', '--target-tokens', '8k']);
    if (preview.status === 0) assertFits(CompactDocument, JSON.parse(preview.stdout));
    else assert.equal(preview.error?.['code'], 'nothing_to_compact');
  });
}
