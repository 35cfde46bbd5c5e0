// The panels about a compaction and its undo: nothing happens before it was shown and confirmed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  after,
  checkFrames,
  heard,
  opsOf,
  press,
  rowsOf,
  WIDE,
} from '../../../../test/support/panel-frames.ts';
import { treePanel } from '../pickers/tree.ts';
import type { EventNamed } from '../../channel.ts';
import type { Panel } from '../panel.ts';
import { previewPanel } from './preview.ts';
import { undoOf, undoPanel } from './undo.ts';

const TURN: EventNamed<'undo_preview'> = {
  type: 'undo_preview',
  what: 'turn',
  id: 'turn-4',
  message: 'Light the lamp,\nand write down when.',
  items: 14,
  pre_compact_tokens: null,
  post_compact_tokens: null,
  files: [
    { path: 'lamp.md', change: 'modified' },
    { path: 'log/tonight.md', change: 'added' },
    { path: 'old wick.txt', change: 'deleted' },
  ],
  blocked: [],
  later_edits: [],
  untouched: [{ path: 'node_modules', why: 'ignored by git' }],
  warnings: [],
};

const CONTESTED: EventNamed<'undo_preview'> = {
  ...TURN,
  later_edits: [
    { path: 'lamp.md', why: 'changed after the turn', overlaps: true },
    { path: 'diary.md', why: 'changed after the turn', overlaps: false },
  ],
  blocked: [{ path: 'sea.bin', why: 'larger than what snapshots hold' }],
  warnings: ['A nested repository is not part of snapshots.'],
};

const COMPACTION: EventNamed<'undo_preview'> = {
  ...TURN,
  what: 'compaction',
  id: 'c-1',
  message: null,
  items: null,
  pre_compact_tokens: 152_000,
  post_compact_tokens: 9_100,
  files: null,
  untouched: [],
};

function asked(preview: EventNamed<'undo_preview'>): Panel {
  const { panel } = undoOf(preview.what);
  assert.ok(panel);
  return heard(panel, preview);
}

const undone = (left: EventNamed<'undo_completed'>['left']): EventNamed<'undo_completed'> => ({
  type: 'undo_completed',
  what: 'turn',
  id: 'turn-4',
  paths: ['lamp.md'],
  left,
});

describe('an undo', () => {
  test('asks for a preview first, and is sent once it was shown and confirmed', () => {
    const preview = { type: 'undo', what: 'turn', preview: true };
    assert.deepEqual(opsOf(undoPanel(), 'enter'), [preview]);
    assert.deepEqual(opsOf(undoPanel(), '2'), [{ ...preview, what: 'compaction' }]);
    assert.deepEqual(undoOf('turn').effects, [{ type: 'send', op: preview }]);
    const waiting = after(undoPanel(), 'enter');
    assert.deepEqual(opsOf(waiting, 'enter'), [], 'nothing was shown yet');
    assert.equal(rowsOf(heard(waiting, COMPACTION)).join(), rowsOf(waiting).join(), 'not what was asked');
    assert.deepEqual(opsOf(heard(waiting, TURN), 'enter'), [{ type: 'undo', what: 'turn' }]);
    assert.deepEqual(opsOf(asked(COMPACTION), 'enter'), [{ type: 'undo', what: 'compaction' }]);
    assert.equal(press(asked(TURN), 'escape').panel, undefined);
  });

  test('lets the user decide about later edits', () => {
    const undo = { type: 'undo', what: 'turn' };
    assert.deepEqual(opsOf(asked(CONTESTED), 'enter'), [{ ...undo, later_edits: 'keep' }]);
    assert.deepEqual(opsOf(asked(CONTESTED), 'down', 'enter'), [{ ...undo, later_edits: 'revert' }]);
  });

  test('closes when everything was reverted, and shows what was not', () => {
    const doing = after(asked(TURN), 'enter');
    assert.equal(doing.receive?.(undone([])), undefined);
    const left = heard(doing, undone([{ path: 'lamp.md', why: 'changed since the undo began' }]));
    assert.match(rowsOf(left).join('\n'), /lamp\.md is changed since the undo began/);
    const partly = heard(doing, {
      type: 'undo_incomplete',
      id: 'turn-4',
      paths: ['a'],
      left: [{ path: 'b', why: 'not changeable (EACCES)' }],
      kept_as: 'refs/baton/snapshots/1',
    });
    const failed = heard(partly, {
      type: 'error',
      code: 'undo_incomplete',
      message: 'Only 1 of 2 files were put back.',
    });
    assert.match(
      rowsOf(failed).join('\n'),
      /Only 1 of 2[^]*Restored:[^]*b is not changeable[^]*--source=refs\/baton/,
    );
    const refused = heard(after(undoPanel(), 'enter'), {
      type: 'error',
      code: 'nothing_to_undo',
      message: 'There is no turn to undo.',
    });
    assert.match(rowsOf(refused).join('\n'), /There is no turn to undo\./);
  });

  test('of many files scrolls, and its choices stay in sight', () => {
    const files = Array.from({ length: 90 }, (_, index) => ({
      path: `file-${index}`,
      change: 'added' as const,
    }));
    const many = asked({ ...TURN, files });
    const end = after(many, 'end');
    assert.ok(rowsOf(end).some((row) => row.includes('file-89')));
    assert.ok(rowsOf(end).some((row) => row.includes('1 Undo this turn')));
  });

  test('frames', () => {
    checkFrames('undo', [
      ['which of the two', undoPanel()],
      ['waiting for the thread', after(undoPanel(), 'enter')],
      ['a turn', asked(TURN)],
      ['a turn whose files were edited later', asked(CONTESTED)],
      ['a turn without a snapshot', asked({ ...TURN, files: null, untouched: [] })],
      ['a compaction', asked(COMPACTION)],
      [
        'not everything was reverted',
        heard(after(asked(TURN), 'enter'), undone([{ path: 'sea.bin', why: 'not changeable (EACCES)' }])),
      ],
    ]);
  });
});

const PREVIEW: EventNamed<'compact_preview'> = {
  type: 'compact_preview',
  strategy: 'full',
  pre_compact_tokens: 62_000,
  post_compact_tokens: 9_100,
  receipt: {
    version: 1,
    id: 'c-2',
    summaryTokens: 2_400,
    kept: {
      items: [
        [3, 3],
        [40, 52],
      ],
      count: 14,
      tokens: 4_100,
      byCategory: { user: 3_900, assistant: 200 },
    },
    summarised: {
      items: [[4, 39]],
      count: 36,
      tokens: 55_000,
      byCategory: { tool_results: 48_000, tool_calls: 2_500, assistant: 4_500, reasoning: 0 },
    },
    dropped: { items: [[0, 2]], count: 3, tokens: 2_600, byCategory: { other: 2_600 } },
    cut: { count: 1, tokens: 300, byCategory: { user: 300 } },
    restoredFiles: [{ path: 'src/lamp.ts', tokens: 1_800, sha256: '00', note: 'It was edited last.' }],
  },
};

describe('a preview of a compaction', () => {
  test('moves between its lists and opens an item', () => {
    const open = previewPanel(PREVIEW);
    assert.match(rowsOf(open)[1] ?? '', /^\[Keep 4\.1k\] · Summarise 55k · Drop 2\.9k$/);
    assert.match(rowsOf(after(open, 'tab'))[1] ?? '', /\[Summarise 55k\]/);
    assert.match(rowsOf(after(open, 'shift+tab'))[1] ?? '', /\[Drop 2\.9k\]/);
    const opened = after(open, 'tab', 'enter');
    assert.match(rowsOf(opened).join(' '), /Positions in the log, of this whole list: 4-39/);
    assert.ok(press(opened, 'escape').panel, 'Esc folds it first');
    assert.equal(press(open, 'escape').panel, undefined);
  });

  test('pins what is typed and stays; compacts with instructions and closes', () => {
    const open = previewPanel(PREVIEW);
    assert.deepEqual(opsOf(open, 'p', 'The lamp is lit at six.', 'enter'), [
      { type: 'pin', text: 'The lamp is lit at six.' },
    ]);
    const pinned = after(open, 'p', 'The lamp is lit at six.', 'enter');
    assert.match(rowsOf(pinned).join('\n'), /Pinned {6}The lamp is lit at six\./);
    assert.deepEqual(opsOf(open, 'p', ' ', 'enter'), [], 'a blank text is not pinned');
    const compact = { type: 'compact', trigger: { type: 'user' }, strategy: 'full' };
    const done = press(open, 'c', 'the wicks', 'enter');
    assert.deepEqual(done, {
      panel: undefined,
      effects: [{ type: 'send', op: { ...compact, instructions: 'the wicks' } }],
    });
    assert.deepEqual(opsOf(open, 'c', 'enter'), [compact]);
    assert.deepEqual(opsOf(open, 'c', 'x', 'escape', 'enter'), [], 'Esc leaves the field');
  });

  test('of clearing alone has no lists', () => {
    const micro = previewPanel({ ...PREVIEW, strategy: 'micro', receipt: null });
    assert.match(rowsOf(micro).join('\n'), /Only old tool results/);
    assert.deepEqual(opsOf(micro, 'tab', 'enter', 'down', 'c', 'enter'), [
      { type: 'compact', trigger: { type: 'user' }, strategy: 'micro' },
    ]);
  });

  test('frames', () => {
    const open = previewPanel(PREVIEW);
    checkFrames('preview', [
      ['what stays', open],
      ['an open item of the summary', after(open, 'tab', 'down', 'enter')],
      ['what is dropped', after(open, 'shift+tab')],
      ['a text to pin', after(open, 'p', 'first', 'enter', 'p')],
      ['instructions', after(open, 'c', 'the wicks')],
      ['clearing alone', previewPanel({ ...PREVIEW, strategy: 'micro', receipt: null })],
    ]);
  });
});

test('an earlier prompt is said again, or the newest turn is undone after a preview', () => {
  const open = treePanel([
    { text: 'Trim the wick.', isNewest: true },
    { text: 'Light the lamp.\nNow.', isNewest: false },
  ]);
  assert.deepEqual(press(open, 'down', 'enter').effects, [{ type: 'draft', text: 'Light the lamp.\nNow.' }]);
  assert.deepEqual(opsOf(open, 'ctrl+u'), [{ type: 'undo', what: 'turn', preview: true }]);
  checkFrames('tree', [
    ['opened', open],
    ['nothing said', treePanel([])],
  ]);
});

test('every panel keeps within a small screen', () => {
  const panels = [undoPanel(), asked(CONTESTED), previewPanel(PREVIEW), after(previewPanel(PREVIEW), 'p')];
  for (const panel of panels) {
    for (const rows of [4, 8, 12]) {
      const lines = panel.lines({ ...WIDE, width: 20, rows });
      assert.ok(lines.length <= rows, `${lines.length} of ${rows}`);
    }
  }
});
