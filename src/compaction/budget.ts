// How the room after a compaction is shared out. Numbers in tokens throughout.

import { DEFAULT_SUMMARY_TOKENS } from '../summary/write.ts';

/** What one message costs on the wire besides its text. @source OpenAI's chat format: 3 to 4 tokens a message. */
export const MESSAGE_OVERHEAD = 4;

/** A compaction that saves less than a quarter of the context is not worth the change. @source docs/decisions/compaction-budget.md. */
export const WORTHWHILE_SHARE = 0.75;

/** Below this a summary cannot hold the request, the constraints and the next step. @source docs/decisions/compaction-budget.md. */
export const LEAST_SUMMARY_TOKENS = 200;

/** Restored files and preserved user messages take at most this share of the window each. @source spec 2-engine §4.1. */
export const SHARE_OF_WINDOW = 0.08;

/** Shares of a target that is asked for, and the least that each part has where no target is. @source docs/decisions/compaction-budget.md. */
const SHARE_OF_TARGET = { files: 0.25, userMessages: 0.15 } as const;

export interface BudgetRequest {
  /** Raw window of the model. */
  readonly window: number;
  /** Largest size of the whole context after compaction. */
  readonly target: number;
  /** Largest size of the summary; infinite where a target says how much there may be. */
  readonly summaryLimit: number;
  /** Parts that stay as they are: initial context, todos, plan, what wraps the summary. */
  readonly fixed: number;
  /** What the user messages would take whole. */
  readonly userMessages: number;
  /** `user_message_max_tokens`. */
  readonly userMessageLimit: number;
  /** What the restored files would take within their own limits. */
  readonly files: number;
}

export type Budget =
  | {
      readonly fits: true;
      readonly userMessages: number;
      readonly files: number;
      readonly summary: number;
    }
  | {
      readonly fits: false;
      /** The smallest target that would do. */
      readonly least: number;
    };

/** A target whose share for the summary holds `summary` tokens beside the `fixed` ones, whatever else there is. */
export function targetForSummary(fixed: number, summary: number): number {
  const share = 1 - SHARE_OF_TARGET.files - SHARE_OF_TARGET.userMessages;
  return fixed + Math.ceil(Math.max(LEAST_SUMMARY_TOKENS, summary) / share);
}

/** Shares out the room, or says how much is needed at the least. What one part does not need goes to the summary. */
export function shareOut(request: BudgetRequest): Budget {
  const room = request.target - request.fixed;
  if (room < LEAST_SUMMARY_TOKENS) return { fits: false, least: request.fixed + LEAST_SUMMARY_TOKENS };
  const ofWindow = Math.floor(request.window * SHARE_OF_WINDOW);
  // Room that a limited summary cannot use: there the parts are held by their own limits alone.
  const spare = request.summaryLimit === Infinity ? 0 : Math.max(0, room - request.summaryLimit);
  const shares = {
    files: Math.floor(room * SHARE_OF_TARGET.files),
    userMessages: Math.floor(room * SHARE_OF_TARGET.userMessages),
  };
  const userMessages = Math.min(
    request.userMessages,
    request.userMessageLimit,
    ofWindow,
    Math.max(shares.userMessages, spare - Math.min(request.files, ofWindow, shares.files)),
    room - LEAST_SUMMARY_TOKENS,
  );
  const files = Math.min(
    request.files,
    ofWindow,
    Math.max(shares.files, spare - userMessages),
    room - userMessages - LEAST_SUMMARY_TOKENS,
  );
  return {
    fits: true,
    userMessages,
    files,
    summary: Math.min(request.summaryLimit, room - files - userMessages),
  };
}

/**
 * Tokens of the items that a full compaction would leave: the initial context, the user's words within their limits, and the
 * budget of the summary.
 * @param items estimates of the initial context, and of all messages of the user
 * @param limits the raw window, undefined where it is not known, and `user_message_max_tokens`
 * @source spec 2-engine §4.1
 */
export function tokensLeft(
  items: { readonly initial: number; readonly user: number },
  limits: { readonly window: number | undefined; readonly userMessageMaxTokens: number },
): number {
  const { window, userMessageMaxTokens } = limits;
  const share = window === undefined ? Infinity : Math.floor(window * SHARE_OF_WINDOW);
  return items.initial + Math.min(items.user, userMessageMaxTokens, share) + DEFAULT_SUMMARY_TOKENS;
}
