// The input of hooks, and what Baton reads from their answers.

import type { HookEvent, Implementation, Phase, Reason, SessionSource, Trigger } from '../vocabulary.ts';

/** The session that a hook receives. An unknown value is undefined here and null in the hook's input. */
export interface HookSession {
  readonly sessionId: string | undefined;
  /** Absolute path of the session file. */
  readonly transcriptPath: string | undefined;
  /** The session's working directory, absolute; hooks run there if it exists on this machine. */
  readonly cwd: string | undefined;
  readonly model: string | undefined;
}

/** A compaction that is about to run. */
export interface PreCompactInput {
  readonly session: HookSession;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  /** The user's instructions for the summary. */
  readonly customInstructions: string | undefined;
  /** Used tokens of the context. */
  readonly preTokens: number;
  /** Raw window of the model, in tokens. */
  readonly window: number;
  /** False in an emergency: a veto then becomes a warning and changes nothing. */
  readonly mayVeto: boolean;
}

/** A compaction that ran. */
export interface PostCompactInput {
  readonly session: HookSession;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly implementation: Implementation;
  readonly preTokens: number;
  readonly postTokens: number;
  /** The summary; undefined if there is no readable one. */
  readonly summary: string | undefined;
}

/** A session that starts, or restarts after a compaction. */
export interface SessionStartInput {
  readonly session: HookSession;
  readonly source: SessionSource;
}

/** A user message that the thread is about to accept. */
export interface UserPromptInput {
  readonly session: HookSession;
  readonly prompt: string;
}

/** A user turn that ended by itself. */
export interface TurnCompleteInput {
  readonly session: HookSession;
  readonly turnId: string;
  readonly lastAgentMessage: string | undefined;
}

/**
 * How one hook ended. `done`: it ran and Baton accepted its answer. `vetoed`: it stopped the compaction or the message.
 * `overruled`: it vetoed in an emergency, which nothing stops. `failed`: it did not start, crashed, or gave an invalid
 * answer. `interrupted`: the user stopped everything.
 */
export type HookOutcome = 'done' | 'vetoed' | 'overruled' | 'failed' | 'timed_out' | 'interrupted';

/** One hook that ran, for receipts and events. */
export interface HookRun {
  readonly event: HookEvent;
  /** The command for display: one shortened line with known secrets replaced. */
  readonly command: string;
  readonly outcome: HookOutcome;
  /** Milliseconds from its start to its end, rounded. */
  readonly durationMs: number;
}

/** What the hooks of one event report. */
export interface HookNotes {
  /** In the order in which they ran; empty if none is configured for this event. */
  readonly runs: readonly HookRun[];
  /** One sentence and one line each; names the hook that it is about. */
  readonly warnings: readonly string[];
}

/** A veto and the hook that gave it. */
export interface HookVeto {
  /** As `HookRun.command`. */
  readonly command: string;
  /** One shortened line with known secrets replaced. */
  readonly reason: string;
}

/** What the hooks before a compaction answered. */
export interface PreCompactVerdict extends HookNotes {
  /** If set, the compaction must not run; later hooks did not run. */
  readonly veto: HookVeto | undefined;
  /** For the writer of the summary; instructions of several hooks are joined by empty lines. */
  readonly instructions: string | undefined;
}

/** What the hooks at the start of a session answered. */
export interface SessionStartNotes extends HookNotes {
  /** For the model; contexts of several hooks are joined by empty lines. */
  readonly context: string | undefined;
}

/** What the hooks before a message answered. */
export interface UserPromptVerdict extends HookNotes {
  /** If set, the thread must not accept the message; later hooks did not run. */
  readonly veto: HookVeto | undefined;
  /** For the model; contexts of several hooks are joined by empty lines. */
  readonly context: string | undefined;
}
