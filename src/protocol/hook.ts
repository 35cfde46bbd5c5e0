// What hooks are told and what is made of their answers.

import type { HookEvent, Implementation, Phase, Reason, SessionSource, Trigger } from '../vocabulary.ts';

/** The session that a hook is told of. What nobody knows is undefined here and null in the hook's input. */
export interface HookSession {
  readonly sessionId: string | undefined;
  /** Absolute path of the session file. */
  readonly transcriptPath: string | undefined;
  /** Where the session works, absolute; hooks run there if it exists on this machine. */
  readonly cwd: string | undefined;
  readonly model: string | undefined;
}

/** A compaction that is about to be made. */
export interface PreCompactInput {
  readonly session: HookSession;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  /** What the user asks of the summary. */
  readonly customInstructions: string | undefined;
  /** Used tokens of the context. */
  readonly preTokens: number;
  /** Raw window of the model, in tokens. */
  readonly window: number;
  /** False in an emergency: a veto is then told as a warning and changes nothing. */
  readonly mayVeto: boolean;
}

/** A compaction that was made. */
export interface PostCompactInput {
  readonly session: HookSession;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly implementation: Implementation;
  readonly preTokens: number;
  readonly postTokens: number;
  /** The summary; undefined where there is none that can be read. */
  readonly summary: string | undefined;
}

/** A session that begins, or begins anew after a compaction. */
export interface SessionStartInput {
  readonly session: HookSession;
  readonly source: SessionSource;
}

/** A message of the user that is about to be taken in. */
export interface UserPromptInput {
  readonly session: HookSession;
  readonly prompt: string;
}

/** A turn of the user that ended by itself. */
export interface TurnCompleteInput {
  readonly session: HookSession;
  readonly turnId: string;
  readonly lastAgentMessage: string | undefined;
}

/**
 * How one hook ended. `done`: it ran and its answer was taken. `vetoed`: it stopped the compaction, or the message. `overruled`: it vetoed in
 * an emergency, which nothing stops. `failed`: it could not be started, crashed or answered what is no answer. `interrupted`:
 * the user stopped everything.
 */
export type HookOutcome = 'done' | 'vetoed' | 'overruled' | 'failed' | 'timed_out' | 'interrupted';

/** One hook that ran, for receipts and events. */
export interface HookRun {
  readonly event: HookEvent;
  /** The command for people: one line, shortened, known secrets replaced. */
  readonly command: string;
  readonly outcome: HookOutcome;
  /** Milliseconds from its start to its end, rounded. */
  readonly durationMs: number;
}

/** What there is to tell of the hooks of one event. */
export interface HookNotes {
  /** In the order in which they ran; empty where none is configured for this occasion. */
  readonly runs: readonly HookRun[];
  /** One sentence each, one line, with the hook that it is about. */
  readonly warnings: readonly string[];
}

/** A veto and who gave it. */
export interface HookVeto {
  /** As `HookRun.command`. */
  readonly command: string;
  /** One line, shortened, known secrets replaced. */
  readonly reason: string;
}

/** What the hooks before a compaction say. */
export interface PreCompactVerdict extends HookNotes {
  /** The compaction is not to be made; later hooks were not asked. */
  readonly veto: HookVeto | undefined;
  /** For whoever writes the summary; of several hooks joined by empty lines. */
  readonly instructions: string | undefined;
}

/** What the hooks at the start of a session say. */
export interface SessionStartNotes extends HookNotes {
  /** For the model; of several hooks joined by empty lines. */
  readonly context: string | undefined;
}

/** What the hooks before a message say. */
export interface UserPromptVerdict extends HookNotes {
  /** The message is not to be taken in; later hooks were not asked. */
  readonly veto: HookVeto | undefined;
  /** For the model; of several hooks joined by empty lines. */
  readonly context: string | undefined;
}
