// A recording as a script: what reached the agent and what it answered, in turns, with the results of its calls. Omits
// the agent's own compactions and the watcher's messages in it: a live thread makes its own.

import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { Item, ToolOutputItem } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { Hash } from '../../ports.ts';
import { FactsFold } from '../replay/facts.ts';
import type { SessionFacts } from '../replay/facts.ts';
import type { Play } from '../replay/play.ts';
import { isPlaceholder, Recording } from '../replay/recording.ts';
import type { RecordingSettings } from '../replay/recording.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { EstimateSettings } from '../../tokens/estimate.ts';
import { placedItem } from './script-position.ts';

/** Input of the agent: user messages, and the harness's text beside them. At least one item. */
export interface InputStep {
  readonly type: 'input';
  readonly items: readonly Item[];
  /** It arrived while the agent was working, during a turn. */
  readonly isSteering: boolean;
}

/** The agent's answer to one request. At least one item. */
export interface AnswerStep {
  readonly type: 'answer';
  /** Reasoning, messages and calls; results only for calls that only their provider answers. */
  readonly items: readonly Item[];
  /** Recorded milliseconds from the preceding item to its last item; 0 if the recording has no times. */
  readonly durationMs: number;
}

export type ScriptStep = InputStep | AnswerStep;

/** The recorded result of a call. */
export interface RecordedResult {
  readonly item: ToolOutputItem;
  /** Recorded milliseconds since the last item of the answer with the call. */
  readonly durationMs: number;
}

/** A recording that can be played. */
export interface Script {
  /** Eight hex digits that identify the recording in a thread. A recording that grows keeps them. */
  readonly fingerprint: string;
  /** In the order of the recording. Their items have new ids, see `script-position.ts`; the ids of calls are unique. */
  readonly steps: readonly ScriptStep[];
  /** By the id of the call in the steps. */
  readonly results: ReadonlyMap<string, RecordedResult>;
  /** Names of the recorded tools, each once, in the order of their first calls. */
  readonly toolNames: readonly string[];
  /** Reported tokens per estimated token, 0.5 to 3; 1 without reports. */
  readonly scale: number;
  /** Raw window of the model at the end of the recording, in tokens. */
  readonly window: number;
}

/** How to read a recording. */
export interface ScriptSettings {
  readonly estimate: EstimateSettings;
  /** `model_context_window`: overrides the recording. */
  readonly window?: number | undefined;
  readonly hash: Hash;
}

/** Reads a whole recording. */
export function readScript(records: readonly LogRecord[], settings: ScriptSettings): Script {
  const { estimate, window, hash } = settings;
  const facts = factsOf(records, estimate);
  const recordingSettings: RecordingSettings = {
    estimate,
    safetyMultiplier: 1,
    ...(window === undefined ? {} : { window }),
  };
  const recording = new Recording(facts, recordingSettings);
  const writer = new ScriptWriter(facts.hasTimes);
  for (const record of records) {
    writer.follow(record);
    for (const play of recording.add(record)) writer.add(play);
  }
  for (const play of recording.end()) writer.add(play);
  const { steps, results, toolNames, window: lastWindow } = writer.finish();
  const sessionId = records.find((record) => record.type === 'session_meta')?.sessionId;
  const fingerprint = hash(JSON.stringify([sessionId, steps.slice(0, 2)])).slice(0, 8);
  return {
    fingerprint,
    steps: steps.map((step, at) => ({
      ...step,
      items: step.items.map((item, part) => placedItem(item, fingerprint, { step: at, part })),
    })),
    results,
    toolNames,
    scale: recording.sizes.scale,
    window: lastWindow,
  };
}

function factsOf(records: readonly LogRecord[], estimate: EstimateSettings): SessionFacts {
  const countText = (text: string): number => approximateTokens(text, estimate);
  const fold = new FactsFold((item) => sumTokens(itemTokens(item, countText, estimate)), countText);
  for (const record of records) fold.add(record);
  return fold.facts();
}

interface OpenAnswer {
  readonly type: 'answer';
  readonly items: Item[];
  durationMs: number;
  endedAtMs: number;
}

/** Assembles the steps, one play at a time. */
class ScriptWriter {
  readonly #hasTimes: boolean;
  readonly #steps: (InputStep | OpenAnswer)[] = [];
  readonly #results = new Map<string, RecordedResult>();
  readonly #toolNames = new Set<string>();
  /** The new id of each recorded call that has no result so far. */
  readonly #open = new Map<string, { readonly callId: string; readonly answer: OpenAnswer }>();
  readonly #callIds = new Set<string>();
  #pending: Item[] = [];
  #answer: OpenAnswer | undefined;
  #hasTurnEnded = true;
  /** The agent's present messages answer the watcher. */
  #isCeremony = false;
  #atMs: number | undefined;
  #window = 0;

  constructor(hasTimes: boolean) {
    this.#hasTimes = hasTimes;
  }

  /** Sees each record before its plays. */
  follow({ type }: LogRecord): void {
    if (type === 'compacted' || type === 'turn_complete' || type === 'turn_aborted') this.#isCeremony = false;
  }

  add(play: Play): void {
    switch (play.type) {
      case 'request':
        this.#answer = undefined;
        return;
      case 'turn_end':
        this.#answer = undefined;
        this.#hasTurnEnded = true;
        return;
      case 'item':
        this.#addItem(play.item, play.moment.atMs);
        this.#atMs = play.moment.atMs;
        return;
      case 'end':
        this.#window = play.moment.window;
        return;
      default:
    }
  }

  finish(): Pick<Script, 'steps' | 'results' | 'toolNames' | 'window'> {
    // Without a user message, the last input would not request anything from the agent.
    if (this.#pending.some((item) => authorOf(item) === 'user')) this.#flushInput();
    const steps = this.#steps.map((step): ScriptStep =>
      step.type === 'input' ? step : { type: 'answer', items: step.items, durationMs: step.durationMs },
    );
    return { steps, results: this.#results, toolNames: [...this.#toolNames], window: this.#window };
  }

  #addItem(item: Item, atMs: number): void {
    if (item.origin?.author === 'synthetic') {
      const { step } = item.origin;
      this.#isCeremony = step !== 'handoff' && step !== 'packet';
    } else if (resultCallId(item) !== undefined) this.#addResult(item, atMs);
    else if (authorOf(item) === 'agent') {
      if (!this.#isCeremony && item.origin?.step === undefined && !isPlaceholder(item)) {
        this.#addToAnswer(item, atMs);
      }
    } else if (isHeard(item)) {
      if (authorOf(item) === 'user') this.#isCeremony = false;
      this.#pending.push(item);
    }
  }

  #addToAnswer(item: Item, atMs: number): void {
    this.#answer ??= this.#beginAnswer();
    const answer = this.#answer;
    answer.durationMs += this.#since(this.#atMs, atMs);
    answer.endedAtMs = atMs;
    const { callId, name } = callOf(item) ?? {};
    if (name !== undefined) this.#toolNames.add(name);
    if (callId === undefined) {
      answer.items.push(item);
      return;
    }
    const fresh = this.#freshCallId(callId);
    this.#open.set(callId, { callId: fresh, answer });
    answer.items.push(withCallId(item, fresh));
  }

  #beginAnswer(): OpenAnswer {
    this.#flushInput();
    const answer: OpenAnswer = { type: 'answer', items: [], durationMs: 0, endedAtMs: 0 };
    this.#steps.push(answer);
    this.#hasTurnEnded = false;
    return answer;
  }

  #flushInput(): void {
    if (this.#pending.length === 0) return;
    this.#steps.push({ type: 'input', items: this.#pending, isSteering: !this.#hasTurnEnded });
    this.#pending = [];
  }

  /** The first result of a call counts, whenever it came; one without a call answers nothing. */
  #addResult(item: Item, atMs: number): void {
    const recordedId = resultCallId(item) ?? '';
    const call = this.#open.get(recordedId);
    if (call === undefined) return;
    this.#open.delete(recordedId);
    const result = withCallId(item, call.callId);
    if (result.type === 'function_call_output' || result.type === 'custom_tool_call_output') {
      const durationMs = this.#since(call.answer.endedAtMs, atMs);
      this.#results.set(call.callId, { item: result, durationMs });
    } else call.answer.items.push(result);
  }

  /** Some recorders give one id to several calls. */
  #freshCallId(callId: string): string {
    let fresh = callId;
    for (let again = 2; this.#callIds.has(fresh); again++) fresh = `${callId}-${again}`;
    this.#callIds.add(fresh);
    return fresh;
  }

  #since(fromMs: number | undefined, toMs: number): number {
    return this.#hasTimes && fromMs !== undefined ? Math.max(0, toMs - fromMs) : 0;
  }
}

function withCallId(item: Item, callId: string): Item {
  if (item.type === 'unknown') return { ...item, raw: { ...item.raw, call_id: callId } };
  return 'call_id' in item ? { ...item, call_id: callId } : item;
}

/** Whether an item is input for the agent; the live thread makes its own summaries and marks of compactions. */
function isHeard(item: Item): boolean {
  switch (item.type) {
    case 'compaction':
    case 'compact_boundary':
    case 'progress':
    case 'ghost_snapshot':
      return false;
    case 'message':
      return !isPlaceholder(item);
    default:
      return true;
  }
}
