// All that the inside needs of the world. Types only; the outer folders implement them.

import type {
  HookNotes,
  PostCompactInput,
  PreCompactInput,
  PreCompactVerdict,
  SessionStartInput,
  SessionStartNotes,
  TurnCompleteInput,
  UserPromptInput,
  UserPromptVerdict,
} from './protocol/hook.ts';
import type { ModelEvent, ModelRequest, RemoteCompaction, RestartedEvent } from './protocol/model.ts';

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

/** Fresh identifiers. */
export interface Ids {
  /** A random UUID, version 4 or 7, lower case. */
  uuid(): string;
}

/** SHA-256 of a text, in lower-case hex. */
export type Hash = (text: string) => string;

/** What reading one file of the workspace gave. */
export type FileRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: number }
  /** Text too long to be given back even in part. */
  | { readonly kind: 'large'; readonly bytes: number }
  | { readonly kind: 'gone' }
  /** Outside of the workspace, or a link that leads there, or no regular file: never read. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Runs work over text that a stranger may have written, and ends it at a deadline.
 * @returns undefined where the deadline ended it; what it was changing is then in no known state and must be dropped
 */
export type WithinDeadline = <T>(work: () => T) => { readonly value: T } | undefined;

/** Reads inside one directory and nowhere else. */
export interface WorkspaceFiles {
  /** @param path as the agent named it: absolute, or relative to its working directory */
  read(path: string): Promise<FileRead>;
}

/** What an `AbortSignal` is to code without the types of a platform. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A model behind a provider. What a provider cannot do is absent, so that nobody asks in vain.
 *
 * All methods fail with `BatonError`: the codes `model_…`, and `interrupted` as soon as the signal says so, in whatever
 * phase, with the connection closed. A consumer that stops iterating closes the connection, too.
 */
export interface Model {
  /** The key of the provider, by which items know who made them. */
  readonly provider: string;
  /** The answer as it comes. Ends after `completed`, and in no other way without a failure. */
  stream(request: ModelRequest, signal: CancelSignal): AsyncIterable<ModelEvent>;
  /**
   * The provider's own compaction of the history.
   * @param onRestart told of each time that the request is sent again
   * @throws BatonError also where the answer is empty or malformed
   */
  compactRemote?(
    request: ModelRequest,
    signal: CancelSignal,
    onRestart?: (event: RestartedEvent) => void,
  ): Promise<RemoteCompaction>;
  /** Tokens that the request would take, by the provider's own count. */
  countTokens?(request: ModelRequest, signal: CancelSignal): Promise<number>;
}

/**
 * Commands of the user that run beside a thread: `[hooks]`.
 *
 * A hook never makes anything fail: a missing command, a crash and a timeout are warnings. Only the user's Ctrl-C is more,
 * and only while nothing is committed yet: those that run before something reject with `BatonError` `interrupted`.
 */
export interface Hooks {
  /** Before a compaction. */
  preCompact(input: PreCompactInput, signal: CancelSignal): Promise<PreCompactVerdict>;
  /** With its result committed; never rejects. */
  postCompact(input: PostCompactInput, signal: CancelSignal): Promise<HookNotes>;
  /** Whether a command of `session_start` runs when a session begins in this way: without one, nothing joins the history. */
  startsWith(source: SessionStartInput['source']): boolean;
  /** When a session begins, also anew after a compaction, whose result is not committed yet. */
  sessionStart(input: SessionStartInput, signal: CancelSignal): Promise<SessionStartNotes>;
  /** Before a message of the user is taken in. */
  userPromptSubmit(input: UserPromptInput, signal: CancelSignal): Promise<UserPromptVerdict>;
  /** When a turn of the user has ended by itself; never rejects. */
  turnComplete(input: TurnCompleteInput, signal: CancelSignal): Promise<HookNotes>;
}
