// The display of a thread: the same events live and on resume, because both come from its records.

import { isUserTurn } from '../history/project.ts';
import { completedEvent } from '../compaction/completed.ts';
import { authorOf, callOf, resultCallId, textOfParts } from '../protocol/item.ts';
import type { Item, MessageItem } from '../protocol/item.ts';
import type { TranscriptEntry } from '../protocol/wire/event.ts';
import { markerOf, withoutMarker } from '../protocol/marker.ts';
import type { Receipt, SummaryAttempt } from '../protocol/receipt.ts';
import type { LogRecord, TurnRecord } from '../protocol/record.ts';
import { MOST_ENTRIES, MOST_TRANSCRIPT_CHARACTERS } from '../protocol/wire/shown.ts';
import { wireOrigin } from '../protocol/turn.ts';
import { IMPLEMENTATIONS } from '../vocabulary.ts';
import { callBegin, callEnd, notedCall } from './calls.ts';
import type { CallDetails } from './calls.ts';

/** The turn that contains the records. */
interface OpenTurn {
  readonly id: string;
  /** Number of the agent's messages so far, which names the next one. */
  readonly said: number;
  readonly answers: readonly string[];
}

/** Follows the records of a thread, oldest first, and returns how to display each. */
export class TranscriptFold {
  #turn: OpenTurn | undefined;
  #position = 0;
  /** Details of calls whose result has not arrived yet. */
  readonly #details = new Map<string, CallDetails>();

  /** The id of the agent's next message, after `further` others of the same answer. */
  nextMessageId(further = 0): string {
    const { id = 'thread', said = 0 } = this.#turn ?? {};
    return `${id}-message-${said + further + 1}`;
  }

  /** The entry that displays a record, if any. */
  add(record: LogRecord): TranscriptEntry | undefined {
    switch (record.type) {
      case 'item':
        return this.#addItem(record.item);
      case 'turn_started':
        return this.#start(record);
      case 'turn_complete':
      case 'turn_aborted':
        return this.#end(record);
      case 'note': {
        const noted = notedCall(record);
        if (noted !== undefined) this.#details.set(noted.callId, noted.details);
        return undefined;
      }
      case 'compacted':
        return isWhole(record.receipt) ? completedEvent(record.receipt) : undefined;
      case 'micro_compacted': {
        const { id, callIds, receipt } = record;
        const saved = isCount(record.tokensSaved) ? record.tokensSaved : 0;
        const before = isCount(record.preTokens) ? record.preTokens : saved;
        return {
          type: 'micro_compact_completed',
          id,
          tools_compacted: callIds.length,
          pre_compact_tokens: before,
          post_compact_tokens: Math.max(0, before - saved),
          tokens_saved: saved,
          duration_ms: isDuration(receipt?.durationMs) ? receipt.durationMs : 0,
        };
      }
      case 'undo_compaction':
        return { type: 'undo_completed', what: 'compaction', id: record.compactionId, paths: [], left: [] };
      default:
        return undefined;
    }
  }

  #start(record: TurnRecord): TranscriptEntry {
    const { turnId: id = '' } = record;
    this.#turn = { id, said: 0, answers: [] };
    return { type: 'turn_started', ...turnOf(record) };
  }

  #end(record: TurnRecord): TranscriptEntry {
    const { answers = [] } = this.#turn ?? {};
    this.#turn = undefined;
    this.#details.clear();
    const { lastAgentMessage = null, stopReason = null, reason = 'interrupted', errorCode = null } = record;
    return record.type === 'turn_complete'
      ? {
          type: 'turn_complete',
          ...turnOf(record),
          answers,
          stop_reason: stopReason,
          last_agent_message: lastAgentMessage,
        }
      : { type: 'turn_aborted', ...turnOf(record), answers, error_code: errorCode, reason };
  }

  #addItem(item: Item): TranscriptEntry | undefined {
    const position = this.#position++;
    const turnId = this.#turn?.id ?? null;
    if (item.type === 'message') return this.#addMessage(item, position);
    const call = callOf(item);
    if (call?.callId !== undefined) return callBegin({ ...call, callId: call.callId }, turnId);
    const answered = resultCallId(item);
    if (answered === undefined) return undefined;
    const details = this.#details.get(answered) ?? {};
    this.#details.delete(answered);
    return callEnd(answered, item, details, turnId);
  }

  #addMessage(item: MessageItem, position: number): TranscriptEntry | undefined {
    if (item.role !== 'user' && item.role !== 'assistant') return undefined;
    const author = authorOf(item);
    const isAgents = item.role === 'assistant' && author === 'agent';
    const id = isAgents && this.#turn !== undefined ? this.nextMessageId() : namedBy(item, position);
    if (this.#turn !== undefined) {
      const { said, answers } = this.#turn;
      const isUsers = item.role === 'user' && author === 'user';
      this.#turn = {
        ...this.#turn,
        said: isAgents ? said + 1 : said,
        answers: isUsers ? [...answers, id] : answers,
      };
    }
    const text = textOfParts(item.content);
    const { origin } = item;
    const isOurs = author === 'synthetic';
    return {
      type: item.role === 'user' ? 'user_message' : 'agent_message',
      id,
      turn_id: this.#turn?.id ?? null,
      message: isOurs ? withoutMarker(text) : text,
      author,
      // The marker names all steps of a request, the origin only its last.
      steps: isOurs ? (markerOf(text)?.steps ?? (origin?.step === undefined ? [] : [origin.step])) : [],
      sequence_id: origin?.sequenceId ?? null,
    };
  }
}

/** A user message keeps its submission id; a message without an id is named after its place in the log. */
function namedBy({ id, role }: MessageItem, position: number): string {
  return role === 'user' && id !== undefined ? id : `item-${position}`;
}

function turnOf({ turnId = '', kind = 'regular', origin = { type: 'user' } }: TurnRecord) {
  return { turn_id: turnId, task_kind: kind, origin: wireOrigin(origin) };
}

/** Readers check only the id of a receipt: a file may hold any other content. */
function isWhole(receipt: Receipt | undefined): receipt is Receipt {
  if (receipt === undefined) return false;
  const { preTokens, postTokens, restoredFiles, implementation, attempts = [], durationMs = 0 } = receipt;
  return (
    isCount(preTokens) &&
    isCount(postTokens) &&
    Array.isArray(restoredFiles) &&
    IMPLEMENTATIONS.includes(implementation) &&
    isDuration(durationMs) &&
    Array.isArray(attempts) &&
    attempts.every(isSpent)
  );
}

function isSpent(attempt: SummaryAttempt | null): boolean {
  return attempt !== null && isCount(attempt.inputTokens ?? 0) && isCount(attempt.outputTokens ?? 0);
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}

function isDuration(value: number | undefined): value is number {
  return Number.isFinite(value);
}

/** What a resumed thread displays: the newest entries, and the number of older ones. */
export interface Transcript {
  readonly entries: readonly TranscriptEntry[];
  readonly leftOut: number;
}

/** Keeps the entries of a thread as it is read again, and no more than are displayed. */
export class TranscriptTail {
  #entries: { readonly entry: TranscriptEntry; readonly characters: number }[] = [];
  #characters = 0;
  #count = 0;
  /** Number of entries before each user turn, oldest first. */
  #turns: { readonly turnId: string; readonly before: number }[] = [];

  /** @param entry how `record` is displayed */
  add(record: LogRecord, entry: TranscriptEntry | undefined): void {
    if (record.type === 'undo_turn') this.#takeBack(record.turnId);
    if (isUserTurn(record)) this.#turns.push({ turnId: record.turnId, before: this.#count });
    if (entry === undefined || isHidden(entry)) return;
    const characters = JSON.stringify(entry).length;
    this.#entries.push({ entry, characters });
    this.#characters += characters;
    this.#count++;
    // Only occasionally, so that a long log is read in linear time.
    if (this.#entries.length > 2 * MOST_ENTRIES || this.#characters > 2 * MOST_TRANSCRIPT_CHARACTERS) {
      this.#trim();
    }
  }

  /** The newest entries of the whole log. */
  transcript(): Transcript {
    this.#trim();
    const entries = this.#entries.map(({ entry }) => entry);
    return { entries, leftOut: this.#count - entries.length };
  }

  #takeBack(turnId: string): void {
    const turn = this.#turns.at(-1);
    if (turn?.turnId !== turnId) return;
    this.#turns.pop();
    const undone = this.#count - turn.before;
    const dropped = undone === 0 ? [] : this.#entries.splice(-undone);
    this.#characters -= dropped.reduce((sum, { characters }) => sum + characters, 0);
    this.#count = turn.before;
  }

  #trim(): void {
    let from = this.#entries.length;
    let characters = 0;
    while (from > 0 && this.#entries.length - from < MOST_ENTRIES) {
      const next = characters + (this.#entries[from - 1]?.characters ?? 0);
      if (next > MOST_TRANSCRIPT_CHARACTERS) break;
      characters = next;
      from--;
    }
    this.#entries = this.#entries.slice(from);
    this.#characters = characters;
  }
}

/** What Baton tells the agent is not displayed. */
function isHidden(entry: TranscriptEntry): boolean {
  return entry.type === 'user_message' && entry.author === 'harness';
}
