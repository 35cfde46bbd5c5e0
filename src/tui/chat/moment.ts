// Why a compaction happened now, in a few words, and how long until the next. Pure.

import type { Chat } from './chat.ts';
import type { EventNamed } from '../channel.ts';

type Signal = EventNamed<'watcher_decision'>['signals'][number];

/** Characters of a hash that people read. @source git */
const SHORT_HASH = 7;

/** Why a compaction happened now, in words that follow its numbers: `at commit c4a690d`, `by you`. */
export function momentOf({ decision, turn, watcher }: Pick<Chat, 'decision' | 'turn' | 'watcher'>): string {
  const isWatchers = watcher !== undefined && watcher.stage !== 'idle';
  if (!isWatchers) return turn === undefined || turn.kind === 'compact' ? 'by you' : NEARLY_FULL;
  return decision?.should_compact === true ? decidedMoment(decision) : '';
}

/** The moment that a decision chose. */
export function decidedMoment({ reason, signals }: EventNamed<'watcher_decision'>): string {
  if (reason === 'emergency') return NEARLY_FULL;
  // The most telling boundary is the first of the vocabulary.
  const best = BY_RANK.flatMap((each) => signals.findLast(({ boundary }) => boundary === each) ?? [])[0];
  return best === undefined ? '' : `at ${boundaryWords(best)}`;
}

const NEARLY_FULL = 'because the window was nearly full';

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
  phase_completed: 'the end of a phase',
  plan_update: 'a change of the plan',
  agent_done: 'the end of the work',
  topic_shift: 'a change of topic',
  concluding_thought: 'a conclusion',
  turn_complete: 'the end of a turn',
};

/** What people would name first, of several boundaries at once. @source spec 3-watcher §2: structured ones first */
const BY_RANK = Object.keys(BOUNDARY_WORDS) as readonly Signal['boundary'][];

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
