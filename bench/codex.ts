// The real Codex as a process that lives: its app server, a thread for each history, and one compaction of it at a time.

import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Item } from '../src/protocol/item.ts';
import { codexConfig } from '../test/agents/codex.ts';
import { ROOT } from './session-files.ts';

/** The command line of Codex, which `npm run bench` installs with the peers. */
export const CODEX = join(ROOT, 'bench', 'node_modules', '@openai', 'codex', 'bin', 'codex.js');

const SETTLES_MS = 100;

/** What one compaction took, in milliseconds: of time that passes, and of the processor over all its processes. */
export interface Took {
  readonly passing: number;
  readonly processor: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly thread?: { readonly id: string } };
  readonly error?: unknown;
  readonly params?: { readonly threadId?: string; readonly item?: { readonly type?: string } };
}

/** Codex's app server on a provider of the loopback. */
export class CodexServer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #project: string;
  readonly #heard = new Set<(message: Message) => void>();
  #nextId = 1;

  private constructor(folder: string, origin: string) {
    const home = join(folder, 'codex');
    this.#project = join(folder, 'project');
    mkdirSync(home);
    mkdirSync(this.#project, { recursive: true });
    // A window that no history here fills, so that nothing is compacted but on request.
    const windows = 'model_context_window = 4000000\nmodel_auto_compact_token_limit = 3500000\n';
    writeFileSync(join(home, 'config.toml'), windows + codexConfig(origin));
    this.#child = spawn(process.execPath, [CODEX, 'app-server'], {
      cwd: this.#project,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        CODEX_HOME: home,
        LOOPBACK_KEY: 'none',
        CODEX_API_KEY: 'none',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as Message;
      for (const hear of this.#heard) hear(message);
    });
  }

  /** Starts one; undefined where Codex is not installed or Linux does not tell what a process took. */
  static async start(folder: string, origin: string): Promise<CodexServer | undefined> {
    if (!existsSync(CODEX) || !existsSync('/proc/self/task')) return undefined;
    const server = new CodexServer(folder, origin);
    const clientInfo = { name: 'bench', title: 'Bench', version: '0' };
    await server.#ask('initialize', { clientInfo, capabilities: { experimentalApi: false } });
    server.#send({ method: 'initialized' });
    return server;
  }

  /** Compacts a history once: it is put into a thread of its own, and only the compaction is timed. */
  async compact(history: readonly Item[]): Promise<Took> {
    const started = await this.#ask('thread/start', { cwd: this.#project });
    const threadId = started.result?.thread?.id ?? '';
    await this.#ask('thread/inject_items', { threadId, items: history });
    // What it still writes of the history is no part of the compaction.
    await setTimeout(SETTLES_MS);
    const isOver = this.#next(
      ({ method, params }) =>
        method === 'item/completed' &&
        params?.threadId === threadId &&
        params.item?.type === 'contextCompaction',
    );
    const processor = processorOf(this.#child.pid ?? 0);
    const before = performance.now();
    void this.#ask('thread/compact/start', { threadId });
    await isOver;
    const passing = performance.now() - before;
    return { passing, processor: processorOf(this.#child.pid ?? 0) - processor };
  }

  stop(): void {
    this.#child.stdin.end();
    this.#child.kill();
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async #ask(method: string, params: object): Promise<Message> {
    const id = this.#nextId++;
    const answer = this.#next((message) => message.id === id);
    this.#send({ id, method, params });
    const message = await answer;
    if (message.error !== undefined) throw new Error(`${method}: ${JSON.stringify(message.error)}`);
    return message;
  }

  #next(isWanted: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const end = (status: number | null): void => reject(new Error(`Codex ended with ${status}`));
      this.#child.once('exit', end);
      const hear = (message: Message): void => {
        if (!isWanted(message)) return;
        this.#heard.delete(hear);
        this.#child.off('exit', end);
        resolve(message);
      };
      this.#heard.add(hear);
    });
  }
}

/**
 * Milliseconds of the processor that a process and its children took so far, threads that have ended aside.
 * @source Linux, Documentation/scheduler/sched-stats: the first number is in nanoseconds
 */
function processorOf(pid: number): number {
  let nanoseconds = 0;
  let children = '';
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const place = `/proc/${pid}/task/${thread}`;
    try {
      nanoseconds += Number(readFileSync(`${place}/schedstat`, 'utf8').split(' ')[0]);
      children += ` ${readFileSync(`${place}/children`, 'utf8')}`;
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = children.split(/\s+/).filter((each) => each !== '');
  return below.reduce((sum, each) => sum + processorOf(Number(each)), nanoseconds / 1e6);
}
