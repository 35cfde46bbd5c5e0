// What a session, and a compaction in it, tells while it runs, as it goes over the wire: snake_case, one object each.

import type { ApprovalPolicy, CompactFailure, Implementation, SandboxMode } from '../vocabulary.ts';
import type { ToolEvent } from './tool.ts';

/** Counts in tokens, durations in milliseconds. @source seed 001 §10, spec 2-engine §7 */
export type CompactionEvent =
  /** Something to be known while it runs: a request, a retry, a rung of the ladder. One sentence. */
  | { readonly type: 'background_event'; readonly message: string }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'item_started' | 'item_completed';
      readonly item: { readonly type: 'context_compaction'; readonly id: string };
    }
  | { readonly type: 'context_compacted'; readonly id: string }
  | {
      readonly type: 'compact_completed';
      readonly id: string;
      readonly pre_compact_tokens: number;
      readonly post_compact_tokens: number;
      /** What models were sent and what they answered, all requests together; 0 without one. */
      readonly compaction_input_tokens: number;
      readonly compaction_output_tokens: number;
      readonly files_restored: number;
      readonly duration_ms: number;
      readonly strategy: Exclude<Implementation, 'micro'>;
    }
  | {
      readonly type: 'micro_compact_completed';
      readonly id: string;
      readonly tools_compacted: number;
      readonly tokens_saved: number;
      readonly duration_ms: number;
    }
  /** Nothing came of it and the history is what it was. */
  | { readonly type: 'compact_failed'; readonly reason: CompactFailure; readonly error_message: string }
  /** The history is still so large that it would be compacted again at once. */
  | {
      readonly type: 'compact_threshold_exceeded';
      readonly post_compact_tokens: number;
      readonly threshold: number;
    };

/** What a thread tells. @source Codex' event names, spec 4-session §1 */
export type SessionEvent =
  | CompactionEvent
  | ToolEvent
  /** The first event of every thread that is opened. */
  | {
      readonly type: 'session_configured';
      readonly session_id: string;
      /** Where the thread is recorded; the file appears with its first record. */
      readonly rollout_path: string;
      readonly provider: string;
      readonly model: string;
      /** Raw, in tokens. */
      readonly model_context_window: number;
      readonly cwd: string;
      readonly approval_policy: ApprovalPolicy;
      readonly sandbox_mode: SandboxMode;
    }
  /** The last one: everything is written and closed. */
  | { readonly type: 'shutdown_complete' }
  | { readonly type: 'turn_started'; readonly turn_id: string }
  | { readonly type: 'turn_complete'; readonly turn_id: string; readonly last_agent_message: string | null }
  | { readonly type: 'turn_aborted'; readonly turn_id: string }
  | { readonly type: 'user_message' | 'agent_message'; readonly message: string }
  /** For display; the whole message follows. */
  | { readonly type: 'agent_message_delta' | 'agent_reasoning_delta'; readonly delta: string }
  /** A request broke and is sent again: deltas since the last message are void. */
  | { readonly type: 'stream_error'; readonly message: string }
  | { readonly type: 'token_count'; readonly used: number; readonly model_context_window: number | null }
  | { readonly type: 'error'; readonly code: string; readonly message: string };
