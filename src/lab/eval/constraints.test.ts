import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSays, harnessSays, recordsOf, userSays } from '../../../test/support/records.ts';
import { keptConstraints } from './constraints.ts';
import { readLog } from './log.ts';
import { Past } from './past.ts';

function constraintsOf(text: string): readonly string[] {
  return new Past(readLog(recordsOf(userSays(text)), () => 1)).advance(1).constraints;
}

describe('constraints of the user', () => {
  it('are sentences that forbid, demand, limit or prefer', () => {
    assert.deepEqual(
      constraintsOf(
        'Please look at the bed. Never touch src/bed.ts directly!\nUse pnpm instead of npm. It is nice.',
      ),
      ['Never touch src/bed.ts directly!', 'Use pnpm instead of npm.'],
    );
    assert.deepEqual(constraintsOf('不要修改这个文件。'), ['不要修改这个文件。']);
  });

  it('are told without the mark of the list in which they stand', () => {
    assert.deepEqual(constraintsOf('- Never touch the bed\n  2. Always use pnpm here'), [
      'Never touch the bed',
      'Always use pnpm here',
    ]);
  });

  it('are no questions, no single words, nothing said by others, nothing after the cut', () => {
    assert.deepEqual(constraintsOf('Should it never stop? Always. Fine.'), []);
    const log = readLog(
      recordsOf(
        harnessSays('Never lie to me.'),
        agentSays('I must never stop.'),
        userSays('Go.'),
        userSays('Never stop the spindle.'),
      ),
      () => 1,
    );
    const past = new Past(log);
    assert.deepEqual(past.advance(3).constraints, []);
    assert.deepEqual(past.advance(4).constraints, ['Never stop the spindle.']);
  });

  it('are kept when a context holds them word for word, however the lines break', () => {
    const both = ['Never stop the spindle.', 'Use pnpm instead of npm.'];
    assert.equal(keptConstraints(['1. Never stop', '   the spindle. And so on'], both), 0.5);
    assert.equal(keptConstraints(['Never halt the spindle.'], both), 0);
    assert.equal(keptConstraints(both, both), 1);
    assert.equal(keptConstraints(['anything'], []), undefined);
  });
});
