import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { clipCommand } from './command-text.ts';

const actionsOf = (...scripts: string[]): string[] => {
  const story = Story.in('/w').user('Look at the moons.');
  for (const script of scripts) story.sh(script, 'io');
  return trailOf(story).current.actions.map(({ text }) => text);
};

const page = (at: number): string =>
  `curl -sSL -H "Accept: application/json" -H 'X-Moon: io' https://moons.example/${'a/'.repeat(30)}?page=${at}`;
const told = (at: number): string =>
  `ran \`curl -H "X-Moon: io" https://moons.example/${'a/'.repeat(30)}?page=${at}\``;
const run = (name: string): string =>
  `go test -race ./${'cmd/'.repeat(20)}... -run ${name}${'Orbit'.repeat(9)}`;

test('what is fetched is told, not how: pages differ at the end of their addresses', () => {
  assert.deepEqual(actionsOf(page(1), page(2)), [told(1), told(2)]);
  assert.deepEqual(actionsOf('curl -X POST -d moon https://a.example', 'git commit -q -m curl'), [
    'ran `curl -X POST -d moon https://a.example`',
    'ran `git commit -q -m curl`',
  ]);
});

test('commands that differ in a long word behind the cut are two', () => {
  assert.equal(actionsOf(run('TestTheMoonOf'), run('TestTheSunOf')).length, 2);
  assert.equal(clipCommand('go test', 7), 'go test');
  assert.equal(clipCommand('go test -run TestTheMoonRises', 27), 'go test -run TestTheMoonRi…');
  assert.equal(clipCommand('go test ./roof ./dome ./door', 24), 'go test ./roof ./dome …');
});
