// The thread of a command and its environment: streams, terminal, clock. Turns thrown errors into text and status.

import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { WriteStream as TerminalOutput } from 'node:tty';
import { inspect } from 'node:util';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { BatonError } from '../errors.ts';
import { onRemains } from '../system/remains.io.ts';
import { errorJson, exitStatus, explain } from './explain.ts';
import { OutputLost } from './io.ts';
import type { CommandIo, ExitStatus, Look, TerminalLine } from './io.ts';
import { buildProgram } from './program.ts';
import { isTerminalInput, openInput, openOutput } from './standard-streams.io.ts';
import type { CommandStart } from './supervisor.io.ts';
import { foldLines } from './style.ts';
import type { FromTerminal, TerminalStart } from '../tui/channel.ts';
import { wantsColor, wantsUnicode } from './loading/look.ts';
import { terminalText } from '../text/terminal-text.ts';

/** Columns where neither output is a terminal. @source the terminal of 1978, and spec 1-product: 80 × 24. */
const DEFAULT_WIDTH = 80;

/** Runs the command line of this thread and returns its exit status. Nothing here ends the process. */
async function run({ args, version }: CommandStart, stopping: AbortController): Promise<ExitStatus> {
  const output = new Outlet(openOutput(1), () => stopping.abort(new OutputLost()));
  const complaints = new Outlet(openOutput(2));
  const io = processIo(args, stopping.signal, { output, complaints });
  const status = await attempt(io, args, version, output);
  return (await output.flush()) === 'failed' ? explainLostOutput(io, output) : status;
}

async function attempt(
  io: CommandIo,
  args: readonly string[],
  version: string,
  output: Outlet,
): Promise<ExitStatus> {
  try {
    return await buildProgram(io, version).run(args);
  } catch (error) {
    // A reader that went away (`| head`) has enough; the caller reports a failed output once.
    if (output.state !== 'open') return 0;
    return explainFailure(io, args, io.signal.aborted ? interrupted(error) : error);
  }
}

function interrupted(cause: unknown): BatonError {
  // A stopped undo has written files, and lists them.
  if (cause instanceof BatonError && 'putBack' in cause) return cause;
  return new BatonError('interrupted', 'Interrupted', { cure: 'No file was written.', cause });
}

function explainFailure(io: CommandIo, args: readonly string[], error: unknown): ExitStatus {
  if (!(error instanceof BatonError)) {
    // A bug. Node would print it without `terminalText`, and its message may quote anything.
    io.stderr(`${inspect(error)}\n`);
    return 1;
  }
  io.stderr(explain(error));
  if (args.includes('--json')) io.stdout(`${JSON.stringify({ error: errorJson(error) }, null, 2)}\n`);
  return exitStatus(error);
}

function explainLostOutput(io: CommandIo, { failure }: Outlet): ExitStatus {
  const reason = failure?.code === 'ENOSPC' ? 'the disk is full' : (failure?.code ?? String(failure));
  const error = new BatonError('output_failed', `Standard output could not be written: ${reason}`, {
    cure: 'The output is incomplete; run the command again and write it elsewhere.',
  });
  io.stderr(explain(error));
  return exitStatus(error);
}

/** A standard stream that may fail at any time; writes after its first failure are dropped. */
class Outlet {
  readonly #stream: Writable;
  failure: NodeJS.ErrnoException | undefined;

  constructor(stream: Writable, onFailure?: () => void) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.failure ??= error;
      onFailure?.();
    });
  }

  /** `closed`: the reader went away. `failed`: everything else. */
  get state(): 'open' | 'closed' | 'failed' {
    if (this.failure === undefined) return 'open';
    return this.failure.code === 'EPIPE' ? 'closed' : 'failed';
  }

  write(data: string | Uint8Array): void {
    if (this.failure === undefined) this.#stream.write(data);
  }

  /** Output that the reader has not yet consumed, in the unit of each write: characters or bytes. */
  get waiting(): number {
    return this.#stream.writableLength;
  }

  /** Columns of a terminal; undefined for other streams. */
  get columns(): number | undefined {
    return this.#stream instanceof TerminalOutput ? this.#stream.columns : undefined;
  }

  /** Waits until the stream has accepted everything so far, or failed. */
  async flush(): Promise<Outlet['state']> {
    if (this.failure !== undefined) return this.state;
    await new Promise<void>((resolve) => void this.#stream.write('', () => resolve()));
    return this.state;
  }
}

interface Outlets {
  readonly output: Outlet;
  readonly complaints: Outlet;
}

let input: ReturnType<typeof openInput> | undefined;

function standardInput(): ReturnType<typeof openInput> {
  input ??= openInput();
  return input;
}

function processIo(args: readonly string[], signal: AbortSignal, { output, complaints }: Outlets): CommandIo {
  const look = processLook(args, { output, complaints });
  const shown = { seal: look.seal, isTerminal: output.columns !== undefined };
  const told = { seal: look.seal, isTerminal: complaints.columns !== undefined };
  const decoder = new StringDecoder('utf8');
  const lack = terminalLack(shown.isTerminal, isTerminalInput());
  return {
    ...(lack === undefined ? { openTerminal } : {}),
    ...(lack === undefined || lack === 'both' ? {} : { terminalLack: lack }),
    stdout: (text) => output.write(terminalText(text, shown)),
    stderr: (text) => complaints.write(terminalText(folded(text, look, complaints), told)),
    stdoutBytes: async (bytes) => {
      output.write(
        shown.isTerminal ? terminalText(decoder.write(Buffer.from(bytes)), { ...shown, seal: '' }) : bytes,
      );
      await output.flush();
    },
    stdoutWaiting: () => output.waiting,
    // Few commands read it; leaving it unopened leaves its data to the next reader.
    get stdin() {
      return standardInput();
    },
    env: process.env,
    cwd: process.cwd(),
    homeDirectory: homedir(),
    now: () => new Date(),
    clock: { now: () => Date.now() },
    ids: { uuid: () => randomUUID() },
    look,
    showsProgress:
      complaints.columns !== undefined && process.env['TERM'] !== 'dumb' && !args.includes('--json'),
    signal,
  };
}

/** Sentences on a terminal are broken into lines. A progress line, which has no end, fits already. */
function folded(text: string, look: Look, { columns = 0 }: Outlet): string {
  return columns > 0 && text.endsWith('\n')
    ? foldLines({ ...look, width: columns, isPiped: false }, text)
    : text;
}

/** Why the terminal UI cannot be shown; `both`: nobody expects it, as in a script. */
function terminalLack(isOutput: boolean, isInput: boolean): string | undefined {
  if (!isOutput && !isInput) return 'both';
  if (!isOutput) return 'standard output is not one';
  if (!isInput) return 'standard input is not one';
  return process.env['TERM'] === 'dumb' ? 'TERM=dumb says that this one cannot move its cursor' : undefined;
}

/** Asks the main thread to show the terminal UI. */
function openTerminal(start: Omit<TerminalStart, 'port'>): TerminalLine {
  const { port1: port, port2: other } = new MessageChannel();
  const message = { state: 'terminal', start: { ...start, port: other } } as const;
  parentPort?.postMessage(message, [other]);
  const closed = new Promise<void>((resolve) => void port.once('close', resolve));
  return {
    post: (each) => port.postMessage(each),
    onMessage: (take) => void port.on('message', (each: FromTerminal) => take(each)),
    closed,
  };
}

function processLook(args: readonly string[], { output, complaints }: Outlets): Look {
  return {
    hasColor: wantsColor(args, process.env, output.columns !== undefined),
    seal: randomUUID().replaceAll('-', ''),
    hasUnicode: wantsUnicode(process.env),
    width: [output.columns, complaints.columns].find((columns = 0) => columns > 0) ?? DEFAULT_WIDTH,
    isPiped: output.columns === undefined,
  };
}

/** Runs the command for which the main thread started this one, to its end. */
export async function runCommand(): Promise<void> {
  const stopping = new AbortController();
  // There is only one kind of request. Listening does not keep the thread alive.
  parentPort?.on('message', () => stopping.abort()).unref();
  onRemains((announcement) => parentPort?.postMessage(announcement));
  process.exitCode = await run(workerData as CommandStart, stopping);
  // A pending read of standard input would keep the thread alive.
  if (stopping.signal.aborted) input?.destroy();
}
