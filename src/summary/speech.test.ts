import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from '../trail/collect.ts';
import { isGuess, isSpeech, isFinding, pointsBack } from './speech.ts';
import { writeSummary } from './write.ts';

test('speech is told from code, drawings, ids, commands, rows of outputs and fields', () => {
  const speech = [
    'The dome turns with `turnDome()` once the shutter is open.',
    '- Removed `lens.old` and its three callers.',
    '5 lens.ts files were turned by hand.',
    'Die Kuppel dreht sich erst, wenn der Verschluss offen ist.',
    '镜头现在从配置文件读取参数。',
    'It passes --night to the probe, and everything else to the dome as it stands in the plan.',
    'The row A → B in the table is what the probe reads first.',
  ];
  const others = [
    'lensRatio = lightLines / allLines',
    '312 return self == other.base',
    '│ └── dome-plan.md',
    '┃- abc1234 Fix the dome — 3 mins ago [+10 -5]',
    '019aa490-f7fb-7563-b789-5f5e6cc893fd',
    'src/dome.rs',
    'probe --resume uuid',
    'git switch -c turn-the-dome',
    'git commit -m "Turn the dome" -- path/to/dome',
    '$ npm run night watch the stars',
    'gate_policy: rate_at_least',
    '"opened_domes": ["north", "south"],',
    'lamps.add(lamp)',
    'const lamp = lit the lamp',
    'Mar 8 21:51:50.846 |INFO| dome turned by hand of the night watch',
    '[night 0975fbe] Turn the dome at dusk',
    '</dome-note>',
    'assert isinstance(dome, northern.Dome)',
    '| dome | turns | by hand |',
    '/dome/check.py:6: Warning: the dome should not turn in daylight',
  ];
  assert.deepEqual(
    speech.filter((text) => !isSpeech(text)),
    [],
  );
  assert.deepEqual(others.filter(isSpeech), []);
});

test('a guess is one in what a sentence says, not in a reason or an aside', () => {
  const guesses = [
    'The dome probably turns twice.',
    'It seems that the probe has no light.',
    'Die Ursache liegt vermutlich im Spiegel.',
    '镜头可能没有校准。',
    '(I assume the dome is closed)',
  ];
  const findings = [
    'The dome turns twice, because the probe may have asked twice.',
    'Three lamps are out (maybe four).',
    'The mighty dome looks north.',
  ];
  assert.deepEqual(
    guesses.filter((text) => !isGuess(text)),
    [],
  );
  assert.deepEqual(findings.filter(isGuess), []);
});

test('what was wondered, asked or announced is not told as found', () => {
  for (const text of [
    "Let's look at `dome.ts` first.",
    'If `dome` is closed, `probe` fails.',
    'Should `dome` turn?',
    'I’ll turn `dome` now.',
  ])
    assert.ok(!isFinding(text), text);
  assert.ok(isFinding('`dome` is closed while `probe` runs.'), 'a finding');
});

test('a sentence whose subject stands in the one before it says nothing alone', () => {
  for (const text of ['It turns `dome` first.', 'They’re in `roof.ts`.', 'That means `dome` waits.'])
    assert.ok(pointsBack(text), text);
  for (const text of ['This dome turns `lens`.', '`It` is a word of `dome.ts`.', 'The dome has it.'])
    assert.ok(!pointsBack(text), text);
});

test('a summary quotes what was said, and neither the code beside it nor a guess', () => {
  const story = Story.in('/home/ada/orbit')
    .user('Why is the dome slow?')
    .agent(
      'I looked at the motor and at what its driver says. The `domeMotor` has no brake at all. It was taken off by `nightCrew` in the winter of that year.\n\n    domeSpeed = motorSpeed / domeWeight\n\nThe `domeSensor` probably lost its calibration during the night and reports angles that are too small for this dome.',
    )
    .user('Go on.');
  for (let turn = 3; turn < 12; turn++) story.agent(`Turn ${turn} is over.`).user(`Number ${turn}, please.`);
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 4_000, count: approximateTokens });
  const told = /\n2\. [^]*?\n3\. /.exec(text)?.[0] ?? '';
  const found = /\n5\. [^]*?\n6\. /.exec(text)?.[0] ?? '';
  assert.match(told, /"The `domeMotor` has no brake at all\." \(agent, message 1\)/);
  assert.doesNotMatch(told, /domeSpeed =|It was taken off/);
  assert.doesNotMatch(told + found, /lost its calibration/);
});
