// Reports: their numbers add up, the keys move, and how each looks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, checkFrames, heard, press, rowsOf, WIDE } from '../../../../test/support/panel-frames.ts';
import { line } from '../../lines/line.ts';
import type { EventNamed } from '../../channel.ts';
import { contextPanel } from './context.ts';
import { helpPanel } from './help.ts';
import { statusPanel } from './status.ts';
import { textPanel } from './text.ts';
import { whyPanel } from './why.ts';

const GAUGE = {
  used: 62_000,
  anchor: 'reported',
  model_context_window: 128_000,
  usable_window: 121_600,
  percent_remaining: 49,
  pressure: 'calm',
} as const;

const TIERS: EventNamed<'status'>['tiers'] = [
  { tier: 'early', percent_remaining_below: 65, used_tokens_from: null },
  { tier: 'ready', percent_remaining_below: 55, used_tokens_from: 90_000 },
  { tier: 'asap', percent_remaining_below: 45, used_tokens_from: null },
  { tier: 'emergency', percent_remaining_below: 15, used_tokens_from: null },
];

const spent = { requests: 12, tokens: 812_000, dollars: 1.234, unpriced_requests: 0 };

const STATUS: EventNamed<'status'> = {
  type: 'status',
  session_id: '0192-lamp',
  rollout_path: '/home/ada/.baton/sessions/2026/03/04/rollout-0192-lamp.jsonl',
  cwd: '/home/ada/lighthouse',
  provider: 'lab',
  model: 'keeper-2',
  ...GAUGE,
  thresholds: { warning: 101_600, error: 101_600, auto_compact: 115_200 },
  tier: 'ready',
  tiers: TIERS,
  mode: 'auto',
  approval_policy: 'on_request',
  sandbox_mode: 'workspace_write',
  plan_mode: false,
  review_mode: false,
  running_turn: { turn_id: 'turn-4', task_kind: 'regular' },
  queue_length: 2,
  compactions: 1,
  spending: {
    by_kind: [
      { kind: 'agent', ...spent },
      { kind: 'summary', requests: 1, tokens: 9_000, dollars: 0, unpriced_requests: 1 },
    ],
    turn: spent,
    session: { ...spent, requests: 13, unpriced_requests: 1 },
  },
  limits: [{ key: 'limits.session_dollars', limit: 5, spent: 1.234 }],
};

test('frames of the status', () => {
  checkFrames('status', [
    ['working', statusPanel(STATUS)],
    [
      'new, with an unknown window',
      statusPanel({
        ...STATUS,
        rollout_path: null,
        usable_window: null,
        model_context_window: null,
        percent_remaining: null,
        pressure: null,
        thresholds: null,
        tier: null,
        running_turn: null,
        limits: [],
        compactions: 0,
      }),
    ],
  ]);
});

const BREAKDOWN: EventNamed<'context_breakdown'> = {
  type: 'context_breakdown',
  ...GAUGE,
  categories: [
    { category: 'user', tokens: 1_200 },
    { category: 'assistant', tokens: 3_300 },
    { category: 'tool_calls', tokens: 2_500 },
    { category: 'tool_results', tokens: 48_000 },
  ],
  fixed: 6_000,
  counting: 700,
  restored: 0,
  margin: 0,
  unexplained: 300,
  clearable: { results: 9, tokens: 31_000, is_worth_it: true },
};

test('the bars add up to what is used, and with the free space to the usable window', () => {
  const { categories, fixed, counting, restored, margin, unexplained, used } = BREAKDOWN;
  const sum = categories.reduce((all, { tokens }) => all + tokens, 0);
  assert.equal(sum + fixed + counting + restored + margin + unexplained, used, 'the example is whole');
  const rows = rowsOf(contextPanel(BREAKDOWN), { ...WIDE, rows: 60 });
  const percents = rows.flatMap((row) => /([\d.]+)%$/.exec(row)?.[1] ?? []).map(Number);
  const [free = 0, total = 0] = percents.toReversed();
  assert.ok(Math.abs(total + free - 100) < 0.2, `${total} + ${free}`);
  const parts = percents.slice(0, -2).reduce((all, each) => all + each, 0);
  assert.ok(Math.abs(parts - total) < 0.5, `${parts} of ${total}`);
});

test('frames of the context', () => {
  checkFrames('context', [
    ['something to clear', contextPanel(BREAKDOWN)],
    [
      'an estimate of a new thread',
      contextPanel({
        ...BREAKDOWN,
        used: 7_000,
        anchor: 'none',
        usable_window: null,
        model_context_window: null,
        categories: [{ category: 'user', tokens: 1_500 }],
        counting: -500,
        unexplained: 0,
        clearable: { results: 0, tokens: 0, is_worth_it: false },
      }),
    ],
  ]);
});

const NOW = Date.parse('2026-03-04T12:00:00Z');

const DECIDED: EventNamed<'decisions'>['now'] = {
  point: 'turn_end',
  turn: 12,
  should_compact: false,
  reason: 'no_boundary',
  why: 'The window is filling, but the work is in the middle of something.',
  tier: 'ready',
  used: 62_000,
  usable_window: 121_600,
  percent_remaining: 49,
  projected: 9_400,
  required: ['commit', 'pr_checkpoint', 'plan_checkpoint'],
  signals: [],
};

const DECISIONS: EventNamed<'decisions'> = {
  type: 'decisions',
  now: DECIDED,
  newest: [
    {
      ...DECIDED,
      id: 'd-2',
      at: '2026-03-04T11:40:00Z',
      point: 'mid_turn',
      should_compact: true,
      reason: 'boundary',
      why: 'A commit and a finished step of the plan are good moments.',
      signals: [
        {
          id: 's-1',
          boundary: 'commit',
          evidence: {
            type: 'command',
            command: 'git commit -qm "Light the lamp"',
            exit_status: 0,
            told_by: 'status',
            hash: 'c4a690d11',
          },
        },
        {
          id: 's-2',
          boundary: 'plan_checkpoint',
          evidence: { type: 'plan', completed: ['Light the lamp'], done: 1, steps: 2 },
        },
        {
          id: 's-3',
          boundary: 'concluding_thought',
          evidence: { type: 'phrase', phrase: 'is done', sentence: 'The lamp is done.' },
        },
      ],
    },
    {
      ...DECIDED,
      id: 'd-1',
      at: null,
      tier: null,
      reason: 'above_threshold',
      why: 'There is room.',
      required: [],
    },
  ],
};

test('the arrows move through the decisions, and a status brings the thresholds', () => {
  const open = whyPanel(DECISIONS, { now: NOW });
  assert.match(rowsOf(open).join('\n'), /not yet: no boundary/);
  assert.match(
    rowsOf(after(open, 'down')).join('\n'),
    /commit: git commit -qm "Light the lamp" made c4a690d\n/,
  );
  assert.doesNotMatch(rowsOf(open).join('\n'), /below 55%/);
  const informed = heard(after(open, 'down'), STATUS);
  assert.match(rowsOf(informed).join('\n'), /ready, below 55% left or from 90,000 used tokens/);
  assert.match(rowsOf(informed)[0] ?? '', /2 of 3/, 'the cursor stays');
  assert.deepEqual(press(open, 'a').effects, [{ type: 'draft', text: '/autocompact ' }]);
});

test('frames of the decisions', () => {
  const open = whyPanel(DECISIONS, { now: NOW, tiers: TIERS });
  checkFrames('why', [
    ['why not yet', open],
    ['a compaction with its evidence', after(open, 'down')],
    ['no threshold', after(open, 'down', 'down')],
    ['nothing decided so far', whyPanel({ ...DECISIONS, newest: [] }, { now: NOW })],
  ]);
});

test('a page scrolls within its lines', () => {
  const lines = Array.from({ length: 100 }, (_, index) => line(`line ${index + 1}`));
  const open = textPanel('Output', lines);
  assert.equal(rowsOf(after(open, 'up'))[1], 'line 1');
  assert.equal(rowsOf(after(open, 'end')).at(-2), 'line 100');
  assert.equal(rowsOf(after(open, 'end', 'down', 'up'))[1], 'line 78');
  assert.equal(rowsOf(after(open, 'pageDown'))[1], 'line 22', 'one line of the page before stays');
  assert.equal(rowsOf(after(open, ' ', 'pageUp'))[1], 'line 1');
  assert.equal(press(open, 'q').panel, undefined);
  checkFrames('text', [
    ['the middle', after(open, 'pageDown')],
    [
      'a long line and a short page',
      textPanel('Summary', [line('The lamp is lit. '.repeat(9)), [], line('End')]),
    ],
  ]);
});

test('frames of the help', () => {
  checkFrames('help', [
    [
      'keys and commands',
      helpPanel([
        {
          heading: 'Keys',
          entries: [
            { name: 'Esc', does: 'stops what is running; your draft stays' },
            { name: 'Ctrl+R', does: 'searches earlier prompts' },
          ],
        },
        {
          heading: 'Commands',
          entries: [
            {
              name: '/compact [focus]',
              does: 'replaces the history by a summary; --preview shows what would happen',
            },
            { name: '/autocompact tag|suggest|auto|off', does: 'what Baton does where it would compact' },
          ],
        },
      ]),
    ],
  ]);
});
