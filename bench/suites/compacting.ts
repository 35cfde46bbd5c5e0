// A compaction with a model that answers at once: from the request to `context_compacted`, which is Baton's own time and the
// way of the whole conversation over the loopback.

import { createHash } from 'node:crypto';
import { compactHistory } from '../../src/compaction/driver.ts';
import type { Occasion, Subject } from '../../src/compaction/driver.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { Model } from '../../src/ports.ts';
import { chatModel } from '../../src/providers/openai-chat.ts';
import { DEFAULT_RETRY_POLICY } from '../../src/providers/retry.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { generateSteps, toItems } from '../histories.ts';
import { passingTime, processorTime, race } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { startServer } from '../server.ts';
import type { Effort } from './suite.ts';

/** @source codex-behaviour §7: the real Codex, its own instant server, 200,000 tokens, median of 7 */
const CODEX_MS = 25;

const OCCASION: Occasion = {
  trigger: 'manual',
  reason: 'user_requested',
  phase: 'standalone_turn',
  strategy: 'full',
  why: 'A benchmark asked.',
};

/** The rows of a compaction with a model. */
export async function* compacting({ rounds, isQuick }: Effort): AsyncGenerator<Row> {
  const { port, stop } = await startServer();
  try {
    for (const tokens of isQuick ? [200_000] : [20_000, 200_000, 800_000]) {
      const history = historyOf(tokens);
      const subject = subjectOf(history, tokens);
      const run = () => compact(subject, modelAt(port));
      const { baton } = await race({ baton: { run } }, rounds, passingTime);
      const { own } = await race({ own: { run } }, rounds, processorTime);
      yield {
        topic: 'Compaction with a model that answers at once',
        what: `${digits(tokens)} tokens, from the request to \`context_compacted\``,
        baton: duration(baton),
        against: tokens === 200_000 ? `Codex 0.169 on a machine of this kind ${duration(CODEX_MS)}` : '',
        figure: `${duration(own)} of the processor`,
        ...(tokens === 200_000 ? { target: atMost(Number(digits(baton)), CODEX_MS, ' ms') } : {}),
      };
    }
  } finally {
    stop();
  }
}

function historyOf(tokens: number): readonly Item[] {
  const items = toItems(generateSteps(tokens / 40));
  let sum = 0;
  return items.slice(
    0,
    items.findIndex((item) => (sum += sumTokens(itemTokens(item))) >= tokens),
  );
}

/** A history as an engine has it that runs: its trail was kept up while it grew. */
function subjectOf(history: readonly Item[], tokens: number): Subject {
  const trail = new TrailCollector();
  for (const item of history) trail.add({ type: 'item', item });
  return {
    entries: history.map((value, seq) => ({ seq, value, isReplacement: false })),
    window: 2 * tokens,
    leavesInitialContext: true,
    summaryPrefix: SUMMARY_PREFIX,
    session: { sessionId: undefined, transcriptPath: undefined, cwd: undefined, model: undefined },
    trail: trail.trail(),
  };
}

function modelAt(port: number): Model {
  return chatModel({
    provider: 'instant',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: '',
    idleTimeoutMs: 10_000,
    answerTimeoutMs: 60_000,
    retry: DEFAULT_RETRY_POLICY,
    random: () => 0.5,
    outputLimitKey: 'max_tokens',
    newId: () => 'call_1',
  });
}

async function compact(subject: Subject, model: Model): Promise<void> {
  const compaction = await compactHistory(subject, OCCASION, DEFAULT_CONFIG, {
    clock: { now: () => Date.now() },
    ids: { uuid: () => '00000000-0000-4000-8000-000000000001' },
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count: approximateTokens,
    counter: 'approximate',
    signal: new AbortController().signal,
    emit: () => undefined,
    summarizers: {
      models: [
        {
          model,
          name: 'instant',
          window: 2 * subject.window,
          outputLimit: 8_000,
          thinks: false,
          costOf: () => undefined,
        },
      ],
      prompts: {
        system: SHIPPED_PROMPTS['compact-system.md'],
        request: SHIPPED_PROMPTS['compact.md'],
        hasSections: true,
      },
      deadlineMs: 60_000,
    },
  });
  if (compaction.type !== 'full' || compaction.record.receipt.rung !== 'whole') {
    throw new Error('The model did not write the summary');
  }
}
