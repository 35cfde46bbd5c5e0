import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaceLedger } from './place.ts';
import { simpleCommands } from './shell.ts';

const root = '/home/ada/orbit';

/** What a ledger knows after commands, each with the directory that the call names and what it printed. */
function after(...runs: readonly (readonly [script: string, output?: string, directory?: string])[]): {
  directory: string | undefined;
  branch: string | undefined;
} {
  const place = new PlaceLedger();
  for (const [script, output = '', directory] of runs) {
    const meaning = {
      simple: simpleCommands(script),
      files: [],
      text: script,
      ...(directory === undefined ? {} : { directory }),
    };
    place.noteCall(meaning, root);
    place.noteOutput(meaning, output);
  }
  return { directory: place.directory, branch: place.branch };
}

test('the work is where most of the newest commands ran', () => {
  const tree = '/home/ada/orbit.trees/dome';
  assert.equal(after(['make']).directory, root);
  assert.equal(after(['make', '', tree], ['make test', '', tree], ['ls']).directory, tree);
  assert.equal(after([`cd ${tree} && make`], [`cd ${tree} && make test`]).directory, tree);
  assert.equal(after(['make'], ['make test'], ['cd /tmp && ls']).directory, root);
  assert.equal(after(['cd src && make'], ['cd src && make']).directory, `${root}/src`);
  assert.equal(after(['cd "$HERE" && make'], ['cd .. && make']).directory, undefined);
});

test('the branch is the one that git named last', () => {
  assert.equal(after(['git status', 'On branch feat/dome\nnothing to commit']).branch, 'feat/dome');
  assert.equal(after(['git switch -c dome', "Switched to a new branch 'dome'"]).branch, 'dome');
  assert.equal(after(['git commit -m x', '[fix/lens 1a2b3c4] x']).branch, 'fix/lens');
  assert.equal(after(['cd a && git branch --show-current', 'dome\n']).branch, 'dome');
  assert.equal(after(['cat notes', 'On branch old\n']).branch, undefined, 'only git knows');
  assert.equal(after(['git commit -m x', '[detached HEAD 1a2b3c4] x']).branch, undefined);
});
