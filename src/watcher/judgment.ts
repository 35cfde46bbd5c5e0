// What a judge reads, and how its answer is interpreted. The judge is a model without tools that may veto a compaction
// which the policy allows; an invalid answer changes nothing.

import { authorOf, textOfParts } from '../protocol/item.ts';
import type { Item, JsonObject, MessageItem } from '../protocol/item.ts';
import type { Judgment, JudgmentRequest } from '../protocol/judgment.ts';
import { isSummary } from '../history/filter.ts';
import { clip, ELLIPSIS, oneLine } from '../text/sentences.ts';
import { BOUNDARIES } from '../vocabulary.ts';
import type { Boundary } from '../vocabulary.ts';
import { judgmentPromptPath } from './decide.ts';
import type { Decision, Evaluation } from './decide.ts';
import type { Policy } from './policy.ts';

/** Newest messages in the judge's excerpt. @source spec 3-watcher §3 */
const EXCERPT_MESSAGES = 12;
/** Characters of each excerpted message. @source spec 3-watcher §3 */
const EXCERPT_CHARACTERS = 800;
/** Maximum length of a reason in characters; a reason is one sentence. */
const REASON_LENGTH = 300;

/** The schema of the judge's answer. @source spec 3-watcher §3 */
export const JUDGMENT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: { should_compact: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['should_compact', 'reason'],
} as const satisfies JsonObject;

/**
 * The request for a judgment of a decision; undefined if no judge is asked: the answer is already no, it is an
 * emergency, or the tier has no prompt.
 * @param requestId unique within the thread
 */
export function buildJudgmentRequest(
  requestId: string,
  { situation, open, lastAgentMessage }: Evaluation,
  decision: Decision,
  policy: Policy,
): JudgmentRequest | undefined {
  const path = judgmentPromptPath(decision, policy);
  if (path === undefined || decision.tier === undefined) return undefined;
  return {
    type: 'rawr_auto_compaction_judgment',
    request_id: requestId,
    tier: decision.tier,
    percent_remaining: situation.percentRemaining ?? null,
    boundaries_present: presentBoundaries(open.map(({ signal }) => signal.boundary)),
    last_agent_message: lastAgentMessage ?? null,
    decision_prompt_path: path,
  };
}

function presentBoundaries(reached: readonly Boundary[]): readonly Boundary[] {
  return BOUNDARIES.filter((boundary) => reached.includes(boundary));
}

/** What the judge reads beside the request. */
export interface JudgmentContext {
  readonly threadId: string;
  readonly turnId: string;
  /** Tokens. */
  readonly used: number;
  /** Usable window, tokens. */
  readonly window: number | undefined;
  /** The live history, oldest first. */
  readonly items: readonly Item[];
}

/** The placeholder values of `judgment-context.md`. @source spec 3-watcher §3 */
export function judgmentValues(request: JudgmentRequest, context: JudgmentContext) {
  return {
    tier: request.tier,
    percentRemaining: request.percent_remaining === null ? 'unknown' : String(request.percent_remaining),
    boundariesJson: JSON.stringify(request.boundaries_present),
    threadId: context.threadId,
    turnId: context.turnId,
    totalUsageTokens: String(context.used),
    modelContextWindow: context.window === undefined ? 'unknown' : String(context.window),
    lastAgentMessage: indented(request.last_agent_message?.trim() ?? ''),
    transcriptExcerpt: transcriptExcerpt(context.items),
  } as const;
}

/**
 * The newest messages of a conversation, one `role: text` each, newest last; continuation lines are indented so that
 * none passes for a message. Harness text, placeholders of API failures and messages without text are omitted. Linear
 * in the part it reads, the end of the history.
 */
export function transcriptExcerpt(items: readonly Item[]): string {
  const lines: string[] = [];
  for (let index = items.length - 1; index >= 0 && lines.length < EXCERPT_MESSAGES; index--) {
    const item = items[index];
    if (item?.type !== 'message' || !isConversation(item)) continue;
    const text = textOfParts(item.content).trim();
    if (text !== '') lines.push(`${item.role}: ${indented(cutAfter(text, EXCERPT_CHARACTERS))}`);
  }
  return lines.toReversed().join('\n');
}

/** Indents a text's continuation lines, so that none passes for a heading, a fact or a message of Baton's. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function isConversation(message: MessageItem): boolean {
  if (message.isApiErrorMessage === true || message.model === '<synthetic>') return false;
  return authorOf(message) !== 'harness' || isSummary(message);
}

/** The first `characters` of a text, with a mark if something is missing. Never splits a surrogate pair. */
function cutAfter(text: string, characters: number): string {
  // A character takes at most two units, so a long text need not be split.
  const head = Array.from(text.slice(0, 2 * characters + 1));
  return head.length <= characters ? text : `${head.slice(0, characters).join('')}${ELLIPSIS}`;
}

/**
 * Reads a judge's answer from the first `{` to the last `}`, so that a code fence and surrounding words are harmless.
 * Never throws.
 * @source rawr-behaviour §6.4, whose two earlier steps can only find the same object
 */
export function parseJudgment(text: string): Judgment {
  if (text.trim() === '') return { type: 'failure', why: 'The judge answered nothing.' };
  const value = parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  if (value === undefined) return { type: 'failure', why: 'The judge answered no JSON object.' };
  return (
    answerIn(value) ?? {
      type: 'failure',
      why: 'The judge answered JSON without a boolean should_compact and a text reason.',
    }
  );
}

/** Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function answerIn(value: unknown): Judgment | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('should_compact' in value) || typeof value.should_compact !== 'boolean') return undefined;
  if (!('reason' in value) || typeof value.reason !== 'string') return undefined;
  // A JSON escape can be half of a surrogate pair; no later text may contain one.
  const reason = clip(oneLine(value.reason), REASON_LENGTH).replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return { type: 'answer', shouldCompact: value.should_compact, reason };
}
