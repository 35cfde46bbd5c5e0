// Reads a growing array of API messages.

import { BatonError } from '../errors.ts';
import { anthropicReader } from '../formats/messages/anthropic.ts';
import { chatReader } from '../formats/messages/chat.ts';
import { detectFormat, DETECTION_LINES } from '../formats/detect.ts';
import { isJsonObject } from '../formats/fields.ts';
import { LIKENESS } from '../formats/likeness.ts';
import type { Emit, LineReader } from '../formats/reader.ts';
import { responsesReader } from '../formats/messages/responses.ts';
import type { MessageFormat } from '../vocabulary.ts';

const { responses, anthropic, chat } = LIKENESS;
const READERS = { responses: responsesReader, anthropic: anthropicReader, chat: chatReader };

/** Reads each message once, as log records. */
export class MessageReader {
  readonly format: MessageFormat;
  readonly #reader: LineReader;
  #index = 0;

  /**
   * @param messages the first ones, to detect the format; they are not read yet
   * @throws BatonError `format_unknown`
   */
  constructor(messages: readonly object[], emit: Emit) {
    this.format = formatOf(messages);
    this.#reader = READERS[this.format].read(
      emit,
      ({ lost, message }) => {
        if (lost) throw unreadable(`Message ${this.#index} of the array cannot be read: ${message}`);
      },
      undefined,
    );
  }

  /** @throws BatonError `format_unknown` if a message cannot be read: a compaction would lose it */
  read(messages: readonly object[]): void {
    for (const message of messages) {
      if (!isJsonObject(message)) throw unreadable(`Message ${this.#index} of the array is not an object`);
      this.#reader.accept(message, { line: 1, part: this.#index });
      this.#index++;
    }
  }
}

function formatOf(messages: readonly object[]): MessageFormat {
  const first = messages.slice(0, DETECTION_LINES).filter(isJsonObject);
  const { format } = detectFormat(first, { responses, anthropic, chat }, []);
  if (format === 'responses' || format === 'anthropic' || format === 'chat') return format;
  throw unreadable('The array does not hold messages in a format that Baton reads');
}

function unreadable(what: string): BatonError {
  return new BatonError('format_unknown', what, {
    cure: 'Pass messages in the format of the Chat Completions, Responses or Messages API.',
  });
}
