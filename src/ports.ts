// Everything that the inner rooms need from the world. Types only; the outer rooms implement them.

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

/** The result of reading one file of the workspace. */
export type FileRead =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: number }
  /** Text too long to return, even in part. */
  | { readonly kind: 'large'; readonly bytes: number }
  | { readonly kind: 'gone' }
  /** Outside the workspace, a link that leads outside, or not a regular file: Baton never reads it. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Runs work on text that a stranger may have written, and stops it at a deadline.
 * @returns undefined if the deadline stopped the work; discard whatever the work was changing, because its state is
 * unknown
 */
export type WithinDeadline = <T>(work: () => T) => { readonly value: T } | undefined;

/** Reads inside one directory and nowhere else. */
export interface WorkspaceFiles {
  /** @param path as the agent named it: absolute, or relative to its working directory */
  read(path: string): Promise<FileRead>;
}

/** An `AbortSignal` for code without platform types. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A model behind a provider. A method that the provider does not support is absent.
 *
 * All methods fail with `BatonError`: the codes `model_…`, or `interrupted` as soon as the signal aborts, in any phase,
 * after closing the connection. The connection also closes when a consumer stops iterating.
 */
export interface Model {
  /** The provider's key, which items carry to name who made them. */
  readonly provider: string;
  /** Streams the answer. The stream ends after `completed`; otherwise it fails. */
  stream(request: ModelRequest, signal: CancelSignal): AsyncIterable<ModelEvent>;
  /**
   * The provider's own compaction of the history.
   * @param onRestart called each time the request is sent again
   * @throws BatonError also when the answer is empty or malformed
   */
  compactRemote?(
    request: ModelRequest,
    signal: CancelSignal,
    onRestart?: (event: RestartedEvent) => void,
  ): Promise<RemoteCompaction>;
  /** The size of the request in tokens, as the provider counts it. */
  countTokens?(request: ModelRequest, signal: CancelSignal): Promise<number>;
}

/**
 * The user's commands that run beside a thread: `[hooks]`.
 *
 * A hook never makes anything fail: a missing command, a crash and a timeout become warnings. The one exception is the
 * user's Ctrl-C before anything is committed: hooks that run before an event then reject with `BatonError`
 * `interrupted`.
 */
export interface Hooks {
  /** Runs before a compaction. */
  preCompact(input: PreCompactInput, signal: CancelSignal): Promise<PreCompactVerdict>;
  /** Runs after the result is committed; never rejects. */
  postCompact(input: PostCompactInput, signal: CancelSignal): Promise<HookNotes>;
  /** Whether any `session_start` command runs for this source. If none does, nothing joins the history. */
  startsWith(source: SessionStartInput['source']): boolean;
  /** Runs when a session starts, or restarts after a compaction whose result is not yet committed. */
  sessionStart(input: SessionStartInput, signal: CancelSignal): Promise<SessionStartNotes>;
  /** Runs before the thread accepts a user message. */
  userPromptSubmit(input: UserPromptInput, signal: CancelSignal): Promise<UserPromptVerdict>;
  /** Runs when a user turn has ended by itself; never rejects. */
  turnComplete(input: TurnCompleteInput, signal: CancelSignal): Promise<HookNotes>;
}
