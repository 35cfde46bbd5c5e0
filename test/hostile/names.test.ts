// Words of a transcript that every object finds in its prototype: commands, states and kinds named after them are unknown.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { InspectDocument } from '../../src/cli/documents/session.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

const home = temporaryDirectory();
const session = join(home, 'session.jsonl');
const COMMANDS = [
  'NAME',
  'git NAME',
  'git NAME --list',
  'NAME -o a.txt b.txt',
  'npm run NAME',
  'grep NAME a | NAME',
];

for (const format of AGENT_FORMATS) {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    test(`${format}: ${name}`, async () => {
      const commands = COMMANDS.map((command) => command.replaceAll('NAME', name));
      let next = 0;
      const text = asFile(workLines(format))
        .toString('utf8')
        .replaceAll(/sed -n [^"\\]*/g, () => commands[next++ % commands.length] ?? '');
      assert.ok(next >= commands.length);
      writeFileSync(session, text);
      for (const args of [
        ['inspect', '--json'],
        ['replay', '--json'],
        ['compact', '--preview', '--json'],
      ]) {
        const ran = await baton(home, [...args, session]);
        assert.equal(ran.status, 0, ran.explanation);
      }
    });
  }
}

test('a fraction of a token that a file reports is skipped with a note', async () => {
  const text = asFile(workLines('claude-code'))
    .toString('utf8')
    .replaceAll(/"input_tokens":\d+/g, '"input_tokens":0.5');
  writeFileSync(session, text);
  const { stdout, status } = await baton(home, ['inspect', '--json', session]);
  assert.equal(status, 0);
  const { gauge } = InspectDocument.parse(JSON.parse(stdout));
  assert.notEqual(gauge.rejected_samples.length, 0);
});
