import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { sentLines, sentSteps } from './sent-lines.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { writeSummary } from '../write.ts';
import type { CommandRun } from '../../trail/trail.ts';

function run(command: string, turn = 1, failed = false): CommandRun {
  return {
    command,
    turn,
    position: turn,
    exitCode: failed ? 1 : 0,
    failed,
    isHidden: false,
    outcomeLines: [],
  };
}

const answer = (id: number, text: string, turn = 1): CommandRun =>
  run(`gh api repos/ada/orbit/pulls/4/comments/${id}/replies -f body="${text}"`, turn);

test('answers to many comments are one line, with whom it was sent to and how often', () => {
  const runs = [
    answer(71001, 'The dome turns.'),
    answer(71002, 'The lens is clean.'),
    run('gh api repos/ada/orbit/pulls/4/comments --jq .[].id'),
    answer(71003, 'The roof opens.', 2),
    answer(71002, 'The lens is clean.', 3),
  ];
  const { lines, covered: told } = sentLines(runs);
  assert.deepEqual(
    lines.map(({ text }) => text),
    [
      '- `gh api repos/ada/orbit/pulls/4/comments/*/replies`: sent to 3 (1 more than once): 71001, 71002, 71003; the newest (message 3): "The lens is clean."',
    ],
  );
  assert.equal(told.size, 4 - 1, 'two are the same command');
});

test('few of a kind, what failed and what only reads are told one by one', () => {
  const few = [answer(71001, 'The dome turns.'), answer(71002, 'The lens is clean.')];
  assert.deepEqual(sentLines(few).lines, []);
  const reads = [71001, 71002, 71003].map((id) => run(`gh api repos/ada/orbit/pulls/comments/${id}`));
  assert.deepEqual(sentLines(reads).lines, []);
  const failed = run('gh api repos/ada/orbit/pulls/4/comments/71003/replies -f body="Done."', 1, true);
  assert.deepEqual(sentLines([...few, failed]).lines, []);
});

test('of a script that sends several answers all are told', () => {
  const long =
    'The dome turns again, as it did before the storm, and nothing else was changed in it since then.';
  const send = (id: number): string =>
    `gh api repos/ada/orbit/pulls/4/comments/${id}/replies -f body="${long}"`;
  const collector = new TrailCollector();
  const story = Story.in('/home/ada/orbit')
    .user('Answer them.')
    .sh(`# the dome\n${send(71001)}\n${send(71002)}`, '{}')
    .sh(send(71003), '{}');
  for (const record of story.records) collector.add(record);
  assert.match(sentLines(collector.trail().commands).lines[0]?.text ?? '', /sent to 3: 71001, 71002, 71003;/);
});

const send = (id: number): string =>
  `gh api repos/ada/orbit/pulls/4/comments/${id}/replies -f body="The lens of ${id} is clean."`;
const url = (id: number): string => `{"url":"https://x.test/${id}","node_id":"PRRC_${id}"}`;

test('answers to many on the current request are one step of it, and no results to react to', () => {
  const story = Story.in('/home/ada/orbit').user('Answer them.').agent('Now I answer them.');
  story.sh('make lens', 'the lens is built').sh(`${send(71001)}\n${send(71002)}`, url(81001));
  for (const id of [71003, 71004, 71005]) story.sh(send(id), url(8 * id));
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const trail = collector.trail();
  assert.ok(trail.current.tail.length > 4, 'the calls are steps');
  const { lines, rest } = sentSteps(trail);
  assert.deepEqual(
    lines.map(({ text }) => text),
    [
      '- ran `gh api repos/ada/orbit/pulls/4/comments/*/replies`: sent to 5: 71001, 71002, 71003, 71004, 71005; the newest: "The lens of 71005 is clean."',
    ],
  );
  assert.deepEqual(
    rest.current.tail.map(({ result }) => result),
    ['the lens is built'],
  );
  const { text } = writeSummary(trail, { budgetTokens: 2_000, count: approximateTokens });
  assert.match(text, /sent to 5: 71001, 71002, 71003, 71004, 71005/);
  assert.doesNotMatch(text, /Newest result/);
  assert.doesNotMatch(text, /newest result above/);
});

test('a script that does more than send stays a step of its own', () => {
  const runs = [71001, 71002].map((id) => run(send(id)));
  assert.deepEqual(sentLines([...runs, run(`${send(71003)} && gh pr merge 4`)]).lines, []);
});
