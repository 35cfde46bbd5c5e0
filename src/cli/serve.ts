// `baton serve`: a thread for a client of any make. Ops come as lines of JSON on standard input, events go as lines of JSON to
// standard output.

import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { SessionEvent } from '../protocol/event.ts';
import type { Op } from '../protocol/op.ts';
import { parseOp } from '../protocol/parse.ts';
import type { Thread } from '../thread/driver.ts';
import type { ApprovalPolicy, SandboxMode } from '../vocabulary.ts';
import { exitStatus, explain } from './explain.ts';
import { OutputLost } from './io.ts';
import type { CommandIo, ExitStatus } from './io.ts';
import { readLines } from './lines.ts';
import type { ReadLine } from './lines.ts';
import { meantRehearsal } from './meant-rehearsal.ts';
import { openSessionModel } from './models.ts';
import { openThreadFor, requirePlaces } from './thread.ts';

/** The options of the command, as the user gave them. */
export interface ServeFlags {
  readonly model?: string;
  readonly sandbox?: SandboxMode;
  readonly approval?: ApprovalPolicy;
  /** A thread id, a path, or `last`. */
  readonly resume?: string;
  readonly cd?: string;
}

/** What the command is run with. */
export interface ServeSurroundings {
  /** Of Baton. */
  readonly version: string;
  /** The configuration as it is in force in a directory. */
  readonly configurationOf: (directory: string) => () => Promise<Config>;
  /** Of `--config`. */
  readonly configFile: string | undefined;
}

/**
 * Serves one thread until it is shut down, its client goes away, or the user stops it. A client that goes away lets what
 * it asked for be done first; nothing more can be asked of it.
 */
export async function serve(
  io: CommandIo,
  { version, configFile, configurationOf }: ServeSurroundings,
  flags: ServeFlags,
): Promise<ExitStatus> {
  const emit = (event: SessionEvent): void => {
    if (isBehind(io) && FOR_DISPLAY.has(event.type)) return;
    io.stdout(`${JSON.stringify(event)}\n`);
  };
  try {
    const directory = resolve(io.cwd, flags.cd ?? '.');
    const configure = configurationOf(directory);
    const readConfig = async (): Promise<Config> => {
      const config = await configure();
      const { sandbox = config.sandboxMode, approval = config.approvalPolicy } = flags;
      return { ...config, sandboxMode: sandbox, approvalPolicy: approval };
    };
    const { resume } = flags;
    await requirePlaces(io, { directory, resume });
    const config = await readConfig();
    requireNoRehearsal(flags.model, config);
    const model = await openSessionModel(io, config, flags.model);
    const wishes = {
      config,
      model,
      playback: undefined,
      resume,
      directory,
      configFile,
      readConfig,
      version,
      emit,
    };
    return await new Service(io, await openThreadFor(io, wishes), emit).run();
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    emit(errorEvent(error));
    io.stderr(explain(error));
    return exitStatus(error);
  }
}

/** Recorded turns are begun by whoever plays them, and a client begins its own. @throws BatonError `usage` where a rehearsal is meant */
function requireNoRehearsal(flag: string | undefined, config: Config): void {
  if (meantRehearsal(flag, config) === undefined) return;
  throw new BatonError('usage', 'A rehearsal takes no ops', {
    cure: 'Play it with baton exec, or name another model with --model PROVIDER/MODEL.',
  });
}

function errorEvent({ code, message, cure }: BatonError): SessionEvent {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  return { type: 'error', code, message: `${sentence} ${cure}`.trim() };
}

/**
 * What may wait for the client while it is heard and shown everything, in characters. @source docs/decisions/ops.md, "A client
 * that does not read"
 */
const MOST_WAITING = 8 * 1024 * 1024;

/** Events that a client can do without. */
const FOR_DISPLAY: ReadonlySet<SessionEvent['type']> = new Set([
  'agent_message_delta',
  'agent_reasoning_delta',
  'exec_command_output_delta',
]);

function isBehind(io: CommandIo): boolean {
  return io.stdoutWaiting() > MOST_WAITING;
}

/** Ops that may be under way together. @source docs/decisions/ops.md, "The queue has an end" */
const MOST_OPS = 1000;

/** How long the client is not heard while so many are, in milliseconds. @source docs/decisions/ops.md, "The queue has an end" */
const LONGEST_WAIT_MS = 1000;

/** Ops that end what is under way, or that it waits for: never refused. */
const AT_ONCE: ReadonlySet<Op['type']> = new Set([
  'interrupt',
  'shutdown',
  'exec_approval',
  'patch_approval',
  'answer_question',
]);

/**
 * Ops of these that are heard from a client which reads none of what it is sent. @source docs/decisions/ops.md, "A client that does
 * not read"
 */
const MOST_UNREAD = 100;

function readOp(line: ReadLine): Op | BatonError {
  if ('problem' in line) return line.problem;
  try {
    return parseOp(line.text);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
}

class Service {
  readonly #io: CommandIo;
  readonly #thread: Thread;
  readonly #emit: (event: SessionEvent) => void;
  readonly #performing = new Set<Promise<void>>();
  /** None of the ops under way has ended since one was refused. */
  #isStuck = false;

  constructor(io: CommandIo, thread: Thread, emit: (event: SessionEvent) => void) {
    this.#io = io;
    this.#thread = thread;
    this.#emit = emit;
  }

  async run(): Promise<ExitStatus> {
    const { signal, stdin } = this.#io;
    const stop = (): void => this.#thread.stop();
    signal.addEventListener('abort', stop);
    try {
      if (await this.#takeOps(readLines(stdin))) return 0;
      if (!signal.aborted) await this.#finish();
      return signal.aborted && !(signal.reason instanceof OutputLost) ? 130 : 0;
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#thread.close();
    }
  }

  /** @returns whether the client has shut the thread down; false at the end of its ops, and when the user stops */
  async #takeOps(lines: AsyncGenerator<ReadLine>): Promise<boolean> {
    const stopped = whenAborted(this.#io.signal);
    for (let unread = 0; ;) {
      const next = await Promise.race([lines.next(), stopped]);
      if (next === undefined || next.done === true) return false;
      const op = readOp(next.value);
      // Each op is answered: a client that sends without reading would fill the memory.
      if (!isBehind(this.#io)) unread = 0;
      else if (op instanceof BatonError || !AT_ONCE.has(op.type) || ++unread > MOST_UNREAD) {
        await Promise.race([this.#io.stdoutBytes(new Uint8Array()), stopped]);
        unread = 0;
      }
      if (await this.#take(op)) {
        // A read that still waits would keep the process alive.
        if ('destroy' in this.#io.stdin) (this.#io.stdin as NodeJS.ReadStream).destroy();
        return true;
      }
    }
  }

  /** @returns whether that was the last one */
  async #take(op: Op | BatonError): Promise<boolean> {
    try {
      if (op instanceof BatonError) throw op;
      if (!AT_ONCE.has(op.type)) await this.#requireRoom();
      const done = this.#thread.perform(op);
      if (op.type === 'shutdown') {
        await done;
        return true;
      }
      this.#performing.add(done);
      void done.finally(() => {
        this.#performing.delete(done);
        this.#isStuck = false;
      });
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      this.#emit(errorEvent(error));
    }
    return false;
  }

  /**
   * Lets the client wait while ops are done, but not for long: behind them may come the one that ends them.
   * @throws BatonError `queue_full`
   */
  async #requireRoom(): Promise<void> {
    if (this.#performing.size < MOST_OPS) return;
    if (!this.#isStuck) {
      const waiting = new AbortController();
      const tooLong = delay(LONGEST_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([...this.#performing, tooLong]);
      waiting.abort();
    }
    if (this.#performing.size < MOST_OPS) return;
    this.#isStuck = true;
    throw new BatonError('queue_full', `${MOST_OPS} ops are under way, and this one was refused`, {
      cure: 'Send it again when some of them are done.',
    });
  }

  /** What was asked for is done; what would have to be asked is turned down. */
  async #finish(): Promise<void> {
    this.#thread.desert();
    await Promise.all(this.#performing);
    // Why the log could not be written was told to the client.
    await this.#thread.rest().catch(() => undefined);
  }
}

async function whenAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return undefined;
  return new Promise((fulfil) => signal.addEventListener('abort', () => fulfil(undefined), { once: true }));
}
