// What the loopback provider says, request after request. A script is JSON, so that a process can be given one.

import type { JsonObject } from '../../../src/protocol/item.ts';

/** A tool call of a reply. */
export interface ScriptedCall {
  readonly name: string;
  /** An object, or the text that the model wrote in its place. */
  readonly arguments: JsonObject | string;
  readonly id?: string;
}

/** What goes wrong. `afterEvents` counts the events of the stream that are still sent whole. */
export type Fault =
  /** An answer with an error status. */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
      readonly code?: string;
    }
  /** No byte at all, ever. */
  | { readonly type: 'silence' }
  /** Headers and some events, then nothing, with the connection open. */
  | { readonly type: 'stall'; readonly afterEvents: number }
  /** The connection is reset in the middle of the next event. */
  | { readonly type: 'cut'; readonly afterEvents: number }
  /** The connection ends cleanly, too early. */
  | { readonly type: 'early_end'; readonly afterEvents: number }
  /** An event whose data is no JSON, then the rest. */
  | { readonly type: 'malformed'; readonly afterEvents: number }
  /** An error that the provider reports inside of the stream. */
  | {
      readonly type: 'error_event';
      readonly afterEvents: number;
      readonly code: string;
      readonly message: string;
    }
  /** A page in place of the stream. */
  | { readonly type: 'content_type'; readonly value: string }
  /** The stream in small pieces, cut anywhere, also through a character. */
  | { readonly type: 'drip'; readonly bytes: number; readonly everyMs: number };

/** The answer to one request. */
export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Answers with a compaction of the history (Responses). */
  readonly compacts?: boolean;
  /** How much a compaction keeps in its state, in bytes before they are encrypted. */
  readonly stateBytes?: number;
  /** Why the answer ends, in the words of the wire; by default what its content means. */
  readonly stop?: string;
  /** Replaces the server's own count. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /**
   * Tokens of the context after this reply, in place of `usage`. The reply contains hidden reasoning that fills the context to this
   * size, so that a compaction can free what is reported. A larger context stays as it is, and is reported as this size.
   */
  readonly fills?: number;
  readonly fault?: Fault;
}

/** A whole script. */
export interface Script {
  /** The key that requests must carry; absent: any, also none. */
  readonly key?: string;
  /** Requests above it overflow, in tokens by the server's own count. */
  readonly window?: number;
  /** Used up one by one; the last one is repeated. */
  readonly replies: readonly Reply[];
}

const KEYS = {
  script: ['key', 'window', 'replies'],
  reply: ['reasoning', 'text', 'calls', 'compacts', 'stateBytes', 'stop', 'usage', 'fills', 'fault'],
} as const;

/** The script in a text. @throws TypeError for what is no script */
export function parseScript(text: string): Script {
  const script = JSON.parse(text) as unknown;
  checkKeys(script, KEYS.script, 'script');
  const { replies } = script as unknown as Script;
  if (!Array.isArray(replies) || replies.length === 0) throw new TypeError('a script needs replies');
  for (const reply of replies) checkKeys(reply, KEYS.reply, 'reply');
  return script as unknown as Script;
}

function checkKeys(value: unknown, keys: readonly string[], what: string): asserts value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`a ${what} is an object`);
  }
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) throw new TypeError(`a ${what} has no ${key}; it has ${keys.join(', ')}`);
  }
}
