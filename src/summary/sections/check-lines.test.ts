import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { checkLines, doneSince } from './check-lines.ts';
import { checksIn, isCheck } from '../../shell/runners.ts';

const home = '/home/ada/orbit';
const start = () => Story.in(home).user('Build the dome.').sh('npm test', '4 passed');
const edited = () => start().edit(`${home}/src/dome.ts`, 'x', 'y');

function told(story: Story, budget = 4_000): string[] {
  return checkLines(trailOf(story), budget).map(({ text }) => text);
}

test('a check is known by what it runs, whatever starts it', () => {
  for (const command of [
    'npm test',
    'npm run check',
    'npm --prefix web run build',
    'bun --filter @orbit/core build',
    'npx tsc --noEmit',
    'PYTHONPATH=. pytest -q',
    'uv run python -m pytest tests/a.py',
    'go test ./...',
    'mise run test:ci',
    'cargo fmt --check',
    'make lint',
    'bin/test tests/dome.py',
    './scripts/run-tests.sh',
    '/usr/bin/python3 -m pytest',
  ])
    assert.equal(isCheck(command), true, command);
  for (const command of [
    'npm install',
    'npm run dev',
    'npx prettier --write .',
    './tests/dome.sh',
    'go run ./cmd/test',
    'git commit',
  ])
    assert.equal(isCheck(command), false, command);
  assert.deepEqual(checksIn('npm run lint && npm install; npm test | tail -3'), ['npm run lint', 'npm test']);
});

test('no check since the last edit is told, where the session has checks', () => {
  assert.deepEqual(told(edited()), ['No check has run since the last edit of src/dome.ts.']);
  assert.deepEqual(told(edited().sh('git status')), ['No check has run since the last edit of src/dome.ts.']);
  assert.deepEqual(told(edited(), 2_000), ['No check has run since the last edit of dome.ts.']);
  const unchecked = Story.in(home).user('Build the dome.').edit(`${home}/src/dome.ts`, 'x', 'y');
  assert.deepEqual(told(unchecked), []);
});

test('of what may have been a check nothing is said, nor of a text, nor of an earlier request', () => {
  assert.deepEqual(told(edited().sh('node src/dome.ts --try', 'it turns')), []);
  assert.deepEqual(told(edited().sh('./tests/dome.sh', 'fine')), []);
  assert.deepEqual(told(start().edit(`${home}/README.md`, 'x', 'y')), []);
  assert.deepEqual(told(edited().agent('Done.').user('Thanks. What is next?')), []);
});

test('what ran since the last edit is told with how it went, failures first', () => {
  const passed = edited().sh('npm test', '4 passed').sh('npm run lint', '');
  assert.deepEqual(told(passed), ['Since the last edit `npm run lint` and `npm test` ran well.']);
  const failed = edited().sh('npm test', 'FAIL dome.test.ts\nError: it leaks', 1).sh('npm run lint', '');
  assert.deepEqual(told(failed), [
    'Since the last edit `npm test` failed: FAIL dome.test.ts; `npm run lint` ran well.',
  ]);
  assert.deepEqual(told(failed, 2_000), ['Since the last edit `npm test` failed; `npm run lint` ran well.']);
  assert.deepEqual(told(failed.sh('npm test', '4 passed')), [
    'Since the last edit `npm test` and `npm run lint` ran well.',
  ]);
});

test('what was done since an announcement is the newest edits, and a check that ran well after them', () => {
  const since = (story: Story) => doneSince(trailOf(story), 2);
  const announced = () => start().agent('Let me add logging.');
  assert.equal(since(announced()), undefined);
  const done = announced().edit(`${home}/src/dome.ts`, 'x', 'y').edit(`${home}/src/log.ts`, 'x', 'y');
  assert.equal(since(done), 'edited log.ts, dome.ts');
  assert.equal(since(done.sh('npm test', '4 passed')), 'edited log.ts, dome.ts, `npm test` ran well');
  assert.equal(since(done.sh('npm test', 'FAIL a\nError: no', 1)), 'edited log.ts, dome.ts');
});

test('a part of a check that ran well is not told as the whole', () => {
  const part = edited().sh('npm test -- src/roof.test.ts', '2 passed');
  assert.deepEqual(told(part), [
    'Since the last edit `npm test -- src/roof.test.ts` ran well, but not all of `npm test` was run.',
  ]);
  const whole = part.sh('npm test', '4 passed');
  assert.deepEqual(told(whole), [
    'Since the last edit `npm test` and `npm test -- src/roof.test.ts` ran well.',
  ]);
});
