// Approvals and questions, key by key: what is answered, and what a key that came too early does not answer.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  after,
  armed,
  checkFrames,
  heard,
  keyOf,
  opsOf,
  press,
  rowsOf,
  WIDE,
} from '../../../../test/support/panel-frames.ts';
import type { EventNamed } from '../../channel.ts';
import { execApproval } from './exec-approval.ts';
import { patchApproval } from './patch-approval.ts';
import { questionPanel } from './question.ts';

const EXEC: EventNamed<'exec_approval_request'> = {
  type: 'exec_approval_request',
  call_id: 'call-1',
  command: 'npm install left-pad@1.3.0 --save-exact',
  cwd: '/home/ada/lighthouse',
  sandbox: 'workspace_write',
  reason: 'It is not among the commands that only read.',
  justification: 'The keeper pads its log lines, and nothing here does that yet.',
};

const HUNK = ['@@ -1,3 +1,3 @@', ' # The lamp', '-unlit', '+lit', ' tended by Ada'];

const PATCH: EventNamed<'patch_approval_request'> = {
  type: 'patch_approval_request',
  call_id: 'call-2',
  paths: ['lamp.md'],
  changes: [
    {
      action: 'edit',
      path: 'lamp.md',
      added_lines: 1,
      removed_lines: 1,
      diff: ['--- a/lamp.md', '+++ b/lamp.md', ...HUNK, ''].join('\n'),
      is_diff_cut: false,
    },
  ],
  reason: 'Every change of a file needs approval.',
};

const rows = Array.from({ length: 60 }, (_, index) => `+row ${index + 1}`);
const LONG: EventNamed<'patch_approval_request'> = {
  ...PATCH,
  paths: ['log.txt', 'old.md'],
  changes: [
    {
      action: 'create',
      path: 'log.txt',
      added_lines: 900,
      removed_lines: 0,
      diff: ['@@ -0,0 +1,900 @@', ...rows, ''].join('\n'),
      is_diff_cut: true,
    },
    {
      action: 'move',
      path: 'old.md',
      to: 'attic/old.md',
      added_lines: 0,
      removed_lines: 1,
      diff: '@@ -1 +0,0 @@\n-old\n',
      is_diff_cut: false,
    },
  ],
};

const QUESTION: EventNamed<'question'> = {
  type: 'question',
  question_id: 'call-3',
  question: 'Which wick should I trim? Both are long, and only one of them is in use tonight.',
  options: [
    { label: 'The left one', description: 'It burns now, so the lamp goes out for a minute.' },
    { label: 'The right one' },
  ],
};

const answered = (...keys: readonly string[]): unknown => opsOf(armed(execApproval(EXEC)), ...keys)[0];
const exec = (decision: string, message?: string): unknown => ({
  type: 'exec_approval',
  call_id: 'call-1',
  decision,
  ...(message === undefined ? {} : { message }),
});

describe('an approval', () => {
  test('is answered by digit, letter, or arrows and Enter', () => {
    for (const keys of [['1'], ['y'], ['enter'], ['down', 'up', 'enter']])
      assert.deepEqual(answered(...keys), exec('approved'), keys.join(' '));
    for (const keys of [['2'], ['p'], ['down', 'enter']])
      assert.deepEqual(answered(...keys), exec('approved_for_session'), keys.join(' '));
    assert.deepEqual(answered('escape'), exec('abort'));
  });

  test('is refused with words, or without', () => {
    for (const open of [['3'], ['n'], ['tab'], ['down', 'down', 'enter']]) {
      assert.deepEqual(answered(...open, 'use yarn', 'enter'), exec('denied', 'use yarn'), open.join(' '));
      assert.deepEqual(answered(...open, ' ', 'enter'), exec('denied'), 'blanks are no reason');
    }
    assert.deepEqual(answered('3', 'y', 'p', '1', 'enter'), exec('denied', 'yp1'), 'letters are text there');
    assert.deepEqual(answered('3', 'x', 'escape', 'up', 'up', 'enter'), exec('approved'), 'Esc goes back');
  });

  test('passes keys on until it is armed, and no key that came before answers it', () => {
    const opened = execApproval(EXEC);
    for (const key of ['y', '1', 'enter', 'escape', 'p', ' ']) {
      const step = press(opened, key);
      assert.equal(step.isUntaken, true, key);
      assert.deepEqual(step.effects ?? [], [], key);
      assert.notEqual(step.panel?.arm, undefined, key);
    }
    assert.equal(armed(opened).arm, undefined);
    assert.equal(press(armed(opened), 'x').isUntaken, undefined);
  });

  test('closes when the call no longer waits', () => {
    const panel = armed(execApproval(EXEC));
    const turn = {
      turn_id: 't',
      task_kind: 'regular',
      origin: { type: 'user' },
      answers: [],
      error_code: null,
      reason: 'interrupted',
    } as const;
    assert.equal(panel.receive?.({ type: 'turn_aborted', ...turn }), undefined);
    assert.notEqual(
      panel.receive?.({ type: 'agent_message_delta', id: 'm', turn_id: 't', delta: 'x' }),
      undefined,
    );
    const begun = { command: 'x', cwd: '/', sandbox: 'read_only' } as const;
    assert.equal(panel.receive?.({ type: 'exec_command_begin', call_id: 'call-1', ...begun }), undefined);
    assert.notEqual(panel.receive?.({ type: 'exec_command_begin', call_id: 'other', ...begun }), undefined);
  });

  test('scrolls a long diff by page, and by row once the arrows are above the choices', () => {
    const panel = armed(patchApproval(LONG));
    const first = (shown: typeof panel): string => rowsOf(shown)[1] ?? '';
    assert.match(first(panel), /^Create log\.txt \(\+900 -0\)/);
    assert.doesNotMatch(first(after(panel, 'pageDown')), /Create/);
    const inDiff = after(panel, 'up', 'down', 'down');
    assert.match(first(inDiff), /\+row 1/);
    assert.deepEqual(opsOf(inDiff, 'enter'), [], 'Enter in the diff does not approve');
    assert.equal(opsOf(inDiff, 'enter', 'enter').length, 1);
    const end = after(panel, 'end');
    assert.ok(rowsOf(end).some((row) => row.includes('Move old.md → attic/old.md')));
    assert.deepEqual(opsOf(after(end, 'up', 'down'), 'down', 'enter'), [
      { type: 'patch_approval', call_id: 'call-2', decision: 'approved_for_session' },
    ]);
  });

  test('keeps choices, reason and the first rows in sight on a screen of any height', () => {
    for (let rowCount = 8; rowCount < 30; rowCount++) {
      for (const width of [20, 50, 80]) {
        const lines = armed(patchApproval(LONG)).lines({ ...WIDE, width, rows: rowCount });
        const text = lines.map((row) => row.map((span) => span.text).join('')).join('\n');
        assert.ok(lines.length <= rowCount, `${lines.length} of ${rowCount}`);
        assert.match(text, /1 Yes[^]*2 Yes[^]*3 No/, `${rowCount} rows, ${width} columns`);
        assert.match(text, /Create/, `${rowCount} rows, ${width} columns`);
      }
    }
  });
});

const answer = (text: string): unknown => ({ type: 'answer_question', question_id: 'call-3', answer: text });

describe('a question', () => {
  const answers = (...keys: readonly string[]): unknown => opsOf(armed(questionPanel(QUESTION)), ...keys)[0];

  test('is answered by an option or in own words', () => {
    assert.deepEqual(answers('enter'), answer('The left one'));
    assert.deepEqual(answers('2'), answer('The right one'));
    assert.deepEqual(answers('down', 'enter'), answer('The right one'));
    assert.deepEqual(answers('3', 'Neither', 'enter'), answer('Neither'));
    assert.deepEqual(answers('tab', '2', 'enter'), answer('2'), 'a digit is text there');
    assert.deepEqual(answers('b', 'oth', 'enter'), answer('both'), 'a letter begins own words');
    assert.deepEqual(opsOf(armed(questionPanel(QUESTION)), 'tab', 'enter'), [], 'an empty answer is none');
    assert.deepEqual(answers('escape'), { type: 'interrupt' });
  });

  test('without options takes words at once, but not those typed before it opened', () => {
    const open = questionPanel({ ...QUESTION, options: [] });
    assert.equal(press(open, 'enter').isUntaken, true);
    assert.deepEqual(opsOf(armed(open), 'Yes', 'enter'), [answer('Yes')]);
  });

  test('closes with its turn', () => {
    const panel = questionPanel(QUESTION);
    assert.equal(panel.receive?.({ type: 'shutdown_complete' }), undefined);
    assert.ok(heard(panel, { type: 'warning', message: 'x' }));
  });
});

test('a key by its name', () => assert.deepEqual(keyOf('pageUp'), { key: 'pageUp', text: '' }));

test('frames of the approval of a command', () => {
  const open = execApproval(EXEC);
  checkFrames('exec-approval', [
    ['just opened', open],
    ['takes keys', armed(open)],
    ['refused with words', after(armed(open), '3', 'use yarn, and pin it')],
    [
      'a script, without the words of the model',
      armed(
        execApproval({
          ...EXEC,
          command: `for lamp in lamps/*; do\n  trim "$lamp" --to 灯台 ${'--again '.repeat(9)}\ndone`,
          sandbox: 'danger_full_access',
          justification: null,
        }),
      ),
    ],
  ]);
});

test('frames of the approval of changes', () => {
  checkFrames('patch-approval', [
    ['one file', armed(patchApproval(PATCH))],
    ['more than fits', armed(patchApproval(LONG))],
    ['scrolled by rows', after(armed(patchApproval(LONG)), 'up', 'pageDown', 'down')],
    ['a call that cannot run', armed(patchApproval({ ...PATCH, changes: [] }))],
  ]);
});

test('frames of a question', () => {
  const open = armed(questionPanel(QUESTION));
  checkFrames('question', [
    ['just opened', questionPanel(QUESTION)],
    ['options', open],
    ['own words', after(open, '3', 'Neither: wait until morning')],
    ['without options', armed(questionPanel({ ...QUESTION, options: [] }))],
  ]);
});
