import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSays } from '../../test/support/records.ts';
import { initialContextRange, isUserMessage } from '../history/filter.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import {
  changedSettings,
  environmentItem,
  hookItem,
  instructionsItem,
  missingContext,
  recordedDirectory,
  recordedInstructions,
  userSays,
} from './context.ts';

const HERE = {
  cwd: '/work',
  date: '2026-01-02',
  shell: '/bin/bash',
  platform: 'linux',
  policy: 'on_request',
  sandbox: 'workspace_write',
  canConfine: true,
  isPlanning: false,
} as const;

const FILES = [{ path: 'AGENTS.md', text: 'Be kind.\n' }];

function context(
  changed: Partial<typeof HERE | { readonly date: string }> = {},
  files = FILES,
): readonly Item[] {
  return [instructionsItem('/work', files), environmentItem({ ...HERE, ...changed })].filter(
    (item) => item !== undefined,
  );
}

test('what a thread is told first is initial context to a compaction, and no word of the user', () => {
  const items = [...context(), userSays('<environment_context> is what I am asking about')];
  assert.deepEqual(initialContextRange(items), { from: 0, to: 2 });
  assert.deepEqual(items.map(isUserMessage), [false, false, true]);
});

test('what has not changed is not said again; what has changed is, alone', () => {
  const past = [...context(), userSays('Hello.'), agentSays('Hello.')];
  assert.deepEqual(missingContext(past, context()), []);
  const tomorrow = environmentItem({ ...HERE, date: '2026-01-03' });
  assert.deepEqual(missingContext(past, context({ date: '2026-01-03' })), [tomorrow]);
  assert.deepEqual(missingContext([...past, tomorrow], context({ date: '2026-01-03' })), []);
  assert.equal(missingContext([...past, tomorrow], context()).length, 1, 'the newest counts');
  const words = hookItem('Mind the fog.');
  assert.deepEqual(missingContext(past, [words]), [words]);
  const later = hookItem('The oil is low.');
  assert.deepEqual(missingContext([...past, words, later], [words]), [], 'hooks take nothing back');
});

test('a user who quotes the environment has not told it', () => {
  const [, environment] = context();
  assert.ok(environment?.type === 'message', 'a message');
  const quoted: Item = { ...environment, origin: { author: 'user' } };
  assert.deepEqual(missingContext([quoted], [environment]), [environment]);
});

test('a machine on which commands cannot be confined is told of, unless nothing is to be confined', () => {
  assert.doesNotMatch(JSON.stringify(environmentItem(HERE)), /cannot be confined/);
  assert.match(JSON.stringify(environmentItem({ ...HERE, canConfine: false })), /cannot be confined/);
  const free = { ...HERE, canConfine: false, sandbox: 'danger_full_access' } as const;
  assert.doesNotMatch(JSON.stringify(environmentItem(free)), /cannot be confined/);
});

test('without files there are no instructions', () => {
  assert.equal(instructionsItem('/work', []), undefined);
});

test('what a log says of its thread', () => {
  const past: readonly LogRecord[] = [
    { type: 'session_meta', cwd: '/old', instructions: 'You tend a lamp.' },
    { type: 'settings', model: 'm', cwd: '/work', usableWindow: 95_000 },
    { type: 'session_meta', producerVersion: '2' },
  ];
  assert.equal(recordedInstructions(past), 'You tend a lamp.');
  assert.equal(recordedDirectory(past), '/work');
  assert.equal(recordedInstructions([]), undefined);
  const settings = { model: 'm', cwd: '/work', usableWindow: 95_000 };
  assert.equal(changedSettings(past, settings), undefined);
  for (const changed of [{ model: 'n' }, { cwd: '/old' }, { usableWindow: 57_000 }]) {
    assert.deepEqual(changedSettings(past, { ...settings, ...changed }), {
      type: 'settings',
      ...settings,
      ...changed,
    });
  }
});
