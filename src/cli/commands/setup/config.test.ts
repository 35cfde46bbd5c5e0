import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parse } from 'smol-toml';
import { configJsonSchema } from '../../../config/explain.ts';
import { BatonError } from '../../../errors.ts';
import { testIo } from '../../../../test/support/io.ts';
import { configCommand } from './config.ts';

let home = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-config-command-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: BatonError | undefined;
}

/** Runs `baton config ARGS`; words after `-c` are overrides, as the program itself would take them. */
async function run(...words: readonly string[]): Promise<Ran> {
  const split = words.indexOf('-c');
  const args = split === -1 ? words : words.slice(0, split);
  const overrides = split === -1 ? [] : words.slice(split + 1);
  const io = testIo({ cwd: home, homeDirectory: home });
  const ran = (error?: BatonError): Ran => ({ stdout: io.printed(), stderr: io.complained(), error });
  try {
    await configCommand(io, () => ({ overrides })).parseAsync([...args], { from: 'user' });
  } catch (error) {
    assert.ok(error instanceof BatonError, String(error));
    return ran(error);
  }
  return ran();
}

const userFile = (): string => join(home, '.baton/config.toml');

function writeUserFile(text: string): void {
  mkdirSync(join(home, '.baton'), { recursive: true });
  writeFileSync(userFile(), text);
}

describe('baton config show', () => {
  it('prints TOML and says where changed values come from, in one column', async () => {
    writeUserFile('\ncompact.restore_max_files = 9');
    const { stdout, error } = await run('show', '-c', 'compact.enabled=false');
    assert.equal(error, undefined);
    const commented = stdout.split('\n').filter((line) => line.includes('#'));
    assert.deepEqual(commented, [
      'enabled = false        # -c compact.enabled=false',
      `restore_max_files = 9  # ${userFile()}:2`,
    ]);
    const { compact } = parse(stdout);
    assert.deepEqual(Object.entries(compact ?? {}).slice(0, 2), [
      ['enabled', false],
      ['auto_compact_enabled', true],
    ]);
  });

  it('says so for every key, also unset ones, with --origin', async () => {
    const { stdout } = await run('show', '--origin');
    const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('['));
    assert.equal(lines.length, 102);
    for (const line of lines) assert.match(line, / {2}# default$/);
    assert.match(stdout, /^# error_threshold is not set +# default$/m);
  });

  it('is what `config` alone does', async () => {
    assert.deepEqual(await run(), await run('show'));
  });

  it('prints JSON with the origin of every key', async () => {
    const { stdout, stderr } = await run('show', '--json', '-c', 'model_context_window=64000');
    const shown = JSON.parse(stdout) as {
      readonly config: Readonly<Record<string, unknown>>;
      readonly origins: Readonly<Record<string, unknown>>;
    };
    assert.equal(stderr, '');
    assert.equal(shown.config['model_context_window'], 64_000);
    assert.deepEqual(shown.config['features'], {
      micro_compact: true,
      rawr_auto_compaction: true,
      compact_v2: true,
      remote_compaction: false,
      ghost_snapshots: true,
    });
    assert.deepEqual(shown.origins['model_context_window'], {
      source: 'command_line',
      argument: 'model_context_window=64000',
    });
    assert.deepEqual(shown.origins['compact.enabled'], { source: 'default' });
    assert.equal(Object.keys(shown.origins).length, 102);
  });
});

describe('baton config schema', () => {
  it('prints the JSON Schema, with or without --json', async () => {
    const { stdout } = await run('schema');
    assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(configJsonSchema())));
    assert.equal((await run('schema', '--json')).stdout, stdout);
  });
});

describe('baton config check', () => {
  it('fails with every problem', async () => {
    writeUserFile('compact.enabeld = true\ncompact.restore_plan = 1\n');
    const { error, stdout } = await run('check');
    assert.equal(error?.code, 'config_invalid');
    const { problems } = (error?.data ?? {}) as { readonly problems?: readonly unknown[] };
    assert.equal(problems?.length, 2);
    assert.equal(stdout, '');
  });

  it('confirms a valid configuration, and warns of keys without effect on stderr', async () => {
    const { stdout, stderr, error } = await run('check', '-c', 'model=m');
    assert.equal(error, undefined);
    assert.equal(stdout, 'The configuration is valid; 1 key is set.\n');
    assert.match(stderr, /^baton: warning: -c model=m: model has no effect without model_provider\.\n$/);
  });

  it('prints JSON alone on stdout', async () => {
    const { stdout, stderr } = await run('check', '--json', '-c', 'model=m');
    const report = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    assert.equal(stderr, '');
    assert.deepEqual([report['valid'], report['keysSet']], [true, ['model']]);
    assert.equal((report['warnings'] as readonly unknown[]).length, 1);
  });

  it('checks a named file and nothing else', async () => {
    writeUserFile('nonsense');
    writeFileSync(join(home, 'good.toml'), 'compact.enabled = true\ncompact.restore_plan = true\n');
    const { stdout } = await run('check', 'good.toml');
    assert.equal(stdout, 'good.toml is valid; 2 keys are set.\n');
    assert.equal((await run('check', 'none.toml')).error?.code, 'file_not_found');
  });
});

describe('baton config init', () => {
  it('writes a private file that changes nothing', async () => {
    const before = await run('show');
    const { stdout, error } = await run('init');
    assert.equal(error, undefined);
    assert.match(stdout, /^Wrote .*config\.toml: /);
    assert.deepEqual(await run('show'), before);
    if (process.platform === 'win32') return;
    assert.equal(statSync(userFile()).mode & 0o777, 0o600);
    assert.equal(statSync(join(home, '.baton')).mode & 0o777, 0o700);
  });

  it('never overwrites without --force', async () => {
    writeUserFile('# mine\n');
    const { error } = await run('init');
    assert.equal(error?.code, 'output_exists');
    assert.match(error?.cure ?? '', /--force/);
    assert.equal(readFileSync(userFile(), 'utf8'), '# mine\n');
  });

  it('replaces as a whole with --force, and leaves nothing else behind', async () => {
    writeUserFile('# mine\n');
    const { error, stdout } = await run('init', '--force', '--json');
    assert.equal(error, undefined);
    assert.deepEqual(JSON.parse(stdout), { file: userFile() });
    assert.match(readFileSync(userFile(), 'utf8'), /^#free_space_buffer = 13000$/m);
    assert.deepEqual(readdirSync(join(home, '.baton')), ['config.toml']);
  });

  it('explains why it cannot write, and leaves nothing behind', async () => {
    writeFileSync(join(home, '.baton'), 'a file where the folder belongs');
    assert.equal((await run('init')).error?.code, 'output_failed');
    rmSync(join(home, '.baton'));
    mkdirSync(userFile(), { recursive: true });
    assert.equal((await run('init', '--force')).error?.code, 'output_failed');
    assert.deepEqual(readdirSync(join(home, '.baton')), ['config.toml']);
  });
});
