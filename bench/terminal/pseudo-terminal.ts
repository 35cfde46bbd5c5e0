// A program in a pseudo-terminal: when it shows something, and what it costs.

import { readFileSync } from 'node:fs';
import { spawn } from '@lydell/node-pty';
import type { IPty } from '@lydell/node-pty';

/** Longest wait for a text on the screen, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Milliseconds of one tick of the processor times that Linux tells. @source proc(5): `getconf CLK_TCK` is 100 */
const TICK_MS = 10;

/** How a program is started. */
export interface Started {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Node with a program, in a terminal of 80 × 24. */
export class PseudoTerminal {
  readonly #pty: IPty;
  readonly #startedAt = performance.now();
  readonly ended: Promise<void>;
  #written = '';
  #bytes = 0;
  #wake: () => void = () => undefined;

  constructor({ args, cwd, env }: Started) {
    this.#pty = spawn(process.execPath, [...args], {
      cols: 80,
      rows: 24,
      cwd,
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    });
    this.#pty.onData((text) => {
      this.#written += text;
      this.#bytes += Buffer.byteLength(text);
      this.#wake();
    });
    this.ended = new Promise((resolve) => void this.#pty.onExit(() => resolve()));
  }

  /** Bytes that the program wrote. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Waits until the program writes a text, from now on. @returns milliseconds since the program was started */
  async waitFor(text: string): Promise<number> {
    const until = performance.now() + PATIENCE_MS;
    while (!this.#written.includes(text)) {
      if (performance.now() > until) throw new Error(`The terminal never showed ${text}: ${this.#written}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return performance.now() - this.#startedAt;
  }

  /** Forgets what was written: `waitFor` sees what follows. */
  forget(): void {
    this.#written = '';
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** Milliseconds of processor time so far, of all threads. */
  get processorMs(): number {
    const stat = readFileSync(`/proc/${this.#pty.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  /** The most memory that the program has held, in MiB. */
  get peakMebibytes(): number {
    const status = readFileSync(`/proc/${this.#pty.pid}/status`, 'latin1');
    return Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
  }

  /** Ends the program. */
  async close(): Promise<void> {
    this.#pty.kill('SIGKILL');
    await this.ended;
  }
}
