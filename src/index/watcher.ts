// `baton-agent/watcher`: the watcher over an agent of your own, and over recorded sessions.

export { LiveWatcher } from '../watcher/live/driver.ts';
export type { WatcherBeginning } from '../watcher/live/driver.ts';
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
export { signalSettings } from '../watcher/signals.ts';
export { SNIPPET_PLACEHOLDER } from '../watcher/packet/accept.ts';
export { parsePrompt } from '../prompts/frontmatter.ts';
export { SHIPPED_PROMPTS } from '../prompts/shipped.ts';

export { Compactor } from '../compaction/compactor/driver.ts';
export type {
  CompactableThread,
  CompactionAsk,
  CompactionOutcome,
  WatcherAsk,
} from '../compaction/compactor/driver.ts';

export { FactsFold } from '../replay/facts.ts';
export { CLAUDE_RULE, CODEX_RULE, LimitPlayer, NonePlayer } from '../replay/limit.ts';
export { Replay } from '../replay/replay.ts';
export type { PolicyChoice, ReplaySettings } from '../replay/replay.ts';
export type { PolicyOutcome, SessionReplay, SimulatedCompaction } from '../replay/outcome.ts';
export { WatcherPlayer } from '../replay/watched.ts';
