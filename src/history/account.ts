// What fills a context, and how it got there: one fold over the log that keeps sizes, never texts.

import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { CompactedRecord, LogRecord, MicroCompactedRecord } from '../protocol/record.ts';
import type { Receipt, TokensByCategory } from '../protocol/receipt.ts';
import type { UsageSample } from '../protocol/usage.ts';
import type { Category, Phase, Trigger } from '../vocabulary.ts';
import { UsageGauge } from '../tokens/anchor.ts';
import type { Prediction, Usage } from '../tokens/anchor.ts';
import { addTokens, approximateTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText, EstimateSettings } from '../tokens/estimate.ts';
import { knownWindow, UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { EFFECTIVE_WINDOW_PERCENT, percentRemaining, usableWindow } from '../tokens/pressure.ts';
import { clearResult } from './clear.ts';
import { findBrokenPairs } from './pairs.ts';
import type { BrokenPairs } from './pairs.ts';
import { isUserMessage } from './filter.ts';
import { HistoryFold } from './project.ts';
import type { Entry } from './project.ts';

/** A moment of the gauge: what a provider reported, or the estimate at the end of the file. */
export interface GaugePoint {
  /** Counted from 1; 0 before the first user message. */
  readonly turn: number;
  readonly line: number | undefined;
  readonly used: number;
  readonly percentRemaining: number;
}

/** A compaction as the log tells it. */
export interface CompactionMark {
  readonly id: string;
  readonly kind: 'full' | 'micro';
  readonly line: number | undefined;
  readonly at: string | undefined;
  readonly turn: number;
  /** Index in `points` of the first point after it. */
  readonly pointIndex: number;
  readonly trigger: Trigger | undefined;
  readonly phase: Phase | undefined;
  /** Occupancy just before, as recorded, else as the gauge had it. */
  readonly preTokens: number;
  /** Occupancy just after, as recorded, else by estimate without margin. */
  readonly postTokens: number;
  readonly window: number;
  readonly summary: 'readable' | 'encrypted' | 'none';
  readonly summaryTokens: number;
  /** Items of the history before and after. */
  readonly itemsBefore: number;
  readonly itemsAfter: number;
  /** Calls whose results were cleared (micro only). */
  readonly clearedResults: number;
  readonly isUndone: boolean;
  readonly receipt: Receipt | undefined;
}

/** Counts over the whole file, whatever is still in the context. */
export interface RecordedCounts {
  items: number;
  sideItems: number;
  userMessages: number;
  harnessMessages: number;
  assistantMessages: number;
  reasoning: number;
  calls: number;
  results: number;
  unknownItems: number;
}

/** Tokens of the results of one tool in the present context. */
export interface ToolShare {
  readonly tool: string;
  readonly results: number;
  readonly tokens: number;
}

/** The account of a session. */
export interface ContextAccount {
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
  readonly producerVersion: string | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  /** Raw window; `windowFrom` says how it is known. */
  readonly window: number;
  readonly usableWindow: number;
  readonly windowFrom: 'configured' | 'recorded' | 'model' | 'unknown';
  readonly usage: Usage;
  readonly percentRemaining: number;
  readonly categories: TokensByCategory;
  readonly tools: readonly ToolShare[];
  /** Occupancy that no item of the file explains: system prompt, tool schemas. Undefined without an anchor. */
  readonly unrecorded: number | undefined;
  readonly turns: number;
  readonly points: readonly GaugePoint[];
  readonly compactions: readonly CompactionMark[];
  readonly brokenPairs: BrokenPairs;
  readonly recorded: Readonly<RecordedCounts>;
  readonly predictions: readonly Prediction[];
  /** Samples that could not be true, with their lines. */
  readonly rejectedSamples: readonly { readonly line: number | undefined; readonly why: string }[];
}

/** How an account counts. */
export interface AccountSettings {
  readonly estimate: EstimateSettings;
  /** `token_safety_multiplier`. */
  readonly safetyMultiplier: number;
  /** Counts for the categories; the estimate unless given. The gauge always uses the estimate. */
  readonly count?: CountText;
  /** `model_context_window`: overrides what the file and the table say. */
  readonly window?: number;
}

interface Light {
  readonly split: TokensByCategory;
  readonly estimate: number;
  readonly callId: string | undefined;
  readonly resultOf: string | undefined;
  /** The same, cleared. Only results have one. */
  readonly cleared?: Light;
}

/** Folds a log into an account, one record at a time. */
export class AccountFold {
  readonly #settings: AccountSettings;
  readonly #history: HistoryFold<Light>;
  readonly #gauge: UsageGauge;
  readonly #recorded: RecordedCounts = {
    items: 0,
    sideItems: 0,
    userMessages: 0,
    harnessMessages: 0,
    assistantMessages: 0,
    reasoning: 0,
    calls: 0,
    results: 0,
    unknownItems: 0,
  };
  readonly #toolOfCall = new Map<string, string>();
  readonly #points: GaugePoint[] = [];
  readonly #compactions: CompactionMark[] = [];
  readonly #predictions: Prediction[] = [];
  readonly #rejected: { line: number | undefined; why: string }[] = [];
  #meta: { sessionId?: string; cwd?: string; producerVersion?: string } = {};
  #model: string | undefined;
  #recordedUsable: number | undefined;
  #largestUsage = 0;
  #startedAt: string | undefined;
  #endedAt: string | undefined;
  #instructionTokens = 0;
  #turn = 0;
  #agentSpokeThisTurn = true;
  #instructionEstimate = 0;

  constructor(settings: AccountSettings) {
    this.#settings = settings;
    this.#gauge = new UsageGauge(settings.safetyMultiplier);
    this.#history = new HistoryFold<Light>({
      make: (item) => this.#light(item),
      resultCallId: ({ resultOf }) => resultOf,
      clear: (light) => light.cleared ?? light,
    });
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
        this.#model = record.model ?? this.#model;
        this.#recordedUsable = record.usableWindow ?? this.#recordedUsable;
        if (record.cwd !== undefined) this.#meta.cwd = record.cwd;
        break;
      case 'item':
        this.#takeItem(record.item, record);
        break;
      case 'side_item':
        this.#recorded.sideItems++;
        this.#countRecorded(record.item);
        break;
      case 'usage':
        this.#takeSample(record.usage, record.line);
        break;
      case 'compacted':
        this.#takeCompaction(record, record);
        break;
      case 'micro_compacted':
        this.#takeMicro(record, record);
        break;
      case 'undo_compaction':
        this.#takeUndo(record, record.compactionId);
        break;
      default:
        break;
    }
  }

  /** The account as of the last record. */
  account(): ContextAccount {
    const categories: Partial<Record<Category, number>> = {};
    const tools = new Map<string, { results: number; tokens: number }>();
    for (const { value } of this.#history.entries) {
      addTokens(categories, value.split);
      if (value.resultOf !== undefined) this.#countTool(tools, value.resultOf, value.split);
    }
    if (this.#instructionTokens > 0) addTokens(categories, { system: this.#instructionTokens });
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
      tools: [...tools]
        .map(([tool, share]) => ({ tool, ...share }))
        .toSorted((a, b) => b.tokens - a.tokens || (a.tool < b.tool ? -1 : 1)),
      unrecorded: usage.anchor === 'none' ? undefined : usage.used - counted,
      turns: this.#turn,
      points: [...this.#points, this.#point(usage.used, undefined)],
      compactions: this.#compactions,
      brokenPairs: findBrokenPairs(this.#history.entries.map(({ value }) => value)),
      recorded: this.#recorded,
      predictions: this.#predictions,
      rejectedSamples: this.#rejected,
    };
  }

  #identity() {
    return {
      sessionId: this.#meta.sessionId,
      model: this.#model,
      cwd: this.#meta.cwd,
      producerVersion: this.#meta.producerVersion,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
    };
  }

  #takeMeta(record: LogRecord & { readonly type: 'session_meta' }): void {
    const { sessionId, cwd, producerVersion, instructions } = record;
    this.#meta = {
      ...this.#meta,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(producerVersion === undefined ? {} : { producerVersion }),
    };
    if (instructions === undefined) return;
    const estimate = this.#estimate(instructions);
    this.#gauge.addOverhead(estimate - this.#instructionEstimate);
    this.#instructionEstimate = estimate;
    this.#instructionTokens = (this.#settings.count ?? this.#estimate)(instructions);
  }

  readonly #estimate: CountText = (text) => approximateTokens(text, this.#settings.estimate);

  #light(item: Item): Light {
    const resultOf = resultCallId(item);
    const light: Light = { ...this.#sizes(item), callId: callOf(item)?.callId, resultOf };
    return resultOf === undefined
      ? light
      : { ...light, cleared: { ...light, ...this.#sizes(clearResult(item)) } };
  }

  #sizes(item: Item): Pick<Light, 'split' | 'estimate'> {
    const { count, estimate: settings } = this.#settings;
    const estimated = itemTokens(item, this.#estimate, settings);
    return {
      split: count === undefined ? estimated : itemTokens(item, count, settings),
      estimate: sumTokens(estimated),
    };
  }

  #takeItem(item: Item, record: LogRecord): void {
    this.#recorded.items++;
    this.#countRecorded(item);
    this.#startTurn(item);
    this.#history.add(record);
    this.#gauge.add(item, this.#history.entries.at(-1)?.value.estimate ?? 0);
  }

  #startTurn(item: Item): void {
    if (isUserMessage(item)) {
      if (this.#agentSpokeThisTurn) this.#turn++;
      this.#agentSpokeThisTurn = false;
    } else if (authorOf(item) === 'agent') this.#agentSpokeThisTurn = true;
  }

  #countRecorded(item: Item): void {
    const call = callOf(item);
    if (call !== undefined) {
      this.#recorded.calls++;
      if (call.callId !== undefined) this.#toolOfCall.set(call.callId, call.name);
    } else if (resultCallId(item) !== undefined) this.#recorded.results++;
    else if (item.type === 'reasoning') this.#recorded.reasoning++;
    else if (item.type === 'unknown') this.#recorded.unknownItems++;
    else if (item.type === 'message') {
      if (item.role === 'assistant') this.#recorded.assistantMessages++;
      else if (isUserMessage(item)) this.#recorded.userMessages++;
      else this.#recorded.harnessMessages++;
    }
  }

  #takeSample(sample: UsageSample, line: number | undefined): void {
    const { window } = this.#window(sample.source === 'reported' ? sample.total : 0);
    const verdict = this.#gauge.sample(sample, window);
    if (!verdict.accepted) {
      this.#rejected.push({ line, why: verdict.why });
      return;
    }
    if (verdict.prediction !== undefined) this.#predictions.push(verdict.prediction);
    this.#largestUsage = Math.max(this.#largestUsage, sample.total);
    if (sample.source === 'reported') this.#points.push(this.#point(sample.total, line));
  }

  #point(used: number, line: number | undefined): GaugePoint {
    return { turn: this.#turn, line, used, percentRemaining: percentRemaining(used, this.#window().usable) };
  }

  #takeCompaction(record: CompactedRecord, at: LogRecord): void {
    const before = this.#gauge.usage().used;
    const itemsBefore = this.#history.entries.length;
    this.#history.add(at);
    this.#refillGauge(record.replacement);
    const after = this.#history.entries;
    const postTokens = record.postTokens ?? after.reduce((sum, { value }) => sum + value.estimate, 0);
    this.#compactions.push({
      ...this.#mark(record, at),
      kind: 'full',
      phase: record.phase,
      preTokens: record.preTokens ?? before,
      postTokens,
      summary: summaryKind(record),
      summaryTokens: record.summary === undefined ? 0 : this.#estimate(record.summary),
      itemsBefore,
      itemsAfter: after.length,
      clearedResults: 0,
    });
  }

  #takeMicro(record: MicroCompactedRecord, at: LogRecord): void {
    const before = this.#gauge.usage().used;
    const sizeBefore = this.#size();
    this.#history.add(at);
    const saved = sizeBefore - this.#size();
    this.#gauge.remove(saved);
    const items = this.#history.entries.length;
    this.#compactions.push({
      ...this.#mark(record, at),
      kind: 'micro',
      phase: undefined,
      preTokens: record.preTokens ?? before,
      postTokens: (record.preTokens ?? before) - (record.tokensSaved ?? saved),
      summary: 'none',
      summaryTokens: 0,
      itemsBefore: items,
      itemsAfter: items,
      clearedResults: record.callIds.length,
    });
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

  #takeUndo(record: LogRecord, compactionId: string): void {
    if (this.#history.add(record) !== 'undone') return;
    const index = this.#compactions.findLastIndex(({ id }) => id === compactionId);
    const mark = this.#compactions[index];
    if (mark !== undefined) this.#compactions[index] = { ...mark, isUndone: true };
    this.#gauge.reset();
    this.#gauge.addOverhead(this.#instructionEstimate + this.#size());
  }

  #refillGauge(replacement: readonly Item[]): void {
    this.#gauge.reset();
    this.#gauge.addOverhead(this.#instructionEstimate);
    const added = this.#history.entries;
    replacement.forEach((item, index) => this.#gauge.add(item, added[index]?.value.estimate ?? 0));
    const kept = added.slice(replacement.length);
    this.#gauge.addOverhead(kept.reduce((sum, { value }) => sum + value.estimate, 0));
  }

  #size(): number {
    return this.#history.entries.reduce((sum: number, { value }: Entry<Light>) => sum + value.estimate, 0);
  }

  #countTool(
    tools: Map<string, { results: number; tokens: number }>,
    callId: string,
    split: TokensByCategory,
  ): void {
    const tool = this.#toolOfCall.get(callId) ?? 'unknown';
    const share = tools.get(tool);
    if (share === undefined) tools.set(tool, { results: 1, tokens: sumTokens(split) });
    else {
      share.results++;
      share.tokens += sumTokens(split);
    }
  }

  #window(usage = 0): { window: number; usable: number; from: ContextAccount['windowFrom'] } {
    const { window: configured } = this.#settings;
    if (configured !== undefined) {
      return { window: configured, usable: usableWindow(configured), from: 'configured' };
    }
    if (this.#recordedUsable !== undefined) {
      const raw = Math.round((this.#recordedUsable * 100) / EFFECTIVE_WINDOW_PERCENT);
      return { window: raw, usable: this.#recordedUsable, from: 'recorded' };
    }
    const known =
      this.#model === undefined ? undefined : knownWindow(this.#model, Math.max(usage, this.#largestUsage));
    const window = known ?? UNKNOWN_MODEL_WINDOW;
    return { window, usable: usableWindow(window), from: known === undefined ? 'unknown' : 'model' };
  }
}

function summaryKind(record: CompactedRecord): CompactionMark['summary'] {
  if (record.summary !== undefined) return 'readable';
  return record.replacement.some(({ type }) => type === 'compaction') ? 'encrypted' : 'none';
}
