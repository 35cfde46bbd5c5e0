import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announcedStep,
  closingQuestion,
  isCourtesy,
  namedList,
  remainingRows,
  statementsOf,
} from './statements.ts';

const AT = { turn: 1, position: 1 };
const texts = (message: string): string[] => statementsOf(message, AT).map(({ text }) => text);

test('a sentence is kept with its kind', () => {
  assert.deepEqual(
    statementsOf('The cache is stale because the key lacks the branch. Next I rebuild it.', AT).map(
      ({ kind }) => kind,
    ),
    ['decision', 'intent'],
  );
});

test('rows of tables, headings and bare names say nothing by themselves', () => {
  assert.deepEqual(texts('| `stageFiles` | src/stage.ts:7 | nobody calls it, so it is dead |'), []);
  assert.deepEqual(texts('**What changed in the parser:**'), []);
  assert.deepEqual(texts('- `mcp__files__write_everything`'), []);
  assert.deepEqual(texts('`readConfig()` returns `undefined`'), []);
});

const kinds = (message: string): string[] => statementsOf(message, AT).map(({ kind }) => kind);

test('a sentence without a subject that says what its speaker is at announces, one that tells something besides does not', () => {
  for (const said of [
    'Running the required checks before the commit.',
    'Retrying the push of the dome.',
    'Waiting for the remaining two lenses...',
    'Still rerunning the tests of the lens.',
    'Now pushing the merge to the dome.',
    'Now the full polish and oil sequence per `AGENTS.md`.',
    'Need to find what failed — the tail only shows the sum.',
    "Now, I'll paint the dome in white.",
    'First I’m looking for the key of the dome.',
    'Checking whether the lens that was cleaned is dry.',
  ])
    assert.deepEqual(kinds(said), ['intent'], said);
  for (const said of [
    'Running the tests needs the daemon to be up.',
    'Looking at the log, the dome never closed.',
    'Looking at the log: `closeDome` was called twice.',
    'Waiting for the lens does not help because it is dry.',
    'Now the dome uses the new lens.',
    'Now the old belt and its wheel are gone.',
    'Missing check of the lens before it turns.',
  ])
    assert.ok(
      kinds(said).every((kind) => kind === 'finding' || kind === 'decision'),
      said,
    );
  assert.deepEqual(kinds('What slows the dome down:\n- Reading the whole sky at once'), ['finding']);
});

test('a step that comes first is but the way to what was announced before it', () => {
  const text = 'The dome creaks. I will oil the hinge of the dome. First, let me look at the hinge:';
  assert.equal(announcedStep(text), 'I will oil the hinge of the dome.');
  assert.equal(announcedStep('Now pushing the merge.'), 'Now pushing the merge.');
});

test('scripts without spaces between words are sentences too', () => {
  assert.equal(texts('缓存已经过期，因为键里没有分支名称，需要重新生成。').length, 1);
});

test('an announcement that ends with a colon is told with what it leads to', () => {
  const text = 'All done.\n\nIf you want me to:\n- oil the `gear_a`\n- paint the dome';
  assert.equal(announcedStep(text), 'If you want me to: oil the `gear_a` paint the dome');
});

test('a courtesy is no outcome and waiting is no news', () => {
  for (const said of [
    "You're absolutely right.",
    'Good catch!',
    'No action needed yet.',
    'You are completely right!',
  ]) {
    assert.ok(isCourtesy(said), said);
  }
  assert.ok(!isCourtesy("You're right that the gear slips because the belt is wet."));
  assert.ok(!isCourtesy('Done: the gear no longer slips.'));
  assert.deepEqual(texts("You're absolutely right. The `gear_a` slips in the rain."), [
    'The `gear_a` slips in the rain.',
  ]);
});

test('the rows below a heading of what remains are open work, those of other headings are not', () => {
  const done = '**Done:**\n- the dome\n- the lens\n';
  assert.deepEqual(remainingRows(`${done}\n**Still open:**\n1. the tripod\n2. the finder\n\nShall I?`), [
    '1. the tripod',
    '2. the finder',
  ]);
  assert.deepEqual(remainingRows(`## Remaining work\n| # | what |\n|---|---|\n| 1 | the tripod |`), [
    '| # | what |',
    '| 1 | the tripod |',
  ]);
  assert.deepEqual(remainingRows(done), []);
  assert.deepEqual(remainingRows('What remains open is hard to say:'), []);
});

test('the last list with numbers or names is kept whole, with its introduction and what is said of its items', () => {
  assert.equal(
    namedList(
      'First:\n1. a\n2. b\n3. c\n\n\n\n\n\n\n\n\nOptions:\n\n1. oil\n   - costly\n2. paint\n\n3. wait\n   - free\n\nWhich?',
    ),
    'Options:\n1. oil\n   - costly\n2. paint\n\n3. wait\n   - free',
  );
  assert.ok(namedList('**Option A**: oil\n**Option B**: paint\n**Option C**: wait') !== undefined, 'options');
  assert.ok(namedList('| a | b |\n|---|---|\n| 1 | 2 |') !== undefined, 'a table');
  assert.equal(namedList('I did\n- one\n- two\n- three'), undefined, 'nobody refers to these');
  assert.equal(namedList('1. one\n2. two'), undefined);
});

test('a question mark in a quotation or in code asks nobody anything', () => {
  const asked = [
    'Shall I mend "the gate"?',
    'Do you want `shut?` there?',
    'Is it (as you said) open?)',
    'The hens" are out, right?',
  ];
  for (const text of asked) assert.equal(closingQuestion(text), text);
  const told = [
    'We have rules for "is the gate shut?" but none for "who shut it?"',
    'The sign says “Who goes there?”',
    'The test is called `shut?`',
    'It reads "Who shut the gate?',
  ];
  for (const text of told) assert.equal(closingQuestion(text), undefined, text);
  assert.equal(statementsOf('We have two rules for "who shut the gate?"', AT)[0]?.kind, 'finding');
});
