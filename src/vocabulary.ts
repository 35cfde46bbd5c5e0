// The words of the field, once each. Every other file imports them from here; a synonym elsewhere is a mistake.

/** Who asked for a compaction: the user (`manual`) or a policy (`auto`). @source Codex and Claude Code, both. */
export const TRIGGERS = ['manual', 'auto'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Why a compaction was asked for. @source spec 2-engine §7, after Codex's analytics. */
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

/** What carried a compaction out. `embedded` is the deterministic summarizer that needs no model. */
export const IMPLEMENTATIONS = ['micro', 'full', 'remote', 'legacy', 'embedded'] as const;
export type Implementation = (typeof IMPLEMENTATIONS)[number];

/** Which strategy a caller may ask for; `auto` lets dispatch choose. */
export const STRATEGIES = ['auto', 'micro', 'full'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Who wrote an item of the history. `harness` is text that a product injects in the user's name. */
export const AUTHORS = ['user', 'agent', 'harness', 'synthetic'] as const;
export type Author = (typeof AUTHORS)[number];

/** The steps of a golden-path sequence, in the order that the product promises. @source seed 004. */
export const STEPS = ['heads_up', 'scratch', 'packet_request', 'packet', 'handoff'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Moments at which work can be interrupted, structured ones first; what the watcher waits for.
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

/** What fills a context window, by category; the bars of `inspect` in the order shown. */
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

/** The word beside the gauge: colour is never the only signal. Weakest first. */
export const PRESSURES = ['calm', 'warning', 'error', 'auto_compact'] as const;
export type PressureWord = (typeof PRESSURES)[number];

/** Session file formats that Baton reads. */
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

/** What a file of each format is called, to people. */
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

/** Formats of agents to whose sessions a compaction is appended, so that the agent resumes them. */
export const AGENT_FORMATS = ['codex', 'claude-code'] as const satisfies readonly Format[];
export type AgentFormat = (typeof AGENT_FORMATS)[number];

/** Formats of messages as an API takes them. */
export const MESSAGE_FORMATS = ['responses', 'anthropic', 'chat'] as const satisfies readonly Format[];
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Formats in which a compacted session can be written; `markdown` is for people. */
export type WriteFormat = AgentFormat | MessageFormat | 'markdown';

/** What `--format` may be. */
export const OUTPUT_FORMATS = ['same', 'codex', 'claude', ...MESSAGE_FORMATS, 'markdown'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Section headings of a summary, in order. @source seed 001, structured summarization prompt. */
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
