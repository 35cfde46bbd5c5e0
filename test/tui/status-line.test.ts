// The row below the composer at every width: what goes first, and what never goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { takeEvent, EMPTY_CHAT } from '../../src/tui/chat/chat.ts';
import type { Chat } from '../../src/tui/chat/chat.ts';
import { statusLine } from '../../src/tui/chat/status-line.ts';
import type { EventNamed } from '../../src/tui/channel.ts';
import { textOf } from '../../src/tui/lines/line.ts';
import { lineWidth } from '../../src/tui/lines/wrap.ts';
import { checkStory } from '../support/chat-frames.ts';

const SETTINGS: EventNamed<'session_configured'> = {
  type: 'session_configured',
  protocol_version: 1,
  session_id: 'session-1',
  rollout_path: null,
  cwd: '/home/ada/lighthouse/lamp-room',
  model: 'claude-sonnet-4-5',
  provider: 'anthropic',
  model_context_window: 200_000,
  mode: 'auto',
  approval_policy: 'on_request',
  sandbox_mode: 'workspace_write',
  plan_mode: false,
  review_mode: false,
};

const USAGE = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
};

function gauge(used: number, more: Partial<EventNamed<'token_count'>> = {}): SessionEvent {
  const left = 100 - Math.round((used / 190_000) * 100);
  return {
    type: 'token_count',
    used,
    model_context_window: 200_000,
    percent_remaining: left,
    tier: null,
    total: USAGE,
    last: null,
    ...more,
  };
}

const SPENT = { requests: 4, tokens: 90_000, dollars: 0.42, unpriced_requests: 0 };
const COST: SessionEvent = {
  type: 'spending',
  kind: 'agent',
  requests: 1,
  tokens: 1,
  dollars: 0.1,
  by_kind: [],
  turn: SPENT,
  session: SPENT,
};
const COMPACTED: SessionEvent = {
  type: 'compact_completed',
  id: 'compaction-1',
  pre_compact_tokens: 152_000,
  post_compact_tokens: 9_000,
  compaction_input_tokens: 0,
  compaction_output_tokens: 0,
  files_restored: 0,
  duration_ms: 10,
  strategy: 'embedded',
};

const STATUS: EventNamed<'status'> = {
  type: 'status',
  session_id: 'session-1',
  rollout_path: null,
  cwd: '/home/ada',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  used: 50_000,
  anchor: 'reported',
  model_context_window: 200_000,
  usable_window: 190_000,
  percent_remaining: 74,
  pressure: 'calm',
  thresholds: { warning: 150_000, error: 170_000, auto_compact: 177_000 },
  tier: null,
  tiers: [],
  mode: 'auto',
  approval_policy: 'on_request',
  sandbox_mode: 'workspace_write',
  plan_mode: false,
  review_mode: false,
  running_turn: null,
  queue_length: 0,
  compactions: 0,
  spending: { by_kind: [], turn: SPENT, session: SPENT },
  limits: [],
};

function chat(...events: readonly SessionEvent[]): Chat {
  return events.reduce((state, event) => takeEvent(state, event, 1), EMPTY_CHAT);
}

const GROWN = [gauge(20_000), gauge(35_000), gauge(50_000)];
const CASES: Readonly<Record<string, Chat>> = {
  'before the thread is open': chat(),
  'before the first answer': chat(SETTINGS),
  'a forecast': chat(SETTINGS, STATUS, ...GROWN, COST),
  'a tier': chat(SETTINGS, ...GROWN, gauge(120_000, { tier: 'ready' }), COST),
  'plan mode, and a watcher that suggests': chat(
    { ...SETTINGS, plan_mode: true, mode: 'suggest' },
    ...GROWN,
    COST,
  ),
  'an unknown window': chat(
    SETTINGS,
    gauge(50_000, { percent_remaining: null, model_context_window: null }),
    COST,
  ),
  'after a compaction': chat(SETTINGS, STATUS, ...GROWN, COMPACTED, gauge(9_000), COST),
  'no window left': chat(SETTINGS, gauge(198_000, { percent_remaining: 0, tier: 'emergency' }), COST),
};

test('the status line from 40 to 200 columns', () => {
  const frames = Object.entries(CASES).flatMap(([name, state]) => {
    const rows = [40, 50, 60, 80, 100, 200].flatMap((width) =>
      [true, false].map((hasUnicode) => {
        const row = statusLine(state, { width, rows: 24, hasUnicode }, '/home/ada');
        assert.ok(lineWidth(row) <= width, `${name} at ${width}`);
        return textOf(row).trimEnd();
      }),
    );
    return [[name, rows] as const];
  });
  checkStory('status-line', frames);
});

test('how full the window is stays in sight at any width, and so do modes', () => {
  const state = chat({ ...SETTINGS, plan_mode: true }, gauge(120_000, { tier: 'asap' }), COST);
  for (let width = 40; width <= 200; width++) {
    const row = textOf(statusLine(state, { width, rows: 24, hasUnicode: true }, '/home/ada'));
    assert.match(row, /plan mode.*63% full.*asap/, `${width}: ${row}`);
  }
});
