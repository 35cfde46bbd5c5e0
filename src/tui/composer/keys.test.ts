import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARMED_MS, KEY_GROUPS, KEYS, actionFor, hintFor, holds } from './keys.ts';
import { helpSections } from './help.ts';
import type { KeyAction, Armed, KeySituation } from './keys.ts';

const IDLE: KeySituation = {
  panel: 'none',
  isWorking: false,
  hasDraft: false,
  isCompleting: false,
  hasQueue: false,
  armed: undefined,
};

const SITUATIONS: readonly KeySituation[] = (['none', 'approval', 'other'] as const).flatMap((panel) =>
  [false, true].flatMap((isWorking) =>
    [false, true].flatMap((hasDraft) =>
      [false, true].flatMap((isCompleting) =>
        [false, true].flatMap((hasQueue) =>
          ([undefined, 'exit', 'clear', 'back'] as const).map((armed) => ({
            panel,
            isWorking,
            hasDraft,
            isCompleting,
            hasQueue,
            armed,
          })),
        ),
      ),
    ),
  ),
);

test('no two rows count for one key in one situation', () => {
  for (const key of new Set(KEYS.flatMap(({ keys }) => keys))) {
    for (const situation of SITUATIONS) {
      const rows = KEYS.filter((row) => row.keys.includes(key) && holds(row, situation));
      assert.ok(rows.length < 2, `${key} ${JSON.stringify({ situation, rows })}`);
    }
  }
});

test('every row counts somewhere, and every group has rows with words', () => {
  for (const row of KEYS)
    assert.ok(
      SITUATIONS.some((situation) => holds(row, situation)),
      JSON.stringify(row),
    );
  for (const group of KEY_GROUPS) assert.ok(KEYS.some((row) => row.group === group && row.words !== ''));
});

test('the habits of three agents', () => {
  const working = { isWorking: true };
  const draft = { hasDraft: true };
  const list = { hasDraft: true, isCompleting: true };
  const cases: readonly (readonly [
    key: string,
    situation: Partial<KeySituation>,
    action: KeyAction,
    armed?: Armed,
  ])[] = [
    ['enter', draft, 'send'],
    ['enter', { ...draft, ...working }, 'send'],
    ['enter', list, 'accept'],
    ['tab', list, 'complete'],
    ['tab', { ...draft, ...working }, 'queue'],
    ['tab', draft, 'edit'],
    ['alt+enter', { ...draft, ...working }, 'queue'],
    ['shift+enter', draft, 'newline'],
    ['ctrl+j', draft, 'newline'],
    ['escape', { ...list, ...working }, 'close_list'],
    ['escape', { ...draft, ...working }, 'interrupt'],
    ['escape', { ...working, armed: 'back' }, 'interrupt'],
    ['escape', draft, 'arm', 'clear'],
    ['escape', { ...draft, armed: 'exit' }, 'arm', 'clear'],
    ['escape', { ...draft, armed: 'clear' }, 'clear'],
    ['escape', {}, 'arm', 'back'],
    ['escape', { armed: 'back' }, 'back'],
    ['ctrl+c', { ...draft, ...working }, 'clear'],
    ['ctrl+c', list, 'clear'],
    ['ctrl+c', working, 'interrupt'],
    ['ctrl+c', {}, 'arm', 'exit'],
    ['ctrl+c', { armed: 'back' }, 'arm', 'exit'],
    ['ctrl+c', { armed: 'exit' }, 'exit'],
    ['ctrl+d', {}, 'exit'],
    ['ctrl+d', draft, 'edit'],
    ['?', {}, 'help'],
    ['?', draft, 'edit'],
    ['alt+up', { hasQueue: true }, 'take_queue_back'],
    ['alt+up', {}, 'edit'],
    ['up', list, 'previous'],
    ['up', draft, 'edit'],
    ['tab', { panel: 'approval' }, 'panel'],
    ['y', { panel: 'approval' }, 'panel'],
    ['escape', { panel: 'other', isWorking: true }, 'cancel_panel'],
    ['ctrl+c', { panel: 'approval', isWorking: true }, 'cancel_panel'],
    ['ctrl+z', { panel: 'approval' }, 'suspend'],
    ['', draft, 'edit'],
    ['', { panel: 'other' }, 'panel'],
  ];
  for (const [key, situation, action, armed] of cases) {
    assert.deepEqual(
      actionFor(key, { ...IDLE, ...situation }),
      armed === undefined ? { action } : { action, armed },
      `${key} ${JSON.stringify(situation)}`,
    );
  }
});

test('a key that waits for a second press says so, for as long as people need', () => {
  for (const { keys, arms } of KEYS) {
    if (arms === undefined) continue;
    const name = keys[0] === 'escape' ? 'esc' : keys[0];
    assert.ok(hintFor(arms).startsWith(`${name} again to `), arms);
  }
  assert.ok(ARMED_MS >= 1000);
});

test('the help names every key that has words, as keyboards name it, and every command', () => {
  const sections = helpSections();
  assert.deepEqual(
    sections.map(({ heading }) => heading),
    ['Writing', 'Working', 'Anywhere', 'Panels', 'Commands'],
  );
  const names = sections.flatMap(({ entries }) => entries.map(({ name }) => name));
  for (const name of [
    'Enter',
    'Shift+Enter, Ctrl+J',
    'Esc',
    'Ctrl+O, Ctrl+T',
    '?',
    '/compact [focus] | --preview',
    '/quit, /exit',
  ]) {
    assert.ok(names.includes(name), `${name} in ${names.join(' · ')}`);
  }
});
