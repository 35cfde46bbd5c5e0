// Writes the watcher's messages: requests, packets and handoffs, from the prompts in force, the trail and the work
// tree. It remembers facts about a sequence that the machine's state does not hold; they are lost with the process, as
// the sequence is.

import type { MessageItem } from '../../protocol/item.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { composeRequest, handoffMessage, syntheticMessage } from '../packet/messages.ts';
import type { PacketSection } from '../packet/sections.ts';
import { hasGrown, scratchText } from '../packet/scratch.ts';
import type { DecisionRecord } from '../../protocol/decision.ts';
import type { AssemblePacket, Inject } from '../effects.ts';
import type { PacketAssembled } from '../events.ts';
import type { Handover } from '../state.ts';
import type { WatchedAgent, WatcherWorld } from './agent.ts';
import { packetOfAnswer, packetOfTrail, prefaceOf, requestValues, scratchFileOf } from './words.ts';

/** What is remembered about a sequence. */
interface SequenceMemory {
  readonly sequenceId: string;
  /** The agent's last message before the request. */
  readonly saidBefore: string | undefined;
  /** The newest request, as it was sent. */
  request: string;
  /** The packet was requested. */
  hasRequested: boolean;
  /** The agent's first answer, if a reminder followed. */
  firstAnswer: string | undefined;
  scratchBefore: number | undefined;
}

/** The state of the thread when a packet is made. */
export interface WorkStands {
  /** The agent's turn is over; false mid-turn. */
  readonly hasEnded: boolean;
  readonly hasQueuedInput: boolean;
}

/** The frame of a packet that starts a new thread: nothing was compacted there. */
const NEW_THREAD = `This session continues the work of an earlier one, whose continuation packet follows.

{packet}

Wait for the user's next message and follow it. Read the files where you need more than the packet says, and do not redo what it calls completed.`;

/** Writes the messages of one thread's watcher. */
export class HandoverWriter {
  readonly #agent: Pick<WatchedAgent, 'threadId' | 'trail' | 'lastAgentMessage'>;
  readonly #world: WatcherWorld;
  /** Called when notes could not be written. */
  readonly #warn: (text: string) => void;
  #errand: SequenceMemory | undefined;

  constructor(
    agent: Pick<WatchedAgent, 'threadId' | 'trail' | 'lastAgentMessage'>,
    world: WatcherWorld,
    warn: (text: string) => void,
  ) {
    this.#agent = agent;
    this.#world = world;
    this.#warn = warn;
  }

  /** The message that asks the agent. @param hasScratch the sequence includes notes */
  async request(
    { sequenceId, steps, missing }: Inject,
    { decision, hasScratch }: { readonly decision: DecisionRecord; readonly hasScratch: boolean },
  ): Promise<MessageItem> {
    const errand = this.#errandOf(sequenceId);
    const scratchFile = await this.#scratchFile();
    if (hasScratch && steps.includes('scratch')) {
      errand.scratchBefore = await this.#world.scratch.size(scratchFile);
    }
    const values = requestValues(decision, { scratchFile, threadId: this.#agent.threadId });
    const [first = 'packet_request', ...later] = steps;
    const text = composeRequest({
      sequenceId,
      steps: [first, ...later],
      prompts: {
        headsUp: await this.#render('heads-up.md', values),
        scratch: await this.#render('scratch-write.md', values),
        packet: await this.#render('auto-compact.md', values),
      },
      ...(hasScratch ? { scratchPath: scratchFile } : {}),
      ...(missing === undefined ? {} : { missing: missing as readonly PacketSection[] }),
    });
    errand.request = text;
    errand.hasRequested ||= steps.includes('packet_request');
    return syntheticMessage(text, { step: steps.at(-1) ?? first, sequenceId });
  }

  /** Only the heads-up, when no request goes with it. */
  async headsUp(sequenceId: string, decision: DecisionRecord): Promise<MessageItem> {
    this.#errandOf(sequenceId);
    const scratchFile = await this.#scratchFile();
    const values = requestValues(decision, { scratchFile, threadId: this.#agent.threadId });
    const text = composeRequest({
      sequenceId,
      steps: ['heads_up'],
      prompts: { headsUp: await this.#render('heads-up.md', values), scratch: '', packet: '' },
    });
    return syntheticMessage(text, { step: 'heads_up', sequenceId });
  }

  /** A packet from the agent's answer, or from the trail. */
  async packet(effect: AssemblePacket, stands: WorkStands): Promise<PacketAssembled['result']> {
    const { sequenceId, agentText, hasScratch, decision } = effect;
    const errand = this.#errandOf(sequenceId);
    const { config } = await this.#world.settings();
    const scratchPath = hasScratch ? await this.#verifiedScratch(errand) : undefined;
    const facts = await this.#world.facts();
    const material = {
      config,
      trail: this.#agent.trail(),
      facts: { ...facts, ...(scratchPath === undefined ? {} : { scratchPath }) },
      decision,
      lastAgentMessage: errand.saidBefore,
      ...stands,
    };
    const { request, firstAnswer: first } = errand;
    if (agentText === undefined) {
      const late = this.#lateAnswer(errand);
      const packet = late === undefined ? undefined : packetOfAnswer(late, material, { request, first });
      if (packet?.type === 'packet') return packet;
      const { body, isOwn } = await this.#world.prompt('watcher-packet.md');
      return packetOfTrail(material, isOwn ? prefaceOf(body, material) : undefined);
    }
    errand.firstAnswer ??= agentText;
    return packetOfAnswer(agentText, material, { request, first });
  }

  /** What the agent has answered since the request, although it is no longer awaited. */
  #lateAnswer({ hasRequested, saidBefore, firstAnswer }: SequenceMemory): string | undefined {
    const said = this.#agent.lastAgentMessage();
    return hasRequested && said !== saidBefore && said !== firstAnswer ? said : undefined;
  }

  /** The message that hands a packet back. */
  async handoff({ sequenceId, packet, isWrapped }: Handover): Promise<MessageItem> {
    const { body } = await this.#world.prompt('handoff.md');
    const { scratchPath } = packet;
    const values = {
      threadId: this.#agent.threadId,
      ...(scratchPath === undefined ? {} : { scratchFile: scratchPath }),
    };
    const text = handoffMessage({
      sequenceId,
      packet: packet.text,
      isWrapped,
      frame: renderPrompt(body, values),
      ...(scratchPath === undefined ? {} : { scratchPath }),
    });
    return syntheticMessage(text, { step: 'handoff', sequenceId });
  }

  /** The watcher's packet for a thread that has not seen this one. */
  async handOver(decision: DecisionRecord, sequenceId: string): Promise<MessageItem> {
    const effect = { number: 0, sequenceId, author: 'watcher', hasScratch: false, decision } as const;
    const result = await this.packet(
      { type: 'assemble_packet', ...effect },
      { hasEnded: true, hasQueuedInput: false },
    );
    const packet = result.type === 'packet' ? result.packet.text : '';
    const text = handoffMessage({ sequenceId, packet, isWrapped: true, frame: NEW_THREAD });
    return syntheticMessage(text, { step: 'handoff', sequenceId });
  }

  /** One sequence runs at a time; the memory of an earlier one is useless. */
  #errandOf(sequenceId: string): SequenceMemory {
    if (this.#errand?.sequenceId !== sequenceId) {
      const saidBefore = this.#agent.lastAgentMessage();
      this.#errand = {
        sequenceId,
        saidBefore,
        request: '',
        hasRequested: false,
        firstAnswer: undefined,
        scratchBefore: undefined,
      };
    }
    return this.#errand;
  }

  async #render(
    name: 'heads-up.md' | 'scratch-write.md' | 'auto-compact.md',
    values: Readonly<Record<string, string>>,
  ): Promise<string> {
    return renderPrompt((await this.#world.prompt(name)).body, values);
  }

  async #scratchFile(): Promise<string> {
    return scratchFileOf((await this.#world.settings()).config, this.#agent.threadId);
  }

  /** The agent's requested notes, or the watcher's own instead. @returns where they are */
  async #verifiedScratch({
    sequenceId,
    scratchBefore,
    saidBefore,
  }: SequenceMemory): Promise<string | undefined> {
    const path = await this.#scratchFile();
    const { scratch } = this.#world;
    if (hasGrown(scratchBefore, await scratch.size(path))) return path;
    try {
      await scratch.append(
        path,
        scratchText(this.#agent.trail(), { sequenceId, lastAgentMessage: saidBefore }),
      );
      return path;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warn(`[rawr] the scratch notes could not be written (${why})`);
      return undefined;
    }
  }
}
