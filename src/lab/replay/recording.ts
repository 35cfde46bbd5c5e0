// Plays a recorded log: turns, requests and the context's original size, without the agent's own compactions.

import { authorOf, callOf, resultCallId, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import type { CompactedRecord, LogRecord, MicroCompactedRecord } from '../../protocol/record.ts';
import type { TokensByCategory } from '../../protocol/receipt.ts';
import type { UsageSample } from '../../protocol/usage.ts';
import { NoveltyDetector } from '../../compaction/novelty.ts';
import { AccountFold } from '../../history/account.ts';
import { isUserMessage } from '../../history/filter.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { EstimateSettings } from '../../tokens/estimate.ts';
import { assumedWindow, knownWindow } from '../../tokens/models.ts';
import { EFFECTIVE_WINDOW_PERCENT } from '../../tokens/pressure.ts';
import type { SessionFacts } from './facts.ts';
import type { RecordingMoment, OwnCompaction, Play } from './play.ts';
import type { RecallMeter } from './recall.ts';
import { SizeScale } from './sizes.ts';

/** How to measure a recording. */
export interface RecordingSettings {
  readonly estimate: EstimateSettings;
  /** `token_safety_multiplier`: the factor on estimates before the first report. */
  readonly safetyMultiplier: number;
  /** `model_context_window`: overrides the log and the table. */
  readonly window?: number;
}

/** Virtual time per request if the log has no times. @source the median in real sessions, docs/decisions/replay.md */
const STEP_MS = 8_000;

/** Turns the records of one session into the steps of a play, one record at a time. */
export class Recording {
  readonly sizes: SizeScale;
  readonly #facts: SessionFacts;
  readonly #settings: RecordingSettings;
  readonly #recall: RecallMeter | undefined;
  /** The same as in every other view of the session. */
  readonly #account: AccountFold;
  readonly #own: OwnCompaction[] = [];
  readonly #openCalls = new Set<string>();
  readonly #novelty = new NoveltyDetector();
  #model: string | undefined;
  #recordedUsable: number | undefined;
  #line: number | undefined;
  #atMs = 0;
  #turn = 0;
  #request = 0;
  #step = 0;
  /** Position of the next item, as signals count: what a file starts with is in the context but not in its log. */
  #position = 0;
  #batchFrom = 0;
  /** What the agent's own compactions removed from the recorded context. */
  #offset = 0;
  /** Occupancy after the agent's own compaction, until the next report shows its gauge. */
  #floating: number | undefined;
  /** Estimate of the items since the last report; until the first report, of all items. */
  #sinceReport = 0;
  #lastReport: number | undefined;
  #hasTurnActed = false;
  #isTurnOpen = false;
  #hasAgentSpoken = true;
  #isAnswering = false;
  #hasResults = false;
  #lastMessage = '';
  #isUnsettled = false;
  #output: { reported: number | undefined; estimated: number } = { reported: undefined, estimated: 0 };

  /** @param recall measures what the agent's own compactions kept; absent: nothing is measured */
  constructor(facts: SessionFacts, settings: RecordingSettings, recall?: RecallMeter) {
    this.#recall = recall;
    this.#facts = facts;
    this.#settings = settings;
    this.#account = new AccountFold(settings, facts.hasUndo ? Infinity : 1);
    this.sizes = new SizeScale(facts.overhead, settings.safetyMultiplier);
  }

  /** The agent's own compactions so far. */
  get ownCompactions(): readonly OwnCompaction[] {
    return this.#own;
  }

  /** What the gauge would say of a history with so many tokens that no report has measured. */
  usedWith(tokens: number): number {
    return this.#account.usedWith(tokens);
  }

  /** Takes the next record in. @returns the steps that it makes, in order */
  add(record: LogRecord): readonly Play[] {
    // Without records of turns, a turn ends where the next begins, but its end is the agent's last item.
    const isNextTurn = !this.#facts.recordsTurns && record.type === 'item' && isUserMessage(record.item);
    const before = isNextTurn ? this.#closeTurn() : [];
    this.#line = record.line ?? this.#line;
    const at = record.at === undefined ? Number.NaN : Date.parse(record.at);
    if (!Number.isNaN(at)) this.#atMs = Math.max(this.#atMs, at);
    const plays = this.#play(record);
    return before.length === 0 ? plays : [...before, ...plays];
  }

  /** Reports the end of the log. */
  end(): readonly Play[] {
    return [...this.#closeTurn(), ...this.#settle(), { type: 'end', moment: this.#moment() }];
  }

  #play(record: LogRecord): readonly Play[] {
    switch (record.type) {
      case 'session_meta':
      case 'note':
      case 'undo_turn':
        this.#account.add(record);
        return [];
      case 'settings':
        this.#account.add(record);
        this.#model = record.model ?? this.#model;
        this.#recordedUsable = record.usableWindow ?? this.#recordedUsable;
        return [];
      case 'item': {
        const plays = this.#addItem(record.item, record);
        this.#position++;
        return plays;
      }
      case 'usage':
        this.#addSample(record.usage, record);
        return [];
      case 'turn_started':
        this.#account.add(record);
        this.#isTurnOpen = true;
        return [];
      case 'turn_complete':
        return this.#endTurn(record.turnId, false);
      case 'turn_aborted':
        return this.#endTurn(record.turnId, true);
      case 'compacted':
        return this.#passCompaction(record, record);
      case 'micro_compacted':
        this.#noteMicro(record, record);
        return [];
      case 'undo_compaction':
        this.#float(record);
        return [];
      default:
        return [];
    }
  }

  /** Ends the running turn. If it still owes a request, because results have come or are due, it was stopped. */
  #closeTurn(): readonly Play[] {
    return this.#hasTurnActed ? this.#endTurn(undefined, this.#hasResults || this.#openCalls.size > 0) : [];
  }

  /** @param record what the recorded account adds for it; absent: nothing more */
  #addItem(item: Item, record?: LogRecord): readonly Play[] {
    const plays: Play[] = [];
    const isUser = isUserMessage(item);
    const isAgent = authorOf(item) === 'agent' && !isPlaceholder(item);
    if (isUser) plays.push(...this.#startTurn(item));
    else if (isAgent) plays.push(...this.#ask());
    else this.#isAnswering = false;
    const split = this.#split(item);
    const estimated = sumTokens(split);
    const tokens = this.sizes.scaled(estimated);
    if (record !== undefined) this.#account.add(record);
    this.#sinceReport += estimated;
    if (this.#floating !== undefined) this.#floating += tokens;
    if (isAgent) this.#output.estimated += tokens;
    this.#followCalls(item);
    if (isAgent) this.#followWords(item);
    this.#step++;
    const isProgress = this.#novelty.add({ type: 'item', item });
    plays.push({ type: 'item', moment: this.#moment(), item, isProgress });
    return plays;
  }

  #startTurn(item: Item & { readonly type: 'message' }): readonly Play[] {
    const before = this.#settle();
    const isSteering = this.#hasTurnActed;
    // A user who continues no longer waits for an interrupted call.
    if (!isSteering) this.#openCalls.clear();
    if (this.#hasAgentSpoken) this.#turn++;
    this.#hasAgentSpoken = false;
    const text = textOfParts(item.content);
    return [...before, { type: 'user_arrives', moment: this.#moment(), text, isSteering }];
  }

  #ask(): readonly Play[] {
    this.#hasAgentSpoken = true;
    this.#hasTurnActed = true;
    if (this.#isAnswering) return [];
    const before = this.#settle();
    this.#isAnswering = true;
    this.#isUnsettled = true;
    this.#request++;
    if (!this.#facts.hasTimes) this.#atMs += STEP_MS;
    const isFollowUp = this.#hasResults && this.#openCalls.size === 0;
    const batchFrom = isFollowUp ? this.#batchFrom : undefined;
    this.#hasResults = false;
    this.#batchFrom = this.#position;
    return [...before, { type: 'request', moment: this.#moment(), isFollowUp, batchFrom }];
  }

  /** The last request's answer is complete when something else begins: some logs report its size after the results. */
  #settle(): readonly Play[] {
    this.#isAnswering = false;
    if (!this.#isUnsettled) return [];
    this.#isUnsettled = false;
    const { reported, estimated } = this.#output;
    this.#output = { reported: undefined, estimated: 0 };
    return [{ type: 'answered', moment: this.#moment(), outputTokens: reported ?? estimated }];
  }

  #followCalls(item: Item): void {
    const callId = callOf(item)?.callId;
    const answered = resultCallId(item);
    if (callId !== undefined) this.#openCalls.add(callId);
    if (answered === undefined) return;
    this.#openCalls.delete(answered);
    this.#hasResults = true;
  }

  #followWords(item: Item): void {
    if (callOf(item) !== undefined) {
      this.#lastMessage = '';
    } else if (item.type === 'message' && textOfParts(item.content).trim() !== '') {
      this.#lastMessage = textOfParts(item.content);
    }
  }

  #endTurn(turnId: string | undefined, isAborted: boolean): readonly Play[] {
    const before = this.#settle();
    const hasActed = this.#hasTurnActed;
    const lastMessage = this.#lastMessage;
    this.#hasTurnActed = false;
    this.#isTurnOpen = false;
    this.#hasResults = false;
    this.#openCalls.clear();
    this.#lastMessage = '';
    return hasActed
      ? [...before, { type: 'turn_end', moment: this.#moment(), turnId, lastMessage, isAborted }]
      : before;
  }

  #addSample(sample: UsageSample, record: LogRecord): void {
    const before = this.#uncompacted();
    const { rejectedCount } = this.#account;
    this.#account.add(record);
    if (this.#account.rejectedCount !== rejectedCount || sample.source !== 'reported') return;
    if (this.#floating !== undefined) {
      this.#offset = before - this.#account.gauge().used;
      this.#floating = undefined;
    } else if (this.#lastReport !== undefined) {
      this.sizes.learn(sample.total - this.#lastReport, this.#sinceReport);
    } else this.sizes.start();
    // Claude Code reports the answer as it was when the line was written.
    if (sample.covers === 'response') this.#output.reported = sample.output;
    this.#lastReport = sample.total;
    this.#sinceReport = 0;
  }

  #passCompaction(record: CompactedRecord, at: LogRecord): readonly Play[] {
    // The file starts in the middle of a session: what that compaction kept is all that remains of its past.
    if (this.#step === 0) {
      this.#account.add(at);
      return record.replacement.flatMap((item) => this.#addItem(item));
    }
    const before = this.#settle();
    const where = this.#ownMark(record);
    this.#float(at);
    const { replacement } = record;
    const isReadable = (record.summary ?? '').trim() !== '' && replacement.length > 0;
    this.#own.push({
      ...where,
      ...this.#ownSizes(),
      kind: 'full',
      phase: record.phase,
      recall: isReadable ? this.#recall?.measure(this.#step, replacement) : undefined,
    });
    return before;
  }

  #noteMicro(record: MicroCompactedRecord, at: LogRecord): void {
    const where = this.#ownMark(record);
    this.#float(at);
    this.#own.push({ ...where, ...this.#ownSizes(), kind: 'micro', phase: undefined, recall: undefined });
  }

  #ownSizes(): Pick<OwnCompaction, 'preTokens' | 'postTokens'> {
    const { preTokens = 0, postTokens = 0 } = this.#account.newestCompaction ?? {};
    return { preTokens, postTokens };
  }

  #ownMark(record: CompactedRecord | MicroCompactedRecord) {
    return {
      turn: this.#turn,
      request: this.#request,
      line: this.#line,
      trigger: record.trigger,
      step: this.#step,
      isInsideTurn: this.#hasTurnActed && (this.#isTurnOpen || this.#hasResults || this.#openCalls.size > 0),
    };
  }

  /** The recorded context changes in another way than growing: from here on the play uses estimates for a while. */
  #float(record: LogRecord): void {
    this.#floating = this.#uncompacted();
    this.#account.add(record);
    this.#lastReport = undefined;
    this.#sinceReport = 0;
  }

  #uncompacted(): number {
    return this.#floating ?? Math.max(0, this.#account.gauge().used + this.#offset);
  }

  #moment(): RecordingMoment {
    return {
      turn: this.#turn,
      request: this.#request,
      line: this.#line,
      atMs: this.#atMs,
      recorded: this.#account.gauge().used,
      uncompacted: this.#uncompacted(),
      window: this.#window(),
      model: this.#model,
      openCalls: this.#openCalls.size,
      step: this.#step,
    };
  }

  #window(): number {
    if (this.#settings.window !== undefined) return this.#settings.window;
    if (this.#recordedUsable !== undefined) {
      return Math.round((this.#recordedUsable * 100) / EFFECTIVE_WINDOW_PERCENT);
    }
    const { largestUsage } = this.#facts;
    const held = Math.max(largestUsage.get(this.#model ?? '') ?? 0, largestUsage.get('') ?? 0);
    return (this.#model === undefined ? undefined : knownWindow(this.#model, held)) ?? assumedWindow(held);
  }

  #split(item: Item): TokensByCategory {
    const { estimate } = this.#settings;
    return itemTokens(item, (text) => approximateTokens(text, estimate), estimate);
  }
}

/** Whether a client wrote the item in the agent's name after a failure. */
export function isPlaceholder(item: Item): boolean {
  return item.type === 'message' && (item.isApiErrorMessage === true || item.model === '<synthetic>');
}
