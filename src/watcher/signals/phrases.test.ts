import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_PHRASES, PhraseReader } from './phrases.ts';

/** `done`, `shift` and `concluding`, each with the phrase that told it. */
function told(message: string, reader = new PhraseReader()): string {
  const words = { agent_done: 'done', topic_shift: 'shift', concluding_thought: 'concluding' };
  return reader
    .read(message)
    .map(({ boundary, phrase }) => `${words[boundary]}: ${phrase}`)
    .join('; ');
}

const table: readonly (readonly [message: string, told: string])[] = [
  ['Done.', 'done: Done'],
  ['All tests pass. The migration is COMPLETED!', 'done: COMPLETED'],
  ['**Done** — see the diff.', 'done: Done'],
  ['🎉done🎉', 'done: done'],
  ['任务done了', 'done: done'],
  ['Not a problem, all done now.', 'done: done'],
  ['I pushed the branch. Want me to open a pull request?', 'done: pushed'],
  ['', ''],
  // Inside other words (rawr-behaviour §13, 15).
  ['I abandoned the attempt.', ''],
  ['This is undone.', ''],
  ['The condone list', ''],
  ['A well-done steak, done-ish', ''],
  ['It is in done_list and is_done().', ''],
  ['See src/done.ts and tasks/done/a.md', ''],
  ['Ungedonet', ''],
  ['Ça se doné', ''],
  // In code.
  ['I ran `echo done` for you', ''],
  ['```sh\necho done\n```\nIt prints a word.', ''],
  // Negations, listed and not.
  ['The work is not done.', ''],
  ['Part A is done. Part B is not finished.', ''],
  ["It isn't done yet.", ''],
  ['It isn’t completed.', ''],
  ['Nothing has been pushed.', ''],
  ["We haven't really finished it.", ''],
  ['It has never been shipped.', ''],
  ['This cannot be completed here.', ''],
  ['I stopped without having finished.', ''],
  // Plans, conditions and questions.
  ['Two steps are still to be done.', ''],
  ['Once the build is done I will look.', ''],
  ['If that is completed, tell me.', ''],
  ['It is almost finished.', ''],
  ['Is it done?', ''],
  // The other lists.
  ['Next, the parser.', 'shift: Next,'],
  ['Moving\non to the parser.', 'shift: Moving on'],
  ["Now, let's look at the parser", "shift: Now, let's"],
  ['Now let’s look at the parser', 'shift: Now let’s'],
  ['Shall I do the parser next, then the lexer?', ''],
  ["I'm not moving on.", ''],
  ['The text, the context, fine.', ''],
  ['In summary, it works.', 'concluding: In summary'],
  ['## Next steps\n- none', 'concluding: Next steps'],
  ['## Conclusion', 'concluding: Conclusion'],
  ['That is inconclusive, a foregone-conclusion', ''],
];

for (const [message, expected] of table) {
  test(`says: ${JSON.stringify(message)}`, () => assert.equal(told(message), expected));
}

test('lists are replaced whole, and an empty one switches its boundary off', () => {
  const reader = new PhraseReader({
    ...DEFAULT_PHRASES,
    agentDone: ['voilà'],
    topicShift: [],
    concludingThought: [' '],
  });
  assert.equal(told('Done. Next, in summary: VOILÀ!', reader), 'done: VOILÀ');
  assert.equal(told('voila\u0300', reader), 'done: voilà', 'accents compare however they are written');
  const decomposed = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['voila\u0300'] });
  assert.equal(told('Voilà', decomposed), 'done: Voilà');
});

test('an empty list of negatives voids nothing, another one what it says', () => {
  const lax = new PhraseReader({ ...DEFAULT_PHRASES, agentDoneNegative: [] });
  assert.equal(told('A is done. B is not finished.', lax), 'done: done');
  const strict = new PhraseReader({ ...DEFAULT_PHRASES, agentDoneNegative: ['remaining'] });
  assert.equal(told('A is done. Remaining: B.', strict), '');
  assert.equal(told('A is done. Remaining: B.', strict), '', 'the same reader again');
  assert.equal(told('A is done. B too.', strict), 'done: done');
  assert.equal(told('A is done. Remaining: B.', strict), '');
});

test('phrases of scripts without spaces are found inside of their sentences', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['完成', '終わりました'] });
  assert.equal(told('任务完成了。', reader), 'done: 完成');
  assert.equal(told('作業が終わりました', reader), 'done: 終わりました');
});

test('the two i of Turkish are one, in either case', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['bitti'] });
  for (const text of ['bitti', 'BİTTİ', 'BITTI', 'Bitti.', 'BİTTİ'.toLowerCase()]) {
    assert.equal(told(text, reader).slice(0, 6), 'done: ', text);
  }
  assert.equal(told('bittiği', reader), '');
});

test('phrases are text, whatever characters they have', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['c++ (.*) [x] a-b/c|d^$', '🎉'] });
  assert.equal(told('c++ (.*) [x] a-b/c|d^$', reader), 'done: c++ (.*) [x] a-b/c|d^$');
  assert.equal(told('🎉', reader), 'done: 🎉');
  assert.equal(told('ccc x', reader), '');
});

test('any lists and any message: never throws, evidence is whole characters of the message', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), text, text, (phrases, before, after) => {
      const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: [...phrases, 'done'] });
      for (const { sentence } of reader.read(`${before} done ${after}`)) {
        assert.ok(sentence.length <= 160);
      }
    }),
    { seed: 5, numRuns: 1_000 },
  );
  const emoji = `${'🧵'.repeat(500)} done ${'提'.repeat(500)}`;
  for (const { sentence } of new PhraseReader().read(emoji)) assert.doesNotMatch(sentence, /\p{Surrogate}/u);
});

test('a hostile message takes linear time', () => {
  for (const piece of ['not ', 'done', 'next ', "n't a ", '`', '(', 'i̇', '🎉', '\n', 'a.b ']) {
    const started = process.cpuUsage();
    told(piece.repeat(100_000));
    // Of the processor: the time of a clock also goes to other processes.
    assert.ok(process.cpuUsage(started).user < 3_000_000, JSON.stringify(piece));
  }
});

test('a phrase that begins with a character of two units ends the search, found or not', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['🎉 fertig', '𝒜b'] });
  assert.equal(told('𝒜bc 🎉 fertigen', reader), '');
  assert.equal(told('𝒜bc, dann 𝒜b; 🎉 fertig', reader), 'done: 𝒜b');
});

test('a longer phrase that is part of a word leaves the place to a shorter one', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['done', 'done up'] });
  assert.equal(told('It is done upper layer by layer.', reader), 'done: done');
});

test('a phrase that stands in a word does not hide the one that begins a character later', () => {
  const reader = new PhraseReader({ ...DEFAULT_PHRASES, agentDone: ['ok!', 'k!', '!'] });
  assert.equal(told('xk!', reader), 'done: !');
});

test('a phrase of the configuration is text, whatever signs it has, and never a pattern', () => {
  const signs = fc.string({
    unit: fc.constantFrom(...'ab\\^$.*+?()[]{}|/&~#-'),
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(signs, fc.array(signs, { maxLength: 4 }), (phrase, parts) => {
      const reader = new PhraseReader({
        agentDone: [],
        agentDoneNegative: [],
        topicShift: [],
        concludingThought: [phrase],
      });
      const found = reader.read([...parts, phrase, ...parts].join(' '));
      for (const signal of found) assert.equal(signal.phrase, phrase);
    }),
    { numRuns: 500, seed: 6 },
  );
});

test('a phrase that would be a slow pattern is read in linear time', () => {
  const reader = new PhraseReader({
    ...DEFAULT_PHRASES,
    concludingThought: ['(a+)+$', '(x|x)*y', 'a  b   c'],
  });
  assert.deepEqual(reader.read(`${'a'.repeat(100_000)}! ${'x'.repeat(100_000)} ${'a '.repeat(50_000)}`), []);
});
