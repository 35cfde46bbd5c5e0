// The words of the field, each defined once. Every other file imports them from here; a synonym elsewhere is a mistake.

/** Who requested a compaction: the user (`manual`) or a policy (`auto`). @source Codex and Claude Code, both. */
export const TRIGGERS = ['manual', 'auto'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Why a compaction was requested. @source spec 2-engine §7, after Codex's analytics. */
export const REASONS = [
  'user_requested',
  'context_limit',
  'boundary',
  'overflow',
  'model_downshift',
] as const;
export type Reason = (typeof REASONS)[number];

/** Where in the life of a thread a compaction ran. @source spec 2-engine §7, after Codex's analytics. */
export const PHASES = ['standalone_turn', 'pre_turn', 'mid_turn', 'post_turn'] as const;
export type Phase = (typeof PHASES)[number];

/** What performed a compaction. `embedded` is the deterministic summarizer, which needs no model. */
export const IMPLEMENTATIONS = ['micro', 'full', 'remote', 'legacy', 'embedded'] as const;
export type Implementation = (typeof IMPLEMENTATIONS)[number];

/**
 * The rungs of the ladder, in the order in which Baton tries them: how much of the history a model sees for a summary,
 * then the rungs that need no model. @source spec 2-engine §4
 */
export const RUNGS = [
  'remote',
  'whole',
  'results_cleared',
  'oldest_dropped',
  'chunked',
  'newest_turns',
  'embedded',
  'plain',
  'canned',
] as const;
export type Rung = (typeof RUNGS)[number];

/** Why a compaction produced nothing. @source seed 001 §10 `compact_failed`, spec 2-engine §7. */
export const COMPACT_FAILURES = [
  'nothing_to_compact',
  'cannot_fit',
  'interrupted',
  'vetoed',
  'unavailable',
  'not_written',
] as const;
export type CompactFailure = (typeof COMPACT_FAILURES)[number];

/** Which strategy a caller may request; `auto` lets dispatch choose. */
export const STRATEGIES = ['auto', 'micro', 'full', 'remote'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Who wrote an item of the history. `harness` is text that a product injects in the user's name. */
export const AUTHORS = ['user', 'agent', 'harness', 'synthetic'] as const;
export type Author = (typeof AUTHORS)[number];

/** The steps of a golden-path sequence, in the order that the product promises. @source seed 004. */
export const STEPS = ['heads_up', 'scratch', 'packet_request', 'packet', 'handoff'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Moments at which work can be interrupted, structured ones first; the watcher waits for them.
 * @source spec 3-watcher §2, after rawr.
 */
export const BOUNDARIES = [
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'plan_update',
  'phase_completed',
  'agent_done',
  'topic_shift',
  'concluding_thought',
  'turn_complete',
] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** How urgent the pressure on the window is, calmest first. @source seeds 000 and 003, after rawr. */
export const TIERS = ['early', 'ready', 'asap', 'emergency'] as const;
export type Tier = (typeof TIERS)[number];

/** The watcher's stage, in the order of the golden path. @source seed 004, target state machine. */
export const WATCHER_STAGES = [
  'idle',
  'assessing',
  'awaiting_judgment',
  'heads_up_injected',
  'awaiting_scratch_write',
  'awaiting_packet',
  'assembling_packet',
  'compacting',
  'post_compact_handoff_pending',
] as const;

/** What the watcher does where it would compact: print a note, recommend it, or act. @source seed 000. */
export const WATCHER_MODES = ['tag', 'suggest', 'auto'] as const;
export type WatcherMode = (typeof WATCHER_MODES)[number];

/** Who writes the continuation packet: the agent (variant A) or the watcher (variant B). @source seed 004. */
export const PACKET_AUTHORS = ['agent', 'watcher'] as const;
export type PacketAuthor = (typeof PACKET_AUTHORS)[number];

/** What the watcher may do during a turn. @source spec 3-watcher §4. */
export const MID_TURN_MODES = ['golden', 'tiered', 'emergency_only', 'off'] as const;
export type MidTurnMode = (typeof MID_TURN_MODES)[number];

/** Which of the watcher's lines enter the transcript. @source spec 3-watcher §6. */
export const INFO_LINES = ['all', 'decisions', 'off'] as const;
export type InfoLines = (typeof INFO_LINES)[number];

/** Why the watcher decided as it did; the first two mean yes. `off`: a setting forbids it here. @source spec 3-watcher §3. */
export const VERDICT_REASONS = [
  'emergency',
  'boundary',
  'above_threshold',
  'floor',
  'no_boundary',
  'needs_semantic_break',
  'cooldown',
  'active_work',
  'weak_boundary',
  'not_packet_worthy',
  'breaker_open',
  'judgment',
  'off',
] as const;
export type VerdictReason = (typeof VERDICT_REASONS)[number];

/** Where a decision was made. @source spec 3-watcher §3–4. */
export const DECISION_POINTS = ['turn_end', 'mid_turn', 'preflight'] as const;
export type DecisionPoint = (typeof DECISION_POINTS)[number];

/** What kind of task a turn is. `shell`: a `!` line of the user, which no model sees. @source spec 4-session §1 */
export const TASK_KINDS = ['regular', 'shell', 'compact', 'review'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Moments at which the user's `[hooks]` commands run. @source spec 4-session §5. */
export const HOOK_EVENTS = [
  'pre_compact',
  'post_compact',
  'session_start',
  'user_prompt_submit',
  'turn_complete',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** How a session started or restarted. @source Codex and Claude Code, both. */
export const SESSION_SOURCES = ['startup', 'resume', 'compact'] as const;
export type SessionSource = (typeof SESSION_SOURCES)[number];

/** What a tool of Baton's own agent changes. `state`: what the session itself keeps, such as a plan. */
export const TOOL_KINDS = ['read', 'edit', 'run', 'state'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * The kind of a call, for display. @source the tool kinds of the Agent Client Protocol, where it has them; `plan`,
 * `question` and `recall` are Baton's
 */
export const CALL_KINDS = [
  'read',
  'search',
  'edit',
  'execute',
  'plan',
  'question',
  'recall',
  'other',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/**
 * How a call ended. `refused`: by the user or the rules, so nothing ran; `interrupted`: it is unknown whether it had an
 * effect.
 */
export const CALL_STATUSES = ['completed', 'failed', 'refused', 'interrupted'] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** When Baton asks the user before a call runs. @source Codex, `approval_policy` */
export const APPROVAL_POLICIES = ['untrusted', 'on_request', 'never'] as const;
export type ApprovalPolicy = (typeof APPROVAL_POLICIES)[number];

/** What calls may change, tightest first. @source Codex, `sandbox_mode` */
export const SANDBOX_MODES = ['read_only', 'workspace_write', 'danger_full_access'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** A mode as Codex spells it, with hyphens, or as Baton does: `read-only` becomes `read_only`. Other names are unchanged. */
export function modeName(text: string): string {
  return text.replaceAll('-', '_');
}

/** What fills a context window, by category; `inspect` shows its bars in this order. */
export const CATEGORIES = [
  'system',
  'summary',
  'user',
  'assistant',
  'reasoning',
  'tool_calls',
  'tool_results',
  'attachments',
  'images',
  'other',
] as const;
export type Category = (typeof CATEGORIES)[number];

/** The word beside the gauge: colour is never the only signal. Mildest first. */
export const PRESSURES = ['calm', 'warning', 'error', 'auto_compact'] as const;
export type PressureWord = (typeof PRESSURES)[number];

/** The three wire formats of model providers. @source spec 1-product, `wire_api`. */
export const WIRE_APIS = ['responses', 'chat', 'anthropic'] as const;
export type WireApi = (typeof WIRE_APIS)[number];

/** How much a model may think, least first. @source OpenAI `reasoning.effort`; Anthropic `output_config.effort`. */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type Effort = (typeof EFFORTS)[number];

/** How long answers should be. @source OpenAI `text.verbosity`. */
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/**
 * Why an answer ended: the model finished, called tools, reached its output limit, refused (or a filter did), filled
 * the window, or paused a long piece of work that the next request continues.
 */
export const STOP_REASONS = [
  'end_turn',
  'tool_calls',
  'output_limit',
  'refused',
  'window_full',
  'paused',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/**
 * What a request to a model is for. `agent`: the work. `packet`: the watcher's requests to the agent. `other`: a charge
 * in a session of an earlier version, which did not record its kind.
 */
export const SPENDING_KINDS = ['agent', 'packet', 'judgment', 'summary', 'other'] as const;
export type SpendingKind = (typeof SPENDING_KINDS)[number];

/** Why the last answer of a completed turn ended. The other `STOP_REASONS` lead to another request. */
export const TURN_STOP_REASONS = ['end_turn', 'output_limit', 'refused', 'window_full'] as const;
export type TurnStopReason = (typeof TURN_STOP_REASONS)[number];

/** The session file formats that Baton reads. */
export const FORMATS = [
  'codex',
  'claude-code',
  'responses',
  'anthropic',
  'chat',
  'pi',
  'opencode',
  'gemini',
  'copilot',
  'openhands',
  'swe-agent',
  'mini-swe-agent',
] as const;
export type Format = (typeof FORMATS)[number];

/** The display name of each format. */
export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  codex: 'Codex rollout',
  'claude-code': 'Claude Code session',
  responses: 'OpenAI Responses items',
  anthropic: 'Anthropic messages',
  chat: 'OpenAI chat messages',
  pi: 'pi session',
  opencode: 'opencode export',
  gemini: 'Gemini CLI session',
  copilot: 'Copilot CLI session',
  openhands: 'OpenHands events',
  'swe-agent': 'SWE-agent trajectory',
  'mini-swe-agent': 'mini-swe-agent trajectory',
};

/** What the undo of a turn does with changes made after the turn: keeps them, or reverts them as well. */
export const LATER_EDITS = ['keep', 'revert'] as const;
export type LaterEdits = (typeof LATER_EDITS)[number];

/** Formats of agents that resume a session after Baton appends a compaction. */
export const AGENT_FORMATS = ['codex', 'claude-code'] as const satisfies readonly Format[];
export type AgentFormat = (typeof AGENT_FORMATS)[number];

/** Formats of messages that an API accepts. */
export const MESSAGE_FORMATS = ['responses', 'anthropic', 'chat'] as const satisfies readonly Format[];
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Formats in which a compacted session can be written; `markdown` is for people. */
export type WriteFormat = AgentFormat | MessageFormat | 'markdown';

/** The values of `--format`. */
export const OUTPUT_FORMATS = ['same', 'codex', 'claude', ...MESSAGE_FORMATS, 'markdown'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The section headings of a summary, in order. @source seed 001, structured summarization prompt. */
export const SUMMARY_SECTIONS = [
  'Primary Request and Intent',
  'Key Technical Concepts',
  'Files and Code Sections',
  'Errors and Fixes',
  'Problem Solving',
  'All User Messages',
  'Pending Tasks',
  'Current Work',
  'Optional Next Step',
] as const;
export type SummarySection = (typeof SUMMARY_SECTIONS)[number];
