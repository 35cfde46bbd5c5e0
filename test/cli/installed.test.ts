// What a command says about a session that it installed, and about one that it cannot install.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LOOK_ALIKE_FILES } from '../support/format-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

function sessionIn(home: string, format: 'codex' | 'claude-code', cwd?: string): string {
  const path = join(home, 'session.jsonl');
  const text = asFile(workLines(format)).toString('utf8');
  const written =
    cwd === undefined ? text : text.replaceAll(/"cwd":"[^"]*"/g, () => `"cwd":${JSON.stringify(cwd)}`);
  writeFileSync(path, written);
  return path;
}

const COMMANDS = {
  codex: /^codex resume [0-9a-f-]{36}\n$/,
  'claude-code': /^cd \/home\/dev\/project && claude --resume [0-9a-f-]{36}\n$/,
} as const;

for (const format of ['codex', 'claude-code'] as const) {
  test(`${format}: standard output contains the command that resumes it, and nothing else`, async () => {
    const home = temporaryDirectory();
    const compacted = await baton(home, ['compact', sessionIn(home, format), '--install']);
    assert.match(compacted.stdout, COMMANDS[format]);
    assert.match(compacted.stderr, /Resume it with:\n$/);
    const path = /Written to (.+\.jsonl)\./.exec(compacted.stderr)?.[1] ?? '';
    const undone = await baton(home, ['undo', path, '--install']);
    assert.match(undone.stdout, COMMANDS[format]);
    const other = temporaryDirectory();
    const json = await baton(other, ['compact', sessionIn(other, format), '--install', '--json']);
    assert.equal(json.status, 0, json.explanation);
    assert.equal((JSON.parse(json.stdout) as { version: number }).version, 1);
    assert.match(json.stderr, /^Resume it with: .*resume /m);
  });

  test(`${format}: a session from Windows is resumed in the directory of Baton`, async () => {
    for (const cwd of ['C:\\Users\\dev\\ledger', 'd:/ledger', '\\\\server\\share']) {
      const home = temporaryDirectory();
      const { stdout, stderr } = await baton(home, ['compact', sessionIn(home, format, cwd), '--install']);
      assert.match(stdout, /^(?:codex resume|claude --resume) [0-9a-f-]{36}\n$/, cwd);
      const path = /Written to (.+\.jsonl)\./.exec(stderr)?.[1] ?? '';
      assert.ok(existsSync(path), stderr);
      if (format === 'claude-code') {
        const folder = home.replaceAll(/[^a-zA-Z0-9]/g, '-');
        assert.ok(path.startsWith(join(home, '.claude/projects', folder)), path);
      }
    }
  });
}

test('an undo of a read-only format names the writable ones, not an option of another command', async () => {
  const home = temporaryDirectory();
  const formats = new Set<string>();
  for (const { format, text, expected } of LOOK_ALIKE_FILES) {
    if ((expected.compactions ?? 0) === 0) continue;
    const path = join(home, 'session.jsonl');
    writeFileSync(path, text);
    const { status, explanation } = await baton(home, ['undo', path, '--out', join(home, 'out.jsonl')]);
    assert.equal(status, 1);
    if (!explanation.includes('[cannot_append]')) continue;
    formats.add(format);
    assert.match(explanation, /does not write it\. Undo the compaction in the agent that wrote the file\./);
    assert.doesNotMatch(explanation, /--format/);
  }
  assert.ok(formats.has('pi'), [...formats].join(', '));
});
