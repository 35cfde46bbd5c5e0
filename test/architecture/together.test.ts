// The runner of the tests: a file that ends before its tests do fails, whatever its exit status.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../scripts/generate.ts';
import { temporaryDirectory } from '../support/program.ts';

const folder = temporaryDirectory();
const RUNNER = JSON.stringify(pathToFileURL(join(ROOT, 'scripts/together.mjs')));

const FILES = {
  whole: `import { test } from 'node:test';\ntest('one', () => {});\ntest('two', async () => {});\n`,
  quits: `import { test } from 'node:test';\ntest('one', () => process.exit(0));\ntest('two', () => { throw new Error(); });\n`,
  quitsEarly: `process.exit(0);\n`,
} as const;

/** Runs such a file as the runner does, and says how that went. */
function run(way: 'runAlone' | 'runTogether', name: keyof typeof FILES) {
  const path = join(folder, `${name}.mjs`);
  const start = join(folder, `${way}-${name}.test.mjs`);
  writeFileSync(path, FILES[name]);
  const tests = JSON.stringify(way === 'runAlone' ? { file: name, path } : [{ file: name, path }]);
  writeFileSync(start, `import { ${way} } from ${RUNNER};\nawait ${way}(${tests});\n`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--test', start], { env, encoding: 'utf8' });
  return { isOk: status === 0, stdout };
}

for (const way of ['runAlone', 'runTogether'] as const) {
  test(`${way} fails for a file that ends the process`, () => {
    const whole = run(way, 'whole');
    assert.ok(whole.isOk, whole.stdout);
    for (const name of ['quits', 'quitsEarly'] as const) {
      const { isOk, stdout } = run(way, name);
      assert.ok(!isOk, stdout);
      assert.match(stdout, new RegExp(`not run to their ends: ${name}`));
    }
  });
}
