// Everything that a thread reports over the wire: one snake_case object per event. Names follow Codex, where it has
// them.
//
// The schemas are the single source of the types, schema/event.schema.json and docs/protocol.md. Import types from
// here. A field with an unknown value is null, not absent; only fields marked optional may be absent.

import * as z from 'zod';
import {
  APPROVAL_POLICIES,
  AUTHORS,
  BOUNDARIES,
  CATEGORIES,
  CALL_KINDS,
  CALL_STATUSES,
  COMPACT_FAILURES,
  DECISION_POINTS,
  HOOK_EVENTS,
  SANDBOX_MODES,
  SPENDING_KINDS,
  STEPS,
  TASK_KINDS,
  TIERS,
  TURN_STOP_REASONS,
  VERDICT_REASONS,
  WATCHER_MODES,
  WATCHER_STAGES,
  PRESSURES,
} from '../../vocabulary.ts';
import { LONGEST_SHOWN_TEXT } from '../queued.ts';
import { LONGEST_DIFF, LONGEST_OUTPUT, MOST_ENTRIES, MOST_TRANSCRIPT_CHARACTERS } from './shown.ts';
import { milliseconds, percent, tokens } from './shared.ts';
import type { Immutable } from './shared.ts';

const threadId = z
  .string()
  .exactOptional()
  .meta({ description: 'the thread that sent the event; absent: the process itself' });

function event<Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  description: string,
  shape: Shape,
) {
  return z.object({ type: z.literal(type), thread_id: threadId, ...shape }).meta({ description });
}

const sentence = z.string().meta({ description: 'one sentence for people' });
const callId = z.string().meta({ description: 'id of the call, as the model gave it' });

const commandOutcome = z.enum(['exited', 'killed', 'timed_out', 'interrupted', 'not_started']);
const messageId = z.string().meta({
  description: 'id of the message: unique within the thread, and unchanged when it is resumed',
});
const turnId = z.string().meta({ description: 'id of the turn that it belongs to' });
const turnIdOrNone = z.string().nullable().meta({ description: 'id of its turn; null: between turns' });

const stepNames = z.array(z.enum(STEPS));

/** A recorded message, no matter who wrote it. */
const message = {
  id: messageId,
  turn_id: turnIdOrNone,
  message: z.string().meta({ description: 'without the marker line of a synthetic message' }),
  author: z
    .enum(AUTHORS)
    .meta({ description: '`synthetic`: of the watcher; `harness`: of Baton, not for display' }),
  steps: stepNames.meta({
    description: 'of the golden path, all that the message contains; empty for other messages',
  }),
  sequence_id: z.string().nullable().meta({ description: 'of the golden path; null for other messages' }),
};

const leftPaths = z.array(z.object({ path: z.string(), why: z.string() }));

/** Who started a turn, as in `TurnOrigin`. */
const turnOrigin = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('user'),
      message_id: z.string().exactOptional().meta({ description: '`id` of `user_turn`' }),
    }),
    z.object({ type: z.literal('watcher'), number: z.int().min(1) }),
  ])
  .meta({ description: "who started it; only this field distinguishes the watcher's turns from the user's" });

const turn = {
  turn_id: z.string(),
  task_kind: z
    .enum(TASK_KINDS)
    .meta({ description: "`shell`: a `!` line of the user's, which no model sees" }),
  origin: turnOrigin,
};

const answers = z.array(z.string()).meta({
  description:
    "ids of the user's messages that the agent received in this turn, steered ones included: the end of the turn answers them. Empty in the watcher's turns, unless the user steered into one",
});

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
  diff: z.string().meta({ description: 'unified, with three lines around each change; as far as it fits' }),
  is_diff_cut: z.boolean().meta({ description: 'the rest of the diff is omitted, cut at the end of a line' }),
});

const fileChanges = z.array(fileChange);

const location = z.object({
  path: z.string().meta({ description: 'as the agent named it' }),
  line: z.int().min(1).exactOptional(),
});

const contextCompaction = z.object({
  type: z.literal('context_compaction'),
  id: z.string().meta({ description: 'of the compaction' }),
});

const compactionId = z.string().meta({ description: 'id of the compaction and of its receipt' });

const tokenUsage = z.object({
  input_tokens: tokens,
  cached_input_tokens: tokens.meta({ description: 'of the input' }),
  output_tokens: tokens,
  reasoning_output_tokens: tokens.meta({ description: 'of the output' }),
  total_tokens: tokens,
});

const threadEvents = [
  event('session_configured', 'The thread is open. Sent again when a setting changes; the newest counts.', {
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
  event('queue_changed', "The user's queued messages.", {
    messages: z.array(z.object({ id: z.string(), text: z.string() })).meta({
      description: `all of them, oldest first; a text longer than ${LONGEST_SHOWN_TEXT} characters is cut and ends with …`,
    }),
  }),
  event(
    'pins_changed',
    'The pinned texts. Sent when the thread opens, if there are any, and at each change.',
    {
      pins: z
        .array(z.object({ id: z.string(), text: z.string() }))
        .meta({ description: 'all of them, oldest first' }),
    },
  ),
  event('shutdown_complete', 'The last event of a thread: everything is written and closed.', {}),
] as const;

const turnStarted = event('turn_started', 'A turn began.', turn);

const userMessage = event('user_message', 'A message in the user role was recorded.', message);

const agentMessage = event('agent_message', 'A message in the assistant role was recorded.', message);

const turnComplete = event('turn_complete', 'A turn completed.', {
  ...turn,
  answers,
  stop_reason: z
    .enum(TURN_STOP_REASONS)
    .nullable()
    .meta({ description: "why the model's last answer ended; null: no model was asked in this turn" }),
  last_agent_message: z.string().nullable().meta({ description: 'of this turn; null: it said nothing' }),
});

const turnAborted = event('turn_aborted', 'A turn was stopped early.', {
  ...turn,
  answers,
  error_code: z
    .string()
    .nullable()
    .meta({ description: 'stable code of the `error` that ended it; null: it was not a failure' }),
  reason: z
    .enum(['interrupted', 'replaced', 'failed'])
    .meta({ description: '`replaced`: by another turn; `failed`: an `error` said why' }),
});

const turnEvents = [
  turnStarted,
  userMessage,
  event(
    'message_steered',
    "A user's message for the running turn was accepted. When the agent receives it, `user_message` follows with the same `id`.",
    { id: messageId, turn_id: turnId, message: z.string() },
  ),
  event('agent_message_delta', 'For display; the whole message follows with the same `id`.', {
    id: messageId,
    turn_id: turnId,
    delta: z.string(),
  }),
  event('agent_reasoning_delta', 'For display; never repeated.', {
    id: z.string().meta({ description: 'id of the reasoning before one answer' }),
    turn_id: turnId,
    delta: z.string(),
  }),
  agentMessage,
  event('stream_error', 'A request broke off and is repeated: discard the deltas since the last message.', {
    message: sentence,
  }),
  turnComplete,
  turnAborted,
  event(
    'token_count',
    'The context and the usage: after every answer that calls tools, every compaction and every turn, and when a thread is resumed.',
    {
      used: tokens.meta({ description: 'in the context now, by the gauge' }),
      pressure: z
        .enum(PRESSURES)
        .exactOptional()
        .meta({ description: "the gauge's word; absent while the window is unknown" }),
      model_context_window: tokens.nullable().meta({ description: 'raw; null while unknown' }),
      percent_remaining: percent
        .nullable()
        .meta({ description: 'of the usable window; null while it is unknown' }),
      tier: z
        .enum(TIERS)
        .nullable()
        .meta({ description: 'how urgent a compaction is to the watcher; null: not urgent' }),
      total: tokenUsage.meta({
        description:
          "all of the agent's requests in the log, by the provider's count; without those for summaries and judgments",
      }),
      last: tokenUsage
        .nullable()
        .meta({ description: 'the newest of these requests; null before the first' }),
    },
  ),
  event('error', 'Something failed. The thread continues.', {
    code: z.string().meta({ description: 'stable' }),
    message: sentence,
    op_id: z.string().optional().meta({
      description: 'the `id` of the rejected op, if it had one: a message with this id gets no turn',
    }),
  }),
] as const;

/** One family for the calls of every tool; events that only a command sends come between begin and end. */
const callEvents = [
  event('tool_call_begin', 'The agent calls a tool. The call may still wait for its turn, or for the user.', {
    call_id: callId,
    turn_id: turnIdOrNone,
    tool: z.string().meta({ description: 'the name of the tool, as the agent called it' }),
    kind: z.enum(CALL_KINDS),
    title: z.string().meta({ description: 'one line for people' }),
    locations: z.array(location).meta({ description: 'files and directories that the call names' }),
  }),
  event('tool_call_end', 'The result of a call was recorded.', {
    call_id: callId,
    turn_id: turnIdOrNone,
    status: z.enum(CALL_STATUSES).meta({
      description:
        '`failed`: the tool says so; `refused`: by the user or the rules, nothing ran; `interrupted`: its effect is unknown',
    }),
    output: z.string().meta({
      description: `what the agent reads; its first ${LONGEST_OUTPUT} characters. A tool that shortened its output says so there`,
    }),
    is_output_cut: z.boolean(),
    exit_code: z.int().nullable().meta({ description: 'of a command that exited; else null' }),
    changes: fileChanges.meta({
      description: `the call's file changes; all diffs together have at most ${LONGEST_DIFF} characters`,
    }),
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
    'Output as it arrives, standard output and error combined; its first million characters.',
    {
      call_id: callId,
      delta: z.string(),
    },
  ),
  event('exec_command_end', 'A command ended.', {
    call_id: callId,
    outcome: commandOutcome,
    exit_code: z.int().nullable().meta({ description: 'null if it did not exit' }),
    duration_ms: milliseconds,
  }),
  event('plan_update', 'The whole plan or todo list. Sent again when a thread is resumed.', {
    call_id: callId.nullable().meta({ description: 'null: repeated for a resumed thread' }),
    kind: z.enum(['plan', 'todo']),
    steps: z.array(planStep),
  }),
  event('phase_completed', 'A phase of the work is complete.', {
    call_id: callId.nullable().meta({ description: 'null: the user declared it' }),
    summary: z.string(),
  }),
] as const;

const askingEvents = [
  event('exec_approval_request', 'Waits for `exec_approval`.', {
    call_id: callId,
    command: z.string(),
    cwd: z.string().meta({ description: 'absolute' }),
    sandbox: z.enum(SANDBOX_MODES).meta({ description: 'the sandbox that it would run in' }),
    reason: sentence.meta({ description: 'why it needs approval' }),
    justification: z.string().nullable().meta({ description: "the model's own words" }),
  }),
  event('patch_approval_request', 'Waits for `patch_approval`.', {
    call_id: callId,
    paths: z.array(z.string()).meta({ description: 'the files that would change, as the agent named them' }),
    changes: fileChanges.meta({
      description: 'the effect on each file; empty if the call cannot run as it is',
    }),
    reason: sentence.meta({ description: 'why it needs approval' }),
  }),
  event('question', 'The agent asks the user; waits for `answer_question`.', {
    question_id: z.string(),
    question: z.string(),
    options: z
      .array(z.object({ label: z.string(), description: z.string().exactOptional() }))
      .meta({ description: 'empty: the user answers in words' }),
  }),
] as const;

const evidence = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('command'),
    command: z.string(),
    exit_status: z.int().nullable().meta({ description: 'null: not known' }),
    told_by: z.enum(['status', 'output']),
    hash: z.string().nullable().meta({ description: 'of a commit' }),
  }),
  z.object({
    type: z.literal('plan'),
    completed: z.array(z.string()),
    done: z.int().min(0),
    steps: z.int().min(0),
  }),
  z.object({ type: z.literal('phase'), summary: z.string() }),
  z.object({ type: z.literal('phrase'), phrase: z.string(), sentence: z.string() }),
  z.object({ type: z.literal('turn'), turn_id: z.string().nullable() }),
]);

const decisionId = z.string().meta({ description: 'of the decision' });

/** A decision of the watcher, with its numbers. */
const decided = {
  point: z.enum(DECISION_POINTS),
  turn: z.int().min(0).meta({ description: "counted by the user's messages" }),
  should_compact: z.boolean(),
  reason: z.enum(VERDICT_REASONS),
  why: sentence,
  tier: z.enum(TIERS).nullable().meta({ description: 'null: no threshold is reached' }),
  used: tokens,
  usable_window: tokens.nullable().meta({ description: 'null while unknown' }),
  percent_remaining: percent.nullable(),
  projected: tokens.meta({ description: 'what a full compaction would leave' }),
  required: z
    .array(z.enum(BOUNDARIES))
    .meta({ description: 'boundaries, any one of which would have sufficed' }),
  signals: z
    .array(z.object({ id: z.string(), boundary: z.enum(BOUNDARIES), evidence }))
    .meta({ description: 'the boundaries that counted, with their evidence' }),
};

const watcherEvents = [
  event('watcher_decision', 'The watcher decided whether to compact. The decision is in the log.', {
    id: decisionId,
    ...decided,
  }),
  event(
    'watcher_state',
    "The watcher's state, sent at each change: the golden path as one block. A client needs nothing else to show it.",
    {
      stage: z.enum(WATCHER_STAGES),
      place: z
        .enum(['between_turns', 'inside_turn'])
        .nullable()
        .meta({ description: "where the stage's work happens; null: idle" }),
      tier: z.enum(TIERS).nullable(),
      decision_id: z
        .string()
        .nullable()
        .meta({ description: 'of `watcher_decision`; null while it is open' }),
      sequence_id: z.string().nullable().meta({ description: 'of the golden path; null if none runs' }),
      steps: z
        .array(
          z.object({
            step: z.enum(STEPS),
            status: z.enum(['pending', 'running', 'done', 'replaced', 'skipped']).meta({
              description:
                '`replaced`: the agent did not return the requested packet, so the watcher wrote it; `skipped`: the agent was not asked',
            }),
          }),
        )
        .meta({ description: 'all five while a sequence runs, else empty' }),
      awaits: z
        .enum(['nothing', 'plan', 'judgment', 'agent', 'packet', 'compaction', 'handoff'])
        .meta({ description: '`plan`: whether the engine would compact; `agent`: its answer to a request' }),
      awaited_steps: stepNames.meta({
        description: 'of the agent: everything that the newest request asks for',
      }),
      deadline: z
        .object({
          quiet_ms: milliseconds.meta({ description: 'from now, unless the agent shows activity' }),
          at_most_ms: milliseconds.meta({ description: 'from now, regardless of activity' }),
        })
        .nullable()
        .meta({ description: 'when the watcher stops waiting; null: it awaits nothing' }),
      outcome: z
        .enum(['completed', 'abandoned'])
        .nullable()
        .meta({ description: 'of the sequence that just ended; null: none did' }),
    },
  ),
] as const;

const compactCompleted = event('compact_completed', 'The result of a compaction.', {
  id: compactionId,
  pre_compact_tokens: tokens,
  post_compact_tokens: tokens,
  compaction_input_tokens: tokens.meta({
    description: 'tokens sent to models, all requests together; 0 without a request',
  }),
  compaction_output_tokens: tokens.meta({ description: 'tokens that they answered' }),
  files_restored: z.int().min(0),
  duration_ms: milliseconds,
  strategy: z.enum(['full', 'remote', 'legacy', 'embedded']),
});

const microCompactCompleted = event(
  'micro_compact_completed',
  'Old tool results were cleared; nothing else changed.',
  {
    id: compactionId,
    tools_compacted: z.int().min(0).meta({ description: 'results' }),
    pre_compact_tokens: tokens,
    post_compact_tokens: tokens,
    tokens_saved: z.int(),
    duration_ms: milliseconds,
  },
);

const undoCompleted = event('undo_completed', 'A compaction or a turn was undone.', {
  what: z.enum(['compaction', 'turn']),
  id: z.string().meta({ description: 'of the compaction or of the turn' }),
  paths: z.array(z.string()).meta({ description: 'restored files, relative to the workspace' }),
  left: leftPaths.meta({ description: 'files that were not changed; `why` completes "PATH is …"' }),
});

const compactionEvents = [
  event('background_event', 'Progress: a request, a retry, a decision, a boundary.', {
    message: sentence.meta({ description: 'one sentence' }),
    surface: z
      .enum(['status', 'info'])
      .optional()
      .meta({ description: '`info`: a line of the transcript; otherwise only shown live' }),
  }),
  event('warning', 'Something that the user must know.', { message: sentence }),
  event('hook_begin', 'A command of `[hooks]` starts.', {
    event: z.enum(HOOK_EVENTS),
    command: z.string().meta({ description: 'for people: one shortened line with known secrets replaced' }),
  }),
  event('hook_end', 'A hook ended. Hooks run one after the other.', {
    event: z.enum(HOOK_EVENTS),
    command: z.string(),
    outcome: z.enum(['done', 'vetoed', 'overruled', 'failed', 'timed_out', 'interrupted']),
    duration_ms: milliseconds,
  }),
  event('item_started', 'A compaction that replaces the history began.', { item: contextCompaction }),
  event('item_completed', 'The result of a compaction is in the log.', { item: contextCompaction }),
  event('context_compacted', 'The history is replaced from here on.', { id: compactionId }),
  compactCompleted,
  microCompactCompleted,
  event('compact_failed', 'A compaction failed, and the history is unchanged.', {
    reason: z.enum(COMPACT_FAILURES),
    error_message: sentence,
  }),
  event(
    'compact_threshold_exceeded',
    'The history is still so large that it would be compacted again immediately.',
    {
      post_compact_tokens: tokens,
      threshold: tokens,
    },
  ),
  event('compact_preview', 'Answers `compact` with `preview`; nothing was changed.', {
    strategy: z.enum(['full', 'micro']).meta({ description: '`micro`: only old tool results are cleared' }),
    pre_compact_tokens: tokens,
    post_compact_tokens: tokens,
    receipt: z
      .looseObject({ version: z.literal(1), id: z.string() })
      .nullable()
      .meta({
        description: 'the receipt of such a compaction: schema/receipt.schema.json; null for `micro`',
      }),
  }),
  undoCompleted,
  event('undo_preview', 'Answers `undo` with `preview`: what it would do now. Nothing was changed.', {
    what: z.enum(['compaction', 'turn']),
    id: z.string().meta({ description: 'of the compaction or of the turn' }),
    message: z
      .string()
      .nullable()
      .meta({
        description: `the user's message that began the turn; longer than ${LONGEST_SHOWN_TEXT} characters, it is cut and ends with …; null: there is none, or it is a compaction`,
      }),
    items: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'items of the history that go with the turn; null: it is a compaction' }),
    pre_compact_tokens: tokens.nullable().meta({
      description: 'the history before the compaction; null: not recorded, or it is a turn',
    }),
    post_compact_tokens: tokens
      .nullable()
      .meta({ description: 'the history right after it; null: as above' }),
    files: z
      .array(z.object({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) }))
      .nullable()
      .meta({
        description:
          'files to restore, with what happened to them since: an added one is removed. null: none, because it is a compaction or no snapshot was taken',
      }),
    blocked: leftPaths.meta({
      description: 'files that should be restored but cannot be: the undo would be incomplete',
    }),
    later_edits: z.array(z.object({ path: z.string(), why: z.string(), overlaps: z.boolean() })).meta({
      description:
        'files that were changed after the turn, and stay. `overlaps`: the turn changed it as well, so without `later_edits` the undo does nothing',
    }),
    untouched: leftPaths.meta({ description: 'other files that stay; `why` completes "PATH is …"' }),
    warnings: z.array(sentence),
  }),
  event('undo_incomplete', 'A turn was not undone, or its files only in part. An `error` says why.', {
    id: z.string().meta({ description: 'of the turn' }),
    paths: z.array(z.string()).meta({ description: 'restored files, relative to the workspace' }),
    left: leftPaths.meta({ description: 'files that were not changed; `why` completes "PATH is …"' }),
    kept_as: z.string().nullable().meta({
      description: 'the git ref of the files before the undo; null: it changed none',
    }),
  }),
  event('rawr_auto_compaction_judgment_result', "The judge's answer, or why there is none.", {
    request_id: z.string(),
    tier: z.enum(TIERS),
    should_compact: z
      .boolean()
      .nullable()
      .meta({ description: 'null: the judge gave no answer, and the static policy applies' }),
    reason: z.string().meta({ description: "the judge's reason, or why it gave no answer" }),
  }),
] as const;

const spent = {
  requests: z.int().min(0).meta({ description: 'retries included' }),
  tokens: tokens.meta({ description: 'sent and answered' }),
  dollars: z.number().min(0).meta({ description: 'US dollars for the requests whose price is known' }),
  unpriced_requests: z.int().min(0).meta({ description: 'requests whose price is unknown' }),
};

const spendingKind = z.enum(SPENDING_KINDS).meta({
  description:
    "`agent`: the work; `packet`: the watcher's requests to the agent; `other`: charges of an earlier version of Baton without a kind",
});

const gauge = {
  used: tokens.meta({ description: 'in the context now, by the gauge' }),
  anchor: z
    .enum(['reported', 'estimated', 'none'])
    .meta({ description: 'what the gauge is based on; `none`: only an estimate' }),
  model_context_window: tokens.nullable().meta({ description: 'raw; null while unknown' }),
  usable_window: tokens.nullable(),
  percent_remaining: percent.nullable().meta({ description: 'of the usable window' }),
  pressure: z.enum(PRESSURES).nullable(),
};

const recordedDecision = z.object({
  id: decisionId,
  at: z.string().nullable().meta({ description: 'ISO 8601' }),
  ...decided,
});

/** Answers to a client's ops, and reports of costs. */
const answerEvents = [
  event('spending', 'A model was asked: the cost of the request, and of all requests by purpose.', {
    kind: spendingKind,
    requests: spent.requests,
    tokens: spent.tokens,
    dollars: z.number().min(0).nullable().meta({ description: 'US dollars; null: the price is unknown' }),
    by_kind: z
      .array(z.object({ kind: spendingKind, ...spent }))
      .meta({ description: 'of the session; they add up to `session`' }),
    turn: z
      .object(spent)
      .meta({ description: "since the user's newest message: the amount that `[limits]` applies to a turn" }),
    session: z.object(spent).meta({ description: 'the amount that `[limits]` applies to a session' }),
  }),
  event('redo_completed', 'An undone compaction is in force again.', {
    id: z.string().meta({ description: 'of the compaction' }),
  }),
  event('shell_line', 'A `shell` op of an earlier process, sent when its thread is resumed.', {
    call_id: callId,
    command: z.string(),
    outcome: commandOutcome,
    exit_code: z.int().nullable().meta({ description: 'null if it did not exit' }),
    duration_ms: milliseconds,
    output: z
      .string()
      .meta({ description: 'how it ended, and its output; the middle of a long output is cut' }),
  }),
  event('context_breakdown', 'Answers `context`: what fills the window, counted as `baton inspect` counts.', {
    ...gauge,
    categories: z.array(z.object({ category: z.enum(CATEGORIES), tokens })).meta({
      description: 'items of the history, without empty categories',
    }),
    fixed: tokens.meta({
      description: 'in every request and in no item: instructions, and the schemas of tools',
    }),
    counting: z.int().meta({
      description: "the provider's count of the same items minus the estimate; may be negative",
    }),
    restored: tokens.meta({
      description: 'what was restored after the last compaction and is in no item',
    }),
    margin: z.int().meta({ description: 'added to an estimate that the provider has not confirmed' }),
    unexplained: z.int().meta({
      description:
        'the rest of what was reported, negative if the estimate is too high. The categories and all of these add up to `used`',
    }),
    clearable: z.object({ results: z.int().min(0), tokens, is_worth_it: z.boolean() }).meta({
      description: 'old tool results that can be cleared now, and whether the engine would clear them',
    }),
  }),
  event('status', 'Answers `status`: the state of the thread.', {
    session_id: z.string(),
    rollout_path: z.string().nullable().meta({ description: 'null: the thread has no record yet' }),
    cwd: z.string(),
    provider: z.string(),
    model: z.string(),
    ...gauge,
    thresholds: z
      .object({ warning: tokens, error: tokens, auto_compact: tokens.nullable() })
      .nullable()
      .meta({
        description:
          'used tokens from which each holds; `auto_compact` is null if it is off, all are null while the window is unknown',
      }),
    tier: z
      .enum(TIERS)
      .nullable()
      .meta({ description: "the watcher's present tier; null: no threshold is reached" }),
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
    compactions: z.int().min(0).meta({ description: 'that replaced the history so far' }),
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
      .meta({ description: 'the `[limits]` that are set' }),
  }),
  event('thread_opened', 'Another thread is open; `session_configured` has described it.', {
    request_id: z.string().nullable(),
    how: z.enum(['new', 'resumed', 'forked', 'handed_off']),
    from: z.string().nullable().meta({ description: 'the thread that was forked or handed off' }),
  }),
  event('thread_failed', 'A thread could not be opened. Nothing else changed.', {
    request_id: z.string().nullable(),
    code: z.string().meta({ description: 'stable' }),
    message: sentence,
  }),
  event('sessions', 'Answers `sessions`.', {
    total: z.int().min(0).meta({ description: 'number of sessions' }),
    sessions: z
      .array(
        z.object({
          id: z.string().nullable().meta({ description: 'null: the file does not record it' }),
          title: z
            .string()
            .nullable()
            .meta({ description: "the user's first message, in one line; null: none" }),
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
    now: z.object(decided).meta({
      description: 'what the policy says now, without asking arbiter or judge',
    }),
    newest: z.array(recordedDecision).meta({ description: 'the recorded decisions, newest first' }),
  }),
] as const;

const transcriptEntry = z.discriminatedUnion('type', [
  turnStarted,
  userMessage,
  agentMessage,
  turnComplete,
  turnAborted,
  ...callEvents,
  compactCompleted,
  microCompactCompleted,
  undoCompleted,
]);

const transcriptEvents = [
  event(
    'transcript',
    'The content of a resumed thread, after `session_configured`: one renderer draws this and the live events.',
    {
      entries: z.array(transcriptEntry).meta({
        description: `events of these types as they were sent live, oldest first: turn_started, user_message, agent_message, tool_call_begin, tool_call_end, turn_complete, turn_aborted, compact_completed, micro_compact_completed, undo_completed. The newest ${MOST_ENTRIES}, of ${MOST_TRANSCRIPT_CHARACTERS} characters in all; without undone turns`,
      }),
      left_out: z.int().min(0).meta({ description: 'older entries' }),
    },
  ),
  event('thread_idle', 'Nothing is in progress or queued: the thread rests until the next op.', {}),
] as const;

/** Every event, in the order of docs/protocol.md. */
export const EventSchema = z
  .discriminatedUnion('type', [
    ...threadEvents,
    ...transcriptEvents,
    ...turnEvents,
    ...callEvents,
    ...toolEvents,
    ...askingEvents,
    ...watcherEvents,
    ...compactionEvents,
    ...answerEvents,
  ])
  .meta({
    title: 'Event',
    description: 'What a thread reports. Readers skip unknown types of events and unknown fields.',
  });

/** One event of a thread. */
export type SessionEvent = Immutable<z.output<typeof EventSchema>>;

/** The events of a compaction, and those around it. @source seed 001 §10, spec 2-engine §7 */
export type CompactionEvent = Immutable<z.output<(typeof compactionEvents)[number]>>;

/** An event that a transcript holds. */
export type TranscriptEntry = Immutable<z.output<typeof transcriptEntry>>;

/** What a call reports while it runs. */
export type ToolEvent = Immutable<z.output<(typeof toolEvents)[number]>>;

/** One step of a plan or of a todo list. @source Codex, `update_plan` */
export type PlanStepState = Immutable<z.output<typeof planStep>>;

/** The change that a call makes to one file. */
export type FileChangeView = Immutable<z.output<typeof fileChange>>;

/** The provider's token counts for one or more requests. */
export type TokenUsage = Immutable<z.output<typeof tokenUsage>>;
