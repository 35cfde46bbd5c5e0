// The document of `baton eval --json`.
// No command loads this: tests validate the command's output against it, and schema/ is generated from it.

import * as z from 'zod';
import { KEEPERS } from '../../lab/eval/canaries.ts';
import { CANDIDATES } from '../../lab/eval/candidates.ts';
import { tokens, share } from './figures.ts';

const anyShare = share.nullable().meta({ description: 'null where there was nothing to measure' });

const estimate = z
  .strictObject({
    mean: z.number(),
    interval: z
      .array(z.number())
      .length(2)
      .nullable()
      .meta({ description: '95 % bootstrap interval over files; null with fewer than two' }),
    files: z.int().min(1),
    cuts: z.int().min(1),
  })
  .nullable();

const budget = z.string().meta({
  description:
    'tokens, or own_summary (the size of the summary that the agent wrote there), or none (its own size)',
});

const timing = z.number().min(0).optional().meta({ description: 'wall time; with --timings only' });

/** `baton eval --json`. */
export const EvalDocument = z
  .strictObject({
    sizes: z.array(tokens),
    regular_cuts: z.int().min(0),
    seed: z.int().min(0),
    skipped_files: z.int().min(0).meta({ description: 'files of directories that are not sessions' }),
    model: z
      .strictObject({
        name: z.string(),
        asked: z.int().min(0).meta({ description: 'compactions: one at each cut for each size' }),
        written: z.int().min(0).meta({ description: 'those with a summary by a model' }),
        requests: z.int().min(0),
        input_tokens: tokens,
        output_tokens: tokens,
        cost_usd: z.number().min(0).nullable().meta({ description: 'by list price; null without one' }),
      })
      .nullable()
      .meta({ description: 'null without --model' }),
    candidates: z.array(
      z.strictObject({
        candidate: z.enum(CANDIDATES),
        budget,
        recall: estimate,
        recall_over_random_lines: estimate.meta({ description: 'paired difference at the same cuts' }),
        recall_over_newest: estimate.meta({ description: 'paired difference at the same cuts' }),
        recall_over_own_summary: estimate.meta({
          description: "paired difference to the agent's own summary, at its size",
        }),
        unaided_recall: estimate.meta({ description: 'at regular cuts only' }),
        unaided_over_random_lines: estimate,
        unaided_over_newest: estimate,
        constraints_kept: estimate,
        artifacts: z.strictObject({
          files: estimate,
          commands: estimate,
          commits: estimate,
          precision: estimate,
        }),
        tokens: estimate,
        orphan_pairs: z.int().min(0).nullable().meta({ description: 'sum over all cuts' }),
        milliseconds: timing,
      }),
    ),
    canaries: z
      .strictObject({
        compactions: z.int(),
        sessions: z.int(),
        target_tokens: tokens,
        alive: z
          .array(
            z.strictObject({
              candidate: z.enum(KEEPERS),
              rule: share,
              cap: share,
              path: share,
              id: share,
              decision: share,
              superseded: share,
            }),
          )
          .meta({
            description: 'share of the sessions that still mentioned the fact after the last compaction',
          }),
      })
      .nullable(),
    files: z.array(
      z.union([
        z.strictObject({
          path: z.string(),
          cuts: z.array(
            z.strictObject({
              kind: z.enum(['compaction', 'regular']),
              line: z.int().nullable(),
              past_tokens: tokens,
              context_tokens: tokens,
              future_uses: z.int(),
              unaided_uses: z.int(),
              constraints: z.int(),
              measurements: z.array(
                z.strictObject({
                  candidate: z.enum(CANDIDATES),
                  budget,
                  tokens,
                  recall: share,
                  unaided_recall: anyShare,
                  constraints_kept: anyShare,
                  files: anyShare,
                  commands: anyShare,
                  commits: anyShare,
                  precision: anyShare,
                  orphan_pairs: z.int().min(0).nullable(),
                  milliseconds: timing,
                }),
              ),
            }),
          ),
        }),
        z.strictObject({ path: z.string(), error: z.record(z.string(), z.unknown()) }),
      ]),
    ),
  })
  .meta({ title: 'baton eval --json' });
