// What a writer needs to know about a rollout to continue it.

import type { JsonObject } from '../../protocol/item.ts';
import { isJsonObject, objectAt, stringAt } from '../fields.ts';
import { numberAt } from './shapes.ts';

/** The state of a rollout at its end. Objects are the producer's own, as parsed. */
export interface CodexTail {
  /** `bare`: items without a wrapper, the oldest layout, which cannot take a compaction. */
  readonly layout: 'wrapped' | 'bare';
  /** Payload of the first `session_meta`, which names the session; later ones are copies or come from a fork's parent. */
  readonly meta?: JsonObject;
  /** Payload of the last `turn_context`. */
  readonly turnContext?: JsonObject;
  /** Payload of the last complete `world_state`, unless changes to it followed. */
  readonly worldState?: JsonObject;
  /** `total_token_usage` of the last `token_count`. */
  readonly totalTokenUsage?: JsonObject;
  /** As Codex wrote it; see `usableWindowOf`. */
  readonly modelContextWindow?: number;
  /** The highest `ordinal`; undefined if lines are not numbered. */
  readonly lastOrdinal?: number;
  /** Number of compactions before the current window, if Codex counts them. */
  readonly windowNumber?: number;
  readonly firstWindowId?: string;
  readonly windowId?: string;
}

/** Follows the lines of a rollout. */
export class TailFollower {
  #tail: { -readonly [Key in keyof CodexTail]: CodexTail[Key] };

  /** @param state the state to continue from */
  constructor(state: CodexTail = { layout: 'wrapped' }) {
    this.#tail = { ...state };
  }

  /** The state so far. */
  state(): CodexTail {
    return { ...this.#tail };
  }

  /** Records that the lines have no wrapper. */
  bare(meta: JsonObject): void {
    this.#tail.layout = 'bare';
    this.#tail.meta ??= meta;
  }

  ordinal(ordinal: unknown): void {
    if (typeof ordinal !== 'number' || !Number.isSafeInteger(ordinal)) return;
    this.#tail.lastOrdinal = Math.max(ordinal, this.#tail.lastOrdinal ?? ordinal);
  }

  meta(payload: JsonObject): void {
    if (this.#tail.meta !== undefined) return;
    this.#tail.meta = payload;
    const window = objectAt(payload, 'context_window');
    const windowId = window === undefined ? undefined : stringAt(window, 'window_id');
    if (windowId === undefined) return;
    this.#tail.windowId = windowId;
    this.#tail.firstWindowId = windowId;
    this.#tail.windowNumber = 0;
  }

  turnContext(payload: JsonObject): void {
    this.#tail.turnContext = payload;
  }

  worldState(payload: JsonObject): void {
    if (payload['full'] === true) this.#tail.worldState = payload;
    else delete this.#tail.worldState;
  }

  modelContextWindow(window: number): void {
    this.#tail.modelContextWindow = window;
  }

  tokenInfo(info: JsonObject): void {
    const total = info['total_token_usage'];
    if (isJsonObject(total)) this.#tail.totalTokenUsage = total;
  }

  compacted(payload: JsonObject): void {
    const windowNumber = numberAt(payload, 'window_number');
    const windowId = stringAt(payload, 'window_id');
    const firstWindowId = stringAt(payload, 'first_window_id');
    if (windowNumber !== undefined) this.#tail.windowNumber = windowNumber;
    if (windowId !== undefined) this.#tail.windowId = windowId;
    if (firstWindowId !== undefined) this.#tail.firstWindowId = firstWindowId;
  }
}
