import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { HOOK_EVENTS } from '../vocabulary.ts';
import type { HookEvent } from '../vocabulary.ts';
import { describeCommand, MAX_TEXT_CHARACTERS, readAnswer } from './answer.ts';
import type { HookEnd } from './answer.ts';

function exited(stdout: string, more: Partial<Extract<HookEnd, { type: 'exited' }>> = {}): HookEnd {
  return { type: 'exited', status: 0, stdout, droppedBytes: 0, stderr: '', ...more };
}

function answer(event: HookEvent, value: unknown) {
  return readAnswer(event, exited(JSON.stringify(value)));
}

describe('an answer', () => {
  it('has the keys of its event', () => {
    assert.equal(answer('pre_compact', { instructions: ' keep the ids\n' }).text, 'keep the ids');
    assert.equal(answer('pre_compact', { veto: 'tests are running' }).veto, 'tests are running');
    assert.equal(answer('session_start', { context: 'branch main' }).text, 'branch main');
  });

  const elsewhere: readonly (readonly [event: HookEvent, value: object])[] = [
    ['pre_compact', { context: 'x' }],
    ['session_start', { instructions: 'x' }],
    ['session_start', { veto: 'x' }],
    ['post_compact', { veto: 'x' }],
    ['post_compact', { context: 'x' }],
    // What other tools take: told, not guessed.
    ['pre_compact', { decision: 'block', reason: 'x' }],
    ['pre_compact', { continue: false }],
    ['session_start', { hookSpecificOutput: { additionalContext: 'x' } }],
    ['pre_compact', JSON.parse('{"__proto__":"x"}') as object],
    ['pre_compact', { constructor: 'x' }],
  ];
  for (const [event, value] of elsewhere) {
    it(`of ${event} may not be ${JSON.stringify(value)}, which is a warning and nothing else`, () => {
      const { outcome, veto, text, complaints } = answer(event, value);
      assert.deepEqual([outcome, veto, text], ['done', undefined, undefined]);
      assert.equal(complaints.length, 1);
      assert.match(complaints[0] ?? '', /answered with unknown keys: .* knows /);
    });
  }

  it('keeps what is known beside what is not', () => {
    const { text, complaints } = answer('pre_compact', { instructions: 'x', reason: 'y' });
    assert.equal(text, 'x');
    assert.match(
      complaints[0] ?? '',
      /with unknown keys: reason \(pre_compact knows `veto` and `instructions`\)/,
    );
  });

  it('takes blank texts and null for nothing, and other types for a mistake', () => {
    for (const blank of ['', ' \n', null]) {
      const { veto, text, complaints } = answer('pre_compact', { veto: blank, instructions: blank });
      assert.deepEqual([veto, text, complaints], [undefined, undefined, []]);
    }
    for (const wrong of [true, 1, ['x'], { a: 1 }]) {
      const { veto, text, complaints } = answer('pre_compact', { veto: wrong, instructions: wrong });
      assert.deepEqual([veto, text], [undefined, undefined]);
      assert.equal(complaints.length, 2);
    }
  });

  it('is cut at its limit, whole up to it', () => {
    const fits = answer('session_start', { context: 'x'.repeat(MAX_TEXT_CHARACTERS) });
    assert.deepEqual([fits.text?.length, fits.complaints], [MAX_TEXT_CHARACTERS, []]);
    const long = answer('session_start', { context: 'x'.repeat(MAX_TEXT_CHARACTERS + 1) });
    assert.ok((long.text?.length ?? 0) <= MAX_TEXT_CHARACTERS, 'longer than its limit');
    assert.match(long.complaints[0] ?? '', /of 10001 characters; only the first 10000 count/);
  });

  it('gives no known secret and no control character to anybody', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const said = `use ${secret} \u001B[31m\u0000now\n\tplease`;
    const expected = 'use [redacted github_token] [31mnow\n\tplease';
    assert.equal(answer('session_start', { context: said }).text, expected);
    const told = [
      answer('pre_compact', { veto: said }).veto,
      readAnswer('pre_compact', exited('', { status: 2, stderr: said })).veto,
      readAnswer('pre_compact', exited('', { status: 1, stderr: said })).complaints[0],
      readAnswer('pre_compact', exited(said)).complaints[0],
      describeCommand(['curl', '-H', said]),
    ];
    for (const text of told) {
      assert.doesNotMatch(text ?? secret, /ghp_|\p{Cc}/u);
    }
  });

  it('reaches a model only as the text of a known key, whatever is printed', () => {
    const value = fc.oneof(fc.string(), fc.jsonValue());
    const printed = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .dictionary(fc.constantFrom('veto', 'instructions', 'context', 'x'), value)
        .map((one) => JSON.stringify(one)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...HOOK_EVENTS), printed, fc.nat(3), (event, stdout, status) => {
        const { veto, text, complaints } = readAnswer(event, exited(stdout, { status, stderr: 'said' }));
        for (const complaint of complaints) assert.doesNotMatch(complaint, /\p{Cc}/u);
        if (!['pre_compact', 'user_prompt_submit'].includes(event)) assert.equal(veto, undefined);
        if (status !== 0) assert.equal(text, undefined);
        if (text === undefined) return;
        const key = event === 'pre_compact' ? 'instructions' : 'context';
        assert.equal(typeof (JSON.parse(stdout) as Record<string, unknown>)[key], 'string');
        assert.ok(!['post_compact', 'turn_complete'].includes(event), `${event} has no text`);
      }),
      { seed: 8, numRuns: 2_000 },
    );
  });
});

describe('a command', () => {
  it('is shown as one short line', () => {
    assert.equal(describeCommand(['node', 'a b.mjs']), 'node a b.mjs');
    assert.equal(describeCommand('first\n  second'), 'first second');
    assert.ok(describeCommand('word '.repeat(100)).length <= 80, 'too long');
  });
});
