// The `--json` document of `baton inspect`; its schema is docs/inspect.schema.json.

import { explainCompaction } from './view.ts';
import type { InspectedFile } from './view.ts';
import type { Top } from '../../../calls/inspect-top.ts';
import type { Evidence } from '../../../protocol/signal.ts';

/** The document for one session. Names are snake_case, counts are tokens unless they say otherwise. */
export function inspectionJson(inspection: InspectedFile) {
  const { account, report } = inspection;
  return {
    path: inspection.path,
    format: report.format,
    producer_version: account.producerVersion ?? null,
    session_id: account.sessionId ?? null,
    model: account.model ?? null,
    cwd: account.cwd ?? null,
    started_at: account.startedAt ?? null,
    ended_at: account.endedAt ?? null,
    file: {
      bytes: report.bytes,
      lines: report.lines,
      records: report.records,
      opaque_lines: report.opaque,
      has_grown: report.hasGrown,
      damage: report.damage,
    },
    window: { raw: account.window, usable: account.usableWindow, known_from: account.windowFrom },
    gauge: {
      used: account.usage.used,
      anchor: account.usage.anchor,
      percent_remaining: account.percentRemaining,
      pressure: inspection.threshold.word,
      auto_compact_threshold: inspection.threshold.autoCompactThreshold,
      agent_compacts_from: inspection.agentLimit ?? null,
      percent_until_auto_compact: inspection.threshold.percentUntilAutoCompact,
      median_error: inspection.gaugeError?.median ?? null,
      samples: inspection.gaugeError?.samples ?? 0,
      rejected_samples: account.rejectedSamples,
    },
    counter: inspection.counter,
    categories: account.categories,
    tools: account.tools,
    beside_items: account.besideItems,
    ...(inspection.top === undefined ? {} : { top: topJson(inspection.top) }),
    turns: account.turns,
    points: account.points.map(({ turn, line, used, percentRemaining }) => ({
      turn,
      line: line ?? null,
      used,
      percent_remaining: percentRemaining,
    })),
    compactions: account.compactions.map((mark) => ({
      id: mark.id,
      kind: mark.kind,
      line: mark.line ?? null,
      at: mark.at ?? null,
      turn: mark.turn,
      trigger: mark.trigger ?? null,
      phase: mark.phase ?? null,
      pre_tokens: mark.preTokens,
      post_tokens: mark.postTokens,
      summary: mark.summary,
      summary_tokens: mark.summaryTokens,
      items_before: mark.itemsBefore,
      items_after: mark.itemsAfter,
      cleared_results: mark.clearedResults,
      is_undone: mark.isUndone,
      explanation: explainCompaction(mark),
      receipt: mark.receipt ?? null,
    })),
    boundaries: inspection.signals.map(({ boundary, turn, line, evidence }) => ({
      boundary,
      turn,
      line: line ?? null,
      evidence: evidenceJson(evidence),
    })),
    broken_pairs: {
      orphan_calls: account.brokenPairs.orphanCalls.length,
      orphan_results: account.brokenPairs.orphanResults.length,
      duplicate_results: account.brokenPairs.duplicateResults.length,
    },
    recorded: {
      items: account.recorded.items,
      side_items: account.recorded.sideItems,
      user_messages: account.recorded.userMessages,
      harness_messages: account.recorded.harnessMessages,
      assistant_messages: account.recorded.assistantMessages,
      reasoning: account.recorded.reasoning,
      calls: account.recorded.calls,
      results: account.recorded.results,
      unknown_items: account.recorded.unknownItems,
    },
  };
}

/** The evidence of a boundary, as documents contain it. */
export function evidenceJson(evidence: Evidence) {
  switch (evidence.type) {
    case 'command':
      return {
        type: evidence.type,
        command: evidence.command,
        exit_status: evidence.exitStatus ?? null,
        told_by: evidence.toldBy,
        hash: evidence.hash ?? null,
      };
    case 'turn':
      return { type: evidence.type, turn_id: evidence.turnId ?? null };
    default:
      return evidence;
  }
}

function topJson({ results, rereads, images, split }: Top) {
  return {
    results: results.map(({ tool, subject, tokens, line }) => ({
      tool,
      subject,
      tokens,
      line: line ?? null,
    })),
    rereads,
    images,
    split,
  };
}
