import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { chooseCuts } from './cuts.ts';
import { readLog } from './log.ts';

const byLength = (text: string) => text.length;
const thousand = 'word '.repeat(20).trim().concat('\n').repeat(10);

function messages(count: number): readonly LogRecord[] {
  return recordsOf(
    ...Array.from({ length: count }, (_, at) => (at % 2 === 0 ? userSays(thousand) : agentSays(thousand))),
  );
}

describe('cuts', () => {
  it('are spread evenly over what follows the first 8,000 tokens', () => {
    const cuts = chooseCuts(readLog(messages(88), byLength), 4, 1);
    assert.equal(cuts.length, 4);
    const distances = cuts.slice(1).map(({ step }, at) => step - (cuts[at]?.step ?? 0));
    assert.ok(
      distances.every((distance) => Math.abs(distance - 20) <= 1),
      String(distances),
    );
    assert.ok((cuts[0]?.step ?? 0) >= 8);
  });

  it('shift with the seed and with nothing else', () => {
    const steps = (seed: number) =>
      chooseCuts(readLog(messages(88), byLength), 4, seed).map(({ step }) => step);
    assert.deepEqual(steps(1), steps(1));
    assert.notDeepEqual(steps(1), steps(2));
  });

  it('never part a call from its result', () => {
    const work = Array.from({ length: 30 }, (_, at) =>
      toolCall(`c${at}`, 'run', { cmd: thousand }, thousand),
    );
    const log = readLog(recordsOf(userSays(thousand), ...work), byLength);
    const cuts = chooseCuts(log, 12, 3);
    assert.ok(cuts.length > 8);
    for (const { step } of cuts) assert.notEqual(log.steps[step]?.item.type, 'function_call_output');
  });

  it('are where a compaction really happened, with its summary', () => {
    const compacted: LogRecord = { type: 'compacted', id: 'x', replacement: [], summary: 'So far so good.' };
    const cuts = chooseCuts(readLog([...messages(20), compacted, ...messages(4)], byLength), 0, 1);
    assert.deepEqual(cuts, [{ step: 20, record: 20, kind: 'compaction', summary: 'So far so good.' }]);
  });

  it('are none where the past is short, the initial context not counted', () => {
    const initial = recordsOf(...Array.from({ length: 20 }, () => harnessSays(thousand)));
    assert.deepEqual(chooseCuts(readLog([...initial, ...messages(7)], byLength), 8, 1), []);
  });
});
