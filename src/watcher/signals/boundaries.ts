// Which boundaries are open: reached, and not yet used up by a decision. Immutable and JSON-safe, because it is part of
// the watcher's persisted state.

import type { Signal } from '../../protocol/signal.ts';
import type { Boundary, VerdictReason } from '../../vocabulary.ts';

/** Turns for which a boundary outlives an unrelated veto. @source spec 3-watcher §2 */
export const PENDING_TURNS = 3;

/** A reached boundary that has not started anything yet. */
export interface OpenBoundary {
  readonly signal: Signal;
  /** Turns that may still start before it expires; absent: it expires with the turn in which it was reached. */
  readonly turnsLeft?: number;
}

/** Whether a boundary was reached before the running turn. */
export function isCarriedOver({ turnsLeft }: OpenBoundary): boolean {
  return turnsLeft !== undefined && turnsLeft < PENDING_TURNS;
}

/** The newest place where a kind of boundary was noted. */
interface NewestNoted {
  readonly position: number;
  readonly ids: readonly string[];
}

/** What the watcher knows about boundaries. Its size does not grow with the session. */
export interface Boundaries {
  /** Oldest first. */
  readonly open: readonly OpenBoundary[];
  /** The newest noted place of each kind, so that nothing is noted twice, however long ago it was used up. */
  readonly noted: Readonly<Partial<Record<Boundary, NewestNoted>>>;
}

export const NO_BOUNDARIES: Boundaries = { open: [], noted: {} };

/** Maximum number of open boundaries of one kind: a decision needs the newest, and shows a few. */
const MAX_OPEN_OF_A_KIND = 4;
/** Maximum number of boundaries of one kind from a single item: a script may commit several times. */
const MAX_IDS_AT_A_PLACE = 32;

/**
 * Opens the reached boundaries. `signals` come in the order of the log, as from `SignalDetector`; a signal that was
 * noted before, or that precedes a noted one of its kind, changes nothing.
 */
export function noteSignals(boundaries: Boundaries, signals: readonly Signal[]): Boundaries {
  return signals.reduce(noteSignal, boundaries);
}

function noteSignal(boundaries: Boundaries, signal: Signal): Boundaries {
  const { boundary, position, id } = signal;
  const newest = boundaries.noted[boundary];
  if (newest !== undefined && position < newest.position) return boundaries;
  const ids = newest?.position === position ? newest.ids : [];
  if (ids.includes(id) || ids.length >= MAX_IDS_AT_A_PLACE) return boundaries;
  const others = boundaries.open.filter((each) => each.signal.boundary === boundary);
  const crowdedOut = others.length < MAX_OPEN_OF_A_KIND ? undefined : others[0];
  return {
    open: [...boundaries.open.filter((each) => each !== crowdedOut), { signal }],
    noted: { ...boundaries.noted, [boundary]: { position, ids: [...ids, id] } },
  };
}

/**
 * Starts a turn whose work counts: the user's, or a handoff's. Boundaries of the previous turn expire, except those
 * that a veto left pending.
 */
export function startTurn(boundaries: Boundaries): Boundaries {
  return {
    ...boundaries,
    open: boundaries.open.flatMap(({ signal, turnsLeft }) =>
      turnsLeft === undefined || turnsLeft <= 0 ? [] : [{ signal, turnsLeft: turnsLeft - 1 }],
    ),
  };
}

/** The outcome of a decision for boundaries; a `Decision` and its record both satisfy it. */
export interface Settled {
  readonly reason: VerdictReason;
  /** Signals that counted. */
  readonly signals: readonly Signal[];
  /** Ids of all boundaries that were open at the decision. */
  readonly openIds: readonly string[];
}

/**
 * Boundaries after a decision. An approval and a judge's veto use up all open boundaries: each boundary starts one sequence
 * or suggestion, and a judge has seen them all. A cooldown and active work do not count against a boundary, which stays
 * pending. Every other no leaves the boundaries open for the rest of their turn.
 */
export function settleBoundaries(boundaries: Boundaries, settled: Settled): Boundaries {
  switch (settled.reason) {
    case 'emergency':
    case 'boundary':
    case 'judgment':
      return consumeBoundaries(boundaries, settled.openIds);
    case 'cooldown':
    case 'active_work':
      return deferBoundaries(
        boundaries,
        settled.signals.map(({ id }) => id),
      );
    default:
      return boundaries;
  }
}

/** Reopens boundaries that a failed sequence used up; open ones are unchanged. */
export function reopenBoundaries(boundaries: Boundaries, signals: readonly Signal[]): Boundaries {
  const ids = new Set(boundaries.open.map(({ signal }) => signal.id));
  const again = signals.filter(({ id }) => !ids.has(id)).map((signal) => ({ signal }));
  return { ...boundaries, open: [...again, ...boundaries.open] };
}

/** Closes boundaries for good; ids that are not open change nothing. */
export function consumeBoundaries(boundaries: Boundaries, ids: readonly string[]): Boundaries {
  const open = boundaries.open.filter(({ signal }) => !ids.includes(signal.id));
  return open.length === boundaries.open.length ? boundaries : { ...boundaries, open };
}

/**
 * Leaves boundaries pending for `PENDING_TURNS` turns, counted from the first veto: a second one does not prolong it.
 * The end of a turn is never pending: in the next turn that pause is over.
 */
export function deferBoundaries(boundaries: Boundaries, ids: readonly string[]): Boundaries {
  return {
    ...boundaries,
    open: boundaries.open.map((each) =>
      each.turnsLeft !== undefined ||
      each.signal.boundary === 'turn_complete' ||
      !ids.includes(each.signal.id)
        ? each
        : { ...each, turnsLeft: PENDING_TURNS },
    ),
  };
}
