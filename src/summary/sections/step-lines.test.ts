import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { summaryOf } from '../../../test/support/trail.ts';
import { loadTokenizer } from '../../tokens/tokenizer.io.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { stepLines, tailLines } from './step-lines.ts';
import { writeSummary } from '../write.ts';

const count = await loadTokenizer();

/** What a summary of a story says of the current work. */
function currentWork({ records }: Story, budgetTokens: number): string {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { count, budgetTokens });
  return text.slice(text.indexOf('\n8. '), text.indexOf('\n9. '));
}

/** Looks at files that nobody changes, one after the other. */
function look(story: Story, times: number): Story {
  for (let at = 1; at <= times; at++) {
    const rows = Array.from(
      { length: 30 },
      (_, row) => `export const tide_${at}_${row} = moonPhase(${row});`,
    );
    story.sh(`cat src/tide${at}.ts`, rows.join('\n'));
  }
  return story;
}

test('the newest edit of each file of the current request is told with what it changed, whatever was looked at since', () => {
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .edit('/w/src/dome.ts', 'turn(0);', 'turn(gentleWind);\n}\n')
    .edit('/w/src/roof.ts', 'open();', 'openRoof(slowly);')
    .edit('/w/src/dome.ts', 'halt();', 'haltDome(windGauge);\n}\n}');
  look(story, 9);
  for (const budget of [2_000, 4_000, 8_000]) {
    const text = currentWork(story, budget);
    assert.match(
      text,
      /- edited src\/dome\.ts\n(?: {4}[-+] .*\n)* {4}\+ haltDome\(windGauge\);/,
      `${budget}: ${text}`,
    );
    assert.match(
      text,
      /- edited src\/roof\.ts\n(?: {4}[-+] .*\n)* {4}\+ openRoof\(slowly\);/,
      `${budget}: ${text}`,
    );
    assert.doesNotMatch(text, /haltDome.*\n {4}\+ \}/, `${budget}: ${text}`);
  }
});

test('what was read of a file before it was changed is not told as what stands there', () => {
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .sh('cat src/dome.ts', 'export const domeSpeed = calmWind;\nturnDome(domeSpeed);')
    .read('/w/src/roof.ts', 'export const roofSpeed = calmWind;')
    .edit('/w/src/dome.ts', 'calmWind', 'strongWind')
    .sh('npm test', '3 passed');
  for (const budget of [2_000, 8_000]) {
    const text = currentWork(story, budget);
    assert.doesNotMatch(text, /cat src\/dome\.ts|domeSpeed = calmWind/, `${budget}: ${text}`);
    assert.match(text, /Read src\/roof\.ts\n {4}export const roofSpeed = calmWind;/, `${budget}: ${text}`);
  }
});

test('an edit that is told as a step is not told again below its file', () => {
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .edit('/w/src/dome.ts', 'halt();', 'haltDome(windGauge, gentleWind, strongWind);')
    .sh('npm test', '3 passed');
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { count, budgetTokens: 4_000 });
  assert.match(currentWork(story, 4_000), /\+ haltDome\(windGauge/);
  assert.doesNotMatch(text, /newest small edit:/);
});

test('the cause of a failed step is told whole where its head has no room for it', () => {
  const cause =
    'src/observatory/dome/roof.go:922:4: missing cases in switch of type roof.Position (exhaustive)';
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .sh(
      'mise run fmt && mise run lint',
      `[lint] $ lint run\n[lint] ERROR task failed\n${cause}\n${Array.from({ length: 60 }, (_, at) => `  turn(${at});`).join('\n')}`,
      1,
    );
  look(story, 5);
  const [text = ''] = currentWork(story, 2_000).split('Steps on the current request');
  assert.match(
    text,
    /- ran `mise run fmt && mise run lint` → failed\n(?: {4}….*\n)* {4}src\/observatory\/dome\/roof\.go:922:4: missing/,
  );
  assert.doesNotMatch(text, /ERROR task failed/);
});

test('of a change that is told in part the rest is counted, and what goes is the other side of what comes', () => {
  const names = Array.from({ length: 40 }, (_, at) => `turretOfTheDome${at}`);
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .edit(
      '/w/src/dome.ts',
      `f();\n${names.map((name) => `closed(${name});`).join('\n')}`,
      names.map((name) => `opened(${name}, slowly);`).join('\n'),
    )
    .sh('npm test', '3 passed');
  look(story, 20);
  for (const budget of [2_000, 4_000]) {
    const rows = (/- edited src\/dome\.ts\n((?: {4}.*\n)+)/.exec(currentWork(story, budget))?.[1] ?? '')
      .trimEnd()
      .split('\n')
      .map((row) => row.trim());
    const shown = rows.filter((row) => /^[-+] \w/.test(row));
    assert.ok(shown.length > 0, `${budget}: ${currentWork(story, budget)}`);
    // Of both sides, the row without its other side included.
    assert.equal(rows.at(-1), `… (${81 - shown.length} more)`, `${budget}: ${rows.join('|')}`);
    assert.ok(!rows.includes('- f();'), `${budget}: ${rows.join('|')}`);
  }
});

test('no older line of a file stands below its newest small edit', () => {
  const story = Story.in('/w')
    .user('Look.')
    .read('/w/src/roof.ts', 'export const roofSpeed = slowWind + calmWind;\nopenRoof(slowly, roofSpeed);')
    .edit('/w/src/roof.ts', 'halt();', 'haltRoof(windGauge, gentleWind, strongWind);')
    .user('Now the tide.')
    .user('And the moon.')
    .agent('Nothing is to be done there.');
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { count, budgetTokens: 8_000 });
  assert.match(
    text,
    / {4}openRoof\(slowly, roofSpeed\);\n(?: {2}.*\n)*? {2}newest small edit:\n {4}haltRoof/,
  );
});

test('a line for which two others stand takes no other one along', () => {
  const rows = Array.from({ length: 12 }, (_, at) => `opened(turretOfTheDome${at}, slowly);`).join('\n');
  const story = Story.in('/w')
    .user('Turn the dome.')
    .edit('/w/src/dome.ts', 'halt();', rows)
    .sh('npm test', '3 passed');
  assert.match(currentWork(story, 4_000), /- edited src\/dome\.ts\n {4}- halt\(\);\n {4}\+ opened/);
});

const call = (last: string): string =>
  `  tides := gatherTheTidesOfTheBay(theHarbour, currentBay, theMoonPhases, theWindGauges, ${last})`;

test('a short result of the newest looks stands whole: two calls in it may differ at their ends only', () => {
  const story = Story.in('/w').user('Why does it drift?');
  look(story, 5);
  story.sh('rg -n gatherTheTidesOfTheBay bay.go', `109:${call('mainTides')}\n116:${call('nil')}`);
  story.sh('rg -n tideMap bay.go', 'tideMap := nil').agent('Both are given.').sh('ls', 'bay.go');
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const told = (room: number): string =>
    stepLines(collector.trail(), { room, weights: new Map(), counting: new Set(), from: undefined }, [])
      .map(({ text }) => text)
      .join('\n');
  assert.match(told(800), /109: .*theWindGauges, mainTides\)\n.*116: .*theWindGauges, nil\)/);
  assert.doesNotMatch(told(300), /mainTides/, 'in a small summary it is cut');
});

test('the rows of a table are told with its head, without what only sets its columns', () => {
  const rows = ['north', 'south', 'east', 'west', 'zenith', 'nadir'].map(
    (name) => `watch-the-${name}-sky${' '.repeat(40)}  working  33m${' '.repeat(20)}the ${name} sky`,
  );
  const head = `WATCH${' '.repeat(60)}STATUS   ELAPSED${' '.repeat(18)}TITLE`;
  const story = Story.in('/w')
    .user('Who watches?')
    .sh('watchers status', [head, ...rows].join('\n'));
  const text = currentWork(story, 4_000);
  for (const name of ['north', 'nadir'])
    assert.match(text, new RegExp(`watch-the-${name}-sky  working  33m  the ${name} sky`), text);
});

test('that there is nothing is what a command came to', () => {
  const story = Story.in('/w')
    .user('Is anything stale?')
    .sh('beads stale --json', '[]')
    .sh('gh run list', 'no runs found');
  look(story, 3);
  const text = currentWork(story.agent('Nothing is.').user('And now?'), 4_000);
  assert.match(text, /ran `beads stale --json` → ok: \[\]/, text);
  assert.match(text, /ran `gh run list` → ok: no runs found/, text);
});

test('of steps on answered requests no row is told twice: a listing comes again and again', () => {
  const story = Story.in('/w').user('What is there?');
  const rows = Array.from({ length: 6 }, (_, at) => `the boats of the northern harbour, pier number ${at}`);
  story.sh('ls harbour', rows.join('\n')).sh('ls -a harbour', [...rows, 'a hidden boat'].join('\n'));
  story.agent('Six boats and a hidden one.').user('And the tide?').sh('cat tide', 'high');
  const text = currentWork(story, 8_000);
  assert.match(text, /- ls -a harbour\n {4}the boats of the northern harbour, pier number 0/, text);
  assert.equal(text.split('pier number 3').length, 2, text);
});

test('of a listing among the steps as they stood the first rows are told and those that name what counts', () => {
  const names = Array.from({ length: 40 }, (_, at) => `harbour${at}.chart`);
  const collector = new TrailCollector();
  const story = Story.in('/w').user('Redraw the charts.').sh('ls charts', names.join('\n')).agent('Forty.');
  for (const record of story.records) collector.add(record);
  const counting = new Set(['harbour31.chart']);
  const beside = { budget: 8_000, whole: new Set<number>(), short: [], isOutdated: () => false, counting };
  const text = tailLines(collector.trail(), beside)
    .map((line) => line.text)
    .join('\n');
  assert.match(text, /harbour2\.chart\n +… \(28 more\)\n +harbour31\.chart\n +… \(8 more\)/, text);
});

test('a short table of a newest result is told whole before long ones', () => {
  const table = [
    'NAME          STATE     SINCE',
    ...['dome', 'roof', 'mast', 'tide', 'moon'].map(
      (name) => `${name}-of-the-northern-observatory-by-the-sea          turning   9m`,
    ),
  ];
  const long = Array.from(
    { length: 90 },
    (_, at) => `line ${at} of the log of the night, which says little of the dome`,
  ).join('\n');
  const story = Story.in('/w').user('How far are they?');
  story.call('exec_command', { cmd: 'dome status' }, table.join('\n'));
  for (const name of ['dome', 'roof']) story.call('exec_command', { cmd: `dome log ${name}` }, long);
  const { records } = story;
  // Called at once: the results come behind the last call.
  const calls = records.filter((record) => record.type === 'item' && record.item.type === 'function_call');
  const results = records.filter(
    (record) => record.type === 'item' && record.item.type === 'function_call_output',
  );
  records.splice(2, Infinity, ...calls, ...results);
  const text = currentWork(story, 4_000);
  assert.match(
    text,
    /- ran `dome status`(?: → outcome not known)?\n {4}NAME.*\n(?: {4}\S+ {2,}turning.*\n){5}/,
    text,
  );
});

test('what is not kept of a long result counts as left out, wherever its beginning is told', () => {
  const rows = Array.from({ length: 400 }, (_, at) => `lamp ${at} hangs in tower_${at % 40} beside the door`);
  const story = Story.in('/w').user('List the lamps.');
  for (let at = 0; at < 24; at++) story.sh(`make survey-${at}`, 'fine');
  const text = summaryOf(story.sh('lamp list', rows.join('\n')).sh('lamp count', '900'), 8_000);
  const [, told = ''] = /- ran `lamp list`\n((?: {4}.*\n)+)/.exec(text) ?? [];
  const shown = told.match(/^ {4}lamp \d+ /gm)?.length ?? 0;
  const more = Number(/… \((\d+) more\)\n$/.exec(told)?.[1]);
  assert.equal(shown + more, rows.length, told);
});

test('what moved a file or had git put it back is told once, by what it did', () => {
  const story = Story.in('/w')
    .user('Turn the dome with the wind.')
    .edit('/w/src/dome.ts', 'turn(0);', 'turn(gentleWind);')
    .sh('git checkout src/dome.ts', 'Updated 1 path from the index')
    .sh('mv src/roof.ts src/lid.ts');
  const text = currentWork(story, 4_000);
  assert.match(text, /had git put back src\/dome\.ts/, text);
  assert.match(text, /moved src\/roof\.ts to src\/lid\.ts/, text);
  assert.doesNotMatch(text, /ran `(?:git checkout|mv)/, text);
});
