// Links in a workspace on disk, and the commands that would read through them.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { mayReadOutside } from './links.io.ts';
import { isTrustedCommand } from './trusted.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'baton-links-')));
const root = join(base, 'work');
for (const folder of ['sub', 'safe']) mkdirSync(join(root, folder), { recursive: true });
for (const file of ['a.txt', 'safe/b.txt', 'sub/c.txt', '../secret']) writeFileSync(join(root, file), 'x');
symlinkSync('../secret', join(root, 'key.md'));
symlinkSync('..', join(root, 'up'));
symlinkSync('../../secret', join(root, 'sub/key'));
symlinkSync('../a.txt', join(root, 'safe/inner'));
after(() => rmSync(base, { recursive: true, force: true }));

describe('a command that reads', () => {
  const rows: readonly (readonly [command: string, expected: boolean, workdir?: string])[] = [
    ['cat a.txt', false],
    ['cat safe/inner safe/*', false],
    ['cat missing', false],
    ['ls', false],
    ["grep -n 'x.*y' a.txt", false],
    ['cat key.md', true],
    ["cat 'key.md'", true],
    ['cat a.txt && head -5 key.md | wc -l', true],
    ['cat up/secret', true],
    ['cat *.md', true],
    ['cat sub/*', true],
    ['cat safe/*/x', true],
    ['cd sub; cat key', true],
    ['cd sub && cat c.txt', false],
    ['cat key', true, 'sub'],
    ['cat key', false],
    ['cd up', true],
    ['grep -fkey.md a.txt', true],
    ['grep --file=key.md a.txt', true],
    ['grep -r x up', true],
  ];
  for (const [command, expected, workdir] of rows) {
    it(`${command}${workdir === undefined ? '' : ` in ${workdir}`}: ${expected ? 'asks' : 'runs'}`, async () => {
      assert.equal(isTrustedCommand(command, 'workspace_write'), true);
      const action = workdir === undefined ? { command } : { command, workdir };
      assert.equal(await mayReadOutside(action, root), expected);
    });
  }
});
