// The watcher's messages in the thread: the requests before a compaction, the packet as an item, the handoff after it.
// The text for the model arrives as rendered prompts; this file assembles the parts.

import { withoutTags } from '../../protocol/enclosed.ts';
import { markerLine } from '../../protocol/marker.ts';
import type { Item, MessageItem, Origin } from '../../protocol/item.ts';
import type { Plan } from '../../trail/trail.ts';
import type { Step } from '../../vocabulary.ts';
import { SECTION_NAMES } from './sections.ts';
import type { PacketSection } from './sections.ts';

/** The rendered prompts; a step that is not requested may have an empty prompt. */
export interface RequestPrompts {
  readonly headsUp: string;
  readonly scratch: string;
  readonly packet: string;
}

/** One request to the agent. */
export interface PacketRequest {
  readonly sequenceId: string;
  /** The steps of the message, in the order of the golden path. */
  readonly steps: readonly [Step, ...Step[]];
  readonly prompts: RequestPrompts;
  /** Where the notes go; absent without notes. */
  readonly scratchPath?: string;
  /** What the first answer lacked: the request is then the reminder, and asks only for that. */
  readonly missing?: readonly PacketSection[];
}

/** Separates the parts of a combined message. @source rawr-behaviour §5, composition rules */
const RULE = '\n\n---\n\n';

/**
 * The text of a request: its marker, then the parts. A scratch prompt that does not name the file gets a line that
 * does; if notes were written earlier, a packet request starts with their path.
 */
export function composeRequest(request: PacketRequest): string {
  const { steps, sequenceId, missing } = request;
  const parts = missing === undefined ? steps.map((step) => partFor(step, request)) : [reminder(missing)];
  const body = parts.filter((part) => part !== '').join(RULE);
  return `${markerLine({ steps, sequenceId })}\n${body}`;
}

function partFor(step: Step, { steps, prompts, scratchPath }: PacketRequest): string {
  switch (step) {
    case 'heads_up':
      return prompts.headsUp.trim();
    case 'scratch': {
      const prompt = prompts.scratch.trim();
      if (scratchPath === undefined || prompt.includes(scratchPath)) return prompt;
      return `${prompt}\n\nTarget file: \`${scratchPath}\``;
    }
    case 'packet_request': {
      const prompt = prompts.packet.trim();
      return scratchPath === undefined || steps.includes('scratch')
        ? prompt
        : `${scratchLine(scratchPath)}\n\n${prompt}`;
    }
    case 'packet':
    case 'handoff':
      return '';
  }
}

function scratchLine(path: string): string {
  return `Scratchpad: \`${path}\``;
}

function reminder(missing: readonly PacketSection[]): string {
  if (missing.length === 0) {
    return 'That was not a continuation packet yet. Please answer with the packet itself, now, in this message.';
  }
  const names = missing.map((name) => `- ${SECTION_NAMES[name]}`).join('\n');
  return `Your packet still lacks what the next context needs:\n\n${names}\n\nPlease answer with just that, each under its heading, now, in this message.`;
}

/** What is handed back after a compaction. */
export interface Handoff {
  readonly sequenceId: string;
  readonly packet: string;
  readonly scratchPath?: string;
  /** `turn_based_handoff`; false: the unwrapped packet, with the line about the notes. */
  readonly isWrapped: boolean;
  /**
   * The rendered handoff prompt, with `{packet}` for the fenced packet. Without the placeholder the packet follows the
   * prompt.
   */
  readonly frame: string;
}

const PACKET_PLACE = '{packet}';

/** The text of the handoff: its marker, then the prompt around the packet, in a fence that nothing in it can close. */
export function handoffMessage(handoff: Handoff): string {
  const { sequenceId, scratchPath, isWrapped, frame } = handoff;
  const packet = withoutTags(handoff.packet.trim());
  const marker = markerLine({ steps: ['handoff'], sequenceId });
  const notes = scratchPath === undefined ? '' : `${scratchLine(scratchPath)}\n\n`;
  if (!isWrapped) return `${marker}\n${notes}${packet}`;
  const block = `${notes}${fenced(packet)}`;
  const at = frame.indexOf(PACKET_PLACE);
  if (at < 0) return `${marker}\n${frame.trim()}\n\n${block}`;
  // Not `replace`: a packet may contain the placeholder itself, and `$&`.
  const before = frame.slice(0, at).trim();
  const after = frame.slice(at + PACKET_PLACE.length).trim();
  return `${marker}\n${[before, block, after].filter((part) => part !== '').join('\n\n')}`;
}

/** A text in a fence longer than any run of backticks in it, at least three. @source CommonMark §4.5 */
export function fenced(text: string): string {
  let longest = 2;
  for (const run of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A message by the watcher in the user role. */
export function syntheticMessage(text: string, origin: Omit<Origin, 'author'>): MessageItem {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'synthetic', ...origin },
  };
}

/** Whether the newest request of a history is open: neither a handoff nor a retraction follows it. */
export function hasOpenRequest(items: readonly Item[]): boolean {
  const newest = items.findLast(
    ({ type, origin }) => type === 'message' && origin?.author === 'synthetic' && origin.step !== 'packet',
  );
  const step = newest?.origin?.step;
  return step === 'heads_up' || step === 'scratch' || step === 'packet_request';
}

/** The message that withdraws a request: without it the agent would still expect to write a packet. */
export function retractionMessage(): MessageItem {
  const text =
    'The request above to pause and write a packet no longer holds: no compaction followed it, and the conversation is still here. Carry on with what the user asks for.';
  return syntheticMessage(text, {});
}

/**
 * A packet by the watcher as an item of the history. `assistant` (B1) if the host accepts it, else `user` (B2). Its
 * first lines tell people who wrote it; the marker tells readers. @source seed 004, B1 and B2
 */
export function packetItem(packet: string, sequenceId: string, role: 'assistant' | 'user'): MessageItem {
  const text = `${markerLine({ steps: ['packet'], sequenceId })}\n${withoutTags(packet.trim())}`;
  const origin: Origin = { author: 'synthetic', step: 'packet', sequenceId };
  return role === 'user'
    ? syntheticMessage(text, { step: 'packet', sequenceId })
    : { type: 'message', role, content: [{ type: 'output_text', text }], origin };
}

/** What is known about the agent's work when the packet is ready. */
export interface WorkLeft {
  /** The agent's turn is over, and no call followed its last message. */
  readonly hasEnded: boolean;
  /** Todo list and plan. */
  readonly plans: readonly Plan[];
  /** The packet's next step; undefined if it names none. */
  readonly nextStep: string | undefined;
  /** User messages wait. */
  readonly hasQueuedInput: boolean;
  /** The agent waits for the user: its last message or its packet's next step says so. */
  readonly hasQuestion: boolean;
}

/** How a packet says that nothing comes next. */
const NOTHING_NEXT =
  /^[\s*_\->"'`]*(?:(?:none|nothing|n\/a|no (?:further|remaining|next|more|open)|all (?:work|done|tasks?|steps)|(?:the )?(?:work|task) is (?:done|complete|finished)|(?:just )?(?:wait(?:ing)? for|await(?:ing)?) (?:the |an? |any |your )?(?:user|answer|reply|review|feedback|approval|further|next|new|instructions?)|nichts|keine?|rien|aucune?|nada)(?![\p{L}\p{N}])|ничего|なし|ありません|无|無|没有|없음)/iu;

/**
 * Whether the agent has nothing left to do, so that the handoff is stored without starting a turn: it has ended its
 * turn, nothing is queued, no step of its plan or todo list is open, and its packet names no next step. An agent that
 * waits for the user's answer has also ended, whatever is left: a synthetic turn must not answer for the user.
 */
export function isFinished({
  hasEnded,
  plans,
  nextStep = '',
  hasQueuedInput,
  hasQuestion,
}: WorkLeft): boolean {
  if (!hasEnded || hasQueuedInput) return false;
  if (hasQuestion) return true;
  const hasOpenStep = plans.some(({ steps }) =>
    steps.some(({ status }) => status === 'pending' || status === 'in_progress'),
  );
  return !hasOpenStep && namesNothingNext(nextStep);
}

/** Whether a packet's next step says that there is none. */
export function namesNothingNext(nextStep: string): boolean {
  return nextStep.trim() === '' || NOTHING_NEXT.test(nextStep);
}
