// The rules that the watcher goes by, as values: what a configuration, a prompt's frontmatter or a preset comes to.

import type { Boundary, InfoLines, MidTurnMode, PacketAuthor, Tier, WatcherMode } from '../vocabulary.ts';

/** When a tier holds and what it asks for. */
export interface TierPolicy {
  /** The tier holds while less than this percentage of the window remains: 0 (never) to 100. */
  readonly percentRemainingBelow: number;
  /** The tier also holds from this many used tokens on. */
  readonly usedTokensFrom: number | undefined;
  /** Any of these suffices; none: the tier never compacts. The emergency asks for none. */
  readonly required: readonly Boundary[];
  /** A change of the plan counts only beside a commit, a checkpoint, a phase or a semantic boundary. */
  readonly plansNeedSemanticBreak: boolean;
  /** Prompt of the judge that may veto; undefined: nobody is asked. */
  readonly decisionPromptPath: string | undefined;
}

/** What is waited for, each with the milliseconds without a sign of life after which it is given up. */
export const DEADLINES = ['judgment', 'scratch', 'packet', 'compaction', 'handoff'] as const;
export type Deadline = (typeof DEADLINES)[number];

/** Everything that the watcher's decisions and its sequence depend on besides what happens. */
export interface Policy {
  /** `features.rawr_auto_compaction`, `compact.enabled` and `compact.auto_compact_enabled` together. */
  readonly isEnabled: boolean;
  readonly mode: WatcherMode;
  /** Off: no heads-up and a packet without its fence. */
  readonly isTurnBased: boolean;
  readonly packetAuthor: PacketAuthor;
  /** Heads-up, scratch and packet request are one message and one turn. */
  readonly combinesRequests: boolean;
  readonly writesScratch: boolean;
  readonly midTurn: MidTurnMode;
  readonly tiers: Readonly<Record<Tier, TierPolicy>>;
  /** Turns of the user that must have ended since the last compaction or veto. */
  readonly cooldownTurns: number;
  /** Or the milliseconds that must have passed. */
  readonly cooldownMs: number;
  /** The end of a turn suffices as a boundary while less than this percentage remains; 0: never by itself. */
  readonly turnCompleteSufficesBelow: number;
  /** `turn_complete` is required, so that a watcher-written packet waits for the user's next message. */
  readonly defersToNextMessage: boolean;
  readonly deadlinesMs: Readonly<Record<Deadline, number>>;
  readonly infoLines: InfoLines;
}
