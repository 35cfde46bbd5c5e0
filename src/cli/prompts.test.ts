import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { BatonError } from '../errors.ts';
import { resolvePromptPath } from '../prompts/load.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from '../prompts/shipped.ts';
import { testIo } from '../../test/support/io.ts';
import { buildProgram } from './program.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-prompts-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const folder = (): string => join(home, '.baton/auto-compact');
const file = (name: string): string => join(folder(), name);

async function run(
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const io = testIo({ cwd: home, homeDirectory: home });
  assert.equal(await buildProgram(io, '0.0.0').run(['prompts', ...args]), 0);
  return { stdout: io.printed(), stderr: io.complained() };
}

async function states(): Promise<Readonly<Record<string, string>>> {
  const { prompts } = JSON.parse((await run('list', '--json')).stdout) as {
    prompts: { name: string; state: string }[];
  };
  return Object.fromEntries(prompts.map(({ name, state }) => [name, state]));
}

describe('baton prompts', () => {
  it('seeds a clean home with private files, and nothing else', async () => {
    const { stdout, stderr } = await run();
    assert.equal(stderr, '');
    assert.match(stdout, /^heads-up\.md +shipped +\{percentRemaining\}/m);
    assert.deepEqual(readdirSync(folder()).toSorted(), [...PROMPT_NAMES].toSorted());
    assert.equal(statSync(folder()).mode & 0o777, 0o700);
    assert.equal(statSync(file('handoff.md')).mode & 0o777, 0o600);
  });

  it('never overwrites, and shows what is in force', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(file('handoff.md'), 'Mine {packet}');
    assert.equal((await states())['handoff.md'], 'changed');
    assert.equal((await run('show', 'handoff')).stdout, 'Mine {packet}');
    assert.equal((await run('show', 'handoff.md', '--shipped')).stdout, SHIPPED_PROMPTS['handoff.md']);
  });

  it('uses the shipped text for what is empty, linked, no file or no text, and says so', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(file('handoff.md'), ' \n');
    writeFileSync(join(home, 'elsewhere.md'), 'x');
    symlinkSync(join(home, 'elsewhere.md'), file('heads-up.md'));
    mkdirSync(file('judgment.md'));
    writeFileSync(file('scratch-write.md'), Buffer.from([0xff, 0xfe]));
    for (const [name, problem] of [
      ['handoff.md', /is empty/],
      ['heads-up.md', /symbolic link/],
      ['judgment.md', /is not a file/],
      ['scratch-write.md', /not valid UTF-8/],
    ] as const) {
      const { stdout, stderr } = await run('show', name);
      assert.match(stderr, problem);
      assert.equal(stdout, SHIPPED_PROMPTS[name]);
      assert.equal((await states())[name], 'unreadable');
    }
  });

  it('works in a home that cannot be written', async () => {
    writeFileSync(join(home, '.baton'), 'a file where the folder would be');
    const { stdout, stderr } = await run('list');
    assert.match(stderr, /cannot be filled \(ENOTDIR\)/);
    assert.match(stdout, /^handoff\.md/m);
    await assert.rejects(
      run('reset', 'handoff'),
      (error) => error instanceof BatonError && error.code === 'output_failed',
    );
  });

  it('resets without losing anything', async () => {
    mkdirSync(folder(), { recursive: true });
    for (const text of ['first', 'second']) {
      writeFileSync(file('handoff.md'), text);
      await run('reset', 'handoff');
    }
    assert.equal(readFileSync(file('handoff.md'), 'utf8'), SHIPPED_PROMPTS['handoff.md']);
    assert.equal(readFileSync(file('handoff.md.bak-1'), 'utf8'), 'first');
    assert.equal(readFileSync(file('handoff.md.bak-2'), 'utf8'), 'second');
    assert.match((await run('reset', 'handoff')).stdout, /is the shipped prompt already/);
  });

  it('names the prompts when asked for another', async () => {
    await assert.rejects(
      run('show', 'hand'),
      (error) => error instanceof BatonError && error.cure.includes('handoff'),
    );
  });
});

describe('resolvePromptPath', () => {
  it('goes by absolute paths, the home directory, auto-compact and the working directory', async () => {
    await run();
    const place = { home: join(home, '.baton'), homeDirectory: '/h', cwd: '/w' };
    assert.equal(await resolvePromptPath('/a.md', place), '/a.md');
    assert.equal(await resolvePromptPath('~/a.md', place), '/h/a.md');
    assert.equal(await resolvePromptPath('judgment.md', place), file('judgment.md'));
    assert.equal(await resolvePromptPath('x/a.md', place), '/w/x/a.md');
  });
});
