import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TreeChange, TreeFile } from './changes.ts';
import { divideForUndo, isConflicting, obstacleTo, plannedPaths, planUndo, stretchesOf } from './undo.ts';
import type { UndoRequest } from './undo.ts';
import type { RepositoryMoment, Snapshot, TurnStates } from './snapshot.ts';

const FILE: TreeFile = { kind: 'file', blob: 'a' };
const NOW: RepositoryMoment = { prefix: '', head: '1'.repeat(40), operation: undefined };

/** `+path` was added since the snapshot, `-path` deleted, `path` modified. */
function changed(...marks: readonly string[]): readonly TreeChange[] {
  return marks.map((mark) => ({
    path: mark.replace(/^[+-]/, ''),
    before: mark.startsWith('+') ? undefined : FILE,
    after: mark.startsWith('-') ? undefined : { kind: 'file', blob: 'b' },
  }));
}

function snapshot(commit: string): Snapshot {
  return { commit, ref: `refs/baton/snapshots/t/${commit}` };
}

function turn(before: string, after?: string): TurnStates {
  return { before: snapshot(before), after: after === undefined ? undefined : snapshot(after) };
}

describe('who changed what', () => {
  const stretches = (...states: readonly TurnStates[]) =>
    stretchesOf(states, 'now').map(({ by, from, to }) => `${by} ${from}..${to}`);

  test('a turn ends at its saved end, and others own the rest', () => {
    assert.deepEqual(stretches(turn('a', 'b'), turn('c', 'd')), [
      'turns a..b',
      'later b..c',
      'turns c..d',
      'later d..now',
    ]);
  });

  test('a turn without a saved end may own everything up to the next one', () => {
    assert.deepEqual(stretches(turn('a'), turn('c', 'd')), ['unknown a..c', 'turns c..d', 'later d..now']);
    assert.deepEqual(stretches(turn('a')), ['unknown a..now']);
  });
});

describe('the plan of an undo', () => {
  const authorship = {
    turns: new Set(['own', 'both']),
    later: new Set(['both', 'other']),
    unknown: new Set([]),
  };
  const plan = (
    changes: readonly TreeChange[],
    {
      request = {},
      known = true,
      ignored = [],
      head = '1'.repeat(40),
    }: {
      readonly request?: Partial<UndoRequest>;
      readonly known?: boolean;
      readonly ignored?: readonly string[];
      readonly head?: string;
    } = {},
  ) =>
    planUndo({
      divided: divideForUndo(changes, known ? authorship : undefined, { found: [], ...request }),
      target: { facts: { ...NOW, leftOut: [{ path: 'big', why: 'too large' }], nested: [] }, paths: ['own'] },
      changes,
      leftOutNow: [
        { path: 'big', why: 'too large' },
        { path: 'new-and-big', why: 'too large' },
      ],
      ignoredThen: new Set(ignored),
      now: { ...NOW, head },
    });

  test('reverts the changes of the turn and leaves later edits', () => {
    const planned = plan(changed('own', 'both', 'other'));
    assert.deepEqual([...plannedPaths(planned)], ['own']);
    assert.deepEqual(
      planned.laterEdits.map(({ path, overlaps }) => ({ path, overlaps })),
      [
        { path: 'both', overlaps: true },
        { path: 'other', overlaps: false },
      ],
    );
  });

  test('conflicts only about files of the turn, and only until the user decides', () => {
    assert.equal(isConflicting(plan(changed('own', 'other')), {}), false);
    assert.equal(isConflicting(plan(changed('own', 'both')), {}), true);
    assert.equal(isConflicting(plan(changed('own', 'both')), { laterEdits: 'keep' }), false);
    const reverting = plan(changed('own', 'both', 'other'), { request: { laterEdits: 'revert' } });
    assert.deepEqual([...plannedPaths(reverting)], ['own', 'both', 'other']);
    assert.equal(isConflicting(reverting, {}), false);
  });

  test('without the states between, any change may be anybody’s', () => {
    const planned = plan(changed('own'), { known: false });
    assert.deepEqual([...plannedPaths(planned)], []);
    assert.equal(isConflicting(planned, {}), true);
  });

  test('removes the temporary files of a killed undo, whatever owner they name', () => {
    const left = '.baton-undo-c0ffee-7';
    const planned = plan(changed('own', `+src/${left}`), {
      known: false,
      request: { found: [snapshot('c0ffee')] },
    });
    assert.deepEqual(planned.remove, [`src/${left}`]);
  });

  test('leaves what git ignored at the time, and names what was never saved', () => {
    const planned = plan(changed('+own'), { ignored: ['own'] });
    assert.deepEqual([...plannedPaths(planned)], []);
    assert.deepEqual(
      planned.untouched.map(({ path }) => path),
      ['own', 'new-and-big'],
    );
  });

  test('warns that commits stay', () => {
    assert.deepEqual(plan(changed('own')).warnings, []);
    assert.match(
      plan(changed('own'), { head: '2'.repeat(40) }).warnings.join(),
      /HEAD has moved from 11111111 to 22222222/,
    );
  });
});

test('an operation that has begun since forbids an undo; one that ran at the time does not', () => {
  const rebasing = { ...NOW, operation: 'rebase' } as const;
  assert.match(obstacleTo(NOW, rebasing) ?? '', /a rebase has begun/);
  assert.equal(obstacleTo(rebasing, rebasing), undefined);
  assert.equal(obstacleTo(rebasing, NOW), undefined);
});
