// Plays the real watcher over a recording: its reducer decides, and its effects change the simulated context. A packet
// that the watcher itself would assemble answers requests to the agent at once, because the recorded agent wrote none.

import type { Config } from '../../config/schema.ts';
import type { DecisionRecord, Situation } from '../../protocol/decision.ts';
import type { Item } from '../../protocol/item.ts';
import { authorOf, callOf, textOfParts } from '../../protocol/item.ts';
import type { Signal } from '../../protocol/signal.ts';
import type { Step } from '../../vocabulary.ts';
import { parsePrompt } from '../../prompts/frontmatter.ts';
import { SHIPPED_PROMPTS } from '../../prompts/shipped.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { percentRemaining, usableWindow } from '../../tokens/pressure.ts';
import type { Trail } from '../../trail/trail.ts';
import { beginWatching, decisionOf } from '../../watcher/state.ts';
import type { Compact, Inject, PlanCompaction, WatcherEffect } from '../../watcher/effects.ts';
import type { WatcherEvent } from '../../watcher/events.ts';
import type { Handover, SequencePlace, TurnOrigin, WatcherState } from '../../watcher/state.ts';
import { calmTokens } from '../../watcher/decide.ts';
import { assemblePacket } from '../../watcher/packet/assemble.ts';
import {
  composeRequest,
  handoffMessage,
  packetItem,
  syntheticMessage,
} from '../../watcher/packet/messages.ts';
import { factsOf } from '../../watcher/packet/facts.ts';
import type { Policy } from '../../watcher/policy.ts';
import { transition } from '../../watcher/transition.ts';
import { dispatchSettings } from '../../compaction/dispatch.ts';
import type { Requester } from '../../compaction/loop-guard.ts';
import type { CompactionPlan } from '../../protocol/plan.ts';
import type { CompactionPressure } from '../../compaction/dispatch.ts';
import { Arbiter } from './arbiter.ts';
import { SimulatedContext } from './context.ts';
import { DecisionLog } from './decisions.ts';
import type { Player, PlayerWorld } from './limit.ts';
import { contextOutcome } from './outcome.ts';
import type { PolicyOutcome, SimulatedCompaction } from './outcome.ts';
import { RecentBoundaries } from './recording-place.ts';
import type { RecordingMoment, Play } from './play.ts';
import { clearable, compactAsBaton } from './summaries.ts';

/** A watcher to play. */
export interface WatcherChoice {
  readonly name: string;
  readonly policy: Policy;
  readonly config: Config;
}

/** A sequence has few steps; more events than this without an end mean an endless loop. */
const MOST_EVENTS_AT_ONCE = 200;

/** Plays one watcher over one session. */
export class WatcherPlayer implements Player {
  readonly #choice: WatcherChoice;
  readonly #world: PlayerWorld;
  readonly #context: SimulatedContext;
  readonly #arbiter: Arbiter;
  readonly #recent = new RecentBoundaries();
  readonly #compactions: SimulatedCompaction[] = [];
  readonly #decisions = new DecisionLog();
  #state: WatcherState = beginWatching(false);
  /** Signals that no event has carried yet. */
  #signals: Signal[] = [];
  #turns = 0;
  #turn: { readonly id: string; readonly origin: TurnOrigin; hadAction: boolean } | undefined;
  #lastAgentMessage: string | undefined;

  constructor(choice: WatcherChoice, world: PlayerWorld) {
    this.#choice = choice;
    this.#world = world;
    this.#context = new SimulatedContext(world.sizes, world.estimate, true);
    this.#arbiter = new Arbiter(dispatchSettings(choice.config));
  }

  play(step: Play): void {
    switch (step.type) {
      case 'signals':
        this.#signals.push(...step.signals);
        this.#recent.note(step.signals);
        return;
      case 'user_arrives':
        // A message during a turn goes straight to the agent and does not concern the watcher. Neither does another
        // message before the agent has answered.
        if (!step.isSteering && this.#turn === undefined) this.#submit(step.moment, step.text);
        return;
      case 'request':
        this.#request(step);
        return;
      case 'answered':
        this.#context.answer(step.outputTokens);
        return;
      case 'item':
        this.#context.add(step.item);
        if (step.isProgress) this.#arbiter.noteProgress();
        this.#follow(step.item);
        return;
      case 'turn_end':
        this.#endTurn(step.moment, step.isAborted);
        return;
      case 'end':
        return;
    }
  }

  outcome(): PolicyOutcome {
    return {
      policy: this.#choice.name,
      compactions: this.#compactions,
      decisions: this.#decisions.rows,
      ...contextOutcome(this.#context),
    };
  }

  #submit(moment: RecordingMoment, text: string): void {
    const id = `message-${moment.step}`;
    this.#arbiter.noteUserTurn(this.#pressure(moment));
    this.#report(moment, [{ type: 'user_submitted', message: { id, text }, atMs: moment.atMs }]);
    if (this.#turn?.origin.type !== 'user' || this.#turn.origin.messageId !== id) {
      throw new RangeError(`The watcher did not deliver the message before item ${moment.step}`);
    }
    this.#checkLimit(moment, false);
  }

  #request({ moment, isFollowUp, batchFrom }: Play & { readonly type: 'request' }): void {
    const turn = this.#turn ?? this.#startTurn(moment, { type: 'user' });
    if (isFollowUp) {
      this.#report(moment, [
        {
          type: 'sampling_complete',
          turnId: turn.id,
          ...this.#momentOfTurn(moment),
          hadAction: turn.hadAction,
          isFollowUpOwed: true,
          batchFrom,
        },
      ]);
      this.#checkLimit(moment, true);
    }
    this.#context.request(moment);
    this.#recent.pass();
  }

  #endTurn(moment: RecordingMoment, isAborted: boolean): void {
    const { id: turnId, origin, hadAction } = this.#turn ?? this.#startTurn(moment, { type: 'user' });
    const kind = 'regular';
    this.#turn = undefined;
    const event: WatcherEvent = isAborted
      ? { type: 'turn_aborted', turnId, kind, origin, reason: 'interrupted', atMs: moment.atMs }
      : { type: 'turn_complete', turnId, kind, origin, ...this.#momentOfTurn(moment), hadAction };
    if (isAborted) this.#signals = [];
    this.#report(moment, [event]);
  }

  #startTurn(moment: RecordingMoment, origin: TurnOrigin) {
    const turn = { id: `turn-${++this.#turns}`, origin, hadAction: false };
    this.#turn = turn;
    const { atMs } = moment;
    this.#report(moment, [{ type: 'turn_started', turnId: turn.id, kind: 'regular', origin, atMs }]);
    return turn;
  }

  #momentOfTurn(moment: RecordingMoment) {
    const signals = this.#signals;
    this.#signals = [];
    return {
      atMs: moment.atMs,
      signals,
      situation: this.#situation(moment),
      busyWith: moment.openCalls > 0 ? (['tool'] as const) : [],
      lastAgentMessage: this.#lastAgentMessage,
    };
  }

  #situation(moment: RecordingMoment): Situation {
    const used = this.#context.used(moment);
    const window = usableWindow(moment.window);
    const { userMessageMaxTokens } = this.#choice.config.compact;
    return {
      used,
      window,
      percentRemaining: percentRemaining(used, window),
      projected: this.#world.usedWith(this.#context.left(moment.window, userMessageMaxTokens)),
    };
  }

  #follow(item: Item): void {
    if (callOf(item) !== undefined && this.#turn !== undefined) this.#turn.hadAction = true;
    if (item.type !== 'message' || authorOf(item) !== 'agent') return;
    const text = textOfParts(item.content);
    if (text.trim() !== '') this.#lastAgentMessage = text;
  }

  /** Reports events to the watcher and performs its effects until it has no more. */
  #report(moment: RecordingMoment, events: readonly WatcherEvent[]): void {
    const due = [...events];
    for (let told = 0; due.length > 0; told++) {
      if (told > MOST_EVENTS_AT_ONCE) throw new RangeError('The watcher does not settle');
      const event = due.shift();
      if (event === undefined) return;
      const { state, effects } = transition(this.#state, event, this.#choice.policy);
      this.#state = state;
      for (const effect of effects) due.push(...this.#perform(effect, moment));
    }
  }

  #perform(effect: WatcherEffect, moment: RecordingMoment): readonly WatcherEvent[] {
    const { atMs } = moment;
    switch (effect.type) {
      case 'record_decision':
        this.#decisions.add(effect.decision, moment);
        return [];
      case 'plan_compaction':
        return [
          { type: 'compaction_planned', number: effect.number, plan: this.#plan(effect, moment), atMs },
        ];
      case 'ask_judgment': {
        const judgment = { type: 'failure', why: 'there is no one to ask in a replay' } as const;
        return [{ type: 'judgment_result', number: effect.number, judgment, atMs }];
      }
      case 'inject':
        return this.#answerRequest(effect, moment);
      case 'record_heads_up':
        this.#context.inject(syntheticMessage(PROMPTS.headsUp, { step: 'heads_up' }));
        return [];
      case 'record_packet':
        this.#context.inject(packetItem(effect.packet.text, effect.sequenceId, 'assistant'));
        return [];
      case 'assemble_packet': {
        const { number, author, agentText, decision } = effect;
        const text = agentText ?? this.#packetText(decision);
        // A turn that the recorded agent ended was over: the handoff waits for the user's next message.
        const isFinished = this.#turn === undefined;
        return [
          {
            type: 'packet_assembled',
            number,
            result: { type: 'packet', packet: { author, text }, isFinished },
            atMs,
          },
        ];
      }
      case 'compact':
        return this.#compact(effect, moment);
      case 'hand_off': {
        this.#context.inject(syntheticMessage(handoffText(effect.handover), { step: 'handoff' }));
        this.#measureHandedOver(moment);
        return [{ type: 'handoff_delivered', number: effect.number, atMs }];
      }
      case 'deliver': {
        const origin: TurnOrigin = { type: 'user', messageId: effect.message.id };
        const turn = { id: `turn-${++this.#turns}`, origin, hadAction: false };
        this.#turn = turn;
        return [{ type: 'turn_started', turnId: turn.id, kind: 'regular', origin, atMs }];
      }
      case 'abort_compaction':
      case 'interrupt_turn':
      case 'cut_turn':
      case 'resume_turn':
      case 'show':
      case 'arm_deadline':
        return [];
    }
  }

  /** Requests scratch notes, a packet, or both from the agent; each is one more request to the model. */
  #answerRequest(
    { number, sequenceId, steps, as }: Inject,
    moment: RecordingMoment,
  ): readonly WatcherEvent[] {
    const trail = this.#world.trail();
    const [first = 'heads_up', ...later] = steps;
    const request = composeRequest({ sequenceId, steps: [first, ...later], prompts: PROMPTS });
    this.#context.inject(syntheticMessage(request, { step: first, sequenceId }));
    const wantsPacket = steps.includes('packet_request');
    const answer = wantsPacket ? this.#packetText(this.#decision()) : 'Noted.';
    if (steps.includes('scratch')) this.#speak(moment, 'scratch', scratchNotes(trail));
    this.#speak(moment, wantsPacket ? 'packet' : 'scratch', answer);
    const moments = { ...this.#momentOfTurn(moment), signals: [], lastAgentMessage: answer };
    const hadAction = steps.includes('scratch');
    if (as === 'item') {
      const turnId = this.#turn?.id ?? '';
      return [
        {
          type: 'sampling_complete',
          turnId,
          ...moments,
          hadAction,
          isFollowUpOwed: false,
          batchFrom: undefined,
        },
      ];
    }
    const turnId = `request-${number}`;
    const origin: TurnOrigin = { type: 'watcher', number };
    return [
      { type: 'turn_started', turnId, kind: 'regular', origin, atMs: moment.atMs },
      { type: 'turn_complete', turnId, kind: 'regular', origin, ...moments, hadAction },
    ];
  }

  /** The watcher's own packet, which also replaces the one that an agent would write. */
  #packetText({ tier, situation, signals, why }: DecisionRecord): string {
    const { rawrAutoCompaction: watcher } = this.#choice.config;
    const trail = this.#world.trail();
    const occasion = { tier, percentRemaining: situation.percentRemaining, signals, why };
    return assemblePacket(trail, occasion, factsOf(trail), {
      maxTokens: watcher.packetMaxTokens,
      tailMaxItems: watcher.tailMaxItems,
      ...(watcher.packetMaxTailChars === undefined ? {} : { tailMaxChars: watcher.packetMaxTailChars }),
      count: (text) => approximateTokens(text, this.#world.estimate),
      lastAgentMessage: this.#lastAgentMessage,
    }).text;
  }

  #decision(): DecisionRecord {
    const decision = decisionOf(this.#state);
    if (decision === undefined) throw new RangeError('A packet was requested without a decision');
    return decision;
  }

  #speak(moment: RecordingMoment, step: Step, text: string): void {
    this.#context.requestBeside(moment, 0, false);
    const tokens = this.#context.inject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }],
      origin: { author: 'synthetic', step },
    });
    this.#context.answer(tokens);
  }

  #compact(
    { number, strategy, place, trigger, packet }: Compact,
    moment: RecordingMoment,
  ): readonly WatcherEvent[] {
    const { atMs } = moment;
    const decision = this.#decisions.find(trigger.decisionId);
    const isDone = this.#carryOut(strategy, moment, {
      from: place === 'inside_turn' ? 'mid_turn' : 'watcher',
      tier: trigger.tier,
      signals: trigger.signals,
      why: decision?.why ?? '',
      isEmergency: trigger.tier === 'emergency',
      point: decision?.point ?? (place === 'inside_turn' ? 'mid_turn' : 'turn_end'),
      isHandedOver: packet !== undefined,
    });
    if (!isDone) return [{ type: 'compaction_failed', number, why: 'nothing to compact', atMs }];
    return [
      { type: 'context_compacted', number, strategy, atMs },
      ...this.#endOfCompactionTurn(number, place, moment),
    ];
  }

  #endOfCompactionTurn(
    number: number,
    place: SequencePlace,
    moment: RecordingMoment,
  ): readonly WatcherEvent[] {
    if (place === 'inside_turn') return [];
    const turnId = `compaction-${number}`;
    const origin: TurnOrigin = { type: 'watcher', number };
    const moments = { ...this.#momentOfTurn(moment), signals: [] };
    return [
      { type: 'turn_started', turnId, kind: 'compact', origin, atMs: moment.atMs },
      { type: 'turn_complete', turnId, kind: 'compact', origin, ...moments, hadAction: false },
    ];
  }

  #plan({ tier, place }: PlanCompaction, moment: RecordingMoment): CompactionPlan {
    return this.#arbiter.plan({
      from: place === 'inside_turn' ? 'mid_turn' : 'watcher',
      pressure: this.#pressureWithMicro(moment),
      isEmergency: tier === 'emergency',
      target:
        tier === undefined ? undefined : calmTokens(tier, this.#choice.policy, usableWindow(moment.window)),
    });
  }

  #pressure(moment: RecordingMoment): CompactionPressure {
    return {
      used: this.#context.used(moment),
      rawWindow: moment.window,
      usedAfterMicro: undefined,
    };
  }

  #pressureWithMicro(moment: RecordingMoment): CompactionPressure {
    const pressure = this.#pressure(moment);
    const micro = clearable(this.#context, this.#choice.config);
    if (!micro.wasEffective) return pressure;
    return { ...pressure, usedAfterMicro: pressure.used - this.#context.saving(moment, micro.tokensSaved) };
  }

  /** The built-in limit stays armed below the watcher. @source spec 2-engine §6 */
  #checkLimit(moment: RecordingMoment, isMidTurn: boolean): void {
    if (!this.#arbiter.isDue(this.#pressure(moment))) return;
    const from = isMidTurn ? 'built_in' : 'pre_turn';
    const plan = this.#arbiter.plan({ from, pressure: this.#pressureWithMicro(moment) });
    if (plan.type === 'none') return;
    const strategy = plan.type === 'micro' ? 'micro' : 'full';
    const isDone = this.#carryOut(strategy, moment, {
      from,
      tier: undefined,
      signals: this.#recent.pauses,
      why: plan.why,
      isEmergency: false,
      isHandedOver: false,
      point: isMidTurn ? 'mid_turn' : 'preflight',
    });
    if (isDone) this.#report(moment, [{ type: 'context_compacted', strategy, atMs: moment.atMs }]);
  }

  #carryOut(
    kind: 'micro' | 'full',
    moment: RecordingMoment,
    asked: Pick<SimulatedCompaction, 'tier' | 'signals' | 'why' | 'point'> & {
      readonly from: Requester;
      readonly isEmergency: boolean;
      /** A handoff follows, after which the context is measured. */
      readonly isHandedOver: boolean;
    },
  ): boolean {
    const { from, isEmergency, isHandedOver, ...facts } = asked;
    const used = this.#context.used(moment);
    const sizes = this.#arbiter.carryOut(from, { type: kind, used }, () =>
      kind === 'micro' ? this.#clear(moment) : this.#summarise(moment),
    );
    if (sizes === undefined) return false;
    this.#compactions.push({
      kind,
      ...facts,
      place: this.#recent.pauses.length > 0 ? 'boundary' : isEmergency ? 'emergency' : 'mid_work',
      turn: moment.turn,
      request: moment.request,
      line: moment.line,
      atMs: moment.atMs,
      step: moment.step,
      percentRemaining: percentRemaining(used, usableWindow(moment.window)),
      ...sizes,
      openCalls: moment.openCalls,
      recall: isHandedOver ? undefined : this.#recall(moment),
    });
    return true;
  }

  /** The packet is part of what the agent continues with. */
  #measureHandedOver(moment: RecordingMoment): void {
    const compaction = this.#compactions.pop();
    if (compaction === undefined) return;
    const postTokens = this.#context.used(moment);
    this.#compactions.push({ ...compaction, postTokens, recall: this.#recall(moment) });
  }

  #recall(moment: RecordingMoment): number | undefined {
    return this.#world.recall(moment, this.#context.items);
  }

  #clear(moment: RecordingMoment) {
    const micro = clearable(this.#context, this.#choice.config);
    return micro.wasEffective ? this.#context.clear(moment, new Set(micro.callIds)) : undefined;
  }

  #summarise(moment: RecordingMoment) {
    const items = compactAsBaton(
      {
        entries: this.#context.entries,
        window: moment.window,
        atMs: moment.atMs,
        trail: this.#world.trail(),
        reason: 'boundary',
      },
      this.#choice.config,
    );
    return items === undefined ? undefined : this.#context.replace(moment, items);
  }
}

/** Replaces the shipped prompts: a replay tests the rules, not the words. */
const PROMPTS = {
  headsUp: parsePrompt(SHIPPED_PROMPTS['heads-up.md']).body,
  scratch: parsePrompt(SHIPPED_PROMPTS['scratch-write.md']).body,
  packet: parsePrompt(SHIPPED_PROMPTS['auto-compact.md']).body,
};
const HANDOFF_FRAME = parsePrompt(SHIPPED_PROMPTS['handoff.md']).body;

function handoffText({ sequenceId, packet, isWrapped }: Handover): string {
  const { text } = packet;
  return handoffMessage({ sequenceId, packet: text, isWrapped, frame: HANDOFF_FRAME });
}

/** What an agent would note: the work since the last request, one line each. */
function scratchNotes({ current }: Trail): string {
  return [...current.statements.map(({ text }) => text), ...current.actions.map(({ text }) => text)].join(
    '\n',
  );
}
