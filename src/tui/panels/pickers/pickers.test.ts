// Lists to choose from: what Enter does, what typing finds, and how each looks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, checkFrames, opsOf, press, rowsOf } from '../../../../test/support/panel-frames.ts';
import type { EventNamed } from '../../channel.ts';
import { modePanel } from './mode.ts';
import { modelPanel } from './model.ts';
import { resumePanel } from './resume.ts';
import { searchPanel } from './search.ts';

const NOW = Date.parse('2026-03-04T12:00:00Z');
const MINUTE = 60_000;

const session = (
  title: string | null,
  minutes: number,
  changes: Partial<EventNamed<'sessions'>['sessions'][number]> = {},
): EventNamed<'sessions'>['sessions'][number] => ({
  id: `id-of-${minutes}`,
  title,
  path: `/home/ada/.baton/sessions/${minutes}.jsonl`,
  cwd: '/home/ada/lighthouse',
  modified_at: new Date(NOW - minutes * MINUTE).toISOString(),
  bytes: 1_234 * (minutes + 1),
  compactions: minutes % 3,
  is_open: false,
  ...changes,
});

const SESSIONS: EventNamed<'sessions'> = {
  type: 'sessions',
  total: 40,
  sessions: [
    session('Light the lamp', 0, { is_open: true }),
    session(
      'Trim the wick of the left lamp, and write down for every night of the winter how long it burnt',
      7,
    ),
    session('灯台を守る 🗼 keep the lighthouse', 200),
    session(null, 3_000, { id: null, bytes: 2_500_000 }),
    session('Write the almanac', 9_000, { cwd: '/home/ada/almanac' }),
    ...Array.from({ length: 12 }, (_, index) => session(`Night ${index + 1}`, 20_000 + index)),
  ],
};

const resume = (...keys: readonly string[]): unknown =>
  press(resumePanel(SESSIONS, { now: NOW, cwd: '/home/ada/lighthouse' }), ...keys).effects;

test('a session is found by typing and resumed', () => {
  assert.deepEqual(resume('down', 'enter'), [{ type: 'resume', session: 'id-of-7' }]);
  assert.deepEqual(resume('t', 'r', 'i', 'm', 'enter'), [{ type: 'resume', session: 'id-of-7' }]);
  assert.deepEqual(resume('down', 'down', 'down', 'enter'), [
    { type: 'resume', session: '/home/ada/.baton/sessions/3000.jsonl' },
  ]);
  assert.deepEqual(resume('almanac', 'enter'), undefined, 'not in this folder');
  assert.deepEqual(resume('tab', 'almanac', 'enter'), [{ type: 'resume', session: 'id-of-9000' }]);
  const open = resumePanel(SESSIONS, { now: NOW, cwd: '/home/ada/lighthouse' });
  assert.equal(press(open, 'escape').panel, undefined);
  assert.ok(press(open, 'x', 'escape').panel, 'Esc clears the filter first');
});

test('a folder without sessions shows those of all folders', () => {
  const rows = rowsOf(resumePanel(SESSIONS, { now: NOW, cwd: '/elsewhere' }));
  assert.match(rows[0] ?? '', /all folders/);
  assert.match(rows.join('\n'), /\/home\/ada\/lighthouse/);
});

test('frames of the picker of sessions', () => {
  const open = resumePanel(SESSIONS, { now: NOW, cwd: '/home/ada/lighthouse' });
  checkFrames('resume', [
    ['this folder', open],
    ['all folders, at the end', after(open, 'tab', 'pageDown', 'pageDown', 'pageDown')],
    ['filtered', after(open, 'lamp')],
    ['nothing found', after(open, 'zzz')],
    ['no session', resumePanel({ type: 'sessions', total: 0, sessions: [] }, { now: NOW, cwd: '/' })],
  ]);
});

const PROMPTS = [
  { text: 'Light the lamp.\n\nAnd trim the wick.', at: NOW - 20_000 },
  { text: 'Which wick is in use?', at: NOW - 5 * MINUTE },
  { text: 'Read the almanac.' },
];

test('an earlier prompt goes into the composer', () => {
  const open = searchPanel(PROMPTS, NOW);
  assert.deepEqual(press(open, 'ctrl+r', 'enter').effects, [
    { type: 'draft', text: 'Which wick is in use?' },
  ]);
  assert.deepEqual(press(open, 'wick', 'enter').effects?.[0]?.type, 'draft');
  assert.deepEqual(press(open, 'almanac', 'enter').effects, [{ type: 'draft', text: 'Read the almanac.' }]);
});

test('frames of the search', () => {
  const open = searchPanel(PROMPTS, NOW);
  checkFrames('search', [
    ['opened', open],
    ['filtered', after(open, 'wick')],
    ['empty', searchPanel([], NOW)],
  ]);
});

test('a model is named with its provider', () => {
  const open = modelPanel({ provider: 'lab', model: 'keeper-2' });
  assert.deepEqual(opsOf(open, 'sea/gull-1', 'enter'), [{ type: 'set_settings', model: 'sea/gull-1' }]);
  assert.deepEqual(opsOf(open, 'enter'), []);
  for (const wrong of ['gull', '/gull', 'sea/', 'sea /gull']) {
    assert.deepEqual(opsOf(open, wrong, 'enter'), [], wrong);
    assert.match(rowsOf(after(open, wrong, 'enter')).join('\n'), /Name the provider/, wrong);
  }
  checkFrames('model', [
    ['opened', open],
    ['a name without a provider', after(open, 'gull', 'enter')],
  ]);
});

test('a mode is chosen by digit or with Enter', () => {
  const open = modePanel('auto');
  assert.deepEqual(opsOf(open, 'up', 'enter'), [{ type: 'set_settings', mode: 'suggest' }]);
  assert.deepEqual(opsOf(open, '4'), [{ type: 'set_settings', mode: 'off' }]);
  checkFrames('mode', [['opened', open]]);
});
