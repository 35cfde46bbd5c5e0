import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentSays, harnessSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import { WHOLE_ITEMS } from '../../history/clear.ts';
import { HistoryFold } from '../../history/project.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { TrailCollector } from '../../trail/collect.ts';
import {
  clearedResults,
  codexRule,
  compactedContext,
  embeddedSummary,
  newestLines,
  randomLines,
} from './candidates.ts';
import type { Situation } from './candidates.ts';
import { chanceFrom } from './chance.ts';
import { readLog } from './log.ts';
import { Past } from './past.ts';

const tenPerLine = () => 10;
const byLength = (text: string) => Math.ceil(text.length / 4);

function situationAfter(records: readonly LogRecord[], count: (text: string) => number): Situation {
  const history = new HistoryFold(WHOLE_ITEMS);
  const trail = new TrailCollector();
  for (const record of records) {
    history.add(record);
    trail.add(record);
  }
  const log = readLog(records, count);
  return {
    log,
    past: new Past(log).advance(log.steps.length),
    entries: history.entries,
    trail: trail.trail(),
  };
}

const RECORDS = recordsOf(
  harnessSays('Keep to the rules.'),
  userSays('First request.'),
  toolCall('c1', 'shell', { cmd: 'cat bed.ts' }, 'one\ntwo\nthree'),
  agentSays('First answer.'),
  userSays('Second request.'),
);

describe('candidates', () => {
  const situation = situationAfter(RECORDS, tenPerLine);

  it('the past is every line but the initial context', () => {
    assert.deepEqual(situation.past.lines, [
      'First request.',
      'shell',
      'cat bed.ts',
      'one',
      'two',
      'three',
      'First answer.',
      'Second request.',
    ]);
  });

  it('newest: the last lines that fit, in order', () => {
    assert.deepEqual(newestLines(situation, 35).lines, ['three', 'First answer.', 'Second request.']);
    assert.deepEqual(newestLines(situation, 9).lines, []);
    assert.deepEqual(newestLines(situation, 1000).lines, situation.past.lines);
  });

  it('newest: a result whose call was cut off is an orphan', () => {
    assert.equal(newestLines(situation, 20).orphans, 0);
    assert.equal(newestLines(situation, 50).orphans, 1, 'the result is whole, its call is gone');
    assert.equal(newestLines(situation, 70).orphans, 0, 'call and result are there');
  });

  it("Codex's rule: the user's words, newest first, and the canned sentence", () => {
    const { lines } = codexRule(situation, 1000);
    assert.deepEqual(lines.slice(0, 2), ['First request.', 'Second request.']);
    assert.equal(lines.length, 3);
    assert.deepEqual(codexRule(situation, 24).lines.slice(0, -1), ['Second request.']);
  });

  it('random: as many lines of the past as fit, another set with another chance', () => {
    const past = situation.past.lines;
    const draw = (seed: number) => randomLines(situation, 40, chanceFrom(seed)).lines;
    assert.equal(draw(1).length, 4);
    assert.ok(draw(1).every((line) => past.includes(line)));
    assert.deepEqual(draw(1), draw(1));
    assert.ok([2, 3, 4, 5].some((seed) => String(draw(seed)) !== String(draw(1))));
  });

  it('cleared: all but the newest three results of repeatable tools, every call kept', () => {
    const reads = Array.from({ length: 6 }, (_, at) =>
      toolCall(
        `c${at}`,
        'Read',
        { file_path: `part-${at}.ts` },
        `export const part_${at} = ${'x'.repeat(200)};`,
      ),
    );
    const read = situationAfter(
      recordsOf(userSays('Look at the parts.'), ...reads, agentSays('Seen.')),
      byLength,
    );
    const { lines, orphans } = clearedResults(read);
    const text = lines.join('\n');
    assert.equal(orphans, 0);
    for (const at of [0, 1, 2]) assert.ok(!text.includes(`part_${at} `) && text.includes(`part-${at}.ts`));
    for (const at of [3, 4, 5]) assert.ok(text.includes(`part_${at} `));
  });

  it('this engine: summary and whole context within the budget, without orphans', () => {
    const work = Array.from({ length: 40 }, (_, at) => [
      ...toolCall(
        `c${at}`,
        'exec_command',
        { cmd: `cat src/part-${at}.ts` },
        'listing of a part '.repeat(60),
      ),
      agentSays(`I decided to keep part_${at} because the bed needs it.`),
    ]);
    const long = situationAfter(recordsOf(userSays('Never move the bed.'), ...work), byLength);
    const whole = compactedContext(long, 1500);
    assert.ok(whole !== undefined);
    assert.equal(whole.orphans, 0);
    assert.ok(long.log.table.tokensOfLines(whole.lines) <= 1500);
    assert.ok(whole.lines.some((line) => line.includes('Never move the bed.')));
    assert.ok(long.log.table.tokensOfLines(embeddedSummary(long, 700).lines) <= 700);
  });

  it('this engine: nothing where the context is too small to be worth it', () => {
    assert.equal(compactedContext(situation, 1000), undefined);
  });
});
