// The `--json` documents of sessions: the content of one, and the list of all.
// No command loads this: tests validate the commands' output against it, and schema/ is generated from it.

import * as z from 'zod';
import { BOUNDARIES, CATEGORIES, FORMATS, PHASES, PRESSURES, TRIGGERS } from '../../vocabulary.ts';
import { BESIDE_PARTS } from '../../calls/context-parts.ts';
import { AGENTS } from '../session-files/words.ts';
import { ReceiptDocument } from './compaction.ts';
import { failure } from './failure.ts';
import { tokens, byCategory } from './figures.ts';

const damage = z.strictObject({
  line: z.int().min(1),
  kind: z.string(),
  message: z.string(),
  lost: z.boolean().meta({ description: 'whether bytes could not be read' }),
  times: z.int().min(2).optional().meta({ description: 'how often it occurs in the line; absent: once' }),
});

/** The evidence that a boundary was reached. */
export const evidence = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    command: z.string().meta({ description: 'one line, shortened, known secrets replaced' }),
    exit_status: z
      .int()
      .nullable()
      .meta({ description: 'of the script that contained the command; null where not recorded' }),
    told_by: z.enum(['status', 'output']).meta({
      description:
        "the evidence that the command succeeded: the script's status, or git's own words in the output",
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

/** The difference between the items and the gauge. */
export const besideItems = z
  .strictObject({
    fixed: tokens.meta({ description: 'in every request, and in no item: instructions and tools' }),
    counting: z.int().meta({
      description:
        'what the provider counts for the same items beyond the count here, from the growth between its reports; may be negative',
    }),
    restored: tokens.meta({
      description: 'what the agent restored after its last compaction and the file does not contain',
    }),
    margin: z.int().meta({ description: 'of an estimate that no reported usage anchors' }),
    unexplained: z.int().meta({ description: 'the rest of the reported usage; may be negative' }),
  })
  .meta({ description: 'with `categories` it adds up to `gauge.used`' });

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
      known_from: z.enum(['configured', 'recorded', 'model', 'provider', 'unknown']),
    }),
    gauge: z.strictObject({
      used: tokens,
      anchor: z.enum(['reported', 'estimated', 'none']),
      percent_remaining: z.int().min(0).max(100),
      pressure: z.enum(PRESSURES),
      auto_compact_threshold: tokens.meta({ description: 'where Baton itself would compact' }),
      agent_compacts_from: tokens
        .nullable()
        .meta({ description: 'where the agent that wrote the file compacts automatically; null: unknown' }),
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
    beside_items: besideItems,
    top: z
      .strictObject({
        results: z.array(
          z.strictObject({
            tool: z.string(),
            subject: z.string().meta({ description: 'command, file or pattern; known secrets replaced' }),
            tokens,
            line: z.int().min(1).nullable(),
          }),
        ),
        rereads: z
          .array(z.strictObject({ path: z.string(), reads: z.int().min(2), tokens }))
          .meta({ description: 'files that results in the context contain more than once' }),
        images: z.strictObject({ count: z.int().min(0), tokens }),
        split: z
          .array(
            z.strictObject({
              part: z.enum([...CATEGORIES, ...BESIDE_PARTS, 'free', 'reserve']),
              tokens: z.int(),
            }),
          )
          .meta({ description: 'adds up to the raw window, or to the usage where that is more' }),
      })
      .optional()
      .meta({ description: 'with --top: what fills most of the context' }),
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
        pre_tokens: tokens.meta({ description: 'tokens in the window just before' }),
        post_tokens: tokens.meta({ description: 'tokens in the window just after' }),
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
      .meta({ description: 'moments when work could have been interrupted, in order' }),
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
      .meta({ description: 'counts over the whole file, including what has left the context' }),
  })
  .meta({ title: 'baton inspect --json' });

/** `baton inspect --json` for several files: the content of each, or why it is unreadable. */
export const InspectManyDocument = z.array(
  z.union([InspectDocument, z.strictObject({ path: z.string(), error: failure })]),
);

/** `baton sessions --json`. */
export const SessionsDocument = z
  .strictObject({
    total: z.int(),
    sessions: z.array(
      z.strictObject({
        agent: z.enum(AGENTS),
        id: z.string().meta({ description: 'from the name of the file; a handle for other commands' }),
        path: z.string(),
        title: z.string().nullable().meta({
          description: "the user's first prompt as one line, known secrets replaced; null: none was found",
        }),
        bytes: z.int(),
        modified_at: z.string().nullable().meta({ description: 'null: a time outside the range of dates' }),
        used: tokens.nullable(),
        percent_remaining: z.int().min(0).max(100).nullable(),
        cwd: z.string().nullable(),
        model: z.string().nullable(),
        compactions: z
          .int()
          .min(0)
          .nullable()
          .meta({ description: 'effective full compactions, in the part that was read' }),
        tokens: tokens.nullable().meta({
          description:
            'input and output, over all requests; null: not logged, or the file was not read completely',
        }),
        cost_usd: z.number().min(0).nullable().meta({ description: 'at list prices; null as for `tokens`' }),
        is_partly_priced: z
          .boolean()
          .meta({ description: 'true: `cost_usd` excludes requests without a known price' }),
        is_partial: z
          .boolean()
          .meta({ description: 'true: only the beginning and the end of the file were read' }),
        is_copy: z.boolean().meta({
          description: 'Baton wrote the file from another session, and it has not been resumed since',
        }),
        problem: z.string().nullable().meta({ description: 'why the file cannot be read' }),
      }),
    ),
  })
  .meta({ title: 'baton sessions --json' });
