// A file in which two compactions were undone in a row: an undo needs more of the past than is kept at first.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { head, message } from '../support/codex-lines.ts';
import { baton, temporaryDirectory } from '../support/program.ts';

test('inspect shows what two undos in a row restore', async () => {
  const home = temporaryDirectory();
  const at = (name: string): string => join(home, `${name}.jsonl`);
  const original = at('original');
  const said = Array.from(
    { length: 40 },
    (_, crater) => `Crater ${crater} is mapped. ${'It is deep. '.repeat(120)}`,
  );
  const builder = head('0.140');
  builder.item(message('user', 'Map every crater.'));
  for (const text of said) builder.item(message('assistant', text));
  writeFileSync(original, builder.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const run = async (...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await baton(home, args);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const contextOf = async (path: string): Promise<unknown> => {
    const { categories, tools } = JSON.parse(await run('inspect', path, '--json')) as Record<string, unknown>;
    assert.ok(categories !== undefined);
    return { categories, tools };
  };
  await run('compact', original, '--target-tokens', '6000', '--out', at('one'));
  await run('compact', at('one'), '--target-tokens', '2000', '--out', at('two'));
  await run('undo', at('two'), '--out', at('back'));
  assert.deepEqual(await contextOf(at('back')), await contextOf(at('one')));
  await run('undo', at('back'), '--out', at('whole'));
  assert.deepEqual(await contextOf(at('whole')), await contextOf(original));
});
