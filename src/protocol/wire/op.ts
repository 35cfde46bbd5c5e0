// Everything that a client can ask of a thread. The user interface, the watcher, `exec` and every other client use this
// one door.
//
// The schemas are the single source of the types, schema/op.schema.json and docs/protocol.md. Import types from here.

import * as z from 'zod';
import {
  APPROVAL_POLICIES,
  BOUNDARIES,
  LATER_EDITS,
  SANDBOX_MODES,
  STRATEGIES,
  TIERS,
  WATCHER_MODES,
} from '../../vocabulary.ts';
import { modeOf } from './modes.ts';
import { identifier, percent, tokens } from './shared.ts';
import type { Immutable } from './shared.ts';

const threadId = identifier
  .exactOptional()
  .meta({ description: "the addressed thread; absent: the process's first thread" });

const requestId = identifier
  .exactOptional()
  .meta({ description: 'repeated in `thread_opened` or `thread_failed`' });

function op<Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  description: string,
  shape: Shape,
) {
  return z.strictObject({ type: z.literal(type), thread_id: threadId, ...shape }).meta({ description });
}

const text = z.string().regex(/\S/).meta({ description: 'not blank' });

const items = z
  .array(z.strictObject({ type: z.literal('text'), text: z.string().regex(/\S/) }))
  .min(1)
  .meta({ description: 'parts of one message, in order; none of them blank' });

const messageId = identifier
  .exactOptional()
  .meta({ description: 'unique within the thread; absent: Baton makes one' });

const queuedId = identifier.meta({ description: 'as `queue_changed` names it' });

const origin = z.strictObject({ type: z.literal('user') }).meta({
  description:
    "who wrote it. Required, because only a user's turn can have calls approved; the watcher is part of the thread and sends no ops",
});

/** The user's possible answers to a request for approval. @source Codex, `ReviewDecision` */
const approvalDecision = z.enum(['approved', 'approved_for_session', 'denied', 'abort']).meta({
  description:
    '`approved_for_session`: this call, and equal calls without asking again; `denied`: the agent is informed and continues; `abort`: the turn ends',
});

const callId = z.string().meta({ description: 'id of the call, as in the request' });

const denialMessage = text
  .exactOptional()
  .meta({ description: 'only with `denied`: the reason, which the agent reads' });

const atLeastOne = (settings: object): boolean => Object.keys(settings).length > 1;

/** Every op, in the order of docs/protocol.md. */
export const OpSchema = z
  .discriminatedUnion('type', [
    op('user_turn', 'Starts a turn; while another turn runs, the message waits in the queue.', {
      id: messageId,
      items,
      origin,
    }),
    op('steer', 'A message for the running turn, sent to the model with its next request.', {
      id: messageId,
      items,
      origin,
    }),
    op(
      'interrupt',
      'Immediately ends what is running: a turn, a compaction, a judgment. Does nothing when nothing runs.',
      {},
    ),
    op('edit_queued', 'Replaces the text of a queued message; answered by `queue_changed`.', {
      id: queuedId,
      items,
    }),
    op('remove_queued', 'Removes a message from the queue; answered by `queue_changed`.', {
      id: queuedId,
    }),
    op('move_queued', 'Moves a queued message to another position; answered by `queue_changed`.', {
      id: queuedId,
      before: identifier.exactOptional().meta({
        description: 'the message that it moves in front of; absent: it becomes the last one',
      }),
    }),
    op('shell', "Runs a user's command line in the sandbox, between turns; no model sees it or its output.", {
      id: identifier
        .exactOptional()
        .meta({ description: '`call_id` of its events; absent: Baton makes one' }),
      command: text,
    }),
    op('compact', 'Compacts the history.', {
      trigger: z
        .strictObject({ type: z.literal('user') })
        .meta({ description: 'who asked; kept with the receipt' }),
      instructions: text.exactOptional().meta({ description: 'what the summary should emphasise' }),
      strategy: z.enum(STRATEGIES).exactOptional().meta({ description: 'absent: `auto`' }),
      target_tokens: tokens
        .min(1)
        .exactOptional()
        .meta({ description: 'the size to reach; absent: as configured' }),
      preview: z.boolean().exactOptional().meta({
        description: 'true: answered by `compact_preview`; changes nothing, asks no model and runs no hook',
      }),
    }),
    op('undo', 'Undoes the newest compaction, or the newest turn with its file changes.', {
      what: z.enum(['compaction', 'turn']),
      later_edits: z.enum(LATER_EDITS).exactOptional().meta({
        description:
          'of a turn: what happens to files that were changed after it. Absent: files that the turn did not change stay; if it changed one of them as well, the only effect is `undo_incomplete`',
      }),
      preview: z
        .boolean()
        .exactOptional()
        .meta({ description: 'true: answered by `undo_preview`; changes nothing' }),
    }),
    op('redo', 'Reverts the newest undo of a compaction, if nothing was said since.', {
      what: z.enum(['compaction', 'turn']).meta({
        description:
          '`turn` fails, with the reason and how to restore the files: Baton keeps the state before a turn, not the one after it',
      }),
    }),
    op(
      'rawr_auto_compaction_judgment',
      'Asks a model whether a compaction that the policy allows should wait. Does not change the history.',
      {
        request_id: identifier.meta({ description: 'fresh; answers with another id are ignored' }),
        tier: z.enum(TIERS),
        percent_remaining: percent.nullable().meta({ description: 'null while no window is known' }),
        boundaries_present: z
          .array(z.enum(BOUNDARIES))
          .meta({ description: 'each at most once, in the order of the vocabulary' }),
        last_agent_message: z.string().nullable(),
        decision_prompt_path: z.string().meta({ description: 'the base text of the judge' }),
      },
    ),
    op('exec_approval', 'Answers `exec_approval_request`. Only the user sends it.', {
      call_id: callId,
      decision: approvalDecision,
      message: denialMessage,
    }),
    op('patch_approval', 'Answers `patch_approval_request`. Only the user sends it.', {
      call_id: callId,
      decision: approvalDecision,
      message: denialMessage,
    }),
    op('answer_question', 'Answers `question`. Only the user sends it.', {
      question_id: z.string(),
      answer: z.string().meta({ description: 'the label of an option, or free text' }),
    }),
    op('set_settings', 'Changes settings of the thread from now on; answered by `session_configured`.', {
      model: z.string().min(1).exactOptional().meta({
        description:
          'PROVIDER/MODEL, as --model takes it; only between turns; kept when the thread is resumed',
      }),
      mode: z
        .enum([...WATCHER_MODES, 'off'])
        .exactOptional()
        .meta({ description: 'what the watcher does when it would compact' }),
      approval_policy: modeOf(APPROVAL_POLICIES).exactOptional(),
      sandbox_mode: modeOf(SANDBOX_MODES).exactOptional(),
      plan_mode: z
        .boolean()
        .exactOptional()
        .meta({ description: 'true: the agent only plans and does not change anything' }),
    })
      .refine(atLeastOne, 'changes nothing: name a setting')
      .meta({ minProperties: 2 }),
    op('phase_completed', 'The user declares a phase of the work complete: the strongest boundary.', {
      summary: text,
    }),
    op('pin', 'Keeps a text verbatim through every compaction.', {
      id: identifier.exactOptional().meta({ description: 'absent: Baton makes one' }),
      text,
    }),
    op('unpin', 'Removes a pinned text.', { id: identifier }),
    op('context', 'Asks what fills the window; answered by `context_breakdown`.', {}),
    op('status', 'Asks for the state of the thread; answered by `status`.', {}),
    op('why', 'Asks why the watcher compacted, or did not; answered by `decisions`.', {
      newest: z
        .int()
        .min(1)
        .max(100)
        .exactOptional()
        .meta({ description: 'maximum number of recorded decisions; absent: 5' }),
    }),
    op('review_mode', 'In review mode the watcher does nothing.', { is_on: z.boolean() }),
    op(
      'open_thread',
      'Opens another thread in this process; answered by `thread_opened` or `thread_failed`.',
      {
        request_id: requestId,
        resume: z
          .string()
          .min(1)
          .exactOptional()
          .meta({ description: 'as --resume takes it; absent: a new thread' }),
        cwd: z
          .string()
          .min(1)
          .exactOptional()
          .meta({ description: "its working directory; absent: the command's own directory" }),
        model: z
          .string()
          .min(1)
          .exactOptional()
          .meta({ description: "as --model takes it; absent: the command's model" }),
      },
    ),
    op(
      'fork',
      'Opens another thread that continues this one from its present end; this one does not change. Answered as `open_thread`.',
      { request_id: requestId },
    ),
    op(
      'handoff',
      'Opens a new thread that begins with the continuation packet of this one and its pins. Answered as `open_thread`.',
      { request_id: requestId },
    ),
    op('sessions', "Asks for Baton's sessions on this machine; answered by `sessions`.", {
      newest: z
        .int()
        .min(1)
        .max(1000)
        .exactOptional()
        .meta({ description: 'sessions to list at most; absent: 20' }),
    }),
    op('shutdown', 'Ends what runs, closes the thread, and is answered by `shutdown_complete`.', {}),
  ])
  .meta({ title: 'Op', description: 'What a thread can be asked for. Unknown fields are refused.' });

/** One op. */
export type Op = Immutable<z.output<typeof OpSchema>>;
