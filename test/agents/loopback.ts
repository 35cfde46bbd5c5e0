// A model provider on 127.0.0.1 that says yes to everything and remembers what it was asked. It speaks the two wire
// formats that the real tools speak, over real HTTP and server-sent events.

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createSocketServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from './shape.ts';
import type { JsonObject } from '../../src/protocol/item.ts';

/** One request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  /** Path with query, e.g. `/v1/messages?beta=true`. */
  readonly path: string;
  /** The body, or an empty object when there was none. */
  readonly body: JsonObject;
}

/** A running provider. */
export interface Loopback {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly origin: string;
  readonly port: number;
  /** The same provider on a Unix socket, which reaches into a network namespace. */
  readonly socketPath: string;
  /** Grows while the server runs. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Tokens that every answer claims to have used: far below any limit, so that no tool compacts on its own. */
const USED_TOKENS = 100;

/** One answer of a scripted model. */
export interface ChatAnswer {
  readonly text?: string;
  /** Calls of tools, each with its arguments. */
  readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  /** Tokens that the answer claims the request had. */
  readonly used: number;
}

/** Answers the requests of `POST /v1/chat/completions`. @param nth counted from 0 */
export type ChatModel = (body: JsonObject, nth: number) => ChatAnswer;

/**
 * Starts a provider on a free port. `POST /v1/responses` answers as OpenAI Responses, `POST /v1/messages` as Anthropic
 * Messages, `POST /v1/messages/count_tokens` with a count; anything else gets 404 and is recorded like the rest.
 *
 * @param reply the text of every answer.
 * @param chat answers `POST /v1/chat/completions`; absent: 404.
 * @source the events that codex 0.169.0 and claude-code 2.1.329 accept, measured; see docs/real-tools.md.
 */
export async function startLoopback(reply = 'Understood.', chat?: ChatModel): Promise<Loopback> {
  let asked = 0;
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const [method, path] = [request.method ?? '', request.url ?? ''];
    readBody(request).then(
      (body) => {
        requests.push({ method, path, body });
        if (chat !== undefined && path === '/v1/chat/completions') {
          return streamChat(response, chat(body, asked++), asked);
        }
        answer(response, { method, path, reply });
      },
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  await listen(server, { port: 0, host: '127.0.0.1' });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the loopback server has no port');
  const { port } = address;

  // The path of a socket has room for about a hundred characters.
  const socketPath = join(tmpdir(), `${randomUUID().slice(0, 13)}.sock`);
  const bridge = createSocketServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    socket.pipe(upstream).pipe(socket);
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  });
  await listen(bridge, { path: socketPath });

  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    socketPath,
    requests,
    close: async () => {
      server.closeAllConnections();
      await Promise.all([closed(server), closed(bridge)]);
      await rm(socketPath, { force: true });
    },
  };
}

function listen(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, resolve);
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  if (chunks.length === 0) return {};
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (!isObject(body)) throw new TypeError('the body is no JSON object');
  return body;
}

interface Answer {
  readonly method: string;
  readonly path: string;
  readonly reply: string;
}

function answer(response: ServerResponse, { method, path, reply }: Answer): void {
  const route = path.split('?')[0];
  // Codex with its own provider asks for a WebSocket first; this refusal sends it to plain HTTP at once.
  if (method === 'GET' && route === '/v1/responses') {
    response.writeHead(426).end();
    return;
  }
  if (route === '/v1/responses') return stream(response, responsesEvents(reply));
  if (route === '/v1/messages') return stream(response, messagesEvents(reply));
  if (route === '/v1/messages/count_tokens') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ input_tokens: USED_TOKENS }));
    return;
  }
  response.writeHead(404).end();
}

type Event = JsonObject & { readonly type: string };

function stream(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function streamChat(response: ServerResponse, { text, calls = [], used }: ChatAnswer, nth: number): void {
  const chunk = (fields: JsonObject): void => {
    const base = { id: `chat-${nth}`, object: 'chat.completion.chunk', created: 1, model: 'loopback' };
    response.write(`data: ${JSON.stringify({ ...base, ...fields })}\n\n`);
  };
  const tool_calls = calls.map(({ name, args }, index) => ({
    index,
    id: `call_${nth}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const delta = { role: 'assistant', content: text ?? null, ...(calls.length === 0 ? {} : { tool_calls }) };
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  chunk({
    choices: [{ index: 0, delta: {}, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: used, completion_tokens: 5, total_tokens: used + 5 },
  });
  response.end('data: [DONE]\n\n');
}

function responsesEvents(reply: string): readonly Event[] {
  const id = `resp_${randomUUID()}`;
  const itemId = `msg_${randomUUID()}`;
  const item = {
    type: 'message',
    id: itemId,
    role: 'assistant',
    content: [{ type: 'output_text', text: reply }],
  };
  const usage = {
    input_tokens: USED_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED_TOKENS + 1,
  };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.added', item: { ...item, content: [] } },
    { type: 'response.output_text.delta', item_id: itemId, delta: reply },
    { type: 'response.output_item.done', item },
    { type: 'response.completed', response: { id, usage } },
  ];
}

function messagesEvents(reply: string): readonly Event[] {
  const message = {
    // Claude Code merges all lines of a session that share a message id, so it must not come twice.
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'loopback',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: USED_TOKENS, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: reply } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ];
}
