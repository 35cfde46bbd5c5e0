// Clearing old tool results and repairing pairs, against the peers on the same history.

import { pruneMessages } from 'ai';
import { microCompact } from '../../src/compaction/micro/micro.ts';
import type { MicroSettings } from '../../src/compaction/micro/micro.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { AccountFold } from '../../src/history/account.ts';
import { normalizeItems } from '../../src/history/pairs.ts';
import { breakPairs, generateSteps, toItems } from '../histories.ts';
import type { Step } from '../histories.ts';
import { race, timeOnce } from '../measure.ts';
import { clearToolUses, toAiSdk, toLangChain, trimToNewest } from '../peers.ts';
import { atLeast, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import { ACCOUNT_SETTINGS } from './accounting.ts';
import type { Effort } from './suite.ts';

const CLEARING = 'Clearing old tool results';
const REPAIRING = 'Making a history valid';

/** The size, in messages, at which a target counts. */
const TARGET_SIZE = 20_000;

/** @source spec 2-engine §11: ten times faster than the peers. */
const LEAST_RATIO = 10;

const MICRO: MicroSettings = {
  minTokensToSave: DEFAULT_CONFIG.compact.microCompactMinTokensToSave,
  keepLastTools: DEFAULT_CONFIG.compact.microCompactKeepLastNTools,
  tokensPerImage: DEFAULT_CONFIG.compact.tokensPerImage,
  approxBytesPerToken: DEFAULT_CONFIG.compact.approxBytesPerToken,
};

/** The clearing and repairing rows. */
export async function* clearing(effort: Effort): AsyncGenerator<Row> {
  for (const size of effort.isQuick ? [1000, 5000] : [1000, 5000, TARGET_SIZE]) {
    const steps = generateSteps(size);
    yield* clearAt(steps, effort);
    yield* repairAt(breakPairs(steps), effort);
  }
}

async function* clearAt(steps: readonly Step[], effort: Effort): AsyncGenerator<Row> {
  const items = toItems(steps);
  const messages = toAiSdk(steps);
  const account = new AccountFold(ACCOUNT_SETTINGS);
  for (const item of items) account.add({ type: 'item', item });
  const kept: MicroSettings = { ...MICRO, kept: account };
  const alike = [MICRO, kept].map((settings) => microCompact(items, settings));
  if (!alike.every((result) => result.wasEffective && result.tokensSaved === alike[0]?.tokensSaved)) {
    throw new Error('The history is too small to be cleared, or the account counts otherwise');
  }
  const times = await race(
    {
      fresh: { run: () => microCompact(items, MICRO) },
      told: { run: () => microCompact(items, MICRO).tokensSaved },
      // In a thread that lives the account has counted every item as it came.
      living: { run: () => microCompact(items, kept).tokensSaved },
      prune: { run: () => pruneMessages({ messages, toolCalls: 'before-last-6-messages' }) },
    },
    effort.rounds,
  );
  const size = steps.length;
  const prune = `AI SDK \`pruneMessages\` ${duration(times.prune)}, which counts nothing`;
  const rowOf = (what: string, time: number): Row => {
    const figure = `${digits(times.prune / time)}× faster`;
    return {
      topic: CLEARING,
      what: `${messagesOf(size)}, ${what}`,
      baton: duration(time),
      against: prune,
      figure,
    };
  };
  const judged = (row: Row, time: number): Row => ({ ...row, ...targetAt(size, times.prune / time) });
  yield judged(rowOf('in a thread that lives, and the saving', times.living), times.living);
  yield judged(rowOf('never counted before', times.fresh), times.fresh);
  // Whoever is told what that saved pays for the counting: docs/decisions/speed.md.
  yield rowOf('never counted before, and the saving', times.told);
  const history = toLangChain(steps);
  const run = (capMs: number) => clearToolUses(history, capMs);
  yield await peerRow(
    { topic: CLEARING, peer: 'LangChain `ClearToolUsesEdit`', size, run },
    times.told,
    effort,
  );
}

async function* repairAt(steps: readonly Step[], effort: Effort): AsyncGenerator<Row> {
  const items = toItems(steps);
  const { baton } = await race({ baton: { run: () => normalizeItems(items) } }, effort.rounds);
  const history = toLangChain(steps);
  const run = (capMs: number) => trimToNewest(history, capMs);
  const size = steps.length;
  yield await peerRow({ topic: REPAIRING, peer: 'LangChain `trimMessages`', size, run }, baton, effort);
}

interface PeerRun {
  readonly topic: string;
  readonly peer: string;
  readonly size: number;
  /** False when it was stopped at the cap. */
  readonly run: (capMs: number) => Promise<boolean>;
}

/** A peer that may take minutes runs once, and is stopped at a cap: then the ratio is a lower bound. */
async function peerRow(
  { topic, peer, size, run }: PeerRun,
  batonMs: number,
  { isQuick }: Effort,
): Promise<Row> {
  const capMs = isQuick ? 3000 : 20_000;
  let isFinished = false;
  const peerMs = await timeOnce({
    run: async () => {
      isFinished = await run(capMs);
    },
  });
  const ratio = peerMs / batonMs;
  return {
    topic,
    what: messagesOf(size),
    baton: duration(batonMs),
    against: `${peer} ${isFinished ? duration(peerMs) : `stopped after ${duration(peerMs)}`}`,
    figure: `${isFinished ? '' : 'over '}${digits(ratio)}× faster`,
    ...targetAt(size, ratio),
  };
}

/** The target is about the large history; repaired ones have lost some of their messages. */
function targetAt(size: number, ratio: number): Pick<Row, 'target'> {
  return size < TARGET_SIZE * 0.9 ? {} : { target: atLeast(ratio, LEAST_RATIO, '×') };
}

function messagesOf(size: number): string {
  return `${size.toLocaleString('en-US')} messages`;
}
