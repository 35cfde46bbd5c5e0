// The command line: every command, option and help text. Modules that a command needs are loaded when it runs.

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ConfigRequest } from '../config/load.io.ts';
import { ConfigReader, loadConfig } from '../config/load.io.ts';
import { nearestName } from '../text/nearest.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import {
  APPROVAL_POLICIES,
  LATER_EDITS,
  modeName,
  OUTPUT_FORMATS,
  SANDBOX_MODES,
  STRATEGIES,
} from '../vocabulary.ts';
import type { LaterEdits } from '../vocabulary.ts';
import type { CompactFlags } from './commands/compact/compact.ts';
import { SHELLS } from './commands/setup/completion-scripts.ts';
import type { Shell } from './commands/setup/completion-scripts.ts';
import { configCommand } from './commands/setup/config.ts';
import { EXAMPLES } from './examples.ts';
import type { ExecFlags } from './commands/agent/exec.ts';
import type { CommandIo, ExitStatus, Look } from './io.ts';
import type { ServeFlags } from './commands/agent/thread-host.ts';
import type { UiFlags } from './commands/agent/ui.ts';
import type { UndoFlags } from './commands/undo/undo.ts';
import type { ReplayFlags } from './commands/replay/replay.ts';
import { AGENTS, SESSION_ORDERS } from './session-files/words.ts';
import type { SessionsOptions } from './commands/setup/sessions.ts';
import { nameFiles, POLICY_NAMES } from './commands/replay/policy-names.ts';
import type { PolicyName } from './commands/replay/policy-names.ts';
import type { NamedConfig } from './commands/replay/policies.ts';
import { foldLines } from './style.ts';

interface GlobalOptions {
  /** The last one applies; `replay` compares all. */
  readonly config?: readonly string[];
  readonly set?: readonly string[];
}

/** Two-column help needs this width; on narrower terminals descriptions go below the options. */
const LEAST_TWO_COLUMNS = 64;

function inOneColumn(look: Look): (term: string, termWidth: number, description: string) => string {
  return (term, _, description) => foldLines(look, `  ${term}\n    ${description}`);
}

/** How to name a session. */
const SESSION = 'a file of any format in docs/formats.md, last, last:AGENT or the beginning of an id';

/** A command line ready to run. */
export interface Program {
  run(args: readonly string[]): Promise<ExitStatus>;
}

/**
 * Builds the program.
 * @param version as in package.json
 */
export function buildProgram(io: CommandIo, version: string): Program {
  let status: ExitStatus = 0;
  const end = (result: ExitStatus | undefined): void => {
    status = result ?? 0;
  };
  const program = new Command('baton')
    .description('Carries coding agents across context compaction: inspect, compact and undo their sessions.')
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'read this config file instead of ~/.baton/config.toml', collect)
    .option('-c, --set <key=value>', 'set one config key for this run (repeatable; TOML value)', collect)
    .addOption(
      new Option('--color <when>', 'use colour').choices(['auto', 'always', 'never']).default('auto'),
    )
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError()
    .addHelpText('beforeAll', ({ command }) => refuseUnknown(command))
    // Errors are thrown as `BatonError` and reported like every other failure.
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      outputError: () => undefined,
      getOutHelpWidth: () => io.look.width,
      getErrHelpWidth: () => io.look.width,
    })
    .configureHelp({
      styleUsage: (usage) => foldLines({ ...io.look, width: io.look.width - 'Usage: '.length }, usage),
      ...(io.look.width < LEAST_TWO_COLUMNS ? { formatItem: inOneColumn(io.look) } : {}),
    })
    .exitOverride();
  const request = (): ConfigRequest => {
    const { config = [], set = [] } = program.opts<GlobalOptions>();
    return { configFile: config.at(-1), overrides: set };
  };
  const configure = async (): Promise<Config> => {
    const { config, warnings } = await loadConfig(request(), io);
    for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
    return config;
  };
  addUi(program, { io, version, request, end });
  addExec(program, { io, version, request, end });
  addServe(program, { io, version, request, end });
  addInspect(program, io, configure, end);
  addCompact(program, io, configure);
  addUndo(program, io, configure);
  addSessions(program, io, configure);
  addEval(program, io, configure, end);
  addReplay(program, io, request, end);
  program.addCommand(inherit(program, configCommand(io, request)));
  addPrompts(program, io, configure);
  addDoctor(program, io, request, end);
  addDemo(program, io, configure);
  addCompletion(program, io);
  addVersion(program, io, version);
  addExamples(program, io.look, []);
  return {
    async run(args) {
      try {
        await program.parseAsync(withDefaultTop(args), { from: 'user' });
        return status;
      } catch (error) {
        if (!(error instanceof CommanderError)) throw error;
        if (error.exitCode === 0) return 0;
        // The help printed for a missing command explains itself.
        if (error.code === 'commander.help') return 2;
        throw explainUsage(error, namedCommand(program, args), args);
      }
    },
  };
}

/** How many results and files `--top` lists without a number: both lists fit on a screen. */
const DEFAULT_TOP = 10;

/** `--top FILE`: the next word is a number, or an argument of the command. */
function withDefaultTop(args: readonly string[]): readonly string[] {
  if (!args.includes('inspect')) return args;
  return args.map((arg, at) =>
    arg === '--top' && !/^\d+$/.test(args[at + 1] ?? '') ? `--top=${DEFAULT_TOP}` : arg,
  );
}

/**
 * Rejects `help` for an unknown command, which would otherwise print the help of the program.
 * @returns nothing to print
 */
function refuseUnknown({ args, commands }: Command): string {
  const asked = args[args[0] === 'help' ? 1 : 0] ?? 'help';
  const names = commands.map((command) => command.name());
  if (commands.length === 0 || asked.startsWith('-') || ['help', ...names].includes(asked)) return '';
  throw unknownCommand(asked, names);
}

function commandNames({ commands }: Command): readonly string[] {
  return commands.map((command) => command.name());
}

function unknownCommand(asked: string, names: readonly string[]): BatonError {
  const meant = nearestName(asked, ['help', ...names]);
  return new BatonError('usage', `Unknown command '${asked}'`, {
    cure: meant === undefined ? '`baton --help` lists the commands.' : `Did you mean ${meant}?`,
  });
}

/** The innermost command that a command line names. */
function namedCommand(program: Command, args: readonly string[]): Command {
  let named = program;
  for (const arg of args) named = named.commands.find((command) => command.name() === arg) ?? named;
  return named;
}

/** Turns `error: unknown option '--jsn'\n(Did you mean --json?)` into a sentence and its cure. */
function explainUsage(error: CommanderError, command: Command, args: readonly string[]): BatonError {
  const path = [command.parent?.name(), command.name()].filter((name) => name !== undefined).join(' ');
  const [first = '', ...rest] = error.message.replace(/^error: (?:command-argument value )?/, '').split('\n');
  const suggestion = /\((Did you mean [^()]*\?)\)/.exec(rest.join(' '))?.[1];
  const help = `\`${path} --help\` lists its ${command.commands.length === 0 ? 'options' : 'commands and options'}.`;
  const given = args.slice(args.indexOf(command.name()) + 1).find((arg) => !arg.startsWith('-'));
  const isUnknown = error.code === 'commander.excessArguments' && command.commands.length > 0;
  if (isUnknown && command.parent === null) return unknownCommand(given ?? '', commandNames(command));
  const sentence = isUnknown
    ? `Unknown command '${command.name()} ${given ?? ''}'`
    : `${first.charAt(0).toUpperCase()}${first.slice(1)}`;
  return new BatonError('usage', sentence, {
    cure: suggestion ?? (isSessionMissing(error) ? NAME_A_SESSION : help),
    cause: error,
  });
}

function isSessionMissing({ code, message }: CommanderError): boolean {
  return code === 'commander.missingArgument' && message.includes("'session'");
}

const NAME_A_SESSION = 'Name one: `last` is the newest, and `baton sessions` lists them all.';

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Commands built elsewhere inherit how the program writes and exits. */
function inherit(program: Command, command: Command): Command {
  command.copyInheritedSettings(program);
  for (const child of command.commands) child.copyInheritedSettings(program);
  return command;
}

type Configure = () => Promise<Config>;
type End = (status: ExitStatus | undefined) => void;

interface ExecParts {
  readonly io: CommandIo;
  readonly version: string;
  readonly request: () => ConfigRequest;
  readonly end: End;
}

/** What a message is: anything but one word, which is rather the misspelt name of a command. */
const MESSAGE = /\s/;

function addUi(program: Command, { io, version, request, end }: ExecParts): void {
  withAgentOptions(
    program
      .command('chat', { isDefault: true })
      .description('open the terminal agent; `baton` alone does the same')
      .argument('[prompt]', 'the first message'),
    'which calls need your approval (approval_policy)',
  )
    .option('--last', 'resume the newest session: --resume last')
    .option('-C, --cd <dir>', 'work in this directory')
    .action(
      async (prompt: string | undefined, { last, ...flags }: UiFlags & { last?: true }, command: Command) => {
        const isNamed = program.args[0] === command.name();
        if (!isNamed && prompt !== undefined && !MESSAGE.test(prompt)) {
          throw unknownCommand(prompt, commandNames(program));
        }
        const isScript = io.openTerminal === undefined && io.terminalLack === undefined;
        if (!isNamed && isScript && prompt === undefined && noFlags(flags)) {
          program.help({ error: true });
        }
        const { runUi } = await import('./commands/agent/ui.ts');
        end(
          await runUi(
            io,
            { version, configFile: request().configFile, configurationOf: configurationIn(io, request) },
            prompt,
            { ...flags, ...(last === true ? { resume: 'last' } : {}) },
          ),
        );
      },
    );
}

/** The options of every command that runs Baton's own agent for a person. */
function withAgentOptions(command: Command, approval: string): Command {
  return command
    .option('--model <name>', 'the model: PROVIDER/MODEL, PROVIDER, or rehearsal/FILE, a recording')
    .option(
      '--speed <times>',
      'of a rehearsal: how many times faster than recorded; 0: without waits',
      parseSpeed,
    )
    .addOption(modeOption('--sandbox <mode>', 'what calls may change (sandbox_mode)', SANDBOX_MODES))
    .addOption(modeOption('--approval <policy>', approval, APPROVAL_POLICIES))
    .option('--resume <session>', 'resume a session: its id or the beginning of it, its file, or last');
}

function noFlags(flags: object): boolean {
  return Object.keys(flags).length === 0;
}

function addExec(program: Command, { io, version, request, end }: ExecParts): void {
  withAgentOptions(
    program
      .command('exec')
      .description(
        "run Baton's own agent on one message: progress on standard error, its answer on standard output",
      )
      .argument('[prompt]', 'the message; without it, or with -, read from standard input'),
    'which calls need approval; exec denies them (approval_policy)',
  )
    .option('-C, --cd <dir>', 'work in this directory')
    .option('--output-last-message <file>', 'also write the answer to a file, replacing it')
    .option('--output-schema <file>', 'a JSON Schema that the answer must match')
    .option('--json', 'print every event as a line of JSON (docs/exec.md)')
    .action(async (prompt: string | undefined, flags: ExecFlags) => {
      const { exec } = await import('./commands/agent/exec.ts');
      end(
        await exec(
          io,
          { version, configFile: request().configFile, configurationOf: configurationIn(io, request) },
          prompt,
          flags,
        ),
      );
    });
}

/** An option for a mode, which also accepts Codex's spelling. */
function modeOption(flags: string, description: string, names: readonly string[]): Option {
  return new Option(flags, description).choices(names).argParser((text) => {
    const name = names.find((each) => each === modeName(text));
    if (name !== undefined) return name;
    throw new InvalidArgumentError(`Allowed choices are ${names.join(', ')}.`);
  });
}

/** Returns a reader for the configuration of a directory; each warning is printed once. */
function configurationIn(io: CommandIo, request: () => ConfigRequest) {
  return (directory: string): (() => Promise<Config>) => {
    const { env, homeDirectory } = io;
    const reader = new ConfigReader(request(), { env, homeDirectory, cwd: directory });
    const told = new Set<string>();
    return async () => {
      const { config, warnings } = await reader.read();
      for (const warning of warnings.filter((each) => !told.has(each))) {
        told.add(warning);
        io.stderr(`baton: warning: ${warning}\n`);
      }
      return config;
    };
  };
}

function addServe(program: Command, { io, version, request, end }: ExecParts): void {
  program
    .command('serve')
    .description(
      "run Baton's own agent for a client: ops as lines of JSON on standard input, events on standard output",
    )
    .option('--model <name>', 'the model: PROVIDER/MODEL, or PROVIDER')
    .addOption(modeOption('--sandbox <mode>', 'what calls may change (sandbox_mode)', SANDBOX_MODES))
    .addOption(
      modeOption(
        '--approval <policy>',
        'which calls need approval by the client (approval_policy)',
        APPROVAL_POLICIES,
      ),
    )
    .option('--resume <session>', 'resume a session: its id or the beginning of it, its file, or last')
    .option('-C, --cd <dir>', 'work in this directory')
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./commands/agent/serve.ts');
      end(
        await serve(
          io,
          { version, configFile: request().configFile, configurationOf: configurationIn(io, request) },
          flags,
        ),
      );
    });
}

function addInspect(program: Command, io: CommandIo, configure: Configure, end: End): void {
  program
    .command('inspect')
    .description('show what fills the context of a session, its gauge over time, and its compactions')
    .argument('<session...>', `${SESSION}; - reads standard input`)
    .option('--precise', 'count with the o200k tokenizer instead of estimating')
    .addOption(
      new Option(
        '--top [n]',
        'show what takes most: results, files read again, the window in parts',
      ).argParser(parseCount),
    )
    .option('--json', 'print JSON (docs/json.md)')
    .action(async (files: string[], options: { json?: true; precise?: true; top?: number }) => {
      const { inspect } = await import('./commands/inspect/inspect.ts');
      const { locateSessions } = await import('./session-files/handles.io.ts');
      end(
        await inspect(io, await configure(), await locateSessions(io, files), {
          json: options.json === true,
          precise: options.precise === true,
          top: options.top,
        }),
      );
    });
}

function addCompact(program: Command, io: CommandIo, configure: Configure): void {
  program
    .command('compact')
    .description('compact a session, without a model unless you name one; never changes the input file')
    .argument('<session>', `${SESSION}; - reads standard input`)
    .addOption(
      new Option(
        '--strategy <name>',
        'auto and full write a summary; remote has the provider compact; micro clears old tool results only',
      )
        .choices(STRATEGIES)
        .default('auto'),
    )
    .option(
      '--target-tokens <n>',
      'maximum size of what is written: summary, messages, files (o200k tokens)',
      parseTokens,
    )
    .option('--model <name>', 'what writes the summary: PROVIDER/MODEL, or embedded (default): no model')
    .option('--instructions <text>', 'what the summary should emphasise (needs a model)')
    .option('--preview', 'show what would be lost and what would stay; write nothing')
    .option('--full', 'with --preview: show every kind of item, and the summary')
    .option('--summary-only', 'write only the summary, not the session')
    .option('--out <file>', 'where to write (default: standard output)')
    .addOption(
      new Option(
        '--format <name>',
        'for Codex and Claude Code, same keeps the bytes of the session and appends to them; other formats are written from scratch',
      )
        .choices(OUTPUT_FORMATS)
        .default('same'),
    )
    .option('--prune', 'omit the past: write only what is in the context afterwards')
    .option('--redact', 'also replace known secrets in what is kept verbatim')
    .option('--install', 'write the result where the agent finds it, and print how to resume it')
    .option('--workspace <dir>', 'restore files that the agent had read, from this directory')
    .option('--force', 'replace an existing --out file')
    .option('--json', 'print the receipt as JSON on standard output (needs --out, --install or --preview)')
    .action(async (file: string, flags: CompactFlags) => {
      const { compact } = await import('./commands/compact/compact.ts');
      const { locateSession } = await import('./session-files/handles.io.ts');
      await compact(io, await configure(), await locateSession(io, file), withPlace(flags));
    });
}

interface UndoOptions extends UndoFlags {
  readonly turn?: true;
  readonly preview?: true;
  readonly laterEdits?: LaterEdits;
}

function addUndo(program: Command, io: CommandIo, configure: Configure): void {
  program
    .command('undo')
    .description(
      'undo the newest compaction of a session and keep what came after it, or undo its newest turn',
    )
    .argument(
      '<session>',
      'of Codex, Claude Code or Baton: a file, last, last:AGENT or the beginning of an id; - reads standard input',
    )
    .option('--turn', "undo the newest turn of one of Baton's own sessions, with its file changes")
    .option('--preview', 'with --turn: show what would be reverted; change nothing')
    .addOption(
      new Option(
        '--later-edits <how>',
        'with --turn: keep or revert what was changed after the turn',
      ).choices(LATER_EDITS),
    )
    .option('--out <file>', 'where to write (default: standard output)')
    .option('--install', 'write the result where the agent finds it, and print how to resume it')
    .option('--force', 'replace an existing --out file')
    .option('--json', 'print a report as JSON on standard output (needs --out, --install or --turn)')
    .addHelpText(
      'after',
      foldLines(
        io.look,
        '\nThe input file does not change: to revert the undo of a compaction, resume that file.\n' +
          'With --turn the session itself changes. Baton keeps the files as they were until then in git, and prints ' +
          'the command that restores them. The conversation cannot be redone. Files that were ' +
          'changed after the turn stay; if the turn changed one of them as well, nothing happens ' +
          'until you decide with --later-edits.',
      ),
    )
    .action(async (file: string, { turn, preview, laterEdits, ...flags }: UndoOptions) => {
      if (turn === true) {
        const { refuseOther, undoTurn } = await import('./commands/undo/undo-turn.ts');
        const { locateOwnSession } = await import('./session-files/handles.io.ts');
        refuseOther(flags);
        return undoTurn(io, await locateOwnSession(io, file), {
          ...(preview === undefined ? {} : { preview }),
          ...(laterEdits === undefined ? {} : { laterEdits }),
          ...(flags.json === undefined ? {} : { json: flags.json }),
        });
      }
      if (preview === true || laterEdits !== undefined) {
        const cure = 'Without --turn the input never changes, and --out names the output.';
        const option = preview === true ? '--preview' : '--later-edits';
        throw new BatonError('usage', `${option} needs --turn`, { cure });
      }
      const { undo } = await import('./commands/undo/undo.ts');
      const { locateSession } = await import('./session-files/handles.io.ts');
      await undo(io, await configure(), await locateSession(io, file), withPlace(flags));
    });
}

function addSessions(program: Command, io: CommandIo, configure: Configure): void {
  program
    .command('sessions')
    .description('list the sessions of all agents on this machine: what each is about, how full, how large')
    .option('-n, --limit <n>', 'list this many', parseCount, 20)
    .addOption(new Option('--agent <name>', 'only sessions of this agent').choices(AGENTS))
    .option('--here', 'only sessions of this directory and its subdirectories')
    .option('--since <when>', 'only sessions written since: 7d, 12h, or a date such as 2026-01-31', (text) =>
      parseSince(text, io),
    )
    .addOption(
      new Option('--sort <by>', 'newest, largest, or most expensive first; tokens and cost read every file')
        .choices(SESSION_ORDERS)
        .default('time'),
    )
    .option('--json', 'print JSON (docs/json.md)')
    .action(async (flags: Omit<SessionsOptions, 'json'> & { json?: true }) => {
      const { listSessions } = await import('./commands/setup/sessions.ts');
      await listSessions(io, await configure(), { ...flags, json: flags.json === true });
    });
}

const UNITS_MS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

function parseSince(text: string, io: CommandIo): number {
  const [, count, unit = ''] = /^(\d{1,9})([mhdw])$/.exec(text) ?? [];
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const ms = isDate ? Date.parse(text) : io.clock.now() - Number(count) * (UNITS_MS.get(unit) ?? NaN);
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError('Expected a time such as 7d, 12h or 2026-01-31.');
}

interface EvalFlags {
  readonly cuts: number;
  readonly sizes: readonly number[];
  readonly seed: number;
  readonly json?: true;
  readonly timings?: true;
  readonly canaries: boolean;
}

/** @source spec 2-engine §10: the sizes of the baselines. */
const EVAL_SIZES = '2k,4k,8k,16k';

function addEval(program: Command, io: CommandIo, configure: Configure, end: End): void {
  program
    .command('eval')
    .description('measure how much of what an agent used later would survive a compaction (docs/eval.md)')
    .argument('<session...>', `${SESSION}, or directories; - reads standard input`)
    .addOption(
      new Option('--sizes <list>', 'budgets in tokens, separated by commas')
        .argParser(parseSizes)
        .default(parseSizes(EVAL_SIZES), EVAL_SIZES),
    )
    .option('--cuts <n>', 'regular cuts for each session, besides its compactions', parseAnyCount, 8)
    .option('--seed <n>', 'seed of the cuts, the random lines and the intervals', parseAnyCount, 1)
    .option(
      '--model <name>',
      'also measure the summaries of PROVIDER/MODEL: one request at each cut for each size',
    )
    .option('--json', 'print JSON (docs/json.md)')
    .option('--timings', 'add milliseconds to the JSON, which then differs from run to run')
    .option('--no-canaries', 'skip the planted facts, which saves some seconds')
    .action(async (files: string[], flags: EvalFlags) => {
      const { evaluate } = await import('./commands/eval/eval.ts');
      const { locateSessions } = await import('./session-files/handles.io.ts');
      end(await evaluate(io, await configure(), await locateSessions(io, files), flags));
    });
}

function parseSizes(list: string): readonly number[] {
  return list.split(',').map((size) => parseTokens(size.trim()));
}

interface ReplayOptions extends Omit<ReplayFlags, 'policy'> {
  readonly policy?: readonly PolicyName[];
}

function addReplay(program: Command, io: CommandIo, request: () => ConfigRequest, end: End): void {
  program
    .command('replay')
    .description('replay recorded sessions under other compaction policies (docs/replay.md)')
    .argument('<session...>', `${SESSION}, or directories; - reads standard input`)
    .addOption(
      new Option('--policy <name>', 'replay only this policy (repeatable; default: all)').argParser(
        collectPolicy,
      ),
    )
    .option('--turns', 'list every decision with its evidence')
    .option('--html <file>', 'write a report with charts')
    .option('--force', 'replace an existing --html file')
    .option(
      '--no-recall',
      'do not measure what each compaction keeps: faster, and works for files of any size',
    )
    .option('--json', 'print JSON (docs/json.md)')
    .addHelpText(
      'after',
      foldLines(io.look, '\nWith --config A --config B, each configuration is an additional policy.'),
    )
    .action(async (files: string[], flags: ReplayOptions) => {
      const { replay } = await import('./commands/replay/replay.ts');
      const { locateSessions } = await import('./session-files/handles.io.ts');
      const paths = await locateSessions(io, files);
      end(await replay(io, await comparedConfigs(program, io, request()), paths, flags));
    });
}

function collectPolicy(value: string, before: readonly PolicyName[] = []): readonly PolicyName[] {
  const name = POLICY_NAMES.find((each) => each === value);
  if (name === undefined) throw new InvalidArgumentError(`Allowed choices are ${POLICY_NAMES.join(', ')}.`);
  return [...before, name];
}

async function comparedConfigs(program: Command, io: CommandIo, request: ConfigRequest) {
  const load = async (asked: ConfigRequest): Promise<Config> => {
    const { config, warnings } = await loadConfig(asked, io);
    for (const warning of warnings) io.stderr(`baton: warning: ${warning}\n`);
    return config;
  };
  const compared: NamedConfig[] = [];
  for (const [file, name] of nameFiles([...new Set(program.opts<GlobalOptions>().config)])) {
    compared.push({ name, config: await load({ ...request, configFile: file }) });
  }
  // A compared file is not a setting of the run: the other policies are replayed without it.
  const effective = await load(compared.length === 0 ? request : { ...request, configFile: undefined });
  return { effective, compared };
}

function addPrompts(program: Command, io: CommandIo, configure: Configure): void {
  const command = program
    .command('prompts')
    .description('list, show, compare and reset the prompts around a compaction');
  command
    .command('list', { isDefault: true })
    .description('list the prompts, and say which ones you changed')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: true }) => {
      const { listPrompts } = await import('./commands/setup/prompts.ts');
      await listPrompts(io, await configure(), flags);
    });
  command
    .command('show')
    .argument('<name>', 'a prompt, e.g. heads-up')
    .description('print the effective text')
    .option('--shipped', 'print the shipped text')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: { json?: true; shipped?: true }) => {
      const { showPrompt } = await import('./commands/setup/prompts.ts');
      await showPrompt(io, await configure(), name, flags);
    });
  command
    .command('diff')
    .argument('[name]', 'a prompt, e.g. heads-up; without it, all of them')
    .description('print how the effective text differs from the shipped one, as a unified diff')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, flags: { json?: true }) => {
      const { diffPrompts } = await import('./commands/setup/prompts.ts');
      await diffPrompts(io, await configure(), name, flags);
    });
  command
    .command('reset')
    .argument('<name>', 'a prompt, e.g. heads-up')
    .description('restore the shipped text; the changed file is kept as NAME.bak-N')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: { json?: true }) => {
      const { restorePrompt } = await import('./commands/setup/prompts.ts');
      await restorePrompt(io, await configure(), name, flags);
    });
}

function addDoctor(program: Command, io: CommandIo, request: () => ConfigRequest, end: End): void {
  program
    .command('doctor')
    .description('check what works on this machine, and how to fix what does not')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: true }) => {
      const { runDoctor } = await import('./commands/setup/doctor.ts');
      end(await runDoctor(io, request(), { json: flags.json === true }));
    });
}

function addDemo(program: Command, io: CommandIo, configure: Configure): void {
  program
    .command('demo')
    .description('compact, undo and hand over a session that comes with Baton')
    .option('--json', 'print JSON (docs/json.md)')
    .action(async ({ json }: { json?: true }) => {
      const { playDemo, printDemoJson } = await import('./commands/setup/demo.ts');
      await (json === true ? printDemoJson : playDemo)(io, await configure());
    });
}

function addCompletion(program: Command, io: CommandIo): void {
  program
    .command('completion')
    .description('print the completion script of a shell, for commands, options and sessions')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
    .action(async (shell: Shell) => {
      const { printCompletion } = await import('./commands/setup/complete.ts');
      printCompletion(io, shell);
    });
  program
    .command('complete', { hidden: true })
    .description('list completions of the last word, for the completion scripts')
    .argument('[words...]', 'the command line so far, after --')
    .action(async (words: string[]) => {
      const { printCandidates } = await import('./commands/setup/complete.ts');
      await printCandidates(io, program, words);
    });
}

/** Examples come last in the help of a command. @param path the names of the command and those above it, without the program */
function addExamples(command: Command, look: Look, path: readonly string[]): void {
  for (const child of command.commands) addExamples(child, look, [...path, child.name()]);
  const examples = EXAMPLES[path.join(' ')];
  if (examples !== undefined) {
    const width = Math.max(...examples.map(([line]) => line.length));
    const rows = examples.map(([line, does]) => foldLines(look, `  baton ${line.padEnd(width)}  ${does}`));
    command.addHelpText('after', `\nExample${rows.length === 1 ? '' : 's'}:\n${rows.join('\n')}`);
  }
}

function addVersion(program: Command, io: CommandIo, version: string): void {
  program
    .command('version')
    .description('print the version')
    .action(() => io.stdout(`${version}\n`));
}

const UNITS = new Map([
  ['k', 1000],
  ['m', 1_000_000],
]);

function parseTokens(text: string): number {
  const match = /^(\d+)([km]?)$/i.exec(text.replaceAll(/[,_]/g, ''));
  const unit = UNITS.get(match?.[2]?.toLowerCase() ?? '') ?? 1;
  const tokens = Number(match?.[1]) * unit;
  if (!Number.isSafeInteger(tokens) || tokens < 1) {
    throw new InvalidArgumentError('Expected a number of tokens such as 8000 or 8k.');
  }
  return tokens;
}

/** File names of standard output: renaming a file to one of these would replace the device. */
const STANDARD_OUTPUT: ReadonlySet<string> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** The flags without an `--out` that names standard output. */
function withPlace<Flags extends { readonly out?: string }>(flags: Flags): Flags {
  if (flags.out === undefined || !STANDARD_OUTPUT.has(flags.out)) return flags;
  const { out: _, ...rest } = flags;
  return rest as Flags;
}

function parseSpeed(text: string): number {
  const speed = Number(text);
  if (text.trim() !== '' && Number.isFinite(speed) && speed >= 0) return speed;
  throw new InvalidArgumentError('Expected a number such as 4 or 0.5, or 0.');
}

function parseAnyCount(text: string): number {
  return text === '0' ? 0 : parseCount(text);
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError('Expected a whole number above 0.');
  return count;
}
