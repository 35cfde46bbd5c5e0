// The model for a thread's turns: sets the required form of the answer, and remembers complete failures, because the
// loop only learns why a sampling failed.

import { BatonError } from '../errors.ts';
import type { CancelSignal, Model } from '../ports.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import { purposeOf } from '../session/spending.ts';
import type { AnswerSchema, ModelEvent, ModelRequest } from '../protocol/model.ts';

/** A model that remembers why it failed. */
export class TurnModel implements Model {
  readonly #model: Model;
  /** The required form of answers; the watcher's packets have their own. */
  schema: AnswerSchema | undefined;
  /** Why the newest request failed; undefined if it succeeded. */
  failure: BatonError | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  get provider(): string {
    return this.#model.provider;
  }

  async *stream(request: ModelRequest, signal: CancelSignal): AsyncGenerator<ModelEvent> {
    const schema = purposeOf(request.items) === 'packet' ? undefined : this.schema;
    this.failure = undefined;
    try {
      yield* this.#model.stream(schema === undefined ? request : { ...request, schema }, signal);
    } catch (error) {
      if (error instanceof BatonError) this.failure = error;
      throw error;
    }
  }

  /** An error of the loop, with the code of the failure behind it. */
  explained(event: SessionEvent): SessionEvent {
    return event.type === 'error' && event.code === 'failed' && this.failure !== undefined
      ? { ...event, code: this.failure.code }
      : event;
  }
}
