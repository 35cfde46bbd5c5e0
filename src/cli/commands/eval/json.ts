// The `--json` document of `baton eval`; its schema is schema/eval.schema.json.

import type { CutMeasurement, Measurement } from '../../../lab/eval/measure.ts';
import type { CandidateRow } from '../../../lab/eval/report.ts';
import type { Estimate } from '../../../lab/eval/statistics.ts';
import type { Evaluation } from './view.ts';

/** Digits to keep: more would differ between machines before they meant anything. */
const PRECISION = 10_000;

/**
 * The document. Names are snake_case; without timings, the same files, options and version give the same bytes, except for texts
 * by a model.
 */
export function evaluationJson(evaluation: Evaluation, hasTimings: boolean) {
  const { settings, files, unread, skipped, rows, canaries, model } = evaluation;
  return {
    sizes: settings.sizes,
    regular_cuts: settings.cuts,
    seed: settings.seed,
    skipped_files: skipped,
    model:
      model === undefined
        ? null
        : {
            name: model.name,
            asked: model.asked,
            written: model.written,
            requests: model.requests,
            input_tokens: model.inputTokens,
            output_tokens: model.outputTokens,
            cost_usd: model.costUsd ?? null,
          },
    candidates: rows.map((row) => rowJson(row, hasTimings)),
    canaries:
      canaries === undefined
        ? null
        : {
            compactions: canaries.compactions,
            sessions: canaries.sessions,
            target_tokens: canaries.targetTokens,
            alive: canaries.rows.map(({ keeper, alive }) => ({ candidate: keeper, ...alive })),
          },
    files: [
      ...files.map(({ path, cuts }) => ({ path, cuts: cuts.map((cut) => cutJson(cut, hasTimings)) })),
      ...unread,
    ],
  };
}

function rowJson(row: CandidateRow, hasTimings: boolean) {
  return {
    candidate: row.candidate,
    budget: row.budget,
    recall: estimateJson(row.recall),
    recall_over_random_lines: estimateJson(row.recallOverRandom),
    recall_over_newest: estimateJson(row.recallOverNewest),
    recall_over_own_summary: estimateJson(row.recallOverOwn),
    unaided_recall: estimateJson(row.unaided),
    unaided_over_random_lines: estimateJson(row.unaidedOverRandom),
    unaided_over_newest: estimateJson(row.unaidedOverNewest),
    constraints_kept: estimateJson(row.constraints),
    artifacts: {
      files: estimateJson(row.files),
      commands: estimateJson(row.commands),
      commits: estimateJson(row.commits),
      precision: estimateJson(row.precision),
    },
    tokens: estimateJson(row.tokens),
    orphan_pairs: row.orphans ?? null,
    ...(hasTimings ? { milliseconds: round(row.milliseconds) } : {}),
  };
}

function estimateJson(estimate: Estimate | undefined) {
  if (estimate === undefined) return null;
  const { mean, interval, files, cuts } = estimate;
  return {
    mean: round(mean),
    interval: interval === undefined ? null : interval.map(round),
    files,
    cuts,
  };
}

function cutJson(cut: CutMeasurement, hasTimings: boolean) {
  return {
    kind: cut.kind,
    line: cut.line ?? null,
    past_tokens: cut.pastTokens,
    context_tokens: cut.contextTokens,
    future_uses: cut.uses,
    unaided_uses: cut.unaidedUses,
    constraints: cut.constraints,
    measurements: cut.measurements.map((measurement) => measurementJson(measurement, hasTimings)),
  };
}

function measurementJson(measurement: Measurement, hasTimings: boolean) {
  return {
    candidate: measurement.candidate,
    budget: measurement.budget,
    tokens: measurement.tokens,
    recall: round(measurement.recall),
    unaided_recall: roundAny(measurement.unaided),
    constraints_kept: roundAny(measurement.constraints),
    files: roundAny(measurement.files),
    commands: roundAny(measurement.commands),
    commits: roundAny(measurement.commits),
    precision: roundAny(measurement.precision),
    orphan_pairs: measurement.orphans ?? null,
    ...(hasTimings ? { milliseconds: round(measurement.milliseconds) } : {}),
  };
}

function round(value: number): number {
  return Math.round(value * PRECISION) / PRECISION;
}

function roundAny(value: number | undefined): number | null {
  return value === undefined ? null : round(value);
}
