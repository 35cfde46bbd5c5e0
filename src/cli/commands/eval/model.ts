// The contexts that a model writes in `baton eval --model`: the requests, their results and their cost.

import { createHash } from 'node:crypto';
import { nameOf } from '../../../compaction/summarise/ask-model.io.ts';
import type { Summarizers } from '../../../compaction/summarise/summarizers.ts';
import { tokensSpent } from '../../../compaction/completed.ts';
import { compactHistory } from '../../../compaction/compact.io.ts';
import type { Compaction } from '../../../compaction/subject.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { contextOfItems, WINDOW } from '../../../lab/eval/candidates.ts';
import { measureModel, questionsAbout } from '../../../lab/eval/measure.ts';
import type { CandidateAnswer, CutMeasurement, EvalSettings, Question } from '../../../lab/eval/measure.ts';
import { SUMMARY_PREFIX } from '../../../history/filter.ts';
import type { LogRecord } from '../../../protocol/record.ts';
import type { SummaryAttempt } from '../../../protocol/receipt.ts';
import type { CommandIo } from '../../io.ts';
import { drawProgress, eraseProgress } from '../../progress.ts';
import { formatNumber, plural, printable } from '../../style.ts';

/** The totals of all requests, over all sessions. */
export interface ModelWork {
  /** `PROVIDER/MODEL`, the first in the order of requests. */
  readonly name: string;
  /** Compactions requested, and those whose summary a model wrote. */
  readonly asked: number;
  readonly written: number;
  /** Requests that were answered or failed, and their tokens as the provider counts them. */
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars by list price; undefined without one. */
  readonly costUsd: number | undefined;
  /** Why the latest unwritten summary failed. */
  readonly why: string | undefined;
}

/** A measured session and its input. */
export interface MeasuredSession {
  readonly path: string;
  readonly records: readonly LogRecord[];
  readonly cuts: readonly CutMeasurement[];
}

/** After this many compactions in a row without a model's summary, Baton stops asking: a wrong key stays wrong. */
const MOST_FAILURES = 3;

/** What measuring with a model needs. */
export interface ModelWorld {
  readonly io: CommandIo;
  readonly config: Config;
  readonly summarizers: Summarizers;
  readonly settings: EvalSettings;
}

/**
 * Has a model compact every session at every cut to every size, one request after the other, and measures the results.
 * @throws BatonError `interrupted`, and as `compactHistory` for a configuration without a model
 */
export async function measureWithModel(
  world: ModelWorld,
  sessions: readonly MeasuredSession[],
): Promise<{ readonly sessions: readonly MeasuredSession[]; readonly work: ModelWork }> {
  const { io, summarizers, settings } = world;
  const [first] = summarizers.models;
  if (first === undefined) throw new RangeError('No model to ask');
  const name = nameOf(first);
  const { questions, tokens } = questionsAbout(sessions.flatMap(({ cuts }) => cuts));
  const usage = {
    input: tokens,
    cachedInput: 0,
    cacheWrite: 0,
    output: 0,
    reasoningOutput: 0,
    total: tokens,
  };
  const cost = first.costOf({ source: 'reported', covers: 'response', ...usage });
  io.stderr(
    `Asking ${printable(name)} for ${questions === 1 ? '1 summary' : `${formatNumber(questions)} summaries`}, ` +
      `of ${plural(tokens, 'token')} together${cost === undefined ? '' : `, about $${cost.toFixed(2)} for input`}. Ctrl-C stops it.\n`,
  );
  const tally = new Tally(name);
  const measured: MeasuredSession[] = [];
  try {
    for (const session of sessions) {
      const asking = measureModel(session.records, session.cuts, settings);
      let next = asking.next();
      while (next.done !== true) {
        drawProgress(io, `Asking ${name}`, `, summary ${tally.asked + 1} of ${questions}`);
        next = asking.next(tally.isHopeless ? undefined : await answer(world, next.value, tally));
      }
      measured.push({ ...session, cuts: next.value });
    }
  } finally {
    eraseProgress(io);
  }
  return { sessions: measured, work: tally.work() };
}

async function answer(
  { io, config, summarizers, settings }: ModelWorld,
  { situation, tokens }: Question,
  tally: Tally,
): Promise<CandidateAnswer | undefined> {
  const { entries, trail, log } = situation;
  const startedMs = settings.clock.now();
  const compaction = await compactHistory(
    {
      entries,
      window: WINDOW,
      leavesInitialContext: true,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: undefined, transcriptPath: undefined, cwd: undefined, model: undefined },
      trail,
    },
    {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      strategy: 'full',
      why: 'measured',
      targetTokens: tokens,
    },
    config,
    {
      clock: io.clock,
      ids: io.ids,
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      count: log.table.tokensOfText,
      counter: 'precise',
      signal: io.signal,
      emit: () => undefined,
      summarizers,
    },
  ).catch((error: unknown) => {
    const isRefused =
      error instanceof BatonError && (error.code === 'cannot_fit' || error.code === 'nothing_to_compact');
    if (isRefused) return undefined;
    throw error;
  });
  const isWritten = tally.add(compaction);
  return compaction === undefined || !isWritten
    ? undefined
    : {
        context: contextOfItems(compaction.items),
        milliseconds: settings.clock.now() - startedMs,
      };
}

/** Counts requests and their results. */
class Tally {
  readonly #name: string;
  readonly #attempts: SummaryAttempt[] = [];
  #asked = 0;
  #written = 0;
  #failuresInRow = 0;
  #why: string | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  get asked(): number {
    return this.#asked;
  }

  get isHopeless(): boolean {
    return this.#failuresInRow >= MOST_FAILURES;
  }

  /** @param compaction undefined where it was refused @returns whether a model wrote its summary */
  add(compaction: Compaction | undefined): boolean {
    this.#asked++;
    if (compaction?.type !== 'full') {
      this.#why = 'the context cannot be made that small';
      return false;
    }
    const { implementation, attempts = [] } = compaction.record.receipt;
    this.#attempts.push(...attempts);
    const isWritten = implementation === 'full';
    this.#failuresInRow = isWritten ? 0 : this.#failuresInRow + 1;
    if (isWritten) this.#written++;
    else this.#why = attempts.at(-1)?.why ?? 'none has room for a request';
    return isWritten;
  }

  work(): ModelWork {
    const priced = this.#attempts.flatMap(({ costUsd }) => costUsd ?? []);
    return {
      name: this.#name,
      asked: this.#asked,
      written: this.#written,
      requests: this.#attempts.length,
      ...tokensSpent(this.#attempts),
      costUsd: priced.length === 0 ? undefined : priced.reduce((sum, each) => sum + each, 0),
      why: this.#why,
    };
  }
}
