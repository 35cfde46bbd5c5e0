// Where a command is told to work or to write, and cannot: it says so before anything is done or paid for.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/errors.ts';
import { assertFailed } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { NO_PERMISSIONS, withoutPrivileges } from '../support/unprivileged.ts';

const BUNDLED = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');

/** That a command failed with one sentence and its cure, before it had begun to work. */
function assertTold({ status, stdout, stderr, explanation }: Ran, code: ErrorCode, sentence: RegExp): void {
  const told = `${stderr}${explanation}`;
  assertFailed({ status, stdout, stderr: told }, code);
  assert.match(told, sentence);
  assert.doesNotMatch(told, /^session /m);
}

test('a rehearsal makes a home that nobody else may look into', async () => {
  const home = temporaryDirectory();
  const ran = await baton(home, ['exec', '--model', 'rehearsal', 'hello']);
  assert.equal(ran.status, 0, ran.explanation);
  for (const place of ['.baton', '.baton/rehearsals', '.baton/sessions']) {
    assert.equal(statSync(join(home, place)).mode & 0o777, 0o700, place);
  }
});

test('a rehearsal in a home that cannot be written is told of', { skip: NO_PERMISSIONS }, async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, '.baton'));
  chmodSync(join(home, '.baton'), 0o555);
  await withoutPrivileges(home, async () => {
    const ran = await baton(home, ['exec', '--model', 'rehearsal']);
    assertTold(
      ran,
      'output_failed',
      /^baton: .*\/\.baton\/rehearsals cannot be made \(EACCES\)\. .*BATON_HOME/,
    );
  });
});

test('a file is no place to work in', async () => {
  const home = temporaryDirectory();
  writeFileSync(join(home, 'file'), '');
  for (const args of [
    [
      'exec',
      '--model',
      'lo/x',
      '-c',
      'model_providers.lo={base_url="http://127.0.0.1:9/v1",wire_api="chat"}',
      '-C',
      'file',
      'hi',
    ],
    ['compact', BUNDLED, '--workspace', 'file', '--out', join(home, 'out.jsonl')],
  ]) {
    assertTold(await baton(home, args), 'not_a_directory', /file is no directory\. /);
  }
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith('out')),
    [],
  );
});

test('the folder of an output is looked for before the work', async () => {
  const home = temporaryDirectory();
  for (const args of [
    ['compact', BUNDLED, '--out', join(home, 'no/such/out.jsonl')],
    ['replay', BUNDLED, '--html', join(home, 'no/such/report.html')],
    ['exec', '--model', 'rehearsal', '--output-last-message', 'no/such/answer.md'],
  ]) {
    const ran = await baton(home, args);
    assertTold(
      ran,
      'output_failed',
      /^baton: The folder .*no\/such does not exist\. Make it, or choose another place\./,
    );
  }
});
