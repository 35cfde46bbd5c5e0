// `baton`: the terminal UI. This thread works; the main thread owns the terminal and is a client like any other.

import { resolve } from 'node:path';
import { batonHome } from '../../../config/load.io.ts';
import { BatonError } from '../../../errors.ts';
import { checkOp } from '../../../protocol/wire/parse.ts';
import type { Op } from '../../../protocol/wire/op.ts';
import type { FromTerminal, ToTerminal } from '../../../tui/channel.ts';
import { isDelta, joined } from '../../../tui/deltas.ts';
import type { Delta } from '../../../tui/deltas.ts';
import { rehearsalPathOf } from '../../configured/rehearsal-flag.ts';
import { openThreadFor } from '../../configured/thread.ts';
import type { CommandIo, ExitStatus, TerminalLine } from '../../io.ts';
import { errorEvent, ThreadHost, threadOpener } from './thread-host.ts';
import type { OpenedThread, Peer, ServeFlags, ServeSurroundings } from './thread-host.ts';

/** The options of the command, as the user gave them. */
export interface UiFlags extends ServeFlags {
  /** Of a rehearsal: 0 for immediately, else how many times faster than recorded. */
  readonly speed?: number;
}

/**
 * Milliseconds for which a delta waits for the next one: about one frame of the terminal. Passing an event to the other thread costs
 * more than drawing it. @source docs/decisions/terminal-ui.md
 */
const JOIN_MS = 30;

/** Times faster than recorded: a session of an hour in a few minutes, slowly enough to follow. */
const REHEARSAL_SPEED = 20;

/**
 * What a rehearsal shows that is offered for want of a model: the first compaction after some 15 seconds, four in less than a minute.
 * `window` in tokens, `speed` in times faster than recorded. @source docs/decisions/rehearsal.md, measured
 */
const OFFERED = { window: 64_000, speed: 12 } as const;

/**
 * Runs the terminal UI until the user leaves.
 * @throws BatonError `usage` without a terminal
 */
export async function runUi(
  io: CommandIo,
  surroundings: ServeSurroundings,
  prompt: string | undefined,
  flags: UiFlags,
): Promise<ExitStatus> {
  if (io.openTerminal === undefined) {
    const lack = io.terminalLack === undefined ? '' : `: ${io.terminalLack}`;
    throw new BatonError('usage', `The terminal UI needs a terminal${lack}`, {
      cure: 'Run one message with `baton exec PROMPT`, or serve a client with `baton serve`.',
    });
  }
  const line = io.openTerminal({
    version: surroundings.version,
    cwd: resolve(io.cwd, flags.cd ?? '.'),
    homeDirectory: io.homeDirectory,
    batonHome: batonHome(io),
    env: { ...io.env },
    hasColor: io.look.hasColor,
    hasUnicode: io.look.hasUnicode,
    prompt,
    isResumed: flags.resume !== undefined,
  });
  // The terminal is the other thread's: what would be printed becomes a warning there.
  const quiet: CommandIo = {
    ...io,
    stderr: (text) => line.post({ type: 'event', event: { type: 'warning', message: plainWarning(text) } }),
  };
  try {
    return await new UiRun(quiet, surroundings, flags, line).run();
  } finally {
    line.post({ type: 'end' });
    // Only then may this thread print again, for example why it failed.
    await line.closed;
  }
}

/** `baton: warning: …\n` without what the terminal says itself. */
function plainWarning(text: string): string {
  return text.trim().replace(/^baton: (?:warning: )?/, '');
}

class UiRun {
  readonly #io: CommandIo;
  readonly #surroundings: ServeSurroundings;
  readonly #flags: UiFlags;
  readonly #line: TerminalLine;
  /** Messages of the terminal that nobody has taken yet. */
  readonly #waiting: FromTerminal[] = [];
  #wake: () => void = () => undefined;
  #isOver = false;
  /** A delta that waits for the next one. */
  #held: Delta | undefined;
  #flushing: NodeJS.Timeout | undefined;

  constructor(io: CommandIo, surroundings: ServeSurroundings, flags: UiFlags, line: TerminalLine) {
    this.#io = io;
    this.#surroundings = surroundings;
    this.#flags = flags;
    this.#line = line;
    line.onMessage((message) => {
      this.#waiting.push(message);
      this.#wake();
    });
    void line.closed.then(() => this.#end());
  }

  async run(): Promise<ExitStatus> {
    const emit: Peer['emit'] = (event) => this.#post({ type: 'event', event });
    const open = threadOpener(this.#io, this.#surroundings, this.#flags, emit);
    const first = await this.#openFirst(open, emit);
    if (first === undefined) return 0;
    const peer: Peer = {
      ops: this.#ops(),
      emit,
      isBehind: () => false,
      drained: () => Promise.resolve(),
      close: () => this.#end(),
    };
    void first.play?.();
    const status = await new ThreadHost(this.#io, first.thread, { peer, open }).run();
    return status === 130 && this.#isOver ? 0 : status;
  }

  #post(message: ToTerminal): void {
    if (message.type === 'event' && isDelta(message.event)) return this.#hold(message.event);
    this.#flush();
    this.#line.post(message);
  }

  #hold(delta: Delta): void {
    const both = this.#held === undefined ? delta : joined(this.#held, delta);
    if (both === undefined) this.#flush();
    this.#held = both ?? delta;
    this.#flushing ??= setTimeout(() => this.#flush(), JOIN_MS);
  }

  /** Events keep their order: nothing overtakes a delta. */
  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    if (this.#held !== undefined) this.#line.post({ type: 'event', event: this.#held });
    this.#held = undefined;
  }

  #end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The next message of the terminal; undefined when it is closed. */
  async #next(): Promise<FromTerminal | undefined> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) return message;
      if (this.#isOver) return undefined;
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }

  async *#ops(): AsyncGenerator<Op | BatonError> {
    for (let message = await this.#next(); message !== undefined; message = await this.#next()) {
      if (message.type === 'leave') return;
      if (message.type !== 'op') continue;
      try {
        yield checkOp(message.op);
      } catch (error) {
        if (!(error instanceof BatonError)) throw error;
        yield error;
      }
    }
  }

  /** @returns undefined if the user left before there was a thread */
  async #openFirst(
    open: ReturnType<typeof threadOpener>,
    emit: Peer['emit'],
  ): Promise<{ readonly thread: OpenedThread; readonly play?: () => Promise<void> } | undefined> {
    const { model, resume } = this.#flags;
    const directory = resolve(this.#io.cwd, this.#flags.cd ?? '.');
    const config = await this.#surroundings.configurationOf(directory)();
    const meant = rehearsalPathOf(model, config);
    if (meant !== undefined) return this.#rehearse(meant.file, emit);
    try {
      return { thread: await open(resume === undefined ? {} : { resume }) };
    } catch (error) {
      if (!(error instanceof BatonError) || error.code !== 'model_missing') throw error;
      this.#post({ type: 'no_model', why: error.message, cure: error.cure });
      // A message typed meanwhile has no thread to go to; the terminal keeps it.
      for (let message = await this.#next(); ; message = await this.#next()) {
        if (message === undefined || message.type === 'leave') return undefined;
        if (message.type === 'rehearse') return this.#rehearse(undefined, emit, OFFERED);
        emit(errorEvent(error));
      }
    }
  }

  async #rehearse(
    file: string | undefined,
    emit: Peer['emit'],
    offered?: typeof OFFERED,
  ): Promise<{ readonly thread: OpenedThread; readonly play: () => Promise<void> }> {
    const { openRehearsal } = await import('./rehearsal.ts');
    const { version, configFile, configurationOf } = this.#surroundings;
    const readOwn = configurationOf(this.#io.cwd);
    const readConfig: typeof readOwn = async () => {
      const own = await readOwn();
      const { modelContextWindow = offered?.window } = own;
      return modelContextWindow === undefined ? own : { ...own, modelContextWindow };
    };
    const config = await readConfig();
    const { speed = offered?.speed ?? REHEARSAL_SPEED, resume } = this.#flags;
    const opened = await openRehearsal(this.#io, config, { file, speed });
    const thread = await openThreadFor(this.#io, {
      config,
      model: opened.model,
      playback: opened.rehearsal,
      resume,
      directory: opened.directory,
      configFile,
      readConfig,
      version,
      emit,
    });
    emit({ type: 'warning', message: opened.banner });
    const play = async (): Promise<void> => {
      try {
        await thread.rest();
        for (const turn of opened.rehearsal.turns()) {
          if (this.#isOver) return;
          const { ending } = await thread.turn(turn);
          if (ending.type !== 'complete') {
            emit({ type: 'background_event', surface: 'info', message: 'The rehearsal has stopped.' });
            return;
          }
        }
        emit({ type: 'background_event', surface: 'info', message: 'The rehearsal is over.' });
      } catch (error) {
        if (!(error instanceof BatonError)) throw error;
        emit(errorEvent(error));
      }
    };
    return { thread: { thread, directory: opened.directory }, play };
  }
}
