// `baton eval`: how much of what the agent used later survives a compaction, on the user's own sessions.

import { setImmediate } from 'node:timers/promises';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { runCanaries } from '../../../lab/eval/canaries.ts';
import type { CanaryReport } from '../../../lab/eval/canaries.ts';
import { measureSession } from '../../../lab/eval/measure.ts';
import type { CutMeasurement, EvalSettings } from '../../../lab/eval/measure.ts';
import { summarizeFiles } from '../../../lab/eval/report.ts';
import { withoutUndoneTurns } from '../../../history/undone.ts';
import type { LogRecord } from '../../../protocol/record.ts';
import { loadTokenizer } from '../../../tokens/tokenizer.io.ts';
import { measureWithModel } from './model.ts';
import type { MeasuredSession } from './model.ts';
import type { Evaluation } from './view.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { drawProgress, eraseProgress } from '../../progress.ts';
import { findSessions, visitSessions } from '../../session-files/paths.io.ts';
import { withSource } from '../../../calls/session-source.ts';
import { modelWorld, readSession, warnOfDamage } from '../../session-files/session.ts';
import { openSummarizers } from '../../../calls/summarizers.ts';

/** The options of the command, as the user gave them. */
export interface EvalFlags {
  readonly cuts: number;
  readonly sizes: readonly number[];
  readonly seed: number;
  readonly json?: true;
  /** Add milliseconds to the JSON, which then differs between runs. */
  readonly timings?: true;
  readonly canaries: boolean;
  /** `PROVIDER/MODEL`, `PROVIDER` or `embedded`. */
  readonly model?: string;
}

/**
 * Measures files one after the other; an unreadable file is explained and skipped.
 * @throws BatonError `usage`; `tokenizer_missing`; as `openSummarizers`; the error of the only file; `session_empty`;
 * `interrupted` between two cuts or canaries
 */
export async function evaluate(
  io: CommandIo,
  config: Config,
  paths: readonly string[],
  flags: EvalFlags,
): Promise<ExitStatus> {
  if (flags.timings === true && flags.json !== true) {
    throw new BatonError('usage', '--timings adds milliseconds to the JSON, and no JSON is printed', {
      cure: 'Add --json, or omit --timings.',
    });
  }
  const settings: EvalSettings = {
    sizes: [...new Set(flags.sizes)].toSorted((a, b) => a - b),
    cuts: flags.cuts,
    seed: flags.seed,
    count: await loadTokenizer(),
    clock: io.clock,
  };
  const summarizers = await openSummarizers(
    modelWorld(io),
    config,
    flags.model === undefined ? {} : { model: flags.model },
  );
  const sessions = await findSessions(paths);
  const { results, unread, skipped } = await visitSessions(io, sessions, async (path, place) => {
    const { records, cuts } = await measureFile(io, { path, place }, settings);
    return { path, cuts, records: summarizers === undefined ? [] : records };
  });
  const asked =
    summarizers === undefined || results.every(({ cuts }) => cuts.length === 0)
      ? undefined
      : await measureWithModel({ io, config, summarizers, settings }, results);
  const files = (asked?.sessions ?? results).map(({ path, cuts }) => ({ path, cuts }));
  // On a terminal, say that nothing could be measured without computing results that would not be shown.
  const isShown = flags.json === true || files.some(({ cuts }) => cuts.length > 0);
  const evaluation: Evaluation = {
    settings: { sizes: settings.sizes, cuts: settings.cuts, seed: settings.seed },
    files,
    unread,
    skipped,
    rows: summarizeFiles(files, settings.seed),
    ...(asked === undefined ? {} : { model: asked.work }),
    ...(isShown && flags.canaries ? { canaries: await plantCanaries(io, settings) } : {}),
  };
  if (flags.json === true) {
    const { evaluationJson } = await import('./json.ts');
    io.stdout(`${JSON.stringify(evaluationJson(evaluation, flags.timings === true), null, 2)}\n`);
  } else {
    const { renderEvaluation } = await import('./view.ts');
    io.stdout(renderEvaluation(evaluation, io.look, io.homeDirectory));
  }
  return unread.length > 0 ? 1 : 0;
}

async function measureFile(
  io: CommandIo,
  { path, place }: { readonly path: string; readonly place: string },
  settings: EvalSettings,
): Promise<Omit<MeasuredSession, 'path'>> {
  const records: LogRecord[] = [];
  const report = await withSource(io, path, (source) =>
    readSession(io, source, (record) => records.push(record)),
  );
  warnOfDamage(io, path, report);
  const standing = withoutUndoneTurns(records);
  const cuts: CutMeasurement[] = [];
  try {
    drawProgress(io, `Measuring ${path}`, place);
    for (const cut of measureSession(standing, settings)) {
      cuts.push(cut);
      drawProgress(io, `Measuring ${path}`, `${place}, cut ${cuts.length}`);
      await giveTurn(io);
    }
  } finally {
    eraseProgress(io);
  }
  return { records: standing, cuts };
}

async function plantCanaries(io: CommandIo, { seed, count }: EvalSettings): Promise<CanaryReport> {
  const run = runCanaries(seed, count);
  try {
    for (;;) {
      const { done, value } = run.next();
      if (done === true) return value;
      drawProgress(io, 'Planting canaries', `, session ${value}`);
      await giveTurn(io);
    }
  } finally {
    eraseProgress(io);
  }
}

/** Lets Ctrl-C through: the work between two calls is one synchronous computation. */
async function giveTurn(io: CommandIo): Promise<void> {
  await setImmediate();
  if (io.signal.aborted) throw new BatonError('interrupted', 'Interrupted');
}
