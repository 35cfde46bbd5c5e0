// The two small languages of the recorder: the screenplay and its patches.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyHunks, parsePatch } from '../../scripts/record/patch.ts';
import { parseScreenplay } from '../../scripts/record/screenplay.ts';

const hunk = (from: string[], to: string[]) => [{ from, to }];

describe('a screenplay', () => {
  it('gives each call an answer of its own, with the thoughts and words before it', () => {
    const scenes = parseScreenplay(
      '@user 5\ngo\n\n@think\nhm\n@say\nlooking\n@run\nls\n@run 2\nfalse\n@say\ndone\n',
    );
    assert.deepEqual(scenes, [
      { type: 'user', text: 'go', afterSeconds: 5 },
      {
        type: 'sampling',
        think: 'hm',
        say: 'looking',
        calls: [{ tool: 'exec_command', command: 'ls', expectedExit: 0 }],
      },
      { type: 'sampling', calls: [{ tool: 'exec_command', command: 'false', expectedExit: 2 }] },
      { type: 'sampling', say: 'done', calls: [] },
    ]);
  });

  it('joins calls to one answer where it says so', () => {
    const [sampling] = parseScreenplay('@run\nls\n@with run 1\nfalse\n@with plan\n[>] look\n');
    assert.deepEqual(sampling, {
      type: 'sampling',
      calls: [
        { tool: 'exec_command', command: 'ls', expectedExit: 0 },
        { tool: 'exec_command', command: 'false', expectedExit: 1 },
        { tool: 'update_plan', steps: [{ step: 'look', status: 'in_progress' }] },
      ],
    });
  });

  it('keeps the hunks of a patch apart from its own blocks', () => {
    const [sampling] = parseScreenplay('@patch\n*** Update File: a\n@@\n-x\n+y\n');
    assert.deepEqual(sampling, {
      type: 'sampling',
      calls: [
        {
          tool: 'apply_patch',
          patch: '*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch',
        },
      ],
    });
  });

  it('refuses what it does not know', () => {
    assert.throws(() => parseScreenplay('@sing\nla\n'), SyntaxError);
    assert.throws(() => parseScreenplay('@plan\nlook\n'), SyntaxError);
    assert.throws(() => parseScreenplay('@run soon\nls\n'), SyntaxError);
  });
});

describe('a patch', () => {
  it('names its files', () => {
    const patch =
      '*** Begin Patch\n*** Add File: a\n+1\n+2\n*** Delete File: b\n*** Update File: c\n@@\n x\n-y\n+z\n*** End Patch';
    assert.deepEqual(parsePatch(patch), [
      { kind: 'A', path: 'a', text: '1\n2\n' },
      { kind: 'D', path: 'b' },
      { kind: 'M', path: 'c', hunks: [{ from: ['x', 'y'], to: ['x', 'z'] }] },
    ]);
  });

  it('replaces, inserts and deletes whole lines only', () => {
    assert.equal(applyHunks('a\nb\nc\n', hunk(['a'], ['A'])), 'A\nb\nc\n');
    assert.equal(applyHunks('a\nb\nc\n', hunk(['c'], ['c', 'd'])), 'a\nb\nc\nd\n');
    assert.equal(applyHunks('a\nb\nc\n', hunk(['b'], [])), 'a\nc\n');
    assert.throws(() => applyHunks('ab\n', hunk(['a'], ['A'])), RangeError);
  });

  it('refuses a place that is missing or ambiguous', () => {
    assert.throws(() => applyHunks('a\n', [{ from: ['b'], to: [] }]), /Not found/);
    assert.throws(() => applyHunks('a\nb\na\n', [{ from: ['a'], to: [] }]), /Found twice/);
  });

  it('refuses lines outside of a file or a hunk', () => {
    assert.throws(() => parsePatch('+a'), SyntaxError);
    assert.throws(() => parsePatch('*** Begin Patch\n+a\n*** End Patch'), SyntaxError);
    assert.throws(() => parsePatch('*** Begin Patch\n*** Update File: a\n+a\n*** End Patch'), SyntaxError);
  });
});
