// The line between the threads before the thread that works has its end of it: messages wait. Pure.

import type { FromTerminal, Port, ToTerminal } from '../../tui/channel.ts';

/** A port that another one takes over. */
export class LatePort implements Port {
  #port: Port | undefined;
  #isClosed = false;
  readonly #waiting: FromTerminal[] = [];
  readonly #takers: ((message: ToTerminal) => void)[] = [];
  readonly #closers: (() => void)[] = [];

  /** Delivers what waits, and all that follows. */
  attach(port: Port): void {
    this.#port = port;
    for (const message of this.#waiting.splice(0)) port.postMessage(message);
    port.on('message', (message) => this.#takers.forEach((take) => take(message)));
    port.on('close', () => this.#closers.forEach((take) => take()));
    if (this.#isClosed) port.close();
  }

  postMessage(message: FromTerminal): void {
    if (this.#port === undefined) this.#waiting.push(message);
    else this.#port.postMessage(message);
  }

  on(event: 'message', take: (message: ToTerminal) => void): void;
  on(event: 'close', take: () => void): void;
  on(event: 'message' | 'close', take: ((message: ToTerminal) => void) & (() => void)): void {
    if (event === 'message') this.#takers.push(take);
    else this.#closers.push(take);
  }

  close(): void {
    this.#isClosed = true;
    this.#port?.close();
  }
}
