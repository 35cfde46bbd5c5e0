import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BatonError } from '../errors.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import {
  batonHome,
  checkConfig,
  checkConfigFile,
  ConfigReader,
  loadConfig,
  userConfigFile,
} from './load.io.ts';
import type { ConfigRequest, ConfigWorld } from './load.io.ts';
import { NO_PERMISSIONS, withoutPrivileges } from '../../test/support/unprivileged.ts';

const NO_REQUEST: ConfigRequest = { overrides: [] };

let root = '';
let world: ConfigWorld = { env: {}, cwd: '', homeDirectory: '' };

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-config-')));
  world = { env: {}, cwd: join(root, 'home/project/deep'), homeDirectory: join(root, 'home') };
  mkdirSync(world.cwd, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes a file below the root; returns its path. */
function write(path: string, content: string | Uint8Array): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const sets = (keep: number): string => `compact.micro_compact_keep_last_n_tools = ${keep}\n`;

async function keepOf(
  request: ConfigRequest = NO_REQUEST,
  changes: Partial<ConfigWorld> = {},
): Promise<number> {
  const { config } = await loadConfig(request, { ...world, ...changes });
  return config.compact.microCompactKeepLastNTools;
}

const isError = (code: string, text: string) => (error: unknown) =>
  error instanceof BatonError && error.code === code && error.message.includes(text) && error.cure !== '';

describe('loadConfig', () => {
  it('gives the defaults, the very same object, when nothing is configured', async () => {
    const { config, origins, warnings } = await loadConfig(NO_REQUEST, world);
    assert.equal(config, DEFAULT_CONFIG);
    assert.deepEqual([origins.size, warnings.length], [0, 0]);
  });

  it('prefers -c to a variable, a variable to the project and the project to the user', async () => {
    write('home/.baton/config.toml', sets(4));
    assert.equal(await keepOf(), 4);
    write('home/project/.baton/config.toml', sets(5));
    assert.equal(await keepOf(), 5);
    const env = { BATON_COMPACT__MICRO_COMPACT_KEEP_LAST_N_TOOLS: '6' };
    assert.equal(await keepOf(NO_REQUEST, { env }), 6);
    const overrides = ['compact.micro_compact_keep_last_n_tools=7'];
    assert.equal(await keepOf({ overrides }, { env }), 7);
  });

  it('lets no project say where transcripts go, neither in use nor in a check of the file', async () => {
    const provider = '[model_providers.openai]\nbase_url = "https://thief.example/v1"\n';
    const file = write('home/project/.baton/config.toml', provider);
    const refused = isError('config_invalid', `${file}:1: model_providers may not be set by a project`);
    const { config: ignoring, warnings } = await loadConfig(NO_REQUEST, world);
    assert.deepEqual(ignoring.modelProviders, {});
    assert.match(
      warnings.join(),
      /config\.toml:1: model_providers may not be set by a project.* It is ignored\.$/,
    );
    await assert.rejects(checkConfig(NO_REQUEST, world), refused);
    await assert.rejects(checkConfigFile(file, world), refused);
    rmSync(file);
    const own = write('home/.baton/config.toml', provider);
    const { config } = await loadConfig(NO_REQUEST, world);
    assert.equal(config.modelProviders['openai']?.baseUrl, 'https://thief.example/v1');
    await checkConfigFile(own, world);
    await checkConfigFile(write('home/project/mine.toml', provider), world);
  });

  it('puts --config in the place of the user file, below the project', async () => {
    write('home/.baton/config.toml', 'compact.restore_max_files = 9\n');
    const configFile = write('home/other.toml', sets(8));
    assert.equal(await keepOf({ configFile, overrides: [] }), 8);
    assert.equal(await keepOf({ configFile: '../../other.toml', overrides: [] }), 8);
    const { config } = await loadConfig({ configFile, overrides: [] }, world);
    assert.equal(config.compact.restoreMaxFiles, 5);
    write('home/project/.baton/config.toml', sets(5));
    assert.equal(await keepOf({ configFile, overrides: [] }), 5);
  });

  it('takes the user file from BATON_HOME, which is no setting itself', async () => {
    write('home/.baton/config.toml', sets(4));
    write('elsewhere/config.toml', sets(5));
    assert.equal(await keepOf(NO_REQUEST, { env: { BATON_HOME: join(root, 'elsewhere') } }), 5);
    assert.equal(await keepOf(NO_REQUEST, { env: { BATON_HOME: '../../../elsewhere' } }), 5);
    assert.equal(await keepOf(NO_REQUEST, { env: { BATON_HOME: '' } }), 4);
  });

  it('ignores empty variables and those of others, and refuses unknown ones of its own', async () => {
    assert.equal(
      await keepOf(NO_REQUEST, { env: { BATON_COMPACT__ENABLED: '', BATONX: '1', HOME: '/' } }),
      3,
    );
    await assert.rejects(
      keepOf(NO_REQUEST, { env: { BATON_COMPACT__ENABELD: 'true' } }),
      isError('config_invalid', 'the nearest known one is BATON_COMPACT__ENABLED'),
    );
  });

  it('complains about a missing file only when somebody named it', async () => {
    await assert.rejects(
      keepOf({ configFile: 'none.toml', overrides: [] }),
      isError('file_not_found', 'none.toml'),
    );
    await assert.rejects(checkConfigFile('none.toml', world), isError('file_not_found', 'none.toml'));
  });

  it('says which file cannot be read', async () => {
    mkdirSync(join(root, 'home/.baton/config.toml'), { recursive: true });
    await assert.rejects(keepOf(), isError('file_unreadable', 'home/.baton/config.toml'));
  });

  it('says which file its permissions close', { skip: NO_PERMISSIONS }, async () => {
    chmodSync(write('home/.baton/config.toml', sets(4)), 0o000);
    await withoutPrivileges(root, () => assert.rejects(keepOf(), isError('file_unreadable', 'EACCES')));
  });

  it('refuses bytes that are not UTF-8', async () => {
    write('home/.baton/config.toml', Uint8Array.of(0xff, 0xfe, 0x61, 0x00));
    await assert.rejects(keepOf(), isError('config_invalid', 'is not valid UTF-8'));
  });

  it('reads a byte order mark and CR LF', async () => {
    write('home/.baton/config.toml', `\uFEFF# mine\r\n${sets(4).trim()}\r\n`);
    assert.equal(await keepOf(), 4);
  });
});

describe("Baton's home", { skip: NO_PERMISSIONS }, () => {
  const isRoot = process.geteuid?.() === 0;
  const STRANGER = 12_345;

  async function assertRefused(problem: RegExp): Promise<void> {
    await assert.rejects(loadConfig(NO_REQUEST, world), (error) => {
      assert.ok(error instanceof BatonError);
      assert.equal(error.code, 'file_unreadable');
      assert.match(error.message, problem);
      return true;
    });
  }

  it('is obeyed only where not everybody can write in it', async () => {
    const file = write('home/.baton/config.toml', sets(3));
    chmodSync(dirname(file), 0o1777);
    await assertRefused(/\.baton is writable by everybody/);
    chmodSync(dirname(file), 0o775);
    chmodSync(file, 0o666);
    await assertRefused(/config\.toml is writable by everybody/);
    chmodSync(file, 0o664);
    assert.equal(await keepOf(), 3, 'a group is often of one user');
  });

  it(
    "is obeyed only where it is not a stranger's",
    { skip: !isRoot && 'only root can give files away' },
    async () => {
      const file = write('home/.baton/config.toml', sets(3));
      const other = write('else/config.toml', sets(4));
      chmodSync(root, 0o755);
      await withoutPrivileges(root, async () => assert.equal(await keepOf(), 3, 'what is of root is'));
      chownSync(file, STRANGER, STRANGER);
      await withoutPrivileges(root, () => assertRefused(/config\.toml belongs to another user/));
      assert.equal(await keepOf(), 3, 'root works with the files of others');
      rmSync(dirname(file), { recursive: true });
      symlinkSync(dirname(other), dirname(file));
      lchownSync(dirname(file), STRANGER, STRANGER);
      await withoutPrivileges(root, () => assertRefused(/\.baton belongs to another user/));
    },
  );
});

describe('project file', () => {
  it('is the nearest one', async () => {
    write('home/project/.baton/config.toml', sets(5));
    write('home/project/deep/.baton/config.toml', sets(6));
    assert.equal(await keepOf(), 6);
  });

  it('is not looked for above the root of the git work tree', async () => {
    write('home/.git/HEAD', '');
    write('home/project/.baton/config.toml', sets(5));
    assert.equal(await keepOf(), 5);
    write('home/project/deep/.git', 'gitdir: elsewhere\n');
    assert.equal(await keepOf(), 3);
    write('home/project/deep/.baton/config.toml', sets(6));
    assert.equal(await keepOf(), 6);
  });

  it('is never the user file, nor one in or above the home directory', async () => {
    write('.baton/config.toml', sets(5));
    const file = write('home/.baton/config.toml', sets(4));
    const { origins } = await loadConfig(NO_REQUEST, world);
    const [origin] = origins.values();
    assert.deepEqual(origin, { source: 'user', file, line: 1 });
    assert.equal(await keepOf(NO_REQUEST, { env: { BATON_HOME: join(root, 'none') } }), 3);
  });

  it('is the user file only once when BATON_HOME lies in the project', async () => {
    write('home/project/.baton/config.toml', sets(5));
    const env = { BATON_HOME: join(root, 'home/project/.baton') };
    const { origins } = await loadConfig(NO_REQUEST, { ...world, env });
    assert.deepEqual(
      [...origins.values()].map(({ source }) => source),
      ['user'],
    );
  });

  it('counts only in the working directory where no git work tree and no home directory is above', async () => {
    const cwd = join(root, 'shared/job');
    mkdirSync(cwd, { recursive: true });
    write('shared/.baton/config.toml', sets(5));
    assert.equal(await keepOf(NO_REQUEST, { cwd }), 3);
    write('shared/job/.baton/config.toml', sets(6));
    assert.equal(await keepOf(NO_REQUEST, { cwd }), 6);
  });

  it('is found below a home directory that is named by a link', async () => {
    symlinkSync(join(root, 'home'), join(root, 'linked'));
    write('home/project/.baton/config.toml', sets(5));
    assert.equal(await keepOf(NO_REQUEST, { homeDirectory: join(root, 'linked') }), 5);
  });
});

describe('checkConfigFile', () => {
  it('checks that file alone', async () => {
    write('home/.baton/config.toml', 'nonsense');
    const file = write('home/other.toml', sets(8));
    const { origins } = await checkConfigFile(file, { ...world, env: { BATON_NONSENSE: '1' } });
    assert.deepEqual([...origins.keys()], ['compact.micro_compact_keep_last_n_tools']);
  });
});

describe('paths', () => {
  it('default to the home directory', () => {
    assert.equal(batonHome(world), join(root, 'home/.baton'));
    assert.equal(userConfigFile(NO_REQUEST, world), join(root, 'home/.baton/config.toml'));
  });
});

describe('loading', () => {
  /** The packages that importing a module loads before it does anything. */
  function packagesLoadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
    const packages = new Set<string>();
    if (seen.has(file)) return packages;
    seen.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/^import (?!type\b)[^;]*?from '([^']+)';/gm);
    for (const [, target = ''] of imports) {
      if (!target.startsWith('.')) packages.add(target);
      else for (const name of packagesLoadedBy(resolve(dirname(file), target), seen)) packages.add(name);
    }
    return packages;
  }

  const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

  it('needs neither the schema nor the TOML parser until there is something to read', () => {
    for (const file of ['load.io.ts', 'defaults.ts', 'origin.ts', '../cli/commands/setup/config.ts']) {
      const packages = packagesLoadedBy(source(file));
      assert.ok(
        !packages.has('zod') && !packages.has('smol-toml'),
        `${file} loads ${[...packages].join(', ')}`,
      );
    }
    assert.ok(packagesLoadedBy(source('resolve.ts')).has('zod'), 'the search finds what is there');
  });
});

describe('ConfigReader', () => {
  it('gives the same object until a text changes, and then the new one', async () => {
    const file = write('home/.baton/config.toml', '[compact]\nrestore_todos = false\n');
    const reader = new ConfigReader(NO_REQUEST, world);
    const first = await reader.read();
    assert.equal(first.config.compact.restoreTodos, false);
    assert.equal(await reader.read(), first);
    // As long as before, and perhaps within the same tick of the file's clock.
    writeFileSync(file, '[compact]\nrestore_todos = true \n');
    assert.equal((await reader.read()).config.compact.restoreTodos, true);
    write('home/project/.baton/config.toml', '[compact]\nrestore_todos = false\n');
    assert.equal((await reader.read()).config.compact.restoreTodos, false);
  });

  it('fails at each reading while a file is wrong, and goes on once it is mended', async () => {
    const file = write('home/.baton/config.toml', 'nonsense = 1\n');
    const reader = new ConfigReader(NO_REQUEST, world);
    await assert.rejects(reader.read(), BatonError);
    await assert.rejects(reader.read(), BatonError);
    rmSync(file);
    assert.equal((await reader.read()).config, DEFAULT_CONFIG);
  });
});
