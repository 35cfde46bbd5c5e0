// Why a compaction happened now, in a few words, and how long until the next. Pure.

import type { Chat } from './chat.ts';
import type { EventNamed } from '../channel.ts';

type Signal = EventNamed<'watcher_decision'>['signals'][number];

/** Characters of a hash that people read. @source git */
const SHORT_HASH = 7;

/** The boundary at which the newest decision compacted; empty if the user asked for it. */
export function momentOf({ decision, watcher }: Pick<Chat, 'decision' | 'watcher'>): string {
  if (decision?.should_compact !== true || watcher === undefined || watcher.stage === 'idle') return '';
  if (decision.reason === 'emergency') return 'because the window was nearly full';
  const signal = decision.signals[0];
  return signal === undefined ? '' : `at ${boundaryWords(signal)}`;
}

function boundaryWords({ boundary, evidence }: Signal): string {
  if (boundary === 'commit' && evidence.type === 'command' && evidence.hash !== null) {
    return `commit ${evidence.hash.slice(0, SHORT_HASH)}`;
  }
  return BOUNDARY_WORDS[boundary];
}

const BOUNDARY_WORDS: Readonly<Record<Signal['boundary'], string>> = {
  commit: 'a commit',
  pr_checkpoint: 'a pull request',
  plan_checkpoint: 'a finished step of the plan',
  plan_update: 'a new plan',
  phase_completed: 'the end of a phase',
  agent_done: 'the end of the work',
  topic_shift: 'a change of topic',
  concluding_thought: 'a conclusion',
  turn_complete: 'the end of a turn',
};

/** Turns that a forecast needs: one difference says nothing. */
const LEAST_TURNS = 3;

/**
 * The user's turns until the window is full enough to be compacted in any case, at the mean growth of the latest turns.
 * @returns a whole number of at least 0; undefined while too little is known, or if the context does not grow
 */
export function turnsLeft({
  filling,
  gauge,
  status,
}: Pick<Chat, 'filling' | 'gauge' | 'status'>): number | undefined {
  const limit = status?.thresholds?.auto_compact ?? status?.usable_window ?? undefined;
  const first = filling[0];
  const last = filling.at(-1);
  if (limit === undefined || first === undefined || last === undefined) return undefined;
  if (filling.length < LEAST_TURNS) return undefined;
  const growth = (last - first) / (filling.length - 1);
  if (growth <= 0) return undefined;
  return Math.max(0, Math.floor((limit - (gauge?.used ?? last)) / growth));
}
