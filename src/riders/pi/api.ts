// The part of pi's interface for extensions that Baton uses. Written down here because the package weighs 100 MB.
// @source pi 0.87.1, `dist/core/extensions/types.d.ts`

import type { JsonObject } from '../../protocol/item.ts';

/** What a handler may return at the end of a step. */
export interface PiBoundaryResult {
  readonly entries: readonly PiDraft[];
  readonly continue?: boolean;
}

/** An entry to be appended to the session. */
export type PiDraft =
  | { readonly type: 'custom'; readonly customType: string; readonly data: JsonObject }
  | {
      readonly type: 'custom_message';
      readonly customType: string;
      readonly content: string;
      readonly display: boolean;
    }
  | {
      readonly type: 'context_edit';
      readonly targetId: string;
      readonly replacement: { readonly content: readonly { readonly type: 'text'; readonly text: string }[] };
    }
  | {
      readonly type: 'compaction';
      readonly summary: string;
      /** Null: nothing before the compaction stays. */
      readonly firstKeptEntryId: string | null;
      readonly details: JsonObject;
    };

/** A step has ended: an answer of the model, and the calls in it. */
export interface PiTurnEnd {
  /** Drafts of other extensions. */
  readonly entries: readonly PiDraft[];
  /** Another extension wants the agent to continue. */
  readonly continue: boolean;
  readonly outcome: 'completed' | 'aborted' | 'error';
  readonly toolResults: readonly unknown[];
  readonly context: { readonly pendingMessages: readonly unknown[] };
}

/** pi is about to compact. */
export interface PiBeforeCompact {
  readonly reason: 'manual' | 'threshold' | 'overflow';
  readonly customInstructions?: string;
  readonly preparation: { readonly tokensBefore: number };
}

/** What replaces pi's own compaction. */
export type PiCompactAnswer =
  | { readonly cancel: true }
  | {
      readonly compaction: {
        readonly summary: string;
        readonly firstKeptEntryId: string | null;
        readonly tokensBefore: number;
        readonly details: JsonObject;
      };
    };

/** What handlers are given of the session. */
export interface PiContext {
  readonly cwd: string;
  readonly hasUI: boolean;
  readonly ui: {
    notify(message: string, type: 'info' | 'warning'): void;
    setStatus(key: string, text: string | undefined): void;
  };
  readonly model: { readonly contextWindow: number } | undefined;
  readonly sessionManager: {
    /** The entries from the first to the newest, as the session file has them. */
    getBranch(): readonly JsonObject[];
  };
  getSystemPrompt(): string;
}

type Handler<Event, Result> = (event: Event, context: PiContext) => Promise<Result | undefined>;

/** What pi gives an extension. */
export interface PiApi {
  on(event: 'session_start' | 'session_tree' | 'session_shutdown', handler: Handler<unknown, void>): void;
  on(event: 'turn_end', handler: Handler<PiTurnEnd, PiBoundaryResult>): void;
  on(event: 'session_before_compact', handler: Handler<PiBeforeCompact, PiCompactAnswer>): void;
  registerCommand(
    name: string,
    command: {
      readonly description: string;
      readonly handler: (args: string, context: PiContext) => Promise<void>;
    },
  ): void;
  appendEntry(customType: string, data: JsonObject): void;
}
