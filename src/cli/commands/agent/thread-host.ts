// The threads of one process and their client: ops are taken in order and performed side by side; events leave as they come.

import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSessionModel } from '../../../calls/models.ts';
import type { Config } from '../../../config/schema.ts';
import { BatonError } from '../../../errors.ts';
import type { SessionEvent } from '../../../protocol/wire/event.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import type { Thread } from '../../../thread/terms.ts';
import type { ThreadBeginning } from '../../../thread/terms.ts';
import type { ApprovalPolicy, SandboxMode } from '../../../vocabulary.ts';
import { openThreadFor, requireNoRehearsal, requirePlaces } from '../../configured/thread.ts';
import { OutputLost } from '../../io.ts';
import type { CommandIo, ExitStatus } from '../../io.ts';
import { listOwnSessions } from '../../session-files/own-sessions.ts';
import { modelWorld } from '../../session-files/session.ts';

/** The options of the command, as the user gave them. */
export interface ServeFlags {
  readonly model?: string;
  readonly sandbox?: SandboxMode;
  readonly approval?: ApprovalPolicy;
  /** A thread id, a path, or `last`. */
  readonly resume?: string;
  readonly cd?: string;
}

/** The environment of the command. */
export interface ServeSurroundings {
  /** The version of Baton. */
  readonly version: string;
  /** Returns a reader for the current configuration of a directory. */
  readonly configurationOf: (directory: string) => () => Promise<Config>;
  /** The file of `--config`. */
  readonly configFile: string | undefined;
}

/** The client of a host. */
export interface Peer {
  /** Its ops, as they arrive; an op that cannot be read is an error. Ends when the client is gone. */
  readonly ops: AsyncGenerator<Op | BatonError>;
  readonly emit: (event: SessionEvent) => void;
  /** Whether the client does not read what it is sent. */
  readonly isBehind: () => boolean;
  /** Resolves when the client has read everything, or is gone. */
  readonly drained: () => Promise<void>;
  /** Ends `ops`: nothing more is wanted of the client. */
  readonly close: () => void;
}

/** A request to open another thread. */
export interface ThreadRequest {
  readonly resume?: string;
  /** Absent: the directory of the command. */
  readonly cwd?: string;
  /** Absent: the model of the command. */
  readonly model?: string;
  readonly fork?: string;
  readonly beginning?: ThreadBeginning;
}

/** A thread and its working directory. */
export interface OpenedThread {
  readonly thread: Thread;
  readonly directory: string;
}

/** @throws BatonError as `openThread`, and for a model that is unavailable */
export type OpenAnother = (wanted: ThreadRequest) => Promise<OpenedThread>;

/** How a command opens threads, with its flags over the configuration of each directory. */
export function threadOpener(
  io: CommandIo,
  { version, configFile, configurationOf }: ServeSurroundings,
  flags: ServeFlags,
  emit: (event: SessionEvent) => void,
): OpenAnother {
  return async ({ cwd = flags.cd ?? '.', resume, model: wanted = flags.model, ...more }) => {
    const directory = resolve(io.cwd, cwd);
    const configure = configurationOf(directory);
    const readConfig = async (): Promise<Config> => {
      const config = await configure();
      const { sandbox = config.sandboxMode, approval = config.approvalPolicy } = flags;
      return { ...config, sandboxMode: sandbox, approvalPolicy: approval };
    };
    await requirePlaces(io, { directory, resume });
    const config = await readConfig();
    requireNoRehearsal(wanted, config);
    const model = await openSessionModel(modelWorld(io), config, wanted);
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
      keepsModel: wanted === undefined || more.fork !== undefined,
    };
    return { thread: await openThreadFor(io, { ...wishes, ...more }), directory };
  };
}

export function errorEvent(error: BatonError): SessionEvent {
  return { type: 'error', ...errorOf(error) };
}

function errorOf({ code, message, cure }: BatonError): { readonly code: string; readonly message: string } {
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  return { code, message: `${sentence} ${cure}`.trim() };
}

/** Maximum number of threads in one process. @source docs/decisions/ops.md, "Several threads" */
const MOST_THREADS = 32;

function tooManyThreads(): BatonError {
  return new BatonError('queue_full', `${MOST_THREADS} threads are open in this process`, {
    cure: 'Shut one down, or start another process.',
  });
}

/** Maximum number of ops under way. @source docs/decisions/ops.md, "The queue has an end" */
const MOST_OPS = 1000;

/** How long Baton stops reading ops at that maximum, in milliseconds. @source docs/decisions/ops.md, "The queue has an end" */
const LONGEST_WAIT_MS = 1000;

/** Ops that end running work, or that it waits for: never refused. */
const AT_ONCE: ReadonlySet<Op['type']> = new Set([
  'interrupt',
  'shutdown',
  'exec_approval',
  'patch_approval',
  'answer_question',
]);

/**
 * How many of these ops Baton accepts from a client that does not read its output. @source docs/decisions/ops.md, "A client that
 * does not read"
 */
const MOST_UNREAD = 100;

export class ThreadHost {
  readonly #io: CommandIo;
  /** By id, in opening order. */
  readonly #threads = new Map<string, OpenedThread>();
  /** The thread for ops without a thread id. */
  readonly #first: string;
  readonly #peer: Peer;
  readonly #open: OpenAnother;
  readonly #performing = new Set<Promise<void>>();
  /** Number of threads being opened. */
  #opening = 0;
  /** No op under way has ended since one was refused. */
  #isStuck = false;

  constructor(
    io: CommandIo,
    first: OpenedThread,
    { peer, open }: { readonly peer: Peer; readonly open: OpenAnother },
  ) {
    this.#io = io;
    this.#first = first.thread.id;
    this.#threads.set(first.thread.id, first);
    this.#peer = peer;
    this.#open = open;
  }

  async run(): Promise<ExitStatus> {
    const { signal } = this.#io;
    // Each thread adds a listener.
    setMaxListeners(0, signal);
    const stop = (): void => {
      for (const { thread } of this.#threads.values()) thread.stop();
    };
    signal.addEventListener('abort', stop);
    try {
      if (await this.#takeOps()) return 0;
      if (!signal.aborted) await this.#finish();
      return signal.aborted && !(signal.reason instanceof OutputLost) ? 130 : 0;
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#closeAll();
      // Threads that were opening or shutting down when the user stopped the command.
      await Promise.all(this.#performing);
      await this.#closeAll();
    }
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#threads.values()].map(({ thread }) => thread.close()));
  }

  /**
   * @returns whether the client has shut down the last thread; false at the end of its ops, and when the user stops the command
   */
  async #takeOps(): Promise<boolean> {
    const peer = this.#peer;
    const stopped = whenAborted(this.#io.signal);
    for (let unread = 0; ;) {
      const next = await Promise.race([peer.ops.next(), stopped]);
      if (next === undefined || next.done === true) return false;
      const op = next.value;
      // Each op gets an answer: a client that sends without reading would fill the memory.
      if (!peer.isBehind()) unread = 0;
      else if (op instanceof BatonError || !AT_ONCE.has(op.type) || ++unread > MOST_UNREAD) {
        await Promise.race([peer.drained(), stopped]);
        unread = 0;
      }
      if (await this.#take(op)) {
        peer.close();
        return true;
      }
    }
  }

  /** @returns whether that was the last op */
  async #take(op: Op | BatonError): Promise<boolean> {
    try {
      if (op instanceof BatonError) throw op;
      if (!AT_ONCE.has(op.type)) await this.#requireRoom();
      if (op.type === 'shutdown') return await this.#shutDown(op);
      this.#follow(this.#perform(op));
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      this.#peer.emit(errorEvent(error));
    }
    return false;
  }

  #follow(done: Promise<void>): void {
    this.#performing.add(done);
    void done.finally(() => {
      this.#performing.delete(done);
      this.#isStuck = false;
    });
  }

  /** @returns whether that was the last thread */
  async #shutDown(op: Extract<Op, { type: 'shutdown' }>): Promise<boolean> {
    const { thread } = this.#threadOf(op);
    const isLast = this.#threads.size === 1 && this.#opening === 0;
    // It accepts no further ops; other threads continue meanwhile.
    if (!isLast) this.#threads.delete(thread.id);
    const done = thread.perform(op);
    if (isLast) await Promise.all([done, ...this.#performing]);
    else this.#follow(done);
    return isLast;
  }

  /** @throws BatonError `op_invalid` where no such thread is open */
  #threadOf({ thread_id: id = this.#first }: Op): OpenedThread {
    const found = this.#threads.get(id);
    if (found !== undefined) return found;
    throw new BatonError('op_invalid', `The thread ${JSON.stringify(id)} is not open in this process`, {
      cure: `Name an open one in thread_id: ${[...this.#threads.keys()].join(', ')}.`,
      data: { key: 'thread_id' },
    });
  }

  #perform(op: Op): Promise<void> {
    switch (op.type) {
      case 'open_thread': {
        const { resume, cwd, model } = op;
        const wanted = {
          ...(resume === undefined ? {} : { resume }),
          ...(cwd === undefined ? {} : { cwd }),
          ...(model === undefined ? {} : { model }),
        };
        const how = resume === undefined ? 'new' : 'resumed';
        return this.#openFor(op, { how, from: null }, () => Promise.resolve(wanted));
      }
      case 'fork': {
        const { thread, directory } = this.#threadOf(op);
        return this.#openFor(op, { how: 'forked', from: thread.id }, async () => {
          await thread.settle();
          return { cwd: directory, fork: thread.id };
        });
      }
      case 'handoff': {
        const { thread, directory } = this.#threadOf(op);
        return this.#openFor(op, { how: 'handed_off', from: thread.id }, async () => {
          await thread.settle();
          return { cwd: directory, beginning: await thread.handOver() };
        });
      }
      case 'sessions':
        return this.#listSessions(op.newest);
      default:
        return this.#threadOf(op).thread.perform(op);
    }
  }

  /** A thread that cannot be opened is reported and does not affect the others. */
  async #openFor(
    { request_id: requestId }: { readonly request_id?: string },
    origin: Pick<Extract<SessionEvent, { type: 'thread_opened' }>, 'how' | 'from'>,
    wanted: () => Promise<ThreadRequest>,
  ): Promise<void> {
    this.#opening++;
    const answers = requestId ?? null;
    try {
      if (this.#threads.size + this.#opening > MOST_THREADS) throw tooManyThreads();
      const opened = await this.#open(await wanted());
      const { id } = opened.thread;
      this.#threads.set(id, opened);
      if (this.#io.signal.aborted) opened.thread.stop();
      this.#peer.emit({ type: 'thread_opened', thread_id: id, request_id: answers, ...origin });
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      const { code, message } = errorOf(error);
      this.#peer.emit({ type: 'thread_failed', request_id: answers, code, message });
    } finally {
      this.#opening--;
    }
  }

  async #listSessions(newest: number | undefined): Promise<void> {
    try {
      this.#peer.emit(await listOwnSessions(this.#io, newest, new Set(this.#threads.keys())));
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      this.#peer.emit(errorEvent(error));
    }
  }

  /**
   * Delays the client while ops are under way, but only briefly: the next op may be the one that ends them.
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
    throw new BatonError('queue_full', `${MOST_OPS} ops are in progress, and this one was refused`, {
      cure: 'Send it again when some of them have ended.',
    });
  }

  /** Finishes the ops under way; rejects requests for approval. */
  async #finish(): Promise<void> {
    for (const { thread } of this.#threads.values()) thread.desert();
    while (this.#performing.size > 0) await Promise.all(this.#performing);
    const opened = [...this.#threads.values()];
    // The client has already received the reason if the log could not be written.
    await Promise.all(opened.map(({ thread }) => thread.rest().catch(() => undefined)));
  }
}

async function whenAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return undefined;
  return new Promise((fulfil) => signal.addEventListener('abort', () => fulfil(undefined), { once: true }));
}
