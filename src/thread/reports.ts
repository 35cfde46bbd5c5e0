// A thread's answers about itself: what fills its window, its state, why the watcher decides as it does. Pure.

import { CATEGORIES, TIERS } from '../vocabulary.ts';
import type { ContextAccount } from '../history/context-account.ts';
import type { DecisionRecord } from '../protocol/decision.ts';
import type { Json } from '../protocol/item.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import { setLimits } from '../session/limits.ts';
import type { Limits } from '../session/limits.ts';
import { kindsOf, wireSpent } from '../session/spending.ts';
import type { WatchedSession } from '../session/watched/watched-session.io.ts';
import { warningLevel } from '../tokens/pressure.ts';
import { DECISION_NOTE } from '../watcher/live/past.ts';
import { decisionView } from '../watcher/view.ts';
import { isJsonObject } from '../formats/fields.ts';

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** The subject of the reports. */
export type Reported = Pick<
  WatchedSession,
  'state' | 'clearable' | 'explain' | 'queueLength' | 'runningTurn'
>;

/** What fills the window. */
export function contextReport(session: Reported): EventOf<'context_breakdown'> {
  const account = session.state.account.account();
  const { fixed, counting, restored, margin, unexplained } = account.besideItems;
  const { results, tokens, isWorthIt } = session.clearable();
  return {
    type: 'context_breakdown',
    ...gaugeOf(session, account),
    categories: CATEGORIES.flatMap((category) => {
      const size = account.categories[category] ?? 0;
      return size === 0 ? [] : [{ category, tokens: size }];
    }),
    fixed,
    counting,
    restored,
    margin,
    unexplained,
    clearable: { results, tokens, is_worth_it: isWorthIt },
  };
}

/** The state of the thread. @param settled its settings, as in `session_configured` */
export function statusReport(
  session: Reported,
  settled: EventOf<'session_configured'>,
  { limits, isRecorded }: { readonly limits: Limits; readonly isRecorded: boolean },
): EventOf<'status'> {
  const { state, runningTurn } = session;
  const { decision, policy } = session.explain();
  const { session_id, rollout_path, cwd, provider, model } = settled;
  const { mode, approval_policy, sandbox_mode, plan_mode, review_mode } = settled;
  const { spending } = state;
  return {
    type: 'status',
    session_id,
    rollout_path: isRecorded ? rollout_path : null,
    cwd,
    provider,
    model,
    ...gaugeOf(session, state.account.account()),
    thresholds: thresholdsOf(session),
    tier: decision.tier ?? null,
    tiers: TIERS.map((tier) => ({
      tier,
      percent_remaining_below: policy.tiers[tier].percentRemainingBelow,
      used_tokens_from: policy.tiers[tier].usedTokensFrom ?? null,
    })),
    mode,
    approval_policy,
    sandbox_mode,
    plan_mode,
    review_mode,
    running_turn:
      runningTurn === undefined ? null : { turn_id: runningTurn.turnId, task_kind: runningTurn.kind },
    queue_length: session.queueLength,
    compactions: state.compactions,
    spending: {
      by_kind: kindsOf(spending),
      turn: wireSpent(spending.turn),
      session: wireSpent(spending.session),
    },
    limits: [...setLimits(spending, limits)],
  };
}

/** Why the watcher did or did not compact. @param newest maximum number of recorded decisions */
export function decisionsReport(
  session: Reported,
  recorded: readonly LogRecord[],
  newest: number,
): EventOf<'decisions'> {
  const decisions = recorded.flatMap((record) =>
    record.type === 'note' && record.kind === DECISION_NOTE ? recordedDecision(record) : [],
  );
  return {
    type: 'decisions',
    now: decisionView(session.explain().decision),
    newest: decisions.slice(-newest).toReversed(),
  };
}

/** A file may hold anything under that name: skip what is not a decision of this version. */
function recordedDecision({ value, at }: NoteRecord & Pick<LogRecord, 'at'>): EventOf<'decisions'>['newest'] {
  const { id, situation, required, signals } = value;
  const isWhole =
    typeof id === 'string' &&
    isJsonObject(situation) &&
    Array.isArray(required) &&
    Array.isArray(signals) &&
    signals.every(isSignal);
  return isWhole ? [{ id, at: at ?? null, ...decisionView(value as unknown as DecisionRecord) }] : [];
}

function isSignal(value: Json): boolean {
  return isJsonObject(value) && isJsonObject(value['evidence']);
}

function gaugeOf({ state }: Reported, account: ContextAccount) {
  const isKnown = account.windowFrom !== 'unknown';
  return {
    used: account.usage.used,
    anchor: account.usage.anchor,
    model_context_window: isKnown ? account.window : null,
    usable_window: isKnown ? account.usableWindow : null,
    percent_remaining: isKnown ? account.percentRemaining : null,
    pressure: state.thresholds.state?.word ?? null,
  };
}

function thresholdsOf({ state }: Reported): EventOf<'status'>['thresholds'] {
  const { settings, state: now } = state.thresholds;
  const { rawWindow } = state.account.gauge();
  if (now === undefined || rawWindow === undefined) return null;
  const { warningThreshold: warning, errorThreshold: error = warning } = settings;
  return {
    warning: warningLevel(rawWindow, warning),
    error: warningLevel(rawWindow, error),
    auto_compact: settings.autoCompactEnabled ? now.autoCompactThreshold : null,
  };
}
