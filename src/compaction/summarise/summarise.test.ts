import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatonError } from '../../errors.ts';
import type { ErrorCode } from '../../errors.ts';
import type { CancelSignal, Model } from '../../ports.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { ModelEvent, ModelRequest } from '../../protocol/model.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { goodSummary, SUMMARY_MARK } from '../../../test/support/summaries.ts';
import { thread } from '../../../test/support/thread.ts';
import { MESSAGE_OVERHEAD } from '../budget.ts';
import { summariseWithModels } from './summarise.io.ts';
import type { AskingWorld } from './ask-model.io.ts';
import type { SummaryModel } from './summarizers.ts';
import type { SummaryOrder } from './summarise.io.ts';
import { transcriptOf } from './transcript.ts';

/** What a model does with one request: events, and a failure at their end. */
type Turn = (request: ModelRequest, signal: CancelSignal) => AsyncGenerator<ModelEvent, void, undefined>;

async function* says(text: string): AsyncGenerator<ModelEvent, void, undefined> {
  yield { type: 'text_delta', text };
  yield {
    type: 'item_done',
    item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  };
  yield { type: 'completed', stopReason: 'end_turn' };
}

function fails(code: ErrorCode, data: Readonly<Record<string, unknown>> = {}): Turn {
  return () => {
    throw new BatonError(code, `It failed with ${code}.`, { data });
  };
}

const SUMMARISES: Turn = () => says(goodSummary());

const BROKEN: Turn = () => {
  throw new RangeError('A bug.');
};

interface Fake extends SummaryModel {
  readonly requests: readonly ModelRequest[];
}

/** A model that plays its turns, the last one again and again. */
function fake(turns: readonly Turn[], changed: Partial<SummaryModel> = {}): Fake {
  const requests: ModelRequest[] = [];
  const model: Model = {
    provider: 'fake',
    stream(request, signal) {
      const turn = turns[Math.min(requests.length, turns.length - 1)] ?? SUMMARISES;
      requests.push(request);
      return turn(request, signal);
    },
  };
  return {
    model,
    name: 'small',
    window: 30_000,
    outputLimit: 8_000,
    thinks: false,
    costOf: () => undefined,
    requests,
    ...changed,
  };
}

function sizeOf(item: Item): number {
  const tokens = sumTokens(itemTokens(item));
  return tokens === 0 ? 0 : tokens + MESSAGE_OVERHEAD;
}

function orderFor(notation: string, changed: Partial<SummaryOrder> = {}): SummaryOrder {
  return {
    transcript: transcriptOf(thread(notation), sizeOf),
    sizeOf,
    count: approximateTokens,
    mostTokens: 2_000,
    preserved: [],
    constraints: [],
    prompts: { system: 'You summarise.', request: 'Summarise.', hasSections: true },
    digest: () => 'The keeper asked for light.',
    cacheKey: 'key',
    ...changed,
  };
}

function world(changed: Partial<AskingWorld> = {}): AskingWorld {
  return {
    clock: { now: () => 0 },
    signal: new AbortController().signal,
    deadlineMs: 10_000,
    report: () => undefined,
    ...changed,
  };
}

function lastWords({ items }: ModelRequest): string {
  const last = items.at(-1);
  return last?.type === 'message' ? textOfParts(last.content) : '';
}

const WORK = 'u shell:3k a shell:3k a shell:3k a u:400 a:400 shell:400 a';

test('the first good answer is the summary, with who gave it', async () => {
  const model = fake([SUMMARISES]);
  const { summary, attempts } = await summariseWithModels([model], orderFor(WORK), world());
  assert.match(summary?.text ?? '', new RegExp(SUMMARY_MARK));
  assert.deepEqual([summary?.model, summary?.rung], ['fake/small', 'whole']);
  assert.deepEqual(attempts, [
    { model: 'fake/small', rung: 'whole', outcome: 'accepted', retries: 0, durationMs: 0 },
  ]);
});

test('what was stopped before it began asks nobody', async () => {
  const model = fake([SUMMARISES]);
  const signal = AbortSignal.abort();
  await assert.rejects(summariseWithModels([model], orderFor(WORK), world({ signal })), {
    code: 'interrupted',
  });
  assert.equal(model.requests.length, 0);
});

test('what is stopped between two requests asks no more, and is no failure of a model', async () => {
  const controller = new AbortController();
  const model = fake([() => says('too short'), SUMMARISES]);
  const report = (message: string): void => {
    if (message.includes('did not return a summary')) controller.abort();
  };
  await assert.rejects(
    summariseWithModels([model], orderFor(WORK), world({ signal: controller.signal, report })),
    { code: 'interrupted' },
  );
  assert.equal(model.requests.length, 1);
});

test('after the deadline nobody is asked, and what was heard of an answer does not count', async () => {
  const waits: Turn = async function* (_, signal) {
    yield { type: 'text_delta', text: goodSummary() };
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    throw new BatonError('interrupted', 'Stopped.');
  };
  const [first, second] = [fake([waits]), fake([SUMMARISES], { name: 'other' })];
  const { summary, attempts } = await summariseWithModels(
    [first, second],
    orderFor(WORK),
    world({ deadlineMs: 20 }),
  );
  assert.equal(summary, undefined);
  assert.equal(second.requests.length, 0);
  assert.deepEqual(
    attempts.map(({ outcome, why }) => [outcome, why]),
    [['failed', 'the compaction ran out of time']],
  );
});

test('an account without credit is asked once, a limit per minute is met by a smaller request', async () => {
  const facts = { status: 429, isUnmeetable: true };
  const poor = fake([fails('model_rate_limit', { ...facts, providerCode: 'insufficient_quota' })]);
  const { attempts } = await summariseWithModels([poor], orderFor(WORK), world());
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ['failed'],
  );
  for (const data of [facts, { isUnmeetable: true }]) {
    const slow = fake([fails('model_rate_limit', data), SUMMARISES]);
    const { summary } = await summariseWithModels([slow], orderFor(WORK), world());
    assert.ok(summary !== undefined, 'the second request is smaller');
    const [whole, less] = slow.requests.map(({ items }) =>
      items.reduce((sum, item) => sum + sizeOf(item), 0),
    );
    assert.ok((less ?? 0) < (whole ?? 0) * 0.6, `${less} after ${whole}`);
  }
});

test('a model that does not take pictures or reasoning is asked without them, an unknown one is not', async () => {
  const picky = fake([fails('model_invalid_request', { status: 400 }), SUMMARISES]);
  const { summary, attempts } = await summariseWithModels([picky], orderFor('u+img r shell:3k a'), world());
  assert.equal(summary?.rung, 'results_cleared');
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ['failed', 'accepted'],
  );
  const types = picky.requests[1]?.items.flatMap((item) =>
    item.type === 'message' ? item.content.map(({ type }) => type) : item.type,
  );
  assert.ok(!types?.includes('input_image') && !types?.includes('reasoning'), String(types));
  const unknown = fake([fails('model_invalid_request', { status: 404 })]);
  await summariseWithModels([unknown], orderFor('u+img r shell:3k a'), world());
  assert.equal(unknown.requests.length, 1);
});

test('an endless answer is not read to its end, in deltas or in whole messages', async () => {
  let said = 0;
  const item: Item = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'x'.repeat(900) }],
  };
  const floods: readonly Turn[] = [
    async function* () {
      for (;;) {
        said += 900;
        yield { type: 'text_delta', text: 'x'.repeat(900) };
      }
    },
    async function* () {
      for (;;) {
        said += 900;
        yield { type: 'item_done', item };
      }
    },
  ];
  for (const flood of floods) {
    said = 0;
    const { summary, attempts } = await summariseWithModels([fake([flood])], orderFor(WORK), world());
    assert.equal(summary, undefined);
    assert.deepEqual(
      attempts.map(({ outcome, why }) => [outcome, why]),
      [
        ['defect', 'it was cut off'],
        ['defect', 'it was cut off'],
      ],
    );
    assert.ok(said < 200_000, `${said} characters`);
  }
});

test('what was said before a request is sent again does not count', async () => {
  const again: Turn = async function* () {
    yield* says('half of an ans');
    yield { type: 'restarted', retry: 1, maxRetries: 5, delayMs: 1, why: 'It broke off.' };
    yield* says(goodSummary());
  };
  const { summary, attempts } = await summariseWithModels([fake([again])], orderFor(WORK), world());
  assert.doesNotMatch(summary?.text ?? 'half of an ans', /half of an ans/);
  assert.equal(attempts[0]?.retries, 1);
});

const PIECES = Array.from({ length: 30 }, () => 'u:400 a:400').join(' ');

test('pieces are of one size though more and more was said of them, and their summaries fit together', async () => {
  const long = `${'The horn was sounded. '.repeat(3_000)}`;
  const turns: readonly Turn[] = [
    fails('model_overflow'),
    fails('model_overflow'),
    ...Array.from(
      { length: 9 },
      (): Turn => (request) =>
        says(lastWords(request).startsWith('This is part') ? long.slice(0, 20_000) : goodSummary()),
    ),
  ];
  const model = fake(turns, { window: 100_000 });
  const { summary, attempts } = await summariseWithModels([model], orderFor(PIECES), world());
  assert.equal(summary?.rung, 'chunked', JSON.stringify(attempts));
  const pieces = model.requests.filter((request) => lastWords(request).startsWith('This is part'));
  const shown = pieces.flatMap(({ items }) => items.slice(0, -1).map((item) => JSON.stringify(item)));
  assert.ok(pieces.length >= 4, `${pieces.length} pieces`);
  assert.equal(new Set(shown).size, shown.length, 'nothing is shown twice');
  assert.equal(shown.length, 60, 'and everything once');
  const reduce = model.requests.at(-1);
  assert.ok(reduce !== undefined && lastWords(reduce).includes('Summary of part 1:'), 'put together');
  const room = Math.max(...pieces.map(({ items }) => items.reduce((sum, item) => sum + sizeOf(item), 0)));
  assert.ok(
    approximateTokens(lastWords(reduce)) <= room,
    `${approximateTokens(lastWords(reduce))} in ${room}`,
  );
});

test('a failure that is nobody’s but ours is not swallowed', async () => {
  await assert.rejects(summariseWithModels([fake([BROKEN])], orderFor(WORK), world()), RangeError);
});
