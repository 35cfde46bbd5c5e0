// The documents that `--json` prints, as schemas: the source of schema/*.schema.json. No command loads this file; the
// tests hold what commands print against it.

import * as z from 'zod';
import {
  BOUNDARIES,
  CATEGORIES,
  DECISION_POINTS,
  FORMATS,
  HOOK_EVENTS,
  IMPLEMENTATIONS,
  PHASES,
  PRESSURES,
  REASONS,
  RUNGS,
  STRATEGIES,
  TIERS,
  TRIGGERS,
  VERDICT_REASONS,
} from '../vocabulary.ts';
import { ERROR_CODES } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { KEEPERS } from '../eval/canaries.ts';
import { CANDIDATES } from '../eval/candidates.ts';
import type { PromptState } from '../prompts/load.ts';
import { PROMPT_NAMES } from '../prompts/shipped.ts';
import { PLACES } from '../replay/outcome.ts';
import { AGENTS } from './agents.ts';

const tokens = z.int().min(0).meta({ description: 'tokens' });
const byCategory = z.partialRecord(z.enum(CATEGORIES), tokens);

const damage = z.strictObject({
  line: z.int().min(1),
  kind: z.string(),
  message: z.string(),
  lost: z.boolean().meta({ description: 'whether bytes could not be read as anything' }),
});

const receiptEntry = z.strictObject({
  items: z.array(z.tuple([z.int(), z.int()])).meta({ description: 'positions in the log, closed ranges' }),
  count: z.int().min(0),
  tokens,
  byCategory,
});

/** A receipt, as it stands in session files and `--json` documents. */
export const ReceiptDocument = z
  .strictObject({
    version: z.literal(1),
    id: z.string(),
    at: z.string().meta({ description: 'ISO 8601' }),
    trigger: z.enum(TRIGGERS),
    reason: z.enum(REASONS),
    phase: z.enum(PHASES),
    strategy: z.enum(STRATEGIES),
    implementation: z.enum(IMPLEMENTATIONS),
    rung: z.enum(RUNGS),
    model: z.string().optional().meta({ description: 'PROVIDER/MODEL that wrote the summary' }),
    attempts: z
      .array(
        z.strictObject({
          model: z.string(),
          rung: z.enum(RUNGS),
          piece: z.int().min(1).optional(),
          outcome: z.enum(['accepted', 'defect', 'too_large', 'refused', 'failed']),
          why: z.string().optional(),
          retries: z.int().min(0),
          inputTokens: tokens.optional(),
          cachedInputTokens: tokens.optional(),
          outputTokens: tokens.optional(),
          costUsd: z.number().optional(),
          durationMs: z.number(),
        }),
      )
      .optional()
      .meta({ description: 'every request to a model, the failed ones too' }),
    counter: z.enum(['precise', 'approximate']),
    why: z.string().meta({ description: 'the numbers behind the decision, as one sentence' }),
    window: tokens,
    targetTokens: tokens.optional(),
    preTokens: tokens,
    postTokens: tokens,
    inputSha256: z.string(),
    summaryTokens: tokens,
    kept: receiptEntry,
    summarised: receiptEntry,
    dropped: receiptEntry,
    restoredFiles: z.array(
      z.strictObject({ path: z.string(), tokens, sha256: z.string(), note: z.string().optional() }),
    ),
    redactions: z.record(z.string(), z.int()).meta({ description: 'known secrets replaced, by kind' }),
    guards: z.array(z.string()),
    notes: z.array(z.string()),
    hooks: z
      .array(
        z.strictObject({
          event: z.enum(HOOK_EVENTS),
          command: z.string(),
          outcome: z.enum(['done', 'vetoed', 'overruled', 'failed', 'timed_out', 'interrupted']),
          durationMs: z.number(),
        }),
      )
      .optional()
      .meta({ description: 'hooks that ran before the result was committed' }),
    durationMs: z.number().optional(),
  })
  .meta({ title: 'Receipt', description: 'Why a compaction ran and what it did.' });

const evidence = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    command: z.string().meta({ description: 'one line, shortened, known secrets replaced' }),
    exit_status: z
      .int()
      .nullable()
      .meta({ description: 'of the script that the command was in; null where not recorded' }),
    told_by: z.enum(['status', 'output']).meta({
      description:
        "what says that the command succeeded: the script's status, or git's own words in the output",
    }),
    hash: z.string().nullable().meta({ description: 'of the commit, where git reported it' }),
  }),
  z.strictObject({
    type: z.literal('plan'),
    completed: z.array(z.string()).meta({ description: 'the steps that this update completed' }),
    done: z.int().min(0),
    steps: z.int().min(0),
  }),
  z.strictObject({ type: z.literal('phase'), summary: z.string() }),
  z.strictObject({ type: z.literal('phrase'), phrase: z.string(), sentence: z.string() }),
  z.strictObject({ type: z.literal('turn'), turn_id: z.string().nullable() }),
]);

/** `baton inspect --json` for one file; several files give an array of it. */
export const InspectDocument = z
  .strictObject({
    path: z.string(),
    format: z.enum(FORMATS),
    producer_version: z.string().nullable(),
    session_id: z.string().nullable(),
    model: z.string().nullable(),
    cwd: z.string().nullable(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    file: z.strictObject({
      bytes: z.int(),
      lines: z.int(),
      records: z.int(),
      opaque_lines: z
        .record(z.string(), z.int())
        .meta({ description: 'lines that carry no history, by kind' }),
      has_grown: z.boolean(),
      damage: z.array(damage),
    }),
    window: z.strictObject({
      raw: tokens,
      usable: tokens,
      known_from: z.enum(['configured', 'recorded', 'model', 'unknown']),
    }),
    gauge: z.strictObject({
      used: tokens,
      anchor: z.enum(['reported', 'estimated', 'none']),
      percent_remaining: z.int().min(0).max(100),
      pressure: z.enum(PRESSURES),
      auto_compact_threshold: tokens,
      percent_until_auto_compact: z.int().min(0).max(100),
      median_error: z.number().nullable().meta({
        description:
          'median relative error of the gauge against reported usage, predicted before each report',
      }),
      samples: z.int(),
      rejected_samples: z.array(z.strictObject({ line: z.int().optional(), why: z.string() })),
    }),
    counter: z.enum(['precise', 'approximate']),
    categories: byCategory,
    tools: z.array(z.strictObject({ tool: z.string(), results: z.int(), tokens })),
    unrecorded: z.int().nullable().meta({
      description: 'reported tokens that no item of the file explains: system prompt, tools; may be negative',
    }),
    turns: z.int(),
    points: z.array(
      z.strictObject({
        turn: z.int(),
        line: z.int().nullable(),
        used: tokens,
        percent_remaining: z.int().min(0).max(100),
      }),
    ),
    compactions: z.array(
      z.strictObject({
        id: z.string(),
        kind: z.enum(['full', 'micro']),
        line: z.int().nullable(),
        at: z.string().nullable(),
        turn: z.int(),
        trigger: z.enum(TRIGGERS).nullable(),
        phase: z.enum(PHASES).nullable(),
        pre_tokens: tokens,
        post_tokens: tokens,
        summary: z.enum(['readable', 'encrypted', 'shadowed', 'none']),
        summary_tokens: tokens,
        items_before: z.int(),
        items_after: z.int(),
        cleared_results: z.int(),
        is_undone: z.boolean(),
        explanation: z.string(),
        receipt: ReceiptDocument.nullable(),
      }),
    ),
    boundaries: z
      .array(
        z.strictObject({
          boundary: z.enum(BOUNDARIES),
          turn: z.int().min(0),
          line: z.int().min(1).nullable(),
          evidence,
        }),
      )
      .meta({ description: 'moments at which work could have been interrupted, in order' }),
    broken_pairs: z.strictObject({
      orphan_calls: z.int(),
      orphan_results: z.int(),
      duplicate_results: z.int(),
    }),
    recorded: z
      .strictObject({
        items: z.int(),
        side_items: z.int(),
        user_messages: z.int(),
        harness_messages: z.int(),
        assistant_messages: z.int(),
        reasoning: z.int(),
        calls: z.int(),
        results: z.int(),
        unknown_items: z.int(),
      })
      .meta({ description: 'counts over the whole file, whatever is still in the context' }),
  })
  .meta({ title: 'baton inspect --json' });

/** `baton sessions --json`. */
export const SessionsDocument = z
  .strictObject({
    total: z.int(),
    sessions: z.array(
      z.strictObject({
        agent: z.enum(AGENTS),
        path: z.string(),
        bytes: z.int(),
        modified_at: z.string(),
        used: tokens.nullable(),
        percent_remaining: z.int().min(0).max(100).nullable(),
        cwd: z.string().nullable(),
        model: z.string().nullable(),
      }),
    ),
  })
  .meta({ title: 'baton sessions --json' });

/** `baton doctor --json`. */
export const DoctorDocument = z
  .strictObject({
    findings: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['ok', 'absent', 'broken']),
        detail: z.string(),
        cure: z.string().optional(),
      }),
    ),
  })
  .meta({ title: 'baton doctor --json' });

const failure = z.strictObject({
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]).meta({ description: 'stable' }),
  message: z.string(),
  cure: z.string(),
  data: z.record(z.string(), z.unknown()).meta({ description: 'facts behind the message' }),
});

/** What every command prints in place of its document when it fails with `--json`. */
export const ErrorDocument = z.strictObject({ error: failure }).meta({ title: 'baton --json, failed' });

/** `baton inspect --json` for several files: what each holds, or why it cannot be told. */
export const InspectManyDocument = z.array(
  z.union([InspectDocument, z.strictObject({ path: z.string(), error: failure })]),
);

/** `baton compact --json` where old tool results were cleared and nothing else was done. */
export const MicroDocument = z
  .strictObject({
    type: z.literal('micro_compacted'),
    id: z.string(),
    at: z.string().optional().meta({ description: 'ISO 8601' }),
    trigger: z.enum(TRIGGERS).optional(),
    callIds: z.array(z.string()).meta({ description: 'calls whose results were cleared' }),
    preTokens: tokens,
    postTokens: tokens,
    tokensSaved: tokens.optional(),
    receipt: ReceiptDocument.optional(),
  })
  .meta({ title: 'baton compact --strategy micro --json' });

/** `baton undo --json`. */
export const UndoDocument = z
  .strictObject({
    undone: z.string().meta({ description: 'the id of the compaction' }),
    items: z.int().meta({ description: 'in the context again' }),
    tokens,
    written_to: z.string().nullable(),
  })
  .meta({ title: 'baton undo --json' });

/** `baton config show --json`. */
export const ConfigShowDocument = z
  .strictObject({
    config: z.record(z.string(), z.unknown()).meta({ description: 'see config.schema.json' }),
    origins: z.record(z.string(), z.looseObject({ source: z.string() })),
  })
  .meta({ title: 'baton config show --json' });

/** `baton config check --json`. */
export const ConfigCheckDocument = z
  .strictObject({ valid: z.literal(true), keysSet: z.array(z.string()), warnings: z.array(z.string()) })
  .meta({ title: 'baton config check --json' });

/** `baton config init --json`. */
export const ConfigInitDocument = z
  .strictObject({ file: z.string() })
  .meta({ title: 'baton config init --json' });

const PROMPT_STATES = [
  'shipped',
  'changed',
  'missing',
  'unreadable',
] as const satisfies readonly PromptState[];
const promptFile = {
  name: z.enum(PROMPT_NAMES),
  file: z.string(),
  state: z.enum(PROMPT_STATES).meta({
    description: 'of the file; where it is missing or unreadable the shipped text is in force',
  }),
};
const promptWarnings = z.array(z.string());

/** `baton prompts list --json`. */
export const PromptsListDocument = z
  .strictObject({
    prompts: z.array(
      z.strictObject({
        ...promptFile,
        placeholders: z.array(z.string()).meta({ description: 'what is replaced in this prompt' }),
      }),
    ),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts list --json' });

/** `baton prompts show NAME --json`. */
export const PromptsShowDocument = z
  .strictObject({
    ...promptFile,
    file: z.string().nullable().meta({ description: 'null with --shipped' }),
    text: z.string().meta({ description: 'in force, or the shipped one with --shipped' }),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts show --json' });

/** `baton prompts diff [NAME] --json`. */
export const PromptsDiffDocument = z
  .strictObject({
    prompts: z.array(
      z.strictObject({
        ...promptFile,
        diff: z
          .string()
          .meta({ description: 'unified, from the shipped text to that in force; empty: unchanged' }),
      }),
    ),
    warnings: promptWarnings,
  })
  .meta({ title: 'baton prompts diff --json' });

/** `baton prompts reset NAME --json`. */
export const PromptsResetDocument = z
  .strictObject({
    name: z.enum(PROMPT_NAMES),
    file: z.string(),
    backup: z.string().nullable().meta({ description: 'where the text that was there is now' }),
  })
  .meta({ title: 'baton prompts reset --json' });

const share = z.number().min(0).max(1);
const anyShare = share.nullable().meta({ description: 'null where there was nothing to share' });

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
  description: 'tokens, or own_summary (as large as what the agent wrote there), or none (its own size)',
});
const timing = z.number().min(0).optional().meta({ description: 'wall time; with --timings only' });

/** `baton eval --json`. */
export const EvalDocument = z
  .strictObject({
    sizes: z.array(tokens),
    regular_cuts: z.int().min(1),
    seed: z.int().min(1),
    candidates: z.array(
      z.strictObject({
        candidate: z.enum(CANDIDATES),
        budget,
        recall: estimate,
        recall_over_random_lines: estimate.meta({ description: 'paired difference at the same cuts' }),
        recall_over_newest: estimate.meta({ description: 'paired difference at the same cuts' }),
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
            description: 'share of the sessions in which the fact was still told after the last compaction',
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

const bill = z.strictObject({
  requests: z.int().min(0).meta({ description: 'those that the policy added included' }),
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
    skipped_files: z.int().min(0).meta({ description: 'files of directories that are no sessions' }),
    totals: z.array(
      z.strictObject({
        policy: z.string(),
        sessions: z.int().min(0),
        compactions: z
          .strictObject({ boundary: z.int(), mid_work: z.int(), emergency: z.int() })
          .meta({ description: 'of both kinds, by where they fell' }),
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
          .meta({ description: 'sessions whose models have a list price; the dollars are theirs' }),
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
          written: byCategory.meta({
            description: 'what the session put into its context, its own compactions aside',
          }),
          overhead: tokens.meta({ description: 'in every request without being an item of the file' }),
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
                  requests: z.int().min(1).meta({ description: 'requests that no window held' }),
                })
                .nullable(),
              compactions: z.array(
                z.strictObject({
                  kind: z.enum(['full', 'micro']),
                  point: z.enum(DECISION_POINTS),
                  place: z.enum(PLACES).meta({
                    description:
                      'boundary: at a pause in the work, as the recording shows; mid_work: in the middle of it; emergency: in the middle, and the policy called it one',
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
                      description: 'how many in a row came to the same; the numbers are of the last',
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
