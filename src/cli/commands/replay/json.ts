// The `--json` document of `baton replay`; its schema is schema/replay.schema.json.

import type { Signal } from '../../../protocol/signal.ts';
import type { Bill } from '../../../lab/replay/bill.ts';
import type {
  DecisionRow,
  PolicyOutcome,
  SessionReplay,
  SimulatedCompaction,
} from '../../../lab/replay/outcome.ts';
import { comparePolicies, peakShare } from '../../../lab/replay/report.ts';
import type { PolicyLine } from '../../../lab/replay/report.ts';
import { PRICES_AS_OF } from '../../../tokens/prices.ts';
import { evidenceJson } from '../inspect/json.ts';
import type { PlayedFile, ReplayRun } from './run.ts';

/** The document. Names are snake_case; the same files, options and version give the same bytes. */
export function replayJson({ policies, files, unread, skipped }: ReplayRun) {
  return {
    prices_as_of: PRICES_AS_OF,
    policies: policies.map(({ name }) => name),
    skipped_files: skipped,
    totals: comparePolicies(files.map(({ replay }) => replay)).map(lineJson),
    sessions: [...files.map(sessionJson), ...unread],
  };
}

function lineJson(line: PolicyLine) {
  return {
    policy: line.policy,
    sessions: line.sessions,
    compactions: line.places,
    micro_compactions: line.micro,
    mean_peak_share: round(line.peakShare),
    mean_tokens: line.mean,
    mean_post_tokens: line.postTokens ?? null,
    recall:
      line.recall === undefined
        ? null
        : { mean: round(line.recall.mean), compactions: line.recall.compactions },
    overflowed_sessions: line.overflowed.sessions,
    overflowed_requests: line.overflowed.requests,
    bill: billJson(line.bill),
    priced_sessions: line.pricedSessions,
  };
}

function billJson({ requests, input, cached, output, usd }: Bill) {
  return {
    requests,
    input_tokens: input,
    cached_tokens: cached,
    output_tokens: output,
    usd: usd === undefined ? null : round(usd),
  };
}

function sessionJson({ path, report, replay, account }: PlayedFile) {
  return {
    path,
    format: report.format,
    model: replay.model ?? null,
    window: replay.window,
    turns: replay.turns,
    requests: replay.requests,
    items: replay.items,
    usage_from: replay.usageFrom,
    started_at: timeJson(replay.startedAtMs),
    ended_at: timeJson(replay.endedAtMs),
    damaged_lines: new Set(report.damage.filter(({ lost }) => lost).map(({ line }) => line)).size,
    gauge: {
      used: account.usage.used,
      usable: account.usableWindow,
      percent_remaining: account.percentRemaining,
    },
    categories: account.categories,
    beside_items: account.besideItems,
    recorded: replay.recorded.map(({ turn, request, used }) => [turn, request, used]),
    own_compactions: replay.own.map((own) => ({
      kind: own.kind,
      turn: own.turn,
      request: own.request,
      line: own.line ?? null,
      trigger: own.trigger ?? null,
      phase: own.phase ?? null,
      is_inside_turn: own.isInsideTurn,
      pre_tokens: own.preTokens,
      post_tokens: own.postTokens,
      recall: roundAny(own.recall),
    })),
    boundaries: replay.boundaries.map(({ signal, request }) => ({ ...signalJson(signal), request })),
    policies: replay.policies.map((outcome) => policyJson(outcome, replay)),
  };
}

function policyJson(outcome: PolicyOutcome, replay: SessionReplay) {
  return {
    policy: outcome.policy,
    peak_tokens: outcome.peak,
    peak_share: round(peakShare(outcome, replay)),
    mean_tokens: outcome.mean,
    bill: billJson(outcome.bill),
    overflow:
      outcome.overflow.first === undefined
        ? null
        : {
            turn: outcome.overflow.first.turn,
            request: outcome.overflow.first.request,
            line: outcome.overflow.first.line ?? null,
            requests: outcome.overflow.requests,
          },
    compactions: outcome.compactions.map(compactionJson),
    decisions: outcome.decisions.map(decisionJson),
    gauge: outcome.samples.map(({ turn, request, used }) => [turn, request, used]),
  };
}

function compactionJson(compaction: SimulatedCompaction) {
  return {
    kind: compaction.kind,
    point: compaction.point,
    place: compaction.place,
    turn: compaction.turn,
    request: compaction.request,
    line: compaction.line ?? null,
    at: timeJson(compaction.atMs),
    tier: compaction.tier ?? null,
    percent_remaining: compaction.percentRemaining,
    pre_tokens: compaction.preTokens,
    post_tokens: compaction.postTokens,
    open_calls: compaction.openCalls,
    recall: roundAny(compaction.recall),
    why: compaction.why,
    signals: compaction.signals.map(signalJson),
  };
}

function decisionJson(row: DecisionRow) {
  return {
    point: row.point,
    turn: row.turn,
    request: row.request,
    line: row.line ?? null,
    used_tokens: row.used,
    percent_remaining: row.percentRemaining,
    tier: row.tier ?? null,
    required: row.required,
    signals: row.signals.map(signalJson),
    should_compact: row.shouldCompact,
    reason: row.reason,
    why: row.why,
    evaluations: row.evaluations,
  };
}

function signalJson({ boundary, turn, line, evidence }: Signal) {
  return { boundary, turn, line: line ?? null, evidence: evidenceJson(evidence) };
}

function timeJson(ms: number | undefined): string | null {
  return ms === undefined || ms === 0 ? null : new Date(ms).toISOString();
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function roundAny(value: number | undefined): number | null {
  return value === undefined ? null : round(value);
}
