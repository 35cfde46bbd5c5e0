// `baton eval --model` against a provider on this machine: what a model writes is one more candidate, its cost is shown, and
// a model that does not answer leaves the rest unchanged.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { z } from 'zod';
import { EvalDocument } from '../../src/cli/documents/eval.ts';
import { call, head, message, output } from '../support/codex-lines.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { assertFailed } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import type { Script } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { goodSummary } from '../support/summaries.ts';

const home = temporaryDirectory();
const session = join(home, 'mill.jsonl');

before(() => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
  const builder = head('0.140');
  builder.item(message('user', 'Never touch mill_frame. Build the mill.'));
  for (let at = 0; at < 60; at++) {
    const rows = Array.from(
      { length: 14 },
      (_, row) => `mill_${at % 17}_${row} = turn(mill_${at % 13}_${row})`,
    );
    builder.item(call(`c${at}`, `cat src/mill-${at % 11}.ts`));
    builder.item(output(`c${at}`, rows.join('\n')));
    builder.item(message('assistant', `Now mill_${at % 17}_3 follows mill_${at % 13}_7.`));
  }
  writeFileSync(session, builder.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
});

function asking(baseUrl: string): readonly string[] {
  const table = {
    base_url: JSON.stringify(baseUrl),
    wire_api: '"chat"',
    request_max_retries: '0',
    stream_max_retries: '0',
  };
  const provider = Object.entries(table).flatMap(([key, value]) => [
    '-c',
    `model_providers.fake.${key}=${value}`,
  ]);
  const measured = ['--sizes', '1k,2k', '--cuts', '2', '--no-canaries'];
  return [...provider, 'eval', session, ...measured, '--model', 'fake/small'];
}

interface Asked extends Ran {
  readonly requests: number;
}

async function ask(script: Script, ...more: readonly string[]): Promise<Asked> {
  const server = await startProviderServer(script);
  try {
    const ran = await baton(home, [...asking(server.baseUrl), ...more]);
    assert.equal(ran.status, 0, ran.explanation);
    return { ...ran, requests: server.requests.length };
  } finally {
    await server.close();
  }
}

function documentOf({ stdout }: Ran): z.infer<typeof EvalDocument> {
  return EvalDocument.parse(JSON.parse(stdout));
}

test('a summary by a model is measured at every cut and size, and shown with its cost', async () => {
  const script = { replies: [{ text: goodSummary('mill_3_3 follows mill_7_7, as mill_5_3 does.') }] };
  const { stderr, requests, ...ran } = await ask(script, '--json');
  const { model, candidates, files } = documentOf({ stderr, ...ran });
  assert.deepEqual([model?.name, model?.asked, model?.written, model?.requests], ['fake/small', 4, 4, 4]);
  assert.equal(requests, 4);
  assert.ok((model?.input_tokens ?? 0) > 1_000 && (model?.output_tokens ?? 0) > 100);
  assert.match(
    stderr,
    /^Asking fake\/small for 4 summaries, of [\d,]+ tokens together\. Ctrl-C stops it\.$/m,
  );
  const own = candidates.filter(({ candidate }) => candidate === 'model_context');
  assert.deepEqual(
    own.map(({ budget, recall }) => [budget, recall?.cuts]),
    [
      ['1000', 2],
      ['2000', 2],
    ],
  );
  for (const { budget, recall } of own) {
    assert.ok((recall?.mean ?? 0) > 0, 'the names that it told count');
    const embedded = candidates.find((row) => row.candidate === 'context' && row.budget === budget);
    assert.notEqual(recall?.mean, embedded?.recall?.mean);
    const bound = candidates.find((row) => row.candidate === 'upper_bound' && row.budget === budget);
    assert.ok((bound?.recall?.mean ?? 0) >= (recall?.mean ?? 1));
  }
  assert.equal(files.length, 1);
});

test('a model that fails is asked three times, and is not a candidate', async () => {
  const fault = { type: 'status', status: 401, message: 'no such key' } as const;
  const { stdout, requests } = await ask({ replies: [{ fault }] });
  assert.equal(requests, 3);
  assert.match(stdout, /^Model: fake\/small wrote 0 of 3 summaries; 3 requests, /m);
  assert.match(stdout, /The newest missing summary: .*no such key/);
  assert.doesNotMatch(stdout, /Baton with a model/);
  assert.match(stdout, /Baton, whole context/);
});

test('without --model no model is asked, and the document says so', async () => {
  const ran = await baton(home, ['eval', session, '--sizes', '1k', '--cuts', '1', '--no-canaries', '--json']);
  assert.equal(documentOf(ran).model, null);
});

test('Ctrl-C during the request ends it at once', async () => {
  const server = await startProviderServer({ replies: [{ fault: { type: 'silence' } }] });
  try {
    const ended = await runBuilt(asking(server.baseUrl), {
      home,
      started: (child) => void server.request(0).then(() => child.kill('SIGINT')),
    });
    assertFailed(ended, 'interrupted');
    assert.equal(ended.stdout, '');
    assert.equal(server.requests.length, 1);
  } finally {
    await server.close();
  }
});
