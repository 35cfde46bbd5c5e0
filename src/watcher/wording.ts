// The sentences that explain a decision: plain words, with the deciding numbers.

import type { ActiveWork, Situation } from '../protocol/decision.ts';
import type { Evidence, Signal } from '../protocol/signal.ts';
import { formatNumber } from '../tokens/words.ts';
import { clip } from '../text/sentences.ts';
import type { Boundary, MidTurnMode, Tier } from '../vocabulary.ts';
import type { Policy } from './policy.ts';

const NAMES: Readonly<Record<Boundary, string>> = {
  commit: 'a commit',
  pr_checkpoint: 'a checkpoint of the pull request',
  plan_checkpoint: 'a completed step of the plan',
  plan_update: 'a change of the plan',
  phase_completed: 'a completed phase',
  agent_done: "the agent's word that it is done",
  topic_shift: 'a change of topic',
  concluding_thought: 'a concluding thought',
  turn_complete: 'the end of a turn',
};

const WORK: Readonly<Record<ActiveWork, string>> = {
  tool: 'a tool is still running',
  queued_input: 'a message of the user is waiting',
};

/** Maximum length of quoted session text, in characters. */
const SHOWN_CHARACTERS = 80;

/** `58 % of the window is left (39,900 of 95,000 tokens used), below the 65 % of asap`: the start of the other sentences. */
export function pressure(situation: Situation, tier: Tier, policy: Policy): string {
  const { percentRemainingBelow, usedTokensFrom } = policy.tiers[tier];
  const { used, percentRemaining } = situation;
  if (percentRemaining !== undefined && percentRemaining < percentRemainingBelow) {
    return `${room(situation)}, below the ${percentRemainingBelow} % of ${tier}`;
  }
  return `${formatNumber(used)} tokens are used, and ${tier} begins at ${formatNumber(usedTokensFrom ?? 0)}`;
}

/** No tier applies. */
export function aboveThreshold(situation: Situation, { tiers }: Policy): string {
  const { used, percentRemaining } = situation;
  if (percentRemaining === undefined) {
    return `The model's window is unknown and ${formatNumber(used)} tokens are used: no tier applies.`;
  }
  const highest = Math.max(...Object.values(tiers).map((tier) => tier.percentRemainingBelow));
  return `${room(situation)}; the first tier begins below ${highest} %.`;
}

function room({ used, window, percentRemaining }: Situation): string {
  const of = window === undefined ? '' : ` of ${formatNumber(window)}`;
  return `${percentRemaining ?? 0} % of the window is left (${formatNumber(used)}${of} tokens used)`;
}

/** The policy never compacts. */
export function switchedOff(): string {
  return 'Automatic compaction is off.';
}

/** The policy does not compact here. */
export function offInsideTurns(midTurn: MidTurnMode): string {
  return midTurn === 'off'
    ? 'mid_turn = off: nothing is compacted inside a turn.'
    : `mid_turn = ${midTurn}: inside a turn, only an emergency triggers a compaction.`;
}

/** A compaction would gain too little. */
export function belowFloor({ used, projected }: Situation): string {
  const shown = `${formatNumber(used)} tokens are used`;
  return projected < used
    ? `A compaction would win too little: ${shown}, and it would leave about ${formatNumber(projected)}.`
    : `A compaction would win nothing: ${shown}, and what it leaves may take as many.`;
}

/** An approval without a boundary. */
export function emergency(lead: string): string {
  return `${lead}: not waiting for a boundary.`;
}

/** An approval. */
export function boundary(lead: string, signals: readonly Signal[]): string {
  return `${lead}, and ${list(namesOf(signals), 'and')} ${plural(signals)} reached${shownEvidence(signals)}.`;
}

function plural(signals: readonly Signal[]): 'was' | 'were' {
  return new Set(signals.map((signal) => signal.boundary)).size === 1 ? 'was' : 'were';
}

/** None of the tier's boundaries was reached. */
export function noBoundary(lead: string, reached: readonly Signal[], required: readonly Boundary[]): string {
  const instead = reached.length === 0 ? 'no boundary' : `only ${list(namesOf(reached), 'and')}`;
  const were = plural(reached);
  const awaited =
    required.length === 0
      ? 'nothing suffices here'
      : `it takes ${list(
          required.map((each) => NAMES[each]),
          'or',
        )}`;
  return `${lead}, but ${instead} ${reached.length === 0 ? 'was' : were} reached; ${awaited}.`;
}

/** A plan change in early or ready. */
export function needsSemanticBreak(lead: string): string {
  return `${lead}, but a change of the plan counts here only together with a commit, a checkpoint, a completed phase or the agent's word that it is done, concludes or moves on.`;
}

/** Too soon after the last one. */
export function coolingDown(
  lead: string,
  { turnsEnded, elapsedMs }: { readonly turnsEnded: number; readonly elapsedMs: number | undefined },
  { cooldownTurns, cooldownMs }: Policy,
): string {
  const time =
    elapsedMs === undefined ? '' : ` and ${seconds(elapsedMs)} of ${seconds(cooldownMs)} seconds have passed`;
  return `${lead}, but since the last compaction or veto ${turnsEnded} of ${cooldownTurns} turns have ended${time}.`;
}

function seconds(ms: number): string {
  return formatNumber(Math.floor(ms / 1000));
}

/** Something is still running. */
export function activeWork(lead: string, work: ActiveWork): string {
  return `${lead}, but ${WORK[work]}.`;
}

/** Only plan changes were reached. */
export function weakBoundary(lead: string): string {
  return `${lead}, but a change of the plan alone is a weak boundary while the turn goes on.`;
}

/** Nothing to write a packet about. */
export function notPacketWorthy(lead: string, characters: number): string {
  return `${lead}, but there is nothing to hand over: no request with an action since the last compaction, and no last message of ${characters} characters.`;
}

/** The arbiter refused. @param why its own sentence, without a full stop */
export function refused(why: string): string {
  return `The arbiter refused: ${why}.`;
}

/** A judge vetoed. @param reason the judge's own words */
export function vetoed(reason: string): string {
  const words = clip(reason.replaceAll(/\s+/g, ' ').trim(), 2 * SHOWN_CHARACTERS);
  return words === '' ? 'The judge vetoed without a reason.' : `The judge vetoed: ${words}`;
}

function namesOf(signals: readonly Signal[]): string[] {
  return [...new Set(signals.map((signal) => NAMES[signal.boundary]))];
}

function list(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;
}

/** The newest evidence is the most informative. */
function shownEvidence(signals: readonly Signal[]): string {
  const newest = signals.findLast(({ evidence }) => evidence.type !== 'turn');
  const text = newest === undefined ? '' : textOf(newest.evidence);
  return text === '' ? '' : ` (${clip(text, SHOWN_CHARACTERS)})`;
}

function textOf(evidence: Evidence): string {
  switch (evidence.type) {
    case 'command':
      return evidence.command;
    case 'plan':
      return `${evidence.done} of ${evidence.steps} steps are done`;
    case 'phase':
      return evidence.summary;
    case 'phrase':
      return `"${evidence.phrase}"`;
    case 'turn':
      return '';
  }
}
