// The main thread: it handles signals while another thread works, so that even long work cannot keep the process alive. It loads
// only this file.

import { rm, write } from 'node:fs';
import { Worker, SHARE_ENV } from 'node:worker_threads';
import type { Announcement, Remains } from '../system/remains.io.ts';
import { isPlainUi } from './loading/plain-ui.ts';
import type { Port, TerminalStart } from '../tui/channel.ts';

/** Signals that end a command early. A closed terminal sends SIGHUP; all three leave nothing behind. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/** Exit status of a command that the user stopped. */
const INTERRUPTED = 130;

/**
 * Milliseconds that a command has to stop. @source docs/decisions/stopping.md: a shell command may take 600 to tidy up, and a
 * signal ends the process within a second.
 */
const STOP_MS = 700;

/** Milliseconds that the thread then has to end, before the supervisor ends the process. */
const END_MS = 250;

/**
 * Megabytes for new objects in the working thread of the terminal UI: a thread that works for a day in small steps needs few, and
 * Node's 48 stay filled. @source docs/decisions/terminal-ui.md
 */
const UI_YOUNG_MB = 4;

/** The start data of the working thread. */
export interface CommandStart {
  readonly args: readonly string[];
  readonly version: string;
}

/** The working thread's request to show the terminal UI. */
export interface OpenTerminal {
  readonly state: 'terminal';
  readonly start: TerminalStart;
}

/** The terminal UI, while it is shown. */
export interface ShownTerminal {
  /** Gives the terminal back, at once. */
  readonly close: () => void;
}

/** The terminal UI before the other thread has asked for it. */
export interface EarlyTerminal extends ShownTerminal {
  /** Joins it with the thread that works. */
  readonly attach: (port: Port) => void;
}

/** The module with the terminal UI, loaded when it is wanted. */
export interface TerminalModule {
  readonly showTerminal: (start: TerminalStart) => ShownTerminal;
  /** Only in the built program. */
  readonly showEarly?: (start: CommandStart) => EarlyTerminal | undefined;
}

/** A request from the main thread to the working thread. */
export type Request = 'stop';

/**
 * Runs a command line in a separate thread. The exit status is set once that thread has ended.
 * @param terminal the module with the terminal UI
 */
export function supervise(entry: URL, terminal: URL, start: CommandStart): void {
  if (!hasDirectory()) {
    refuseDirectory(start);
    return;
  }
  const worker = new Worker(entry, {
    workerData: start,
    env: SHARE_ENV,
    stdout: true,
    stderr: true,
    ...(isPlainUi(start.args) ? { resourceLimits: { maxYoungGenerationSizeMb: UI_YOUNG_MB } } : {}),
  });
  // Only Node's own warnings arrive here. If Node passed them on, each start would open the main thread's streams, which takes 5
  // ms.
  worker.stderr.on('data', (text: Uint8Array) => void print(text));
  const remains = new Map<string | number, Remains>();
  let shown: ShownTerminal | undefined;
  let [isEnding, isOver] = [false, false];
  const load = (): Promise<TerminalModule> => import(terminal.href) as Promise<TerminalModule>;
  const early = isPlainUi(start.args)
    ? load().then(({ showEarly }) => {
        const opened = isOver ? undefined : showEarly?.(start);
        shown = opened;
        return opened;
      })
    : Promise.resolve(undefined);
  const end = (signal: StopSignal): void => {
    if (isEnding) return;
    isEnding = true;
    shown?.close();
    setTimeout(() => endProcess(signal), END_MS);
    void Promise.all([worker.terminate(), clearAway(remains.values()), explainEnd(remains.values())]).then(
      () => process.exit(INTERRUPTED),
    );
  };
  let deadline: NodeJS.Timeout | undefined;
  const listen = (signal: StopSignal): void => {
    if (deadline !== undefined) return end(signal);
    shown?.close();
    worker.postMessage('stop' satisfies Request);
    deadline = setTimeout(end, STOP_MS, signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, listen);
  worker.on('message', (message: Announcement | OpenTerminal) => {
    if (message.state === 'terminal') {
      void early.then(async (opened) => {
        if (opened !== undefined) return opened.attach(message.start.port);
        shown = (await load()).showTerminal(message.start);
      });
      return;
    }
    const { state, remains: what } = message;
    const key = keyOf(what);
    if (state === 'begun') remains.set(key, what);
    else remains.delete(key);
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    shown?.close();
    void clearAway(remains.values());
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    const cure = 'Give it more: NODE_OPTIONS=--max-old-space-size=MEGABYTES.';
    void print(`baton: Baton ran out of memory. ${cure} [out_of_memory]\n`);
  });
  worker.on('exit', (status) => {
    isOver = true;
    shown?.close();
    if (isEnding) return;
    clearTimeout(deadline);
    for (const signal of STOP_SIGNALS) process.removeListener(signal, listen);
    process.exitCode = status;
    // A terminal that takes no output would keep a stopped process alive.
    if (deadline !== undefined) setTimeout(() => process.exit(), END_MS).unref();
  });
}

/** Whether the working directory still exists. Node cannot start a thread without one. */
function hasDirectory(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

function refuseDirectory({ args }: CommandStart): void {
  const code = 'file_not_found';
  const message = 'The working directory no longer exists';
  const cure = 'Change to another one with cd.';
  void print(`baton: ${message}. ${cure} [${code}]\n`);
  if (args.includes('--json'))
    void print(`${JSON.stringify({ error: { code, message, cure, data: {} } }, null, 2)}\n`, 1);
  process.exitCode = 1;
}

/** Ends the processes that the thread started and removes what it did not finish. */
async function clearAway(remains: Iterable<Remains>): Promise<void> {
  await Promise.all(
    [...remains].map((each) => {
      if (each.type === 'session') return undefined;
      if (each.type === 'group') return killGroup(each.pid);
      return new Promise<void>((resolve) => rm(each.path, { force: true }, () => resolve()));
    }),
  );
}

function keyOf(remains: Remains): string | number {
  if (remains.type === 'group') return remains.pid;
  return remains.type === 'file' ? remains.path : remains.type;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

async function explainEnd(remains: Iterable<Remains>): Promise<void> {
  const cures = [...remains].flatMap((each) => (each.type === 'session' ? [` ${each.cure}`] : []));
  await print(`baton: Interrupted. The command was cut short.${cures.join('')} [interrupted]\n`);
}

/** Never blocks: a full pipe or a stopped terminal must not keep the process alive. */
async function print(text: string | Uint8Array, descriptor: 1 | 2 = 2): Promise<void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return new Promise((resolve) => write(descriptor, bytes, () => resolve()));
}

/** The signal's default action ends the process even if a thread is inside a system call or V8. */
function endProcess(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.kill(process.pid, 'SIGKILL');
}
