// The document of `baton replay --json`.
// No command loads this: tests validate the command's output against it, and schema/ is generated from it.

import * as z from 'zod';
import { PLACES } from '../../lab/replay/outcome.ts';
import {
  BOUNDARIES,
  DECISION_POINTS,
  FORMATS,
  PHASES,
  TIERS,
  TRIGGERS,
  VERDICT_REASONS,
} from '../../vocabulary.ts';
import { tokens, byCategory, share } from './figures.ts';
import { besideItems, evidence } from './session.ts';

const bill = z.strictObject({
  requests: z.int().min(0).meta({ description: 'including those that the policy added' }),
  input_tokens: tokens,
  cached_tokens: tokens.meta({ description: 'the part of the input that a prompt cache would have held' }),
  output_tokens: tokens,
  usd: z.number().min(0).nullable().meta({ description: 'null where a model has no list price' }),
});

const replaySignal = z.strictObject({
  boundary: z.enum(BOUNDARIES),
  turn: z.int().min(0),
  line: z.int().min(1).nullable(),
  evidence,
});

const gaugePercent = z.int().min(0).max(100);

const anyRecall = share.nullable().meta({
  description: 'share of what was used later that the context still held; null where not measured',
});

/** `baton replay --json`. */
export const ReplayDocument = z
  .strictObject({
    prices_as_of: z.string().meta({ description: 'day of the list prices' }),
    policies: z.array(z.string()),
    skipped_files: z.int().min(0).meta({ description: 'files of directories that are not sessions' }),
    totals: z.array(
      z.strictObject({
        policy: z.string(),
        sessions: z.int().min(0),
        compactions: z
          .strictObject({ boundary: z.int(), mid_work: z.int(), emergency: z.int() })
          .meta({ description: 'of both kinds, by place' }),
        micro_compactions: z.int().min(0),
        mean_peak_share: z.number().min(0),
        mean_tokens: tokens,
        mean_post_tokens: tokens.nullable(),
        recall: z.strictObject({ mean: share, compactions: z.int().min(1) }).nullable(),
        overflowed_sessions: z.int().min(0),
        overflowed_requests: z.int().min(0),
        bill,
        priced_sessions: z
          .int()
          .min(0)
          .meta({ description: 'sessions whose models have a list price; the dollars cover only these' }),
      }),
    ),
    sessions: z.array(
      z.union([
        z.strictObject({
          path: z.string(),
          format: z.enum(FORMATS),
          model: z.string().nullable(),
          window: tokens,
          turns: z.int().min(0),
          requests: z.int().min(0),
          items: z.int().min(0),
          usage_from: z.enum(['reported', 'estimated']),
          started_at: z.string().nullable(),
          ended_at: z.string().nullable(),
          damaged_lines: z.int().min(0),
          gauge: z
            .strictObject({ used: tokens, usable: tokens, percent_remaining: gaugePercent })
            .meta({ description: 'of the recorded context at its end, as `baton inspect` has it' }),
          categories: byCategory,
          beside_items: besideItems,
          recorded: z
            .array(z.tuple([z.int(), z.int(), tokens]))
            .meta({ description: 'turn, request and tokens of the recorded context at each request' }),
          own_compactions: z.array(
            z.strictObject({
              kind: z.enum(['full', 'micro']),
              turn: z.int().min(0),
              request: z.int().min(0),
              line: z.int().min(1).nullable(),
              trigger: z.enum(TRIGGERS).nullable(),
              phase: z.enum(PHASES).nullable(),
              is_inside_turn: z.boolean(),
              pre_tokens: tokens,
              post_tokens: tokens,
              recall: anyRecall,
            }),
          ),
          boundaries: z.array(replaySignal.extend({ request: z.int().min(0) })),
          policies: z.array(
            z.strictObject({
              policy: z.string(),
              peak_tokens: tokens,
              peak_share: z.number().min(0),
              mean_tokens: tokens,
              bill,
              overflow: z
                .strictObject({
                  turn: z.int().min(0),
                  request: z.int().min(1),
                  line: z.int().min(1).nullable(),
                  requests: z.int().min(1).meta({ description: 'requests that did not fit into the window' }),
                })
                .nullable(),
              compactions: z.array(
                z.strictObject({
                  kind: z.enum(['full', 'micro']),
                  point: z.enum(DECISION_POINTS),
                  place: z.enum(PLACES).meta({
                    description:
                      'boundary: at a pause in the work, as the recording shows; mid_work: in the middle of it; emergency: in the middle, and the policy classified it as an emergency',
                  }),
                  turn: z.int().min(0),
                  request: z.int().min(0),
                  line: z.int().min(1).nullable(),
                  at: z.string().nullable(),
                  tier: z.enum(TIERS).nullable(),
                  percent_remaining: gaugePercent,
                  pre_tokens: tokens,
                  post_tokens: tokens,
                  open_calls: z
                    .int()
                    .min(0)
                    .meta({ description: 'calls that waited for results; 0, or a pair would be cut' }),
                  recall: anyRecall,
                  why: z.string(),
                  signals: z.array(replaySignal),
                }),
              ),
              decisions: z
                .array(
                  z.strictObject({
                    point: z.enum(DECISION_POINTS),
                    turn: z.int().min(0),
                    request: z.int().min(0),
                    line: z.int().min(1).nullable(),
                    used_tokens: tokens,
                    percent_remaining: gaugePercent,
                    tier: z.enum(TIERS).nullable(),
                    required: z.array(z.enum(BOUNDARIES)),
                    signals: z.array(replaySignal),
                    should_compact: z.boolean(),
                    reason: z.enum(VERDICT_REASONS),
                    why: z.string(),
                    evaluations: z.int().min(1).meta({
                      description: 'how many in a row had the same result; the numbers are those of the last',
                    }),
                  }),
                )
                .meta({ description: 'every decision of a watcher, in order; empty for a plain limit' }),
              gauge: z
                .array(z.tuple([z.int().min(0), z.int().min(1), tokens]))
                .meta({ description: 'turn, request, tokens in the context' }),
            }),
          ),
        }),
        z.strictObject({ path: z.string(), error: z.record(z.string(), z.unknown()) }),
      ]),
    ),
  })
  .meta({ title: 'baton replay --json' });
