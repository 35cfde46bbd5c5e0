// The watcher's lines for the user. The bracketed words are the field's own, so that people and scripts find them.

import type { DecisionRecord, Verdict } from '../protocol/decision.ts';
import type { Boundary, Step, Tier } from '../vocabulary.ts';
import type { Policy } from './policy.ts';
import type { Show } from './effects.ts';

/**
 * A line of the transcript. `decision`: the decision; `step`: what the watcher does about it. `info_lines` selects
 * among them; warnings are always shown. @source seed 003 §2, spec 3-watcher §6
 */
export function infoLine(kind: 'decision' | 'step', text: string, policy: Policy): readonly Show[] {
  const isShown = policy.infoLines === 'all' || (policy.infoLines === 'decisions' && kind === 'decision');
  return isShown ? [{ type: 'show', surface: 'info', text: `[rawr] auto-compaction${text}` }] : [];
}

/** A failure, or something else that the user must know; shown regardless of `info_lines`. */
export function warningLine(text: string): Show {
  return { type: 'show', surface: 'warning', text: `[rawr] auto-compaction: ${text}` };
}

/** The live line for a new boundary; none while the watcher is off. */
export function boundaryStatus(boundary: Boundary | 'turn_started', policy: Policy): readonly Show[] {
  return policy.isEnabled ? [{ type: 'show', surface: 'status', text: `RAWR boundary: ${boundary}` }] : [];
}

/** The live line for a compaction about to be requested. @source seed 003 §1 */
export function decisionStatus({ tier, reason, situation }: DecisionRecord): Show {
  const percent = situation.percentRemaining ?? 'unknown';
  return {
    type: 'show',
    surface: 'status',
    text: `RAWR decision: token_pressure action=compact, tier=${tier ?? 'none'}, percent_remaining=${percent}, reason=${reason}`,
  };
}

/** One line for each request of a message. */
export function requestLines(steps: readonly Step[], isReminder: boolean, policy: Policy): readonly Show[] {
  return steps.flatMap((step) => {
    if (step === 'scratch') return infoLine('step', ': requesting scratch write', policy);
    if (step !== 'packet_request') return [];
    const again = isReminder ? ' (once more, for what is missing)' : '';
    return infoLine('step', `: requesting continuation packet${again}`, policy);
  });
}

/** The text that `tag` and `suggest` show instead of acting. @source seed 000; rawr-behaviour §8.2 */
export function suggestionText(mode: 'tag' | 'suggest', percentRemaining: number | undefined): string {
  const left = contextLeft(percentRemaining);
  return mode === 'tag'
    ? ` watcher: would compact now (tag).${left}`
    : ` watcher: recommend compact now (suggest).${left} Run /compact to proceed, or set rawr_auto_compaction.mode = "auto".`;
}

/** Why Baton did not compact. */
export function skipText({ reason, why }: Verdict): string {
  return `: skipping auto compact (${reason}). ${why}`;
}

/** Shown once in a thread, before its first compaction. @source spec 3-watcher §3, modes */
export const MODE_EXPLAINED =
  ': acts by itself at natural boundaries; rawr_auto_compaction.mode = "suggest" makes it recommend instead.';

/** The question to a judge. */
export function judgmentRequestedText(tier: Tier | undefined, percentRemaining: number | undefined): string {
  return `: request judgment (tier=${tier ?? 'none'}, percent_remaining=${percentRemaining ?? 'unknown'})`;
}

function contextLeft(percentRemaining: number | undefined): string {
  return percentRemaining === undefined ? '' : ` Context window: ${percentRemaining}% left.`;
}
