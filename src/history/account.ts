// What fills a context, and how it got there: one fold over the log that keeps sizes, never texts.

import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type {
  CompactedRecord,
  LogRecord,
  MicroCompactedRecord,
  NoteRecord,
  UndoCompactionRecord,
  UndoTurnRecord,
} from '../protocol/record.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { UsageGauge } from '../tokens/anchor.ts';
import type { GaugeState, Prediction, Usage } from '../tokens/anchor.ts';
import { approximateTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import { uncertainTokens } from '../tokens/report.ts';
import { assumedWindow, knownWindow } from '../tokens/models.ts';
import { EFFECTIVE_WINDOW_PERCENT, percentRemaining, usableWindow } from '../tokens/pressure.ts';
import { clearResult } from './clear.ts';
import type {
  AccountSettings,
  BesideItems,
  CompactionMark,
  ContextAccount,
  GaugePoint,
} from './context-account.ts';
import { isUserMessage } from './filter.ts';
import { limitIn } from './learnt-limit.ts';
import { HistoryFold } from './project.ts';
import type { HistoryChange } from './project.ts';
import { NO_RESULT, PresentItems } from './present.ts';
import type { Light } from './present.ts';
import { RecordedItems } from './recorded.ts';
import { toolTokensIn } from './tool-tokens.ts';

/** Number of compactions for which the earlier state of the gauge is kept; longer series are not undone. */
const MOST_STATES = 100;

/** Folds a log into an account, one record at a time. */
export class AccountFold {
  readonly #settings: AccountSettings;
  readonly #history: HistoryFold<Light>;
  readonly #gauge: UsageGauge;
  #marks = Infinity;
  readonly #recorded = new RecordedItems();
  readonly #present = new PresentItems();
  readonly #points: GaugePoint[] = [];
  readonly #compactions: CompactionMark[] = [];
  readonly #predictions: Prediction[] = [];
  readonly #rejected: { line: number | undefined; why: string }[] = [];
  #rejectedCount = 0;
  #meta: { sessionId?: string; cwd?: string; producerVersion?: string; producer?: 'baton' } = {};
  #model: string | undefined;
  #recordedUsable: number | undefined;
  #largestUsage = 0;
  /** The gauge before each of the newest compactions. */
  readonly #before = new Map<string, { readonly gauge: GaugeState; readonly estimate: number }>();
  /** The windows that providers named, by model. */
  readonly #learnt = new Map<string, number>();
  #startedAt: string | undefined;
  #endedAt: string | undefined;
  #turn = 0;
  #agentSpokeThisTurn = true;
  /** Estimated tokens that clearing has freed so far. */
  #cleared = 0;
  #instructionEstimate = 0;
  #notedTools: number | undefined;

  /** @param keepFrames as for `HistoryFold`: past projections that a later undo may need */
  constructor(settings: AccountSettings, keepFrames = Infinity) {
    this.#settings = settings;
    this.#gauge = new UsageGauge(settings.safetyMultiplier, settings.toolTokens);
    const light = {
      make: (item: Item) => this.#light(item),
      resultCallId: ({ resultOf }: Light) => resultOf,
      clear: (one: Light) => {
        const cleared = one.cleared ?? one;
        this.#cleared += one.estimate - cleared.estimate;
        return cleared;
      },
    };
    this.#history = new HistoryFold(light, keepFrames);
  }

  /** An undo referred to a projection that was dropped: do not trust the account. */
  get hasLostPast(): boolean {
    return this.#history.hasLostPast;
  }

  /**
   * From here on, bounds everything that grows with the log, for a live thread: the account then covers its newest part.
   * @param pasts consecutive compactions that can still be undone
   * @param marks most points, compactions and calls in the account, each
   */
  keepNewest({ pasts, marks }: { readonly pasts: number; readonly marks: number }): void {
    this.#marks = marks;
    this.#history.keepFrames(pasts);
    this.#recorded.keepNewest(marks);
    for (const list of [this.#points, this.#compactions, this.#predictions, this.#rejected]) {
      list.splice(0, list.length - marks);
    }
  }

  add(record: LogRecord): void {
    if (record.at !== undefined) {
      this.#startedAt ??= record.at;
      this.#endedAt = record.at;
    }
    switch (record.type) {
      case 'session_meta':
        this.#takeMeta(record);
        break;
      case 'settings':
        this.#takeSettings(record);
        if (record.cwd !== undefined) this.#meta.cwd = record.cwd;
        break;
      case 'item':
        this.#takeItem(record.item, record);
        break;
      case 'side_item':
        this.#recorded.add(record.item, 'side');
        break;
      case 'usage':
        this.#takeSample(record.usage, record.line);
        break;
      case 'compacted':
        this.#holdAtLeast(record.preTokens);
        this.#takeCompaction(record, record);
        break;
      case 'micro_compacted':
        this.#holdAtLeast(record.preTokens);
        this.#takeMicro(record, record);
        break;
      case 'undo_compaction':
        this.#takeUndo(record);
        break;
      case 'turn_started':
        this.#history.add(record);
        break;
      case 'note':
        this.#takeLimit(record);
        this.#takeTools(record);
        break;
      case 'undo_turn':
        this.#takeTurnBack(record);
        break;
      default:
        break;
    }
  }

  /** Used tokens and the raw window now; undefined if only a guess is known. Costs the same at any length. */
  gauge(): Usage & { readonly rawWindow: number | undefined } {
    const { window, from } = this.#window();
    return { ...this.#gauge.usage(), rawWindow: from === 'unknown' ? undefined : window };
  }

  /** What the gauge would report for a history of this many tokens that no provider report has measured. */
  usedWith(tokens: number): number {
    return this.#gauge.usedWith(this.#instructionEstimate + tokens);
  }

  /** What the gauge would report after this many tokens are cleared from the history. */
  usedWithout(tokens: number): number {
    return this.#gauge.usedWithout(tokens);
  }

  /** Tokens of instructions and tools, which are in each request but in no item, as far as they are known. */
  get fixed(): number {
    return this.#instructionEstimate + this.#gauge.fixed;
  }

  /** What the gauge will report once these items are the history. */
  usedAfter(items: readonly Item[]): number {
    return this.usedWith(items.reduce((sum, item) => sum + this.#sizes(item).estimate, 0));
  }

  /**
   * Tokens of the item at a position of the history, which is the same in any fold over these records, counted according to the
   * settings; undefined outside the history.
   */
  sizeAt(index: number): number | undefined {
    return this.#present.sizeAt(index);
  }

  /** The tool that gave the result at such a position; empty for other items, undefined if its call is unknown. */
  toolAt(index: number): string | undefined {
    return this.#present.toolAt(index);
  }

  /** Tokens of the tools' schemas according to the log. */
  get notedTools(): number | undefined {
    return this.#notedTools;
  }

  /** Number of impossible samples so far. */
  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  /** Why the newest of the impossible samples is impossible; undefined: there is none. */
  get newestRejected(): string | undefined {
    return this.#rejected.at(-1)?.why;
  }

  /** The newest compaction. */
  get newestCompaction(): CompactionMark | undefined {
    return this.#compactions.at(-1);
  }

  /** The account as of the last record. */
  account(): ContextAccount {
    const { categories } = this.#present;
    const usage = this.#gauge.usage();
    const { window, usable, from } = this.#window();
    const counted = sumTokens(categories);
    return {
      ...this.#identity(),
      window,
      usableWindow: usable,
      windowFrom: from,
      usage,
      percentRemaining: percentRemaining(usage.used, usable),
      categories,
      tools: this.#present.tools,
      besideItems: this.#beside(usage, counted),
      turns: this.#turn,
      points: [...this.#points, this.#point(usage.used, undefined)],
      compactions: this.#compactions,
      brokenPairs: this.#present.brokenPairs,
      recorded: this.#recorded.counts,
      predictions: this.#predictions,
      rejectedSamples: this.#rejected,
    };
  }

  #beside({ used, anchor }: Usage, counted: number): BesideItems {
    const { fixed } = this;
    const { scale, restored } = this.#gauge;
    const rest = used - counted - fixed;
    if (anchor !== 'reported') {
      const margin = Math.max(0, rest);
      return { fixed, counting: 0, restored: 0, margin, unexplained: rest - margin };
    }
    const counting = Math.round(this.#present.estimate * scale) - counted;
    return { fixed, counting, restored, margin: 0, unexplained: rest - counting - restored };
  }

  #identity() {
    return {
      sessionId: this.#meta.sessionId,
      model: this.#model,
      cwd: this.#meta.cwd,
      producerVersion: this.#meta.producerVersion,
      producer: this.#meta.producer,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
    };
  }

  #takeMeta(record: LogRecord & { readonly type: 'session_meta' }): void {
    const { sessionId, cwd, producerVersion, producer, instructions } = record;
    this.#meta = {
      ...this.#meta,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(producerVersion === undefined ? {} : { producerVersion }),
      ...(producer === undefined ? {} : { producer }),
    };
    if (instructions === undefined) return;
    const estimate = this.#estimate(instructions);
    this.#gauge.addOverhead(estimate - this.#instructionEstimate);
    this.#instructionEstimate = estimate;
  }

  /** A file may begin with a compaction, before it names the model: the window is then applied in hindsight. */
  #takeSettings({ model, usableWindow: usable }: LogRecord & { readonly type: 'settings' }): void {
    const wasUnknown = this.#window().from === 'unknown';
    this.#model = model ?? this.#model;
    this.#recordedUsable = usable ?? this.#recordedUsable;
    const window = this.#window();
    if (!wasUnknown || window.from === 'unknown') return;
    for (const [index, mark] of this.#compactions.entries()) {
      this.#compactions[index] = { ...mark, window: window.usable };
    }
  }

  /** The compacted context did fit. */
  #holdAtLeast(tokens = 0): void {
    this.#largestUsage = Math.max(this.#largestUsage, tokens);
  }

  readonly #estimate: CountText = (text) => approximateTokens(text, this.#settings.estimate);

  #light(item: Item): Light {
    const resultOf = resultCallId(item);
    const tool = resultOf === undefined ? NO_RESULT : this.#recorded.toolOf(resultOf);
    const light: Light = { ...this.#sizes(item), callId: callOf(item)?.callId, resultOf, tool };
    return resultOf === undefined
      ? light
      : { ...light, cleared: { ...light, ...this.#sizes(clearResult(item)) } };
  }

  #sizes(item: Item): Pick<Light, 'split' | 'estimate' | 'uncertain'> {
    const { count, estimate: settings } = this.#settings;
    const estimated = itemTokens(item, this.#estimate, settings);
    return {
      split: count === undefined ? estimated : itemTokens(item, count, settings),
      estimate: sumTokens(estimated),
      uncertain: uncertainTokens(item, estimated),
    };
  }

  #takeItem(item: Item, record: LogRecord): void {
    this.#recorded.add(item, 'context');
    this.#startTurn(item);
    this.#history.add(record);
    const light = this.#history.entries.at(-1)?.value;
    if (light === undefined) return;
    this.#present.add(light);
    this.#gauge.add(item, light.estimate);
  }

  #startTurn(item: Item): void {
    if (isUserMessage(item)) {
      if (this.#agentSpokeThisTurn) this.#turn++;
      this.#agentSpokeThisTurn = false;
    } else if (authorOf(item) === 'agent') this.#agentSpokeThisTurn = true;
  }

  #takeSample(sample: UsageSample, line: number | undefined): void {
    if (sample.source === 'reported') this.#disproveLimit(sample.total);
    const { window } = this.#window(sample.source === 'reported' ? sample.total : 0);
    const uncertain = (): number => this.#present.uncertain;
    const verdict = this.#gauge.sample(sample, { windowTokens: window, uncertain });
    if (!verdict.accepted) {
      this.#rejectedCount++;
      this.#keep(this.#rejected, { line, why: verdict.why });
      return;
    }
    if (verdict.prediction !== undefined) this.#keep(this.#predictions, verdict.prediction);
    this.#largestUsage = Math.max(this.#largestUsage, sample.total);
    if (sample.source === 'reported') this.#keep(this.#points, this.#point(sample.total, line));
  }

  /** A window that holds more than a provider stated is not that small. */
  #disproveLimit(total: number): void {
    const learnt = this.#model === undefined ? undefined : this.#learnt.get(this.#model);
    if (this.#model !== undefined && learnt !== undefined && total > learnt) this.#learnt.delete(this.#model);
  }

  #keep<Mark>(marks: Mark[], mark: Mark): void {
    marks.push(mark);
    if (marks.length > this.#marks) marks.shift();
  }

  #point(used: number, line: number | undefined): GaugePoint {
    return { turn: this.#turn, line, used, percentRemaining: percentRemaining(used, this.#window().usable) };
  }

  #change(record: LogRecord): HistoryChange {
    const change = this.#history.add(record);
    this.#present.replace(() => this.#history.entries.map(({ value }) => value));
    return change;
  }

  #takeCompaction(record: CompactedRecord, at: LogRecord): void {
    const preTokens = this.#usedBefore(record);
    this.#keepState(record.id);
    const itemsBefore = this.#history.entries.length;
    this.#change(at);
    this.#refillGauge(record.replacement);
    const { receipt, gaugedTokens } = record;
    const gauged = receipt?.beside === undefined ? gaugedTokens : receipt.postTokens;
    if (gauged !== undefined) this.#gauge.settle(gauged);
    const after = this.#history.entries;
    this.#keep(this.#compactions, {
      ...this.#mark(record, at),
      kind: 'full',
      phase: record.phase,
      preTokens,
      postTokens: this.#gauge.usage().used,
      summary: summaryKind(record),
      summaryTokens: record.summary === undefined ? 0 : this.#estimate(record.summary),
      itemsBefore,
      itemsAfter: after.length,
      clearedResults: 0,
    });
  }

  #takeMicro(record: MicroCompactedRecord, at: LogRecord): void {
    const preTokens = this.#usedBefore(record);
    // Only a clearing that renamed its lines can be undone, and settling the sizes for each would cost the whole context.
    if (record.newRefs !== undefined) this.#keepState(record.id);
    const clearedBefore = this.#cleared;
    this.#change(at);
    const saved = this.#cleared - clearedBefore;
    this.#gauge.remove(saved);
    const items = this.#history.entries.length;
    this.#keep(this.#compactions, {
      ...this.#mark(record, at),
      kind: 'micro',
      phase: undefined,
      preTokens,
      postTokens: this.#gauge.usage().used,
      summary: 'none',
      summaryTokens: 0,
      itemsBefore: items,
      itemsAfter: items,
      clearedResults: record.callIds.length,
    });
  }

  #usedBefore({ preTokens, receipt }: CompactedRecord | MicroCompactedRecord): number {
    const { used, anchor } = this.#gauge.usage();
    if (preTokens === undefined) return used;
    return anchor === 'reported' || receipt !== undefined ? Math.max(used, preTokens) : preTokens;
  }

  #mark(record: CompactedRecord | MicroCompactedRecord, at: LogRecord) {
    return {
      id: record.id,
      line: at.line,
      at: at.at,
      turn: this.#turn,
      pointIndex: this.#points.length,
      trigger: record.trigger,
      window: this.#window().usable,
      receipt: record.receipt,
      isUndone: false,
    };
  }

  #keepState(id: string): void {
    this.#before.set(id, { gauge: this.#gauge.snapshot(), estimate: this.#present.estimate });
    const [oldest] = this.#before.keys();
    if (oldest !== undefined && this.#before.size > MOST_STATES) this.#before.delete(oldest);
  }

  /** The history only loses its end, which the reports included. */
  #takeTurnBack(record: UndoTurnRecord): void {
    if (this.#history.add(record) !== 'undone') return;
    this.#present.cutTo(this.#history.entries.length);
    this.#estimateAnew();
  }

  #estimateAnew(): void {
    this.#gauge.reset();
    this.#gauge.addOverhead(this.#instructionEstimate + this.#present.estimate);
  }

  #takeUndo(record: UndoCompactionRecord): void {
    if (this.#change(record) !== 'undone') return;
    const index = this.#compactions.findLastIndex(({ id }) => id === record.compactionId);
    const mark = this.#compactions[index];
    if (mark !== undefined) this.#compactions[index] = { ...mark, isUndone: true };
    this.#undoGauge(record.compactionId);
  }

  /** Reports from before a compaction measured the history that an undo restores. */
  #undoGauge(compactionId: string): void {
    const state = this.#before.get(compactionId);
    if (state === undefined) this.#estimateAnew();
    else this.#gauge.restore(state.gauge, this.#present.estimate - state.estimate);
  }

  #refillGauge(replacement: readonly Item[]): void {
    this.#gauge.startWindow();
    this.#gauge.addOverhead(this.#instructionEstimate);
    const added = this.#history.entries;
    replacement.forEach((item, index) => this.#gauge.add(item, added[index]?.value.estimate ?? 0));
    const kept = added.slice(replacement.length);
    this.#gauge.addOverhead(kept.reduce((sum, { value }) => sum + value.estimate, 0));
  }

  #takeTools(note: NoteRecord): void {
    const tokens = toolTokensIn(note);
    if (tokens === undefined) return;
    this.#notedTools = tokens;
    this.#gauge.expect(tokens);
  }

  #takeLimit(note: NoteRecord): void {
    const limit = limitIn(note);
    if (limit === undefined) return;
    // The answered request did fit.
    const window = Math.max(limit.window, this.#largestUsage);
    this.#learnt.set(limit.model, window);
  }

  #window(usage = 0): { window: number; usable: number; from: ContextAccount['windowFrom'] } {
    const supposed = this.#supposedWindow(usage);
    const learnt = this.#model === undefined ? undefined : this.#learnt.get(this.#model);
    return learnt === undefined || learnt >= supposed.window
      ? supposed
      : { window: learnt, usable: usableWindow(learnt), from: 'provider' };
  }

  #supposedWindow(usage: number): { window: number; usable: number; from: ContextAccount['windowFrom'] } {
    const { window: configured } = this.#settings;
    if (configured !== undefined) {
      return { window: configured, usable: usableWindow(configured), from: 'configured' };
    }
    if (this.#recordedUsable !== undefined) {
      const raw = Math.round((this.#recordedUsable * 100) / EFFECTIVE_WINDOW_PERCENT);
      return { window: raw, usable: this.#recordedUsable, from: 'recorded' };
    }
    const seen = Math.max(usage, this.#largestUsage);
    const known = this.#model === undefined ? undefined : knownWindow(this.#model, seen);
    const window = known ?? assumedWindow(seen);
    return { window, usable: usableWindow(window), from: known === undefined ? 'unknown' : 'model' };
  }
}

function summaryKind(record: CompactedRecord): CompactionMark['summary'] {
  const isEncrypted = record.replacement.some(({ type }) => type === 'compaction');
  if (record.summary === undefined) return isEncrypted ? 'encrypted' : 'none';
  return isEncrypted ? 'shadowed' : 'readable';
}
