import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import { readLog } from './log.ts';
import { futureUses, recallOf } from './uses.ts';

const oneTokenEach = () => 1;

/** Four items of past (the initial context is none), then a future of four items. */
function session() {
  return readLog(
    recordsOf(
      harnessSays('Rules are in docs/rules.md'),
      userSays('Fix src/bed.ts, see docs/rules.md'),
      toolCall('c1', 'read', { path: 'src/bed.ts' }, 'turnChuck(feedRate)'),
      agentSays('turnChuck is wrong'),
      // The cut is here, after five items.
      toolCall('c2', 'read', { path: 'src/gear.ts' }, 'feedRate is in src/bed.ts'),
      agentSays('feedRate and turnChuck are fixed; docs/rules.md is kept'),
      userSays('Thanks for src/bed.ts'),
    ),
    oneTokenEach,
  );
}

/** The name of an identifier is asked of the table by a line that holds nothing else. */
function numberOf(log: ReturnType<typeof session>, name: string): number {
  const [number] = log.table.identifiersOf(name);
  assert.ok(number !== undefined);
  return number;
}

describe('future uses', () => {
  const log = session();
  const uses = futureUses(log, 5);
  const useOf = (name: string) => uses.find(({ identifier }) => identifier === numberOf(log, name));

  it('are what is written again, not what is new, only shown, or of the initial context', () => {
    assert.deepEqual(
      uses.map(({ identifier }) => identifier),
      ['feedRate', 'turnChuck', 'src/bed.ts'].map((name) => numberOf(log, name)),
    );
  });

  it('weigh ln((items + 1) / items that name it)', () => {
    // Four items of the past: request, call, result, message.
    assert.equal(useOf('src/bed.ts')?.weight, Math.log(5 / 2));
    assert.equal(useOf('turnChuck')?.weight, Math.log(5 / 2));
    assert.equal(useOf('feedRate')?.weight, Math.log(5 / 1));
  });

  it('are unaided unless a result showed them first', () => {
    assert.equal(useOf('turnChuck')?.isUnaided, true);
    assert.equal(useOf('feedRate')?.isUnaided, false);
    assert.equal(useOf('src/bed.ts')?.isUnaided, false);
  });

  it('are none in what an edit repeats of the file, whatever its tool calls that', () => {
    const edits = [
      { old_string: 'turnChuck(1)\nfeedRate(2)', new_string: 'turnChuck(1)\nfeedRate(3)' },
      { oldString: 'turnChuck(1)\nfeedRate(2)', newString: 'turnChuck(1)\nfeedRate(3)' },
      { edits: [{ oldText: 'turnChuck(1)\nfeedRate(2)', newText: 'turnChuck(1)\nfeedRate(3)' }] },
    ];
    for (const edit of edits) {
      const edited = readLog(
        recordsOf(userSays('Mind turnChuck and feedRate'), toolCall('c1', 'Edit', edit, 'done')),
        oneTokenEach,
      );
      const found = futureUses(edited, 1).map(({ identifier }) => identifier);
      assert.deepEqual(
        found,
        edited.table.identifiersOf('feedRate'),
        'only the line that changed was written',
      );
    }
  });

  it('are none in the context lines of a patch', () => {
    const input =
      '*** Begin Patch\n*** Update File: src/bed.ts\n@@\n turnChuck(1)\n-feedRate(2)\n+gearRatio(3)\n*** End Patch';
    const patched = readLog(
      recordsOf(userSays('Mind turnChuck, feedRate, gearRatio and src/bed.ts'), {
        type: 'custom_tool_call',
        name: 'apply_patch',
        input,
        call_id: 'c1',
      }),
      oneTokenEach,
    );
    const found = futureUses(patched, 1).map(({ identifier }) => identifier);
    assert.deepEqual(found, patched.table.identifiersOf('src/bed.ts gearRatio'));
  });

  it('survive as the weighted share that a context names', () => {
    const whole = Math.log(5 / 2) * 2 + Math.log(5);
    const recall = recallOf(['turnChuck', 'unrelated', 'turnChuck again'], uses, log.table);
    assert.equal(recall.all, Math.log(5 / 2) / whole);
    assert.equal(recall.unaided, 1);
    assert.deepEqual(recallOf([], uses, log.table), { all: 0, unaided: 0 });
    assert.equal(recallOf(['src/bed.ts turnChuck', 'feedRate'], uses, log.table).all, 1);
  });

  it('credit a line with six at most, and the rest to a later line', () => {
    const names = Array.from({ length: 8 }, (_, at) => `part_${at}`);
    const wide = readLog(recordsOf(userSays(names.join(' ')), agentSays(names.join(' '))), oneTokenEach);
    const eight = futureUses(wide, 1);
    assert.equal(eight.length, 8);
    assert.equal(recallOf([names.join(' ')], eight, wide.table).all, 6 / 8);
    assert.equal(recallOf([names.join(' '), names.join(' ')], eight, wide.table).all, 1);
  });
});
