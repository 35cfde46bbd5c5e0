// The state of a live thread, folded from its log record by record: its history as a model sees it, its tokens, its
// trail.

import type { Config } from '../config/schema.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { HistoryFold } from '../history/project.ts';
import type { Entry, NewestTurn } from '../history/project.ts';
import { withoutUndoneTurns } from '../history/undone.ts';
import type { WithinDeadline } from '../ports.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import { authorOf, textOfParts } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { CountText } from '../tokens/estimate.ts';
import { thresholdsOf } from '../compaction/dispatch.ts';
import { percentRemaining, thresholdState, usableWindow } from '../tokens/pressure.ts';
import type { ThresholdSettings, ThresholdState } from '../tokens/pressure.ts';
import type { Alarm } from './alarm.ts';
import { LazyTrail } from '../trail/lazy-trail.ts';
import type { Trail } from '../trail/trail.ts';
import type { Tier } from '../vocabulary.ts';
import { SpendingFold } from './spending.ts';
import type { SpendingByKind } from './spending.ts';
import { addUsage, NOTHING_SPENT } from './usage.ts';

/** Compactions whose earlier history stays in memory for undo. Memory must not grow with their number. */
const KEPT_PASTS = 2;
/** Progress marks that a live thread's account keeps: only its gauge is read. */
const KEPT_MARKS = 100;

/** Everything known about a thread from its log. */
export class ThreadState {
  /** Tokens of the context, and of each of its items. */
  readonly account: AccountFold;
  readonly #history = new HistoryFold(WHOLE_ITEMS);
  readonly #within: WithinDeadline | undefined;
  readonly #thresholds: ThresholdSettings;
  #trail: LazyTrail;
  #turns = 0;
  #compactions = 0;
  #position = 0;
  #cwd: string | undefined;
  #lastMessage: string | undefined;
  #spent = NOTHING_SPENT;
  readonly #spending = new SpendingFold();

  /**
   * @param count counts single items, whose sizes compactions read
   * @param within stops an overlong reading of the trail
   * @param toolTokens estimate of the tools' schemas, which every request carries
   */
  constructor(config: Config, count: CountText, within: WithinDeadline | undefined, toolTokens = 0) {
    const { compact, modelContextWindow: window } = config;
    this.#thresholds = thresholdsOf(config);
    this.#within = within;
    this.#trail = new LazyTrail(within);
    this.account = new AccountFold({
      estimate: compact,
      safetyMultiplier: compact.tokenSafetyMultiplier,
      count,
      toolTokens,
      ...(window === undefined ? {} : { window }),
    });
  }

  /** Adds the earlier records, then drops what a live thread does not need. */
  restore(past: readonly LogRecord[], add: (record: LogRecord) => void): void {
    for (const record of past) add(record);
    if (past.some(({ type }) => type === 'undo_turn')) this.forgetUndone(past);
    // Not earlier: the records may undo more consecutive compactions than are kept in memory from here on.
    this.#history.keepFrames(KEPT_PASTS);
    this.account.keepNewest({ pasts: KEPT_PASTS, marks: KEPT_MARKS });
  }

  /** Takes in the next record of the log. */
  add(record: LogRecord): void {
    if (record.type === 'turn_started') this.#turns++;
    if (record.type === 'compacted') this.#compactions++;
    if (record.type === 'session_meta' || record.type === 'settings') this.#cwd = record.cwd ?? this.#cwd;
    if (record.type === 'item') {
      this.#position++;
      this.#lastMessage = agentTextOf(record.item) ?? this.#lastMessage;
    }
    this.#history.add(record);
    this.#trail.add(record);
    this.account.add(record);
    this.#spending.add(record);
    if (record.type === 'usage') this.#spent = addUsage(this.#spent, record.usage);
  }

  /** The actions of undone turns are no longer part of the work. */
  forgetUndone(records: readonly LogRecord[]): void {
    this.#trail = new LazyTrail(this.#within);
    for (const record of withoutUndoneTurns(records)) this.#trail.add(record);
    this.#lastMessage = this.items.map(agentTextOf).findLast((text) => text !== undefined);
  }

  /** The history as a model sees it. */
  get items(): readonly Item[] {
    return this.entries.map(({ value }) => value);
  }

  get entries(): readonly Entry<Item>[] {
    return this.#history.entries;
  }

  /** Number of turns ever started. */
  get turns(): number {
    return this.#turns;
  }

  /** Number of compactions ever made. */
  get compactions(): number {
    return this.#compactions;
  }

  /** Position of the next item in the log, counted from 0. */
  get position(): number {
    return this.#position;
  }

  get cwd(): string | undefined {
    return this.#cwd;
  }

  /** The agent's last message. */
  get lastMessage(): string | undefined {
    return this.#lastMessage;
  }

  /** The spending that counts against limits. */
  get spending(): SpendingByKind {
    return this.#spending.spending;
  }

  trail(): Trail {
    return this.#trail.trail();
  }

  newestTurn(): NewestTurn<Item> | undefined {
    return this.#history.newestTurn();
  }

  /** The id of the newest compaction, if the history before it is still in memory. */
  undoableCompaction(): string | undefined {
    const newest = this.#history.compactions.at(-1);
    return this.#history.beforeNewestCompaction() === undefined ? undefined : newest?.id;
  }

  /** The context against its thresholds; undefined while the window is unknown. */
  alarm(): Alarm | undefined {
    const { used, rawWindow } = this.account.gauge();
    const state = this.#pressure();
    return state === undefined || rawWindow === undefined
      ? undefined
      : { used, rawWindow, state, isAutomatic: this.#thresholds.autoCompactEnabled };
  }

  /** The context against its thresholds, and whether automatic compaction is allowed. */
  get thresholds(): { readonly settings: ThresholdSettings; readonly state: ThresholdState | undefined } {
    return { settings: this.#thresholds, state: this.#pressure() };
  }

  #pressure(): ThresholdState | undefined {
    const { used, rawWindow } = this.account.gauge();
    return rawWindow === undefined ? undefined : thresholdState(used, rawWindow, this.#thresholds);
  }

  /**
   * How full the context is, and what the thread has cost.
   * @param tier the watcher's present tier
   */
  tokenCount(tier: Tier | undefined): Extract<SessionEvent, { type: 'token_count' }> {
    const { used, rawWindow } = this.account.gauge();
    const pressure = this.#pressure()?.word;
    return {
      type: 'token_count',
      used,
      ...(pressure === undefined ? {} : { pressure }),
      model_context_window: rawWindow ?? null,
      percent_remaining: rawWindow === undefined ? null : percentRemaining(used, usableWindow(rawWindow)),
      tier: tier ?? null,
      total: this.#spent.total,
      last: this.#spent.last ?? null,
    };
  }
}

/** The text of an agent's message. */
export function agentTextOf(item: Item): string | undefined {
  const isAgents = item.type === 'message' && item.role === 'assistant' && authorOf(item) === 'agent';
  return isAgents ? textOfParts(item.content) : undefined;
}
