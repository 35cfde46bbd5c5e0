// What a session works with, and what it reports about its turns.

import type { CancelSignal } from '../ports.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ToolSpec } from '../protocol/model.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import type { Tier } from '../vocabulary.ts';
import type { CallDetails } from './calls.ts';

/** Where records go. */
export interface SessionLog {
  /** Resolves once the records are written, in order. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Resolves once everything appended would survive a crash of the machine. */
  sync(): Promise<void>;
}

/** What runs the calls of the model. */
export interface ToolRunner {
  readonly specs: readonly ToolSpec[];
  /**
   * A failure is a result without success; only `interrupted` is thrown.
   * @param tell takes details that the result does not contain, before the result is returned
   */
  run(call: Item, signal: CancelSignal, report: ReportCall): Promise<ToolOutputItem>;
}

/** Takes details of a call that has ended. */
export type ReportCall = (details: CallDetails) => void;

/** A turn of the thread, started by the user or by the watcher. */
export interface RunningTurn {
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
}

/** The state of a turn after a complete sampling, or at its end. */
export interface TurnView extends RunningTurn {
  /** It has called a tool since its start. */
  readonly hadAction: boolean;
  /** The agent's last message in it. */
  readonly said: string | undefined;
}

/** Receives the events of a thread, in order, each after it was written. Must neither throw nor wait. */
export interface TurnObserver {
  record(record: LogRecord): void;
  started(turn: RunningTurn): void;
  /** A sampling is complete and its tools have finished: the turn waits for `resume`. */
  held(turn: TurnView, moment: { readonly isFollowUpOwed: boolean; readonly batchFrom: number }): void;
  complete(turn: TurnView): void;
  /** @param why what failed, where more is known than that it did */
  aborted(turn: TurnView, reason: 'interrupted' | 'failed', why?: string): void;
  /** The engine, or the user, has compacted. */
  compacted(strategy: 'micro' | 'full'): void;
  /** Nothing can be written any more, so nothing is guaranteed. */
  broken(error: unknown): void;
  /** How urgently the context needs space; undefined: not at all. */
  tier(): Tier | undefined;
  /** The model, a tool or a compaction has shown activity. */
  active(): void;
}

/** A turn to start. */
export interface TurnStart {
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  readonly input: readonly Item[];
}
