// Builds a hook's standard input, and decides whether the hook applies to an event.

import type { JsonObject } from '../protocol/item.ts';
import type {
  HookSession,
  PostCompactInput,
  PreCompactInput,
  SessionStartInput,
  TurnCompleteInput,
  UserPromptInput,
} from '../protocol/hook.ts';

/**
 * Whether a hook with this matcher runs on this event.
 * @param matcher words joined by `|`; undefined: always
 * @param word the trigger of a compaction, or the source of a session
 */
export function isMatch(matcher: string | undefined, word: string): boolean {
  return matcher === undefined || matcher.split('|').includes(word);
}

/** @source names of keys and events: Codex and Claude Code, so that scripts for them can also read this input */
export function preCompactJson(input: PreCompactInput): JsonObject {
  return {
    hook_event_name: 'PreCompact',
    ...sessionJson(input.session),
    trigger: input.trigger,
    custom_instructions: input.customInstructions ?? null,
    reason: input.reason,
    phase: input.phase,
    pre_compact_tokens: input.preTokens,
    context_window: input.window,
    may_veto: input.mayVeto,
  };
}

/** @source as `preCompactJson`; names of counts: spec 2-engine §7 */
export function postCompactJson(input: PostCompactInput): JsonObject {
  return {
    hook_event_name: 'PostCompact',
    ...sessionJson(input.session),
    trigger: input.trigger,
    compact_summary: input.summary ?? null,
    reason: input.reason,
    phase: input.phase,
    implementation: input.implementation,
    pre_compact_tokens: input.preTokens,
    post_compact_tokens: input.postTokens,
  };
}

/** @source as `preCompactJson` */
export function sessionStartJson(input: SessionStartInput): JsonObject {
  return { hook_event_name: 'SessionStart', ...sessionJson(input.session), source: input.source };
}

/** @source as `preCompactJson`: `UserPromptSubmit` of both */
export function userPromptJson({ session, prompt }: UserPromptInput): JsonObject {
  return { hook_event_name: 'UserPromptSubmit', ...sessionJson(session), prompt };
}

/** @source as `preCompactJson`: the input of `Stop` in both, which cannot extend the turn here */
export function turnCompleteJson({ session, turnId, lastAgentMessage }: TurnCompleteInput): JsonObject {
  return {
    hook_event_name: 'TurnComplete',
    ...sessionJson(session),
    turn_id: turnId,
    last_assistant_message: lastAgentMessage ?? null,
  };
}

function sessionJson(session: HookSession): JsonObject {
  return {
    session_id: session.sessionId ?? null,
    transcript_path: session.transcriptPath ?? null,
    cwd: session.cwd ?? null,
    model: session.model ?? null,
  };
}
