// The terminal itself: its modes, its size, its bytes. Whatever ends Baton, the terminal becomes what it was.

import { writeSync } from 'node:fs';
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

/** Rows and columns where the terminal does not say. @source spec 1-product: 80 × 24 */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** What a terminal reports to its owner. */
export interface ScreenEvents {
  readonly input: (bytes: Buffer) => void;
  readonly resized: () => void;
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

  /** @param path where programs are found */
  constructor(events: ScreenEvents, path: string) {
    this.#events = events;
    this.#path = path;
    this.#input = new ReadStream(0);
    this.#output = new WriteStream(1);
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

  /** Bytes that the terminal has not taken yet. */
  get waiting(): number {
    return this.#output.writableLength;
  }

  /** Takes the terminal over. */
  open(): void {
    if (this.#isOpen) return;
    this.#guard = guardTerminal({ main: LEAVE, page: LEAVE_PAGE }, this.#path);
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#isOpen = true;
    this.write(ENTER);
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

  /** Gives the terminal back. Writes at once, even if earlier output still waits. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const page = this.#isPage ? LEAVE_PAGE : '';
    this.#isPage = false;
    try {
      writeSync(1, `${page}${this.#titled ? `${ESC}[23;0t` : ''}${LEAVE}`);
    } catch {
      // The terminal is gone; there is nothing to restore.
    }
    this.#titled = false;
    try {
      this.#input.setRawMode(false);
    } catch {
      // As above.
    }
    this.#input.pause();
    this.#guard?.dismiss();
    this.#guard = undefined;
  }

  /** Stops the job as the shell does on Ctrl-Z; resolves when it runs again, with the terminal taken over anew. */
  async suspend(): Promise<void> {
    this.close();
    await new Promise<void>((resolve) => {
      process.once('SIGCONT', () => resolve());
      process.kill(0, 'SIGTSTP');
    });
    this.open();
  }

  /** Lets the process end. @param farewell a line below everything, without control characters */
  destroy(farewell: string): void {
    const wasOpen = this.#isOpen;
    this.close();
    if (wasOpen && farewell !== '') writeSync(1, `${farewell}\n`);
    this.#input.destroy();
  }
}
