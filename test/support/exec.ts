// `baton exec` as a stranger runs it: the built program in a repository of its own, against a provider on the loopback.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Item, JsonObject } from '../../src/protocol/item.ts';
import { parseEvent } from '../../src/protocol/wire/parse.ts';
import type { WireApi } from '../../src/vocabulary.ts';
import { runBuilt } from './built.ts';
import type { Ended, World } from './built.ts';
import type { Recorded } from './provider-server/server.ts';
import { readSessionFile } from './read-format.ts';

/** A key that no output may ever hold. */
export const EXEC_KEY = 'sk-loopback-exec-0123456789';

/** What differs from run to run. */
export type ExecWorld = Partial<Omit<World, 'home'>> & {
  /** Of the provider; `model_context_window`. */
  readonly window?: number;
  /** Without `--model`. */
  readonly isModelOpen?: boolean;
};

/** A user with a repository. */
export class ExecFixture {
  readonly home: string;
  readonly work: string;
  readonly #baseUrl: string;

  /** @param root where its home is made */
  constructor(root: string, baseUrl: string, files: Readonly<Record<string, string>> = {}) {
    this.home = mkdtempSync(join(root, 'fixture-'));
    this.work = join(this.home, 'work');
    this.#baseUrl = baseUrl;
    mkdirSync(join(this.home, '.baton'), { recursive: true });
    mkdirSync(this.work);
    execFileSync('git', ['init', '-q', '-b', 'main', this.work], {
      env: { ...process.env, HOME: this.home },
    });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.work, path)), { recursive: true });
      writeFileSync(join(this.work, path), text);
    }
    this.configure('');
  }

  /** Writes the user's configuration: the providers `lab-WIRE`, and what else is said. */
  configure(more: string, { idleTimeoutMs = 1500 }: { readonly idleTimeoutMs?: number } = {}): void {
    const tables = (['responses', 'chat', 'anthropic'] as const).map(
      (wire) => `[model_providers.lab-${wire}]
base_url = ${JSON.stringify(this.#baseUrl)}
wire_api = "${wire}"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = ${idleTimeoutMs}
`,
    );
    writeFileSync(join(this.home, '.baton/config.toml'), `${more}\n${tables.join('\n')}`);
  }

  /** Runs `baton exec ARGS…` in the repository, with commands unconfined unless told otherwise. */
  exec(wire: WireApi, args: readonly string[], world: ExecWorld = {}): Promise<Ended> {
    return this.#run('exec', wire, args, world);
  }

  /** Runs `baton serve ARGS…` in the same way. */
  serve(wire: WireApi, args: readonly string[], world: ExecWorld = {}): Promise<Ended> {
    return this.#run('serve', wire, args, world);
  }

  #run(
    command: 'exec' | 'serve',
    wire: WireApi,
    args: readonly string[],
    { window = 100_000, isModelOpen = false, ...world }: ExecWorld,
  ): Promise<Ended> {
    const hasSandbox = args.some((arg) => arg === '--sandbox');
    const all = [
      '-c',
      `model_context_window=${window}`,
      '-c',
      `model=${MODELS[wire]}`,
      '-c',
      `model_provider=lab-${wire}`,
      command,
      '-C',
      this.work,
      ...(isModelOpen ? [] : ['--model', `lab-${wire}`]),
      ...(hasSandbox ? [] : ['--sandbox', 'danger_full_access']),
      ...args,
    ];
    return runBuilt(all, { home: this.home, ...world, env: { LAB_KEY: EXEC_KEY, ...world.env } });
  }

  /** The rollouts of this home, oldest first by name. */
  rollouts(): readonly string[] {
    const sessions = join(this.home, '.baton/sessions');
    if (!existsSync(sessions)) return [];
    return readdirSync(sessions, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(sessions, name))
      .toSorted();
  }

  /** What is left of locks, which must be nothing when no program runs. */
  locks(): readonly string[] {
    const sessions = join(this.home, '.baton/sessions');
    if (!existsSync(sessions)) return [];
    return readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('.lock'),
    );
  }

  /** The items of the only rollout. */
  async items(): Promise<readonly Item[]> {
    const [path = ''] = this.rollouts();
    const { records } = await readSessionFile(path);
    return records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  }

  read(path: string): string {
    return readFileSync(join(this.work, path), 'utf8');
  }
}

/** A model whose window is known, by wire. */
const MODELS: Readonly<Record<WireApi, string>> = {
  responses: 'gpt-5.1',
  chat: 'local-model',
  anthropic: 'claude-sonnet-4-5',
};

/** The events of `--json`. @throws for a line that is none, by the schema of the protocol */
export function eventsOf({ stdout }: Pick<Ended, 'stdout'>): readonly SessionEvent[] {
  if (stdout !== '' && !stdout.endsWith('\n')) throw new SyntaxError('the last line is not whole');
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const event = parseEvent(line);
      if (event.type === 'unknown') throw new SyntaxError(`no event: ${line}`);
      return event;
    });
}

/** What a request says, in the order in which the model reads it. */
export function messagesOf({ body }: Recorded): readonly JsonObject[] {
  return (body['input'] ?? body['messages'] ?? []) as readonly JsonObject[];
}
