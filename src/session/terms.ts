// What a session works with, and what it tells of its turns.

import type { CancelSignal } from '../ports.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ToolSpec } from '../protocol/model.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import type { Tier } from '../vocabulary.ts';
import type { CallDetails } from './calls.ts';

/** Where records go. */
export interface SessionLog {
  /** Fulfilled once the records are written, in order. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Fulfilled once everything appended would survive a crash of the machine. */
  sync(): Promise<void>;
}

/** What runs the calls of the model. */
export interface ToolRunner {
  readonly specs: readonly ToolSpec[];
  /**
   * A failure is a result without success; nothing but `interrupted` is thrown.
   * @param tell takes what the result itself does not say, before it is given back
   */
  run(call: Item, signal: CancelSignal, tell: TellCall): Promise<ToolOutputItem>;
}

/** Takes more about a call that has ended. */
export type TellCall = (details: CallDetails) => void;

/** A turn of the thread, whoever started it. */
export interface RunningTurn {
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
}

/** How a turn stands when a sampling is complete, or at its end. */
export interface TurnView extends RunningTurn {
  /** It has called a tool since its start. */
  readonly hadAction: boolean;
  /** What the agent said last in it. */
  readonly said: string | undefined;
}

/** Told of what happens in a thread, in order, each time after it was written. Must neither throw nor wait. */
export interface TurnObserver {
  record(record: LogRecord): void;
  started(turn: RunningTurn): void;
  /** A sampling is complete and its tools have finished: the turn waits for `resume`. */
  held(turn: TurnView, moment: { readonly isFollowUpOwed: boolean; readonly batchFrom: number }): void;
  complete(turn: TurnView): void;
  aborted(turn: TurnView, reason: 'interrupted' | 'failed'): void;
  /** The engine, or the user, has compacted. */
  compacted(strategy: 'micro' | 'full'): void;
  /** Nothing can be written any more, and so nothing promised. */
  broken(error: unknown): void;
  /** How urgent it is to free some of the context; undefined: not at all. */
  tier(): Tier | undefined;
  /** The model, a tool or a compaction has shown a sign of life. */
  active(): void;
}

/** A turn that is to be started. */
export interface TurnStart {
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  readonly input: readonly Item[];
}
