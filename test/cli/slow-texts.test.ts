// Texts that once blocked a summary forever: the built program compacts each of them and ends.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ClaudeLines } from '../support/claude-lines.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { temporaryDirectory } from '../support/program.ts';

const root = temporaryDirectory();

before(() => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
});

/** Seconds: hundreds of times what one takes, and far less than an exponential pattern. */
const DEADLINE_S = 60;

/** A session that ends in some lines, behind work that is long enough to be compacted. */
function sessionWith(add: (session: ClaudeLines) => void): string {
  const session = new ClaudeLines().user('Sort the components by name.');
  for (let at = 0; at < 40; at++) {
    session.says(`w${at}`, `Now I will read part ${at} of the parser.`);
    session.calls(`c${at}`, `call-w${at}`, 'Bash', { command: `cat src/part${at}.ts` });
    session.result(`call-w${at}`, `const part${at} = ${'value + '.repeat(60)}0;\n`);
  }
  add(session);
  return session.lines.map((line) => JSON.stringify(line)).join('\n');
}

const CASES: readonly (readonly [string, (session: ClaudeLines) => void])[] = [
  [
    'a listing of a long name behind an announcement',
    (session) =>
      session
        .says('a1', 'Let me look at the components')
        .calls('a1', 'call-1', 'Bash', { command: 'ls componentsOverviewOfEverythingInThisPlace2' })
        .result('call-1', 'a.ts'),
  ],
  [
    'a read that repeats an error',
    (session) =>
      session
        .calls('a1', 'call-1', 'Read', { file_path: '/home/dev/project/a.ts' })
        .result('call-1', 'ERROR: '.repeat(60)),
  ],
  [
    'a rule below a row of dashes in the instructions of a command',
    (session) =>
      session
        .user('<command-message>sort</command-message>\n<command-name>/sort</command-name>')
        .user(`# Sorting\n\n${'-'.repeat(60)} Rules: Never sort twice.\n`, { isMeta: true })
        .says('a1', 'I sort.'),
  ],
];

for (const [name, add] of CASES) {
  test(`compact ends on ${name}`, async () => {
    const home = mkdtempSync(join(root, 'h'));
    writeFileSync(join(home, 's.jsonl'), `${sessionWith(add)}\n`);
    const { status, stderr } = await runBuilt(
      ['compact', 's.jsonl', '--format', 'markdown', '--target-tokens', '3000'],
      { home, shell: `exec timeout -s KILL ${DEADLINE_S} "$@"` },
    );
    assert.equal(status, 0, stderr);
  });
}
