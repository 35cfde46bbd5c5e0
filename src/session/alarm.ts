// When to warn the user that the window fills: once for each threshold that usage crosses.

import type { ThresholdState } from '../tokens/pressure.ts';
import { formatNumber } from '../tokens/words.ts';

/** A context against its thresholds. */
export interface Alarm {
  readonly used: number;
  readonly rawWindow: number;
  readonly state: ThresholdState;
  /** Compaction starts by itself. */
  readonly isAutomatic: boolean;
}

/** The warning for a threshold between two moments; undefined if none was crossed upwards. */
export function alarmSentence(now: Alarm | undefined, before: Alarm | undefined): string | undefined {
  if (now === undefined || levelOf(now) <= levelOf(before)) return undefined;
  const { used, rawWindow, state, isAutomatic } = now;
  const left = Math.max(0, rawWindow - used);
  const next = !isAutomatic
    ? 'Automatic compaction is off: run /compact to make room.'
    : state.isAboveAutoCompact
      ? 'Compaction is due now.'
      : `Compaction starts at ${formatNumber(state.autoCompactThreshold)}.`;
  const word = state.isAboveError ? 'almost full' : 'filling up';
  return `The context is ${word}: ${formatNumber(used)} of ${formatNumber(rawWindow)} tokens are used, and ${formatNumber(left)} are left. ${next}`;
}

function levelOf(alarm: Alarm | undefined): number {
  if (alarm === undefined) return 0;
  return alarm.state.isAboveError ? 2 : alarm.state.isAboveWarning ? 1 : 0;
}
