// The `--json` documents of a compaction and of an undo.
// No command loads this: tests validate the commands' output against it, and schema/ is generated from it.

import * as z from 'zod';
import {
  HOOK_EVENTS,
  IMPLEMENTATIONS,
  PHASES,
  REASONS,
  RUNGS,
  STRATEGIES,
  TRIGGERS,
} from '../../vocabulary.ts';
import { tokens, byCategory } from './figures.ts';

const receiptEntry = z.strictObject({
  items: z.array(z.tuple([z.int(), z.int()])).meta({ description: 'positions in the log, closed ranges' }),
  count: z.int().min(0),
  tokens,
  byCategory,
});

/** A receipt, as in session files and `--json` documents. */
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
      .meta({ description: 'every request to a model, including failed ones' }),
    counter: z.enum(['precise', 'approximate']),
    why: z.string().meta({ description: 'the numbers behind the decision, as one sentence' }),
    window: tokens,
    targetTokens: tokens.optional(),
    preTokens: tokens,
    postTokens: tokens,
    inputSha256: z.string(),
    summaryTokens: tokens,
    kept: receiptEntry.meta({
      description: 'unchanged items; with `cut`, `summarised` and `dropped` they add up to `preTokens`',
    }),
    cut: receiptEntry
      .omit({ items: true })
      .optional()
      .meta({ description: 'what kept messages lost: images, and the middle of long ones' }),
    summarised: receiptEntry,
    dropped: receiptEntry,
    after: z
      .strictObject({ kept: tokens, summary: tokens, files: tokens, state: tokens, hooks: tokens })
      .optional()
      .meta({ description: 'what the context holds afterwards; the parts add up to `postTokens`' }),
    beside: z
      .strictObject({
        before: z.int(),
        after: z.int(),
        fixed: tokens.meta({ description: 'the known part of both: instructions and tools' }),
        isReported: z.boolean().meta({
          description:
            'true: a provider reported the size before, and the rest of it is unexplained; false: the rest is the margin of an estimate',
        }),
      })
      .optional()
      .meta({
        description:
          'what the gauge counts and no item holds: with it the items add up to `preTokens` and `postTokens`',
      }),
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

/** `baton compact --json`: the receipt, and what the compaction removes. */
export const CompactDocument = ReceiptDocument.extend({
  loss: z
    .strictObject({
      tokens: tokens.meta({ description: '`summarised`, `dropped` and `cut` together' }),
      largest: z
        .array(
          z.strictObject({
            tool: z.string(),
            subject: z.string().meta({ description: 'command, file or pattern; known secrets replaced' }),
            tokens,
            line: z.int().min(1).optional(),
          }),
        )
        .meta({ description: 'tool results, largest first, at most ten' }),
      images: z.strictObject({ count: z.int().min(0), tokens }),
      files: z.strictObject({
        touched: z.int().min(0),
        notNamed: z
          .array(z.string())
          .meta({ description: 'that the new context does not name; changed ones first, then the newest' }),
      }),
      userMessages: z.strictObject({ total: z.int(), summarised: z.int(), cut: z.int() }),
      rules: z
        .strictObject({ carriedOver: z.int(), leftOut: z.array(z.string()) })
        .meta({ description: 'sentences of the user that apply beyond their request' }),
    })
    .meta({ description: 'what is no longer in the context' }),
}).meta({
  title: 'baton compact --json',
  description: 'The receipt of a compaction, with what it removes.',
});

/** `baton compact --json` where only old tool results were cleared. */
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

/** `baton undo --turn --json`. */
export const UndoTurnDocument = z
  .strictObject({
    undone_turn: z.string().meta({ description: 'the id of the turn' }),
    items: z.int().meta({ description: 'taken out of the context' }),
    files: z
      .array(z.strictObject({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) }))
      .nullable()
      .meta({
        description:
          'restored files, by what had happened to them; null: nothing was saved, all stay unchanged',
      }),
    kept_as: z.string().nullable().meta({
      description: 'the name in git of the files as they were before the undo; null: none were restored',
    }),
    later_edits: z.array(z.strictObject({ path: z.string(), why: z.string(), overlaps: z.boolean() })).meta({
      description:
        'changed after the turn, and left unchanged; `overlaps`: the turn changed it as well, or may have',
    }),
    untouched: z.array(z.strictObject({ path: z.string(), why: z.string() })),
    is_preview: z.boolean().meta({ description: 'true: nothing was changed' }),
  })
  .meta({ title: 'baton undo --turn --json' });

/** `baton undo --json`. */
export const UndoDocument = z
  .strictObject({
    undone: z.string().meta({ description: 'the id of the compaction' }),
    items: z.int().meta({ description: 'in the context again' }),
    tokens,
    usable: tokens.meta({ description: 'what the window holds' }),
    over: tokens.meta({
      description: 'what exceeds the window: above 0, the next request fails or the agent compacts',
    }),
    written_to: z.string().nullable(),
  })
  .meta({ title: 'baton undo --json' });
