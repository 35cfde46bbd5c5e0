// `baton doctor`: what works here, what does not, and the cures.

import { access, constants, mkdir } from 'node:fs/promises';
import { DEFAULT_CONFIG } from '../../../config/defaults.ts';
import type { ConfigRequest } from '../../../config/load.io.ts';
import { batonHome, loadConfig } from '../../../config/load.io.ts';
import type { ModelProvider } from '../../../config/model-providers.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import { findProgram, programDirectories, runProcess } from '../../../system/processes.io.ts';
import { programEnvironment } from '../../../system/environment.ts';
import { findSessions } from '../../session-files/agents.io.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { foldLines, padEnd, paint, plural, printable, tildePath } from '../../style.ts';
import type { Tone } from '../../style.ts';

/** One result. `absent` marks things that Baton can do without. */
interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'absent' | 'broken';
  readonly detail: string;
  readonly cure?: string;
}

const LEAST_NODE_MAJOR = 20;
const VERSION_DEADLINE_MS = 5000;
/** Longer than a run waits: an absent server refuses immediately, and a busy machine is not a finding. */
const OLLAMA_DEADLINE_MS = 5000;

/** Checks everything. The status is 1 when something is broken. */
export async function runDoctor(
  io: CommandIo,
  request: ConfigRequest,
  { json }: { readonly json: boolean },
): Promise<ExitStatus> {
  const { config, finding: configuration } = await checkConfig(io, request);
  const findings = [
    checkNode(),
    checkTerminal(io),
    await checkTokenizer(),
    await checkHome(io),
    configuration,
    ...(await checkProviders(io, config)),
    ...checkProxy(io),
    await checkSandbox(io),
    await checkBinary(io, 'git', 'Without it, `exec` cannot undo the file changes of a turn.'),
    await checkSessions(io),
    await checkBinary(io, 'codex', 'It resumes compacted Codex sessions.'),
    await checkBinary(io, 'claude', 'It resumes compacted Claude Code sessions.'),
  ];
  if (json) io.stdout(`${JSON.stringify({ findings }, null, 2)}\n`);
  else {
    const width = Math.max(...findings.map(({ name }) => name.length));
    for (const finding of findings) io.stdout(renderFinding(finding, width, io));
  }
  return findings.some(({ state }) => state === 'broken') ? 1 : 0;
}

/** Columns before the names, and on narrow terminals before what is said about them. */
const NAME_COLUMN = 8;

/** Below this width, what is said about a name goes below it. */
const LEAST_THREE_COLUMNS = 64;

/** @param width of the column of names */
function renderFinding({ name, state, detail, cure }: Finding, width: number, { look }: CommandIo): string {
  const tones: Readonly<Record<Finding['state'], Tone>> = { ok: 'good', absent: 'faint', broken: 'bad' };
  const isNarrow = look.isPiped !== true && look.width < LEAST_THREE_COLUMNS;
  const indent = isNarrow ? NAME_COLUMN : NAME_COLUMN + width + 2;
  const said = [detail, ...(cure === undefined ? [] : [cure])].map(
    (text) => `${' '.repeat(indent)}${printable(text)}`,
  );
  const head = `${paint(look, tones[state], padEnd(state, NAME_COLUMN))}${padEnd(name, width)}`;
  const [first = '', ...rest] = said;
  const lines = isNarrow ? [head.trimEnd(), ...said] : [`${head}${first.slice(indent - 2)}`, ...rest];
  return foldLines(look, `${lines.join('\n')}\n`, indent);
}

function checkNode(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  return major >= LEAST_NODE_MAJOR
    ? { name: 'node', state: 'ok', detail: process.version }
    : {
        name: 'node',
        state: 'broken',
        detail: `${process.version} is too old`,
        cure: `Install Node ${LEAST_NODE_MAJOR} or newer.`,
      };
}

function checkTerminal({ look, showsProgress }: CommandIo): Finding {
  const facts = [
    `${look.width} columns`,
    look.hasColor ? 'colour' : 'no colour',
    look.hasUnicode ? 'Unicode' : 'ASCII only',
    showsProgress ? 'progress' : 'no progress (standard error is not a terminal)',
  ];
  return { name: 'terminal', state: 'ok', detail: facts.join(', ') };
}

async function checkTokenizer(): Promise<Finding> {
  try {
    const { loadTokenizer } = await import('../../../tokens/tokenizer.io.ts');
    const tokens = (await loadTokenizer())('Baton carries agents across compaction.');
    return {
      name: 'tokenizer',
      state: 'ok',
      detail: `o200k counts exactly (a test sentence has ${tokens} tokens)`,
    };
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    return { name: 'tokenizer', state: 'absent', detail: error.message, cure: error.cure };
  }
}

async function checkHome(io: CommandIo): Promise<Finding> {
  const home = batonHome(io);
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return { name: 'home', state: 'ok', detail: `${tildePath(home, io.homeDirectory)} is writable` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      name: 'home',
      state: 'broken',
      detail: `${home} is not writable (${code ?? String(error)})`,
      cure: 'Make it writable, or set BATON_HOME to a writable directory.',
    };
  }
}

/** The finding and the configuration for the other checks: the defaults where it is broken. */
async function checkConfig(
  io: CommandIo,
  request: ConfigRequest,
): Promise<{ readonly config: Config; readonly finding: Finding }> {
  try {
    const { config, origins, warnings } = await loadConfig(request, io);
    const set = origins.size === 0 ? 'defaults, nothing configured' : `${plural(origins.size, 'key')} set`;
    return { config, finding: { name: 'config', state: 'ok', detail: [set, ...warnings].join('; ') } };
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    const finding: Finding = { name: 'config', state: 'broken', detail: error.message, cure: error.cure };
    return { config: DEFAULT_CONFIG, finding };
  }
}

/** Every provider that `--model` can name. Only Ollama is contacted, to list its models. */
async function checkProviders(io: CommandIo, config: Config): Promise<readonly Finding[]> {
  const [{ resolveModelProviders }, { isKeySet, listLocalModels }] = await Promise.all([
    import('../../../config/model-providers.ts'),
    import('../../../providers/choose.io.ts'),
  ]);
  const providers = [...resolveModelProviders(config.modelProviders)];
  return Promise.all(
    providers.map(async ([key, provider]) => {
      const answer =
        key === 'ollama'
          ? reportOllama(await listLocalModels(provider.baseUrl, OLLAMA_DEADLINE_MS))
          : reportKey(key, provider, isKeySet(io.env, provider));
      // Without the path, which may be a secret of a gateway.
      const detail = `${answer.detail} (${new URL(provider.baseUrl).host}, ${provider.wireApi})`;
      return { ...answer, name: `provider ${key}`, detail };
    }),
  );
}

/** Requests never use a proxy that only a variable names. @source docs/decisions/providers.md */
function checkProxy({ env }: CommandIo): readonly Finding[] {
  const set = PROXY_VARIABLES.filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return [];
  const detail = `${set.join(', ')} is ignored: requests go to the provider directly`;
  return [{ name: 'proxy', state: 'absent', detail, cure: 'Name a gateway as base_url of the provider.' }];
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

function reportKey(key: string, { envKey }: ModelProvider, isSet: boolean): Omit<Finding, 'name'> {
  if (envKey === '') return { state: 'ok', detail: 'needs no key' };
  if (isSet) return { state: 'ok', detail: `${envKey} is set` };
  const cure = `Set ${envKey} to use it with --model ${key}/MODEL.`;
  return { state: 'absent', detail: `${envKey} is not set`, cure };
}

function reportOllama(models: readonly string[] | undefined): Omit<Finding, 'name'> {
  if (models === undefined) {
    return { state: 'absent', detail: 'does not answer', cure: 'Start it to use its models.' };
  }
  const [first] = models;
  return first === undefined
    ? { state: 'absent', detail: 'answers, but has no model', cure: 'Pull a model.' }
    : { state: 'ok', detail: `answers with ${plural(models.length, 'model')}, ${first} first` };
}

/** Whether commands can be confined to the workspace: otherwise each needs approval. */
async function checkSandbox(io: CommandIo): Promise<Finding> {
  const { findConfinement } = await import('../../../tools/toolbox.io.ts');
  const { cwd: directory, env, signal } = io;
  const confinement = await findConfinement({ directory, env, platform: process.platform }, signal);
  return confinement.type === 'bubblewrap'
    ? { name: 'sandbox', state: 'ok', detail: `commands are sandboxed by ${confinement.path}` }
    : {
        name: 'sandbox',
        state: 'absent',
        detail: confinement.why,
        cure:
          'Without it, each command needs approval, which `exec` cannot request: install Bubblewrap (bwrap), or use ' +
          '--sandbox danger_full_access.',
      };
}

async function checkSessions(io: CommandIo): Promise<Finding> {
  const sessions = await findSessions(io);
  return sessions.length > 0
    ? {
        name: 'sessions',
        state: 'ok',
        detail: `${plural(sessions.length, 'session')}; \`baton sessions\` lists them`,
      }
    : {
        name: 'sessions',
        state: 'absent',
        detail: 'no sessions of any agent in the usual folders',
      };
}

async function checkBinary(io: CommandIo, name: string, use: string): Promise<Finding> {
  const directories = await programDirectories(io.env['PATH'] ?? '', io.cwd);
  const path = await findProgram(name, directories);
  if (path === undefined) return { name, state: 'absent', detail: `not on PATH. ${use}` };
  const version = await versionOf(path, io);
  return version === undefined
    ? {
        name,
        state: 'broken',
        detail: `${path} does not answer \`--version\` within ${VERSION_DEADLINE_MS / 1000} seconds`,
        cure: 'Run it by hand, and install it again if it fails.',
      }
    : { name, state: 'ok', detail: `${version} (${tildePath(path, io.homeDirectory)})` };
}

/** How much of an answer to keep, in characters: a version is one line. */
const VERSION_CHARACTERS = 1000;

async function versionOf(path: string, io: CommandIo): Promise<string | undefined> {
  let output = '';
  const end = await runProcess(
    {
      command: [path, '--version'],
      cwd: undefined,
      env: programEnvironment(io.env),
      timeoutMs: VERSION_DEADLINE_MS,
      graceMs: 0,
      leftovers: 'kill',
    },
    (chunk, stream) => {
      if (stream === 'stdout') output = (output + chunk.toString('utf8')).slice(0, VERSION_CHARACTERS);
    },
    io.signal,
  );
  return end.type === 'exited' && end.status === 0 ? output.trim().split('\n')[0] : undefined;
}
