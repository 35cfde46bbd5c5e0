// The lines after a compaction show when and why it ran: a compaction alone in its task was requested by the user, one followed
// by a user's message came before a turn. So its record and those after it wait for the next conclusive line, which is never
// more than a few lines away.

import type { Item } from '../../protocol/item.ts';
import { authorOf, resultCallId } from '../../protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import type { Phase, Trigger } from '../../vocabulary.ts';
import type { Emit } from '../reader.ts';

/** What is known of the running task. */
interface RunningTask {
  hasUser: boolean;
  hasAgent: boolean;
  /** The newest item is a tool result, so the model must be called once more. */
  needsFollowUp: boolean;
}

/**
 * Number of records after a compaction beyond which no conclusive line is expected; Codex writes at most half a dozen before
 * it.
 */
const LONGEST_WAIT = 64;

type Stamp = Pick<LogRecord, 'line' | 'at'>;

interface PendingRecord {
  readonly record: CompactedRecord & Stamp;
  readonly behind: LogRecord[];
  /** The state of its task when it ran. */
  readonly task: Readonly<RunningTask> | undefined;
  postTokens?: number;
}

interface CompactionCause {
  readonly trigger?: Trigger;
  readonly phase?: Phase;
}

/** The output of the reader: passes on records in order, and holds back a compaction until its phase is known. */
export class PendingCompaction {
  readonly #emit: Emit;
  #task: RunningTask | undefined;
  #pending: PendingRecord | undefined;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Passes on a record; call it for every record except items, tasks and compactions. */
  pass(record: LogRecord): void {
    if (this.#pending === undefined) return this.#emit(record);
    this.#pending.behind.push(record);
    if (this.#pending.behind.length >= LONGEST_WAIT) this.#release(defaultCause);
  }

  /** A task began (`task_started`) or ended. */
  task(record: LogRecord & { type: 'turn_started' | 'turn_complete' | 'turn_aborted' }): void {
    this.#release(record.type === 'turn_complete' ? verdictAtEnd : defaultCause);
    this.#task =
      record.type === 'turn_started' ? { hasUser: false, hasAgent: false, needsFollowUp: false } : undefined;
    this.#emit(record);
  }

  /** @param isSummaryAnswer the item is the model's answer to a compaction prompt, so the agent did not act in it. */
  item(record: LogRecord & { type: 'item' }, isSummaryAnswer: boolean): void {
    const author = authorOf(record.item);
    if (author === 'user') this.#release(verdictBeforeUser);
    else if (author === 'agent' || isAnswer(record.item)) this.#release(verdictBeforeAgent);
    if (this.#task !== undefined && !isSummaryAnswer) {
      if (author === 'user') this.#task.hasUser = true;
      if (author === 'agent') this.#task.hasAgent = true;
      this.#task.needsFollowUp = resultCallId(record.item) !== undefined;
    }
    this.pass(record);
  }

  /** A compaction; its own trigger and phase, if present, override what the lines show. */
  compaction(record: CompactedRecord & Stamp): void {
    this.#release(defaultCause);
    this.#pending = { record, behind: [], task: this.#task && { ...this.#task } };
  }

  /** The estimate that Codex writes after a compaction. */
  estimate(total: number): void {
    if (this.#pending !== undefined) this.#pending.postTokens ??= total;
  }

  /** Nothing follows. */
  end(): void {
    this.#release(defaultCause);
  }

  #release(judge: (task: Readonly<RunningTask>) => CompactionCause): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const verdict = pending.task === undefined ? {} : judge(pending.task);
    const { postTokens } = pending;
    this.#emit({ ...verdict, ...(postTokens !== undefined && { postTokens }), ...pending.record });
    for (const record of pending.behind) this.#emit(record);
  }
}

function isAnswer(item: Item): boolean {
  return item.type !== 'message' && item.type !== 'ghost_snapshot' && item.type !== 'attachment';
}

function verdictAtEnd(task: Readonly<RunningTask>): CompactionCause {
  if (task.hasUser) return { trigger: 'auto', phase: task.needsFollowUp ? 'mid_turn' : 'post_turn' };
  return task.hasAgent ? {} : { trigger: 'manual', phase: 'standalone_turn' };
}

function verdictBeforeUser(task: Readonly<RunningTask>): CompactionCause {
  if (task.hasUser) return { trigger: 'auto', phase: 'mid_turn' };
  return task.hasAgent ? {} : { trigger: 'auto', phase: 'pre_turn' };
}

function verdictBeforeAgent(task: Readonly<RunningTask>): CompactionCause {
  return task.hasUser ? { trigger: 'auto', phase: 'mid_turn' } : {};
}

/** A requested compaction has its own task, so one in a user's task is automatic, whatever its phase. */
function defaultCause(task: Readonly<RunningTask>): CompactionCause {
  return task.hasUser ? { trigger: 'auto' } : {};
}
