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
import { BatonError } from '../../../errors.ts';
import { DEFAULT_CONFIG } from '../../../config/defaults.ts';
import {
  loadDecisionPrompt,
  promptPlace,
  resolveDecisionPath,
  seedPrompts,
} from '../../../prompts/load.io.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from '../../../prompts/shipped.ts';
import type { PromptName } from '../../../prompts/shipped.ts';
import { testIo } from '../../../../test/support/io.ts';
import { buildProgram } from '../../program.ts';

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
  it('lists what is in force, and writes nothing', async () => {
    const { stdout, stderr } = await run();
    assert.equal(stderr, '');
    assert.match(stdout, /^heads-up\.md +missing +\{percentRemaining\}/m);
    assert.deepEqual(readdirSync(home), []);
  });

  it('are seeded as private files, once', async () => {
    const place = promptPlace(DEFAULT_CONFIG, testIo({ cwd: home, homeDirectory: home }));
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    writeFileSync(file('judgment.md'), 'Mine');
    assert.deepEqual(await seedPrompts(place), []);
    assert.deepEqual(await seedPrompts(place), []);
    assert.equal(readFileSync(file('judgment.md'), 'utf8'), 'Mine');
    assert.match((await run()).stdout, /^heads-up\.md +shipped +\{percentRemaining\}/m);
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
      ['judgment.md', /is a directory/],
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
    assert.match((await run('list')).stdout, /^handoff\.md/m);
    const place = promptPlace(DEFAULT_CONFIG, testIo({ cwd: home, homeDirectory: home }));
    assert.match((await seedPrompts(place)).join(), /cannot be filled \(ENOTDIR\)/);
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
    assert.match((await run('reset', 'handoff')).stdout, /is already the shipped prompt/);
  });

  it('compares what is in force with what is shipped, and writes nothing', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(file('handoff.md'), SHIPPED_PROMPTS['handoff.md'].replace('Continue', 'Go on'));
    writeFileSync(file('judgment.md'), '');
    const all = await run('diff');
    assert.match(all.stdout, /^auto-compact\.md: unchanged$/m);
    assert.match(all.stdout, /^--- shipped\/handoff\.md\n\+\+\+ .*handoff\.md\n@@ -2,6 \+2,6 @@$/m);
    assert.match(all.stdout, /^-Continue from here.*\n\+Go on from here/m);
    assert.match(all.stdout, /^judgment\.md: unchanged$/m);
    assert.match(all.stderr, /judgment\.md is empty; the shipped prompt is used/);
    const one = await run('diff', 'handoff');
    assert.ok(all.stdout.includes(one.stdout), one.stdout);
    assert.equal((await run('diff', 'heads-up')).stdout, 'heads-up.md: unchanged\n');
    assert.deepEqual(readdirSync(folder()).toSorted(), ['handoff.md', 'judgment.md']);
  });

  it('names the prompts when asked for another', async () => {
    await assert.rejects(
      run('show', 'hand'),
      (error) => error instanceof BatonError && error.cure.includes('handoff'),
    );
  });
});

describe('prompts that the configuration has elsewhere', () => {
  const KEYS = {
    'auto-compact.md': 'auto_compact_prompt_path',
    'scratch-write.md': 'scratch_write_prompt_path',
    'watcher-packet.md': 'watcher_packet_prompt_path',
    'judgment-context.md': 'judgment_context_prompt_path',
    'heads-up.md': 'heads_up_prompt_path',
    'handoff.md': 'handoff_prompt_path',
  } as const;
  /** Writes the text at `place/my.md`, and has the user's configuration name it by `path`. */
  const configure = (key: string, path: string): void => {
    mkdirSync(folder(), { recursive: true });
    const toml = `[rawr_auto_compaction]\n${key} = ${JSON.stringify(path)}\n`;
    writeFileSync(join(home, '.baton/config.toml'), toml);
  };

  for (const [name, key] of Object.entries(KEYS)) {
    it(`${key}: relative to auto-compact/, from ~, absolute`, async () => {
      for (const [path, written] of [
        ['my.md', file('my.md')],
        ['~/my.md', join(home, 'my.md')],
        [join(home, 'other.md'), join(home, 'other.md')],
      ] as const) {
        configure(key, path);
        writeFileSync(written, `Mine at ${path}`);
        const { stdout, stderr } = await run('show', name);
        assert.equal(stdout, `Mine at ${path}`);
        assert.equal(stderr, '');
        assert.match((await run('list')).stdout, new RegExp(`^${name} +changed.* from ${written}$`, 'm'));
        assert.match((await run('diff', name)).stdout, new RegExp(`^\\+\\+\\+ ${written}$`, 'm'));
      }
    });

    it(`${key}: missing or empty is a warning and the shipped text, the default name is fine`, async () => {
      configure(key, '~/none.md');
      const missing = await run('show', name);
      assert.equal(missing.stdout, SHIPPED_PROMPTS[name as PromptName]);
      assert.match(missing.stderr, /none\.md does not exist; the shipped prompt is used/);
      writeFileSync(join(home, 'none.md'), '\n');
      assert.match((await run('show', name)).stderr, /none\.md is empty; the shipped prompt is used/);
      configure(key, name);
      assert.equal((await run('show', name)).stderr, '');
    });
  }

  it('are not reset: their files are not ours', async () => {
    configure('handoff_prompt_path', '~/my.md');
    writeFileSync(join(home, 'my.md'), 'Mine');
    await assert.rejects(
      run('reset', 'handoff'),
      (error) =>
        error instanceof BatonError && error.code === 'usage' && error.cure.includes('Unset its path'),
    );
    assert.equal(readFileSync(join(home, 'my.md'), 'utf8'), 'Mine');
  });

  it('follow a link that was named outright, and none inside of auto-compact/', async () => {
    writeFileSync(join(home, 'real.md'), 'Mine');
    symlinkSync(join(home, 'real.md'), join(home, 'link.md'));
    configure('handoff_prompt_path', '~/link.md');
    assert.equal((await run('show', 'handoff')).stdout, 'Mine');
    symlinkSync(join(home, 'real.md'), file('link.md'));
    configure('handoff_prompt_path', 'link.md');
    const { stdout, stderr } = await run('show', 'handoff');
    assert.equal(stdout, SHIPPED_PROMPTS['handoff.md']);
    assert.match(stderr, /link\.md is a symbolic link, which Baton does not follow/);
  });
});

describe('a folder auto-compact/ that is a symbolic link', () => {
  it('is neither read nor written', async () => {
    mkdirSync(join(home, 'elsewhere'));
    writeFileSync(join(home, 'elsewhere/handoff.md'), 'Planted');
    mkdirSync(join(home, '.baton'));
    symlinkSync(join(home, 'elsewhere'), folder());
    const { stdout, stderr } = await run('show', 'handoff');
    assert.equal(stdout, SHIPPED_PROMPTS['handoff.md']);
    assert.match(stderr, /handoff\.md is in a folder that is a symbolic link, which Baton does not follow/);
    assert.equal((await states())['handoff.md'], 'unreadable');
    await assert.rejects(
      run('reset', 'handoff'),
      (error) => error instanceof BatonError && error.code === 'output_failed',
    );
    assert.deepEqual(readdirSync(join(home, 'elsewhere')), ['handoff.md']);
    assert.equal(readFileSync(join(home, 'elsewhere/handoff.md'), 'utf8'), 'Planted');
  });
});

describe('config check', () => {
  const check = async (): Promise<string> => {
    const io = testIo({ cwd: home, homeDirectory: home });
    assert.equal(await buildProgram(io, '0.0.0').run(['config', 'check']), 0);
    return io.complained();
  };
  const configure = (toml: string): void => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(join(home, '.baton/config.toml'), `[rawr_auto_compaction]\n${toml}\n`);
  };

  it('warns of a missing prompt, a missing judge and a broken frontmatter, and of nothing without them', async () => {
    assert.equal(await check(), '');
    configure('handoff_prompt_path = "~/none.md"\npolicy.asap.decision_prompt_path = "judge.md"');
    writeFileSync(file('auto-compact.md'), '---\nversion: 1\ntriger: 2\n---\nText');
    const told = await check();
    assert.match(told, /none\.md does not exist; the shipped prompt is used/);
    assert.match(told, /judge\.md does not exist; the shipped prompt is used/);
    assert.match(told, /auto-compact\.md:3:1: unknown key triger; .* The frontmatter is not used\./);
  });

  it('takes the shipped judge by its name without a file', async () => {
    configure('policy.asap.decision_prompt_path = "judgment.md"');
    assert.doesNotMatch(await check(), /does not exist/);
  });

  it('warns of thresholds in a frontmatter that upset the configured ones', async () => {
    configure('policy.early.percent_remaining_lt = 80');
    writeFileSync(file('auto-compact.md'), '---\ntrigger: {ready_percent_remaining_lt: 82}\n---\nText');
    assert.match(
      await check(),
      /early \(80, the configuration\) would be below that of ready \(82, the frontmatter\)/,
    );
  });
});

describe('the prompt of a judge', () => {
  it('is looked for by absolute path, from ~ and in auto-compact/, whether it is there or not', async () => {
    const place = promptPlace(DEFAULT_CONFIG, { homeDirectory: home, cwd: '/w', env: {} });
    assert.equal(resolveDecisionPath(place, '/a.md'), '/a.md');
    assert.equal(resolveDecisionPath(place, '~/a.md'), join(home, 'a.md'));
    assert.equal(resolveDecisionPath(place, 'judgment.md'), file('judgment.md'));
    assert.equal(resolveDecisionPath(place, 'x/a.md'), file('x/a.md'));
    writeFileSync(join(home, 'a.md'), 'Judge.');
    assert.equal((await loadDecisionPrompt(place, '~/a.md')).body, 'Judge.');
    const missing = await loadDecisionPrompt(place, 'x/a.md');
    assert.equal(missing.text, SHIPPED_PROMPTS['judgment.md']);
    assert.deepEqual(missing.warnings, [`${file('x/a.md')} does not exist; the shipped prompt is used.`]);
  });
});
