// How much of a history a model can be shown, before and after it said that it was too much. Tokens throughout. Pure.

import { approximateTokens } from '../../tokens/estimate.ts';
import { UNKNOWN_OUTPUT_LIMIT } from '../../tokens/models.ts';
import type { SummaryPrompts } from './prompt.ts';

/**
 * Largest summary of a model where no target says otherwise: half of its answer, since an analysis comes before it.
 * @source rawr-behaviour §14: 16,000 output tokens in the descendants of Compact V2
 */
export const MODEL_SUMMARY_LIMIT = 8_000;

/** What bounds requests to a model. */
export interface ModelLimits {
  /** Raw window. */
  readonly window: number;
  /** What one answer may take, thinking included; undefined: not known. */
  readonly outputLimit?: number;
  /** Whether it thinks before it answers, which is output too. */
  readonly thinks: boolean;
}

/** Room of one request. */
export interface Room {
  readonly transcript: number;
  /** The answer, its analysis and thinking included. */
  readonly answer: number;
}

/** What a request for a summary may take of the window, its answer included. @source seed 002, spec 2-engine §4.3 */
const SHARE_OF_WINDOW = 0.8;

/** The answer takes no more of the window than this. @source docs/decisions/ladder.md */
const ANSWER_SHARE = 0.25;

/** The most that an answer may take of a window. */
export function answerShare(window: number): number {
  return Math.floor(window * ANSWER_SHARE);
}

/** Thinking before a summary. @source docs/decisions/ladder.md */
const THINKING_TOKENS = 16_000;

/** The wrapping of a request: roles, the words around the transcript. */
const WRAPPING_TOKENS = 64;

interface Needs {
  readonly mostTokens: number;
  readonly prompts: SummaryPrompts;
}

/** What each model can be shown; less than nothing for one that is too small. */
export function roomsOf(models: readonly ModelLimits[], needs: Needs): readonly Room[] {
  return models.map((model) => {
    const answer = answerRoom(model, needs.mostTokens);
    return { answer, transcript: transcriptRoom(model.window, answer, needs) };
  });
}

function transcriptRoom(window: number, answer: number, { prompts }: Needs): number {
  const { system, request, instructions = '' } = prompts;
  const words = [system, request, instructions].reduce((sum, text) => sum + approximateTokens(text), 0);
  return Math.floor(window * SHARE_OF_WINDOW) - answer - words - WRAPPING_TOKENS;
}

/** Twice the summary, since an analysis comes before it. */
function answerRoom({ window, outputLimit, thinks }: ModelLimits, mostTokens: number): number {
  const thinking = thinks ? THINKING_TOKENS : 0;
  return Math.min(2 * mostTokens + thinking, answerShare(window), outputLimit ?? UNKNOWN_OUTPUT_LIMIT);
}

/** After an overflow that names no limit, half of what was sent is tried. */
const BLIND_SHARE = 0.5;

/** A limit that the provider named is kept by less than what was just refused. */
const NAMED_SHARE = 0.8;

/** What a transcript may take after a request was too large. */
export function learntRoom(
  { limitTokens, requestedTokens }: { readonly limitTokens?: number; readonly requestedTokens?: number },
  sent: { readonly sentTokens: number; readonly answerTokens: number; readonly order: Needs },
): number {
  const { sentTokens, answerTokens, order } = sent;
  if (limitTokens === undefined) return Math.floor(sentTokens * BLIND_SHARE);
  const answer = Math.min(answerTokens, answerShare(limitTokens));
  const room = transcriptRoom(limitTokens, answer, order);
  // The provider counts otherwise than we do: by how much it says itself.
  const factor = requestedTokens === undefined || requestedTokens <= 0 ? 1 : sentTokens / requestedTokens;
  return Math.floor(Math.min(room * Math.min(1, factor), sentTokens * NAMED_SHARE));
}
