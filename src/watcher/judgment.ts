// What a judge is told, and what is made of its answer. The judge is a model without tools that may veto a compaction which
// the policy allows; whatever it says that is no answer changes nothing.

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

/** Newest messages that the judge is shown. @source spec 3-watcher §3 */
const EXCERPT_MESSAGES = 12;
/** Characters of each of them. @source spec 3-watcher §3 */
const EXCERPT_CHARACTERS = 800;
/** A reason is one sentence; a judge that lectures is cut short. */
const REASON_LENGTH = 300;

/** What the judge's answer has to look like. @source spec 3-watcher §3 */
export const JUDGMENT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: { should_compact: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['should_compact', 'reason'],
} as const satisfies JsonObject;

/**
 * The request for a judgment of a decision, or undefined where nobody is asked: the answer is a no already, an emergency, or
 * the tier has no prompt.
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

/** What the judge is told beside the request. */
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

/** The values of the placeholders of `judgment-context.md`. @source spec 3-watcher §3 */
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
 * The newest messages of a conversation, one `role: text` each, the newest last; further lines of a text are indented, so that
 * none passes for a message. What the harness says, placeholders of API
 * failures and messages without text are left out. Linear in what it looks at, which is the end of the history.
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

/** A text whose further lines stand to the right of what Baton says: none passes for a heading, a fact or a message. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function isConversation(message: MessageItem): boolean {
  if (message.isApiErrorMessage === true || message.model === '<synthetic>') return false;
  return authorOf(message) !== 'harness' || isSummary(message);
}

/** The first `characters` of a text, with a mark where something is missing. Never half of a surrogate pair. */
function cutAfter(text: string, characters: number): string {
  // A character takes at most two units, so that a long text need not be taken apart.
  const head = Array.from(text.slice(0, 2 * characters + 1));
  return head.length <= characters ? text : `${head.slice(0, characters).join('')}${ELLIPSIS}`;
}

/**
 * Reads a judge's answer: what stands from the first `{` to the last `}`, so that a code fence and words around it do no harm.
 * Never throws.
 * @source rawr-behaviour §6.4, whose two steps before this one can only find the same object
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

/** Undefined where the text is no JSON. */
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
  // An escape in the JSON can be half of a pair; nothing that is written later may hold one.
  const reason = clip(oneLine(value.reason), REASON_LENGTH).replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return { type: 'answer', shouldCompact: value.should_compact, reason };
}
