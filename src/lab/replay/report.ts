// Policies side by side: one line each, over one or many sessions.

import type { Bill } from './bill.ts';
import type { GaugeSample } from './context.ts';
import { usableWindow } from '../../tokens/pressure.ts';
import { PLACES } from './outcome.ts';
import type { CompactionPlace, PolicyOutcome, SessionReplay } from './outcome.ts';

/** One policy in numbers. Sizes in tokens. */
export interface PolicyLine {
  readonly policy: string;
  readonly sessions: number;
  /** Compactions of both kinds, by where they happened. */
  readonly places: Readonly<Record<CompactionPlace, number>>;
  /** How many of them only cleared old results. */
  readonly micro: number;
  /** Largest occupancy as a share of the usable window, 0 to above 1; the mean of it over sessions. */
  readonly peakShare: number;
  /** Mean occupancy over requests; the mean of it over sessions. */
  readonly mean: number;
  readonly bill: Bill;
  /** Sessions whose models have a list price: `bill.usd` is theirs. */
  readonly pricedSessions: number;
  /** Mean over the compactions where it was measured. */
  readonly recall: { readonly mean: number; readonly compactions: number } | undefined;
  /** Mean of the size right after a compaction. */
  readonly postTokens: number | undefined;
  /** Sessions with a request that exceeded every window, and all such requests. */
  readonly overflowed: { readonly sessions: number; readonly requests: number };
}

/** The lines of all policies over these sessions, in the order of play. */
export function comparePolicies(sessions: readonly SessionReplay[]): readonly PolicyLine[] {
  const names = [...new Set(sessions.flatMap(({ policies }) => policies.map(({ policy }) => policy)))];
  return names.map((name) => lineOf(name, sessions));
}

function lineOf(name: string, sessions: readonly SessionReplay[]): PolicyLine {
  const runs = sessions.flatMap((session) => {
    const outcome = session.policies.find(({ policy }) => policy === name);
    return outcome === undefined ? [] : [{ session, outcome }];
  });
  const outcomes = runs.map(({ outcome }) => outcome);
  const compactions = outcomes.flatMap((outcome) => outcome.compactions);
  const recalls = compactions.flatMap(({ recall }) => recall ?? []);
  return {
    policy: name,
    sessions: runs.length,
    places: countPlaces(outcomes),
    micro: compactions.filter(({ kind }) => kind === 'micro').length,
    peakShare: mean(runs.map(({ session, outcome }) => peakShare(outcome, session))),
    mean: Math.round(mean(outcomes.map((outcome) => outcome.mean))),
    bill: sumBills(outcomes.map(({ bill }) => bill)),
    pricedSessions: outcomes.filter(({ bill }) => bill.usd !== undefined).length,
    recall: recalls.length === 0 ? undefined : { mean: mean(recalls), compactions: recalls.length },
    postTokens:
      compactions.length === 0
        ? undefined
        : Math.round(mean(compactions.map(({ postTokens }) => postTokens))),
    overflowed: {
      sessions: outcomes.filter(({ overflow }) => overflow.requests > 0).length,
      requests: outcomes.reduce((sum, { overflow }) => sum + overflow.requests, 0),
    },
  };
}

/** The largest occupancy as a share of the usable window, like every gauge. */
export function peakShare(
  { peak }: Pick<PolicyOutcome, 'peak'>,
  session: Pick<SessionReplay, 'window'>,
): number {
  return peak / Math.max(1, usableWindow(session.window));
}

function countPlaces(outcomes: readonly PolicyOutcome[]): Readonly<Record<CompactionPlace, number>> {
  const places = outcomes.flatMap(({ compactions }) => compactions.map(({ place }) => place));
  return Object.fromEntries(
    PLACES.map((place) => [place, places.filter((each) => each === place).length]),
  ) as Record<CompactionPlace, number>;
}

/** Dollars cover the sessions whose models have a list price; absent if none has. */
function sumBills(bills: readonly Bill[]): Bill {
  const sum = (key: 'requests' | 'input' | 'cached' | 'output') =>
    bills.reduce((total, bill) => total + bill[key], 0);
  const dollars = bills.flatMap(({ usd }) => usd ?? []);
  return {
    requests: sum('requests'),
    input: sum('input'),
    cached: sum('cached'),
    output: sum('output'),
    usd: dollars.length === 0 ? undefined : dollars.reduce((total, usd) => total + usd, 0),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A compaction as a gauge marks it; `own`: the recorded agent's. */
export interface GaugeMark {
  readonly place: CompactionPlace | 'own';
  readonly kind: 'full' | 'micro';
}

/** One column of a gauge: its largest value, and the last compaction in it. */
export interface GaugeColumn {
  /** Occupancy as a share of the usable window, 0 to above 1. */
  readonly share: number;
  readonly mark: GaugeMark | undefined;
}

/** A gauge over a session's requests. */
export interface GaugeSeries {
  readonly name: string;
  readonly samples: readonly GaugeSample[];
  readonly marks: readonly (GaugeMark & { readonly request: number })[];
}

/** The gauges of a session: the recorded one, then one for each policy. */
export function gaugesOf({ recorded, own, policies }: SessionReplay): readonly GaugeSeries[] {
  return [
    {
      name: 'as recorded',
      samples: recorded,
      marks: own.map(({ request, kind }) => ({ request, kind, place: 'own' as const })),
    },
    ...policies.map(({ policy, samples, compactions }) => ({ name: policy, samples, marks: compactions })),
  ];
}

/** A gauge in at most `width` columns. */
export function gaugeColumns(
  { samples, marks }: GaugeSeries,
  requests: number,
  width: number,
): readonly GaugeColumn[] {
  const columns = Math.min(width, Math.max(1, requests));
  const columnOf = (request: number) =>
    Math.min(columns - 1, Math.floor(((Math.max(1, request) - 1) * columns) / Math.max(1, requests)));
  const shares = Array.from({ length: columns }, () => 0);
  for (const { request, used, window } of samples) {
    const column = columnOf(request);
    shares[column] = Math.max(shares[column] ?? 0, used / usableWindow(window));
  }
  const byColumn = new Map(marks.map(({ request, place, kind }) => [columnOf(request), { place, kind }]));
  return shares.map((share, column) => ({ share, mark: byColumn.get(column) }));
}
