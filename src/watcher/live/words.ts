// Writes the live watcher's texts: requests, packets and handoffs, from prompts, trail and facts.

import type { Config } from '../../config/schema.ts';
import type { DecisionRecord } from '../../protocol/decision.ts';
import type { Signal } from '../../protocol/signal.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import type { Trail } from '../../trail/trail.ts';
import { isFinished } from '../packet/messages.ts';
import { goesOn, waitsForUser } from '../packet/waiting.ts';
import { acceptPacket } from '../packet/accept.ts';
import { isForUser } from '../packet/for-user.ts';
import { assemblePacket } from '../packet/assemble.ts';
import type { AssembleSettings } from '../packet/assemble.ts';
import { factLines, factsOf } from '../packet/facts.ts';
import type { WorldFacts } from '../packet/facts.ts';
import { DEFAULT_TAIL_CHARS, writeTail } from '../packet/tail.ts';
import { scratchPath } from '../packet/scratch.ts';
import { DEFAULT_SCRATCH_TEMPLATE } from '../packet/scratch.ts';
import type { PacketAssembled } from '../events.ts';

/** Maximum share of a packet for the recent-activity tail. @source packet/assemble */
const TAIL_SHARE = 0.28;

/** The placeholder values of the requests. */
export function requestValues(
  { situation, tier, signals }: DecisionRecord,
  { scratchFile, threadId }: { readonly scratchFile: string; readonly threadId: string },
): Readonly<Record<string, string>> {
  return {
    percentRemaining: String(situation.percentRemaining ?? 'unknown'),
    tier: tier ?? 'none',
    boundaries: occasionOf(tier, signals),
    scratchFile,
    threadId,
  };
}

/** The agent's reason for compacting now: what it has completed, or that no room is left to wait. */
function occasionOf(tier: DecisionRecord['tier'], signals: DecisionRecord['signals']): string {
  if (tier === 'emergency') return 'there is no room left to wait for a good place to pause';
  return [...new Set(signals.map(reachedText))].join('; ') || 'your turn is over';
}

function reachedText({ boundary, evidence }: Signal): string {
  switch (evidence.type) {
    case 'command':
      return `${boundary === 'commit' ? 'a commit' : 'a checkpoint'} (\`${clip(oneLine(evidence.command), 80)}\`)`;
    case 'plan': {
      const steps = evidence.completed.map((step) => `"${clip(oneLine(step), 120)}"`).join(', ');
      return steps === '' ? 'your plan has changed' : `you completed ${steps}`;
    }
    case 'phase':
      return `a phase is over ("${clip(oneLine(evidence.summary), 120)}")`;
    case 'phrase':
      return `you said "${clip(oneLine(evidence.sentence), 120)}"`;
    case 'turn':
      return 'your turn is over';
  }
}

/** The notes file of a thread, relative to its workspace. */
export function scratchFileOf(
  { rawrAutoCompaction: { scratchFileTemplate } }: Config,
  threadId: string,
): string {
  return scratchPath(scratchFileTemplate ?? DEFAULT_SCRATCH_TEMPLATE, { threadId });
}

/** The source material of a packet. */
export interface PacketMaterial {
  readonly config: Config;
  readonly trail: Trail;
  readonly facts: WorldFacts;
  readonly decision: DecisionRecord;
  /** The agent's last message before any request. */
  readonly lastAgentMessage: string | undefined;
  /** The agent's turn is over; false mid-turn. */
  readonly hasEnded: boolean;
  readonly hasQueuedInput: boolean;
}

type Assembled = PacketAssembled['result'];

/** The agent's answer as a packet. @param request as it was sent @param first the answer before the reminder */
export function packetOfAnswer(
  answer: string,
  material: PacketMaterial,
  { request, first }: { readonly request: string; readonly first: string | undefined },
): Assembled {
  const { config, trail, facts } = material;
  const maxTokens = config.rawrAutoCompaction.packetMaxTokens;
  const tail = writeTail(trail, {
    maxItems: config.rawrAutoCompaction.tailMaxItems,
    maxMessageChars: config.rawrAutoCompaction.packetMaxTailChars ?? DEFAULT_TAIL_CHARS,
    roomTokens: Math.floor(maxTokens * TAIL_SHARE),
    count: counterOf(config),
  });
  const settings = {
    maxTokens,
    count: counterOf(config),
    facts: factLines(factsOf(trail, facts)),
    tail,
    request,
    ...(first === undefined ? {} : { first }),
  };
  if (!material.hasEnded && isForUser(answer, settings)) {
    return { type: 'unusable', missing: [], why: 'the agent answered the user', isForUser: true };
  }
  const accepted = acceptPacket(answer, settings);
  if (accepted.type === 'unusable') return accepted;
  return {
    type: 'packet',
    packet: withNotes({ author: 'agent', text: accepted.text }, facts),
    isFinished: hasNothingLeft(material, accepted.nextStep),
  };
}

/** The watcher's own packet. @param preface the user's text that precedes it, already rendered */
export function packetOfTrail(material: PacketMaterial, preface: string | undefined): Assembled {
  const { config, trail, facts, decision, lastAgentMessage } = material;
  const { situation, tier, signals, why } = decision;
  const occasion = { tier, percentRemaining: situation.percentRemaining, signals, why };
  const { packetMaxTailChars, packetMaxTokens, tailMaxItems } = config.rawrAutoCompaction;
  const settings: AssembleSettings = {
    maxTokens: packetMaxTokens,
    tailMaxItems,
    ...(packetMaxTailChars === undefined ? {} : { tailMaxChars: packetMaxTailChars }),
    ...(preface === undefined ? {} : { preface }),
    count: counterOf(config),
    lastAgentMessage,
  };
  const { text, nextStep } = assemblePacket(trail, occasion, factsOf(trail, facts), settings);
  return {
    type: 'packet',
    packet: withNotes({ author: 'watcher', text }, facts),
    isFinished: hasNothingLeft(material, nextStep),
  };
}

/** The text that the user's own `watcher-packet.md` places before the watcher's packet. */
export function prefaceOf(template: string, { decision, lastAgentMessage }: PacketMaterial): string {
  return renderPrompt(template, {
    triggerPercentRemaining: String(decision.situation.percentRemaining ?? 'unknown'),
    boundarySignals: decision.signals.map(({ boundary }) => boundary).join(', '),
    lastAgentMessage: lastAgentMessage ?? '',
  }).trim();
}

function withNotes(
  packet: { readonly author: 'agent' | 'watcher'; readonly text: string },
  { scratchPath: path }: WorldFacts,
) {
  return { ...packet, ...(path === undefined ? {} : { scratchPath: path }) };
}

function hasNothingLeft(
  { trail, hasEnded, hasQueuedInput, decision, lastAgentMessage = '' }: PacketMaterial,
  nextStep: string | undefined,
): boolean {
  // What the agent said in the middle of a turn was not its last word: only the request ended that turn.
  const hasStopped = decision.point === 'turn_end' && lastAgentMessage.trim() !== '';
  const waits = hasStopped ? !goesOn(lastAgentMessage) : waitsForUser(lastAgentMessage);
  const hasQuestion = hasEnded && (waits || waitsForUser(nextStep ?? ''));
  return isFinished({ hasEnded, plans: trail.plans, nextStep, hasQueuedInput, hasQuestion });
}

function counterOf({ compact }: Config): CountText {
  return (text) => approximateTokens(text, compact);
}
