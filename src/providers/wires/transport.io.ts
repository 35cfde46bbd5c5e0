// HTTP and server-sent events for all three wire formats: the one place where requests time out, connections close, and streams
// are found complete or broken.

import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { BatonError } from '../../errors.ts';
import { isJsonObject, objectAt, stringAt } from '../../formats/fields.ts';
import type { CancelSignal } from '../../ports.ts';
import type { JsonObject } from '../../protocol/item.ts';
import { interrupted, modelError, readComplaint } from '../errors.ts';
import { isTooDeep, MOST_NESTED } from './depth.ts';
import { tlsTrouble } from './tls.ts';
import type { TlsTrouble } from './tls.ts';

/** One request over HTTP. */
export interface Call {
  /** The key of the provider, for messages. */
  readonly provider: string;
  readonly url: string;
  /** All headers, including the one that holds the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text that must never appear in a message; empty: none. */
  readonly key: string;
  /** Milliseconds without an event before Baton gives up on the connection; an unstreamed answer counts as one event. */
  readonly idleTimeoutMs: number;
  /** Milliseconds for one request with its answer, including all retries and waits. */
  readonly answerTimeoutMs: number;
  /** The end of that time, in milliseconds of `performance.now()`; absent: it begins with the connection. */
  readonly deadline?: number;
  readonly body: JsonObject;
  readonly signal: CancelSignal;
}

/** One event of a stream whose data is a JSON object. */
export interface ServerEvent {
  /** The text after `event:`; empty where there is none. */
  readonly name: string;
  readonly data: JsonObject;
}

/** A part of a stream: an event, or the word that ends OpenAI's chat and is not JSON. */
export type StreamPart = ServerEvent | 'done';

/** The event name for a complete answer from a server that does not stream although requested. */
export const WHOLE_ANSWER = 'whole_answer';

/** Longest event, in characters; an endless line must not fill the memory. 32 M: twice what the APIs accept. */
const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024;

/**
 * Largest answer, in bytes, so that an endless one neither fills the memory nor runs forever. 128 Mi: three times the size of
 * 128,000 tokens, each in a separate event.
 */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

/**
 * A long answer is not read token by token: from this many reads on, what arrives within `GATHER_MS` is read together, if the reads
 * are small. Waking up for each token costs more than everything that is done with it. Short answers are never delayed.
 * @source docs/decisions/terminal-ui.md: 1,500 tokens in 9.5 s; below one frame of 33 ms nobody sees it
 */
const GATHER_MS = 30;
const GATHER_FROM = 40;
const SMALL_READ_BYTES = 4096;

/** Leaves with the system what nobody has asked for yet; by default, Node reads ahead. @source Node's net.Socket */
const UNREAD_STAYS = { highWaterMark: 1 } as const;

/** A longer timer fires immediately. @source Node's timers: 2^31 − 1 milliseconds */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Longest part of an error page to quote, in characters. */
const MAX_QUOTE = 600;

/** The events of the answer; ends when the connection ends cleanly, which the reader of the events must judge. */
export async function* streamEvents(call: Call): AsyncGenerator<StreamPart, void, undefined> {
  const line = new Connection(call);
  try {
    const response = await line.open();
    const type = response.headers['content-type'] ?? '';
    if (type.includes('application/json')) {
      yield wholeAnswer(await line.text(response), call);
      return;
    }
    if (!type.includes('text/event-stream')) {
      throw modelError(
        'model_network',
        `${call.provider} answered with ${type === '' ? 'no content type' : quote(type, call)} instead of an event stream.`,
        { provider: call.provider, status: statusOf(response), isRetryable: false },
      );
    }
    yield* line.parts(response);
  } finally {
    line.close();
  }
}

function wholeAnswer(text: string, call: Call): ServerEvent {
  const data = parseObject(text);
  if (data === undefined)
    throw broken(
      call,
      `something other than a JSON object, or one that is nested too deep: ${quote(text, call)}`,
    );
  const error = data['error'];
  if (isJsonObject(error)) throw complaintInStream(call, error);
  return { name: WHOLE_ANSWER, data };
}

/** The JSON object that answers an unstreamed request. */
export async function requestJson(call: Call): Promise<JsonObject> {
  const line = new Connection(call);
  try {
    const response = await line.open();
    const text = await line.text(response);
    const value = parseObject(text);
    if (value !== undefined) return value;
    throw modelError('model_network', `${call.provider} answered with invalid JSON: ${quote(text, call)}`, {
      provider: call.provider,
      status: statusOf(response),
      isRetryable: false,
    });
  } finally {
    line.close();
  }
}

/** The call with the deadline of its answer. */
export function withDeadline(call: Call): Call & { readonly deadline: number } {
  return { ...call, deadline: call.deadline ?? performance.now() + call.answerTimeoutMs };
}

/** The error of an answer that exceeded its time limit. */
export function overdue({ provider, answerTimeoutMs }: Call): BatonError {
  return modelError(
    'model_cut_off',
    `The answer of ${provider} was incomplete after ${answerTimeoutMs} ms, including retries.`,
    { provider, isRetryable: false },
    `Try again, or raise model_providers.${provider}.answer_timeout_ms.`,
  );
}

/**
 * Milliseconds by which a timer is late only because the process was stopped, as by Ctrl-Z. The silence was then its own.
 * @source a decision: a machine that delays a timer by a second is too busy to blame the server
 */
const STOPPED_MS = 1000;

/** One connection. Every wait on it ends with an event, a timeout, or the user's stop. */
class Connection {
  readonly #call: Call;
  readonly #controller = new AbortController();
  readonly #onCancel = (): void => this.#controller.abort();
  readonly #total: NodeJS.Timeout;
  #idle: NodeJS.Timeout;
  #end: 'idle' | 'overdue' | undefined;

  constructor(call: Call) {
    const { deadline } = withDeadline(call);
    this.#call = call;
    this.#idle = this.#expect('idle', call.idleTimeoutMs);
    this.#total = this.#expect('overdue', deadline - performance.now());
    call.signal.addEventListener('abort', this.#onCancel);
    if (call.signal.aborted) this.#controller.abort();
  }

  /** Closes the socket, even with pending operations. */
  close(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    this.#call.signal.removeEventListener('abort', this.#onCancel);
    this.#controller.abort();
  }

  /** Resets the idle timer on an event. Bytes alone, and keep-alive comments, do not count. */
  #heard(): void {
    clearTimeout(this.#idle);
    this.#idle = this.#expect('idle', this.#call.idleTimeoutMs);
  }

  #expect(end: 'idle' | 'overdue', ms: number): NodeJS.Timeout {
    const due = performance.now() + ms;
    return setTimeout(
      () => {
        // What has arrived meanwhile is read after the timers.
        if (end === 'idle' && performance.now() - due > STOPPED_MS) return this.#heard();
        this.#end ??= end;
        this.#controller.abort();
      },
      Math.min(Math.max(0, ms), LONGEST_TIMER_MS),
    );
  }

  /** The answer, if its status is a success. */
  async open(): Promise<IncomingMessage> {
    const headers = requestHeaders(this.#call);
    const response = await this.#wait('model_network', () => this.#send(headers));
    this.#heard();
    const status = statusOf(response);
    const encoding = headerOf(response, 'content-encoding') ?? 'identity';
    const isPlain = /^identity$/i.test(encoding.trim());
    if (status >= 200 && status < 300) {
      if (isPlain) return response;
      throw compressed(this.#call, encoding);
    }
    throw complaintOf(this.#call, response, isPlain ? await this.text(response) : 'a compressed page');
  }

  /** Follows no redirection, because that would send the key elsewhere. */
  async #send(headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    const { url, body } = this.#call;
    const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
    const bytes = Buffer.from(serialize(body), 'utf8');
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': bytes.length },
        ...UNREAD_STAYS,
      });
      // Without an error argument: it would be thrown after the last reader of the answer is gone.
      const drop = (): void => void sent.destroy();
      sent.on('response', resolve).on('error', reject).end(bytes);
      this.#controller.signal.addEventListener('abort', drop);
      if (this.#controller.signal.aborted) drop();
    });
  }

  async text(response: IncomingMessage): Promise<string> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of this.#chunks(response)) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > MAX_EVENT_CHARACTERS) throw endless(this.#call, MAX_EVENT_CHARACTERS);
    }
    return text;
  }

  async *parts(response: IncomingMessage): AsyncGenerator<StreamPart, void, undefined> {
    const waiting: (StreamPart | BatonError)[] = [];
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARACTERS,
      onEvent: (event) => waiting.push(partOf(event, this.#call)),
      onError: (error) => {
        // Unknown fields are skipped; a page or bare JSON instead of events is an error.
        if (error.type === 'max-buffer-size-exceeded')
          waiting.push(broken(this.#call, 'an event without an end'));
        else if (error.type === 'unknown-field' && /^[{<]/.test(error.line ?? '')) {
          waiting.push(broken(this.#call, `no event: ${quote(error.line ?? '', this.#call)}`));
        }
      },
    });
    const decoder = new TextDecoder();
    let heard = 0;
    for await (const bytes of this.#chunks(response)) {
      heard += bytes.length;
      if (heard > MAX_ANSWER_BYTES) throw endless(this.#call, MAX_ANSWER_BYTES);
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (waiting.length === 0) continue;
      // The timeout concerns the server: the reader's own time does not count.
      clearTimeout(this.#idle);
      for (const part of waiting.splice(0)) {
        if (part instanceof BatonError) throw part;
        yield part;
        if (this.#call.signal.aborted) throw interrupted();
      }
      this.#heard();
    }
  }

  async *#chunks(response: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks: AsyncIterator<Uint8Array> = response[Symbol.asyncIterator]();
    for (let reads = 1; ; reads++) {
      const { done = false, value } = await this.#wait('model_cut_off', () => chunks.next());
      if (done) return;
      yield value;
      if (reads > GATHER_FROM && value.length < SMALL_READ_BYTES && !response.complete) {
        await this.#wait('model_cut_off', () =>
          sleep(GATHER_MS, undefined, { signal: this.#controller.signal }),
        );
      }
    }
  }

  /** Waits for one operation. @param code the meaning of a connection failure here */
  async #wait<Value>(code: 'model_network' | 'model_cut_off', start: () => Promise<Value>): Promise<Value> {
    const { provider, signal, idleTimeoutMs } = this.#call;
    if (signal.aborted) throw interrupted();
    try {
      return await start();
    } catch (error) {
      if (signal.aborted) throw interrupted();
      if (this.#end === 'overdue') throw overdue(this.#call);
      const isIdle = this.#end === 'idle';
      const trouble = isIdle ? undefined : tlsTrouble(reasonOf(error));
      if (trouble !== undefined && code === 'model_network') throw this.#insecure(trouble, reasonOf(error));
      const why = isIdle ? `was silent for ${idleTimeoutMs} ms` : `broke the connection (${reasonOf(error)})`;
      const where = code === 'model_network' ? 'before it answered' : 'during its answer';
      const said =
        code === 'model_network' && !isIdle
          ? `${provider} cannot be reached (${reasonOf(error)}).`
          : `${provider} ${why} ${where}.`;
      throw modelError(code, hideKey(said, this.#call), { provider, isRetryable: true });
    }
  }

  #insecure({ why, cure }: TlsTrouble, reason: string): BatonError {
    const { provider } = this.#call;
    const said = `The connection to ${provider} is not secure: ${why} (${reason}).`;
    return modelError('model_network', said, { provider, isRetryable: false }, cure);
  }
}

/**
 * The body of a request. Half a surrogate pair, left by a cut through a text, would make the whole request invalid for a strict
 * parser; `JSON.stringify` escapes exactly those, in lower case.
 */
export function serialize(body: JsonObject): string {
  const json = JSON.stringify(body);
  // Most conversations contain none, so avoid a second copy of the whole text.
  if (!/\\ud[89a-f]/.test(json)) return json;
  return json.replaceAll(/\\(?:\\|ud[89a-f][\da-f]{2})/g, (escape) =>
    escape === '\\\\' ? escape : '\uFFFD',
  );
}

/** Reports a header that cannot be sent without its value, which may be the key. */
function requestHeaders({ headers, provider }: Call): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw modelError(
        'model_auth',
        `The header ${name} for ${provider} contains characters that headers cannot contain.`,
        {
          provider,
          isRetryable: false,
        },
      );
    }
  }
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    ...headers,
  };
}

function partOf({ event, data }: EventSourceMessage, call: Call): StreamPart | BatonError {
  if (data.trim() === '[DONE]') return 'done';
  const value = parseObject(data);
  if (value === undefined) {
    const what = isTooDeep(data)
      ? `JSON of more than ${MOST_NESTED} levels`
      : 'an event that is not a JSON object';
    return broken(call, `${what}: ${quote(data, call)}`);
  }
  return { name: event ?? '', data: value };
}

/** The error of an answer that is not a stream of this wire format. */
export function broken({ provider, key }: Pick<Call, 'provider' | 'key'>, what: string): BatonError {
  return modelError(
    'model_cut_off',
    hideKey(`The answer of ${provider} is broken: it contains ${what}.`, { key }),
    {
      provider,
      isRetryable: true,
    },
  );
}

/** The error of an answer that ended early. */
export function unfinished(provider: string): BatonError {
  return modelError('model_cut_off', `The answer of ${provider} ended before it was finished.`, {
    provider,
    isRetryable: true,
  });
}

function endless({ provider }: Call, limit: number): BatonError {
  return modelError(
    'model_cut_off',
    `The answer of ${provider} does not end: it is larger than ${limit / 1024 / 1024} MiB.`,
    { provider, isRetryable: false },
  );
}

/** A few compressed kilobytes may expand to fill the memory, and Baton did not request compression. */
function compressed(call: Call, encoding: string): BatonError {
  const { provider } = call;
  return modelError(
    'model_network',
    `${provider} answered in the encoding ${quote(encoding, call)}, although only plain answers are accepted.`,
    { provider, isRetryable: false },
    'Disable compression in the proxy or server behind `base_url`.',
  );
}

/** The error that a provider reports inside a stream, in `error` or at the top of the event. */
export function complaintInStream(call: Pick<Call, 'provider' | 'key'>, error: JsonObject): BatonError {
  const providerCode = codeIn(error, call);
  return readComplaint({
    provider: call.provider,
    message: quote(stringAt(error, 'message') ?? JSON.stringify(error), call),
    ...(providerCode === undefined ? {} : { providerCode }),
    now: Date.now(),
  });
}

function complaintOf(call: Call, response: IncomingMessage, text: string): BatonError {
  const body = parseObject(text);
  const error = body === undefined ? undefined : (objectAt(body, 'error') ?? body);
  const plain = body === undefined ? undefined : (stringAt(body, 'error') ?? stringAt(body, 'detail'));
  const message = (error && stringAt(error, 'message')) ?? plain ?? text;
  const providerCode = error && codeIn(error, call);
  return readComplaint({
    provider: call.provider,
    status: statusOf(response),
    headers: {
      get: (name) => {
        const value = headerOf(response, name);
        return value === null ? null : quote(value, call);
      },
    },
    message: message.trim() === '' ? 'nothing' : quote(message, call),
    ...(providerCode === undefined ? {} : { providerCode }),
    now: Date.now(),
  });
}

/** Answers always have a status; only requests, which share the type, do not. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode;
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return (Array.isArray(value) ? value.join(', ') : value) ?? null;
}

/** OpenAI's `code` is more specific than its `type`; Anthropic has only the type. */
function codeIn(error: JsonObject, call: Pick<Call, 'key'>): string | undefined {
  const type = stringAt(error, 'type');
  const code = stringAt(error, 'code') ?? (type === 'error' ? undefined : type);
  return code === undefined ? undefined : quote(code, call);
}

/** Undefined also for JSON that is nested too deep to traverse. */
function parseObject(text: string): JsonObject | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code === 'string') return code;
  return cause instanceof Error ? cause.message : 'unknown';
}

function quote(text: string, { key }: Pick<Call, 'key'>): string {
  const line = hideKey(text, { key }).replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line;
}

/** @param call `key`: providers quote it back, and so do proxies */
export function hideKey(text: string, { key }: Pick<Call, 'key'>): string {
  return key === '' ? text : text.replaceAll(key, '[key]');
}
