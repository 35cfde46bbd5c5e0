// `baton-agent/watcher`: the watcher for your own agent, and for recorded sessions.

export { LiveWatcher } from '../watcher/live/live-watcher.io.ts';
export type { WatcherBeginning } from '../watcher/live/live-watcher.io.ts';
export type {
  CompactionEnd,
  CompactionOrder,
  CompactionWish,
  WatchedAgent,
  WatcherSettings,
  WatcherVoice,
  WatcherWorld,
} from '../watcher/live/agent.ts';
export type { UserMessage } from '../watcher/state.ts';
export type { TurnOrigin } from '../protocol/turn.ts';
export { resolvePolicy } from '../watcher/policy.ts';
export type { Policy } from '../watcher/policy.ts';
export { signalSettings } from '../watcher/signals/signals.ts';
export { SNIPPET_PLACEHOLDER } from '../watcher/packet/accept.ts';
export { parsePrompt } from '../prompts/frontmatter.ts';
export { SHIPPED_PROMPTS } from '../prompts/shipped.ts';

export { Compactor } from '../compaction/compactor.io.ts';
export type {
  CompactableThread,
  CompactionAsk,
  CompactionOutcome,
  WatcherAsk,
} from '../compaction/compactor.io.ts';

export { FactsFold } from '../lab/replay/facts.ts';
export { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../lab/replay/limit.ts';
export { Replay } from '../lab/replay/replay.ts';
export type { PolicyChoice, ReplaySettings } from '../lab/replay/replay.ts';
export type { PolicyOutcome, SessionReplay, SimulatedCompaction } from '../lab/replay/outcome.ts';
export { WatcherPlayer } from '../lab/replay/watched.ts';
