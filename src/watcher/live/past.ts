// What a watcher that reopens a thread learns from its log: the newest state, and which of its effects are in the log.

import type { JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { STAGES } from '../state.ts';
import type { Resumed } from '../events.ts';
import type { WatcherState } from '../state.ts';
import { notedIds, withTexts } from './queue.ts';

/** The kind of the notes that hold states. */
export const STATE_NOTE = 'watcher_state';
/** The kind of the notes that hold the texts of waiting messages; state notes refer to them by id. */
export const QUEUED_NOTE = 'queued_message';
/** The kind of the notes that hold decisions. */
export const DECISION_NOTE = 'decision';

/** Messages of earlier turns are not requested again; a state can only refer to the newest few. */
const REMEMBERED = 100;

/** What the log contained. */
export interface FoundPast {
  /** Undefined in a new thread, and if the newest state cannot be read. */
  readonly state: WatcherState | undefined;
  readonly isStateDamaged: boolean;
  /** Number of waiting messages whose texts cannot be read. */
  readonly lostMessages: number;
  readonly logged: Resumed['logged'];
}

/** Reads the records of a thread, oldest first. */
export class PastFold {
  readonly #messages: string[] = [];
  readonly #handoffs: string[] = [];
  readonly #compactions: number[] = [];
  #state: JsonObject | undefined;
  readonly #texts = new Map<string, string>();
  #lastDecision = 0;
  /** The message whose turn has started; it is delivered once its text is in the log. */
  #due: string | undefined;

  add(record: LogRecord): void {
    switch (record.type) {
      case 'note':
        return this.#addNote(record.kind, record.value);
      case 'turn_started':
        this.#due = record.origin?.type === 'user' ? record.origin.messageId : undefined;
        return;
      case 'item': {
        const { item } = record;
        if (item.type === 'message' && item.role === 'user' && this.#due !== undefined) {
          remember(this.#messages, this.#due);
          this.#due = undefined;
        }
        if (item.origin?.step === 'handoff' && item.origin.sequenceId !== undefined) {
          remember(this.#handoffs, item.origin.sequenceId);
        }
        return;
      }
      case 'compacted': {
        const number = record.receipt?.audit?.['number'];
        if (typeof number === 'number') remember(this.#compactions, number);
        return;
      }
      default:
    }
  }

  #addNote(kind: string, value: JsonObject): void {
    if (kind === STATE_NOTE) this.#addState(value);
    if (kind === QUEUED_NOTE && typeof value['id'] === 'string' && typeof value['text'] === 'string') {
      this.#texts.set(value['id'], value['text']);
    }
    if (kind !== DECISION_NOTE) return;
    const number = /^decision-(\d+)$/.exec(String(value['id']))?.[1];
    if (number !== undefined) this.#lastDecision = Math.max(this.#lastDecision, Number(number));
  }

  #addState(value: JsonObject): void {
    this.#state = value;
    if (this.#texts.size === 0) return;
    const state = readState(value);
    const ids = state === undefined ? new Set() : notedIds(state);
    for (const id of this.#texts.keys()) if (!ids.has(id)) this.#texts.delete(id);
  }

  found(): FoundPast {
    const noted = this.#state === undefined ? undefined : readState(this.#state);
    const { state, lostMessages = 0 } = noted === undefined ? {} : withTexts(noted, this.#texts);
    return {
      state: state && withNumbersFrom(state, this.#lastDecision + 1),
      isStateDamaged: this.#state !== undefined && state === undefined,
      lostMessages,
      logged: { messages: this.#messages, handoffs: this.#handoffs, compactions: this.#compactions },
    };
  }
}

function remember<Value>(list: Value[], value: Value): void {
  list.push(value);
  if (list.length > REMEMBERED) list.shift();
}

/** Numbers that were used after the state was written are not used again. */
function withNumbersFrom(state: WatcherState, least: number): WatcherState {
  const nextNumber = Math.max(state.memory.nextNumber, least);
  return { ...state, memory: { ...state.memory, nextNumber } };
}

/** A state as written, or undefined if the note holds something else. */
function readState(value: JsonObject): WatcherState | undefined {
  const { stage, memory } = value;
  if (!isObject(stage) || !isObject(memory)) return undefined;
  const isKnown = STAGES.some((name) => name === stage['at']);
  const isWhole =
    Array.isArray(memory['queue']) &&
    typeof memory['nextNumber'] === 'number' &&
    isObject(memory['boundaries']);
  return isKnown && isWhole ? (value as unknown as WatcherState) : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
