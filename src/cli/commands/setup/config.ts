import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { checkConfig, checkConfigFile, loadConfig, userConfigFile } from '../../../config/load.io.ts';
import type { ConfigRequest } from '../../../config/load.io.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import type { CommandIo, Look } from '../../io.ts';
import { columns } from '../../style.ts';

interface JsonOption {
  readonly json?: true;
}

/**
 * `baton config show|schema|check|init`. Throws failures as `BatonError`; the caller turns them into text and status.
 * @param request called when a subcommand runs: `--config` and `-c` are options of the whole program
 */
export function configCommand(io: CommandIo, request: () => ConfigRequest): Command {
  const command = new Command('config').description('show, check and start the configuration');
  command
    .command('show', { isDefault: true })
    .description('print the effective configuration as TOML; comments say where changed values come from')
    .option('--origin', 'also do so for unchanged values')
    .option('--json', 'print JSON: the configuration and the origin of every key')
    .action((options: JsonOption & { readonly origin?: true }) => show(io, request(), options));
  command
    .command('schema')
    .description('print the JSON Schema of config files')
    .option('--json', 'print JSON (the default)')
    .action(() => printSchema(io));
  command
    .command('check')
    .argument('[file]', 'a config file to check; without it, the effective configuration')
    .description('validate and report every problem')
    .option('--json', 'print JSON')
    .action((file: string | undefined, options: JsonOption) => check(io, request(), file, options));
  command
    .command('init')
    .description('write a starter file that lists every setting, commented out')
    .option('--force', 'replace an existing file')
    .option('--json', 'print JSON')
    .action((options: JsonOption & { readonly force?: true }) => init(io, request(), options));
  return command;
}

async function show(
  io: CommandIo,
  request: ConfigRequest,
  options: JsonOption & { readonly origin?: true },
): Promise<void> {
  const { config, origins, warnings } = await loadConfig(request, io);
  for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
  const { configJson, listSettings, renderConfig } = await import('../../../config/explain.ts');
  if (options.json !== true) {
    io.stdout(foldArrays(io.look, renderConfig(config, origins, options.origin === true ? 'all' : 'set')));
    return;
  }
  const all = listSettings().map(({ key }) => [key, origins.get(key) ?? { source: 'default' }]);
  printJson(io, { config: configJson(config), origins: Object.fromEntries(all) });
}

/** Breaks arrays that are wider than the terminal between their strings, where TOML allows it. */
function foldArrays(look: Look, toml: string): string {
  if (look.isPiped === true) return toml;
  const lines = toml.split('\n').map((line) => {
    if (columns(line) <= look.width) return line;
    return line.replace(
      /^(\S+ = \[) (".*") (\])/,
      (_, start: string, strings: string, end: string) =>
        `${start}\n  ${strings.replaceAll('", "', '",\n  "')}\n${end}`,
    );
  });
  return lines.join('\n');
}

async function printSchema(io: CommandIo): Promise<void> {
  const { configJsonSchema } = await import('../../../config/explain.ts');
  printJson(io, configJsonSchema());
}

async function check(
  io: CommandIo,
  request: ConfigRequest,
  file: string | undefined,
  options: JsonOption,
): Promise<void> {
  const { config, origins, ...checked } =
    file === undefined ? await checkConfig(request, io) : await checkConfigFile(file, io);
  // A file alone says nothing about the prompts in use here.
  const warnings = [...checked.warnings, ...(file === undefined ? await checkPrompts(io, config) : [])];
  if (options.json === true) {
    printJson(io, { valid: true, keysSet: [...origins.keys()], warnings });
    return;
  }
  for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
  const what = file ?? 'The configuration';
  io.stdout(`${what} is valid; ${origins.size === 1 ? '1 key is' : `${origins.size} keys are`} set.\n`);
}

/** Faults of a configuration's prompts, and of their frontmatter combined with the configuration. */
async function checkPrompts(io: CommandIo, config: Config): Promise<readonly string[]> {
  const { loadDecisionPrompt, loadPrompt, promptPlace } = await import('../../../prompts/load.io.ts');
  const { PROMPT_NAMES } = await import('../../../prompts/shipped.ts');
  const { policyWarnings, resolvePolicy } = await import('../../../watcher/policy.ts');
  const place = promptPlace(config, io);
  const prompts = await Promise.all(PROMPT_NAMES.map((name) => loadPrompt(place, name)));
  const paths = Object.values(resolvePolicy(config).tiers).flatMap((tier) => tier.decisionPromptPath ?? []);
  const judges = await Promise.all([...new Set(paths)].map((path) => loadDecisionPrompt(place, path)));
  const requesting = prompts.find(({ name }) => name === 'auto-compact.md');
  return [
    ...new Set([...prompts, ...judges].flatMap((prompt) => prompt.warnings)),
    ...(requesting === undefined ? [] : policyWarnings(config, requesting.frontmatter)),
  ];
}

async function init(
  io: CommandIo,
  request: ConfigRequest,
  options: JsonOption & { readonly force?: true },
): Promise<void> {
  const file = userConfigFile(request, io);
  const { renderStarter } = await import('../../../config/explain.ts');
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (options.force === true ? replaceFile : createFile)(file, renderStarter());
  } catch (error) {
    throw explainWriteFailure(error, file);
  }
  if (options.json === true) printJson(io, { file });
  else io.stdout(`Wrote ${file}: every setting with its default, commented out.\n`);
}

/** Creates a private file, never replacing one, even if it appears at the same moment. */
async function createFile(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw errorCode(error) === 'EEXIST' ? existsAlready(file, error) : error;
  });
  try {
    await handle.writeFile(text);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function existsAlready(file: string, cause: unknown): BatonError {
  return new BatonError('output_exists', `${file} exists already.`, {
    cure: '`--force` replaces it with the starter file.',
    data: { file },
    cause,
  });
}

function explainWriteFailure(error: unknown, file: string): unknown {
  const code = errorCode(error);
  if (error instanceof BatonError || code === undefined) return error;
  return new BatonError('output_failed', `${file} cannot be written (${code}).`, {
    cure: 'Check the folder, its permissions and the free space.',
    data: { file, code },
    cause: error,
  });
}

function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function printJson(io: CommandIo, value: unknown): void {
  io.stdout(`${JSON.stringify(value, null, 2)}\n`);
}
