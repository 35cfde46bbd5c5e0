// What passes between the thread of the terminal and the thread that works: ops and events of the protocol, and how both begin and
// end. The terminal has no other way to a session.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Op } from '../protocol/wire/op.ts';

/** An event of one type. */
export type EventNamed<Type extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: Type }>;

/** From the thread that works. */
export type ToTerminal =
  | { readonly type: 'event'; readonly event: SessionEvent }
  /** No model can be asked: `why`, in one sentence, and what would change that. */
  | { readonly type: 'no_model'; readonly why: string; readonly cure: string }
  /** Nothing follows. The terminal is wanted back. */
  | { readonly type: 'end' };

/** From the terminal. */
export type FromTerminal =
  | { readonly type: 'op'; readonly op: Op }
  /** Without a model: play the recorded session that comes with Baton. */
  | { readonly type: 'rehearse' }
  /** The user left; the threads are to be closed. */
  | { readonly type: 'leave' };

/** The terminal's end of the line between the threads: Node's `MessagePort`. */
export interface Port {
  postMessage(message: FromTerminal): void;
  on(event: 'message', take: (message: ToTerminal) => void): unknown;
  on(event: 'close', take: () => void): unknown;
  close(): void;
}

/** How the terminal begins. */
export interface TerminalStart {
  readonly port: Port;
  readonly version: string;
  /** The agent's working directory. Absolute. */
  readonly cwd: string;
  /** The user's home directory. Absolute. */
  readonly homeDirectory: string;
  /** Baton's home. Absolute. */
  readonly batonHome: string;
  /** Baton's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hasColor: boolean;
  readonly hasUnicode: boolean;
  /** The first message; undefined: the user writes it. */
  readonly prompt: string | undefined;
  /** Whether an earlier session is resumed, whose transcript follows. */
  readonly isResumed: boolean;
}
