// What the rehearsal answers to a request: the recorded answer where the request belongs to the recorded work, the embedded
// summarizer's words where Baton asks for its own purposes, and a plain refusal where nothing of the kind was recorded.

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

/** What a request asks for. */
export type RequestPurpose =
  /** The agent's next piece of work. */
  | { readonly type: 'work' }
  | { readonly type: 'judgment' }
  | { readonly type: 'summary' }
  /** What the watcher asks of the agent before a compaction; the last step of a combined message. */
  | { readonly type: 'ceremony'; readonly step: WatcherStep };

/** Where the thread stands when the request comes. */
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
  /** What the recording says next came to the agent while it was at work, to be steered in before the answer ends. */
  readonly steer?: InputStep;
}

/** What a request asks for: by the form that it wants, its system prompt, and the origin of its last items; never by a text. */
export function askedOf(request: ModelRequest, summaryInstructions: string): RequestPurpose {
  if (request.schema !== undefined && hasVerdict(request.schema.schema)) return { type: 'judgment' };
  if (request.instructions === summaryInstructions) return { type: 'summary' };
  const step = ceremonyStep(request.items);
  return step === undefined ? { type: 'work' } : { type: 'ceremony', step };
}

function hasVerdict({ properties }: NonNullable<ModelRequest['schema']>['schema']): boolean {
  return typeof properties === 'object' && properties !== null && 'should_compact' in properties;
}

/** What the watcher asks in what came since the agent spoke last. A handoff asks for the work itself. */
function ceremonyStep(items: readonly Item[]): WatcherStep | undefined {
  for (const item of items.toReversed()) {
    const { author, step } = item.origin ?? {};
    if (author === 'synthetic') return step === 'handoff' || step === 'packet' ? undefined : step;
    if (authorOf(item) === 'agent') return undefined;
  }
  return undefined;
}

/** The answer to a request. Pure: the same request at the same place has the same answer. */
export function replyTo(
  request: ModelRequest,
  script: Script,
  standing: Standing,
  summaryInstructions: string,
): Reply {
  const asked = askedOf(request, summaryInstructions);
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

/** The policy stands: a recording has no opinion. */
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

/** What was not recorded is said to be so, and the recorded work goes on where it was under way. */
function workReply(script: Script, standing: Standing): Reply {
  const remarks = standing.unanswered.map((text) => spokenItem(cannotAnswer(text)));
  const work = standing.isForeignTurn ? undefined : recordedReply(script, standing.place);
  if (work !== undefined) return { ...work, items: [...remarks, ...work.items] };
  if (remarks.length > 0) return { items: remarks, stopReason: 'end_turn', durationMs: 0 };
  return spoken(
    standing.place.step < script.steps.length
      ? 'The recorded turn ends here; the rehearsal goes on with the next recorded message.'
      : 'The recording ends here.',
  );
}

/** Characters that are quoted of a message of the user. */
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

/** What the recorded provider would have counted: our estimate of what was really sent, in its tokens. */
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
