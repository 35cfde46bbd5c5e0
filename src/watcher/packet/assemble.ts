// The packet that the watcher writes itself (variant B) when it has none from the agent, assembled from the structured
// trail. The summary room supplies the lines; this file adds who wrote it and why, the verbatim tail and the facts.

import type { CountText } from '../../tokens/estimate.ts';
import { quoted } from '../../summary/line.ts';
import type { SummaryLine } from '../../summary/line.ts';
import { nextStepOf, PACKET_HEADINGS, packetLines, renderPacketLines } from '../../summary/packet-lines.ts';
import { countOnce } from '../../summary/write.ts';
import { countRedactions, redact } from '../../text/redact.ts';
import type { Redacted, SecretKind } from '../../text/redact.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import type { Trail } from '../../trail/trail.ts';
import type { Signal } from '../../protocol/signal.ts';
import type { Tier } from '../../vocabulary.ts';
import { cutToFit } from './accept.ts';
import { FACTS_HEADING, factLines, withoutForgedHeading } from './facts.ts';
import type { HarnessFacts } from './facts.ts';
import { DEFAULT_TAIL_CHARS, DEFAULT_TAIL_ITEMS, writeTail } from './tail.ts';

/** Why a compaction runs. The watcher's decision record has these. */
export interface PacketOccasion {
  /** Undefined if no tier was evaluated, as after a manual request. */
  readonly tier: Tier | undefined;
  /** 0 to 100; undefined without a known window. */
  readonly percentRemaining: number | undefined;
  readonly signals: readonly Signal[];
  /** The sentence of the decision. */
  readonly why: string;
}

/** Size and tail of an assembled packet. */
export interface AssembleSettings {
  /** `packet_max_tokens`, at least 1. */
  readonly maxTokens: number;
  readonly count: CountText;
  /** `tail_max_items`. */
  readonly tailMaxItems?: number;
  /** `packet_max_tail_chars`. */
  readonly tailMaxChars?: number;
  /** Replaces the sentences on who wrote it and why: the user's own `watcher-packet.md`, rendered. */
  readonly preface?: string;
  /** The agent's last message, complete, if the caller has it. */
  readonly lastAgentMessage?: string | undefined;
}

/** A packet by the watcher. */
export interface AssembledPacket {
  readonly text: Redacted;
  /** By the caller's `count`; never above the limit. */
  readonly tokens: number;
  /** The next step that it names; undefined if the log shows nothing left to do. */
  readonly nextStep: string | undefined;
  readonly redactions: Readonly<Partial<Record<SecretKind, number>>>;
}

/** @source spec 3-watcher §4.4 (B2): an item that the agent did not write must say so. */
const TITLE = '# Continuation packet';
const PREFACE =
  "Assembled by Baton's watcher from the log of this session; the agent did not write it. Quotations are verbatim.";
const DIRECTIVE =
  'Continue with "What is next". Do not start over, and do not ask the user for what is already here.';
const DIRECTIVE_DONE =
  'The current request has been answered as far as the log shows. Wait for the user unless something above is still open.';

/** Maximum shares of the tail and the facts. Both bind only in small packets, except for long results. */
const TAIL_SHARE = 0.28;
const FACTS_SHARE = 0.25;

/**
 * Assembles a packet. The same arguments give the same text, at most `maxTokens` long, with known secrets replaced.
 * @throws RangeError when `maxTokens` is below 1
 */
export function assemblePacket(
  trail: Trail,
  occasion: PacketOccasion,
  facts: HarnessFacts,
  settings: AssembleSettings,
): AssembledPacket {
  const { maxTokens, lastAgentMessage: lastMessage } = settings;
  if (!(maxTokens >= 1)) throw new RangeError(`No packet fits ${maxTokens} tokens`);
  const count = countOnce(settings.count);
  const nextStep = nextStepOf(trail);
  const frame: PacketFrame = {
    top: `${TITLE}\n\n${settings.preface ?? `${PREFACE}\n\n${occasionText(occasion)}`}`,
    facts: `${FACTS_HEADING}\n\n${cutToFit(factLines(facts).join('\n'), maxTokens * FACTS_SHARE, count)}`,
    directive: nextStep === undefined ? DIRECTIVE_DONE : DIRECTIVE,
    tail: '',
    turns: [],
  };
  const fixed = count(frame.top) + count(frame.facts) + count(frame.directive);
  const written = writeTail(trail, {
    maxItems: settings.tailMaxItems ?? DEFAULT_TAIL_ITEMS,
    maxMessageChars: settings.tailMaxChars ?? DEFAULT_TAIL_CHARS,
    roomTokens: Math.max(0, Math.floor((maxTokens - fixed) * TAIL_SHARE)),
    count,
    lastMessage,
  });
  const tail = withoutForgedHeading(written);
  const headings = PACKET_HEADINGS.reduce((sum, heading) => sum + count(`## ${heading}\n\n\n`), 0);
  const room = maxTokens - fixed - count(tail) - headings - 30;
  const picked = packetLines(trail, room, count);
  const text = fit(picked, { ...frame, tail, turns: trail.requests.map(({ turn }) => turn) }, settings);
  return { text, tokens: settings.count(text), nextStep, redactions: countRedactions(text) };
}

interface PacketFrame {
  readonly top: string;
  readonly tail: string;
  readonly facts: string;
  readonly directive: string;
  /** The requests that the chain should report. */
  readonly turns: readonly number[];
}

function fit(picked: SummaryLine[], frame: PacketFrame, { maxTokens, count }: AssembleSettings): Redacted {
  for (;;) {
    const text = render(picked, frame);
    const over = count(text) - maxTokens;
    if (over <= 0) return text;
    if (picked.length === 0) return redact(cutToFit(text, maxTokens, count));
    // The line taken last was worth least.
    for (let left = over; left > 0;) {
      const line = picked.pop();
      if (line === undefined) break;
      left -= count(line.text);
    }
  }
}

function render(
  picked: readonly SummaryLine[],
  { top, tail, facts, directive, turns }: PacketFrame,
): Redacted {
  const recent = tail === '' ? [] : [`## Recent activity, verbatim, oldest first\n\n${tail}`];
  return redact([top, ...renderPacketLines(picked, turns), ...recent, facts, directive].join('\n\n'));
}

function occasionText({ tier, percentRemaining, signals, why }: PacketOccasion): string {
  const facts = [
    tier === undefined ? undefined : `tier ${tier}`,
    percentRemaining === undefined ? undefined : `${Math.round(percentRemaining)} % of the window left`,
    signals.length === 0 ? 'no boundary' : `signals: ${signals.map(signalText).join(', ')}`,
  ].filter((fact) => fact !== undefined);
  const reason = oneLine(why).replace(/(?<![.\s])[.\s]+$/, '');
  return `Why compaction happens now: ${facts.join('; ')}.${reason === '' ? '' : ` Reason: ${clip(reason, 400)}.`}`;
}

function signalText({ boundary, evidence }: Signal): string {
  const name = boundary.replaceAll('_', ' ');
  switch (evidence.type) {
    case 'command':
      return `${name} (\`${clip(oneLine(evidence.command), 80)}\`)`;
    case 'plan':
      return `${name} (${evidence.done} of ${evidence.steps} steps done)`;
    case 'phase':
      return `${name} (${quoted(clip(evidence.summary, 100))})`;
    case 'phrase':
      return `${name} (${quoted(clip(evidence.sentence, 100))})`;
    case 'turn':
      return name;
  }
}
