// How much room is left: the one number that gauge, tiers, log and reports share.

import type { PressureWord } from '../vocabulary.ts';

/** Share of the raw window that a session may use. @source Codex `effective_context_window_percent`. */
export const EFFECTIVE_WINDOW_PERCENT = 95;

/** Share of the window at which built-in compaction fires at the latest. @source Codex, seed 002, spec 2-engine §2. */
const BUILT_IN_LIMIT_PERCENT = 90;

/** The usable part of a raw window, rounded down. */
export function usableWindow(rawWindow: number): number {
  return Math.floor((rawWindow * EFFECTIVE_WINDOW_PERCENT) / 100);
}

/**
 * Share of the usable window that is free: 0 to 100, rounded down, so that a tier triggers a token early.
 * @throws RangeError if the window is not positive: a share of it would be meaningless.
 */
export function percentRemaining(used: number, usable: number): number {
  if (!(usable > 0)) throw new RangeError(`A usable window of ${usable} tokens has no percentage`);
  return Math.floor((100 * Math.max(0, usable - Math.max(0, used))) / usable);
}

/** The keys of `[compact]` that place the thresholds, in tokens. */
export interface ThresholdSettings {
  readonly autoCompactEnabled: boolean;
  readonly autoCompactThreshold?: number | undefined;
  /** 1 to 100. */
  readonly autoCompactPctOverride?: number | undefined;
  /** `model_auto_compact_token_limit`: a limit for the model, beside the ones for every model. */
  readonly modelLimit?: number | undefined;
  readonly freeSpaceBuffer: number;
  readonly warningThreshold: number;
  readonly errorThreshold?: number | undefined;
}

/** A context's position relative to its thresholds. */
export interface ThresholdState {
  readonly autoCompactThreshold: number;
  /** Share of the auto-compact threshold (of the window if auto-compaction is off) still free; 0 to 100. */
  readonly percentUntilAutoCompact: number;
  readonly isAboveWarning: boolean;
  readonly isAboveError: boolean;
  readonly isAboveAutoCompact: boolean;
  /** The gauge's word. */
  readonly word: PressureWord;
}

/**
 * The usage at which automatic compaction fires: the smallest of the override, 90 % of the window and the window less the
 * free-space buffer, but at least half of the window; an explicit limit for the model applies unchanged.
 * @source spec 2-engine §2. Seed 001 §7 has only the window less 13,000, which is above its caller's 90 % for windows over
 * 130,000 and then never fires.
 */
export function autoCompactThreshold(rawWindow: number, settings: ThresholdSettings): number {
  const { autoCompactThreshold: explicit, autoCompactPctOverride: percent } = settings;
  const override = explicit ?? (percent === undefined ? Infinity : Math.floor((rawWindow * percent) / 100));
  const builtIn = Math.floor((rawWindow * BUILT_IN_LIMIT_PERCENT) / 100);
  const threshold = Math.max(
    Math.floor(rawWindow / 2),
    Math.min(override, builtIn, rawWindow - settings.freeSpaceBuffer),
  );
  return Math.min(threshold, settings.modelLimit ?? Infinity);
}

/** All thresholds at once. `used` and `rawWindow` in tokens. */
export function thresholdState(used: number, rawWindow: number, settings: ThresholdSettings): ThresholdState {
  const autoCompact = autoCompactThreshold(rawWindow, settings);
  const limit = settings.autoCompactEnabled ? autoCompact : rawWindow;
  const isAboveWarning = used >= warningLevel(rawWindow, settings.warningThreshold);
  const isAboveError = used >= warningLevel(rawWindow, settings.errorThreshold ?? settings.warningThreshold);
  const isAboveAutoCompact = settings.autoCompactEnabled && used >= autoCompact;
  return {
    autoCompactThreshold: autoCompact,
    percentUntilAutoCompact: percentRemaining(used, limit),
    isAboveWarning,
    isAboveError,
    isAboveAutoCompact,
    word: isAboveAutoCompact ? 'auto_compact' : isAboveError ? 'error' : isAboveWarning ? 'warning' : 'calm',
  };
}

/** Used tokens at which a warning starts. At least half of the window: an empty context in a small window needs none. */
export function warningLevel(rawWindow: number, threshold: number): number {
  return Math.max(Math.floor(rawWindow / 2), rawWindow - threshold);
}

/** Codex compacts at 90 % of the raw window. @source codex-behaviour §3 */
export function codexLimit(rawWindow: number): number {
  return Math.floor((rawWindow * 90) / 100);
}

/** Claude Code compacts 33,000 tokens before the end of the raw window. @source claude-code-behaviour §4, measured */
export function claudeLimit(rawWindow: number): number {
  return Math.max(Math.floor(rawWindow / 2), rawWindow - 33_000);
}
