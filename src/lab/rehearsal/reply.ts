// How the rehearsal answers a request: with the recorded answer if the request belongs to the recorded work, with the
// embedded summarizer's text if Baton asks for its own purposes, and with a plain refusal if nothing was recorded.

import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import type { ModelRequest, ModelUsage } from '../../protocol/model.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { EstimateSettings } from '../../tokens/estimate.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import type { Trail } from '../../trail/trail.ts';
import { DEFAULT_SUMMARY_TOKENS, writeSummary } from '../../summary/write.ts';
import type { Step as WatcherStep, StopReason } from '../../vocabulary.ts';
import { rehearsedPacket } from './packet.ts';
import { REHEARSAL } from './script-position.ts';
import type { ScriptPosition } from './script-position.ts';
import type { InputStep, Script } from './script.ts';

/** The purpose of a request. */
export type RequestPurpose =
  /** The agent's next piece of work. */
  | { readonly type: 'work' }
  | { readonly type: 'judgment' }
  | { readonly type: 'summary' }
  /** The watcher's requests to the agent before a compaction; the last step of a combined message. */
  | { readonly type: 'ceremony'; readonly step: WatcherStep };

/** The position of the thread when the request arrives. */
export interface Standing {
  readonly place: ScriptPosition;
  readonly unanswered: readonly string[];
  readonly isForeignTurn: boolean;
  readonly trail: () => Trail;
}

/** An answer. */
export interface Reply {
  readonly items: readonly Item[];
  readonly stopReason: StopReason;
  /** Recorded milliseconds; 0 for what was not recorded. */
  readonly durationMs: number;
  /** The next recorded message that reached the agent while it was working; steer it in before the answer ends. */
  readonly steer?: InputStep;
}

/** The purpose of a request: by its required form, its system prompt, and the origin of its last items; never by a text. */
export function requestPurpose(request: ModelRequest, summaryInstructions: string): RequestPurpose {
  if (request.schema !== undefined && hasVerdict(request.schema.schema)) return { type: 'judgment' };
  if (request.instructions === summaryInstructions) return { type: 'summary' };
  const step = ceremonyStep(request.items);
  return step === undefined ? { type: 'work' } : { type: 'ceremony', step };
}

function hasVerdict({ properties }: NonNullable<ModelRequest['schema']>['schema']): boolean {
  return typeof properties === 'object' && properties !== null && 'should_compact' in properties;
}

/** The watcher's request among the items since the agent's last message. A handoff asks for the work itself. */
function ceremonyStep(items: readonly Item[]): WatcherStep | undefined {
  for (const item of items.toReversed()) {
    const { author, step } = item.origin ?? {};
    if (author === 'synthetic') return step === 'handoff' || step === 'packet' ? undefined : step;
    if (authorOf(item) === 'agent') return undefined;
  }
  return undefined;
}

/** The answer to a request. Pure: the same request at the same position has the same answer. */
export function replyTo(
  request: ModelRequest,
  script: Script,
  standing: Standing,
  summaryInstructions: string,
): Reply {
  const asked = requestPurpose(request, summaryInstructions);
  switch (asked.type) {
    case 'work':
      return workReply(script, standing);
    case 'judgment':
      return spoken(JSON.stringify(NO_VETO));
    case 'summary':
      return spoken(summaryText(request, standing.trail()));
    case 'ceremony':
      return spoken(ceremonyText(asked.step, standing.trail()));
  }
}

/** The policy decides: a recording has no opinion. */
const NO_VETO = { should_compact: true, reason: 'A rehearsal judges nothing, so the policy decides.' };

function summaryText({ maxOutputTokens = DEFAULT_SUMMARY_TOKENS }: ModelRequest, trail: Trail): string {
  const budgetTokens = Math.max(1, Math.min(DEFAULT_SUMMARY_TOKENS, maxOutputTokens));
  return writeSummary(trail, { budgetTokens, count: approximateTokens }).text;
}

function ceremonyText(step: WatcherStep, trail: Trail): string {
  switch (step) {
    case 'packet_request':
      return rehearsedPacket(trail, approximateTokens);
    case 'scratch':
      return 'A rehearsal executes nothing, so it has written no notes.';
    default:
      return 'A rehearsal takes note of this.';
  }
}

/** Says that an answer was not recorded, and continues the recorded work where it was interrupted. */
function workReply(script: Script, standing: Standing): Reply {
  const remarks = standing.unanswered.map((text) => spokenItem(cannotAnswer(text)));
  const work = standing.isForeignTurn ? undefined : recordedReply(script, standing.place);
  if (work !== undefined) return { ...work, items: [...remarks, ...work.items] };
  if (remarks.length > 0) return { items: remarks, stopReason: 'end_turn', durationMs: 0 };
  return spoken(
    standing.place.step < script.steps.length
      ? 'The recorded turn ends here; the rehearsal continues with the next recorded message.'
      : 'The recording ends here.',
  );
}

/** Maximum number of quoted characters of a user message. */
const QUOTED = 120;

function cannotAnswer(text: string): string {
  const quoted = clip(oneLine(text), QUOTED);
  return `A rehearsal cannot answer this${quoted === '' ? '' : `: "${quoted}"`}. It only plays what was recorded.`;
}

function recordedReply({ steps }: Script, { step, part }: ScriptPosition): Reply | undefined {
  const answer = steps[step];
  if (answer?.type !== 'answer') return undefined;
  const next = steps[step + 1];
  const items = answer.items.slice(part);
  const base = { items, durationMs: answer.durationMs };
  if (hasOpenCalls(items)) return { ...base, stopReason: 'tool_calls' };
  if (next?.type === 'answer') return { ...base, stopReason: 'paused' };
  return next?.isSteering === true
    ? { ...base, stopReason: 'end_turn', steer: next }
    : { ...base, stopReason: 'end_turn' };
}

function hasOpenCalls(items: readonly Item[]): boolean {
  const answered = new Set(items.map(resultCallId));
  return items.some((item) => {
    const callId = callOf(item)?.callId;
    return callId !== undefined && !answered.has(callId);
  });
}

function spoken(text: string): Reply {
  return { items: [spokenItem(text)], stopReason: 'end_turn', durationMs: 0 };
}

function spokenItem(text: string): MessageItem {
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
    provider: REHEARSAL,
  };
}

/** The recorded provider's probable count: our estimate of the request, in its tokens. */
export function usageOf(
  { instructions, tools, items: sent }: ModelRequest,
  answered: readonly Item[],
  scale: number,
  estimate: EstimateSettings,
): ModelUsage {
  const count = (text: string): number => approximateTokens(text, estimate);
  const all = (items: readonly Item[]): number =>
    items.reduce((sum, item) => sum + sumTokens(itemTokens(item, count, estimate)), 0);
  const schemas = tools.length === 0 ? 0 : count(JSON.stringify(tools));
  const input = Math.round((count(instructions) + schemas + all(sent)) * scale);
  const output = Math.round(all(answered) * scale);
  const reasoning = answered.filter(({ type }) => type === 'reasoning');
  return {
    source: 'reported',
    covers: 'response',
    total: input + output,
    input,
    cachedInput: 0,
    cacheWrite: 0,
    output,
    reasoningOutput: Math.min(output, Math.round(all(reasoning) * scale)),
  };
}
