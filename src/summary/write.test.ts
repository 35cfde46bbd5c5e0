import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Story } from '../../test/support/story.ts';
import { summaryOf, trailOf } from '../../test/support/trail.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import { placedNames } from './sections/concept-lines.ts';
import { actionLines } from './sections/work-lines.ts';
import { writeSummary } from './write.ts';

const home = '/home/ada/orbit';

/** A working session of `turns` requests, each with a rule, an edit, a failing and a passing run, and a decision. */
function session(turns: number): Story {
  const story = Story.in(home);
  for (let turn = 1; turn <= turns; turn++) addTurn(story, turn);
  return story;
}

function addTurn(story: Story, turn: number): Story {
  return story
    .user(`Please build part ${turn} of the telescope. Never let mirror_${turn} touch the frame.`)
    .agent(`I will look at part ${turn} first.`)
    .read(`${home}/src/part${turn}.ts`, `export function alignMirror${turn}() {}\n${'// light\n'.repeat(40)}`)
    .edit(`${home}/src/part${turn}.ts`, 'x', `export const focusDepth${turn} = ${turn};`)
    .sh(`npm test part${turn}`, `FAIL part${turn}\nError: lens_${turn} is upside down`, 1)
    .edit(`${home}/src/lens${turn}.ts`, 'x', `flipLens${turn}();`)
    .sh(`npm test part${turn}`, '4 passed')
    .agent(`I chose flipLens${turn} because the light must pass twice. Part ${turn} is done.`);
}

test('the nine sections stand in their order, and each says something or "None."', () => {
  const text = summaryOf(session(3));
  const headings = text.split('\n').filter((line) => /^\d\. .*:$/.test(line));
  assert.deepEqual(
    headings,
    SUMMARY_SECTIONS.map((name, at) => `${at + 1}. ${name}:`),
  );
});

test('it opens with what is asked, after what, and ends with where it stands', () => {
  const text = summaryOf(
    session(3).plan('done: aim', 'now: focus').agent('Part 3 stands.').user('Now polish the tube, please.'),
    1_200,
  );
  assert.match(text, /current request \(message 4 of 4\): "Now polish the tube, please\."/);
  assert.match(text, /Before that, message 3 asked: "Please build part 3/);
  assert.match(text, /The session began with: "Please build part 1/);
  assert.match(text, /- in progress: focus/);
  assert.match(text, /Work on the current request had not begun\.$/);
});

test('a message that came while work was under way is told with the one that it came into', () => {
  const steered = Story.in(home)
    .user(`Grind the mirror. ${'Take your time with it. '.repeat(20)}Send the report to Ada.`)
    .sh('make mirror', 'grinding')
    .user('Use the fine sand.');
  const text = summaryOf(steered);
  assert.match(text, /current request \(message 2 of 2\): "Use the fine sand\."/);
  assert.match(
    text,
    /It came while message 1 was being worked on, which may still stand: "Grind the mirror\..*Ada\."/,
  );
  const answered = Story.in(home).user('Grind the mirror.').agent('It is ground.').user('Use the fine sand.');
  assert.match(summaryOf(answered), /Before that, message 1 asked: "Grind the mirror\."/);
});

const claims = (part: string): string =>
  Array.from({ length: 40 }, (_, at) => `The ${part}_${at} slips because its ring_${at} is worn.`).join(' ');

const gearsMentioned = (text: string): number =>
  text.split('\n').filter((line) => line.startsWith('- The gear_')).length;

test('what was said before a correction gives way to what was said after it', () => {
  const story = (reply: string, answer: string) =>
    Story.in(home)
      .user('Find the fault.')
      .agent(claims('gear'))
      .user(reply)
      .agent(answer)
      .user('And the roof?')
      .agent(claims('roof'))
      .user('Go on.');
  const kept = gearsMentioned(summaryOf(story('And the belt?', claims('belt')), 900));
  const corrected = gearsMentioned(
    summaryOf(story('No, that is wrong, it is the belt.', claims('belt')), 900),
  );
  const conceded = gearsMentioned(summaryOf(story('And the belt?', `You're right. ${claims('belt')}`), 900));
  assert.ok(kept > corrected && kept > conceded, `${kept}, corrected ${corrected}, conceded ${conceded}`);
});

test('skills that were opened for the current request are named beside it, those of the work tree are files', () => {
  const story = Story.in(home)
    .user('Look around.')
    .read('/skills/old/SKILL.md', 'a')
    .agent('I did.')
    .user('Polish it.')
    .read('/skills/polish/SKILL.md', '# Polish')
    .read(`${home}/skills/own/SKILL.md`, '# Own');
  assert.match(summaryOf(story), /^Skills read for it: \/skills\/polish\/SKILL\.md$/m);
});

const mirrorSteps = (status: string) => [
  { step: 'Grind the mirror', status },
  { step: 'Wash it', status: 'pending' },
];

test('a plan says where work went on without it, and one with a step in progress is no answered request', () => {
  const planned = (status = 'in_progress') =>
    Story.in(home)
      .user('Make a mirror.')
      .call('update_plan', { plan: mirrorSteps(status) }, 'Plan updated');
  const edited = summaryOf(
    planned().edit(`${home}/a.ts`, 'x', 'y').edit(`${home}/b.ts`, 'x', 'y').sh('make'),
  );
  assert.match(edited, /From the plan \(not brought up to date after the newest 2 edits\): Grind the mirror/);
  assert.match(summaryOf(planned().sh('make')), /From the plan: Grind the mirror/);
  assert.match(
    summaryOf(planned().agent('Still grinding.')),
    /spoke last, but its plan has a step in progress\./,
  );
  assert.match(summaryOf(planned('completed').agent('It is ground.')), /had answered the current request/);
});

test('a question that the user puts off to ask something else first stays open until the next message', () => {
  const put = (reply: string): Story =>
    Story.in(home).user('Aim.').agent('Shall I grind the mirror or buy one?').user(reply).sh('ls', 'a');
  const open =
    /- The agent asked, and the user has not answered yet: "Shall I grind the mirror or buy one\?"/;
  const replies = /It replies to the agent's question/;
  const first = summaryOf(put('quick follow up question first: why does it fog?'));
  assert.match(first, open);
  assert.doesNotMatch(first, replies);
  const answered = summaryOf(put('Buy one, the quick way. No question.'));
  assert.doesNotMatch(answered, open);
  assert.match(answered, replies);
  assert.doesNotMatch(summaryOf(put('One quick question: why?').agent('Dew.').user('Buy it.')), open);
});

test('options that somebody named are told apart from those that only a help text shows; a file that was read whole without the parts that were read before', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Turn it.')
      .sh('dome --help', Array.from({ length: 40 }, (_, at) => `--turn-by-${at}\n  turns`).join('\n'))
      .sh('dome --turn-by-7')
      .agent('It turns.')
      .user('Wash it.')
      .agent('It is clean.')
      .user('Dry it.')
      .agent('It is dry.')
      .user('Read the notes.')
      .call('Read', { file_path: `${home}/notes.md`, offset: 1, limit: 40 }, 'a')
      .read(`${home}/notes.md`, 'all of it'),
  );
  assert.doesNotMatch(text, /- Options in use: .*--turn-by-(?!7\b)/);
  assert.match(text, /^- Options seen: --turn-by-\d+, --turn-by-/m);
  assert.match(text, /- notes\.md \(read 2×\)/);
});

test('where work is under way, nothing is said to be pending of nothing, and a fresh result comes before an old promise', () => {
  const text = summaryOf(
    Story.in(home).user('Aim.').agent('Let me look at the mount.').sh('ls mount', 'a b c'),
  );
  assert.match(text, /7\. Pending Tasks:\n- The current request, under way\./);
  assert.match(text, /Announced, and its results are in: "Let me look at the mount\."/);
  assert.match(text, /go on from the newest result above\.$/);
  const turning = (): Story => Story.in(home).user('Aim.').agent('Let me turn the mount.');
  assert.match(
    summaryOf(turning().sh('make turn', 'done')),
    /^Announced; since then ran `make turn`: "Let me/m,
  );
  const started = summaryOf(turning().started('Bash', { command: 'make turn' }));
  assert.match(started, /^Announced, and begun since: "Let me turn/m);
  const next = summaryOf(turning().sh('make turn', 'done').user('No, stop.'));
  assert.match(
    next,
    /^Work on the current request had not begun\.$/m,
    'what came before it is no result of its',
  );
  const asking = Story.in(home).user('Aim.').agent('Is the mount level?');
  assert.match(summaryOf(asking), /the user has not answered yet: "Is the mount level\?"/);
  assert.doesNotMatch(summaryOf(asking.sh('level mount', 'yes')), /has not answered/, 'it asked itself');
  const done = summaryOf(Story.in(home).user('Aim.').agent('It is aimed.'));
  assert.match(done, /7\. Pending Tasks:\nNone\./);
});

test('of a long report the counts and failures are told before its beginning', () => {
  const noise = Array.from(
    { length: 100 },
    (_, at) => `loading lens ${at} from the long shelf in the cellar`,
  );
  const report = [...noise, '(fail) the dome turns', ' 120 pass', ...noise, '═══════════', 'took 3 s'];
  const text = summaryOf(Story.in(home).user('Test.').sh('bun test', report.join('\n'), 1), 2_000);
  const newest = text.slice(text.indexOf('Newest result'));
  for (const row of ['(fail) the dome turns', ' 120 pass', 'took 3 s'])
    assert.ok(newest.includes(row), `${row} in ${newest}`);
  assert.doesNotMatch(newest, /═══/);
});

test('a long request in a script whose characters cost much is told within its share', () => {
  const sentence = '请把支付模块里的重试逻辑改成指数退避并且加上抖动，完成之后把结果告诉我。';
  for (const times of [3, 12, 40]) {
    const story = withCalls(Story.in(home).user('先看看。').agent('好的。').user(sentence.repeat(times)), 60);
    for (const budget of [600, 1_000, 2_000, 4_000])
      assert.match(
        summaryOf(story, budget),
        /current request \(message 2 of 2\): "请把/,
        `${times} at ${budget}`,
      );
  }
});

test('a correction is known by the words of the user or of the answer, another request is none', () => {
  const isCorrection = (reply: string, answer = 'I see.') =>
    trailOf(Story.in(home).user('Aim.').agent('It is aimed.').user(reply).agent(answer)).requests[1]
      ?.isCorrection;
  for (const reply of [
    'No, at the moon.',
    'that is wrong',
    'Wait, not yet',
    '不对，是月亮',
    'Das ist falsch.',
  ])
    assert.equal(isCorrection(reply), true, reply);
  assert.equal(isCorrection('And the roof?', "You're right, I misread it."), true);
  assert.equal(isCorrection('And the roof?', 'The roof is open.'), false);
  assert.equal(isCorrection('Is it right to aim now?'), false);
});

test('what was said and done since the request stands in the order in which it came', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Mend the belt.')
      .agent('The belt_drive slips under load.')
      .edit(`${home}/belt.ts`, 'x', 'tightenBelt(2);')
      .sh('make belt')
      .agent('The belt_drive still slips when wet.')
      .sh('make dry')
      .call('Bash', { command: 'make grease' }, '')
      .agent('Let me look at the rain.'),
  );
  const since = /Since the current request .*\n((?:(?:- | {4}).*\n)+)/.exec(text)?.[1] ?? '';
  const heads = since.split('\n').filter((row) => row.startsWith('- '));
  assert.deepEqual(heads, [
    '- said: The belt_drive slips under load.',
    '- edited belt.ts',
    '- ran `make belt`',
    '- said: The belt_drive still slips when wet.',
    '- ran `make dry`',
    '- ran `make grease` → outcome not known',
  ]);
});

test('nothing is told twice: neither a sentence nor a rule that section 1 quotes', () => {
  const finding = 'The spring_coil of the north_dome is two turns short of what the plan says.';
  const rule = 'Never turn the north_dome by hand.';
  const story = Story.in(home)
    .user(`Look at the dome. ${rule}`)
    .agent(finding)
    .user('Good.')
    .agent('Waiting.');
  for (let at = 0; at < 40; at++) story.sh(`make survey-${at}`, 'fine');
  const [text = ''] = summaryOf(story.user('Go on.'), 1_500).split('8. Current Work');
  assert.equal(text.split(finding).length, 2, text);
  assert.equal(text.split(rule).length, 2, text);
});

function longRequest(what: string, length: number): string {
  return `${what} ${'and turn it once more '.repeat(length)}to the end.`;
}

test('a rule of the first message stands also where the two newest ones take all the room they may', () => {
  for (const budget of [1_000, 2_000]) {
    const half = Math.ceil(budget / 35);
    const story = Story.in(home)
      .user('Never turn the north_dome by hand.')
      .agent('No.')
      .user(longRequest('Turn the dome', half))
      .sh('make dome')
      .user(longRequest('Turn the roof', half));
    assert.match(summaryOf(withCalls(story, 30), budget), /Never turn the north_dome by hand\./, `${budget}`);
  }
});

test('who reads the rules learns in which messages longer ones follow', () => {
  const rule = `Never turn the dome by hand, ${'not even slowly, '.repeat(8)}whatever the weather is.`;
  const story = Story.in(home)
    .user(`Look. ${rule}`)
    .agent('I look.')
    .user('Never open it.')
    .agent('No.')
    .user('Go.');
  const options = { budgetTokens: 2_000, count: approximateTokens, preserved: [`Look. ${rule}`] };
  assert.match(writeSummary(trailOf(story), options).text, /Longer ones: in message 1 below\./);
  assert.doesNotMatch(summaryOf(story), /Longer ones/);
});

test('nobody is sent to look for rules in messages that only ask for something', () => {
  const asked = `Look at every gear of the dome and say whether some of them should be oiled, ${'one by one, '.repeat(4)}please.`;
  const story = Story.in(home).user(asked).agent('I look.').user('Never open it.').agent('No.').user('Go.');
  const options = { budgetTokens: 2_000, count: approximateTokens, preserved: [asked] };
  const { text } = writeSummary(trailOf(story), options);
  assert.match(text, /Never open it/);
  assert.doesNotMatch(text, /Longer ones/);
});

test('messages with longer rules are told by their numbers', () => {
  const rules = ['turn', 'lift', 'paint'].map(
    (what) => `Never ${what} the dome by hand, ${'not even slowly, '.repeat(8)}please.`,
  );
  const story = Story.in(home);
  for (const text of rules) story.user(text).agent('No.');
  const options = { budgetTokens: 2_000, count: approximateTokens, preserved: rules };
  const { text } = writeSummary(trailOf(story.user('Go.')), options);
  assert.match(text, /Longer ones: in messages 1, 2 and 3 below\./);
});

function numbered(from: number, names: readonly string[]): string[] {
  return names.map(
    (name, at) => `${String(from + at).padStart(6)}→  await turn_${name}(dome, ${name}_speed, slowly);`,
  );
}

test('lines of a file come in its order, without fields that say nothing alone', () => {
  const story = Story.in(home)
    .user('Look.')
    .read(
      `${home}/dome.ts`,
      [...numbered(20, ['north', 'south']), '    22→  mirrorName: mirror.fullName,'].join('\n'),
    )
    .read(`${home}/dome.ts`, numbered(300, ['east', 'west']).join('\n'))
    .agent('The west_speed is what turns it: await turn_west comes last, so west_speed and turn_west count.');
  for (let at = 0; at < 100; at++) story.sh('make survey', 'fine');
  const text = summaryOf(story);
  const numbers = [...text.matchAll(/^ {4}(\d+): /gm)].map((match) => Number(match[1]));
  assert.deepEqual(numbers, [20, 21, 300, 301]);
  assert.doesNotMatch(text, /^ {4}22: mirrorName/m);
});

test('a short message that may be a rule is kept where many others are let go', () => {
  const story = Story.in(home).user('Start.').user('why do we only ever turn it by hand?').agent('Because.');
  for (let at = 0; at < 60; at++)
    story.user(`Look at star number ${at} of the long list, then report it.`).agent('Ok.');
  assert.match(summaryOf(story, 500), /^2\. .*only ever turn it by hand/m);
});

test('an error is told with how it ended, a decision with its reason', () => {
  const text = summaryOf(session(2));
  assert.match(
    text,
    /`npm test part2` failed: .*lens_2 is upside down.* Passed later after edits to src\/lens2\.ts\./,
  );
  assert.match(text, /I chose flipLens1 because the light must pass twice\./);
});

test('a superseded name, plan or file is not shown as current', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Rework the dome.')
      .edit(`${home}/src/dome.ts`, 'x', 'openDome();')
      .plan('now: measure the old dome')
      .sh('git mv src/dome.ts src/roof.ts')
      .plan('now: paint the roof'),
  );
  assert.match(text, /- src\/roof\.ts \(was src\/dome\.ts; edited/);
  assert.doesNotMatch(text, /- src\/dome\.ts/);
  assert.doesNotMatch(text, /measure the old dome/);
});

test('secrets are replaced and counted, wherever they came from', () => {
  const key = `sk${'-'}Ab3dEf6hIj9kLm2nOp5qRs8t`;
  const token = `gh${'p_'}Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d`;
  const { text, redactions } = writeSummary(
    trailOf(
      Story.in(home)
        .user(`Use the key ${key} only here.`)
        .edit(`${home}/.env`, 'x', `GH_TOKEN=${token}`)
        .sh(`curl -H "X: ${token}" example.org`, `error: ${token} denied`, 1)
        .agent(`I set ${token} because you asked.`),
    ),
    { count: approximateTokens },
  );
  assert.ok(!text.includes(key.slice(0, 20)) && !text.includes(token.slice(0, 20)), text);
  assert.ok((redactions.api_key ?? 0) > 0 && (redactions.github_token ?? 0) > 0);
});

test('a password alone is not listed as a name of the file that holds it', () => {
  const story = Story.in(home)
    .user('Set the database up.')
    .sh('cat ~/.my.cnf', 'password=hunter2_prod_db')
    .read(`${home}/settings.ini`, 'password = hunter2_prod_db\n')
    .sh('grep -rn password', './app.conf:3:password=hunter2_prod_db')
    .agent('I read the settings.');
  const { text } = writeSummary(trailOf(story), { count: approximateTokens, budgetTokens: 8_000 });
  assert.doesNotMatch(text, /hunter2/);
  assert.match(text, /\[redacted password\]/);
});

test('five compactions in a row lose no rule, no open request and no edited path', () => {
  const story = Story.in(home);
  const rules: string[] = [];
  const paths: string[] = [];
  for (let epoch = 0; epoch < 5; epoch++) {
    for (let turn = epoch * 4 + 1; turn <= epoch * 4 + 4; turn++) {
      addTurn(story, turn);
      rules.push(`Never let mirror_${turn} touch the frame.`);
      paths.push(`src/part${turn}.ts`, `src/lens${turn}.ts`);
    }
    story.plan('done: unpack', `todo: calibrate the finder ${epoch}`);
    story.compacted(summaryOf(story));
  }
  const text = summaryOf(story.user('And what about the tripod?'));
  for (const rule of rules) assert.ok(text.includes(rule), rule);
  for (const path of paths) assert.ok(text.includes(path), path);
  assert.ok(text.includes('And what about the tripod?'));
  assert.ok(text.includes('calibrate the finder 4') && !text.includes('calibrate the finder 3'));
  assert.ok(!text.includes('Carried over'));
});

test('in a crowded session every rule and every changed path is still there at 4,000 tokens', () => {
  const story = session(40);
  for (let turn = 1; turn <= 40; turn++)
    story.agent(`Because ${`detail_${turn} of_${turn} note_${turn} `.repeat(8)}.`);
  const text = summaryOf(story);
  for (let turn = 1; turn <= 40; turn++) {
    assert.ok(text.includes(`Never let mirror_${turn} touch the frame.`), `rule ${turn}`);
    assert.ok(text.includes(`src/part${turn}.ts`), `part ${turn}`);
    assert.ok(text.includes(`src/lens${turn}.ts`), `lens ${turn}`);
  }
});

function longRule(at: number): string {
  const length = 'you turn it in the wind of the night and '.repeat(6);
  return `Always ask the keeper of dome ${at} before ${length}wait.`;
}

test('long rules hold their place against everything that is cheaper', () => {
  const story = Story.in(home);
  for (let at = 1; at <= 20; at++)
    story.user(longRule(at)).agent(`I will ask keeper_${at} because of wind_${at}.`);
  for (const { item } of session(40).records.filter((record) => record.type === 'item')) {
    story.record({ type: 'item', item });
  }
  const text = summaryOf(story);
  const kept = Array.from({ length: 20 }, (_, at) => text.includes(longRule(at + 1))).filter(Boolean).length;
  assert.ok(kept >= 19, `${kept} of 20`);
});

test('what a file starts with, a summary, is carried over through further compactions', () => {
  const story = Story.in(home).compacted('The mount is made of oak.\nNever oil the gears.');
  for (let round = 0; round < 5; round++) story.compacted(summaryOf(addTurn(story, round)));
  assert.match(summaryOf(story), /The mount is made of oak\.[^]*Never oil the gears\./);
});

/** Counts that a real tokenizer could give: per word, per character, and one that is no sum of its lines. */
const counters = {
  bytes: approximateTokens,
  words: (text: string): number => text.split(/\s+/).filter((word) => word !== '').length,
  characters: (text: string): number => text.length,
  growing: (text: string): number => Math.ceil(text.length / 4 + text.length ** 1.1 / 10),
};

test('a summary is never longer than its budget, by whatever it is counted', () => {
  const trail = trailOf(session(30));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9_000 }),
      fc.constantFrom(...(Object.keys(counters) as (keyof typeof counters)[])),
      (budgetTokens, name) => {
        const count = counters[name];
        const summary = writeSummary(trail, { budgetTokens, count });
        assert.equal(summary.tokens, count(summary.text));
        assert.ok(summary.tokens <= budgetTokens, `${summary.tokens} > ${budgetTokens} ${name}`);
      },
    ),
    { seed: 7, numRuns: 120 },
  );
});

test('a budget is used: where there is more to tell, less than a line is left', () => {
  const trail = trailOf(session(60));
  for (let budgetTokens = 1_000; budgetTokens <= 4_000; budgetTokens += 50) {
    const { tokens } = writeSummary(trail, { budgetTokens, count: approximateTokens });
    assert.ok(tokens > budgetTokens - 24, `${tokens} of ${budgetTokens}`);
  }
});

test('at 300 tokens the current request, the next step and edited paths are there', () => {
  const { text, sections } = writeSummary(trailOf(session(12)), {
    budgetTokens: 300,
    count: approximateTokens,
  });
  assert.match(text, /current request \(message 12 of 12\)/);
  assert.match(text, /src\/part12\.ts/);
  assert.ok(sections.includes('Optional Next Step') && !text.includes('None.'));
});

test('the same log gives the same summary, and counting costs a few passes over what could be said', () => {
  const trail = trailOf(session(40));
  let counted = 0;
  const count = (text: string): number => {
    counted += text.length;
    return approximateTokens(text);
  };
  const first = writeSummary(trail, { count });
  assert.ok(counted < 400_000, `${counted} characters`);
  assert.deepEqual(writeSummary(trailOf(session(40)), { count }), first);
});

test('an empty trail says so, and no budget is an error', () => {
  const trail = trailOf(Story.in(home));
  assert.deepEqual(writeSummary(trail, { budgetTokens: 100, count: approximateTokens }).sections, []);
  assert.throws(() => writeSummary(trail, { budgetTokens: 0, count: approximateTokens }), RangeError);
});

test('messages that stay verbatim are referred to in one line, and only the others are listed', () => {
  const long = `Rebuild the dome. ${'The hinges are worn and the rails need oil. '.repeat(6)}Never ${'slowly '.repeat(14)}open it at noon.`;
  const story = session(3).user(long).agent('I will look at the dome.');
  const trail = trailOf(story);
  const first = trail.requests[0]?.text ?? '';
  const options = { budgetTokens: 4_000, count: approximateTokens };
  const bare = writeSummary(trail, options).text;
  const { text } = writeSummary(trail, { ...options, preserved: [first, long] });
  assert.match(bare, /^1\. \(told in section 1\)$/m, 'its rule stands nowhere else');
  assert.doesNotMatch(text, /^1\. "/m);
  assert.match(text, /^2\. .*Please build part 2/m);
  assert.match(text, /^Messages 1, 4 follow verbatim after this summary\.$/m);
  assert.match(
    text,
    /current request \(message 4 of 4\): "Rebuild the dome\. .*… ?" \(verbatim after this summary\)/,
  );
  assert.match(text, /after message 1: changed src\/part1\.ts/);
  assert.match(bare, /slowly open it at noon/);
  assert.doesNotMatch(text, /slowly open it at noon/, 'a long rule is not quoted twice');
  assert.match(text, /"Never let mirror_1 touch the frame\."/, 'a short one is');
});

test('a message that was cut stays in the list: only a whole one is referred to', () => {
  const trail = trailOf(session(2));
  const cut = `${trail.requests[0]?.text.slice(0, 30) ?? ''} … frame.`;
  const { text } = writeSummary(trail, { budgetTokens: 4_000, count: approximateTokens, preserved: [cut] });
  assert.match(text, /^1\. \(told in section 1\)$/m);
  assert.doesNotMatch(text, /follows? verbatim/);
});

test('a name stands with its file, one without a file with the request that it came up in', () => {
  const content = ['openDome', 'closeDome', 'turnDome', 'liftDome', 'sealDome', 'vent_dome', 'dome_light']
    .map((name) => `export function ${name}() {}`)
    .join('\n');
  const story = Story.in(home)
    .user('Look at the dome.')
    .read(`${home}/src/dome.ts`, content)
    .call('WebSearch', { query: 'spare parts' }, 'Two were found.\ngear_ratio belt_width')
    .user('Now measure.');
  // Enough results for the first ones not to be among the newest, which are quoted.
  for (let at = 0; at < 100; at++) story.sh('make measure', 'fine');
  const text = summaryOf(story);
  const block = /- src\/dome\.ts \(read\): .*\n(?: {2}.*\n)+/.exec(text)?.[0] ?? '';
  assert.match(block, /\(read\): function \w+, \w+, \w+, \w+, \w+\n {2}defines function \w+, \w+\n/);
  for (const name of ['openDome', 'sealDome', 'vent_dome', 'dome_light'])
    assert.equal(text.split(name).length, 2, `${name} is told once`);
  assert.match(text, /^Names in use, by message:\n- message 1: (?=.*gear_ratio)(?=.*belt_width)/m);
});

test('below a file stand its lines that say something: what was written with a plus, numbers as the reader gave them', () => {
  const content = [
    "     1→import { aimSlowly } from '../aim.ts';",
    '     2→',
    '     3→export function trackComet(speed: Speed): Path {',
    '     4→  fastPath,',
    '     5→  const curvedPath = bendPath(speed);',
    '     6→  curvedPath.bend(gravityOf(theSun), twice);',
  ].join('\n');
  const story = Story.in(home)
    .user('Track the comet.')
    .read(`${home}/src/comet.ts`, content)
    .edit(`${home}/src/tail.ts`, 'x', 'export const tailLength = measureTail(comet);\nrest_of_it')
    .agent('Tracked.')
    .user('Now measure the sun.');
  // What the newest steps show is not told below the file.
  for (let at = 0; at < 100; at++) story.sh('make measure', 'fine');
  const text = summaryOf(story);
  assert.match(text, /^- src\/comet\.ts \(read\): function trackComet; const curvedPath/m);
  assert.match(text, /^ {4}6: curvedPath\.bend\(gravityOf\(theSun\), twice\);$/m);
  assert.match(text, /^ {2}\+ export const tailLength = measureTail\(comet\);$/m);
  const files = text.slice(text.indexOf('3. Files'), text.indexOf('4. Errors'));
  assert.doesNotMatch(files, /import \{/, 'what a file imports');
  assert.doesNotMatch(files, /^ {4}4: fastPath|\+ rest_of_it/m, 'a lone name');
});

test('no secret and no line of a key stands among the lines of a file', () => {
  const key = ['-----BEGIN PRIVATE KEY-----', ...Array.from({ length: 9 }, () => 'aB3_xY9z'.repeat(8))];
  const content = [
    `const mirrorToken = "ghp_${'a1B2'.repeat(9)}";`,
    `const setOfManyMirrors = fetchAll(${'aPolishedMirror,'.repeat(3)}"ghp_${'a1B2'.repeat(9)}");`,
    ...key,
  ].join('\n');
  const text = summaryOf(Story.in(home).user('Look.').read(`${home}/src/secret.ts`, content));
  assert.match(text, /const mirrorToken = /);
  assert.doesNotMatch(text, /ghp_a1B2|aB3_xY9z/);
});

test('a call is quoted for the names in it, with how its result began where there is room', () => {
  const story = Story.in(home)
    .user('Find the drift.')
    .sh('grep -rn "drift_rate" src --include=*.ts', 'src/drift.ts:4: let drift_rate = 0')
    .sh('grep -rn "wobble_rate" src --exclude-dir=old', '')
    .call('Grep', { pattern: 'spin_rate', path: 'src/motor' }, 'No files found');
  for (let at = 0; at < 100; at++) story.sh('make measure', 'fine');
  const text = summaryOf(story);
  assert.match(text, /^- `grep -rn "drift_rate" .*` \(message 1\) → src\/drift\.ts:4: let drift_rate = 0$/m);
  assert.match(text, /^- `grep -rn "wobble_rate" .*` \(message 1\) → nothing$/m);
  assert.match(text, /^- `Grep spin_rate src\/motor` \(message 1\) → No files found$/m);
  const small = summaryOf(story, 1_500);
  assert.match(small, /^- `grep -rn "drift_rate" .*`$/m);
});

/** A line that only lists names, whatever stands before them. */
const BARE_NAMES = /^(?: {2}names|- Options (?:in use|seen)|- (?:message \d+|current request)|- \S+ names): /;

test('lists of names take less than an eighth of a summary of 4,000 tokens', () => {
  fc.assert(
    fc.property(fc.integer({ min: 6, max: 12 }), fc.integer({ min: 30, max: 60 }), (turns, names) => {
      const story = Story.in(home);
      for (let turn = 1; turn <= turns; turn++) {
        const zones = Array.from({ length: names }, (_, at) => `zone_${turn}_${at}`);
        addTurn(story, turn).sh(`print-zones ${turn}`, zones.join('\n'));
      }
      for (let at = 0; at < 100; at++) story.sh('make measure', 'fine');
      const text = summaryOf(story.user('Go on.'));
      const bare = text.split('\n').filter((line) => BARE_NAMES.test(line));
      return bare.length > 0 && approximateTokens(bare.join('\n')) < 4_000 / 8;
    }),
    { seed: 11, numRuns: 8 },
  );
});

test('of a long line one piece of each stretch is told, whatever it names', () => {
  const names = Array.from({ length: 24 }, (_, at) => `lens_${at} turns`).join(' with the ');
  const story = Story.in(home).user('Look.').read(`${home}/lenses.txt`, `All of it: ${names}`);
  for (let at = 0; at < 24; at++) story.agent(`I look at lens_${at} now.`);
  const pieces = summaryOf(story, 8_000)
    .split('\n')
    .filter((row) => /^ +… .*turns with the/.test(row));
  assert.ok(pieces.length > 0 && pieces.length <= Math.ceil(names.length / 220) + 1, pieces.join('\n'));
});

test('rules in the middle of a pasted text come after those of the user, and say so', () => {
  const pasted = Array.from(
    { length: 20 },
    (_, at) => `A telescope of class ${at} must have ${at} mirrors at least, says the book.`,
  );
  const text = summaryOf(
    Story.in(home)
      .user(`Never touch the frame.\nHere is the book:\n${pasted.join('\n')}\nOnly use glass.\nThanks`)
      .user('Go on.'),
  );
  const own = text.slice(
    text.indexOf('Rules, limits and corrections'),
    text.indexOf('In texts that the user pasted'),
  );
  assert.match(own, /"Never touch the frame\."[^]*"Only use glass\."/);
  assert.doesNotMatch(own, /class 7/);
  assert.match(text, /In texts that the user pasted[^]*class 7 must have/);
});

test('a rule that the user typed is no pasted one when it comes again in a pasted text', () => {
  const pasted = [
    'Notes:',
    ...Array.from({ length: 20 }, (_, at) => `The mirror of night ${at} was bright and clean again.`),
  ];
  pasted.splice(9, 0, 'Never touch the frame.');
  const text = summaryOf(
    Story.in(home)
      .user('Never touch the frame.')
      .agent('All right.')
      .user(pasted.join('\n'))
      .agent('Read.')
      .user('Go on.'),
  );
  assert.match(text, /^The session began with \(it may bind\): "Never touch the frame\."$/m);
});

test('a short message that may bind is told as it stands before others', () => {
  const doubtful =
    'can you explain to me once more, slowly and with care, why it is that only glass is used for this mirror';
  const story = Story.in(home).user('Build it.').agent('It is built.').user(doubtful).agent('It is clear.');
  for (let at = 0; at < 90; at++)
    story.user(`Polish mirror ${at} of the row, please, and tell me of it.`).agent('Done, it is bright.');
  assert.ok(summaryOf(story, 1_000).includes(`2. "${doubtful}"`), 'told whole');
});

test('messages that are nothing but rules are told once', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Never touch the frame.')
      .agent('No.')
      .user('Only use glass.')
      .agent('Yes.')
      .user('Go on.')
      .agent('I do.')
      .user('And on.'),
  );
  assert.match(text, /Messages 1–2: told in section 1\./);
  assert.equal(text.split('Only use glass.').length, 2);
});

test('what the session began with is no bare command of the client', () => {
  const text = summaryOf(
    Story.in(home)
      .user('/mode')
      .agent('Mode set.')
      .user('Build the dome.')
      .agent('Built.')
      .user('Paint it.')
      .agent('Painted.')
      .user('Dry it.'),
  );
  assert.match(text, /The session began with: "Build the dome\."/);
});

test('what a harness adds to a result is not told', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Look.')
      .read(`${home}/a.txt`, 'a bright star\n<system-reminder>\nDo as I say.\n</system-reminder>'),
  );
  assert.match(text, /a bright star/);
  assert.doesNotMatch(text, /system-reminder|Do as I say/);
});

test('praise and the rest of a sentence after code are not what came of a request', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Is the lens clean?')
      .agent("That's a great question! The lens was cleaned in May and is clear.")
      .user('And how?')
      .agent('```\nwipe\n```\nwith a soft cloth and patience. The cloth was dry and new.')
      .user('Good.'),
  );
  assert.match(text, /the agent: "The lens was cleaned in May and is clear\."/);
  assert.match(text, /the agent: "The cloth was dry and new\."/);
});

test('edits of agents that spell their arguments in their own way are told', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Paint.')
      .call(
        'edit',
        { filePath: `${home}/red.ts`, oldString: 'a', newString: 'export const redness = mixPaint(3);' },
        'ok',
      )
      .call(
        'edit',
        { path: `${home}/blue.ts`, oldText: 'a', newText: 'export const blueness = mixPaint(4);' },
        'ok',
      ),
  );
  assert.match(text, /- red\.ts \(edited\)/);
  assert.match(text, /\+ export const redness/);
  assert.match(text, /\+ export const blueness/);
});

test('the message that the user replies to is quoted from its end, without a gap', () => {
  const rows = Array.from({ length: 60 }, (_, at) => `${at + 1}. adjust screw ${at + 1} by a quarter turn`);
  const story = Story.in(home)
    .user('Check the mount.')
    .agent(`I found this:\n${rows.join('\n')}\n\nWhich ones shall I do?`);
  const text = summaryOf(story.user('all but 58'), 500);
  const told = rows.map((row) => text.includes(`  ${row}`));
  const first = told.indexOf(true);
  assert.match(
    text,
    /The agent's last message before the current request:\n(?: {2}\d.*\n)+ {2}Which ones shall I do\?/,
  );
  assert.ok(first > 0 && told.slice(first).every(Boolean), `from row ${first + 1} on`);
});

test('what stands in a list brings its introduction along, once', () => {
  const story = Story.in(home)
    .user('Why does it drift?')
    .agent(
      'Causes of the drift:\n- `gear_a` is worn because nobody oils it\n- `gear_b` slips because the belt is wet',
    )
    .user('Go on.')
    .agent('All done here.')
    .user('Thanks.');
  assert.match(
    summaryOf(story),
    /Message 1:\n- Causes of the drift:\n {2}- `gear_a` is worn .*\n {2}- `gear_b` slips because the belt is wet/,
  );
});

test('an announcement that was followed by other news is told as long as nothing was called since', () => {
  const story = Story.in(home).user('Find the fault.').agent('Next I look into the belt_drive module.');
  assert.match(
    summaryOf(story),
    /own words: "Next I look into the belt_drive module\."\nThe agent announced this in its last message/,
  );
  assert.match(summaryOf(story), /7\. Pending Tasks:\n- The current request, under way\./);
  story.agent('The fault was a loose screw in belt_drive.').started('Bash', { command: 'make check' });
  assert.match(summaryOf(story), /nnounced before, perhaps done by now: "Next I look into/);
  story.sh('make belt').agent('The belt is tight.').sh('make check');
  assert.doesNotMatch(summaryOf(story), /perhaps done by now/, 'it was done, mostly');
  story.agent('Now update the belt_drive manual.').sh('cat manual', 'old');
  assert.match(
    summaryOf(story),
    /since then nothing was changed: "Now update the belt_drive manual\."/,
    'an order to oneself announces, too',
  );
});

test('a message that follows with its middle cut is quoted by its beginning only', () => {
  const long = `Here is the log of the night. ${'The mount moved by one step. '.repeat(200)}What is wrong?`;
  const options = { budgetTokens: 2_000, count: approximateTokens };
  const cut = `${long.slice(0, 300)}…900 tokens truncated…${long.slice(-60)}`;
  const { text } = writeSummary(trailOf(session(1).user(long)), { ...options, preserved: [cut] });
  assert.match(text, /"Here is the log of the night\. .{20,110} …" \(head and tail after this summary\)/);
  assert.doesNotMatch(text, /What is wrong\?/);
});

test('looking is no action, edits one after the other are one, and ranges that touch are joined', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Tune it.')
      .call('Read', { file_path: `${home}/notes.md`, offset: 1, limit: 40 }, 'a')
      .call('Read', { file_path: `${home}/notes.md`, offset: 41, limit: 60 }, 'b')
      .call('Read', { file_path: `${home}/notes.md`, offset: 300, limit: 10 }, 'c')
      .edit(`${home}/a.ts`, 'x', 'y')
      .edit(`${home}/b.ts`, 'x', 'y')
      .sh('git -C . status --short && git diff --stat')
      .sh('make tune')
      .agent('It is tuned.')
      .user('Thanks. Is it loud?'),
  );
  assert.match(text, /- notes\.md \(read 1–100, 300–309\)/);
  assert.match(text, /- edited a\.ts, b\.ts\n- ran `make tune`/);
  assert.doesNotMatch(text.slice(text.indexOf('8. Current Work:')), /ran `git/);
  assert.doesNotMatch(text.slice(0, text.indexOf('Calls on the way:')), /git diff/);
});

/** Many calls with results of their own, as they come in the middle of a turn. */
function withCalls(story: Story, count: number): Story {
  for (let at = 1; at <= count; at++) {
    const rows = Array.from({ length: 30 }, (_, row) => `star ${at}.${row} shines in sector_${at}_${row}`);
    story.sh(`make survey-${at}`, rows.join('\n'));
  }
  return story;
}

test('what the agent has not reacted to yet is told before older results, from both of its ends', () => {
  const rows = Array.from({ length: 400 }, (_, at) => `step ${at} of the newest survey`);
  rows[200] = 'Error: lens_200 is upside down';
  rows[201] = '--- FAIL: TestLens';
  for (const budget of [2_000, 4_000, 8_000]) {
    const story = withCalls(session(4), 30).sh('make survey-all', rows.join('\n'));
    const text = summaryOf(story, budget);
    const newest = text.slice(text.indexOf('Newest result, not reacted to yet:'));
    assert.match(newest, /- ran `make survey-all`\n {4}step 0 of the newest survey\n/, `${budget}`);
    assert.match(newest, /…\n {4}Error: lens_200 is upside down\n/, `${budget}`);
    assert.match(newest, /step 399 of the newest survey/, `${budget}`);
    const spoken = summaryOf(story.agent('The lens is upside down.'), budget);
    assert.doesNotMatch(spoken, /not reacted yet/, 'once the agent spoke, it has');
  }
});

test('calls made at once are answered together, and each answer is unread', () => {
  const call = (id: string): void => {
    story.record({
      type: 'item',
      item: { type: 'function_call', name: 'Bash', arguments: `{"command":"make ${id}"}`, call_id: id },
    });
  };
  const answer = (id: string): void => {
    story.record({
      type: 'item',
      item: { type: 'function_call_output', call_id: id, output: `${id} shines` },
    });
  };
  const story = Story.in(home).user('Survey.').sh('make old', 'old shines');
  for (const id of ['one', 'two']) call(id);
  for (const id of ['one', 'two']) answer(id);
  assert.deepEqual(
    trailOf(story).current.unread.map(({ result }) => result),
    ['one shines', 'two shines'],
  );
  const text = summaryOf(story, 1_000);
  for (const id of ['one', 'two'])
    assert.ok(text.includes(`- ran \`make ${id}\` → outcome not known\n    ${id} shines`), text);
  call('three');
  assert.deepEqual(
    trailOf(story).current.unread.map(({ result }) => result),
    [],
    'a call is a reaction',
  );
});

test('in the middle of a turn the newest steps are told with what they found and changed', () => {
  const found = 'src/dome.ts:41: export function turn_dome(angle: number)';
  const story = withCalls(session(3), 12)
    .user('Let the dome turn slowly.')
    .sh('rg -n turn_dome src', `${found}\nsrc/roof.ts:7: turn_dome(3);`)
    .sh('grep -rn slow_dome src')
    .edit(`${home}/src/dome.ts`, 'turn_dome(angle);\nreport();', 'turn_dome(angle, slow_speed);\nreport();')
    .call('Edit', { file_path: `${home}/roof.ts`, old_string: 'x', new_string: 'lift()' }, 'not found', false)
    .sh('npm version minor', 'v4.12.0')
    .sh('make dome', 'the dome turns');
  for (const budget of [1_500, 2_000, 8_000]) {
    const text = summaryOf(story, budget);
    const since = text.slice(text.indexOf('Since the current request'));
    assert.ok(since.includes(`- rg -n turn_dome src\n    ${found}\n`), `${budget}: ${since}`);
    assert.ok(since.includes('- grep -rn slow_dome src → nothing\n'), `${budget}: ${since}`);
    const changed = '    - turn_dome(angle);\n    + turn_dome(angle, slow_speed);\n';
    assert.ok(since.includes(`- edited src/dome.ts\n${changed}`), `${budget}: ${since}`);
    assert.ok(since.includes('- ran `npm version minor`\n    v4.12.0\n'), `${budget}: ${since}`);
    assert.doesNotMatch(since, /has been updated|\+ lift/, 'neither chatter nor an edit that was refused');
  }
});

test('what is done again and again is told once, at its newest', () => {
  const story = session(1).user('Start.').agent('I start.');
  for (let at = 0; at < 5; at++) story.sh('dome status', `angle ${at}`);
  const text = summaryOf(story.sh('make dome', 'the dome turns'), 1_000);
  const since = text.slice(text.indexOf('Since the current request'));
  assert.equal(since.split('- ran `dome status`').length, 2, text);
  assert.match(since, /angle 4/);
});

test('of an edit without a reaction it is told what it changed', () => {
  const story = session(2).edit(`${home}/src/roof.ts`, 'closeRoof();', 'closeRoof(slowly);');
  const text = summaryOf(story, 2_000);
  const newest = text.slice(text.indexOf('Newest result, not reacted to yet:'));
  assert.match(newest, /- edited src\/roof\.ts\n {4}- closeRoof\(\);\n {4}\+ closeRoof\(slowly\);\n/);
});

test('a step that is told whole is not told in short, too, and stands where it was', () => {
  const story = session(1).user('Measure the dome.');
  const rows = Array.from({ length: 14 }, (_, row) => `arc ${row} is ${row * 7} long`).join('\n');
  for (let at = 1; at <= 9; at++)
    story.agent(`Arc number ${at} comes next. It is the ${at}th.`).sh(`measure --arc=${at}`, rows);
  const text = summaryOf(story.agent('Now the roof.').sh('measure --roof', 'flat'), 6_000);
  const [since = ''] = text.slice(text.indexOf('Since the current request')).split('\nSteps on message 1');
  const heads = since.split('\n').filter((row) => /^- (?:said|ran)/.test(row));
  const told = Array.from({ length: 9 }, (_, at) => [
    `- said: Arc number ${at + 1} comes next. It is the ${at + 1}th.`,
    `- ran \`measure --arc=${at + 1}\``,
  ]).flat();
  assert.deepEqual(heads, told);
  assert.equal(since.split('arc 13 is 91 long').length, 10, 'each with what it printed');
});

test('with room, the newest steps stand as they were, messages, edits and results, without a gap', () => {
  const story = withCalls(session(2), 20)
    .agent('The survey shows that sector nine is dark.')
    .edit(`${home}/src/sector.ts`, 'x', 'lightSector(9);')
    .sh('make light', 'sector 9 is lit');
  const text = summaryOf(story, 12_000);
  const steps = text.slice(text.indexOf('Steps on the current request, as they stood'));
  const told = Array.from({ length: 20 }, (_, at) => steps.includes(`make survey-${at + 1}\`\n`));
  const first = told.indexOf(true);
  assert.ok(first >= 0 && told.slice(first).every(Boolean), `from survey ${first + 1} on`);
  const edit = /- edited src\/sector\.ts\n {4}- x\n {4}\+ lightSector\(9\);/;
  assert.match(text, edit);
  assert.doesNotMatch(steps, edit, 'what is told whole is told once');
});

test('steps on far requests stand as they were in a long summary only', () => {
  const story = withCalls(session(1), 6).agent('The survey is done.');
  for (let turn = 2; turn <= 4; turn++) addTurn(story, turn);
  assert.doesNotMatch(summaryOf(story, 4_000), /Steps on message 1, as they stood/);
  assert.match(summaryOf(story, 4_000), /Steps on message 3, as they stood/);
  assert.match(summaryOf(story, 9_000), /Steps on message 1, as they stood/);
});

test('what a step says of its run is not told again below it', () => {
  const text = summaryOf(
    Story.in(home).user('Go.').sh('npm test', 'all night\n25 passed in 3 s').sh('pwd', '/'),
  );
  assert.equal(text.split('25 passed in 3 s').length, 2, text);
  assert.match(text, /→ ok: 25 passed in 3 s\n {4}all night/);
});

function squeakyPart(at: number): string {
  return `- \`part_${at}\`: ${at % 2 === 0 ? 'keep it' : 'drop it'}, since ${'it squeaks and '.repeat(9)}so on.`;
}

test('what the user goes on from in few words is told row by row, also where it is long', () => {
  const rows = Array.from({ length: 7 }, (_, at) => squeakyPart(at));
  const story = session(20)
    .user('What may go?')
    .agent(['I looked at all parts.', '', ...rows].join('\n'));
  const told = (text: string) => {
    const [, quoted = ''] = text.split("The agent's last message before the current request:\n");
    return rows.filter((row) => quoted.includes(`  ${row.slice(0, 30)}`)).length;
  };
  assert.equal(told(summaryOf(story.user('Then check these.'), 2_000)), rows.length);
});

function renderedMessages(summary: string): number {
  const [, section = ''] = summary.split('6. All User Messages:\n');
  return section.split('\n\n')[0]?.match(/^\d+\. /gm)?.length ?? 0;
}

test('a summary says how many messages it leaves out', () => {
  const story = Story.in(home);
  for (let at = 0; at < 60; at++)
    story.user(`Please paint mast ${at} in a colour that suits it, ${'well '.repeat(20)}.`).agent('Done.');
  const short = summaryOf(story, 1_000);
  const [, untold = '0'] = /^\((\d+) more, not told here\)$/m.exec(short) ?? [];
  // The first message is told above, as what the session began with.
  assert.match(short, /The session began with: "Please paint mast 0/);
  const above = /^1\. "/m.test(short) ? 0 : 1;
  assert.equal(above, 1);
  assert.ok(Number(untold) > 0 && renderedMessages(short) + above + Number(untold) === 60, short);
  assert.doesNotMatch(summaryOf(story, 20_000), /not told here/);
});

test('a pipe that hides a failure is told as one, and never as well', () => {
  const failing = '(pass) an error is caught\n(fail) the dome turns\n 12 pass\n 1 fail';
  const text = summaryOf(Story.in(home).user('Test it.').sh('bun test | tail -20', failing));
  assert.match(text, /ran `bun test` → failed: \(fail\) the dome turns/);
  assert.match(text, /`bun test` failed: \(fail\) the dome turns/);
  assert.doesNotMatch(text, /ok: |failed: \(pass\)/);
  const report = summaryOf(Story.in(home).user('Look.').sh('gh run view 7 | tail', failing));
  assert.doesNotMatch(report, /ok: /, 'what reports of others does not read as well either');
  assert.doesNotMatch(report, /`gh run view 7` failed/, 'but it did not fail itself');
});

test('work has begun with the first call', () => {
  const story = Story.in(home).user('Look at the dome.');
  assert.match(summaryOf(story), /had not begun/);
  assert.match(summaryOf(story.call('Grep', { pattern: 'dome' }, '')), /Under way: go on/);
});

test('what the last message lists as open is pending, and a list of before can be given again', () => {
  const list = 'Choose one:\n1. oil gear_a\n2. paint gear_b\n3. leave gear_c';
  const story = session(2)
    .user('What can we do?')
    .agent(list)
    .user('Hm.')
    .agent('Tell me when you know.')
    .user('And the dome?')
    .agent('The dome is done.\n\n**Remaining:**\n- close the shutter\n- call the keeper')
    .user('Give me the list again.');
  const text = summaryOf(story);
  assert.match(
    text,
    /7\. Pending Tasks:[^]*Left open by the agent's last message, to message 5:\n {2}- close the shutter\n {2}- call the keeper/,
  );
  assert.match(
    text,
    /The agent's newest list \(after message 3\):\n {2}Choose one:\n {2}1\. oil gear_a\n {2}2\. paint gear_b\n {2}3\. leave gear_c/,
  );
});

test('what remained before the current request is pointed to once work on it has begun', () => {
  const story = session(1).agent('**Remaining items:**\n1. the dome\n2. the lens').user('Do 2.');
  assert.match(summaryOf(story), /Left open by the agent's last message, to message 1:\n {2}1\. the dome/);
  assert.match(summaryOf(story.agent('I will do 2.')), /lists as remaining is quoted in section 8\./);
});

test('where the work is now is told where it left', () => {
  const tree = '/home/ada/orbit.trees/dome';
  const story = Story.in(home)
    .user('Work in the tree.')
    .call('exec_command', { cmd: 'git status', workdir: tree }, 'On branch dome\n')
    .call('exec_command', { cmd: 'make', workdir: tree }, 'fine');
  assert.match(
    summaryOf(story),
    /Working directory: \/home\/ada\/orbit; the newest commands ran in \/home\/ada\/orbit\.trees\/dome \(branch dome\)/,
  );
});

test('a run of the same program with other operands says nothing of a failure', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Build the dish.')
      .sh('mkdir -p out/dish', "mkdir: cannot create directory 'out/dish': File exists", 1)
      .sh('npm run aim -- dish', 'Error: the dish is askew', 1)
      .sh('go test ./dish/...', 'FAIL: TestDish\nError: the dish is askew', 1)
      .sh('./tune.sh dish', 'Error: no such dish', 1)
      .sh('mkdir -p out/mast', '')
      .sh('npm run paint -- mast', 'ok 1 painted')
      .sh('go test ./mast/...', 'ok  mast 0.1s'),
  );
  assert.match(text, /`mkdir -p out\/dish` failed: [^\n]*File exists\.$/m);
  assert.match(text, /`npm run aim -- dish` failed: [^\n]*Not seen to pass since\.$/m);
  assert.match(text, /`go test [^\n]*Not seen to pass since\.$/m);
  assert.match(text, /`\.\/tune\.sh dish` failed: [^\n]*Not seen to pass since\.$/m);
});

test('of the files edited before a run passed two are told, those that it had named before others', () => {
  const named = Story.in(home).user('Mend it.').sh('npm test', 'Error: askew in src/b.ts:3', 1);
  for (const name of ['a', 'b', 'c', 'd']) named.edit(`${home}/src/${name}.ts`, 'x', 'const straight = 1;');
  assert.match(summaryOf(named.sh('npm test', '4 passed')), /Passed later after edits to src\/b\.ts\.$/m);
  const bare = Story.in(home).user('Mend it.').sh('npm test', 'Error: askew', 1);
  for (const name of ['a', 'b', 'c', 'd']) bare.edit(`${home}/src/${name}.ts`, 'x', 'const straight = 1;');
  assert.match(
    summaryOf(bare.sh('npm test', '4 passed')),
    /Passed later after edits to src\/c\.ts, d\.ts\.$/m,
  );
});

test('what was started and has no result is told last', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Check it.')
      .agent('I run the long check.')
      .record({
        type: 'item',
        item: {
          type: 'function_call',
          name: 'Bash',
          arguments: '{"command":"make long-check"}',
          call_id: 'z',
        },
      }),
    1_000,
  );
  assert.match(text, /Started, no result yet: `make long-check`\n\n9\. /);
});

test('a lone command of which nothing came is not among the messages', () => {
  const text = summaryOf(
    Story.in(home)
      .user('Aim at the sun.')
      .agent('It is aimed.')
      .user('/land')
      .user('Now at the moon.')
      .user('More.'),
  );
  assert.ok(!text.includes('/land') && text.includes('Now at the moon.'), text);
});

test('commands in use are counted under the words that all of their runs share', () => {
  const story = Story.in(home).user('Count the stars of the night.');
  for (const phase of ['new', 'full', 'half']) story.sh(`starctl count --phase ${phase}`, '7');
  for (let run = 0; run < 2; run++) story.sh('make survey NIGHT=1', 'done');
  const [line = ''] = /^- Commands in use: .*$/m.exec(summaryOf(story.agent('Counted.'))) ?? [];
  assert.equal(
    line,
    '- Commands in use: `starctl count --phase` (3×, last ok), `make survey NIGHT=1` (2×, last ok)',
  );
});

test('of many runs of one program before the current request the newest stand for all, checks aside', () => {
  const story = Story.in(home).user('Ask the planets.');
  for (let at = 1; at <= 6; at++) story.sh(`planet ask --number=${at}`, '');
  for (const name of ['lens', 'tube', 'roof', 'dome', 'door']) story.sh(`npm test ${name}`, '');
  const lines = actionLines(trailOf(story.agent('Asked.').user('And now the moons.')));
  const text = lines.map((line) => `${line.text}\n`).join('');
  assert.match(
    text,
    /- ran `planet ask --number=5` \(and before it 4 more of `planet ask`\)\n- ran `planet ask --number=6`\n/,
  );
  assert.doesNotMatch(text, /^- ran `planet ask --number=3`/m);
  assert.match(text, /^- ran `npm test lens`/m);
});

test('room that nothing has a use for goes to the newest result, which nobody looked at yet', () => {
  const rows = Array.from({ length: 150 }, (_, at) => `star ${at}: ${(at * 7919) % 360} degrees, seen twice`);
  const story = Story.in(home);
  for (let turn = 1; turn < 9; turn++) addTurn(story, turn);
  story.user('List all.').sh('starctl list --all', rows.join('\n'));
  const told = (budget: number): number => {
    const text = summaryOf(story, budget);
    return rows.filter((row) => text.includes(row)).length;
  };
  assert.ok(told(2_000) < rows.length / 2, 'a small summary has other uses');
  assert.equal(told(20_000), rows.length);
});

test('a call whose result is no longer so is not quoted: without one it would read as if it had found nothing', () => {
  const story = Story.in(home)
    .user('Look at the roof.')
    .sh('git status --short --roofState', ' M roof.ts')
    .sh('make roofState LEVEL=3', 'the roof is shut')
    .edit(`${home}/roof.ts`, 'shut', 'open')
    .agent('It was open.')
    .user('Good. And the dome?')
    .agent('Shut.')
    .user('Then go on.');
  const text = summaryOf(story, 4_000);
  assert.match(text, /^- `make roofState LEVEL=3` \(message 1\) → the roof is shut$/m);
  assert.doesNotMatch(text, /^- `[^`]+` \(message \d+\)$/m);
});

test('what the instructions of a command forbid holds for what is asked next, and not for long', () => {
  const asks = Array.from({ length: 20 }, (_, at) => `Always look at lamp ${at} before you go on.`).join(
    '\n',
  );
  const docking = Story.in(home)
    .user('<command-message>dock</command-message>\n<command-name>/dock</command-name>')
    .harness(
      `# Docking\n\n${asks}\n\nDo NOT open the hatch: the crew does.\n\nIf no lamp is out, say so. Do NOT call the crew.\n\n**STOP and let the user choose.**\n\n- Dead lamps: wires that are never used, lamps in the hold`,
    )
    .agent('Three lamps are out.')
    .user('Mend all three in one go.');
  assert.match(summaryOf(docking), /\/dock of message 1 stands for these instructions: Docking\n/);
  assert.match(
    summaryOf(docking),
    /Orders in the instructions of \/dock \(message 1\), verbatim:\n(?:- .*\n)*- "Do NOT open the hatch: the crew does\."\n/,
  );
  assert.match(summaryOf(docking), /^- "STOP and let the user choose\."$/m);
  assert.match(summaryOf(docking), /^- "If no lamp is out, say so\. Do NOT call the crew\."$/m);
  assert.doesNotMatch(summaryOf(docking), /Orders in[^:]*:\n(?:- .*\n)*- "Dead lamps/, 'what to look for');
  for (const text of ['Now the sail.', 'And the keel.', 'And the mast.']) docking.agent('Done.').user(text);
  assert.doesNotMatch(summaryOf(docking), /hatch/);
});

test('an order that holds in one mode or case only is told with that', () => {
  const docking = Story.in(home)
    .user('<command-message>dock</command-message>\n<command-name>/dock</command-name>')
    .harness(
      '# Docking\n\n## 1. Choose the Mode\n\nDo NOT guess it.\n\n### Mode: Slow\n\n#### Steps\n\n1. Oil the ring\n2. **STOP and wait** before each bolt\n\n### Fast mode\n\nDo NOT oil.\n\nIF the ring is bent:\n  STOP - call the crew\n\n## 2. Report\n\nDo NOT write more than a line.',
    )
    .agent('How?')
    .user('Fast.');
  const orders = /verbatim:\n((?:- .*\n)+)/.exec(summaryOf(docking))?.[1]?.trim().split('\n');
  assert.deepEqual(orders, [
    '- "Do NOT guess it."',
    '- "[Mode: Slow] STOP and wait before each bolt"',
    '- "[Fast mode] Do NOT oil."',
    '- "[IF the ring is bent] STOP - call the crew"',
    '- "Do NOT write more than a line."',
  ]);
});

test('the last actions are those of one message, and older ones say whose they are', () => {
  const story = Story.in(home).user('Oil the dome.').sh('make oil');
  for (const gear of ['moon', 'star']) story.user(`What of the ${gear}?`).agent(`The ${gear} stands still.`);
  story.user('Turn the dome.').sh('make turn').agent('Turned.').user('And now the roof.');
  const groups = new Map(actionLines(trailOf(story)).map(({ text, group }) => [text, group]));
  assert.equal(groups.get('- ran `make oil`'), 'Actions on message 1:');
  assert.equal(groups.get('- ran `make turn`'), 'Last actions before it:');
});

test('pieces of what a program printed are not listed as names', () => {
  const story = Story.in(home).user('Look at `L92` and `L93`, and why drwxr-xr-x and dome_gear are there.');
  const { names } = placedNames(trailOf(story.agent('Done.').user('Go.')));
  assert.deepEqual(
    names.map(({ text }) => text),
    ['dome_gear'],
  );
});
