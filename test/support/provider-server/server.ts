// A model provider on 127.0.0.1: three wire protocols over real HTTP and server-sent events, a script for what it says,
// the validation of the real APIs for what it is told, and every way to fail that the field has seen.

import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../../src/protocol/item.ts';
import type { WireApi } from '../../../src/vocabulary.ts';
import { checkAnthropic, checkAnthropicCount } from './anthropic-rules.ts';
import { checkChat } from './chat-rules.ts';
import type { Certificate } from './certificate.ts';
import { Invalid } from './check.ts';
import { errorEvent, eventsOf } from './events.ts';
import type { WireEvent } from './events.ts';
import { PromptCache, promptOf, tokensOf } from './prompt-cache.ts';
import { checkResponses } from './responses-rules.ts';
import type { Fault, Reply, Script } from './script.ts';
import { stateOf } from './seals.ts';

/** One request as it arrived, and what became of it. */
export interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes of the body as text. */
  readonly text: string;
  readonly body: JsonObject;
  /** Status that it was answered with; 0 while it was not. */
  status: number;
  /** Why no real API would take it; undefined for a sound request. */
  invalid: string | undefined;
  /** Fulfilled with who ended the answer: the server, or the client by closing its socket. */
  readonly ended: Promise<'server' | 'client'>;
}

/** What a request gets, by what it says. */
export type Answer = (request: Recorded) => Reply | Promise<Reply>;

/** A running provider. */
export interface ProviderServer {
  /** For `base_url`: with `/v1`. */
  readonly baseUrl: string;
  /** Grows while the server runs. */
  readonly requests: readonly Recorded[];
  /** Sets another script; counting of replies begins anew. @param answer replies to each request in place of the script */
  play(script: Script, answer?: Answer): void;
  /** The request with this number, counted from 0, as soon as it has arrived. */
  request(index: number): Promise<Recorded>;
  close(): Promise<void>;
}

type Kind = WireApi | 'responses_compact' | 'responses_count' | 'anthropic_count';

const ROUTES: Readonly<Record<string, Kind>> = {
  '/v1/responses': 'responses',
  '/v1/responses/compact': 'responses_compact',
  '/v1/responses/input_tokens': 'responses_count',
  '/v1/chat/completions': 'chat',
  '/v1/messages': 'anthropic',
  '/v1/messages/count_tokens': 'anthropic_count',
};

/** Starts a provider. @param port 0: a free one @param tls answers over TLS with it */
export async function startProviderServer(
  script: Script,
  port = 0,
  tls?: Certificate,
): Promise<ProviderServer> {
  const provider = new Provider(script);
  const serve: RequestListener = (request, response) => {
    provider.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the provider has no port');
  return {
    baseUrl: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}/v1`,
    requests: provider.requests,
    play: (next, answer) => provider.play(next, answer),
    request: (index) => provider.request(index),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

class Provider {
  readonly requests: Recorded[] = [];
  readonly #cache = new PromptCache();
  readonly #watchers = new Set<() => void>();
  #script: Script;
  #scripted: Answer | undefined;
  #used = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  play(script: Script, answer?: Answer): void {
    this.#script = script;
    this.#scripted = answer;
    this.#used = 0;
  }

  async request(index: number): Promise<Recorded> {
    for (;;) {
      const found = this.requests[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const recorded: Recorded = {
      path,
      headers: request.headers,
      text,
      body: parseBody(text),
      status: 0,
      invalid: undefined,
      ended: new Promise((resolve) => {
        response.once('close', () => resolve(response.writableFinished ? 'server' : 'client'));
      }),
    };
    this.requests.push(recorded);
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
    await this.#answer(recorded, request.method ?? '', response);
    recorded.status = response.statusCode;
  }

  async #answer(recorded: Recorded, method: string, response: ServerResponse): Promise<void> {
    if (method === 'GET' && recorded.path === '/v1/models') {
      sendJson(response, 200, { object: 'list', data: [{ id: 'loopback', object: 'model' }] });
      return;
    }
    const kind = method === 'POST' ? ROUTES[recorded.path] : undefined;
    if (kind === undefined) {
      sendJson(response, 404, { error: { type: 'not_found_error', message: `No route ${recorded.path}` } });
      return;
    }
    const wire: WireApi = kind.startsWith('responses') ? 'responses' : kind === 'chat' ? 'chat' : 'anthropic';
    const refusal = this.#refusal(kind, wire, recorded);
    if (refusal !== undefined) {
      sendJson(response, refusal.status, errorBody(wire, refusal));
      return;
    }
    const input = tokensOf(JSON.stringify(promptOf(wire, recorded.body)));
    if (kind === 'anthropic_count' || kind === 'responses_count') {
      sendJson(response, 200, { input_tokens: input });
      return;
    }
    const { replies } = this.#script;
    const next = replies[Math.min(this.#used, replies.length - 1)] ?? {};
    this.#used++;
    const reply = (await this.#scripted?.(recorded)) ?? next;
    if (kind === 'responses_compact') {
      if (await this.#isFaulty(reply, wire, response)) return;
      const output =
        reply.compacts === true
          ? [{ type: 'compaction', id: 'cmp_1', encrypted_content: stateOf(reply, 'c') }]
          : [];
      sendJson(response, 200, {
        object: 'response.compaction',
        output,
        usage: { input_tokens: input, output_tokens: 9 },
      });
      return;
    }
    const cached = this.#cache.read(wire, recorded.body);
    if (await this.#isFaulty(reply, wire, response)) return;
    const said = `${reply.reasoning ?? ''}${reply.text ?? ''}${JSON.stringify(reply.calls ?? '')}`;
    const visible = tokensOf(said);
    const room = reply.fills === undefined ? 0 : Math.max(0, reply.fills - visible);
    const hidden = Math.max(0, room - input);
    const counted = reply.fills === undefined ? input : Math.min(input, room);
    const answer = {
      reply,
      model: String(recorded.body['model']),
      number: this.requests.length,
      input: reply.usage?.input ?? counted,
      cached: reply.usage?.cached ?? cached,
      output: reply.usage?.output ?? visible + hidden,
      hidden,
    };
    await sendStream(response, wire, eventsOf(wire, answer), reply.fault);
  }

  #refusal(kind: Kind, wire: WireApi, recorded: Recorded): Refusal | undefined {
    const { headers, body, text } = recorded;
    const { key, window } = this.#script;
    const given =
      wire === 'anthropic'
        ? headers['x-api-key']
        : String(headers['authorization'] ?? '').replace(/^Bearer /, '');
    if (key !== undefined && given !== key) {
      // Providers quote the key that they did not take.
      return { status: 401, code: AUTH[wire], message: `Incorrect API key provided: ${String(given)}.` };
    }
    if (wire === 'anthropic' && headers['anthropic-version'] === undefined) {
      return { status: 400, code: 'invalid_request_error', message: 'anthropic-version: header is required' };
    }
    try {
      if (HALF_PAIR.test(text))
        throw new Invalid('', 'The request body is not valid JSON: no low surrogate in string');
      CHECKS[kind](body);
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      recorded.invalid = error.message;
      return { status: 400, code: 'invalid_request_error', message: error.message };
    }
    const asked = tokensOf(JSON.stringify(promptOf(wire, body)));
    if (window === undefined || asked <= window || kind.endsWith('count')) return undefined;
    return { status: 400, ...overflow(wire, asked, window) };
  }

  /** Whether the reply fails before its stream, or in the place of one. */
  async #isFaulty({ fault }: Reply, wire: WireApi, response: ServerResponse): Promise<boolean> {
    switch (fault?.type) {
      case 'status':
        for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
        sendJson(
          response,
          fault.status,
          errorBody(wire, {
            status: fault.status,
            code: fault.code ?? 'loopback_fault',
            message: fault.message ?? 'A fault of the script.',
          }),
        );
        return true;
      case 'silence':
        await closed(response);
        return true;
      case 'content_type':
        response.writeHead(200, { 'content-type': fault.value });
        response.end('<html><body>Please log in.</body></html>');
        return true;
      default:
        return false;
    }
  }
}

/** An escaped surrogate; whole pairs are never escaped by a serializer of this language. @source Anthropic's answer to one */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const CHECKS: Readonly<Record<Kind, (body: JsonObject) => void>> = {
  responses: checkResponses,
  responses_compact: checkResponses,
  responses_count: checkResponses,
  chat: checkChat,
  anthropic: checkAnthropic,
  anthropic_count: checkAnthropicCount,
};

const AUTH: Readonly<Record<WireApi, string>> = {
  responses: 'invalid_api_key',
  chat: 'invalid_api_key',
  anthropic: 'authentication_error',
};

function overflow(
  wire: WireApi,
  asked: number,
  window: number,
): { readonly code: string; readonly message: string } {
  switch (wire) {
    case 'responses':
      return {
        code: 'context_length_exceeded',
        message:
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
      };
    case 'chat':
      return {
        code: 'context_length_exceeded',
        message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${asked} tokens.`,
      };
    case 'anthropic':
      return {
        code: 'invalid_request_error',
        message: `prompt is too long: ${asked} tokens > ${window} maximum`,
      };
  }
}

function errorBody(wire: WireApi, { code, message }: Refusal): JsonObject {
  return wire === 'anthropic'
    ? { type: 'error', error: { type: code, message } }
    : { error: { message, type: 'invalid_request_error', code, param: null } };
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_loopback' });
  response.end(JSON.stringify(body));
}

async function sendStream(
  response: ServerResponse,
  wire: WireApi,
  events: readonly WireEvent[],
  fault: Fault | undefined,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  if (fault?.type === 'drip') {
    const bytes = Buffer.from(events.map(encode).join(''), 'utf8');
    for (let at = 0; at < bytes.length && !response.destroyed; at += fault.bytes) {
      response.write(bytes.subarray(at, at + fault.bytes));
      await wait(fault.everyMs);
    }
    response.end();
    return;
  }
  const whole = fault !== undefined && 'afterEvents' in fault ? fault.afterEvents : events.length;
  response.write(events.slice(0, whole).map(encode).join(''));
  switch (fault?.type) {
    case 'stall':
      await closed(response);
      return;
    case 'cut': {
      const next = encode(events[whole] ?? { name: undefined, data: '{"cut":true}' });
      response.write(next.slice(0, Math.ceil(next.length / 2)), () => response.socket?.resetAndDestroy());
      return;
    }
    case 'malformed':
      response.write('data: {"type": "response.output_text.delta", "delta": "un\n\n');
      response.end(events.slice(whole).map(encode).join(''));
      return;
    case 'error_event':
      response.end(encode(errorEvent(wire, fault.code, fault.message)));
      return;
    default:
      response.end();
  }
}

function encode({ name, data }: WireEvent): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`;
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => void response.once('close', () => resolve()));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(text: string): JsonObject {
  if (text === '') return {};
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
