// A compaction with a model that answers at once: from the request to its end, which is the time of Baton and of Codex and the
// way of the whole conversation over the loopback.

import { createHash } from 'node:crypto';
import { compactHistory } from '../../src/compaction/compact.io.ts';
import type { Occasion, Subject } from '../../src/compaction/subject.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { Model } from '../../src/ports.ts';
import { chatModel } from '../../src/providers/wires/openai-chat.ts';
import { DEFAULT_RETRY_POLICY } from '../../src/providers/retry.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { generateSteps, toItems } from '../histories.ts';
import { CodexServer } from '../codex.ts';
import type { Took } from '../codex.ts';
import { median, passingTime, processorTime } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { startServer } from '../server.ts';
import { withFolder } from '../session-files.ts';
import type { Effort } from './suite.ts';

const OCCASION: Occasion = {
  trigger: 'manual',
  reason: 'user_requested',
  phase: 'standalone_turn',
  strategy: 'full',
  why: 'A benchmark asked.',
};

/** Compactions that warm each side up. */
const WARM_UPS = 40;

/** The rows of a compaction with a model, beside the real Codex where it is installed. */
export async function* compacting({ rounds, isQuick }: Effort): AsyncGenerator<Row> {
  const { port, stop } = await startServer();
  try {
    yield* await withFolder(async (folder) => {
      const codex = await CodexServer.start(folder, `http://127.0.0.1:${port}`);
      if (codex === undefined) console.error('  Codex is not installed, or this is not Linux: Baton alone');
      const rows: Row[] = [];
      try {
        for (const tokens of isQuick ? [200_000] : [20_000, 200_000, 800_000]) {
          rows.push(...(await compare(tokens, { port, codex }, rounds)));
        }
      } finally {
        codex?.stop();
      }
      return rows;
    });
  } finally {
    stop();
  }
}

/** Both sides compact the same history in turns, each in a process that has done so before. */
async function compare(
  tokens: number,
  { port, codex }: { readonly port: number; readonly codex: CodexServer | undefined },
  rounds: number,
): Promise<readonly Row[]> {
  const history = historyOf(tokens);
  const subject = subjectOf(history, tokens);
  const baton: Took[] = [];
  const other: Took[] = [];
  for (let round = -WARM_UPS; round < 2 * rounds; round++) {
    const own = await timed(() => compact(subject, modelAt(port)));
    // Codex comes compiled: it needs few.
    const its = round < -WARM_UPS / 8 ? undefined : await codex?.compact(history);
    if (round < 0) continue;
    baton.push(own);
    if (its !== undefined) other.push(its);
  }
  return (['passing', 'processor'] as const).map((clock): Row => {
    const [mine, theirs] = [baton, other].map((took) => median(took.map((one) => one[clock])));
    const ratio = (mine ?? Number.NaN) / (theirs ?? Number.NaN);
    const kind = clock === 'passing' ? 'time that passes' : 'processor time';
    return {
      topic: 'Compaction with a model that answers at once',
      what: `${digits(tokens)} tokens, from the request to its end, ${kind}`,
      baton: duration(mine ?? Number.NaN),
      against: codex === undefined ? '' : `Codex ${duration(theirs ?? Number.NaN)}`,
      figure: codex === undefined ? '' : `${digits(ratio)}× its time`,
      ...(codex !== undefined && tokens === 200_000 && clock === 'passing'
        ? { target: atMost(ratio, 1, '×') }
        : {}),
    };
  });
}

async function timed(run: () => Promise<void>): Promise<Took> {
  const [passing, processor] = [passingTime(), processorTime()];
  await run();
  return { passing: passingTime() - passing, processor: processorTime() - processor };
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
