// A client of `baton serve`: sends ops to the built program, waits for events.

import type { ChildProcess } from 'node:child_process';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { Op } from '../../src/protocol/wire/op.ts';
import { parseEvent } from '../../src/protocol/wire/parse.ts';
import type { Ended } from './built.ts';
import type { ExecFixture } from './exec.ts';

/** Longest that an event is waited for, in milliseconds. */
const PATIENCE_MS = 20_000;

type Of<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** One running program. */
export class Client {
  readonly events: SessionEvent[] = [];
  readonly ended: Promise<Ended>;
  #child: ChildProcess | undefined;
  #rest = '';
  #wake: (() => void)[] = [];
  #seen = 0;

  /** @param args besides those of `ExecFixture.run` @param isModelOpen without `--model` */
  constructor(fixture: ExecFixture, args: readonly string[] = [], window?: number, isModelOpen = false) {
    const started = (child: ChildProcess): void => {
      this.#child = child;
      child.stdout?.on('data', (text: string) => this.#take(text));
    };
    this.ended = fixture.serve('responses', args, {
      input: false,
      started,
      isModelOpen,
      ...(window === undefined ? {} : { window }),
    });
    void this.ended.then(() => this.#wakeAll());
  }

  /** Sends an op. */
  send(op: Op): void {
    this.write(`${JSON.stringify(op)}\n`);
  }

  /** Sends whatever. */
  write(text: string | Buffer): void {
    this.#child?.stdin?.write(text);
  }

  /** A message of the user. */
  say(text: string): void {
    this.send({ type: 'user_turn', items: [{ type: 'text', text }], origin: { type: 'user' } });
  }

  /** No more ops. */
  close(): Promise<Ended> {
    this.#child?.stdin?.end();
    return this.ended;
  }

  /** From here on takes no events until `resume`. */
  pause(): void {
    this.#child?.stdout?.pause();
  }

  resume(): void {
    this.#child?.stdout?.resume();
  }

  /** Bytes that were written and that the program has not read, besides those in the pipe. */
  get unread(): number {
    return this.#child?.stdin?.writableLength ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** The next event of a type behind the last one that was waited for. @throws Error when it does not come */
  async next<Type extends SessionEvent['type']>(
    type: Type,
    isMeant: (event: Of<Type>) => boolean = () => true,
  ): Promise<Of<Type>> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      while (this.#seen < this.events.length) {
        const event = this.events[this.#seen++];
        if (event?.type === type && isMeant(event as Of<Type>)) return event as Of<Type>;
      }
      if (Date.now() > deadline || this.#child?.exitCode !== null) {
        const told = this.events.map(({ type: name }) => name).join(' ');
        throw new Error(`${type} did not come; there were: ${told}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        setTimeout(resolve, 250).unref();
      });
    }
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = parseEvent(line);
      if (event.type === 'unknown') throw new SyntaxError(`no event: ${line}`);
      this.events.push(event);
    }
    this.#wakeAll();
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
