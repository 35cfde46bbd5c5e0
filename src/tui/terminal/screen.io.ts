// The terminal itself: its modes, its size, its bytes. Whatever ends Baton, the terminal becomes what it was.

import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { ReadStream, WriteStream } from 'node:tty';
import { guardTerminal } from './guard.io.ts';
import type { Guard } from './guard.io.ts';

const ESC = '\u001B';

/**
 * Bracketed paste, focus reports, and keys that would otherwise be ambiguous, where the terminal knows them.
 * @source Kitty's keyboard protocol, level 1; xterm's modes 2004 and 1004
 */
const ENTER = `${ESC}[?2004h${ESC}[?1004h${ESC}[>1u`;
const LEAVE = `${ESC}[?2026l${ESC}[<u${ESC}[?1004l${ESC}[?2004l${ESC}[?7h${ESC}[?25h${ESC}[0m`;
/** The second screen, which keeps the first one and its scrollback as they are. */
const ENTER_PAGE = `${ESC}[?1049h${ESC}[2J${ESC}[H`;
const LEAVE_PAGE = `${ESC}[?1049l`;

/**
 * Milliseconds after which a stopped job would no longer run. In a job that no shell could continue, nothing stops.
 * @source a signal to the own process arrives at once; this is a hundred times as long
 */
const STOPPING_MS = 200;

/** Rows and columns where the terminal does not say. @source spec 1-product: 80 × 24 */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** What a terminal reports to its owner. */
export interface ScreenEvents {
  readonly input: (bytes: Buffer) => void;
  readonly resized: () => void;
  /** The terminal is given back for a while: what is not finished must go. */
  readonly leaving: () => void;
  /** The process was stopped, and others have used the terminal meanwhile. */
  readonly continued: () => void;
  /** The terminal is gone: nothing can be shown any more. */
  readonly lost: () => void;
}

/** A terminal in Baton's modes. */
export class Screen {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #events: ScreenEvents;
  readonly #path: string;
  #guard: Guard | undefined;
  #isOpen = false;
  #isPage = false;
  #titled = false;
  /** Never waits for the terminal; undefined: there is no other way to it than standard output. */
  #exit: number | undefined;
  readonly #onStop = (): void => void this.suspend();
  /** Node itself follows the size of `process.stdout` only. */
  readonly #onSize = (): void => refreshSize(this.#output);
  readonly #onContinue = (): void => this.#resume();

  /** @param path where programs are found */
  constructor(events: ScreenEvents, path: string) {
    this.#events = events;
    this.#path = path;
    this.#input = new ReadStream(0);
    this.#output = new WriteStream(1);
    // Node waits until a terminal takes its output. Nobody could stop a process whose terminal takes none.
    handleOf(this.#output)?.setBlocking(false);
    this.#input.on('data', (bytes: Buffer) => this.#events.input(bytes));
    this.#input.on('end', () => this.#events.lost());
    this.#input.on('error', () => this.#events.lost());
    this.#output.on('error', () => this.#events.lost());
    this.#output.on('resize', () => this.#events.resized());
    this.#input.pause();
  }

  get columns(): number {
    return this.#output.columns > 0 ? this.#output.columns : DEFAULT_SIZE.columns;
  }

  get rows(): number {
    return this.#output.rows > 0 ? this.#output.rows : DEFAULT_SIZE.rows;
  }

  /** Whether the terminal is Baton's. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes that the terminal has not taken yet. */
  get waiting(): number {
    return this.#output.writableLength;
  }

  /** Takes the terminal over. */
  open(): void {
    if (this.#isOpen) return;
    this.#guard = guardTerminal({ main: LEAVE, page: LEAVE_PAGE }, this.#path);
    this.#exit = openExit();
    this.#isOpen = true;
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGWINCH', this.#onSize);
    this.#onSize();
    process.on('SIGCONT', this.#onContinue);
    this.#enter();
  }

  #enter(): void {
    this.#input.setRawMode(true);
    this.#input.resume();
    this.write(ENTER);
  }

  /** After a stop that nobody announced, the modes are the shell's. */
  #resume(): void {
    // Node only sets modes that differ from those it knows.
    this.#input.setRawMode(false);
    this.#enter();
    if (this.#isPage) this.write(ENTER_PAGE);
    this.#events.continued();
  }

  write(bytes: string): void {
    if (bytes !== '' && this.#isOpen) this.#output.write(bytes);
  }

  /** Changes to the second screen or back. @returns whether anything changed */
  showPage(isPage: boolean): boolean {
    if (isPage === this.#isPage) return false;
    this.#isPage = isPage;
    this.#guard?.shows(isPage ? 'page' : 'main');
    this.write(isPage ? ENTER_PAGE : LEAVE_PAGE);
    return true;
  }

  /** Sets the title of the window. @param title without control characters */
  title(title: string): void {
    if (!this.#titled) this.write(`${ESC}[22;0t`);
    this.#titled = true;
    this.write(`${ESC}]0;${title}${ESC}\\`);
  }

  /** Gives the terminal back. Writes at once, even if earlier output still waits. @param farewell a line below everything */
  close(farewell = ''): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.removeListener('SIGTSTP', this.#onStop);
    process.removeListener('SIGWINCH', this.#onSize);
    process.removeListener('SIGCONT', this.#onContinue);
    const page = this.#isPage ? LEAVE_PAGE : '';
    this.#isPage = false;
    const title = this.#titled ? `${ESC}[23;0t` : '';
    this.#titled = false;
    const isTold = this.#tell(`${page}${title}${LEAVE}${farewell === '' ? '' : `${farewell}\n`}`);
    try {
      // It waits until the terminal has taken everything. Where that may be never, Node restores the modes as the process ends.
      if (isTold && this.#output.writableLength === 0) this.#input.setRawMode(false);
    } catch {
      // The terminal is gone; there is nothing to restore.
    }
    this.#input.pause();
    // A terminal that takes nothing now may do so later: the guard waits for it.
    if (isTold) this.#guard?.dismiss();
    else this.#guard?.release();
    this.#guard = undefined;
  }

  /** @returns whether the terminal took everything */
  #tell(text: string): boolean {
    const bytes = Buffer.from(text);
    try {
      return writeSync(this.#exit ?? 1, bytes) === bytes.length;
    } catch {
      return false;
    } finally {
      if (this.#exit !== undefined) closeSync(this.#exit);
      this.#exit = undefined;
    }
  }

  /** Stops the job as the shell does on Ctrl-Z; resolves when it runs again, with the terminal taken over again. */
  async suspend(): Promise<void> {
    const isPage = this.#isPage;
    this.#events.leaving();
    this.close();
    await new Promise<void>((resolve) => {
      process.once('SIGCONT', resolve);
      process.kill(0, 'SIGTSTP');
      setTimeout(resolve, STOPPING_MS);
    });
    this.open();
    this.#isPage = isPage;
    if (isPage) this.write(ENTER_PAGE);
    this.#events.continued();
  }

  /** Lets the process end. @param farewell a line below everything, without control characters */
  destroy(farewell: string): void {
    this.close(farewell);
    this.#input.destroy();
  }
}

/** A way to the terminal that never waits. */
function openExit(): number | undefined {
  try {
    return openSync('/dev/tty', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

/** Reads the size of the terminal again; the stream reports a change. Node has no public name for it. */
function refreshSize(stream: WriteStream): void {
  (stream as unknown as { _refreshSize(): void })._refreshSize();
}

/** What Node has no public name for. */
function handleOf(stream: WriteStream): { setBlocking(isBlocking: boolean): void } | undefined {
  return (stream as unknown as { readonly _handle?: { setBlocking(isBlocking: boolean): void } })._handle;
}
