// What the real Codex makes of rollouts in the layouts that Baton writes. The findings are in docs/real-tools.md.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCodexHome, placeRollout, runCodexResume } from './codex.ts';
import { assertCodexSends, resumeInCodex } from './contract.ts';
import {
  compacted,
  OTHER_THREAD_ID,
  responseItem,
  rolloutText,
  sessionMeta,
  THREAD_ID,
  TIDES,
  TIDES_SENT,
  tidesRollout,
  tokenCount,
  userMessage,
  type HistoryMode,
  type RolloutLine,
} from './codex-rollouts.ts';
import { isCompactedByBaton, listSessions } from './recorded-sessions.ts';
import { skipReason } from './tools.ts';
import type { SentItem } from './sent.ts';

const SUMMARY = 'Summary: the tide table prints as CSV in metres.';
const KEPT = 'Print the tide table of the harbour as CSV.';
const AFTER_COMPACTION = [userMessage(KEPT), userMessage(SUMMARY)];
const AFTER_COMPACTION_SENT: readonly SentItem[] = [
  { role: 'user', text: KEPT },
  { role: 'user', text: SUMMARY },
];

/** Far over the 90 % of the window at which Codex compacts by itself. */
const FULL_TOKENS = 255_000;

const skip = await skipReason();

describe('codex resumes', { skip, concurrency: 2 }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-rollouts-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Writes a session with lines appended to it, and returns its path. */
  async function write(name: string, text: string): Promise<string> {
    const path = join(folder, `${name}.jsonl`);
    await writeFile(path, text);
    return path;
  }

  function appendTo(mode: HistoryMode, usedTokens: number, appended: readonly RolloutLine[]): string {
    const original = tidesRollout(mode, usedTokens);
    const paginated = mode === 'paginated';
    return (
      rolloutText(original, paginated ? 0 : undefined) +
      rolloutText(appended, paginated ? original.length : undefined)
    );
  }

  for (const mode of ['paginated', 'legacy'] as const) {
    it(`an unchanged ${mode} rollout`, async () => {
      const path = await write(`plain-${mode}`, appendTo(mode, 900, []));
      await assertCodexSends({ path, items: TIDES_SENT });
    });

    it(`a full ${mode} rollout with a compaction and its token count appended`, async () => {
      const appended = [compacted(AFTER_COMPACTION, { baton: { version: 1 } }), tokenCount(40)];
      const path = await write(`compacted-${mode}`, appendTo(mode, FULL_TOKENS, appended));
      await assertCodexSends({ path, items: AFTER_COMPACTION_SENT });
    });

    it(`a ${mode} rollout under a new thread id, its bytes behind one session_meta of their own`, async () => {
      const meta = sessionMeta(OTHER_THREAD_ID, mode, { forked_from_id: THREAD_ID });
      const first = rolloutText([meta], mode === 'paginated' ? 0 : undefined);
      const path = await write(
        `new-id-${mode}`,
        first + appendTo(mode, FULL_TOKENS, [compacted(AFTER_COMPACTION), tokenCount(40)]),
      );
      const resumed = await resumeInCodex(path);
      assert.deepEqual(resumed.items, AFTER_COMPACTION_SENT);
      assert.equal(resumed.sessionId, OTHER_THREAD_ID);
    });

    it(`a ${mode} rollout whose compaction was undone by a later one with the whole history`, async () => {
      const since = userMessage('Add the moon phase.');
      const appended = [
        compacted(AFTER_COMPACTION),
        tokenCount(40),
        responseItem(since),
        compacted([...TIDES, since]),
        tokenCount(900),
      ];
      const path = await write(`undone-${mode}`, appendTo(mode, 900, appended));
      await assertCodexSends({
        path,
        items: [...TIDES_SENT, { role: 'user', text: 'Add the moon phase.' }],
      });
    });
  }

  it('a pruned rollout: one session_meta and the compaction', async () => {
    const lines = [sessionMeta(OTHER_THREAD_ID, 'legacy'), compacted(AFTER_COMPACTION)];
    const path = await write('pruned', rolloutText(lines, undefined));
    await assertCodexSends({ path, items: AFTER_COMPACTION_SENT });
  });

  it('a result without its call, which it drops', async () => {
    const history = [
      { type: 'function_call_output', call_id: 'call_9', output: 'lost' },
      ...AFTER_COMPACTION,
    ];
    const path = await write('orphan', appendTo('paginated', 900, [compacted(history)]));
    await assertCodexSends({ path, items: AFTER_COMPACTION_SENT });
  });

  it('an item of a kind unknown to it as `other`, which no provider takes', async () => {
    const history = [{ type: 'ghost_snapshot', ghost_commit: { id: 'abc' } }, ...AFTER_COMPACTION];
    const path = await write('unknown-item', appendTo('paginated', 900, [compacted(history)]));
    await assertCodexSends({ path, items: [{ role: 'other', text: 'other' }, ...AFTER_COMPACTION_SENT] });
  });

  describe('other layouts wrongly, which is why Baton does not write them', () => {
    it('a full rollout with a compaction but no token count is compacted once more', async () => {
      const path = await write('no-count', appendTo('paginated', FULL_TOKENS, [compacted(AFTER_COMPACTION)]));
      await assert.rejects(resumeInCodex(path), /the tool compacted the history itself/);
    });

    it('a paginated rollout with a line without ordinal is refused', async () => {
      const text = rolloutText(tidesRollout('paginated'), 0);
      const path = await write('no-ordinal', text + rolloutText([compacted(AFTER_COMPACTION)], undefined));
      await assert.rejects(resumeInCodex(path), /missing an ordinal/);
    });

    it('a compaction without `message` does not count', async () => {
      const line = { type: 'compacted', payload: { replacement_history: AFTER_COMPACTION } };
      const path = await write('no-message', appendTo('paginated', 900, [line]));
      await assertCodexSends({ path, items: TIDES_SENT });
    });

    it('a session_meta that is appended does not change the thread', async () => {
      const appended = [sessionMeta(OTHER_THREAD_ID, 'paginated'), compacted(AFTER_COMPACTION)];
      const path = await write('appended-meta', appendTo('paginated', 900, appended));
      assert.equal((await resumeInCodex(path)).sessionId, THREAD_ID);
    });

    it('the path of a rollout instead of its id begins a new thread', async () => {
      const home = await createCodexHome();
      try {
        const path = await placeRollout(home, THREAD_ID, appendTo('paginated', 900, []));
        const run = await runCodexResume({ home, id: path, prompt: 'What comes next?' });
        assert.equal(run.exitCode, 0);
        assert.ok(!JSON.stringify(run.requests).includes(KEPT), 'the rollout was resumed');
      } finally {
        await home.remove();
      }
    });
  });

  it('fails the contract when the history is not the expected one', async () => {
    const path = await write('planted', appendTo('legacy', 900, [compacted(AFTER_COMPACTION)]));
    await assert.rejects(assertCodexSends({ path, items: TIDES_SENT }), assert.AssertionError);
  });
});

const recorded = await listSessions('codex', 'codex-0.169');

describe(
  'codex resumes real rollouts that Baton does not compact in other tests',
  { skip: skip || recorded.skip, concurrency: 2 },
  () => {
    for (const { name, path } of recorded.files.filter((file) => !isCompactedByBaton(file))) {
      it(name, async () => {
        const home = await mkdtemp(join(tmpdir(), 'baton-rollouts-'));
        try {
          const copy = join(home, 'copy.jsonl');
          const text = await readFile(path, 'utf8');
          const last = text.trimEnd().split('\n').at(-1) ?? '';
          const ordinal = (JSON.parse(last) as { ordinal?: number }).ordinal;
          const appended = [compacted(AFTER_COMPACTION), tokenCount(40)];
          await writeFile(
            copy,
            `${text.trimEnd()}\n${rolloutText(appended, ordinal === undefined ? undefined : ordinal + 1)}`,
          );
          assert.deepEqual((await resumeInCodex(copy, 1)).items, AFTER_COMPACTION_SENT);
        } finally {
          await rm(home, { recursive: true, force: true });
        }
      });
    }
  },
);
