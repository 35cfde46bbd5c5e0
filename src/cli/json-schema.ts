// The documents that `--json` prints, as schemas: the source of schema/*.schema.json. No command loads this file; the
// tests hold what commands print against it.

import * as z from 'zod';
import {
  CATEGORIES,
  FORMATS,
  IMPLEMENTATIONS,
  PHASES,
  PRESSURES,
  REASONS,
  STRATEGIES,
  TRIGGERS,
} from '../vocabulary.ts';
import { ERROR_CODES } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
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
    rung: z.enum(['embedded', 'newest_turns', 'none']),
    model: z.string().optional(),
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
    durationMs: z.number().optional(),
  })
  .meta({ title: 'Receipt', description: 'Why a compaction ran and what it did.' });

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
        summary: z.enum(['readable', 'encrypted', 'none']),
        summary_tokens: tokens,
        items_before: z.int(),
        items_after: z.int(),
        cleared_results: z.int(),
        is_undone: z.boolean(),
        explanation: z.string(),
        receipt: ReceiptDocument.nullable(),
      }),
    ),
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
