// Runs test files in one process, each as a suite with the name of its file: starting a process takes longer than most of
// them; or one file in a process of its own. What a file leaves undone is told by its name, and fails the run.
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Milliseconds for all tests of one file, so that one that hangs is named. The longest takes 20 s on two busy cores. */
const DEADLINE_MS = 300_000;
/** Milliseconds after the last test in which the process has to end by itself. */
const LEFTOVERS_MS = 10_000;

/** Runs a file that has the process to itself. It is to be called once, from a file that `node --test` runs. */
export async function runAlone({ file, path }) {
  const unfinished = new Set([file]);
  after(() => void unfinished.delete(file));
  failUnlessFinished(unfinished);
  await import(pathToFileURL(path));
}

/** Declares a suite for each file, to be called from a file that `node --test` runs. `path` is where it is compiled. */
export function runTogether(tests) {
  const unfinished = new Set(tests.map(({ file }) => file));
  for (const { file, path } of tests) {
    describe(file, { timeout: DEADLINE_MS }, async () => {
      await import(pathToFileURL(path));
      after(() => void unfinished.delete(file));
    });
  }
  after(() => void setTimeout(endByForce, LEFTOVERS_MS).unref());
  failUnlessFinished(unfinished);
}

/** A test that ends the process takes the tests after it with it, whatever status it chose. */
function failUnlessFinished(unfinished) {
  process.on('exit', () => {
    if (unfinished.size === 0) return;
    console.error(`not run to their ends: ${[...unfinished].join(', ')}`);
    process.exitCode = 1;
  });
}

function endByForce() {
  console.error('a test has left a timer, a socket or a process that goes on');
  process.exit(1);
}
