// What the views say about a session: they agree on each fact, and their advice helps.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { UndoDocument } from '../../src/cli/documents/compaction.ts';
import type { InspectDocument } from '../../src/cli/documents/session.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import type { z } from 'zod';
import { ClaudeLines } from '../support/claude-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const home = temporaryDirectory();

function saved(name: string, content: string | Buffer): string {
  const path = join(home, name);
  writeFileSync(path, content);
  return path;
}

async function inspected(path: string): Promise<z.infer<typeof InspectDocument>> {
  const { stdout, stderr, status } = await baton(home, ['inspect', path, '--json']);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as z.infer<typeof InspectDocument>;
}

for (const format of AGENT_FORMATS) {
  for (const strategy of ['full', 'micro']) {
    test(`${format}: a ${strategy} compaction is shown with the share of the window that was full`, async () => {
      const path = saved(`${format}.jsonl`, asFile(workLines(format)));
      const { gauge, window } = await inspected(path);
      const out = join(home, `${format}-${strategy}.jsonl`);
      const anySaving = ['-c', 'compact.micro_compact_min_tokens_to_save=1'];
      const ran = await baton(home, ['compact', path, '--strategy', strategy, '--out', out, ...anySaving]);
      assert.equal(ran.status, 0, ran.explanation);
      const [mark] = (await inspected(out)).compactions;
      assert.equal(mark?.pre_tokens, gauge.used);
      const share = `${Math.round((100 * gauge.used) / window.usable)} % of the usable window`;
      assert.ok(mark?.explanation.includes(share), `${mark?.explanation ?? ''}, not ${share}`);
    });
  }
}

test('advice about broken pairs is possible in a small session', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };
  const messages = [
    { role: 'user', content: 'List the beans.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'user', content: 'Go on.' },
  ];
  const { stdout } = await baton(home, ['inspect', saved('orphan.json', JSON.stringify(messages))]);
  assert.match(stdout, /^Broken pairs: 1 call without result; a full compaction removes all of them\.$/m);
});

test('numbers are formatted for people', async () => {
  const path = saved('numbers.jsonl', asFile(workLines('codex')));
  const page = await baton(home, ['compact', path, '--format', 'markdown']);
  assert.match(page.stdout, /^- Tokens: \d{1,3},\d{3} before, (?:\d{1,3},)?\d{1,3} after$/m);
  const tight = await baton(home, ['compact', path, '--target-tokens', '1', '--format', 'chat']);
  assert.match(tight.explanation, /cannot be compacted to 1 token; it needs at least (?:\d,)?\d{1,3}, /);
  const help = await baton(home, ['eval', '--help']);
  assert.match(help.stdout, /\(default:\s+2k,4k,8k,16k\)/);
});

test('damage of one kind is reported once, with its number', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const strange = { role: 'user', content: [image, 7] };
  const array = saved('strange.json', JSON.stringify(Array.from({ length: 581 }, () => strange)));
  const { file } = await inspected(array);
  assert.deepEqual(
    file.damage.map(({ line, times }) => ({ line, times })),
    [{ line: 1, times: 581 }],
  );
  const page = await baton(home, ['inspect', array]);
  assert.match(page.stdout, /^Repaired line 1: A part of a user message .*\(581\s+times\)$/ms);
  assert.equal(page.stdout.match(/Repaired/g)?.length, 1);

  const lines = Array.from({ length: 40 }, () => JSON.stringify(strange));
  const log = saved('strange.jsonl', `${lines.join('\n')}\n`);
  const folded = await baton(home, ['inspect', log]);
  assert.match(folded.stdout, /^Repaired line 1 and 39 other lines: A part of a user message/m);
  assert.doesNotMatch(folded.stdout, /times\)|more kind/);
  assert.equal((await inspected(log)).file.damage.length, 40, '--json has every line');
});

for (const [model, window] of [
  ['claude-opus-4-6', 1_000_000],
  ['nobody-knows', 1_000_000],
] as const) {
  test(`a compaction whose past another file holds is judged by the window of ${model}`, async () => {
    const session = new ClaudeLines();
    session.boundary({ trigger: 'auto', preTokens: 998_659 }).summary('This session is being continued.');
    session.user('Oil the gate.');
    session.says('m1', 'The gate is oiled.', 18_101);
    const text = asFile(session.lines).toString().replaceAll('"model-a"', JSON.stringify(model));
    const path = saved(`headless-${model}.jsonl`, text);
    const { compactions, window: found } = await inspected(path);
    assert.equal(found.raw, window);
    assert.match(
      compactions[0]?.explanation ?? '',
      /at 105 % of the usable window: \d items? replaced what is not in the file, with a summary/,
    );
    const replayed = await baton(home, ['replay', path, '--policy', 'baton', '--json', '--no-recall']);
    const [played] = (JSON.parse(replayed.stdout) as { sessions: readonly { window: number }[] }).sessions;
    assert.equal(played?.window, window, replayed.stdout.slice(0, 2000));
  });
}

test('an undo that overflows the window says so at once, and by how much', async () => {
  const path = saved('roomy.jsonl', asFile(workLines('claude-code')));
  const out = join(home, 'roomy-compacted.jsonl');
  assert.equal((await baton(home, ['compact', path, '--out', out])).status, 0);
  const undoIn = async (window: number) => {
    const args = ['undo', out, '--out', join(home, 'roomy-undone.jsonl'), '--force', '--json'];
    const ran = await baton(home, ['-c', `model_context_window=${window}`, ...args]);
    assert.equal(ran.status, 0, ran.explanation);
    return { ...ran, document: JSON.parse(ran.stdout) as z.infer<typeof UndoDocument> };
  };
  const fits = await undoIn(200_000);
  assert.equal(fits.document.over, 0);
  assert.doesNotMatch(fits.stderr, /warning/);
  const { used } = (await inspected(join(home, 'roomy-undone.jsonl'))).gauge;
  assert.equal(fits.document.tokens, used, 'the size that inspect shows of the result');
  const tight = await undoIn(15_500);
  assert.equal(tight.document.over, used - 14_725);
  assert.match(
    tight.stderr,
    new RegExp(
      `warning: That is ${(used - 14_725).toLocaleString('en')} tokens more than the 14,725 that the window holds`,
    ),
  );
  const close = await undoIn(18_000);
  assert.equal(close.document.over, 0);
  assert.match(close.stderr, /warning: The agent compacts from about [\d,]+ tokens, so it compacts again/);
});
