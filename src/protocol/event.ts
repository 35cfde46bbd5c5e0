// Everything that a thread tells, as it goes over the wire: one object each, snake_case. Names after Codex, where it has them.
//
// The schemas are the one source: of the types, of schema/event.schema.json and of docs/protocol.md. Import types from here.
// Fields are never absent where null can say that nobody knows; those marked optional are.

import * as z from 'zod';
import {
  APPROVAL_POLICIES,
  AUTHORS,
  BOUNDARIES,
  CATEGORIES,
  COMPACT_FAILURES,
  DECISION_POINTS,
  HOOK_EVENTS,
  SANDBOX_MODES,
  SPENDING_KINDS,
  STEPS,
  TASK_KINDS,
  TIERS,
  VERDICT_REASONS,
  WATCHER_MODES,
  PRESSURES,
} from '../vocabulary.ts';
import { LONGEST_SHOWN_TEXT } from './queued.ts';
import { milliseconds, percent, tokens } from './wire.ts';
import type { Immutable } from './wire.ts';

const threadId = z
  .string()
  .exactOptional()
  .meta({ description: 'the thread that tells it; absent: the process itself' });

function event<Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  description: string,
  shape: Shape,
) {
  return z.object({ type: z.literal(type), thread_id: threadId, ...shape }).meta({ description });
}

const sentence = z.string().meta({ description: 'one sentence for people' });
const callId = z.string().meta({ description: 'of the call, as the model gave it' });

const commandOutcome = z.enum(['exited', 'killed', 'timed_out', 'interrupted', 'not_started']);

const leftPaths = z.array(z.object({ path: z.string(), why: z.string() }));

/** Who started a turn, as `TurnOrigin` has it. */
const turnOrigin = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('user'),
      message_id: z.string().exactOptional().meta({ description: '`id` of `user_turn`' }),
    }),
    z.object({ type: z.literal('watcher'), number: z.int().min(1) }),
  ])
  .meta({ description: 'who started it; only this tells turns of the watcher from turns of the user' });

const turn = {
  turn_id: z.string(),
  task_kind: z.enum(TASK_KINDS).meta({ description: '`shell`: a `!` line of the user, seen by no model' }),
  origin: turnOrigin,
};

const planStep = z.object({
  step: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
});

const fileChange = z.object({
  action: z.enum(['create', 'edit', 'delete', 'move']),
  path: z.string().meta({ description: 'relative to the workspace' }),
  to: z.string().exactOptional().meta({ description: 'the new name of a moved file' }),
  added_lines: z.int().min(0),
  removed_lines: z.int().min(0),
});

const contextCompaction = z.object({
  type: z.literal('context_compaction'),
  id: z.string().meta({ description: 'of the compaction' }),
});

const compactionId = z.string().meta({ description: 'of the compaction, and of its receipt' });

const tokenUsage = z.object({
  input_tokens: tokens,
  cached_input_tokens: tokens.meta({ description: 'of the input' }),
  output_tokens: tokens,
  reasoning_output_tokens: tokens.meta({ description: 'of the output' }),
  total_tokens: tokens,
});

const threadEvents = [
  event('session_configured', 'The thread is open. Told again when a setting changes; the newest counts.', {
    protocol_version: z.int().min(1),
    session_id: z.string(),
    rollout_path: z.string().nullable().meta({ description: 'absolute; null for a thread in memory' }),
    cwd: z.string().meta({ description: 'absolute' }),
    model: z.string(),
    provider: z.string(),
    model_context_window: tokens.nullable().meta({ description: 'raw; null while unknown' }),
    mode: z.enum([...WATCHER_MODES, 'off']).meta({ description: 'of the watcher' }),
    approval_policy: z.enum(APPROVAL_POLICIES),
    sandbox_mode: z.enum(SANDBOX_MODES),
    plan_mode: z.boolean(),
    review_mode: z.boolean(),
  }),
  event('queue_changed', 'The messages of the user that wait for their turn.', {
    messages: z.array(z.object({ id: z.string(), text: z.string() })).meta({
      description: `all of them, oldest first; a text of more than ${LONGEST_SHOWN_TEXT} characters is cut and ends with …`,
    }),
  }),
  event('pins_changed', 'What is pinned. Told at the opening where there is something, and at each change.', {
    pins: z
      .array(z.object({ id: z.string(), text: z.string() }))
      .meta({ description: 'all of them, oldest first' }),
  }),
  event('shutdown_complete', 'The last event of a thread: everything is written and closed.', {}),
] as const;

const turnEvents = [
  event('turn_started', 'A turn began.', turn),
  event('user_message', 'A message in the user role was recorded.', {
    message: z.string(),
    author: z
      .enum(AUTHORS)
      .meta({ description: '`synthetic`: of the watcher; `harness`: of Baton, not to be shown' }),
    step: z.enum(STEPS).nullable().meta({ description: 'of the golden path; null for messages of others' }),
  }),
  event('agent_message_delta', 'For display; the whole message follows.', { delta: z.string() }),
  event('agent_reasoning_delta', 'For display; never repeated.', { delta: z.string() }),
  event('agent_message', 'A message of the agent was recorded.', { message: z.string() }),
  event('stream_error', 'A request broke and is sent again: deltas since the last message are void.', {
    message: sentence,
  }),
  event('turn_complete', 'A turn ended by itself.', {
    ...turn,
    last_agent_message: z.string().nullable().meta({ description: 'of this turn; null: it said nothing' }),
  }),
  event('turn_aborted', 'A turn was ended before its time.', {
    ...turn,
    reason: z
      .enum(['interrupted', 'replaced', 'failed'])
      .meta({ description: '`replaced`: by another turn; `failed`: by what an `error` told before' }),
  }),
  event(
    'token_count',
    'The context and what was spent, after every answer that asks for more and after every turn.',
    {
      used: tokens.meta({ description: 'in the context now, by the gauge' }),
      pressure: z
        .enum(PRESSURES)
        .exactOptional()
        .meta({ description: "the gauge's word; left out while the window is unknown" }),
      model_context_window: tokens.nullable().meta({ description: 'raw; null while unknown' }),
      percent_remaining: percent
        .nullable()
        .meta({ description: 'of the usable window; null while it is unknown' }),
      total: tokenUsage.meta({
        description:
          "all of the agent's requests in the log, by the provider's count; those for summaries and judgments are not in it",
      }),
      last: tokenUsage.nullable().meta({ description: 'the newest of them; null before the first' }),
    },
  ),
  event('error', 'Something failed. The thread goes on.', {
    code: z.string().meta({ description: 'stable' }),
    message: sentence,
  }),
] as const;

const toolEvents = [
  event('exec_command_begin', 'A command is about to start.', {
    call_id: callId,
    command: z.string(),
    cwd: z.string().meta({ description: 'absolute' }),
    sandbox: z.enum(SANDBOX_MODES),
  }),
  event(
    'exec_command_output_delta',
    'Output as it comes, standard output and error in one; its first million characters.',
    {
      call_id: callId,
      delta: z.string(),
    },
  ),
  event('exec_command_end', 'A command ended.', {
    call_id: callId,
    outcome: commandOutcome,
    exit_code: z.int().nullable().meta({ description: 'null where it did not end by itself' }),
    duration_ms: milliseconds,
  }),
  event('patch_apply_begin', 'Files are about to be changed.', {
    call_id: callId,
    changes: z.array(fileChange),
  }),
  event('patch_apply_end', 'Files were changed, or not.', {
    call_id: callId,
    success: z.boolean(),
    changes: z
      .array(fileChange)
      .meta({ description: 'what is on disk now; empty where nothing was changed' }),
  }),
  event('plan_update', 'The plan, or the todo list, as a whole.', {
    call_id: callId,
    kind: z.enum(['plan', 'todo']),
    steps: z.array(planStep),
  }),
  event('phase_completed', 'A phase of the work is done.', {
    call_id: callId.nullable().meta({ description: 'null: the user says so' }),
    summary: z.string(),
  }),
] as const;

const askingEvents = [
  event('exec_approval_request', 'Waits for `exec_approval`.', {
    call_id: callId,
    command: z.string(),
    cwd: z.string().meta({ description: 'absolute' }),
    sandbox: z.enum(SANDBOX_MODES).meta({ description: 'what it would run in' }),
    reason: sentence.meta({ description: 'why it is asked for' }),
    justification: z.string().nullable().meta({ description: "the model's own words" }),
  }),
  event('patch_approval_request', 'Waits for `patch_approval`.', {
    call_id: callId,
    paths: z.array(z.string()).meta({ description: 'what would be changed, relative to the workspace' }),
    reason: sentence.meta({ description: 'why it is asked for' }),
  }),
  event('question', 'The agent asks the user; waits for `answer_question`.', {
    question_id: z.string(),
    question: z.string(),
    options: z
      .array(z.object({ label: z.string(), description: z.string().exactOptional() }))
      .meta({ description: 'empty: an answer in words' }),
  }),
] as const;

const compactionEvents = [
  event(
    'background_event',
    'Something to be known while it runs: a request, a retry, a decision, a boundary.',
    {
      message: sentence.meta({ description: 'one sentence' }),
      surface: z
        .enum(['status', 'info'])
        .optional()
        .meta({ description: '`info`: a line of the transcript; else it is shown live only' }),
    },
  ),
  event('warning', 'Something that the user has to know.', { message: sentence }),
  event('hook_begin', 'A command of `[hooks]` starts.', {
    event: z.enum(HOOK_EVENTS),
    command: z.string().meta({ description: 'for people: one line, shortened, known secrets replaced' }),
  }),
  event('hook_end', 'It ended. Hooks run one after the other.', {
    event: z.enum(HOOK_EVENTS),
    command: z.string(),
    outcome: z.enum(['done', 'vetoed', 'overruled', 'failed', 'timed_out', 'interrupted']),
    duration_ms: milliseconds,
  }),
  event('item_started', 'A compaction that replaces the history began.', { item: contextCompaction }),
  event('item_completed', 'Its result is in the log.', { item: contextCompaction }),
  event('context_compacted', 'The history is another one from here on.', { id: compactionId }),
  event('compact_completed', 'What came of it.', {
    id: compactionId,
    pre_compact_tokens: tokens,
    post_compact_tokens: tokens,
    compaction_input_tokens: tokens.meta({
      description: 'what models were sent, all requests together; 0 without one',
    }),
    compaction_output_tokens: tokens.meta({ description: 'what they answered' }),
    files_restored: z.int().min(0),
    duration_ms: milliseconds,
    strategy: z.enum(['full', 'remote', 'legacy', 'embedded']),
  }),
  event('micro_compact_completed', 'Old tool results were cleared; nothing else changed.', {
    id: compactionId,
    tools_compacted: z.int().min(0).meta({ description: 'results' }),
    pre_compact_tokens: tokens,
    post_compact_tokens: tokens,
    tokens_saved: z.int(),
    duration_ms: milliseconds,
  }),
  event('compact_failed', 'Nothing came of it, and the history is what it was.', {
    reason: z.enum(COMPACT_FAILURES),
    error_message: sentence,
  }),
  event(
    'compact_threshold_exceeded',
    'The history is still so large that it would be compacted again at once.',
    {
      post_compact_tokens: tokens,
      threshold: tokens,
    },
  ),
  event('compact_preview', 'Answers `compact` with `preview`; nothing was changed.', {
    strategy: z.enum(['full', 'micro']).meta({ description: '`micro`: old tool results alone are cleared' }),
    pre_compact_tokens: tokens,
    post_compact_tokens: tokens,
    receipt: z
      .looseObject({ version: z.literal(1), id: z.string() })
      .nullable()
      .meta({ description: 'as a compaction would leave it: schema/receipt.schema.json; null for `micro`' }),
  }),
  event('undo_completed', 'A compaction or a turn was taken back.', {
    what: z.enum(['compaction', 'turn']),
    id: z.string().meta({ description: 'of the compaction or of the turn' }),
    paths: z.array(z.string()).meta({ description: 'files that were put back, relative to the workspace' }),
    left: leftPaths.meta({ description: 'files that were left as they are; `why` completes "PATH is …"' }),
  }),
  event('undo_incomplete', 'A turn was not taken back, or its files in part. An `error` says why.', {
    id: z.string().meta({ description: 'of the turn' }),
    paths: z.array(z.string()).meta({ description: 'files that were put back, relative to the workspace' }),
    left: leftPaths.meta({ description: 'files that were left as they are; `why` completes "PATH is …"' }),
    kept_as: z.string().nullable().meta({
      description: 'the name in git of the files as the undo found them; null: it has touched none',
    }),
  }),
  event('rawr_auto_compaction_judgment_result', 'What a judge said, or why it said nothing.', {
    request_id: z.string(),
    tier: z.enum(TIERS),
    should_compact: z
      .boolean()
      .nullable()
      .meta({ description: 'null: the judge gave no answer, and the static policy stands' }),
    reason: z.string().meta({ description: 'of the judge, or why it gave no answer' }),
  }),
] as const;

const spent = {
  requests: z.int().min(0).meta({ description: 'retries included' }),
  tokens: tokens.meta({ description: 'sent and answered' }),
  dollars: z.number().min(0).meta({ description: 'US dollars of the requests whose price is known' }),
  unpriced_requests: z.int().min(0).meta({ description: 'requests whose price is not known' }),
};

const spendingKind = z.enum(SPENDING_KINDS).meta({
  description:
    '`agent`: the work; `packet`: what the watcher asks the agent for; `other`: charges of an earlier version of Baton without a kind',
});

const gauge = {
  used: tokens.meta({ description: 'in the context now, by the gauge' }),
  anchor: z
    .enum(['reported', 'estimated', 'none'])
    .meta({ description: 'what the gauge rests on; `none`: an estimate alone' }),
  model_context_window: tokens.nullable().meta({ description: 'raw; null while unknown' }),
  usable_window: tokens.nullable(),
  percent_remaining: percent.nullable().meta({ description: 'of the usable window' }),
  pressure: z.enum(PRESSURES).nullable(),
};

const decision = z.object({
  id: z.string().nullable().meta({ description: 'null: not recorded' }),
  at: z.string().nullable().meta({ description: 'ISO 8601' }),
  point: z.enum(DECISION_POINTS),
  turn: z.int().min(0),
  should_compact: z.boolean(),
  reason: z.enum(VERDICT_REASONS),
  why: sentence,
  tier: z.enum(TIERS).nullable(),
  used: tokens,
  usable_window: tokens.nullable(),
  percent_remaining: percent.nullable(),
  projected: tokens.meta({ description: 'what a compaction would leave' }),
  required: z.array(z.enum(BOUNDARIES)).meta({ description: 'of which any would do' }),
  reached: z.array(z.enum(BOUNDARIES)).meta({ description: 'that counted' }),
});

/** What ops of a client are answered with, and what they are told of costs. */
const answerEvents = [
  event('spending', 'A model was asked: what that came to, and all requests by what they were for.', {
    kind: spendingKind,
    requests: spent.requests,
    tokens: spent.tokens,
    dollars: z.number().min(0).nullable().meta({ description: 'US dollars; null: the price is not known' }),
    by_kind: z
      .array(z.object({ kind: spendingKind, ...spent }))
      .meta({ description: 'of the session; they add up to `session`' }),
    turn: z
      .object(spent)
      .meta({ description: "since the user's newest message: what `[limits]` counts for a turn" }),
    session: z.object(spent).meta({ description: 'what `[limits]` counts for a session' }),
  }),
  event('redo_completed', 'A compaction that was undone is in force again.', {
    id: z.string().meta({ description: 'of the compaction' }),
  }),
  event('shell_line', 'A `shell` op of an earlier process, told when its thread is resumed.', {
    call_id: callId,
    command: z.string(),
    outcome: commandOutcome,
    exit_code: z.int().nullable().meta({ description: 'null where it did not end by itself' }),
    duration_ms: milliseconds,
    output: z
      .string()
      .meta({ description: 'how it ended and what it wrote; the middle of a long output is cut' }),
  }),
  event('context_breakdown', 'Answers `context`: what fills the window, counted as `baton inspect` counts.', {
    ...gauge,
    categories: z.array(z.object({ category: z.enum(CATEGORIES), tokens })).meta({
      description: 'items of the history, and the instructions under `system`; empty ones are left out',
    }),
    fixed: tokens.meta({ description: 'in every request and in no item: the schemas of tools' }),
    margin: z.int().meta({ description: 'added to an estimate that no report of the provider confirms' }),
    unexplained: z.int().meta({
      description:
        'the rest of what was reported; with `categories`, `fixed` and `margin` it adds up to `used`. Negative where the estimate is too high',
    }),
    clearable: z
      .object({ results: z.int().min(0), tokens, is_worth_it: z.boolean() })
      .meta({ description: 'old tool results that can be cleared now, and whether the engine would' }),
  }),
  event('status', 'Answers `status`: how the thread stands.', {
    session_id: z.string(),
    rollout_path: z.string().nullable().meta({ description: 'null: nothing is recorded yet' }),
    cwd: z.string(),
    provider: z.string(),
    model: z.string(),
    ...gauge,
    thresholds: z
      .object({ warning: tokens, error: tokens, auto_compact: tokens.nullable() })
      .nullable()
      .meta({
        description:
          'used tokens from which each holds; `auto_compact` is null where it is off, all are while the window is unknown',
      }),
    tier: z.enum(TIERS).nullable().meta({ description: 'of the watcher now; null above all thresholds' }),
    tiers: z.array(
      z.object({
        tier: z.enum(TIERS),
        percent_remaining_below: percent,
        used_tokens_from: tokens.nullable(),
      }),
    ),
    mode: z.enum([...WATCHER_MODES, 'off']),
    approval_policy: z.enum(APPROVAL_POLICIES),
    sandbox_mode: z.enum(SANDBOX_MODES),
    plan_mode: z.boolean(),
    review_mode: z.boolean(),
    running_turn: z.object({ turn_id: z.string(), task_kind: z.enum(TASK_KINDS) }).nullable(),
    queue_length: z.int().min(0),
    compactions: z.int().min(0).meta({ description: 'that ever replaced the history' }),
    spending: z.object({
      by_kind: z.array(z.object({ kind: spendingKind, ...spent })),
      turn: z.object(spent),
      session: z.object(spent),
    }),
    limits: z
      .array(
        z.object({
          key: z.string().meta({ description: 'in the configuration' }),
          limit: z.number(),
          spent: z.number(),
        }),
      )
      .meta({ description: 'those of `[limits]` that are set' }),
  }),
  event('thread_opened', 'Another thread is open, and `session_configured` has told what holds for it.', {
    request_id: z.string().nullable(),
    how: z.enum(['new', 'resumed', 'forked', 'handed_off']),
    from: z.string().nullable().meta({ description: 'the thread that was forked, or that handed off' }),
  }),
  event('thread_failed', 'A thread could not be opened. Nothing else has changed.', {
    request_id: z.string().nullable(),
    code: z.string().meta({ description: 'stable' }),
    message: sentence,
  }),
  event('sessions', 'Answers `sessions`.', {
    total: z.int().min(0).meta({ description: 'sessions there are' }),
    sessions: z
      .array(
        z.object({
          id: z.string().nullable().meta({ description: 'null: the file does not say' }),
          title: z
            .string()
            .nullable()
            .meta({ description: 'the first message of the user, in one line; null: there is none' }),
          path: z.string(),
          cwd: z.string().nullable(),
          modified_at: z.string().meta({ description: 'ISO 8601' }),
          bytes: z.int().min(0),
          compactions: z.int().min(0).meta({ description: 'that replaced the history' }),
          is_open: z.boolean().meta({ description: 'in this process' }),
        }),
      )
      .meta({ description: 'newest first' }),
  }),
  event('decisions', 'Answers `why`.', {
    now: decision.meta({
      description: 'what the policy says at this moment; neither arbiter nor judge is asked',
    }),
    newest: z.array(decision).meta({ description: 'recorded ones, newest first' }),
  }),
] as const;

/** Every event, in the order of docs/protocol.md. */
export const EventSchema = z
  .discriminatedUnion('type', [
    ...threadEvents,
    ...turnEvents,
    ...toolEvents,
    ...askingEvents,
    ...compactionEvents,
    ...answerEvents,
  ])
  .meta({
    title: 'Event',
    description: 'What a thread tells. Readers pass over unknown types of events and unknown fields.',
  });

/** One event of a thread. */
export type SessionEvent = Immutable<z.output<typeof EventSchema>>;

/** What a compaction tells, and what is told around it. @source seed 001 §10, spec 2-engine §7 */
export type CompactionEvent = Immutable<z.output<(typeof compactionEvents)[number]>>;

/** What a call tells while it runs. */
export type ToolEvent = Immutable<z.output<(typeof toolEvents)[number]>>;

/** One step of a plan or of a todo list. @source Codex, `update_plan` */
export type PlanStepState = Immutable<z.output<typeof planStep>>;

/** What a call does to one file. */
export type FileChangeView = Immutable<z.output<typeof fileChange>>;

/** What the provider counted, in one request or several. */
export type TokenUsage = Immutable<z.output<typeof tokenUsage>>;
