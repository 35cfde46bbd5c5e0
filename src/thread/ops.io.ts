// Performs clients' ops: the one door to an open thread. A failure becomes an `error` event, and the thread continues.

import { BatonError } from '../errors.ts';
import type { CompactionOutcome } from '../compaction/compactor.io.ts';
import type { Compaction } from '../compaction/subject.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Op } from '../protocol/wire/op.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { WatchedSession } from '../session/watched/watched-session.io.ts';
import { pinRecords, unpinRecord } from '../trail/pins.ts';
import type { PendingApprovals } from './pending-approvals.io.ts';
import { UndoIncomplete } from './snapshots/incomplete.ts';
import { refuseRestore } from './snapshots/turn-snapshots.io.ts';
import type { FilesRestored, TurnSnapshots } from './snapshots/turn-snapshots.io.ts';
import { compactionPreview, turnPreview } from './snapshots/undo-preview.io.ts';
import type { Limits } from '../session/limits.ts';
import { shellNote } from './shell-line.ts';
import type { LineResult } from './tools.io.ts';
import { contextReport, decisionsReport, statusReport } from './reports.ts';
import type { ThreadSettings } from './settings.ts';

/** What ops act on. */
export interface OpsTerms {
  readonly session: WatchedSession;
  readonly approvals: PendingApprovals;
  readonly turnSnapshots: TurnSnapshots | undefined;
  /** The present log. */
  readonly past: () => AsyncIterable<LogRecord>;
  readonly newId: () => string;
  readonly emit: (event: SessionEvent) => void;
  /** Applies changed settings to the tools, the watcher and the model, and reports them with `session_configured`. */
  readonly configure: (change: Partial<ThreadSettings>) => void;
  /** Resolves when the model has been exchanged; undefined: no exchange is running. */
  readonly ready: () => Promise<void> | undefined;
  /** Gives the thread another model. @throws BatonError if a turn runs or the model cannot be opened; nothing changes then */
  readonly changeModel: (name: string) => Promise<void>;
  /** Submits a user message to the user's hooks. @throws BatonError `prompt_vetoed` */
  readonly vet: (text: string) => Promise<void>;
  /** Inserts what the model must know before a user message. */
  readonly prepare: () => Promise<void>;
  /** Runs the user's shell line. @throws BatonError if it could not start */
  readonly runLine: (command: string, callId: string, signal: AbortSignal) => Promise<LineResult>;
  /** The state of the thread's settings, and whether any of it is recorded. */
  readonly standing: () => {
    readonly settled: Extract<SessionEvent, { type: 'session_configured' }>;
    readonly limits: Limits;
    readonly isRecorded: boolean;
  };
  readonly close: () => Promise<void>;
}

/** Number of decisions that `why` shows. @source docs/decisions/ops.md */
const NEWEST_DECISIONS = 5;

type OpOf<Type extends Op['type']> = Extract<Op, { type: Type }>;

/** Ops that run in the order of their arrival; each waits for the one before. All others take effect at once. */
const ORDERED: ReadonlySet<Op['type']> = new Set([
  'user_turn',
  'steer',
  'edit_queued',
  'remove_queued',
  'move_queued',
  'set_settings',
  'review_mode',
  'undo',
  'redo',
]);

/** The door of one thread. */
export class OpsDoor {
  readonly #terms: OpsTerms;
  /** Compactions, judgments and undos that the user can still stop. */
  readonly #stoppable = new Set<AbortController>();
  /** Work that may still write to the log. */
  readonly #underWay = new Set<Promise<unknown>>();
  #order: Promise<unknown> = Promise.resolve();
  #isEnding = false;
  #broken: unknown;

  constructor(terms: OpsTerms) {
    this.#terms = terms;
  }

  /** Performs an op. Resolves when it is done, or, for a message, once it can no longer be lost. */
  perform(op: Op): Promise<void> {
    // The end of the thread waits for all other ops.
    if (op.type === 'shutdown') return this.#attempt(op);
    if (!ORDERED.has(op.type)) return this.#follow(this.#attempt(op));
    const done = this.#order.then(() => this.#attempt(op));
    this.#order = done.catch(() => undefined);
    return this.#follow(done);
  }

  #follow(done: Promise<void>): Promise<void> {
    const ended = done.catch(() => undefined).finally(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    return done;
  }

  /** Stops all requested work other than turns. */
  stop(): void {
    for (const controller of this.#stoppable) controller.abort();
  }

  /** Stops it, and all later ops. Resolves when no op of this door writes any more. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.stop();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #attempt(op: Op): Promise<void> {
    try {
      const exchange = this.#terms.ready();
      if (exchange !== undefined) await exchange.catch(() => undefined);
      await this.#carryOut(op);
    } catch (error) {
      this.#report(error, 'id' in op ? op.id : undefined);
    }
  }

  #report(error: unknown, opId?: string): void {
    // A log that cannot be written fails every operation; report it once.
    if (error === this.#broken) return;
    if (!(error instanceof BatonError)) throw error;
    if (error.code === 'output_failed') this.#broken = error;
    const { code, message, cure } = error;
    const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
    const refused = opId === undefined ? {} : { op_id: opId };
    this.#terms.emit({ type: 'error', code, message: `${sentence} ${cure}`.trim(), ...refused });
  }

  #carryOut(op: Op): Promise<void> | void {
    const { session, approvals, configure, close } = this.#terms;
    switch (op.type) {
      case 'user_turn':
        return this.#submit(op);
      case 'steer':
        return this.#steer(op);
      case 'shell':
        return this.#runLine(op);
      case 'edit_queued':
        return this.#editQueued(op);
      case 'remove_queued':
        return session.reviseQueue({ type: 'remove', id: op.id });
      case 'move_queued':
        return session.reviseQueue({ type: 'move', id: op.id, before: op.before });
      case 'interrupt':
        this.stop();
        return session.interrupt();
      case 'compact':
        return this.#compact(op);
      case 'undo':
        if (op.preview === true) return this.#previewUndo(op);
        return op.what === 'turn' ? this.#undoTurn(op) : this.#undoCompaction();
      case 'redo':
        return this.#redo(op);
      case 'rawr_auto_compaction_judgment':
        return this.#withSignal((signal) => session.judge(op, signal));
      case 'exec_approval':
      case 'patch_approval':
        return approvals.decide(op);
      case 'answer_question':
        return approvals.answer(op);
      case 'set_settings':
        return this.#changeSettings(op);
      case 'phase_completed':
        return this.#phaseCompleted(op);
      case 'pin':
        return this.#pin(op);
      case 'unpin':
        return this.#unpin(op);
      case 'review_mode':
        session.setReviewMode(op.is_on);
        return configure({ isReviewing: op.is_on });
      case 'context':
        return this.#terms.emit(contextReport(session));
      case 'status': {
        const { settled, ...standing } = this.#terms.standing();
        return this.#terms.emit(statusReport(session, settled, standing));
      }
      case 'why':
        return this.#explain(op);
      case 'open_thread':
      case 'fork':
      case 'handoff':
      case 'sessions':
        throw new BatonError('usage', `A single thread does not accept ${op.type}`, {
          cure: 'Send it to baton serve, which handles several threads.',
        });
      case 'shutdown':
        this.stop();
        return close();
    }
  }

  async #submit({ id, items }: OpOf<'user_turn'>): Promise<void> {
    const { session, vet, prepare } = this.#terms;
    await vet(textOf(items));
    const prepared = prepare();
    // While a turn runs this waits; the message must not, because it could be lost.
    if (session.runningTurn === undefined) await prepared;
    else void this.#follow(prepared.catch((error: unknown) => this.#report(error)));
    await session.submit(textOf(items), id);
    this.#watch();
  }

  async #steer({ id, items }: OpOf<'steer'>): Promise<void> {
    await this.#terms.vet(textOf(items));
    await this.#terms.session.steer(textOf(items), id);
    this.#watch();
  }

  async #editQueued({ id, items }: OpOf<'edit_queued'>): Promise<void> {
    const text = textOf(items);
    await this.#terms.vet(text);
    await this.#terms.session.reviseQueue({ type: 'edit', id, text });
  }

  /** No caller awaits the turn itself: its failure is reported here. */
  #watch(): void {
    this.#terms.session.rest().catch((error: unknown) => this.#report(error));
  }

  async #compact(op: OpOf<'compact'>): Promise<void> {
    const { session, emit } = this.#terms;
    const ask = {
      strategy: op.strategy ?? 'auto',
      audit: op.trigger,
      ...(op.instructions === undefined ? {} : { instructions: op.instructions }),
      ...(op.target_tokens === undefined ? {} : { targetTokens: op.target_tokens }),
    };
    await this.#withSignal(async (signal) => {
      if (op.preview !== true) return requireCompacted(await session.compact(ask, signal));
      const compaction = await session.preview(ask, signal);
      emit(previewOf(compaction));
    });
  }

  async #changeSettings(op: OpOf<'set_settings'>): Promise<void> {
    if (op.model !== undefined) await this.#terms.changeModel(op.model);
    this.#terms.configure(settingsOf(op));
  }

  async #runLine({ command, id: callId = this.#terms.newId() }: OpOf<'shell'>): Promise<void> {
    const { session, runLine } = this.#terms;
    let failure: unknown;
    await this.#withSignal((signal) =>
      session.shell(async () => {
        try {
          return shellNote(command, await runLine(command, callId, signal));
        } catch (error) {
          failure = error;
          return undefined;
        }
      }, signal),
    );
    if (failure !== undefined) throw failure;
  }

  async #undoCompaction(): Promise<void> {
    const { session, emit } = this.#terms;
    const id = await session.undoCompaction();
    emit({ type: 'undo_completed', what: 'compaction', id, paths: [], left: [] });
  }

  async #previewUndo({ what, later_edits: laterEdits }: OpOf<'undo'>): Promise<void> {
    const { session, turnSnapshots, past, emit, standing } = this.#terms;
    if (what === 'compaction') {
      const recorded = standing().isRecorded ? past() : noRecords();
      return emit(await compactionPreview(session.undoableCompaction(), recorded));
    }
    const preview = await this.#withSignal((signal) =>
      session.previewUndo(async (turn) => {
        const files = await turnSnapshots?.describe(turn.turnId, laterEdits, signal);
        if (files?.type === 'refused') refuseRestore(files.why);
        return turnPreview(turn, files);
      }),
    );
    emit(preview);
  }

  async #redo({ what }: OpOf<'redo'>): Promise<void> {
    const { session, past, emit, standing } = this.#terms;
    if (what === 'turn') {
      throw new BatonError('nothing_to_redo', 'A turn that was undone cannot be redone', {
        cure: 'Send its message again. The files as the undo found them are kept: git for-each-ref refs/baton/snapshots lists them, and git restore --source=REF -- . restores them.',
      });
    }
    const redone = standing().isRecorded ? past : noRecords;
    const id = await session.redoCompaction(redone);
    emit({ type: 'context_compacted', id });
    emit({ type: 'redo_completed', id });
  }

  async #undoTurn({ later_edits: laterEdits }: OpOf<'undo'>): Promise<void> {
    const { session, turnSnapshots, past, emit } = this.#terms;
    const warn = (message: string): void => emit({ type: 'warning', message });
    const undone = await this.#withSignal((signal) =>
      session.undoTurn(async ({ turnId }) => {
        const files = await turnSnapshots?.restore(turnId, laterEdits, signal).catch((error: unknown) => {
          if (error instanceof UndoIncomplete) emit(incompleteEvent(turnId, error));
          throw error;
        });
        return { id: turnId, ...pathsOf(files, warn) };
      }, past),
    );
    emit({ type: 'undo_completed', what: 'turn', ...undone });
  }

  async #explain({ newest = NEWEST_DECISIONS }: OpOf<'why'>): Promise<void> {
    const { session, past, emit, standing } = this.#terms;
    const records: LogRecord[] = [];
    if (standing().isRecorded) for await (const record of past()) records.push(record);
    emit(decisionsReport(session, records, newest));
  }

  async #phaseCompleted({ summary }: OpOf<'phase_completed'>): Promise<void> {
    const { session, emit } = this.#terms;
    await session.phaseCompleted(summary);
    emit({ type: 'phase_completed', call_id: null, summary });
    this.#watch();
  }

  async #pin({ id = this.#terms.newId(), text }: OpOf<'pin'>): Promise<void> {
    await this.#terms.session.record(({ pins }) => pinRecords(pins, { id, text }));
    this.#emitPins();
  }

  async #unpin({ id }: OpOf<'unpin'>): Promise<void> {
    await this.#terms.session.record(({ pins }) => {
      if (pins.some((pin) => pin.id === id)) return [unpinRecord(id)];
      throw new BatonError('op_invalid', `Nothing is pinned under ${JSON.stringify(id)}`, {
        cure: 'The newest pins_changed lists the pins.',
        data: { key: 'id' },
      });
    });
    this.#emitPins();
  }

  #emitPins(): void {
    const { session, emit } = this.#terms;
    emit({ type: 'pins_changed', pins: session.trail().pins.map(({ id, text }) => ({ id, text })) });
  }

  async #withSignal<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    if (this.#isEnding) controller.abort();
    this.#stoppable.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      this.#stoppable.delete(controller);
    }
  }
}

async function* noRecords(): AsyncGenerator<LogRecord> {
  // A thread without a log.
}

/** The parts of one message as one text. */
function textOf(items: OpOf<'user_turn'>['items']): string {
  return items.map(({ text }) => text).join('\n\n');
}

function settingsOf(op: OpOf<'set_settings'>): Partial<ThreadSettings> {
  return {
    ...(op.mode === undefined ? {} : { mode: op.mode }),
    ...(op.approval_policy === undefined ? {} : { policy: op.approval_policy }),
    ...(op.sandbox_mode === undefined ? {} : { sandbox: op.sandbox_mode }),
    ...(op.plan_mode === undefined ? {} : { isPlanning: op.plan_mode }),
  };
}

/** @throws BatonError if nothing started; a failed compaction has already reported its failure */
function requireCompacted(outcome: CompactionOutcome): void {
  if (outcome.type === 'compacted' || outcome.type === 'failed') return;
  if (outcome.type === 'context_exhausted') throw new BatonError('context_exhausted', outcome.why);
  const { reason, why } = outcome;
  const isUnavailable = reason === 'remote_unavailable' || reason === 'legacy_only';
  if (isUnavailable) {
    throw new BatonError('usage', `Not compacted: ${why}`, {
      cure: 'Omit the strategy, or request "full".',
    });
  }
  const isOff = reason === 'disabled' || reason === 'micro_disabled';
  throw new BatonError(isOff ? 'compaction_disabled' : 'nothing_to_compact', `Not compacted: ${why}`);
}

function previewOf(compaction: Compaction): SessionEvent {
  const type = 'compact_preview';
  if (compaction.type === 'micro') {
    const { preTokens, postTokens } = compaction;
    const sizes = { pre_compact_tokens: preTokens, post_compact_tokens: postTokens };
    return { type, strategy: 'micro', ...sizes, receipt: null };
  }
  const { receipt } = compaction.record;
  const sizes = { pre_compact_tokens: receipt.preTokens, post_compact_tokens: receipt.postTokens };
  return { type, strategy: 'full', ...sizes, receipt: { ...receipt } };
}

/** What happened to files, relative to the workspace, including those left unchanged. */
function pathsOf(
  files: FilesRestored | undefined,
  warn: (message: string) => void,
): Pick<Extract<SessionEvent, { readonly type: 'undo_completed' }>, 'paths' | 'left'> {
  if (files === undefined) {
    warn('No snapshot of the files was taken since this turn began, so its file changes remain.');
    return { paths: [], left: [] };
  }
  for (const message of files.warnings) warn(message);
  const left = [...files.laterEdits, ...files.untouched].map(({ path, why }) => ({ path, why }));
  for (const { path, why } of left) warn(`${path} was left unchanged: it is ${why}.`);
  return { paths: files.changes.map(({ path }) => path), left };
}

function incompleteEvent(id: string, { putBack, left, keptAs }: UndoIncomplete): SessionEvent {
  return {
    type: 'undo_incomplete',
    id,
    paths: putBack.map(({ path }) => path),
    left: left.map(({ path, why }) => ({ path, why })),
    kept_as: keptAs ?? null,
  };
}
