// A compaction with models cannot fail: whatever the history, the windows, the answers and the faults, it ends within a
// bounded number of requests with a sound history that fits, or says exactly what does not fit. Over real HTTP, on all three
// wires, against a provider as strict as the real ones. BATON_PROOF_RUNS asks for more runs than some hundred, and
// BATON_PROOF_SEED for others.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { compactHistory } from '../../src/compaction/compact.io.ts';
import type { Compaction, CompactionWorld, Occasion, Subject } from '../../src/compaction/subject.ts';
import { itemsTokens, measureWith } from '../../src/compaction/measure.ts';
import { MOST_CHUNKS } from '../../src/compaction/summarise/ladder.ts';
import type { SummaryModel } from '../../src/compaction/summarise/summarizers.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { BatonError } from '../../src/errors.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import type { CompactionEvent } from '../../src/protocol/wire/event.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { SummaryAttempt } from '../../src/protocol/receipt.ts';
import { anthropicBody } from '../../src/providers/wires/anthropic.ts';
import { chatBody } from '../../src/providers/wires/openai-chat.ts';
import { responsesBody } from '../../src/providers/wires/openai-responses.ts';
import { DEFAULT_RETRY_POLICY } from '../../src/providers/retry.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { WIRE_APIS } from '../../src/vocabulary.ts';
import type { WireApi } from '../../src/vocabulary.ts';
import { checkAnthropic } from '../support/provider-server/anthropic-rules.ts';
import { checkChat } from '../support/provider-server/chat-rules.ts';
import { client, MODEL } from '../support/provider-server/client.ts';
import { checkResponses } from '../support/provider-server/responses-rules.ts';
import type { Fault, Reply } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import type { ProviderServer } from '../support/provider-server/server.ts';
import { recordingEmitter } from '../support/recording-emitter.ts';
import { recordsOf } from '../support/records.ts';
import { goodSummary } from '../support/summaries.ts';
import {
  anyBrokenThread,
  anyItem,
  anyText,
  anyThread,
  entriesOf,
  notationOf,
  thread,
} from '../support/thread.ts';

const PROOF = {
  seed: Number(process.env['BATON_PROOF_SEED'] ?? 20_261_121),
  numRuns: Number(process.env['BATON_PROOF_RUNS'] ?? 120),
};

/** Of one model: a rung each, the pieces and what puts them together, the newest turns; and one reminder for all. */
const MOST_REQUESTS = 3 + MOST_CHUNKS + 1 + 1;

function mostRequests({ windows }: Case): number {
  return MOST_REQUESTS * windows.length + 1;
}

/** Retries of the client in these tests, of either kind. */
const RETRIES = 1;

/** Whoever has not ended by then hangs. */
const PATIENCE_MS = 30_000;

/** What the model means, whatever the wire calls it. */
type Stop = 'cut' | 'refused';

const STOPS: Readonly<Record<WireApi, Readonly<Record<Stop, string>>>> = {
  responses: { cut: 'max_output_tokens', refused: 'content_filter' },
  chat: { cut: 'length', refused: 'content_filter' },
  anthropic: { cut: 'max_tokens', refused: 'refusal' },
};

interface Said extends Omit<Reply, 'stop'> {
  readonly stop?: Stop;
}

const anyAnswer: fc.Arbitrary<Said> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ text: goodSummary() }) },
  { weight: 1, arbitrary: fc.constant({ reasoning: 'Let me see.', text: goodSummary() }) },
  {
    weight: 1,
    arbitrary: anyText.map((text) => ({ text: goodSummary(`${text} of the lamp and the horn.`) })),
  },
  {
    weight: 1,
    arbitrary: fc.array(anyText, { maxLength: 40, size: 'max' }).map((texts) => ({ text: texts.join(' ') })),
  },
  { weight: 1, arbitrary: fc.constant({ text: 'The horn was sounded. '.repeat(2_000) }) },
  { weight: 1, arbitrary: fc.constant({ text: goodSummary('The horn was sounded. '.repeat(400)) }) },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ reasoning: 'Only thoughts.' }) },
  { weight: 1, arbitrary: fc.constant({ calls: [{ name: 'read_meter', arguments: { meter: 'oil' } }] }) },
  { weight: 1, arbitrary: fc.constant({ text: goodSummary(), calls: [{ name: 'x', arguments: '{"a' }] }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Stop>('cut', 'refused').map((stop) => ({ text: goodSummary(), stop })),
  },
);

function status(code: number, changed: Partial<Extract<Fault, { type: 'status' }>> = {}): Fault {
  return { type: 'status', status: code, ...changed };
}

const anyStatus: fc.Arbitrary<Fault> = fc.constantFrom(
  ...[400, 401, 403, 404, 408, 413, 418, 500, 501, 502, 503, 529].map((code) => status(code)),
  status(400, { message: 'Input is too long for requested model.' }),
  status(400, {
    message:
      "This model's maximum context length is 4000 tokens. However, your messages resulted in 9000 tokens.",
  }),
  status(400, { message: "This model's maximum context length is 0 tokens." }),
  status(429, { headers: { 'retry-after-ms': '1' } }),
  status(429, { headers: { 'retry-after': '9999999' } }),
  status(429, { message: 'Limit 3000, Requested 4500.' }),
  status(429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' }),
  status(302, { headers: { location: 'http://127.0.0.1:9/' } }),
);

const anyAfter = fc.nat(12);

const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 8, arbitrary: anyStatus },
  { weight: 2, arbitrary: anyAfter.map((afterEvents): Fault => ({ type: 'cut', afterEvents })) },
  { weight: 2, arbitrary: anyAfter.map((afterEvents): Fault => ({ type: 'early_end', afterEvents })) },
  { weight: 2, arbitrary: anyAfter.map((afterEvents): Fault => ({ type: 'malformed', afterEvents })) },
  { weight: 1, arbitrary: anyAfter.map((afterEvents): Fault => ({ type: 'stall', afterEvents })) },
  { weight: 1, arbitrary: fc.constant<Fault>({ type: 'silence' }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        anyAfter,
        fc.constantFrom(
          'context_length_exceeded',
          'rate_limit_exceeded',
          'overloaded_error',
          'server_error',
          'invalid_prompt',
        ),
      )
      .map(([afterEvents, code]): Fault => ({
        type: 'error_event',
        afterEvents,
        code,
        message: `It is ${code}.`,
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('text/html', 'application/json')
      .map((value): Fault => ({ type: 'content_type', value })),
  },
  { weight: 1, arbitrary: fc.constant<Fault>({ type: 'drip', bytes: 700, everyMs: 0 }) },
);

const anySaid: fc.Arbitrary<Said> = fc.oneof(
  { weight: 4, arbitrary: anyAnswer },
  { weight: 3, arbitrary: fc.tuple(anyAnswer, anyFault).map(([said, fault]) => ({ ...said, fault })) },
);

/** Enough of a past to be worth a compaction; what comes after it may be anything. */
const PAST = 'u:40 shell:3k a:400 read:3k a:40';

const anyHistory: fc.Arbitrary<readonly Item[]> = fc.oneof(
  { weight: 3, arbitrary: anyThread.map((notation) => thread(`${PAST} ${notation}`)) },
  { weight: 3, arbitrary: anyBrokenThread.map((notation) => thread(`${PAST} ${notation}`)) },
  { weight: 1, arbitrary: fc.array(anyItem, { maxLength: 40, size: 'max' }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyThread, fc.constantFrom('shell:340k', 'u:60k', 'apply_patch:90k'))
      .map(([notation, word]) => thread(`${PAST} ${word} ${notation}`)),
  },
);

const anyWindow = fc.oneof(
  fc.integer({ min: 2_000, max: 12_000 }),
  fc.integer({ min: 2_000, max: 60_000 }),
  fc.integer({ min: 60_000, max: 1_000_000 }),
);

interface Case {
  readonly history: readonly Item[];
  /** The window that Baton believes in, model by model. */
  readonly windows: readonly number[];
  readonly wires: readonly WireApi[];
  /** The window that the provider has. */
  readonly real: number | undefined;
  readonly replies: readonly Said[];
  readonly target: number | undefined;
  readonly trigger: Occasion['trigger'];
  readonly deadlineMs: number;
}

const anyCase: fc.Arbitrary<Case> = fc.record({
  history: anyHistory,
  windows: fc.array(anyWindow, { minLength: 1, maxLength: 2 }),
  wires: fc.array(fc.constantFrom(...WIRE_APIS), { minLength: 2, maxLength: 2 }),
  real: fc.option(anyWindow, { nil: undefined }),
  replies: fc.array(anySaid, { minLength: 1, maxLength: 8 }),
  target: fc.option(fc.integer({ min: 100, max: 40_000 }), { nil: undefined }),
  trigger: fc.constantFrom('manual', 'auto'),
  deadlineMs: fc.oneof(
    { weight: 9, arbitrary: fc.constant(20_000) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }) },
  ),
});

function short(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > 60 ? `${value.slice(0, 30)}…${value.slice(-20)}` : value;
}

/** A counterexample as a story: whole items would fill pages. */
function reporter<Values extends [Case, ...unknown[]]>(out: fc.RunDetails<Values>): void {
  if (!out.failed) return;
  const [each, ...rest] = out.counterexample ?? [];
  const told =
    each === undefined
      ? ''
      : `${notationOf(each.history)} ${JSON.stringify({ ...each, history: '' }, short)}`;
  const { seed, counterexamplePath, errorInstance, numRuns } = out;
  throw new Error(
    `${String(errorInstance)}\nafter ${numRuns} runs, seed ${seed}, path ${counterexamplePath}:\n${told} ${JSON.stringify(rest)}`,
    { cause: errorInstance },
  );
}

function modelsOf({ windows, wires }: Case, server: ProviderServer): readonly SummaryModel[] {
  return windows.map((window, index) => {
    const wire = wires[index] ?? 'chat';
    return {
      model: client(wire, server.baseUrl, {
        provider: `loopback${index}`,
        idleTimeoutMs: 50,
        answerTimeoutMs: 60_000,
        retry: {
          ...DEFAULT_RETRY_POLICY,
          requestMaxRetries: RETRIES,
          streamMaxRetries: RETRIES,
          baseMs: 1,
        },
      }),
      name: MODEL[wire],
      window,
      outputLimit: 16_000,
      thinks: index === 1,
      costOf: ({ input }) => input / 1e6,
    };
  });
}

function subjectOf(history: readonly Item[], window: number): Subject {
  const trail = new TrailCollector();
  for (const record of recordsOf(history)) trail.add(record);
  return {
    entries: entriesOf(history),
    window,
    leavesInitialContext: true,
    summaryPrefix: SUMMARY_PREFIX,
    session: { sessionId: undefined, transcriptPath: undefined, cwd: undefined, model: undefined },
    trail: trail.trail(),
  };
}

interface Played {
  readonly server: ProviderServer;
  readonly events: readonly CompactionEvent[];
  readonly compaction: Compaction | undefined;
  readonly error: unknown;
}

/** Plays one case. @param stopAt stops it from outside; called at every event with its number */
async function play(
  each: Case,
  stopAt?: (event: number, controller: AbortController) => void,
): Promise<Played> {
  const replies = each.replies.map(({ stop, ...said }): Reply =>
    // A script is of one wire; where two models have two, the other one hears a word that it does not know.
    stop === undefined ? said : { ...said, stop: STOPS[each.wires[0] ?? 'chat'][stop] },
  );
  const server = await startProviderServer({
    replies,
    ...(each.real === undefined ? {} : { window: each.real }),
  });
  const controller = new AbortController();
  const { events, emit } = recordingEmitter<CompactionEvent>();
  let ids = 0;
  let asked = 0;
  const world: CompactionWorld = {
    clock: { now: () => Date.now() },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}` },
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count: approximateTokens,
    counter: 'approximate',
    signal: controller.signal,
    emit: (event) => {
      emit(event);
      // What asks without end is stopped here, and found to be interrupted by nobody.
      if (event.type === 'background_event' && event.message.startsWith('Asking')) asked++;
      if (asked > mostRequests(each)) controller.abort();
      stopAt?.(events.length, controller);
    },
    summarizers: {
      models: modelsOf(each, server),
      prompts: {
        system: SHIPPED_PROMPTS['compact-system.md'],
        request: SHIPPED_PROMPTS['compact.md'],
        hasSections: true,
      },
      deadlineMs: each.deadlineMs,
    },
  };
  const occasion: Occasion = {
    trigger: each.trigger,
    reason: 'user_requested',
    phase: 'standalone_turn',
    strategy: 'full',
    why: 'A test asked.',
    ...(each.target === undefined ? {} : { targetTokens: each.target }),
  };
  const before = JSON.stringify(each.history);
  const subject = subjectOf(deepFreeze(each.history), Math.max(...each.windows));
  const ended = compactHistory(subject, occasion, DEFAULT_CONFIG, world).then(
    (compaction) => ({ compaction, error: undefined }),
    (error: unknown) => ({ compaction: undefined, error }),
  );
  try {
    const played = await Promise.race([ended, sleep(PATIENCE_MS, 'hangs' as const, { ref: false })]);
    assert.ok(played !== 'hangs', 'it does not end');
    assert.equal(JSON.stringify(each.history), before, 'the input was touched');
    return { server, events, ...played };
  } finally {
    await server.close();
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}

function assertSound(each: Case, played: Played): void {
  const { server, events, compaction, error } = played;
  const invalid = server.requests.flatMap((request) => request.invalid ?? []);
  assert.deepEqual(invalid, [], 'a request that no API takes');
  if (compaction === undefined) {
    assertExplained(error);
    assert.equal(events.filter(({ type }) => type === 'compact_failed').length, 1);
    return;
  }
  assert.ok(compaction.type === 'full', 'a manual one is full');
  const { receipt } = compaction.record;
  const { attempts = [] } = receipt;
  assertBounded(each, played, attempts);
  assertValid(compaction.items);
  const measured = itemsTokens(compaction.items, measureWith(approximateTokens, DEFAULT_ESTIMATE));
  assert.equal(measured, receipt.postTokens);
  assert.ok(measured <= (each.target ?? Infinity), `${measured} tokens for a target of ${each.target}`);
  assert.ok(measured < receipt.preTokens, 'it is smaller');
  assertReceipt(compaction);
  assert.ok(
    ['item_started', 'item_completed', 'context_compacted', 'compact_completed'].every(
      (type) => events.filter((event) => event.type === type).length === 1,
    ),
    'told once',
  );
}

function assertExplained(error: unknown): void {
  assert.ok(error instanceof BatonError, String(error));
  if (error.code === 'nothing_to_compact') return;
  assert.equal(error.code, 'cannot_fit');
  assert.match(error.message, /needs at least \d+, \d+ of them for content that is kept as it is/);
  const parts = Object.keys((error.data['parts'] ?? {}) as object);
  assert.deepEqual(parts.toSorted(), ['files', 'fixed', 'userMessages']);
}

function assertBounded(
  each: Case,
  { server: { requests }, events }: Played,
  attempts: readonly SummaryAttempt[],
): void {
  assert.ok(attempts.length <= mostRequests(each), `${attempts.length} attempts`);
  for (const { retries } of attempts) assert.ok(retries <= 2 * RETRIES, `${retries} retries`);
  const sent = attempts.reduce((sum, { retries }) => sum + 1 + retries, 0);
  const told = events.map((event) => (event.type === 'background_event' ? event.message : '')).join('\n');
  // Time may run out before a request has left.
  const isLate = /the compaction ran out of time|was silent/.test(told);
  assert.ok(
    isLate ? requests.length <= sent : requests.length === sent,
    `${requests.length} requests, ${sent} told`,
  );
  const over = attempts.findIndex(({ why = '' }) => /time for the compaction/.test(why));
  assert.ok(over === -1 || over === attempts.length - 1, 'nobody is asked after the deadline');
}

function assertValid(items: readonly Item[]): void {
  const { orphanCalls, orphanResults, duplicateResults } = findBrokenPairs(items.map(pairView));
  assert.deepEqual([orphanCalls, orphanResults, duplicateResults], [[], [], []]);
  const request = { model: 'gpt-5.1', instructions: 'You tend a lighthouse.', items, tools: [] };
  checkResponses(responsesBody(request, 'next'));
  checkChat(chatBody(request, { provider: 'next', outputLimitKey: 'max_tokens' }));
  checkAnthropic(anthropicBody({ ...request, model: MODEL.anthropic }, 'next'));
}

function assertReceipt({ record: { receipt } }: Extract<Compaction, { type: 'full' }>): void {
  const { attempts = [], model, rung, implementation, notes } = receipt;
  for (const { outcome, why } of attempts) {
    assert.equal(outcome === 'accepted', why === undefined, `${outcome}: ${why}`);
  }
  const last = attempts.at(-1);
  if (model === undefined) {
    assert.equal(implementation, 'embedded');
    assert.ok(rung === 'embedded' || rung === 'canned', rung);
    assert.match(notes.join('\n'), /No model returned a summary \(.+\)/);
  } else {
    assert.deepEqual(
      [last?.outcome, last?.model, last?.rung, last?.piece, implementation],
      ['accepted', model, rung, undefined, 'full'],
    );
  }
}

test('whatever happens, a compaction ends with a sound history that fits, or says what does not', async () => {
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyCase, async (each) => {
      const played = await play(each);
      assertSound(each, played);
      const { compaction, error } = played;
      const outcome =
        compaction?.type === 'full' ? compaction.record.receipt.rung : (error as BatonError).code;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }),
    { ...PROOF, reporter },
  );
  // A proof in which no model is ever believed, or each at once, would prove little.
  if (PROOF.numRuns < 200) return;
  for (const outcome of ['whole', 'oldest_dropped', 'embedded', 'cannot_fit']) {
    assert.ok(outcomes.has(outcome), `no ${outcome} among ${JSON.stringify(Object.fromEntries(outcomes))}`);
  }
});

test('a stop at any moment ends it at once, and nothing was changed', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyCase,
      fc.nat(9),
      fc.option(fc.nat(30), { nil: undefined }),
      async (each, at, laterMs) => {
        const { events, compaction, error, server } = await play(each, (event, controller) => {
          if (event !== at + 1) return;
          const stop = (): void => controller.abort();
          if (laterMs === undefined) stop();
          else setTimeout(stop, laterMs);
        });
        const invalid = server.requests.flatMap((request) => request.invalid ?? []);
        assert.deepEqual(invalid, []);
        if (compaction !== undefined) {
          // It had ended before the stop, or was ending.
          assert.ok(
            events.some(({ type }) => type === 'compact_completed'),
            'told whole',
          );
          return;
        }
        if (error instanceof BatonError && error.code !== 'interrupted') return assertExplained(error);
        assert.ok(error instanceof BatonError && error.code === 'interrupted', String(error));
        assert.deepEqual(
          events
            .filter(({ type }) => type === 'compact_failed')
            .map((event) => 'reason' in event && event.reason),
          ['interrupted'],
        );
        assert.ok(!events.some(({ type }) => type === 'item_completed'), 'nothing is told as done');
      },
    ),
    { ...PROOF, reporter, numRuns: Math.ceil(PROOF.numRuns / 2) },
  );
});
