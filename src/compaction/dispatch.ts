// The one arbiter: nothing else in Baton decides that, or how, a history is compacted.

import type { Config } from '../config/schema.ts';
import type { CompactionPlan, RefusalReason } from '../protocol/plan.ts';
import { autoCompactThreshold, usableWindow } from '../tokens/pressure.ts';
import type { ThresholdSettings } from '../tokens/pressure.ts';
import { formatNumber } from '../tokens/words.ts';
import type { Strategy } from '../vocabulary.ts';
import { localNote, NO_MODEL } from './remote/obstacle.ts';
import type { RemoteObstacle } from './remote/obstacle.ts';
import { isRearmed, MOST_FULL_IN_TURN, MOST_MICRO_IN_TURN, openBreaker, rearmGrowth } from './loop-guard.ts';
import type { BreakerReason, Lease, LoopGuard, Requester } from './loop-guard.ts';

/** A request that a user made: `/compact` or `baton compact`. */
export interface ManualRequest {
  readonly from: 'manual';
  readonly strategy: Strategy;
}

/** The context for which a compaction is asked. Counts in tokens. */
export interface CompactionPressure {
  readonly used: number;
  /** As the model is sold; undefined while unknown. */
  readonly rawWindow: number | undefined;
  /** What would be used once old tool results are cleared; undefined where clearing is not worth it. */
  readonly usedAfterMicro: number | undefined;
}

/** The watcher asks, at the end of a turn or inside of one. */
export interface WatcherRequest {
  readonly from: 'watcher' | 'mid_turn';
  readonly pressure: CompactionPressure;
  readonly isEmergency: boolean;
  /** Used tokens with which the watcher would be content, `calmTokens`; undefined: clearing alone does not do. */
  readonly target: number | undefined;
}

/** The engine asks: before a turn, at its own limit inside of one, or after a provider has refused a request as too long. */
export interface EngineRequest {
  readonly from: 'pre_turn' | 'built_in' | 'overflow';
  readonly pressure: CompactionPressure;
}

export type CompactionRequest = ManualRequest | WatcherRequest | EngineRequest;

/** What the arbiter reads of a configuration. */
export interface DispatchSettings {
  /** `compact.enabled`: off refuses every request. */
  readonly isEnabled: boolean;
  /** `compact.auto_compact_enabled`: off refuses every request but the user's. */
  readonly isAutoEnabled: boolean;
  /** `features.compact_v2`: off leaves the legacy compaction and nothing else. */
  readonly isLegacy: boolean;
  /** `features.micro_compact`. */
  readonly hasMicro: boolean;
  /** `features.remote_compaction`. */
  readonly prefersRemote: boolean;
  /** What keeps the provider from compacting here; undefined: nothing does. */
  readonly remoteObstacle: RemoteObstacle | undefined;
  readonly thresholds: ThresholdSettings;
}

/** The settings of a configuration. @param remote what `findRemoteObstacle` says; without it there is no model to ask */
export function dispatchSettings(
  config: Config,
  { obstacle: remoteObstacle }: { readonly obstacle: RemoteObstacle | undefined } = { obstacle: NO_MODEL },
): DispatchSettings {
  return {
    isEnabled: config.compact.enabled,
    isAutoEnabled: config.compact.autoCompactEnabled,
    isLegacy: !config.features.compactV2,
    hasMicro: config.features.microCompact && config.features.compactV2,
    prefersRemote: config.features.remoteCompaction,
    remoteObstacle,
    thresholds: thresholdsOf(config),
  };
}

/** What places the thresholds of a configuration. An automatic compaction needs both switches. */
export function thresholdsOf({ compact, modelAutoCompactTokenLimit }: Config): ThresholdSettings {
  const autoCompactEnabled = compact.enabled && compact.autoCompactEnabled;
  return { ...compact, autoCompactEnabled, modelLimit: modelAutoCompactTokenLimit };
}

/**
 * What to do about a request.
 *
 * Clearing old tool results comes first where it alone is enough, but never satisfies a user who asks for a compaction,
 * unless it was requested. An open breaker stops everything that calls a model; the engine's own requests may
 * still keep the newest turns, once per user turn. An overflow and an emergency do not wait for growth.
 * @source spec 2-engine §6
 */
export function dispatch(
  request: CompactionRequest,
  guard: LoopGuard,
  settings: DispatchSettings,
): CompactionPlan {
  if (!settings.isEnabled)
    return none('disabled', 'compact.enabled is false, which disables every compaction');
  if (request.from === 'manual') return dispatchManual(request, guard, settings);
  if (!settings.isAutoEnabled) {
    return none(
      'auto_disabled',
      'compact.auto_compact_enabled is false, which leaves compaction to the user',
    );
  }
  if (guard.lease !== undefined) return leaseTaken(guard.lease);
  const due = dueTo(request, settings);
  if (due === undefined) return notNeeded(request.pressure, settings);
  return (
    clearing(request, guard, settings) ??
    stopped(request, guard) ??
    resting(request, guard) ??
    summarising(due, settings)
  );
}

function dispatchManual(
  { strategy }: ManualRequest,
  guard: LoopGuard,
  settings: DispatchSettings,
): CompactionPlan {
  if (guard.lease !== undefined) return leaseTaken(guard.lease);
  const { isLegacy, hasMicro, remoteObstacle } = settings;
  const why = 'the user asked for a compaction';
  switch (strategy) {
    case 'auto':
      return summarising(why, settings);
    case 'full':
      return isLegacy ? { type: 'legacy', why } : { type: 'full', why };
    case 'micro':
      if (isLegacy) return legacyOnly('micro-compaction');
      return hasMicro
        ? { type: 'micro', why: 'the user asked for micro-compaction' }
        : none('micro_disabled', 'features.micro_compact is false');
    case 'remote':
      if (isLegacy) return legacyOnly('remote compaction');
      return remoteObstacle === undefined
        ? { type: 'remote', why: "the user asked for the provider's own compaction" }
        : none('remote_unavailable', remoteObstacle.why);
  }
}

function legacyOnly(what: string): CompactionPlan {
  return none('legacy_only', `${what} is part of features.compact_v2, which is false`);
}

/** Who compacts where clearing does not do: the provider where that is wished and possible. @source spec 2-engine §6 */
function summarising(
  why: string,
  { isLegacy, prefersRemote, remoteObstacle }: DispatchSettings,
): CompactionPlan {
  if (isLegacy) {
    const note = 'features.remote_compaction has no effect while features.compact_v2 is false.';
    return { type: 'legacy', why, ...(prefersRemote ? { note } : {}) };
  }
  if (!prefersRemote) return { type: 'full', why };
  if (remoteObstacle === undefined) return { type: 'remote', why };
  return { type: 'full', why, note: localNote(remoteObstacle) };
}

/** Why an automatic request is one to act on; undefined when it is none. */
function dueTo(
  { from, pressure }: WatcherRequest | EngineRequest,
  settings: DispatchSettings,
): string | undefined {
  const used = `${formatNumber(pressure.used)} tokens are used`;
  switch (from) {
    case 'watcher':
    case 'mid_turn':
      return `the watcher asked for a compaction while ${used}`;
    case 'overflow':
      return `the provider refused the request as too long; ${used}`;
    case 'pre_turn':
    case 'built_in':
      return isBuiltInDue(pressure, settings)
        ? `${used}, and the built-in limit is ${formatNumber(builtInLimit(pressure, settings.thresholds))}`
        : undefined;
  }
}

/**
 * Whether the engine compacts by itself: at its limit, which is where the gauge says `auto_compact`. With no window known
 * only a limit for the model can say so. That at most 5 % are left (seed 002) needs no rule of its own: it is later than
 * 90 % of the window.
 * @source spec 2-engine §2, §6
 */
export function isBuiltInDue(pressure: CompactionPressure, { thresholds }: DispatchSettings): boolean {
  return pressure.used >= builtInLimit(pressure, thresholds);
}

/** The usage at which the built-in compaction is due, in tokens; infinite where nothing is known. */
function builtInLimit({ rawWindow }: CompactionPressure, thresholds: ThresholdSettings): number {
  return rawWindow === undefined
    ? (thresholds.modelLimit ?? Infinity)
    : autoCompactThreshold(rawWindow, thresholds);
}

function clearing(
  { from, pressure, ...request }: WatcherRequest | EngineRequest,
  { inTurn }: LoopGuard,
  settings: DispatchSettings,
): CompactionPlan | undefined {
  const { used, usedAfterMicro } = pressure;
  if (!settings.hasMicro || usedAfterMicro === undefined || inTurn.micro >= MOST_MICRO_IN_TURN) {
    return undefined;
  }
  const target = 'target' in request ? request.target : builtInLimit(pressure, settings.thresholds) - 1;
  if (target === undefined || target === Infinity) return undefined;
  if (usedAfterMicro > target || usedAfterMicro >= used) return undefined;
  return {
    type: 'micro',
    why: `clearing old tool results leaves ${formatNumber(usedAfterMicro)} of ${formatNumber(used)} tokens, which is enough${from === 'overflow' ? ' for the provider' : ''}`,
  };
}

/** The answer of an open breaker. */
function stopped({ from }: WatcherRequest | EngineRequest, guard: LoopGuard): CompactionPlan | undefined {
  const breaker = openBreaker(guard);
  if (breaker === undefined) return undefined;
  const why = BREAKER_SENTENCES[breaker];
  if (from === 'watcher' || from === 'mid_turn' || guard.inTurn.newestTurns > 0) {
    return none(
      'breaker_open',
      `${why}; it resumes after /compact, a change of model or, with room left, your next message`,
    );
  }
  return { type: 'newest_turns', why: `${why}; the newest turns are kept, without asking a model` };
}

const BREAKER_SENTENCES: Readonly<Record<BreakerReason, string>> = {
  effect: 'two automatic compactions in a row freed less than 10 %',
  progress: 'nothing new was added between the last automatic compactions',
  count: `there were ${MOST_FULL_IN_TURN} automatic compactions in this turn`,
};

/** The answer while usage has not grown enough. */
function resting(request: WatcherRequest | EngineRequest, guard: LoopGuard): CompactionPlan | undefined {
  const { used, rawWindow } = request.pressure;
  const window = rawWindow === undefined ? undefined : usableWindow(rawWindow);
  const waitsForGrowth = request.from !== 'overflow' && !('isEmergency' in request && request.isEmergency);
  if (!waitsForGrowth || isRearmed(guard, used, window)) return undefined;
  const from = guard.rearm?.used ?? 0;
  return none(
    'rearm',
    `usage has grown by ${formatNumber(Math.max(0, used - from))} tokens since the last compaction or veto, less than the required ${formatNumber(Math.ceil(rearmGrowth(guard, window)))}`,
  );
}

function notNeeded(pressure: CompactionPressure, settings: DispatchSettings): CompactionPlan {
  const limit = builtInLimit(pressure, settings.thresholds);
  return none(
    'not_needed',
    `${formatNumber(pressure.used)} tokens are used, and ${limit === Infinity ? 'no limit is known' : `the built-in limit is ${formatNumber(limit)}`}`,
  );
}

const REQUESTER_NAMES: Readonly<Record<Requester, string>> = {
  manual: 'the user',
  watcher: 'the watcher',
  mid_turn: 'the watcher',
  pre_turn: 'the engine',
  built_in: 'the engine',
  overflow: 'the engine',
};

function leaseTaken({ from, epoch }: Lease): CompactionPlan {
  return none(
    'lease_taken',
    `a compaction that ${REQUESTER_NAMES[from]} asked for is in flight (epoch ${epoch})`,
  );
}

function none(reason: RefusalReason, why: string): CompactionPlan {
  return { type: 'none', reason, why };
}
